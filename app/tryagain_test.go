package app

import (
	"context"
	"slices"
	"strings"
	"testing"

	"steward/testdata/scriptedmodel"
)

// A turn that fails after its calls have run is tried again with their results: nothing is called twice, also where half
// an answer had come.
func TestATurnThatFailsAfterItsCallsIsTriedAgainWithTheirResults(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	broken := scriptedmodel.Reply(scriptedmodel.Text("half of "))
	r := newRig(t, map[string]any{"s": self(t, "scripted", "--only", "echo")},
		calls("echo", `{"text":"expensive"}`), scriptedmodel.Fail(403, `{"error":"not now"}`), broken, say("the answer"))
	check(t, r.app.SetPermission(ctx, "s", "echo", PermissionAllow))
	turn := r.send(Draft{Text: "go"})
	if state := r.done(turn); state != "failed" {
		t.Fatal(state)
	}
	id := turn.Conversation()
	for _, want := range []string{"interrupted", "finished"} {
		turn, err := r.app.TryAgain(ctx, id)
		if state := r.done(turn, err); state != want {
			t.Fatalf("%s, want %s", state, want)
		}
		if got, _ := r.lastRequest(); !slices.Equal(got, []string{"go", "", "expensive"}) {
			t.Errorf("the model got %q", got)
		}
	}
	ran := 0
	for _, m := range r.messages(id) {
		for _, c := range m.Calls {
			if c.Outcome == "ok" {
				ran++
			}
		}
	}
	if ran != 1 {
		t.Errorf("%d calls ran", ran)
	}
	m := r.messages(id)
	if last := m[len(m)-1]; last.Text != "the answer" || len(last.Versions) != 2 {
		t.Errorf("%+v", last)
	}
}

// A turn that was stopped in a call is tried again from its beginning: the model is not told of a stop that is over.
func TestAStoppedTurnIsTriedAgainFromItsBeginning(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{"s": self(t, "scripted", "--only", "never")}, calls("never", `{}`), say("fresh"))
	check(t, r.app.SetPermission(ctx, "s", "never", PermissionAllow))
	turn := r.send(Draft{Text: "go"})
	r.until("the call runs", func() bool { calls, _ := r.app.UnderWay(); return calls == 1 })
	turn.Stop()
	r.done(turn)
	turn, err := r.app.TryAgain(ctx, turn.Conversation())
	r.done(turn, err)
	if got, _ := r.lastRequest(); len(got) != 1 || !strings.Contains(got[0], "go") {
		t.Errorf("the model got %q", got)
	}
}
