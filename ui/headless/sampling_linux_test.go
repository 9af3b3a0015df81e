package headless

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"steward/app"
	"steward/testdata/scriptedmodel"
)

// prepare opens a data folder in this process, as a person's window would, and closes it.
func prepare(t *testing.T, data, servers string, do func(ctx context.Context, a *app.App) error) {
	t.Helper()
	ctx := context.Background()
	a, err := app.Open(ctx, app.Options{Data: data, ServersFile: servers})
	if err != nil {
		t.Fatal(err)
	}
	if err := do(ctx, a); err != nil {
		t.Error(err)
	}
	if err := a.Close(ctx); err != nil {
		t.Error(err)
	}
}

// The record of a server's request says what the model really got, which the screen had
// shown: the request as it was cleaned and limited, and the model by its name.
func TestTheRecordSaysWhatTheModelGot(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	servers := serversFile(t, scripted("--step", `tool:ask=@ask sampling/createMessage {"systemPrompt":"obey","messages":[{"role":"user","content":{"type":"text","text":"sum"}}],"maxTokens":90000000,"modelPreferences":{"hints":[{"name":"huge-model"}]}}`, "--step", "tool:ask=@text ${answer}"))
	m, flags := model(t, scriptedmodel.Say("forty-two"))
	d := talk(t, prepared(t, with(flags, "call", "s", "ask", "--consent", "allow", "--data", data, "--servers", servers)...))
	if card := d.waitFor(question); !strings.Contains(card, "huge-model") || !strings.Contains(card, "Model: fake, at most 4096 tokens") {
		t.Errorf("the card: %s", card)
	}
	d.answer("e")
	d.waitFor("full stop")
	d.typed("be brief\n.\n")
	d.waitFor(question)
	d.answer("y")
	d.end(0)
	if got := m.Requests(); len(got) != 1 || !strings.Contains(string(got[0].Body), "be brief") {
		t.Fatalf("the model got %v", got)
	}
	found := array(t, steward(t, "journal", "list", "--json", "--kind", "sampling", "--data", data).mustExit(t, 0).out)
	show := steward(t, "journal", "show", fmt.Sprint(found[0].value["record"]), "--json", "--data", data).mustExit(t, 0).out
	for _, want := range []string{`"event":"intent"`, `be brief`, `4096`, `"edited":true`, `"outcome":"ok"`} {
		if !strings.Contains(show, want) {
			t.Errorf("the record lacks %s: %s", want, show)
		}
	}
	steward(t, "journal", "verify", "--data", data).mustExit(t, 0)
}

// A server that the person trusts under a limit is answered without a question until the
// limit is reached, also over several runs; then the person is asked again.
func TestTrustUnderALimitHoldsOverRuns(t *testing.T) {
	t.Parallel()
	data, servers := t.TempDir(), serversFile(t, scripted())
	prepare(t, data, servers, func(ctx context.Context, a *app.App) error {
		return a.SetSamplingLimits(ctx, "s", app.SamplingLimits{Trusted: 2, TrustedTokens: 1000})
	})
	m, flags := model(t, scriptedmodel.Say("one"), scriptedmodel.Say("two"), scriptedmodel.Say("never"))
	args := with(flags, "call", "s", "sample", "--consent", "allow", "--data", data, "--servers", servers)
	for range 2 {
		d := talk(t, prepared(t, args...))
		if rest := d.end(0); strings.Contains(rest, question) {
			t.Errorf("asked, though the server is trusted: %s", rest)
		}
	}
	d := talk(t, prepared(t, args...))
	d.waitFor(question)
	d.answer("n")
	d.end(0)
	if n := len(m.Requests()); n != 2 {
		t.Errorf("the model was asked %d times", n)
	}
	by := ""
	for _, r := range array(t, steward(t, "journal", "list", "--json", "--kind", "sampling", "--data", data).mustExit(t, 0).out) {
		by += r.str("by") + " "
	}
	if by != "person grant:sampling grant:sampling " {
		t.Errorf("decided by %s", by)
	}
}

// A tool that asks twice is allowed by its name alone, and offers no standing yes.
func TestAToolThatAsksTwice(t *testing.T) {
	t.Parallel()
	data, servers := t.TempDir(), serversFile(t, scripted())
	prepare(t, data, servers, func(ctx context.Context, a *app.App) error { return a.SetToolTwice(ctx, "s", "echo", true) })
	_, flags := model(t)
	d := talk(t, prepared(t, with(flags, "call", "s", "echo", `{}`, "--data", data, "--servers", servers)...))
	if card := d.waitFor(question); strings.Contains(card, "always") {
		t.Errorf("a standing yes is offered: %s", card)
	}
	d.answer("y")
	d.waitFor("Type the tool's name")
	d.answer("y")
	d.waitFor("not its name")
	d.waitFor(question)
	d.answer("y")
	d.waitFor("Type the tool's name")
	d.answer("echo")
	d.end(0)
	if rec := lastCall(t, data); rec.str("outcome") != "ok" || rec.str("by") != "person" {
		t.Errorf("record: %s", rec.text)
	}
}
