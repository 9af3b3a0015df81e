package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"steward/testdata/chatrules"
	sm "steward/testdata/scriptedmodel"
)

// sent is the request body a client with the profile sends for r.
func sent(t *testing.T, profile string, r Request) string {
	t.Helper()
	s := sm.Start(t, sm.Say("ok"))
	c := newClient(t, s.URL(), func(e *Endpoint, _ *Options) { e.Profile = profile })
	if o := run(t.Context(), t, c, r); o.answer.State != StateFinished {
		t.Fatal(o.err)
	}
	return string(s.Requests()[0].Body)
}

func call(id, args string) ToolCall { return ToolCall{ID: id, Name: "s__t", Arguments: args} }

func answerTo(id, text string) Message {
	return Message{Role: RoleTool, CallID: id, Tool: "s__t", Text: text}
}

func TestRequestBytes(t *testing.T) {
	t.Parallel()
	half := 0.5
	got := sent(t, "", Request{
		Messages: []Message{
			{Role: RoleSystem, Text: "Be brief <&>."},
			{Role: RoleUser, Text: "你好 \"x\"\n\x01"},
			{Role: RoleAssistant, Reasoning: "secret thought", Calls: []ToolCall{call("c1", `{"z":1.0,"a":"<>"}`)}},
			answerTo("c1", ""),
			{Role: RoleAssistant, Text: "Done"},
			{Role: RoleUser, Text: "next"},
		},
		Tools:     []Tool{{Name: "s__t", Description: "Does <it>", Schema: json.RawMessage(`{"type":"object","properties":{"z":{"type":"number"},"a":{"type":"string"}}}`)}},
		MaxTokens: 7, Temperature: &half, Stop: []string{"END"}, ToolChoice: "auto",
	})
	want := `{"model":"fake","messages":[` +
		`{"role":"system","content":"Be brief <&>."},` +
		`{"role":"user","content":"你好 \"x\"\n\u0001"},` +
		`{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"s__t","arguments":"{\"z\":1.0,\"a\":\"<>\"}"}}]},` +
		`{"role":"tool","tool_call_id":"c1","content":"(no output)"},` +
		`{"role":"assistant","content":"Done"},` +
		`{"role":"user","content":"next"}],` +
		`"tools":[{"type":"function","function":{"name":"s__t","description":"Does <it>","parameters":{"type":"object","properties":{"z":{"type":"number"},"a":{"type":"string"}}}}}],"tool_choice":"auto",` +
		`"stream":true,"stream_options":{"include_usage":true},"max_tokens":7,"temperature":0.5,"stop":["END"]}`
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if p := sm.Problem([]byte(got)); p != "" {
		t.Error(p)
	}
}

func TestRequestIsAlwaysValid(t *testing.T) {
	t.Parallel()
	user := Message{Role: RoleUser, Text: "x"}
	cases := map[string][]Message{
		"no answers":           {user, {Role: RoleAssistant, Calls: []ToolCall{call("a", "{}"), call("b", "{}")}}, user},
		"one answer of two":    {user, {Role: RoleAssistant, Calls: []ToolCall{call("a", "{}"), call("b", "{}")}}, answerTo("a", "1"), user},
		"no answer at the end": {user, {Role: RoleAssistant, Calls: []ToolCall{call("a", "{}")}}},
		"answer to nothing":    {user, answerTo("a", "1"), user},
		"two answers":          {user, {Role: RoleAssistant, Calls: []ToolCall{call("a", "{}")}}, answerTo("a", "1"), answerTo("a", "2"), user},
		"late answer":          {user, {Role: RoleAssistant, Calls: []ToolCall{call("a", "{}")}}, user, answerTo("a", "2")},
		"one id for all":       {user, {Role: RoleAssistant, Calls: []ToolCall{call("S", "{}"), call("S", "{}")}}, answerTo("S", "1"), answerTo("S", "2"), {Role: RoleAssistant, Calls: []ToolCall{call("S", "{}")}}, answerTo("S", "3")},
		"broken arguments":     {user, {Role: RoleAssistant, Calls: []ToolCall{{ID: "a", Name: "t", Raw: `{"x`, Problem: "p"}, call("b", "[1]"), call("c", "")}}, answerTo("a", "1")},
		"odd names and ids":    {user, {Role: RoleAssistant, Calls: []ToolCall{{ID: "", Name: "a b.c", Arguments: "{}"}, {ID: strings.Repeat("x", 90), Name: strings.Repeat("n", 90), Arguments: "{}"}, {ID: "ü", Name: "查询", Arguments: "{}"}, {ID: "z", Name: ""}}}},
		"empty answer":         {user, {Role: RoleAssistant}, {Role: RoleAssistant, Reasoning: "only thought"}, user},
	}
	for name, messages := range cases {
		for _, profile := range []string{"generic", "openai", "mistral", "deepseek", "gemini"} {
			got := sent(t, profile, Request{Messages: messages})
			if p := chatrules.Check([]byte(got), chatrules.For(profile)); p != nil {
				t.Errorf("%s, %s: %q\n%s", name, profile, p, got)
			}
		}
	}
}

func TestIDsOnTheWire(t *testing.T) {
	t.Parallel()
	r := Request{Messages: []Message{
		{Role: RoleUser, Text: "x"},
		{Role: RoleAssistant, Calls: []ToolCall{call("call_0fypS1hVXabc", "{}"), call("abcdefghi", "{}")}},
		answerTo("abcdefghi", "two"), answerTo("call_0fypS1hVXabc", "one"),
	}}
	type body struct {
		Messages []struct {
			Content    string
			ToolCallID string                `json:"tool_call_id"`
			ToolCalls  []struct{ ID string } `json:"tool_calls"`
		}
	}
	var b body
	if err := json.Unmarshal([]byte(sent(t, "mistral", r)), &b); err != nil {
		t.Fatal(err)
	}
	first, second := b.Messages[1].ToolCalls[0].ID, b.Messages[1].ToolCalls[1].ID
	if !regexp.MustCompile(`^[a-zA-Z0-9]{9}$`).MatchString(first) || second != "abcdefghi" {
		t.Errorf("ids %q and %q", first, second)
	}
	if b.Messages[2].ToolCallID != first || b.Messages[2].Content != "one" || b.Messages[3].ToolCallID != second || b.Messages[3].Content != "two" {
		t.Errorf("answers do not fit their calls: %+v", b.Messages)
	}
	if got := sent(t, "", r); !strings.Contains(got, `"tool_call_id":"call_0fypS1hVXabc"`) {
		t.Errorf("an id every endpoint takes was changed: %s", got)
	}
}

func TestReasoningIsSentBackOnlyWhereDemanded(t *testing.T) {
	t.Parallel()
	r := Request{Messages: []Message{
		{Role: RoleUser, Text: "x"},
		{Role: RoleAssistant, Reasoning: "deep thought", Calls: []ToolCall{call("a", "{}")}}, answerTo("a", "1"),
		{Role: RoleAssistant, Text: "plain"}, {Role: RoleUser, Text: "y"},
	}}
	if got := sent(t, "", r); strings.Contains(got, "thought") || strings.Contains(got, "reasoning") {
		t.Error(got)
	}
	if got := sent(t, "deepseek", r); strings.Count(got, `"reasoning_content":`) != 2 || !strings.Contains(got, `"content":"","reasoning_content":"deep thought"`) {
		t.Error(got)
	}
	// An endpoint nobody knows says what it wants.
	s := sm.StartScript(t, sm.Script{Steps: []sm.Step{sm.Say("ok")}, Repeat: true, Check: func(q sm.Request) (int, string) {
		if bytes.Count(q.Body, []byte("reasoning_content")) < 2 {
			return 400, `{"error":{"message":"reasoning_content must be passed back"}}`
		}
		return 0, ""
	}})
	c := newClient(t, s.URL(), nil)
	for range 2 {
		if o := run(t.Context(), t, c, r); o.answer.State != StateFinished || len(o.retries) != 0 {
			t.Fatal(o.err)
		}
	}
	if n := len(s.Requests()); n != 3 {
		t.Errorf("%d requests, want 3: what was learnt is kept", n)
	}
}

func TestAdaptsToRefusals(t *testing.T) {
	t.Parallel()
	r := Request{MaxTokens: 5, Messages: []Message{
		{Role: RoleUser, Text: "x", Images: []Image{{"image/png", []byte("png")}}},
		{Role: RoleAssistant, Calls: []ToolCall{call("call_0fypS1hVXabc", "{}")}}, answerTo("call_0fypS1hVXabc", "1"),
	}}
	_, image := recording(t, "errors/image.http")
	for name, x := range map[string]struct {
		bad, refusal string
		status       int
	}{
		"stream_options": {`"stream_options"`, `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`, 422},
		"ids":            {`call_0fypS1hVXabc`, `{"message":"Tool call id was call_0fypS1hVXabc but must be a-z, A-Z, 0-9, with a length of 9."}`, 400},
		"length limit":   {`"max_tokens"`, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error"}}`, 400},
		"pictures":       {`image_url`, image, 500},
		"empty texts":    {`"content":"","tool_calls"`, `{"type":"error","error":{"type":"invalid_request_error","message":"messages: text content blocks must be non-empty"}}`, 400},
		"blank contents": {`"content":"","tool_calls"`, `{"error":{"message":"messages[1].content must not be empty"}}`, 500},
	} {
		s := sm.StartScript(t, sm.Script{Steps: []sm.Step{sm.Say("ok")}, Check: func(q sm.Request) (int, string) {
			if bytes.Contains(q.Body, []byte(x.bad)) {
				return x.status, x.refusal
			}
			return 0, ""
		}})
		o := run(t.Context(), t, newClient(t, s.URL(), nil), r)
		if o.answer.State != StateFinished || len(s.Requests()) != 2 || !o.warned("adapted") || len(o.retries) != 0 {
			t.Errorf("%s: %+v, error %v, %d requests", name, o.answer, o.err, len(s.Requests()))
		}
	}
	// The same refusal again is an error, not a circle.
	s := sm.StartScript(t, sm.Script{Steps: []sm.Step{sm.Fail(422, `{"detail":"stream_options"}`)}, Repeat: true})
	if o := run(t.Context(), t, newClient(t, s.URL(), nil), r); o.answer.State != StateFailed || len(s.Requests()) != 2 {
		t.Errorf("%+v, %d requests", o.answer, len(s.Requests()))
	}
}

func TestImages(t *testing.T) {
	t.Parallel()
	png := Image{"image/PNG", []byte("PNGDATA")}
	got := sent(t, "", Request{Messages: []Message{
		{Role: RoleUser, Text: "look", Images: []Image{{"image/jpg", []byte("J")}, {"image/svg+xml", []byte("<svg/>")}}},
		{Role: RoleAssistant, Calls: []ToolCall{call("a", "{}"), call("b", "{}")}},
		{Role: RoleTool, CallID: "a", Tool: "s__t", Images: []Image{png}},
		{Role: RoleTool, CallID: "b", Tool: "s__t", Text: "shot", Images: []Image{{"image/png", make([]byte, maxImage+1)}}},
		{Role: RoleUser, Text: "and?"},
	}})
	if p := sm.Problem([]byte(got)); p != "" {
		t.Error(p)
	}
	for _, want := range []string{
		`[{"type":"text","text":"look\n[picture image/svg+xml, 1 kB, not sent: not a kind of picture models take]"},{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,Sg=="}}]`,
		`"content":"(a picture; it follows)"`,
		`"content":"shot\n[picture image/png, 20481 kB, not sent: too large]"`,
		`{"role":"user","content":[{"type":"text","text":"Picture from the result of the tool s__t:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,UE5HREFUQQ=="}}]},{"role":"user","content":"and?"}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("missing %s in %s", want, got)
		}
	}
}

func TestToolChoiceNoneDropsCalls(t *testing.T) {
	t.Parallel()
	o, _ := ask(t, Request{ToolChoice: "none", Tools: []Tool{{Name: "t"}}}, sm.Reply(sm.Text("x"), sm.CallDelta(0, "c", "t", "{}"), sm.Finish("tool_calls")))
	if len(o.answer.Calls) != 0 || !o.warned("call_dropped") {
		t.Errorf("%+v", o.answer)
	}
}

func TestToolWithUnsafeName(t *testing.T) {
	t.Parallel()
	o, s := ask(t, Request{Tools: []Tool{{Name: "a b", Origin: "srv/a b"}}}, sm.Say("x"))
	if o.err == nil || o.err.Kind != KindBadTool || o.err.Tool != "srv/a b" || len(s.Requests()) != 0 {
		t.Errorf("error %+v", o.err)
	}
}

func TestAlias(t *testing.T) {
	t.Parallel()
	for pair, want := range map[[2]string]string{
		{"weekly-report", "get_weekly_report"}: "weekly-report__get_weekly_report",
		{"a_b", "c"}:                           "a_b__c",
		{"a", "b_c"}:                           "a__b_c",
	} {
		if got := Alias(pair[0], pair[1]); got != want {
			t.Errorf("%q: %s", pair, got)
		}
	}
	// Pairs that a careless form would give one name.
	servers := []string{"a", "a_", "a__b", "_", "", "A", "a b", "a.b", "a\x00", "服务", "1", strings.Repeat("s", 70), strings.Repeat("s", 70) + "2", "a__b__c"}
	tools := []string{"calendar.read", "calendar_read", "user/update", "查询", "a b", "b", "_b", "b__c", "c", "", "\x00b", "__", strings.Repeat("a", 70) + "_read", strings.Repeat("a", 70) + "_delete", strings.Repeat("a", 70) + "_Read"}
	valid := regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`)
	seen := map[string]string{}
	for _, s := range servers {
		for _, tool := range tools {
			a, pair := Alias(s, tool), fmt.Sprintf("%q/%q", s, tool)
			if !valid.MatchString(a) || a != Alias(s, tool) {
				t.Errorf("%s: alias %q", pair, a)
			}
			if other := seen[a]; other != "" {
				t.Errorf("%s and %s are both %s", pair, other, a)
			}
			seen[a] = pair
		}
	}
	// A tool named like another's hashed alias does not take its place.
	hashed := Alias("a b", "c")
	server, tool, _ := strings.Cut(hashed, "__")
	if Alias(server, tool) == hashed {
		t.Errorf("%s can be taken over", hashed)
	}
}
