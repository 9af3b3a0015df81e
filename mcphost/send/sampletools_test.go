package send_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
)

// TestSamplingWithTools checks that tools and what became of them reach the one who answers, exactly, and calls the server.
func TestSamplingWithTools(t *testing.T) {
	t.Parallel()
	const request = `{"messages":[{"role":"user","content":{"type":"text","text":"weather?"}},` +
		`{"role":"assistant","content":[{"type":"text","text":"looking"},{"type":"tool_use","id":"c1","name":"weather","input":{"z":1,"a":12345678901234567890}},{"type":"tool_use","id":"c2","name":"weather","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","toolUseId":"c2","content":[],"structuredContent":{"b":2,"a":1},"isError":true},{"type":"tool_result","toolUseId":"c1","content":[{"type":"text","text":"sunny"},{"type":"image","mimeType":"image/png","data":"aGk="}]}]}],` +
		`"maxTokens":50,"tools":[{"name":"weather","description":"Tells it.","inputSchema":{"type":"object","properties":{"z":{},"a":{}}}}],"toolChoice":{"mode":"required"}}`
	got := make(chan mcphost.SamplingRequest, 1)
	a := asker{sample: func(_ context.Context, r mcphost.SamplingRequest) (mcphost.SamplingAnswer, error) {
		got <- r
		return mcphost.SamplingAnswer{Model: "m", Text: "one moment", StopReason: "toolUse", Calls: []mcphost.SamplingCall{{ID: "d1", Name: "weather", Input: json.RawMessage(`{"z":9007199254740993,"a":2}`)}}}, nil
	}}
	h, _ := trial.Host(t, mcphost.Options{Asker: a})
	cfg := trial.Scripted("s", "--step", "tool:ask=@ask sampling/createMessage "+request, "--step", "tool:ask=@text ${answer}")
	cfg.Sampling = true
	c := trial.Connect(t, h, cfg)
	r := do(t, call(t, c, "ask", `{}`))
	for _, want := range []string{`"stopReason":"toolUse"`, `[{"type":"text","text":"one moment"},{"type":"tool_use","id":"d1","name":"weather","input":{"z":9007199254740993,"a":2}}]`} {
		if !strings.Contains(text(r), want) {
			t.Errorf("the server got %s, want %s", text(r), want)
		}
	}
	q := <-got
	if len(q.Tools) != 1 || q.Tools[0].Name != "weather" || string(q.Tools[0].InputSchema) != `{"type":"object","properties":{"z":{},"a":{}}}` || q.ToolChoice != "required" {
		t.Errorf("tools %+v, choice %q", q.Tools, q.ToolChoice)
	}
	use, failed, done := q.Messages[1].Content[1], q.Messages[2].Content[0], q.Messages[2].Content[1]
	if use.ID != "c1" || use.Name != "weather" || string(use.Input) != `{"z":1,"a":12345678901234567890}` {
		t.Errorf("use %+v", use)
	}
	if failed.ID != "c2" || !failed.IsError || string(failed.Structured) != `{"b":2,"a":1}` || done.ID != "c1" || len(done.Inner) != 2 || done.Inner[0].Text != "sunny" || string(done.Inner[1].Data) != "hi" {
		t.Errorf("results %+v %+v", failed, done)
	}
}

// TestSamplingThatDoesNotAddUp checks that a request whose uses and results of tools do not fit each other, or whose
// tools cannot be offered, is refused with -32602, and that nobody is asked.
func TestSamplingThatDoesNotAddUp(t *testing.T) {
	t.Parallel()
	const use = `{"role":"assistant","content":{"type":"tool_use","id":"c1","name":"w","input":{}}}`
	const result = `{"role":"user","content":{"type":"tool_result","toolUseId":"c1","content":[]}}`
	const user = `{"role":"user","content":{"type":"text","text":"x"}}`
	tests := map[string]string{
		`"messages":[` + user + `,` + use + `]`:                  "result missing",
		`"messages":[` + use + `,` + user + `]`:                  "result missing",
		`"messages":[` + result + `]`:                            "answers no use",
		`"messages":[` + use + `,` + result + `,` + result + `]`: "answers no use",
		`"messages":[` + use + `,{"role":"user","content":[{"type":"tool_result","toolUseId":"c1","content":[]},{"type":"text","text":"and"}]}]`: "mixed",
		`"messages":[{"role":"user","content":{"type":"tool_use","id":"c1","name":"w","input":{}}}]`:                                             "from the assistant",
		`"messages":[{"role":"assistant","content":{"type":"tool_use","id":"c1","name":"w","input":[]}}]`:                                        "an input",
		`"messages":[` + user + `],"tools":"w"`:                                          "a list",
		`"messages":[` + user + `],"tools":[{"name":"w"},{"name":"w"}]`:                  "twice",
		`"messages":[` + user + `],"tools":[{"name":""}]`:                                "no name",
		`"messages":[` + user + `],"tools":[{"name":"w","inputSchema":7}]`:               "no object",
		`"messages":[` + user + `],"tools":[{"name":"w","inputSchema":{"type":5}}]`:      "cannot be used",
		`"messages":[` + user + `],"toolChoice":{"mode":"required"}`:                     "there is none",
		`"messages":[` + user + `],"tools":[{"name":"w"}],"toolChoice":{"mode":"maybe"}`: "auto, required or none",
	}
	a := asker{sample: func(context.Context, mcphost.SamplingRequest) (mcphost.SamplingAnswer, error) {
		t.Error("somebody was asked")
		return mcphost.SamplingAnswer{}, nil
	}}
	h, _ := trial.Host(t, mcphost.Options{Asker: a})
	var flags, wants []string
	for request, want := range tests {
		tool := fmt.Sprintf("tool:t%d=", len(wants))
		flags = append(flags, "--step", tool+"@ask sampling/createMessage {"+request+`,"maxTokens":5}`, "--step", tool+"@text ${answer}")
		wants = append(wants, want)
	}
	cfg := trial.Scripted("s", flags...)
	cfg.Sampling = true
	c := trial.Connect(t, h, cfg)
	for i, want := range wants {
		if r := do(t, call(t, c, fmt.Sprintf("t%d", i), `{}`)); !strings.Contains(text(r), "-32602") || !strings.Contains(text(r), want) {
			t.Errorf("%s: %s", flags[4*i+1], text(r))
		}
	}
}

// TestASlowQuestionHoldsNothingUp checks that while a person is being asked, pings, roots and progress go on, and that a
// question taken back ends.
func TestASlowQuestionHoldsNothingUp(t *testing.T) {
	t.Parallel()
	asked, ended := make(chan struct{}), make(chan error, 1)
	a := asker{elicit: func(ctx context.Context, _ mcphost.Elicitation) (mcphost.ElicitAnswer, error) {
		close(asked)
		<-ctx.Done() // nobody answers
		ended <- context.Cause(ctx)
		return mcphost.ElicitAnswer{Action: "accept"}, nil
	}}
	h, _ := trial.Host(t, mcphost.Options{Asker: a})
	step := func(s string) []string { return []string{"--step", "tool:busy=" + s} }
	var flags []string
	for _, s := range []string{
		`@ask-only elicitation/create {"message":"m","requestedSchema":{"type":"object","properties":{}}}`,
		"@ask ping {}", "@ask roots/list {}", "@ask foo/bar {}",
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":7}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		"@ask roots/list {}", "@text ${answer}",
	} {
		flags = append(flags, step(s)...)
	}
	c := trial.Connect(t, h, trial.Scripted("s", flags...))
	k := call(t, c, "busy", `{}`)
	var last float64
	k.Progress = func(done, _ float64, _ string) { last = done }
	if r := do(t, k); r.Outcome != "ok" || !strings.Contains(text(r), `"roots"`) {
		t.Errorf("%s %q (%s)", r.Outcome, text(r), r.Reason)
	}
	<-asked
	if cause := <-ended; !errors.Is(cause, mcphost.ErrTakenBack) || last != 7 {
		t.Errorf("the question ended with %v; progress %v", cause, last)
	}
}

// TestAModelThatFails checks that the server learns that there is no answer, and not what
// this computer has to say about it, which stands in the log.
func TestAModelThatFails(t *testing.T) {
	t.Parallel()
	a := asker{sample: func(context.Context, mcphost.SamplingRequest) (mcphost.SamplingAnswer, error) {
		return mcphost.SamplingAnswer{}, errors.New("open /home/ann/steward.db: no space left")
	}}
	h, _ := trial.Host(t, mcphost.Options{Asker: a})
	cfg := trial.Scripted("s", "--step", `tool:x=@ask sampling/createMessage {"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"maxTokens":1}`, "--step", "tool:x=@text ${answer}")
	cfg.Sampling = true
	c := trial.Connect(t, h, cfg)
	if r := do(t, call(t, c, "x", `{}`)); !strings.Contains(text(r), "-32603") || strings.Contains(text(r), "ann") {
		t.Errorf("the server is told %q", text(r))
	}
	if log := fmt.Sprint(c.Log()); !strings.Contains(log, "no space left") {
		t.Errorf("the log is %s", log)
	}
}
