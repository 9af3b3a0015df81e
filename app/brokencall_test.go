package app

import (
	"context"
	"strings"
	"testing"

	sm "steward/testdata/scriptedmodel"
)

// A call that was cut is kept shortened. A secret that stands where it is shortened must not
// be kept by half, where nothing finds it any more.
func TestNoHalfOfASecretIsKeptOfABrokenCall(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const secret = "quiet-harbour-7731-lantern"
	r := newRig(t, map[string]any{},
		sm.Reply(sm.CallDelta(0, "c1", "write", `{"text":"`+strings.Repeat("x", 48<<10-20)+secret+strings.Repeat("y", 40<<10)), sm.Finish("length"), sm.Done()),
		sm.Step{Say: "I stop."})
	r.app.secrets.Redactor().Learn("door", secret)
	id := r.say("", "Write")
	check(t, r.app.db.Flush(ctx))
	rows, err := r.app.db.Messages(ctx, id, 0, 100)
	check(t, err)
	kept := 0
	for _, m := range rows {
		kept += len(m.Calls)
		if strings.Contains(string(m.Calls), secret[:8]) {
			t.Errorf("half of the secret is kept in message %s", m.ID)
		}
	}
	if kept < 60<<10 {
		t.Fatalf("only %d bytes of calls are kept", kept)
	}
}
