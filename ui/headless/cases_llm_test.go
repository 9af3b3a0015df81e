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
		"chinese split in two":  {[]Part{{Text: echoes(0, "c1", `{"text":"报告🌍"}`).Text, Split: 1}}, []string{`echo {"text":"报告🌍"}`}},
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

// A broken call beside a good one, a tool that is not there, a name that is none: what
// is right runs, the rest is answered, and the conversation stays valid.
func TestOddCallsBesideGoodOnes(t *testing.T) {
	t.Parallel()
	good := echoes(0, "a", `{"text":"good"}`)
	for name, tc := range map[string]struct {
		parts  []Part
		finish string
		wrong  int // calls that are answered with an error
	}{
		"the second is cut":        {[]Part{good, echoes(1, "b", `{"text":"half`)}, "length", 1},
		"the first is cut":         {[]Part{echoes(0, "b", `{"text":"half`), echoes(1, "a", `{"text":"good"}`)}, "tool_calls", 1},
		"a tool that is not there": {[]Part{good, CallDelta(1, "b", "s__nothing", `{}`)}, "tool_calls", 1},
		"a bare name":              {[]Part{good, CallDelta(1, "b", "nothing", `{}`)}, "tool_calls", 1},
		"another case":             {[]Part{good, CallDelta(1, "b", "S__ECHO", `{"text":"x"}`)}, "tool_calls", 1},
		"a name with odd letters":  {[]Part{good, CallDelta(1, "b", "s__есho\u202e/../x y", `{"text":"x"}`)}, "tool_calls", 1},
		"a very long name":         {[]Part{good, CallDelta(1, "b", strings.Repeat("n", 5000), `{}`)}, "tool_calls", 1},
		"the schema is broken":     {[]Part{good, echoes(1, "b", `{"text":5}`)}, "tool_calls", 1},
		"a phantom":                {[]Part{good, CallDelta(1, "", "", "")}, "tool_calls", 0},
		"text between":             {[]Part{Text("Let me see."), good, Text(" Now."), CallDelta(1, "b", "s__none", "{}")}, "tool_calls", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := play(t, strict(Reply(append(tc.parts, Finish(tc.finish), Done())...), Say("I see.")), tools)
			p.mustExit(t, 0)
			p.noProblems(t)
			if got := p.received(t); len(got) != 1 || got[0] != `echo {"text":"good"}` {
				t.Errorf("the server received %q", got)
			}
			wrong := 0
			for _, m := range p.sent(t, 1) {
				if m["role"] == "tool" && m["content"] != "good" {
					wrong++
				}
			}
			if wrong != tc.wrong {
				t.Errorf("%d calls are answered with an error, want %d: %s", wrong, tc.wrong, p.request(t, 1))
			}
		})
	}
}

// How an answer may end, and what of it is kept, shown and asked again.
func TestHowAnswersEnd(t *testing.T) {
	t.Parallel()
	overloaded := `{"error":{"message":"Overloaded","type":"overloaded_error","code":529}}`
	page := "<html><body><h1>502 Bad Gateway</h1></body></html>"
	json200 := func(body string) Step { return Step{Body: body}.With("Content-Type", "application/json") }
	reset := func(parts ...Part) Step { s := Reply(parts...); s.End = "reset"; return s }
	for name, tc := range map[string]struct {
		step        Step
		state, text string
		says        string // in the error of the turn
	}{
		"clean end after text":       {Reply(Text("The answer is")), "interrupted", "The answer is", ""},
		"clean end in a call":        {Reply(echoes(0, "c1", `{"text":"/tmp/a`)), "interrupted", "", ""},
		"clean end after a call":     {Reply(echoes(0, "c1", `{"text":"/tmp/a"}`)), "interrupted", "", ""},
		"clean end of reasoning":     {Reply(Reasoning("...")), "interrupted", "", ""},
		"a reset":                    {reset(Text("The answer is")), "interrupted", "The answer is", ""},
		"a reset in a call":          {reset(echoes(0, "c1", `{"text":"a"}`)), "interrupted", "", ""},
		"an error in the stream":     {Reply(Text("Part"), Event(overloaded)), "failed", "Part", "Overloaded"},
		"an error after a call":      {Reply(echoes(0, "c1", `{}`), Event(overloaded)), "failed", "", "Overloaded"},
		"an error event":             {Reply(Text("Part"), Raw("event: error\ndata: "+overloaded+"\n\n")), "failed", "Part", "Overloaded"},
		"an error beside choices":    {Reply(Text("Part"), Event(`{"id":"c1","choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}],"error":{"message":"Provider down"}}`)), "failed", "Part", "Provider down"},
		"an error as text":           {Reply(Text("Part"), Event(`{"error":"no more credit"}`)), "failed", "Part", "no more credit"},
		"an error and then done":     {Reply(Text("Part"), Event(overloaded), Done()), "failed", "Part", "Overloaded"},
		"an error as the whole body": {json200(`{"error":{"message":"Unknown plan","type":"invalid_request_error"}}`), "failed", "", "Unknown plan"},
		"a page with status 200":     {Step{Body: page}.With("Content-Type", "text/html"), "failed", "", ""},
		"a whole answer, not a stream": {json200(`{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Whole."},"finish_reason":"stop"}]}`),
			"finished", "Whole.", ""},
		"nothing at all":          {Reply(), "failed", "", "empty"},
		"a fixed error":           {Reply(Event(`{"error":{"type":"invalid_request_error","message":"bad tool schema"}}`)), "failed", "", "bad tool schema"},
		"done without finish":     {Reply(Text("Short."), Done()), "finished", "Short.", ""},
		"finish without done":     {Reply(Text("Short."), Finish("stop")), "finished", "Short.", ""},
		"cut by the token limit":  {Reply(Text("Long and"), Finish("length"), Done()), "finished", "Long and", ""},
		"an unknown finish":       {Reply(Text("Short."), Finish("eos"), Done()), "finished", "Short.", ""},
		"a chunk that is no JSON": {Reply(Text("Part"), Event(`{"choices":[`)), "failed", "Part", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := play(t, strict(tc.step), tools)
			if p.state(t) != tc.state || p.joined("text") != tc.text || !strings.Contains(one(t, p.all, "turn").str("error"), tc.says) {
				t.Errorf("text %q, turn %s; want %q, %s, %q", p.joined("text"), one(t, p.all, "turn").text, tc.text, tc.state, tc.says)
			}
			p.mustExit(t, map[string]int{"finished": 0, "failed": 1, "interrupted": 3}[tc.state])
			if n := len(p.model.Requests()); n != 1 || len(p.received(t)) > 0 {
				t.Errorf("%d requests, want 1; the server received %q", n, p.received(t))
			}
			if strings.Contains(p.errOut+p.out, "invalid character") {
				t.Errorf("a parser's complaint is shown: %s%s", p.out, p.errOut)
			}
			p.model = StartScript(t, strict(Say("Still here.")))
			p.again(t, "--conversation", p.conversation(t))
			p.mustExit(t, 0)
			p.noProblems(t)
			if tc.text != "" && !strings.Contains(p.request(t, 0), tc.text) {
				t.Errorf("the partial answer is forgotten: %s", p.request(t, 0))
			}
		})
	}
}

// Thoughts and answer are told apart, whatever the marks and the borders of chunks.
func TestThoughtsAreNotTheAnswer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		parts         []Part
		thought, text string
	}{
		"marks split over chunks":  {[]Part{Text("<th"), Text("ink>plan A</thi"), Text("nk>Answer: 4")}, "plan A", "Answer: 4"},
		"all in one":               {[]Part{Text("<think>\nplan A\n</think>\n\nAnswer: 4")}, "plan A", "Answer: 4"},
		"a mark later is text":     {[]Part{Text("Use `<think>` to hide text. Done.")}, "", "Use `<think>` to hide text. Done."},
		"a mark in a fence":        {[]Part{Text("```\n<think>x</think>\n```")}, "", "```\n<think>x</think>\n```"},
		"another field":            {[]Part{Chunk(`{"reasoning":"plan A"}`), Text("Answer: 4")}, "plan A", "Answer: 4"},
		"both fields are one text": {[]Part{Chunk(`{"reasoning":"plan A","reasoning_content":"plan A"}`), Text("Answer: 4")}, "plan A", "Answer: 4"},
		"content null beside it":   {[]Part{Chunk(`{"reasoning_content":"plan A","content":null}`), Text("Answer: 4")}, "plan A", "Answer: 4"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := play(t, strict(Reply(append(tc.parts, Finish("stop"), Done())...), Say("Next.")), tools)
			p.mustExit(t, 0)
			if got := strings.TrimSpace(p.joined("reasoning")); got != tc.thought || strings.TrimSpace(p.joined("text")) != tc.text {
				t.Errorf("thought %q, text %q; want %q, %q", got, p.joined("text"), tc.thought, tc.text)
			}
			p.again(t, "--conversation", p.conversation(t))
			if body := p.request(t, 1); strings.Contains(body, "plan A") {
				t.Errorf("the thought is sent back: %s", body)
			}
			p.noProblems(t)
		})
	}
}

// An endpoint that demands the thoughts back gets them, also from another process.
func TestThoughtsGoBackWhereDemanded(t *testing.T) {
	t.Parallel()
	script := strict(Reply(Reasoning("think"), echoes(0, "c1", `{"text":"a"}`), Finish("tool_calls"), Done()), Say("Plain."), Say("Next."))
	script.Rules = "deepseek"
	script.Check = func(r Request) (int, string) {
		if n := strings.Count(string(r.Body), `"role":"assistant"`); n != strings.Count(string(r.Body), `"reasoning_content":`) {
			return 400, `{"error":{"message":"reasoning_content must be passed back"}}`
		}
		return 0, ""
	}
	p := play(t, script, tools)
	p.mustExit(t, 0)
	p.again(t, "--conversation", p.conversation(t))
	p.mustExit(t, 0)
	if n := len(p.model.Requests()); n > 5 {
		t.Errorf("%d requests for 3 answers", n)
	}
	if len(p.received(t)) != 1 {
		t.Errorf("the tool ran %d times", len(p.received(t)))
	}
}

func TestFramesOfTheStream(t *testing.T) {
	t.Parallel()
	crlf := strings.NewReplacer("\n", "\r\n")
	ok := `{"choices":[{"index":0,"delta":{"content":"ok"}}]}`
	text := Text("你好🌍")
	for name, tc := range map[string]struct {
		parts []Part
		want  string
	}{
		"comments, retry, ping, empty data": {[]Part{Raw(crlf.Replace(": OPENROUTER PROCESSING\n\nretry: 3000\n\nevent: ping\n\ndata:\n\ndata:" + ok + "\n\ndata: [DONE]\n\n"))}, "ok"},
		"400 comments":                      {[]Part{Raw(strings.Repeat(": keep-alive\n\n", 400)), Event(ok), Done()}, "ok"},
		"400 empty lines":                   {[]Part{Raw(strings.Repeat("\n", 400)), Event(ok), Done()}, "ok"},
		"one byte at a time":                {[]Part{{Text: text.Text, Split: 1}, Finish("stop"), Done()}, "你好🌍"},
		"data over two lines":               {[]Part{Raw("data: {\"choices\":[{\"index\":0,\ndata: \"delta\":{\"content\":\"ok\"}}]}\n\n"), Done()}, "ok"},
		"a byte order mark":                 {[]Part{Raw("\ufeffdata: " + ok + "\n\n"), Done()}, "ok"},
		"CR alone":                          {[]Part{Raw("data: " + ok + "\r\rdata: [DONE]\r\r")}, "ok"},
		"named events with ids":             {[]Part{Raw("id: 1\nevent: message\ndata: " + ok + "\n\n"), Done()}, "ok"},
		"done without a blank line":         {[]Part{Event(ok), Raw("data: [DONE]")}, "ok"},
		"a very long chunk":                 {[]Part{Text(strings.Repeat("x", 3<<20)), Finish("stop"), Done()}, strings.Repeat("x", 3<<20)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := play(t, strict(Reply(tc.parts...)), tools)
			p.mustExit(t, 0)
			if got := p.joined("text"); got != tc.want {
				t.Errorf("text %.100q, want %.100q", got, tc.want)
			}
		})
	}
}
