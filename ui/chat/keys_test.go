package chat

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"steward/app/consent"
	"steward/ui/place"
)

// What Enter does follows the person's choice, from when the place is next shown.
func TestEnterSendsOrBreaks(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	if b.composer.entry.EnterBreaks {
		t.Error("Enter does not send where nothing was chosen")
	}
	if err := b.app.SetPreference(context.Background(), place.PreferEnter, place.EnterBreaks); err != nil {
		t.Fatal(err)
	}
	b.Hidden()
	b.Shown()
	b.until("the choice is known", func() bool { return b.composer.entry.EnterBreaks })
	b.composer.entry.SetText("one")
	b.composer.entry.CursorColumn = 3
	b.composer.entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if b.composer.entry.Text != "one\n" || b.composer.ending {
		t.Errorf("Enter makes %q of it", b.composer.entry.Text)
	}
}

// A card that waits is entered by Ctrl+J alone, Ctrl+Enter outside of it allows nothing, and Escape there denies there.
func TestKeysAndTheCardThatWaits(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	b.say("How many risks does the weekly report for 2025-03-17 mention?")
	b.item(consent.KindCall)
	b.until("the item has a row", func() bool { return strings.Contains(b.rowKeys(), "item") })
	b.settle()
	if b.window.Canvas().Focused() != b.composer.entry {
		t.Fatal("the card took the keyboard")
	}
	b.composer.entry.TypedShortcut(ctrl(fyne.KeyReturn))
	b.composer.entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	b.settle()
	if len(b.app.Waiting().List()) != 1 {
		t.Fatal("a key in the composer answered the card")
	}
	if !b.shortcut(ctrl(fyne.KeyJ)) {
		t.Fatal("Ctrl+J is not known")
	}
	b.window.Canvas().Capture() // draws it
	b.until("the keyboard is in the card", func() bool {
		in := b.window.Canvas().Focused()
		return in != nil && in != b.composer.entry
	})
	b.window.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	b.until("it is denied", func() bool { return len(b.app.Waiting().List()) == 0 })
	b.until("the turn has ended", func() bool { return b.ended() && strings.Contains(b.rowKeys(), "call(done denied)") })
	if got := b.rowKeys(); strings.Contains(got, "ending") {
		t.Errorf("Escape in the card stopped the turn as well: %s", got)
	}
}

// Escape ends one thing at a time: the popup, the search, the editing, and the turn last.
func TestEscapeEndsOneThingAtATime(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	b.say("How many risks does the weekly report for 2025-03-17 mention?")
	b.item(consent.KindCall)
	b.until("the item has a row", func() bool { return b.composer.busy && strings.Contains(b.rowKeys(), "user") })
	b.editLast()
	b.shortcut(ctrl(fyne.KeyF))
	b.focusComposer()
	b.composer.entry.SetText("")
	b.composer.insert("/")
	b.until("prompts are suggested", func() bool { return len(b.composer.popup.shown) > 0 })
	esc := func() { b.composer.entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape}) }
	state := func() [4]bool {
		return [4]bool{b.composer.popup.done != nil, b.finder.open(), b.composer.edits != "", len(b.app.Working()) > 0}
	}
	for i, want := range [][4]bool{{false, true, true, true}, {false, false, true, true}, {false, false, false, true}} {
		esc()
		if got := state(); got != want {
			t.Fatalf("after Escape %d open are %v", i+1, got)
		}
	}
	esc()
	b.until("the turn has ended", b.ended)
}

// Files that are dropped are attached, folders are offered, and one with keys in it is refused with the reason.
func TestDropped(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	dir := t.TempDir()
	good, bad, file := filepath.Join(dir, "good"), filepath.Join(dir, "bad"), filepath.Join(dir, "notes.txt")
	for _, d := range []string{good, bad} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for path, words := range map[string]string{filepath.Join(bad, "id_ed25519"): "x", file: "some notes"} {
		if err := os.WriteFile(path, []byte(words), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	asks := &askSpy{Layer: b.layer}
	b.d.Layer = asks
	b.Dropped([]string{file, good, bad, filepath.Join(dir, "gone")})
	b.until("the file is attached", func() bool { return len(b.composer.attach) == 1 && len(asks.asked) == 2 })
	b.settle()
	if a := b.composer.attach[0]; a.Name != "notes.txt" || a.Text != "some notes" {
		t.Errorf("attached is %+v", a)
	}
	if len(b.settings.Roots) != 0 {
		t.Error("a folder was shared unasked")
	}
	if !strings.Contains(asks.asked[0].body, "id_ed25519") {
		t.Errorf("the reason is %q", asks.asked[0].body)
	}
	last := asks.asked[1].buttons
	last[len(last)-1].Do()
	b.settle()
	if len(b.settings.Roots) != 1 || filepath.Base(b.settings.Roots[0]) != "good" || len(b.composer.folders.objects) != 1 {
		t.Errorf("shared are %v", b.settings.Roots)
	}
}

type asked struct {
	title, body string
	buttons     []place.Button
}

type askSpy struct {
	place.Layer
	asked []asked
}

func (a *askSpy) Ask(title, body string, buttons ...place.Button) {
	a.asked = append(a.asked, asked{title, body, buttons})
}

func TestFileName(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"Risks in this week's report": "Risks in this week's report.md", "../../etc/passwd": "etc passwd.md", "a\nb\u202e?": "a b.md", "帮我订": "帮我订.md", "...": "chat.md", "": "chat.md",
		strings.Repeat("长", 200): strings.Repeat("长", 80) + ".md",
	} {
		if got := fileName(title); got != want {
			t.Errorf("%q gives %q", title, got)
		}
	}
}

// Exporting asks where, with a name made of the title.
func TestExport(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	b.turn("Hello")
	b.export()
	b.until("it is asked where", func() bool { return b.window.Canvas().Overlays().Top() != nil })
	found := false
	for _, o := range test.LaidOutObjects(b.window.Canvas().Overlays().Top()) {
		if e, ok := o.(interface{ SelectedText() string }); ok {
			_ = e
			found = true
		}
	}
	if !found {
		t.Error("no name can be typed")
	}
	b.window.Canvas().Overlays().Remove(b.window.Canvas().Overlays().Top())
	path := filepath.Join(t.TempDir(), "out.md")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := b.app.ExportConversation(context.Background(), b.state.conversation)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeOut(f, text); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(path); err != nil || !strings.Contains(string(raw), "> Hello") {
		t.Errorf("the file holds %q, %v", raw, err)
	}
	if err := writeOut(f, text); err == nil {
		t.Error("writing to a closed file is no error")
	}
}
