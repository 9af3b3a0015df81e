package app

import (
	"context"
	"strings"
	"testing"

	"steward/app/consent"
	sm "steward/testdata/scriptedmodel"
)

// A tool is refused in the middle of a turn: left out, the turn goes on with the results that
// it had got, and no call is made twice.
func TestLeavingOutAToolCallsNothingTwice(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{"s": self(t, "scripted")},
		sm.CallTool("echo", `{"text":"once"}`),
		sm.Fail(400, `{"error":{"message":"Invalid schema for function 's__add'","type":"invalid_request_error"}}`),
		sm.Step{Say: "done"}, sm.Step{Say: "done"})
	turn := r.send(Draft{Text: "Echo once"})
	r.answer(consent.Answer{Action: consent.Allow})
	if state := r.done(turn); state != "failed" {
		t.Fatalf("the turn is %s", state)
	}
	id := turn.Conversation()
	if state := r.done(r.app.LeaveOutTool(ctx, id, "s", "add")); state != "finished" {
		t.Fatalf("after leaving it out the turn is %s", state)
	}
	texts, tools := r.lastRequest()
	if len(texts) != 3 || !strings.Contains(texts[2], "once") {
		t.Errorf("the model is not given what was called: %q", texts)
	}
	for _, name := range tools {
		if strings.HasSuffix(name, "add") {
			t.Errorf("%s is offered still", name)
		}
	}
}
