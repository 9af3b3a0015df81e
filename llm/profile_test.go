package llm

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	sm "steward/testdata/scriptedmodel"
)

func TestProfiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		url, model, profile string
		want                string // name, and traits as key=value
	}{
		"OpenAI":                  {"https://api.openai.com", "gpt-4o", "", "openai dialect=openai length_limit=max_completion_tokens max_tools=128 temperature=yes system_role=system"},
		"OpenAI, reasoning":       {"https://api.openai.com/v1", "o3-mini", "", "openai temperature=no stop=no reasoning_effort=yes system_role=developer"},
		"OpenAI, newer":           {"https://api.openai.com/v1", "gpt-5.1", "", "openai temperature=no system_role=developer"},
		"OpenAI, not reasoning":   {"https://api.openai.com/v1", "gpt-4.1-mini", "", "openai temperature=yes reasoning_effort=no"},
		"OpenAI, first of them":   {"https://api.openai.com/v1", "o1-mini", "", "openai system_role=user"},
		"Azure":                   {"https://me.openai.azure.com/openai/deployments/x?api-version=1", "x", "", "azure length_limit=max_completion_tokens"},
		"Azure behind a gateway":  {"https://gateway.example.com/openai/deployments/x", "x", "", "azure"},
		"Gemini":                  {"https://generativelanguage.googleapis.com", "gemini-3-pro", "", "gemini dialect=gemini"},
		"Gemini, other host":      {"https://gateway.example.com/v1", "google/gemini-3-pro", "", "generic dialect=gemini"},
		"Gemini at OpenRouter":    {"https://openrouter.ai", "google/gemini-3-pro", "", "openrouter dialect=gemini"},
		"Anthropic":               {"https://api.anthropic.com", "claude-x", "", "anthropic dialect=anthropic reasoning_effort=no"},
		"Anthropic, other host":   {"http://127.0.0.1:4000/v1", "anthropic/claude-x", "", "generic dialect=anthropic"},
		"DeepSeek":                {"https://api.deepseek.com", "deepseek-chat", "", "deepseek reasoning_back=always images=no"},
		"DeepSeek at OpenRouter":  {"https://openrouter.ai/api/v1", "deepseek/deepseek-r1", "", "openrouter reasoning_back=always"},
		"DeepSeek on the machine": {"http://127.0.0.1:11434", "deepseek-r1:8b", "", "ollama reasoning_back=never"},
		"Qwen":                    {"https://dashscope-intl.aliyuncs.com", "qwen-max", "", "qwen"},
		"Moonshot":                {"https://api.moonshot.cn/v1", "kimi-k2", "", "moonshot dialect=moonshot tool_choice=auto"},
		"Zhipu":                   {"https://open.bigmodel.cn", "glm-4.6", "", "zhipu max_tools=128"},
		"Mistral":                 {"https://api.mistral.ai", "mistral-large", "", "mistral call_ids=short stream_options=no tool_choice=any user_after_tool=no"},
		"Mistral, other host":     {"http://localhost:8000/v1", "mistralai/Mistral-7B", "", "vllm call_ids=short stream_options=yes"},
		"Groq":                    {"https://api.groq.com", "llama", "", "groq length_limit=max_completion_tokens"},
		"Ollama":                  {"http://localhost:11434", "qwen3", "", "ollama dialect=ollama"},
		"Ollama, next door":       {"http://192.168.1.7:11434", "qwen3", "", "ollama"},
		"not Ollama":              {"https://far.example.com:11434/v1", "qwen3", "", "generic"},
		"LM Studio":               {"http://localhost:1234/v1", "x", "", "lmstudio"},
		"llama.cpp":               {"http://127.0.0.1:8080", "x", "", "llamacpp dialect=grammar parallel_tool_calls=on"},
		"a name in another name":  {"https://notopenai.com/v1", "x", "", "generic"},
		"a trap":                  {"https://openai.com.example.org/v1", "x", "", "generic"},
		"asked for":               {"https://api.openai.com/v1", "gemini-3", "Mistral", "mistral dialect=full call_ids=short"},
		"asked for, gateway":      {"https://x.example.com/v1", "gemini-3", "generic", "generic dialect=gemini"},
	} {
		p, err := ProfileOf(Endpoint{BaseURL: c.url, Model: c.model, Profile: c.profile})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := strings.Fields(c.want)
		if p.Name != want[0] {
			t.Errorf("%s: %s, not %s", name, p.Name, want[0])
		}
		for _, w := range want[1:] {
			if key, value, _ := strings.Cut(w, "="); p.Trait(key) != value {
				t.Errorf("%s: %s is %s, not %s", name, key, p.Trait(key), value)
			}
		}
	}
}

func TestTheTableHoldsEachEndpoint(t *testing.T) {
	t.Parallel()
	var names []string
	for _, e := range table {
		names = append(names, e.habits.Name)
		if e.habits.Name == "" || e.habits.Title == "" || e.source == "" && e.habits.Name != "generic" {
			t.Errorf("%+v: a row without a name or a source", e)
		}
		if _, ok := dialectRules[e.habits.Dialect]; !ok {
			t.Errorf("%s: there is no dialect %q", e.habits.Name, e.habits.Dialect)
		}
		for _, tr := range traits { // each habit of a row can be shown and set
			p := Profile{}
			if err := p.SetTrait(tr.Key, e.habits.Trait(tr.Key)); err != nil || p.Trait(tr.Key) != e.habits.Trait(tr.Key) {
				t.Errorf("%s: %s is %q: %v", e.habits.Name, tr.Key, e.habits.Trait(tr.Key), err)
			}
		}
	}
	for _, must := range []string{"openai", "azure", "openrouter", "deepseek", "qwen", "moonshot", "zhipu", "mistral", "gemini", "anthropic", "groq", "ollama", "lmstudio", "llamacpp", "vllm", "generic"} {
		if !slices.Contains(names, must) {
			t.Errorf("%s is missing", must)
		}
	}
	if sorted := slices.Compact(slices.Sorted(slices.Values(names))); len(sorted) != len(names) {
		t.Errorf("a name stands twice: %v", names)
	}
}

func TestTraits(t *testing.T) {
	t.Parallel()
	for _, tr := range traits {
		values := tr.Values
		if values == nil {
			values = []string{"0", "64"}
		}
		for _, v := range values {
			p := Profile{Name: "x"}
			if err := p.SetTrait(tr.Key, v); err != nil || p.Trait(tr.Key) != v {
				t.Errorf("%s: %s became %s, %v", tr.Key, v, p.Trait(tr.Key), err)
			}
		}
		p := Profile{}
		if err := p.SetTrait(tr.Key, "-1 nonsense"); err == nil || p.Trait(tr.Key) != (Profile{}).Trait(tr.Key) {
			t.Errorf("%s takes anything", tr.Key)
		}
	}
	if err := new(Profile).SetTrait("colour", "red"); err == nil {
		t.Error("there is a habit named colour")
	}
	// A person's word goes before what was learned, and both before the table; what no
	// version knows is passed over.
	p, err := ProfileOf(Endpoint{BaseURL: "https://api.openai.com", Model: "m",
		Learned: map[string]string{"length_limit": "max_tokens", "stop": No, "gone": "x", "images": "perhaps"}, Traits: map[string]string{"stop": Yes, "max_tools": "5"}})
	if err != nil || p.LengthLimit != LengthMaxTokens || p.NoStop || p.MaxTools != 5 || p.NoImages {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestAzure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ base, chat, list, query string }{
		"deployment":           {"/openai/deployments/gpt", "/openai/deployments/gpt/chat/completions", "/openai/models", "api-version=2024-10-21"},
		"version given":        {"/openai/deployments/gpt?api-version=2025-01-01-preview", "/openai/deployments/gpt/chat/completions", "/openai/models", "api-version=2025-01-01-preview"},
		"pasted":               {"/openai/deployments/gpt/chat/completions?api-version=2025-01-01", "/openai/deployments/gpt/chat/completions", "/openai/models", "api-version=2025-01-01"},
		"behind a gateway":     {"/azure/openai/deployments/gpt", "/azure/openai/deployments/gpt/chat/completions", "/azure/openai/models", "api-version=2024-10-21"},
		"newer, asked for":     {"/openai/v1", "/openai/v1/chat/completions", "/openai/v1/models", ""},
		"newer with a version": {"/openai/v1?api-version=preview", "/openai/v1/chat/completions", "/openai/v1/models", "api-version=preview"},
	} {
		var q []*http.Request
		azure := newClient(t, "https://me.openai.azure.com"+c.base, func(e *Endpoint, o *Options) {
			e.Profile, e.Key = "azure", func() string { return "key-of-azure" }
			o.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
				q = append(q, r)
				return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"data":[{"id":"gpt"}]}`))}, nil
			})
		})
		run(t.Context(), t, azure, Request{Messages: []Message{{Role: RoleUser, Text: "hi"}}})
		if models, err := azure.Models(t.Context()); err != nil || len(models) != 1 {
			t.Errorf("%s: %v, %v", name, models, err)
		}
		if len(q) != 2 {
			t.Fatalf("%s: %d requests", name, len(q))
		}
		for i, path := range []string{c.chat, c.list} {
			if q[i].URL.Path != path || q[i].URL.RawQuery != c.query {
				t.Errorf("%s: %s?%s, not %s?%s", name, q[i].URL.Path, q[i].URL.RawQuery, path, c.query)
			}
			if q[i].Header.Get("Api-Key") != "key-of-azure" || q[i].Header.Get("Authorization") != "" {
				t.Errorf("%s: %v", name, q[i].Header)
			}
		}
	}
}

// refusing answers with a refusal as long as a request has what it refuses.
func refusing(t *testing.T, status int, body string, bad func(body string) bool) *sm.Server {
	return sm.StartScript(t, sm.Script{Steps: []sm.Step{sm.Say("ok")}, Repeat: true, Check: func(q sm.Request) (int, string) {
		if q.Method == http.MethodPost && bad(string(q.Body)) {
			return status, body
		}
		return 0, ""
	}})
}

func TestRefusalsTeach(t *testing.T) {
	t.Parallel()
	cold := 0.5
	ask := Request{MaxTokens: 5, Temperature: &cold, Stop: []string{"END"}, ToolChoice: "required",
		Messages: []Message{{Role: RoleSystem, Text: "be brief"}, {Role: RoleUser, Text: "x"}},
		Tools:    []Tool{{Name: "a__one", Origin: "a/one", Description: strings.Repeat("long ", 300), Schema: []byte(`{"type":"object","properties":{"p":{"type":["string","null"]}}}`)}}}
	for name, c := range map[string]struct {
		bad    string
		status int
		says   string
		learns map[string]string
	}{
		"stream_options, pydantic":   {`"stream_options"`, 422, `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`, map[string]string{"stream_options": No}},
		"stream_options, text":       {`"stream_options"`, 400, `unknown field "stream_options"`, map[string]string{"stream_options": No}},
		"stream_options, 500":        {`"stream_options"`, 500, `{"error":"json: unknown field \"stream_options\""}`, map[string]string{"stream_options": No}},
		"newer length":               {`"max_tokens"`, 400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`, map[string]string{"length_limit": LengthMaxCompletion}},
		"no length":                  {`_tokens"`, 400, `{"error":{"message":"Unrecognized request argument supplied: max_tokens, max_completion_tokens"}}`, map[string]string{"length_limit": LengthMaxCompletion}},
		"temperature, OpenAI":        {`"temperature"`, 400, `{"error":{"message":"Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.","type":"invalid_request_error","param":"temperature","code":"unsupported_value"}}`, map[string]string{"temperature": No}},
		"temperature, Moonshot":      {`"temperature"`, 400, `{"error":{"message":"invalid temperature: only 1 is allowed for this model","type":"invalid_request_error"}}`, map[string]string{"temperature": No}},
		"temperature, deprecated":    {`"temperature"`, 400, "{\"error\":{\"message\":\"`temperature` is deprecated for this model.\"}}", map[string]string{"temperature": No}},
		"temperature, handed on":     {`"temperature"`, 400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"Unsupported parameter: 'temperature' is not supported with this model.\"}}","provider_name":"Azure"}}}`, map[string]string{"temperature": No}},
		"calls together":             {`"parallel_tool_calls"`, 400, `{"error":{"message":"Unknown parameter: 'parallel_tool_calls'."}}`, map[string]string{"parallel_tool_calls": "unsaid"}},
		"stop":                       {`"stop"`, 400, `{"error":{"message":"Unsupported parameter: 'stop' is not supported with this model.","param":"stop"}}`, map[string]string{"stop": No}},
		"required choice":            {`"tool_choice":"required"`, 400, `{"error":{"message":"tool_choice 'required' is not supported"}}`, map[string]string{"tool_choice": ChoiceAuto}},
		"no choice":                  {`"tool_choice"`, 400, `{"error":{"message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"}}`, map[string]string{"tool_choice": ChoiceNone}},
		"system, template":           {`"role":"system"`, 500, `{"error":{"code":500,"message":"System role not supported","type":"server_error"}}`, map[string]string{"system_role": SystemUser}},
		"system, instruction":        {`"role":"system"`, 400, `[{"error":{"code":400,"message":"Developer instruction is not enabled for models/gemma-3-27b-it","status":"INVALID_ARGUMENT"}}]`, map[string]string{"system_role": SystemUser}},
		"system, value":              {`"role":"system"`, 400, `{"error":{"message":"Unsupported value: 'messages[0].role' does not support 'system' with this model.","param":"messages[0].role","code":"unsupported_value"}}`, map[string]string{"system_role": SystemUser}},
		"types in a list":            {`"type":["string","null"]`, 400, `[{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"type\" at 'tools[0].function_declarations[0].parameters.properties[0].value': Proto field is not repeating, cannot start list.","status":"INVALID_ARGUMENT"}}]`, map[string]string{"dialect": "gemini"}},
		"Moonshot's schemas":         {`"type":["string","null"]`, 400, `{"error":{"message":"Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, details: <At path 'properties.p': type is not a string>"}}`, map[string]string{"dialect": "moonshot"}},
		"description":                {strings.Repeat("long ", 250), 400, `{"error":{"message":"Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024, but got a string with length 1500 instead.","param":"tools[0].function.description","code":"string_above_max_length"}}`, map[string]string{"max_description": "1024"}},
		"in the stream":              {`"stream_options"`, 200, `data: {"error":{"type":"invalid_request_error","message":"stream_options is not supported"}}` + "\n\n", map[string]string{"stream_options": No}},
		"a value, not a name":        {`"max_tokens"`, 400, `{"error":{"message":"max_tokens cannot be 5, at most 4 completion tokens are supported","param":"max_tokens"}}`, nil},
		"a temperature out of range": {`"temperature"`, 400, `{"error":{"message":"temperature must be between 0 and 0.3"}}`, nil},
		"somebody's words":           {`"messages"`, 400, `{"error":{"message":"Your input was flagged: please do not stop here"}}`, nil},
		"no key":                     {`"stream_options"`, 401, `{"error":{"message":"stream_options is not supported"}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := refusing(t, c.status, c.says, func(body string) bool { return strings.Contains(body, c.bad) })
			learned, profile := map[string]string{}, ""
			if name == "calls together" {
				profile = "llamacpp" // which is asked for them
			}
			o := run(t.Context(), t, newClient(t, s.URL(), func(e *Endpoint, o *Options) {
				e.Profile = profile
				o.Learned = func(_ Endpoint, key, value string) { learned[key] = value }
			}), ask)
			n := len(s.Requests())
			if c.learns == nil {
				if o.err == nil || n != 1 || len(learned) > 0 {
					t.Fatalf("%d requests, learned %v, %v", n, learned, o.err)
				}
				return
			}
			if name == "no length" {
				if n != 3 || o.answer.State != StateFinished || learned["length_limit"] != LengthNone {
					t.Fatalf("%d requests, learned %v, %v", n, learned, o.err)
				}
				return
			}
			if o.answer.State != StateFinished || !o.warned("adapted") || len(o.retries) > 0 || !maps.Equal(learned, c.learns) {
				t.Fatalf("%d requests, learned %v, %v", n, learned, o.err)
			}
			if want := 2; n != want && name != "no choice" || n > 3 {
				t.Errorf("%d requests", n)
			}
			// Over a restart: what was learned is known before the first request.
			again := run(t.Context(), t, newClient(t, s.URL(), func(e *Endpoint, _ *Options) { e.Learned, e.Profile = learned, profile }), ask)
			if again.answer.State != StateFinished || len(s.Requests()) != n+1 {
				t.Errorf("%d more requests, %v", len(s.Requests())-n, again.err)
			}
		})
	}
}

// What only looked like a habit is not kept: the request that was written so is refused as well.
func TestOnlyWhatHelpedIsKept(t *testing.T) {
	t.Parallel()
	s := sm.StartScript(t, sm.Script{Steps: []sm.Step{sm.Fail(400, `{"error":{"message":"bad request: {\"stream_options\":{}}"}}`)}, Repeat: true})
	learned := 0
	c := newClient(t, s.URL(), func(_ *Endpoint, o *Options) {
		o.Learned = func(Endpoint, string, string) { learned++ }
	})
	was := c.Profile().Trait("stream_options")
	o := run(t.Context(), t, c, Request{Messages: []Message{{Role: RoleUser, Text: "x"}}})
	if o.err == nil || len(s.Requests()) != 2 || learned != 0 {
		t.Errorf("%d requests, %d learned, %v", len(s.Requests()), learned, o.err)
	}
	if now := c.Profile().Trait("stream_options"); now != was {
		t.Errorf("the next request is written with stream_options %q, which helped nothing; it was %q", now, was)
	}
}

// An endpoint that is never content is not asked for ever.
func TestAnEndpointThatNamesAnotherLimitEachTimeIsGivenUp(t *testing.T) {
	t.Parallel()
	var steps []sm.Step
	for n := range 60 {
		steps = append(steps, sm.Fail(400, fmt.Sprintf(`{"error":{"message":"tools[0].function.description: string too long. Expected a string with maximum length %d"}}`, 1000-n)))
	}
	s := sm.StartScript(t, sm.Script{Steps: steps, Repeat: true})
	c := newClient(t, s.URL(), nil)
	was := c.Profile().Trait("max_description")
	o := run(t.Context(), t, c, Request{
		Messages: []Message{{Role: RoleUser, Text: "x"}},
		Tools:    []Tool{{Name: "a", Description: strings.Repeat("word ", 400), Schema: []byte(`{"type":"object"}`)}},
	})
	if n := len(s.Requests()); o.err == nil || n > 20 {
		t.Errorf("%d requests, %v", n, o.err)
	}
	if now := c.Profile().Trait("max_description"); now != was {
		t.Errorf("descriptions are cut to %q from now on, before it was %q", now, was)
	}
}
