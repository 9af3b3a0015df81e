package waiting

import (
	"context"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"steward/app"
	"steward/app/consent"
)

func TestThePlaceListsWhatWaits(t *testing.T) {
	r := newRig(t, app.Options{})
	p := newPlace(r.d)
	t.Cleanup(p.Close)
	r.window.SetContent(p.Canvas())
	r.window.Resize(fyne.NewSize(900, 900))
	p.Shown()
	if got := shownText(p.Canvas()); !strings.Contains(got, "Nothing is waiting") {
		t.Errorf("an empty place says %q", got)
	}
	for i, n := range []string{`{"n":1}`, `{"n":2}`} {
		r.call(context.Background(), "echo", n)
		r.until("it is in the list", func() bool { return len(p.items) == i+1 && len(p.cards) == i+1 })
	}
	if got := p.items[0].Call.Arguments(); got != `{"n":1}` {
		t.Errorf("the first is %s", got)
	}
	p.enter()
	first := p.cards[p.items[0].ID]
	if r.window.Canvas().Focused() != fyne.Focusable(calls(first).deny) {
		t.Fatalf("the keyboard went to %T", r.window.Canvas().Focused())
	}
	p.enter()
	second := p.cards[p.items[1].ID]
	if r.window.Canvas().Focused() != fyne.Focusable(calls(second).deny) {
		t.Fatalf("the keyboard went to %T", r.window.Canvas().Focused())
	}
	// The second is allowed and nothing else.
	r.pass(settle)
	calls(second).allow(consent.Once)
	r.over(second)
	if err := r.ended(); err != nil {
		t.Fatal(err)
	}
	if got := r.received(); len(got) != 1 || got[0] != `echo {"n":2}` {
		t.Errorf("the server got %q", got)
	}
	if len(p.items) != 2 {
		t.Errorf("%d lines are left", len(p.items))
	}
	// Whoever comes back must look again before anything is taken.
	p.Hidden()
	p.Shown()
	if len(p.items) != 1 || !calls(first).once.off {
		t.Errorf("%d items, and the answer may be given at once: %v", len(p.items), !calls(first).once.off)
	}
	calls(first).escape()
	r.over(first)
	if err := r.ended(); err != nil {
		t.Fatal(err)
	}
	p.Hidden()
	r.until("it leaves the list", func() bool { p.sync(); return len(p.items) == 0 })
}
