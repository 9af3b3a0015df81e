package chat

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"steward/app"
	"steward/ui/markdown"
)

// Words are found in the whole of a long conversation, also where it is not read yet; keys go from place to place.
func TestFind(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	first := "The very first word is Nightingale."
	b.turn(first)
	for range 34 {
		b.turn("Say something about nothing")
	}
	id := b.state.conversation
	b.Goto("")
	b.Goto(id)
	b.until("the end is shown", func() bool { return len(b.state.rows) > 20 })
	b.settle()
	if !b.more {
		t.Fatal("the whole conversation was read at once")
	}
	if !b.shortcut(ctrl(fyne.KeyF)) || b.window.Canvas().Focused() != b.finder.bar.entry {
		t.Fatal("Ctrl+F does not lead into the bar")
	}
	for _, r := range "nightingale" {
		b.finder.bar.entry.TypedRune(r)
	}
	b.until("it is found", func() bool { return len(b.finder.hits) > 0 })
	b.settle()
	user := func() *userRow {
		var u *userRow
		for i := range b.state.rows {
			b.list.Touch(i, func(o fyne.CanvasObject) {
				if r, ok := o.(*userRow); ok && strings.Contains(r.words, "Nightingale") {
					u = r
				}
			})
		}
		return u
	}
	u := user()
	if first, _ := b.list.VisibleRows(); u == nil || first > 2 {
		t.Fatalf("the place is not shown: row %d on, %d places", first, len(b.finder.hits))
	}
	if _, _, ok := u.body.Marked(0); !ok {
		t.Error("it is not marked")
	}
	if got := b.finder.bar.count.label.Size(); got.Width < 10 {
		t.Error("the number of places is not shown")
	}
	b.picture("find")
	n := len(b.finder.hits)
	b.finder.bar.entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if want := min(1, n-1); b.finder.at != want {
		t.Errorf("Enter goes to %d", b.finder.at)
	}
	b.finder.bar.entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyUp})
	if b.finder.at != 0 {
		t.Errorf("Up goes to %d", b.finder.at)
	}
	b.finder.bar.entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if b.finder.open() || b.window.Canvas().Focused() != b.composer.entry {
		t.Error("Escape does not close the bar and go back to the composer")
	}
	if _, _, ok := u.body.Marked(0); ok {
		t.Error("the mark stays")
	}
}

// What is counted is what a view marks, whatever the marks of the source.
func TestPlainIsWhatIsMarked(t *testing.T) {
	b := newBench(t, "light", "en")
	src := "# A risk\n\nSome **ri**sk, `risk`:\n\n```go\nrisk := 1\n```\n\n| Risk | n |\n|---|---|\n| *risk* | risk |\n\n> - risk\n\n[risk](https://risk.example)"
	a := &archive{read: true, texts: []archived{{"m", plainOf(app.ChatMessage{Role: roleAssistant, Text: src})}}}
	hits, err := a.find(t.Context(), "RISK")
	if err != nil {
		t.Fatal(err)
	}
	v := markdown.NewView(markdown.Config{Words: words(), Pool: b.pool})
	v.SetSource(src, true)
	v.HeightFor(500)
	v.Mark("risk", 0)
	marked := 0
	for ; ; marked++ {
		if _, _, ok := v.Marked(marked); !ok {
			break
		}
	}
	if len(hits) != marked || marked != 9 {
		t.Errorf("%d counted, %d marked", len(hits), marked)
	}
}
