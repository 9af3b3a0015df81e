package llm

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sm "steward/testdata/scriptedmodel"
)

func hi() Request { return Request{Messages: []Message{{Role: RoleUser, Text: "hi"}}} }

func TestRefusals(t *testing.T) {
	t.Parallel()
	tools := []Tool{{Name: "a__one", Origin: "a/one"}, {Name: "b__two", Origin: "b/two"}}
	file := func(name string) sm.Step {
		status, body := recording(t, "errors/"+name)
		return sm.Fail(status, body)
	}
	cases := map[string]struct {
		step sm.Step
		kind string
		says string
		more func(*Error) bool
	}{
		"llama-server context": {file("ctx.http"), KindContext, "exceeds the available context size", func(e *Error) bool { return e.Limit == 8192 && e.Used == 35088 }},
		"OpenAI context":       {sm.Fail(400, `{"error":{"message":"This model's maximum context length is 131072 tokens. However, your messages resulted in 4370000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`), KindContext, "Shorten", func(e *Error) bool { return e.Limit == 131072 && e.Used == 4370000 }},
		"context, one number":  {sm.Fail(400, `{"error":{"code":"context_length_exceeded","message":"maximum context length is 131072 tokens"}}`), KindContext, "131072", func(e *Error) bool { return e.Limit == 131072 && e.Used == 0 }},
		"Gemini context":       {sm.Fail(400, `[{"error":{"code":400,"message":"The input token count (1,200,000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`), KindContext, "", func(e *Error) bool { return e.Limit == 1048576 && e.Used == 1200000 }},
		"llama-server schema":  {file("badschema.http"), KindBadRequest, "Error resolving ref #/nope", nil},
		"llama-server history": {file("badjson.http"), KindBadRequest, "parse error", nil},
		"tool by number":       {sm.Fail(400, `{"error":{"message":"Invalid schema: object schema missing properties","type":"invalid_request_error","param":"tools[1].function.parameters"}}`), KindBadTool, "Disable this tool", func(e *Error) bool { return e.Tool == "b/two" }},
		"tool in the message":  {sm.Fail(400, `{"error":{"message":"Invalid 'tools[0].function.name': string too long."}}`), KindBadTool, "", func(e *Error) bool { return e.Tool == "a/one" }},
		"tool by name":         {sm.Fail(400, `{"error":{"message":"Invalid schema for function 'b__two': None is not of type 'object'"}}`), KindBadTool, "", func(e *Error) bool { return e.Tool == "b/two" }},
		"Gemini tool":          {sm.Fail(400, `[{"error":{"code":400,"message":"* GenerateContentRequest.tools[0].function_declarations[1].parameters.properties[x].items: missing field.","status":"INVALID_ARGUMENT"}}]`), KindBadTool, "", func(e *Error) bool { return e.Tool == "b/two" }},
		"plain text":           {sm.Fail(422, "Failed to deserialize: missing field x"), KindBadRequest, "422 Unprocessable Entity: Failed to deserialize: missing field x.", nil},
		"detail list":          {sm.Fail(400, `{"detail":[{"loc":["body"],"msg":"bad"}]}`), KindBadRequest, "400 Bad Request: body: bad.", nil},
		"error a text":         {sm.Fail(401, `{"error":"Unauthorized"}`), KindAuth, "401 Unauthorized: Unauthorized. Check the API key", nil},
		"no model":             {sm.Fail(404, `{"error":{"message":"model 'x' not found","type":"api_error"}}`), KindNotFound, "model 'x' not found", nil},
		"forbidden":            {sm.Fail(403, ``), KindAuth, "403 Forbidden", nil},
		"no money":             {sm.Fail(402, `{"error":{"message":"Insufficient Balance"}}`), KindQuota, "billing", nil},
		"no quota":             {sm.Fail(429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}`), KindQuota, "", nil},
		"no quota, but a wait": {sm.Fail(429, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`).With("Retry-After", "1"), KindQuota, "billing", nil},
		"nested provider":      {sm.Fail(400, `{"error":{"code":400,"metadata":{"raw":"provider says no"}}}`), KindBadRequest, "provider says no", nil},
		"escapes and controls": {sm.Fail(400, "a\x1b[31mb\u202ec\r\n\r\nd"), KindBadRequest, "a[31mbc d", nil},
		"redirect":             {sm.Step{Status: 307, Header: map[string]string{"Location": "https://evil.example/v1/chat/completions"}}, KindConfig, "points to https://evil.example", nil},
		"redirect, permanent":  {sm.Step{Status: 301, Header: map[string]string{"Location": "/v2/chat"}}, KindConfig, "Redirects are not followed", nil},
		"invalid in stream":    {sm.Reply(sm.Event(`{"error":{"type":"invalid_request_error","message":"bad tool schema"}}`)), KindBadRequest, "bad tool schema", nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, s := ask(t, Request{Tools: tools}, c.step)
			if o.err == nil || o.err.Kind != c.kind || !strings.Contains(o.err.Message, c.says) || c.more != nil && !c.more(o.err) {
				t.Fatalf("error %+v; want kind %s saying %q", o.err, c.kind, c.says)
			}
			if n := len(s.Requests()); n != 1 || o.err.Retryable {
				t.Errorf("%d requests, retryable %v: this does not get better by itself", n, o.err.Retryable)
			}
			if !strings.HasSuffix(o.err.Message, ".") || !strings.Contains(o.err.Message, "127.0.0.1") {
				t.Errorf("no sentence that says where: %q", o.err.Message)
			}
		})
	}
}

func TestRetries(t *testing.T) {
	t.Parallel()
	ok := sm.Say("fine")
	busy := func(h, v string) sm.Step { return sm.Fail(429, `{"error":{"message":"slow down"}}`).With(h, v) }
	html := sm.Fail(502, "<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center></body></html>")
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	cases := map[string]struct {
		steps    []sm.Step
		waits    []time.Duration // 0: any growing pause
		finished bool
	}{
		"seconds":         {[]sm.Step{busy("Retry-After", "2"), ok}, []time.Duration{2 * time.Second}, true},
		"date":            {[]sm.Step{busy("Retry-After", now.Add(9*time.Second).Format(http.TimeFormat)), ok}, []time.Duration{9 * time.Second}, true},
		"far away":        {[]sm.Step{busy("Retry-After", "Wed, 21 Oct 2099 07:28:00 GMT"), ok}, []time.Duration{maxAsked}, true},
		"milliseconds":    {[]sm.Step{busy("Retry-After-Ms", "1500"), ok}, []time.Duration{1500 * time.Millisecond}, true},
		"in the body":     {[]sm.Step{sm.Fail(429, `{"error":{"code":429,"details":[{"@type":"x"},{"retryDelay":"17s"}]}}`), ok}, []time.Duration{17 * time.Second}, true},
		"quota with wait": {[]sm.Step{sm.Fail(429, `{"error":{"code":429,"message":"You exceeded your current quota","details":[{"retryDelay":"3s"}]}}`), ok}, []time.Duration{3 * time.Second}, true},
		"no hint":         {[]sm.Step{sm.Fail(429, ``), sm.Fail(429, ``), sm.Fail(429, ``), ok}, []time.Duration{0, 0, 0}, true},
		"always 429":      {[]sm.Step{sm.Fail(429, ``), sm.Fail(429, ``), sm.Fail(429, ``), sm.Fail(429, ``), sm.Fail(429, ``), sm.Fail(429, ``), ok}, []time.Duration{0, 0, 0, 0, 0}, false},
		"bad gateway":     {[]sm.Step{html, ok}, []time.Duration{0}, true},
		"always 500":      {[]sm.Step{sm.Fail(500, ``), sm.Fail(500, ``), sm.Fail(500, ``), ok}, []time.Duration{0, 0}, false},
		"reset":           {[]sm.Step{{End: "reset"}, ok}, []time.Duration{0}, true},
		"in the stream":   {[]sm.Step{sm.Reply(sm.Event(`{"error":{"message":"Overloaded","type":"overloaded_error","code":529}}`)), ok}, []time.Duration{0}, true},
		"after text":      {[]sm.Step{sm.Reply(sm.Text("Part"), sm.Event(`{"error":{"type":"overloaded_error"}}`)), ok}, nil, false},
		"after a call":    {[]sm.Step{sm.Reply(sm.CallDelta(0, "c", "t", "{"), sm.Event(`{"error":{"type":"overloaded_error"}}`)), ok}, nil, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sm.Start(t, c.steps...)
			client := newClient(t, s.URL(), func(_ *Endpoint, o *Options) { o.Now = func() time.Time { return now } })
			o := run(t.Context(), t, client, hi())
			if (o.answer.State == StateFinished) != c.finished || len(o.retries) != len(c.waits) || len(s.Requests()) != len(c.waits)+1 {
				t.Fatalf("state %s, retries %+v, %d requests, error %v", o.answer.State, o.retries, len(s.Requests()), o.err)
			}
			for i, r := range o.retries {
				if want := c.waits[i]; want != 0 && (r.After < want || r.After > want+min(want/10, maxSpread)) || r.After <= 0 || r.After > maxAsked+maxSpread || r.Attempt != i+2 || r.Reason == "" {
					t.Errorf("retry %d: %+v, want after %v", i, r, want)
				}
				if c.waits[i] == 0 && r.After < firstPause<<i {
					t.Errorf("retry %d comes after %v already", i, r.After)
				}
			}
		})
	}
}

func TestWaitingCanBeStopped(t *testing.T) {
	t.Parallel()
	s := sm.Start(t, sm.Fail(429, ``).With("Retry-After", "3000"))
	c := newClient(t, s.URL(), nil)
	c.pause = pause
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	answer, err := c.Stream(ctx, hi(), func(e Event) {
		if _, ok := e.(Retrying); ok {
			cancel()
		}
	})
	if err != nil || answer.State != StateStopped || len(s.Requests()) != 1 {
		t.Errorf("answer %+v, error %v", answer, err)
	}
}

func TestDeadEndpoint(t *testing.T) {
	t.Parallel()
	s := sm.Start(t)
	s.Close()
	o := run(t.Context(), t, newClient(t, s.URL(), nil), hi())
	if o.err.Kind != KindNetwork || !strings.Contains(o.err.Message, "Nothing answers at http://127.0.0.1") || len(o.retries) != 2 {
		t.Errorf("error %+v, retries %v", o.err, o.retries)
	}
	o = run(t.Context(), t, newClient(t, "http://no-such-host.invalid", nil), hi())
	if o.err.Kind != KindNetwork {
		t.Errorf("error %+v", o.err)
	}
}

func TestCertificateNobodySigned(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	o := run(t.Context(), t, newClient(t, s.URL, nil), hi())
	if o.err.Kind != KindNetwork || !strings.Contains(o.err.Message, "not trusted") || asked.Load() != 0 || len(o.retries) != 0 {
		t.Errorf("error %+v", o.err)
	}
	plain := sm.Start(t, sm.Say("x"))
	o = run(t.Context(), t, newClient(t, strings.Replace(plain.URL(), "http:", "https:", 1), nil), hi())
	if !strings.Contains(o.err.Message, "does not speak https") {
		t.Errorf("error %+v", o.err)
	}
}

func TestKeyNeverStandsInAnError(t *testing.T) {
	t.Parallel()
	const key = "sk-very-secret-key"
	for name, step := range map[string]sm.Step{
		"JSON":   sm.Fail(401, `{"error":{"message":"Incorrect API key provided: `+key+`"}}`),
		"text":   sm.Fail(400, "bad "+key),
		"stream": sm.Reply(sm.Text("x"), sm.Event(`{"error":"`+key+` failed"}`)),
		"page":   {Body: "<html><body>" + key + "</body></html>"},
	} {
		s := sm.StartScript(t, sm.Script{Steps: []sm.Step{step}, Token: key})
		c := newClient(t, s.URL(), func(e *Endpoint, o *Options) {
			e.Key = func() string { return key + "\n" }
			o.Redact = func(s string) string { return strings.ReplaceAll(s, "bad", "[redacted]") }
		})
		o := run(t.Context(), t, c, hi())
		if len(s.Requests()) != 1 || s.Requests()[0].Header.Get("Authorization") != "Bearer "+key {
			t.Fatalf("%s: the key was not sent", name)
		}
		if text := o.err.Message + o.err.Body; strings.Contains(text, key) || strings.Contains(text, "bad") || !strings.Contains(text, "[secret]") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

func TestBaseURL(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"http://localhost:11434":                                        "http://localhost:11434/v1",
		"http://localhost:11434/":                                       "http://localhost:11434/v1",
		"localhost:8080":                                                "http://localhost:8080/v1",
		"127.0.0.1:8080/v1/":                                            "http://127.0.0.1:8080/v1",
		"api.example.com":                                               "https://api.example.com/v1",
		" https://api.example.com/v1/chat/completions/ ":                "https://api.example.com/v1",
		"https://api.example.com/chat/completions":                      "https://api.example.com",
		"https://api.example.com/v1/models":                             "https://api.example.com/v1",
		"https://generativelanguage.googleapis.com/v1beta/openai/":      "https://generativelanguage.googleapis.com/v1beta/openai",
		"https://openrouter.ai":                                         "https://openrouter.ai/api/v1",
		"https://openrouter.ai/api":                                     "https://openrouter.ai/api/v1",
		"https://api.groq.com/openai/v1":                                "https://api.groq.com/openai/v1",
		"https://host/proxy":                                            "https://host/proxy",
		"HTTPS://Host/v1#x":                                             "https://Host/v1",
		"http://[::1]:1234":                                             "http://[::1]:1234/v1",
		"https://x.openai.azure.com/openai/deployments/d?api-version=1": "https://x.openai.azure.com/openai/deployments/d?api-version=1",
	} {
		c, err := New(Endpoint{BaseURL: in, Model: "m"}, Options{})
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if c.base.String() != want {
			t.Errorf("%s: %s, want %s", in, c.base, want)
		}
		c.Close()
	}
	key := func() string { return "k" }
	for name, e := range map[string]Endpoint{
		"empty":           {},
		"no host":         {BaseURL: "https:///v1"},
		"other scheme":    {BaseURL: "ftp://host/v1"},
		"file":            {BaseURL: "file:///etc/passwd"},
		"user":            {BaseURL: "https://user:hunter2@host/v1"},
		"key over http":   {BaseURL: "http://example.com/v1", Key: key},
		"key, near name":  {BaseURL: "http://localhost.example.com/v1", Key: key},
		"key, near IP":    {BaseURL: "http://127.0.0.1.example.com/v1", Key: key},
		"unknown profile": {BaseURL: "https://host", Profile: "x"},
		"control":         {BaseURL: "https://ho\x7fst"},
	} {
		c, err := New(e, Options{})
		if err == nil {
			c.Close()
			t.Errorf("%s: accepted", name)
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the password stands in the error: %v", name, err)
		}
	}
	for name, e := range map[string]Endpoint{
		"allowed":      {BaseURL: "http://example.com/v1", Key: key, AllowHTTP: true},
		"no key":       {BaseURL: "http://example.com/v1"},
		"empty key":    {BaseURL: "http://example.com/v1", Key: func() string { return "" }},
		"this machine": {BaseURL: "http://127.8.9.1/v1", Key: key},
	} {
		c, err := New(e, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		c.Close()
	}
}

func TestKeyThatComesLater(t *testing.T) {
	t.Parallel()
	key := ""
	c := newClient(t, "http://example.invalid", func(e *Endpoint, _ *Options) { e.Key = func() string { return key } })
	key = "sk-1234"
	if o := run(t.Context(), t, c, hi()); o.err.Kind != KindConfig || !strings.Contains(o.err.Message, "was not sent") {
		t.Errorf("error %+v", o.err)
	}
	if _, err := c.Models(t.Context()); err == nil || !strings.Contains(err.Error(), "was not sent") {
		t.Errorf("models: %v", err)
	}
	key = "a\r\nX-Evil: 1"
	if o := run(t.Context(), t, c, hi()); o.err.Kind != KindConfig || strings.Contains(o.err.Message, "Evil") {
		t.Errorf("error %+v", o.err)
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		status     int
		body, want string
		fails      bool
	}{
		"usual":      {200, `{"object":"list","data":[{"id":"b"},{"id":"a","created":1.5}]}`, "b a", false},
		"other form": {200, `{"models":[{"name":"n"},{"model":"m"},"s",{},null]}`, "n m s", false},
		"bare list":  {200, `[{"id":"x"}]`, "x", false},
		"none":       {200, `{"data":[]}`, "", false},
		"a page":     {200, `<html><title>Hi</title></html>`, "a web page", true},
		"refused":    {401, `{"error":{"message":"bad key"}}`, "bad key", true},
		"redirect":   {302, ``, "Redirects are not followed", true},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/models" || r.Method != http.MethodGet {
				t.Errorf("%s %s", r.Method, r.URL.Path)
			}
			w.Header().Set("Location", "https://evil.example")
			w.WriteHeader(x.status)
			_, _ = w.Write([]byte(x.body))
		}))
		names, err := newClient(t, s.URL, nil).Models(t.Context())
		if (err != nil) != x.fails || err == nil && strings.Join(names, " ") != x.want || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, %v", name, names, err)
		}
		s.Close()
	}
}

func TestNoModel(t *testing.T) {
	t.Parallel()
	c := newClient(t, "https://host", func(e *Endpoint, _ *Options) { e.Model = " " })
	if o := run(t.Context(), t, c, hi()); o.err.Kind != KindConfig {
		t.Errorf("error %+v", o.err)
	}
}
