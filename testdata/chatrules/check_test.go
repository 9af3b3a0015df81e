package chatrules

import (
	"strings"
	"testing"
)

const valid = `{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"u"},` +
	`{"role":"assistant","content":"","tool_calls":[{"id":"abcdefghi","type":"function","function":{"name":"t","arguments":"{}"}},{"id":"abcdefghj","type":"function","function":{"name":"t","arguments":"{\"a\":1}"}}]},` +
	`{"role":"tool","tool_call_id":"abcdefghi","content":"1"},{"role":"tool","tool_call_id":"abcdefghj","content":"2"},` +
	`{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]},{"role":"assistant","content":"a"},{"role":"user","content":"v"}],` +
	`"tools":[{"type":"function","function":{"name":"t","parameters":{"type":"object","properties":{}}}}],"tool_choice":"auto","stream":true,"stream_options":{"include_usage":true},"max_tokens":1,"temperature":2,"stop":["a"]}`

// Each rule finds what breaks it, and nothing in a valid request.
func TestEachRuleFindsWhatBreaksIt(t *testing.T) {
	t.Parallel()
	if wrong := Check([]byte(valid), All()); wrong != nil {
		t.Fatalf("a valid request: %q", wrong)
	}
	for _, tc := range []struct{ profile, old, new, want string }{
		{"", `{"model"`, `{"model":"m","model"`, "stands twice"},
		{"", `"model":"m"`, `"model":""`, "model is no name"},
		{"", `"stream":true`, `"stream":true,"odd":1`, `unrecognized member "odd"`},
		{"", `"u"`, "\"\xff\"", "not UTF-8"},
		{"", `"stop":["a"]`, `"stop":["a","b","c","d","e"]`, "stop has 5"},
		{"", `"temperature":2`, `"temperature":2.5`, "temperature is 2.5"},
		{"", `"max_tokens":1`, `"max_tokens":1,"max_completion_tokens":1`, "are set both"},
		{"", `"stream":true,`, ``, "there is no stream"},
		{"", `"tools":[{`, `"tools":[],"metadata":[{`, "tools is an empty list"},
		{"", `"tools":[{"type":"function","function":{"name":"t","parameters":{"type":"object","properties":{}}}}],`, ``, "only allowed when tools are specified"},
		{"", `"properties":{}`, `"required":[]`, "missing properties"},
		{"", `{"role":"user","content":"u"},`, ``, "first message must be the person's"},
		{"", `,{"role":"user","content":"v"}`, ``, "must end with"},
		{"", `{"role":"user","content":"u"}`, `{"role":"user","content":"u"},{"role":"system","content":"s"}`, "stands behind others"},
		{"", `"content":"u"`, `"content":" "`, "content is empty"},
		{"", `"content":"1"`, `"content":null`, "content is absent"},
		{"", `"content":"","tool_calls"`, `"tool_calls"`, "missing field content"},
		{"", `"content":"","tool_calls"`, `"content":null,"tool_calls"`, "content is null"},
		{"", `"content":"","tool_calls"`, `"content":" ","tool_calls"`, "must be non-empty"},
		{"", `"content":"a"`, `"content":""`, "must be text when there are no tool_calls"},
		{"", `"content":"a"`, `"content":"a","tool_calls":[]`, "tool_calls is an empty list"},
		{"", `"content":"a"`, `"content":"a","reasoning_content":"r"`, "reasoning_content is not taken"},
		{"", `,{"role":"tool","tool_call_id":"abcdefghj","content":"2"}`, ``, "must be followed by tool messages"},
		{"", `"tool_call_id":"abcdefghi"`, `"tool_call_id":"other"`, "must be a response"},
		{"", `"tool_call_id":"abcdefghj"`, `"tool_call_id":"abcdefghi"`, "must be a response"},
		{"", `{"id":"abcdefghj"`, `{"id":"abcdefghi"`, "was used before"},
		{"", `{"id":"abcdefghi"`, `{"id":"` + strings.Repeat("x", 41) + `"`, "does not match"},
		{"", `"arguments":"{}"`, `"arguments":"{"`, "not a JSON object"},
		{"", `"arguments":"{}"`, `"arguments":{}`, "not a JSON object"},
		{"", `"name":"t","arguments":"{}"`, `"name":"a b","arguments":"{}"`, "does not match"},
		{"", `base64,QUJD`, `base64,QUJ`, "no base64"},
		{"", `data:image/png`, `data:image/svg+xml`, "neither https nor data"},
		{"deepseek", `"content":"a"`, `"content":"a"`, "must be passed back"},
		{"deepseek", `"content":"a"`, `"content":"a"`, "pictures are not taken"},
		{"mistral", `"abcdefghi","type"`, `"abc-defgh","type"`, "does not match"},
		{"mistral", `"content":"a"`, `"content":"a"`, "stream_options is not taken"},
		{"mistral", `"content":"a"`, `"content":"a"`, "user after role tool"},
		{"mistral", `"content":"a"`, `"content":"a"`, "name is required"},
		{"perplexity", `{"role":"user","content":"u"}`, `{"role":"user","content":"u"},{"role":"user","content":"u"}`, "should be alternating"},
		{"gemini", `"type":"function","function":{"name":"t","arguments"`, `"type":"function","other":1,"function":{"name":"t","arguments"`, `unrecognized member "other"`},
	} {
		body := strings.Replace(valid, tc.old, tc.new, 1)
		if got := strings.Join(Check([]byte(body), For(tc.profile)), "\n"); !strings.Contains(got, tc.want) {
			t.Errorf("%s, %s instead of %s: found %q, want %q", tc.profile, tc.new, tc.old, got, tc.want)
		}
	}
}
