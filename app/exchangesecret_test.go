package app

import (
	"context"
	"strings"
	"testing"

	sm "steward/testdata/scriptedmodel"
)

// What became known as a secret only after the model had said it, in pieces, is not put
// together again for the screen; nor is a key that shows by its form alone once it is whole.
func TestAnExchangeShowsNoSecretThatCameInPieces(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const later, form = "quiet-harbour-7731", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	r := newRig(t, map[string]any{}, sm.Reply(
		sm.Text("It is quiet-har"), sm.Text("bour-7731 and ghp_16C7e42F292c"), sm.Text("6912E7710c838347Ae178B4a."), sm.Finish("stop"), sm.Done()))
	id := r.say("", "Say it")
	r.app.secrets.Redactor().Learn("door", later)
	all := must(t, func() ([]int64, error) { return r.app.Exchanges(ctx, id) })
	if len(all) != 1 {
		t.Fatalf("kept: %v", all)
	}
	e := must(t, func() (Exchange, error) { return r.app.Exchange(ctx, all[0]) })
	said := ""
	for _, p := range e.Parts {
		if p.Answer {
			said += p.Text
		}
	}
	if strings.Contains(said, later) || strings.Contains(said, form) || !strings.Contains(said, "It is [secret:door] and ") {
		t.Errorf("the answer is shown as %q", said)
	}
	for _, f := range e.Frames {
		if strings.Contains(string(f.Bytes), "bour-7731") {
			t.Errorf("half of what is known stands in %q", f.Bytes)
		}
	}
}
