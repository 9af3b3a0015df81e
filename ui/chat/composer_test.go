package chat

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"steward/app"
)

// A sign is found wherever the cursor stands: in a line that is broken into several, and below one.
func TestSignsInLongTexts(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	long := strings.Repeat("a sentence that is too long for one row of the composer, ", 6)
	for _, before := range []string{"", long, long + "\n", "short\n" + long, long + "\n\nmore 管家 "} {
		b.composer.restore(draft{text: before})
		b.composer.insert("@")
		if got := b.composer.before(); !strings.HasSuffix(got, "@") {
			t.Fatalf("behind %q the cursor stands behind %q", before, got)
		}
		b.until("resources are suggested", func() bool { return b.composer.popup.done != nil && len(b.composer.popup.shown) > 0 })
		b.composer.key(&fyne.KeyEvent{Name: fyne.KeyEscape})
		b.composer.replace("@", "")
		if got := strings.TrimSuffix(b.composer.entry.Text, " "); got != strings.TrimSuffix(before, " ") {
			t.Errorf("of %q %q is left", before, got)
		}
	}
}

// A text that comes back has the cursor at its end, however long it is.
func TestTheCursorIsAtTheEndOfADraft(t *testing.T) {
	b := newBench(t, "light", "en")
	for _, text := range []string{"", "短文", "two\nlines", strings.Repeat("many words ", 100)} {
		b.composer.restore(draft{text: text})
		b.composer.typeInto('!')
		if got := b.composer.entry.Text; got != text+"!" {
			t.Errorf("typing on at %d bytes gives %q", len(text), got)
		}
	}
}

// The time of a call that was running before it was seen counts from its beginning.
func TestTheTimeOfACallCountsFromItsBeginning(t *testing.T) {
	b := newBench(t, "light", "en")
	c := &app.CallState{ID: "k_1", State: callRunning, Seconds: 90}
	if d := b.now().Sub(b.since(c)); d.Seconds() < 89 || d.Seconds() > 100 {
		t.Errorf("it runs since %v", d)
	}
}
