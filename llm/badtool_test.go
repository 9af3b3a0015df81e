package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	sm "steward/testdata/scriptedmodel"
)

func someTools(n int) []Tool {
	var out []Tool
	for i := range n {
		out = append(out, Tool{Name: Alias("srv", fmt.Sprintf("tool%d", i)), Origin: fmt.Sprintf("srv/tool%d", i),
			Schema: fmt.Appendf(nil, `{"type":"object","properties":{"p%d":{"type":"string","description":"number %d"}}}`, i, i)})
	}
	return out
}

func TestTheRefusedToolIsNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, tool string }{
		"OpenAI":               {`{"error":{"message":"Invalid schema for function 'srv__tool3': In context=('properties', 'x'), array schema missing items.","type":"invalid_request_error","param":"tools[3].function.parameters","code":"invalid_function_parameters"}}`, "srv/tool3"},
		"by param alone":       {`{"error":{"message":"Invalid schema","param":"tools[4].function.parameters"}}`, "srv/tool4"},
		"by path":              {`{"type":"error","error":{"type":"invalid_request_error","message":"tools.2.custom.input_schema: JSON schema is invalid."}}`, "srv/tool2"},
		"by pointer":           {`{"error":"#/tools/1/function/parameters: bad"}`, "srv/tool1"},
		"by a list":            {`{"detail":[{"loc":["body","tools",2,"function","parameters"],"msg":"value is not a valid dict"}]}`, "srv/tool2"},
		"Gemini":               {`[{"error":{"code":400,"message":"* GenerateContentRequest.tools[0].function_declarations[5].parameters.properties[x].items: missing field.\n","status":"INVALID_ARGUMENT"}}]`, "srv/tool5"},
		"counted from one":     {`{"error":{"message":"tools[6]: bad schema"}}`, "srv/tool5"},
		"an ordinal":           {`{"error":{"message":"Tool #2 has an invalid schema"}}`, "srv/tool1"},
		"an index":             {`{"error":{"message":"function at index 2: parameters must be an object"}}`, "srv/tool2"},
		"a bare name":          {`{"error":{"message":"Failed to compile grammar of srv__tool1: too deep"}}`, "srv/tool1"},
		"a name in the raw":    {`{"error":{"message":"Provider returned error","metadata":{"raw":"bad parameters of srv__tool4"}}}`, "srv/tool4"},
		"a piece of a schema":  {`{"error":{"code":400,"message":"JSON schema conversion failed:\nError in {\"type\":\"object\",\"properties\":{\"p2\":{\"type\":\"string\",\"description\":\"number 2\"}}}","type":"invalid_request_error"}}`, "srv/tool2"},
		"two names":            {`{"error":{"message":"srv__tool1 and srv__tool2 have invalid parameters"}}`, ""},
		"a longer name":        {`{"error":{"message":"the schema of srv__tool11 is bad"}}`, ""},
		"none named":           {`{"error":{"message":"one of the function schemas is invalid"}}`, ""},
		"of what was said":     {`{"error":{"message":"messages with role 'tool' must follow a message with tool_calls: srv__tool1","param":"messages.[3].role"}}`, "-"},
		"of something else":    {`{"error":{"message":"the sky is falling"}}`, "-"},
		"one beyond the last":  {`{"error":{"message":"tools[9]: bad"}}`, ""},
		"a number far too big": {`{"error":{"message":"tools[99999999999999999999]: bad"}}`, ""},
	} {
		e := classify("http://x", readFailure(400, []byte(c.body)), []byte(c.body), someTools(6))
		switch {
		case c.tool == "-":
			if e.Kind != KindBadRequest || e.Suspect {
				t.Errorf("%s: %+v", name, e)
			}
		case c.tool == "":
			if e.Kind != KindBadRequest || !e.Suspect || !strings.Contains(e.Message, "--without SERVER/TOOL") {
				t.Errorf("%s: %+v", name, e)
			}
		case e.Kind != KindBadTool || e.Tool != c.tool || e.Suspect || !strings.Contains(e.Message, "of the server srv") || !strings.Contains(e.Message, "--without "+c.tool):
			t.Errorf("%s: %+v", name, e)
		}
	}
	// Where there is one tool only, it need not be named.
	body := []byte(`{"error":{"message":"bad function schema"}}`)
	tools := []Tool{{Name: "a", Origin: "my server/it's"}}
	if e := classify("x", readFailure(400, body), body, tools); e.Tool != tools[0].Origin || !strings.Contains(e.Message, `--without 'my server/it'\''s'`) {
		t.Errorf("%+v", e)
	}
}

func TestTooManyTools(t *testing.T) {
	t.Parallel()
	for body, limit := range map[string]int{
		`{"error":{"message":"Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 200 instead.","param":"tools","code":"array_above_max_length"}}`: 128,
		`{"error":{"message":"The number of tools exceeds the limit of 64"}}`:                                                        64,
		`{"error":{"message":"at most 100 tools are allowed, got 200"}}`:                                                             100,
		`{"error":{"message":"tools: maximum number of tools is 20"}}`:                                                               20,
		`[{"error":{"message":"Too many function declarations: 200, max 128"}}]`:                                                     128,
		`{"error":{"message":"too many tools"}}`:                                                                                     0,
		`{"error":{"message":"Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 10"}}`: -1,
		`{"error":{"message":"Invalid 'tools[0].function.name': string too long. Expected at most 64"}}`:                             -1,
	} {
		e := classify("http://x", readFailure(400, []byte(body)), []byte(body), someTools(200))
		if limit < 0 {
			if e.Kind == KindManyTools {
				t.Errorf("%s: %+v", body, e)
			}
			continue
		}
		if e.Kind != KindManyTools || e.Limit != limit || e.Used != 200 || e.Retryable {
			t.Errorf("%s: %+v", body, e)
		}
	}
	learned := ""
	s := sm.Start(t, sm.Fail(400, `{"error":{"message":"at most 3 tools are allowed"}}`))
	o := run(t.Context(), t, newClient(t, s.URL(), func(_ *Endpoint, o *Options) {
		o.Learned = func(_ Endpoint, key, value string) { learned += key + "=" + value }
	}), Request{Tools: someTools(5)})
	if o.err == nil || o.err.Kind != KindManyTools || learned != "max_tools=3" || len(s.Requests()) != 1 {
		t.Errorf("%+v, learned %q", o.err, learned)
	}
}

// picky refuses requests that offer a tool of one of these names, without saying which.
func picky(t *testing.T, names ...string) *sm.Server {
	return sm.StartScript(t, sm.Script{Steps: []sm.Step{sm.Say("OK")}, Repeat: true, Check: func(q sm.Request) (int, string) {
		for _, n := range names {
			if bytes.Contains(q.Body, fmt.Appendf(nil, `"name":%q`, n)) {
				return 400, `{"error":{"message":"invalid function parameters"}}`
			}
		}
		return 0, ""
	}})
}

func TestFindTool(t *testing.T) {
	t.Parallel()
	tools := someTools(37)
	for _, guilty := range []int{0, 17, 18, 36} {
		s := picky(t, tools[guilty].Name)
		count := 0
		got, err := newClient(t, s.URL(), nil).FindTool(t.Context(), tools, func(n int) { count = n })
		if err != nil || got.Origin != tools[guilty].Origin {
			t.Errorf("%d: %s, %v", guilty, got.Origin, err)
		}
		if n := len(s.Requests()); n > 8 || n != count { // 37 can be halved six times
			t.Errorf("%d: %d requests, %d told", guilty, n, count)
		}
		for _, q := range s.Requests() {
			var sent struct {
				Messages  []json.RawMessage
				MaxTokens int `json:"max_tokens"`
			}
			if err := json.Unmarshal(q.Body, &sent); err != nil || len(sent.Messages) != 1 || sent.MaxTokens == 0 || sent.MaxTokens > 16 {
				t.Errorf("%s, %v", q.Body, err)
			}
		}
	}
	// Of several, one is found.
	s := picky(t, tools[3].Name, tools[30].Name)
	if got, err := newClient(t, s.URL(), nil).FindTool(t.Context(), tools, nil); err != nil || got.Origin != tools[3].Origin {
		t.Errorf("%s, %v", got.Origin, err)
	}
	// None by itself, and an endpoint that takes nothing at all.
	for name, s := range map[string]*sm.Server{"none": picky(t), "everything": sm.StartScript(t, sm.Script{Steps: []sm.Step{sm.Fail(400, `{"error":"tools are bad"}`)}, Repeat: true})} {
		if got, err := newClient(t, s.URL(), nil).FindTool(t.Context(), tools, nil); !errors.Is(err, ErrNoTool) {
			t.Errorf("%s: %s, %v", name, got.Origin, err)
		}
	}
	// Another error is its own, and who asked can stop it.
	s = sm.StartScript(t, sm.Script{Steps: []sm.Step{sm.Fail(401, `{"error":"no"}`)}, Repeat: true})
	var e *Error
	if _, err := newClient(t, s.URL(), nil).FindTool(t.Context(), tools, nil); !errors.As(err, &e) || e.Kind != KindAuth {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := newClient(t, picky(t).URL(), nil).FindTool(ctx, tools, func(n int) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
