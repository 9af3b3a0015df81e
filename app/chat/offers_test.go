package chat

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"steward/app/consent"
	"steward/app/journal"
	"steward/mcphost"
	sm "steward/testdata/scriptedmodel"
)

// offered gives the names of the tools in the n-th request, from 1, without their server.
func (r *rig) offered(n int) (names []string) {
	r.t.Helper()
	var b struct {
		Tools []struct{ Function struct{ Name string } }
	}
	if err := json.Unmarshal(r.model.Requests()[n-1].Body, &b); err != nil {
		r.t.Fatal(err)
	}
	for _, tool := range b.Tools {
		_, name, _ := strings.Cut(tool.Function.Name, "__")
		names = append(names, name)
	}
	return names
}

// system is what the n-th request begins with.
func (r *rig) system(n int) string { r.t.Helper(); return r.request(n)[0].text() }

func (r *rig) trust(conn *mcphost.Connection) {
	r.t.Helper()
	if err := r.gate.Trust(context.Background(), conn, ""); err != nil {
		r.t.Fatal(err)
	}
}

// A tool that goes away during a turn is not offered in the very next request, the model is told of it by name, and a
// call of it is answered with what became of it.
func TestAToolThatVanishesDuringATurn(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{policy: allowAll(), script: strict(
		sm.CallTool("removes", `{}`), sm.Reply(sm.CallDelta(0, "c2", "s__echo", `{"text":"x"}`), sm.Finish("tool_calls"), sm.Done()), sm.Say("I see"),
	)})
	r.server("s", "--only", "echo", "--only", "removes")
	r.want(r.ask("go"), Finished)
	if got := r.offered(2); !slices.Equal(got, []string{"removes"}) {
		t.Errorf("the second request offers %q", got)
	}
	if got := r.system(2); !strings.Contains(got, "No longer offered, so that calls of them cannot run: s__echo (the server s does not offer a tool named echo).") {
		t.Errorf("the model is told %q", got)
	}
	if strings.Contains(r.system(1), "have changed") {
		t.Error("the first request tells of a change")
	}
	if got := r.tools(3)[1]; got != "Not executed: s__echo is no longer offered, because the server s does not offer a tool named echo." {
		t.Errorf("the call is answered with %q", got)
	}
	if rec := r.recorded(journal.KindCall, 2); rec[1].Server != "s" || rec[1].Tool != "echo" || rec[1].Outcome != journal.Withdrawn {
		t.Errorf("recorded: %+v", rec)
	}
	if got := r.notices(); strings.Count(got, "tools_gone: The model is no longer offered these tools of the server s, and is told so: echo.") != 1 {
		t.Errorf("the person is told:\n%s", got)
	}
}

func TestAServerThatEndsDuringATurn(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{policy: allowAll(), script: strict(
		sm.CallTool("die", `{}`), sm.Reply(sm.CallDelta(0, "c2", "s__echo", `{"text":"x"}`), sm.Finish("tool_calls"), sm.Done()), sm.Say("I see"),
	)})
	r.server("s", "--only", "echo", "--only", "die")
	r.server("other", "--only", "add")
	r.want(r.ask("go"), Finished)
	if got := r.offered(2); !slices.Equal(got, []string{"add"}) {
		t.Errorf("the second request offers %q", got)
	}
	if got := r.system(2); !strings.Contains(got, "s__echo (the server s is not running)") {
		t.Errorf("the model is told %q", got)
	}
	if got := r.tools(3)[1]; got != "Not executed: s__echo is no longer offered, because the server s is not running." {
		t.Errorf("the call is answered with %q", got)
	}
}

func TestAServerThatIsTakenAwayDuringATurn(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{script: strict(sm.CallTool("echo", `{"text":"x"}`), sm.Say("I see"))})
	r.server("s", "--only", "echo")
	run := r.send(Turn{Text: "go"})
	item := r.waiting(1)[0]
	r.mu.Lock()
	r.conns = nil
	r.mu.Unlock()
	r.answer(item, consent.Answer{Action: consent.Deny})
	r.want(r.finish(run), Finished)
	if got := r.system(2); !strings.Contains(got, "s__echo (the server s is not running)") || strings.Contains(string(r.model.Requests()[1].Body), `"tools"`) {
		t.Errorf("the model is told %q", got)
	}
}

// A definition that changes during a turn is kept from the model until the person has reviewed it, and is then offered in
// the next request of the same turn.
func TestADefinitionThatChangesDuringATurn(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{unlisted: true, script: strict(
		sm.CallTool("redefines", `{}`), sm.CallTool("add", `{"a":1,"b":2}`), sm.Say("I see"),
	)})
	conn := r.server("s", "--only", "echo", "--only", "redefines", "--only", "add")
	r.trust(conn)
	run := r.send(Turn{Text: "go"})
	r.answer(r.waiting(1)[0], consent.Answer{Action: consent.Allow})
	item := r.waiting(1)[0] // of the second round
	if got := r.system(2); !strings.Contains(got, "s__echo (the definition of echo has changed and must be reviewed by the person first)") || strings.Contains(string(r.model.Requests()[1].Body), "Send everything") {
		t.Errorf("the model is told %q", got)
	}
	r.trust(conn)
	r.answer(item, consent.Answer{Action: consent.Allow})
	r.want(r.finish(run), Finished)
	if got := r.system(3); !strings.Contains(got, "Described anew: s__echo.") || !strings.Contains(string(r.model.Requests()[2].Body), "Send everything") {
		t.Errorf("the model is told %q", got)
	}
}

func TestAToolThatComesDuringATurn(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{unlisted: true, script: strict(
		sm.CallTool("changes", `{}`), sm.CallTool("echo", `{"text":"x"}`), sm.Reply(sm.CallDelta(0, "c3", "s__added", `{}`), sm.Finish("tool_calls"), sm.Done()), sm.Say("I see"),
	)})
	conn := r.server("s", "--only", "echo", "--only", "changes")
	r.trust(conn)
	run := r.send(Turn{Text: "go"})
	r.answer(r.waiting(1)[0], consent.Answer{Action: consent.Allow})
	item := r.waiting(1)[0]
	if got := r.offered(2); slices.Contains(got, "added") {
		t.Errorf("a tool that nobody has reviewed is offered: %q", got)
	}
	r.trust(conn)
	r.answer(item, consent.Answer{Action: consent.Allow})
	if item = r.waiting(1)[0]; item.Call.Tool() != "added" {
		t.Errorf("it is %s that waits", item.Call.Tool())
	}
	r.answer(item, consent.Answer{Action: consent.Allow})
	r.want(r.finish(run), Finished)
	if got := r.offered(3); !slices.Contains(got, "added") || !strings.Contains(r.system(3), "Offered since then: s__added.") {
		t.Errorf("the third request offers %q and says %q", got, r.system(3))
	}
	if got := r.notices(); strings.Count(got, "tools_new: The model is offered further tools of the server s: added.") != 1 {
		t.Errorf("the person is told:\n%s", got)
	}
}
