package headless

import (
	"strings"
	"testing"

	. "steward/testdata/scriptedmodel"
)

// call is a chunk with one piece of a call of the tool echo.
func echoes(index int, id, arguments string) Part {
	return CallDelta(index, id, "s__echo", arguments)
}

var tools = []string{"--only", "echo", "--only", "edit_file", "--step", "tool:edit_file=@text edited"}

// However an endpoint cuts and labels its calls, each runs once, with its own arguments.
func TestCallsAsEndpointsSendThem(t *testing.T) {
	t.Parallel()
	end := []Part{Finish("tool_calls"), Done()}
	three := []string{`echo {"text":"Oslo"}`, `echo {"text":"Rome"}`, `echo {"tz":"UTC"}`}
	for name, tc := range map[string]struct {
		parts []Part
		want  []string
	}{
		"no index":           {[]Part{echoes(-1, "call_a", "{}")}, []string{"echo {}"}},
		"no index in pieces": {[]Part{echoes(-1, "call_a", ""), CallDelta(-1, "-", "-", `{"text"`), CallDelta(-1, "-", "-", `:"x"}`)}, []string{`echo {"text":"x"}`}},
		"no index, three":    {[]Part{echoes(-1, "c1", `{"text":"Oslo"}`), echoes(-1, "c2", `{"text":"Rome"}`), echoes(-1, "c3", `{"tz":"UTC"}`)}, three},
		"null index":         {[]Part{Event(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":null,"id":"g1","function":{"name":"s__echo","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`)}, []string{"echo {}"}},
		"text index":         {[]Part{Event(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":"0","id":"g1","function":{"name":"s__echo","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`)}, []string{"echo {}"}},
		"one index for all":  {[]Part{echoes(0, "c1", `{"text":"Oslo"}`), echoes(0, "c2", `{"text":"Rome"}`), echoes(0, "c3", `{"tz":"UTC"}`)}, three},
		"one index for all, in pieces": {[]Part{echoes(0, "c1", `{"te`), CallDelta(0, "-", "-", `xt":"Oslo"}`), echoes(0, "c2", `{"text":`), CallDelta(0, "", "-", `"Rome"}`),
			echoes(0, "c3", `{"tz":"UTC"}`)}, three},
		"name in every piece":   {[]Part{CallDelta(0, "c1", "s__edit_file", ""), CallDelta(0, "c1", "s__edit_file", `{"p":`), CallDelta(0, "c1", "s__edit_file", `"a"}`)}, []string{`edit_file {"p":"a"}`}},
		"name in two pieces":    {[]Part{CallDelta(0, "c1", "s__edit_", ""), CallDelta(0, "-", "file", ""), CallDelta(0, "-", "-", `{"p":"a"}`)}, []string{`edit_file {"p":"a"}`}},
		"arguments as object":   {[]Part{Chunk(`{"tool_calls":[{"index":0,"id":"m1","type":"function","function":{"name":"s__echo","arguments":{"cmd":"echo ok","n":12345678901234567890}}}]}`)}, []string{`echo {"cmd":"echo ok","n":12345678901234567890}`}},
		"empty arguments":       {[]Part{echoes(0, "c1", "")}, []string{"echo {}"}},
		"blank arguments":       {[]Part{echoes(0, "c1", " \n")}, []string{"echo {}"}},
		"null as text":          {[]Part{echoes(0, "c1", "null")}, []string{"echo {}"}},
		"null arguments":        {[]Part{Chunk(`{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"s__echo","arguments":null}}]}`)}, []string{"echo {}"}},
		"no arguments":          {[]Part{echoes(0, "c1", "-")}, []string{"echo {}"}},
		"empty id":              {[]Part{echoes(0, "", "{}")}, []string{"echo {}"}},
		"no id":                 {[]Part{echoes(0, "-", "{}")}, []string{"echo {}"}},
		"second without id":     {[]Part{echoes(0, "a", `{"text":"1"}`), echoes(1, "", `{"text":"2"}`)}, []string{`echo {"text":"1"}`, `echo {"text":"2"}`}},
		"one id for two":        {[]Part{echoes(0, "a", `{"text":"1"}`), echoes(1, "a", `{"text":"2"}`)}, []string{`echo {"text":"1"}`, `echo {"text":"2"}`}},
		"twice the same":        {[]Part{echoes(0, "a", `{"text":"1"}`), echoes(1, "b", `{"text":"1"}`)}, []string{`echo {"text":"1"}`, `echo {"text":"1"}`}},
		"a huge index":          {[]Part{echoes(2000000000, "a", `{"text":"1"}`)}, []string{`echo {"text":"1"}`}},
		"a phantom beside text": {[]Part{Text("Done"), Chunk(`{"tool_calls":[{"index":0,"id":"","type":"function"}]}`)}, nil},
		"finish stop":           {[]Part{echoes(0, "c1", "{}"), Finish("stop"), Done()}, []string{"echo {}"}},
		"finish empty":          {[]Part{echoes(0, "c1", "{}"), Finish(""), Done()}, []string{"echo {}"}},
		"finish function_call":  {[]Part{echoes(0, "c1", "{}"), Finish("function_call"), Done()}, []string{"echo {}"}},
		"no finish but done":    {[]Part{echoes(0, "c1", "{}"), Done()}, []string{"echo {}"}},
		"finish but no done":    {[]Part{echoes(0, "c1", "{}"), Finish("tool_calls")}, []string{"echo {}"}},
		"complete but length":   {[]Part{echoes(0, "c1", `{"text":"line1"}`), Finish("length"), Done()}, []string{`echo {"text":"line1"}`}},
		"null among the calls":  {[]Part{Chunk(`{"tool_calls":[null,{"index":0,"id":"c1","function":{"name":"s__echo","arguments":"{}"}}]}`)}, []string{"echo {}"}},
		"chinese split in two": {[]Part{{Text: echoes(0, "c1", `{"text":"报告🌍"}`).Text, Split: 1}}, []string{`echo {"text":"报告🌍"}`}},
		"empty choices": {[]Part{Event(`{"choices":[],"prompt_filter_results":[]}`), Event(`{"object":"keep-alive"}`), Event(`{"choices":null}`), Event(`{"choices":[null]}`), Event(`{}`), echoes(0, "c1", "{}"),
			Finish("tool_calls"), Event(`{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}`), Event(`{"choices":[],"usage":null}`), Done()}, []string{"echo {}"}},
		"space and order kept": {[]Part{echoes(0, "c1", "{ \"b\" : 1.0,\n \"a\" : [ 1e3 , 0.10 ] }")}, []string{`echo {"b":1.0,"a":[1e3,0.10]}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parts := tc.parts
			if !strings.Contains(parts[len(parts)-1].Text, "[DONE]") && !strings.Contains(parts[len(parts)-1].Text, `"finish_reason":"`) {
				parts = append(parts, end...)
			}
			p := play(t, strict(Reply(parts...), Say("After.")), tools)
			p.mustExit(t, 0)
			if got := p.received(t); strings.Join(got, "\n") != strings.Join(tc.want, "\n") {
				t.Errorf("the server received %q, want %q", got, tc.want)
			}
			if n := len(p.model.Requests()); tc.want != nil && n != 2 {
				t.Errorf("%d requests, want 2", n)
			}
			p.noProblems(t)
		})
	}
}

// Arguments that are not one complete object never run; the model is told, and the
// conversation stays valid.
func TestBrokenCallsDoNotRun(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		arguments string
		finish    string
	}{
		"quotes inside quotes":  {`{"path":"a","text":"he said "hi""}`, "tool_calls"},
		"a number":              {"42", "tool_calls"},
		"a list":                {"[1,2]", "tool_calls"},
		"a string":              {`"{}"`, "tool_calls"},
		"two objects":           {`{"a":1}{"a":2}`, "tool_calls"},
		"cut, length":           {`{"path":"a.txt","text":"line1`, "length"},
		"cut, tool_calls":       {`{"path":"a.txt","text":"line1`, "tool_calls"},
		"cut after a value":     {`{"path":"a.txt"`, "stop"},
		"a trailing comma":      {`{"path":"a.txt",}`, "tool_calls"},
		"a raw line end":        {"{\"path\":\"a\nb\"}", "tool_calls"},
		"a fence":               {"```json\n{}\n```", "tool_calls"},
		"NaN":                   {`{"n":NaN}`, "tool_calls"},
		"half a surrogate pair": {`{"text":"\ud83d"}`, "tool_calls"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := play(t, strict(Reply(echoes(0, "c1", tc.arguments), Finish(tc.finish), Done()), Say("I see.")), tools)
			p.mustExit(t, 0)
			if got := p.received(t); len(got) > 0 {
				t.Errorf("the server received %q", got)
			}
			sent := p.sent(t, 1)
			last := sent[len(sent)-1]
			if content, _ := last["content"].(string); last["role"] != "tool" || !strings.Contains(content, "argument") {
				t.Errorf("the model was told: %v", last)
			}
			p.noProblems(t)
			p.model = StartScript(t, strict(Say("Still here.")))
			p.again(t, "--conversation", p.conversation(t))
			p.mustExit(t, 0)
			p.noProblems(t)
		})
	}
}
