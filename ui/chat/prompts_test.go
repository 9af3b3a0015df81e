package chat

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"steward/ui/form"
	"steward/ui/place"
)

func TestOwnPromptsAreFilledIn(t *testing.T) {
	t.Parallel()
	o := ownPrompt{"n", "Translate {{ message }} into {{language}}, {{language}}; {{}} {{a\nb}}"}
	if got := o.places(); !slices.Equal(got, []string{"message", "language"}) {
		t.Errorf("the places are %q", got)
	}
	got := o.fill(map[string]string{"message": "{{language}}", "language": "法语"})
	if got != "Translate {{language}} into 法语, 法语; {{}} {{a\nb}}" {
		t.Errorf("filled in it is %q", got)
	}
	var b book
	for _, c := range []struct {
		before string
		o      ownPrompt
		ok     bool
	}{
		{"", ownPrompt{"a", "x"}, true}, {"", ownPrompt{" a ", "y"}, false}, {"", ownPrompt{"", "y"}, false}, {"", ownPrompt{"b", " "}, false},
		{"", ownPrompt{"b", strings.Repeat("x", maxPrompt)}, false}, {"a", ownPrompt{"c", "z"}, true}, {"", ownPrompt{"a", "again"}, true}, {"c", ownPrompt{"a", "z"}, false},
	} {
		b.pin(pinned{Name: "a"}, true)
		if err := b.put(c.before, c.o); (err == nil) != c.ok {
			t.Errorf("%+v in place of %q: %v", c.o, c.before, err)
		}
	}
	if !b.isPinned(pinned{Name: "c"}) || b.own(pinned{Name: "c"}).Text != "z" {
		t.Errorf("a prompt with another name is %+v", b)
	}
}

// A prompt of one's own is written, pinned, suggested after "/", asked for what is missing, and put where it is seen.
func TestOwnPrompts(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	b.promptSettings()
	b.settle()
	b.picture("own-prompts")
	b.layer.Close()
	failed := error(nil)
	b.changeBook(func(k *book) error {
		k.pin(pinned{Name: "greet"}, true)
		k.pin(pinned{"demo", "weekly-report"}, true)
		return k.put("", ownPrompt{"greet", "Say hello to {{who}}: {{message}}"})
	}, func(err error) { failed = err })
	b.settle()
	if failed != nil || len(b.pins.objects) != 2 || !b.pins.Visible() {
		t.Fatalf("pinned are %d, %v", len(b.pins.objects), failed)
	}
	b.composer.insert("/")
	b.until("prompts are suggested", func() bool { return len(b.composer.popup.shown) > 2 })
	for _, r := range "gre" {
		b.composer.entry.TypedRune(r)
	}
	b.settle()
	if got := b.composer.popup.shown; len(got) != 1 || got[0].title != "greet" {
		t.Fatalf("suggested are %+v", got)
	}
	b.picture("own-slash")
	b.composer.key(&fyne.KeyEvent{Name: fyne.KeyReturn})
	b.settle()
	b.picture("own-ask")
	b.layer.Close()
	again := New(b.d) // another start
	defer again.Close()
	b.until("it was kept", func() bool { return len(again.book.Own) == 1 && len(again.pins.objects) == 2 })

	b.turn("What is the weather?")
	b.picture("pinned")
	b.composer.restore(draft{})
	b.useOwn(ownPrompt{"x", "About this: {{message}}"}, "the text")
	if b.composer.entry.Text != "About this: the text" || len(b.composer.attach) != 0 {
		t.Errorf("run over a message, the composer holds %q", b.composer.entry.Text)
	}
}

type menuSpy struct {
	place.Layer
	items []place.MenuItem
}

func (m *menuSpy) Menu(items []place.MenuItem, _ fyne.Position) { m.items = items }

func (m *menuSpy) choose(t *testing.T, label string) {
	t.Helper()
	for _, i := range m.items {
		if i.Label == label && !i.Disabled {
			i.Do()
			return
		}
	}
	t.Fatalf("the menu has no %q: %+v", label, m.items)
}

// A message's menu opens by the pointer and by a key, and does what it says.
func TestMenuOfAMessage(t *testing.T) {
	b := newBench(t, "light", "en")
	spy := &menuSpy{Layer: b.layer}
	b.d.Layer = spy
	b.ready()
	b.turn("Hello **you**")
	b.settle()
	var said *userRow
	var answer *answerRow
	for i := range b.state.rows {
		b.list.Touch(i, func(o fyne.CanvasObject) {
			switch o := o.(type) {
			case *userRow:
				said = o
			case *answerRow:
				answer = o
			}
		})
	}
	clip := fyne.CurrentApp().Clipboard()
	answer.body.TappedSecondary(&fyne.PointEvent{Position: fyne.NewPos(5, 5)})
	spy.choose(t, "Copy as Markdown")
	if got := clip.Content(); got != b.state.last(roleAssistant).words() {
		t.Errorf("copied is %q", got)
	}
	spy.choose(t, "Copy as text")
	if got := clip.Content(); strings.Contains(got, "- read") || !strings.Contains(got, "read a weekly report") {
		t.Errorf("copied as text it is %q", got)
	}
	spy.items = nil
	b.focus(&answer.body.View)
	answer.body.TypedKey(&fyne.KeyEvent{Name: fyne.KeyF10})
	b.picture("focused-message")
	spy.choose(t, "Regenerate")
	b.until("there is another version", func() bool {
		m := b.state.last(roleAssistant)
		return m != nil && len(m.Versions) == 2 && b.ended()
	})
	newest := b.state.last(roleAssistant).ID
	b.messageMenu(newest, nil, "", fyne.Position{})
	spy.choose(t, "Version 1")
	b.until("the other branch is shown", func() bool { return b.state.last(roleAssistant) != nil && b.state.last(roleAssistant).ID != newest })
	said.body.TypedKey(&fyne.KeyEvent{Name: keyOfMenu})
	spy.choose(t, "Run a prompt over it…")
	if len(b.composer.attach) != 1 || b.composer.attach[0].Text != "Hello **you**" || b.composer.entry.Text != "/" {
		t.Errorf("a prompt over a message: %+v, %q", b.composer.attach, b.composer.entry.Text)
	}
	b.composer.restore(draft{})
	said.body.TypedKey(&fyne.KeyEvent{Name: keyOfMenu})
	spy.choose(t, "Edit and branch")
	if b.composer.edits != said.id || b.composer.entry.Text != "Hello **you**" {
		t.Errorf("to edit is %q", b.composer.entry.Text)
	}
}

const keyOfMenu fyne.KeyName = "Menu"

// What a server suggests for an argument is reached from its field by the keyboard, taken by Enter, and the way leads on.
func TestSuggestionsByKeyboard(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	b.window.Canvas().Capture()
	b.UsePrompt("demo", "plan-vacation")
	b.settle()
	b.window.Canvas().Capture()
	entry := func() *form.Entry { e, _ := b.window.Canvas().Focused().(*form.Entry); return e }
	b.until("the first field has the keyboard", func() bool { return entry() != nil && entry() != b.composer.entry })
	field := entry()
	for _, r := range "pa" {
		field.TypedRune(r)
	}
	var hints []*chip
	b.until("values are suggested", func() bool {
		hints = nil
		for _, o := range test.LaidOutObjects(b.window.Canvas().Overlays().Top()) {
			if c, ok := o.(*chip); ok && c.onKey != nil {
				hints = append(hints, c)
			}
		}
		return len(hints) == 2
	})
	b.window.Canvas().Capture()
	b.picture("suggested")
	place := fyne.CurrentApp().Driver().AbsolutePositionForObject
	for _, o := range test.LaidOutObjects(b.window.Canvas().Overlays().Top()) {
		if e, ok := o.(*form.Entry); ok && e != field && place(e).Y < place(hints[0]).Y {
			t.Errorf("what is suggested for the first field, at %v, stands below another at %v", place(hints[0]), place(e))
		}
	}
	field.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
	if b.window.Canvas().Focused() != hints[0] {
		t.Fatalf("Down leads to %T", b.window.Canvas().Focused())
	}
	hints[0].TypedKey(&fyne.KeyEvent{Name: fyne.KeyUp})
	if entry() != field {
		t.Error("Up does not lead back")
	}
	field.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
	hints[0].TypedKey(&fyne.KeyEvent{Name: fyne.KeyRight})
	b.window.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if field.Text != hints[1].words || entry() != field {
		t.Errorf("the field holds %q, not %q", field.Text, hints[1].words)
	}
}

// Changes of the prompts that come one right after the other all stay, and what cannot be read is not written over.
func TestNoChangeOfThePromptsIsLost(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	left := 4
	for _, name := range []string{"one", "two", "three", "four"} {
		b.changeBook(func(k *book) error { return k.put("", ownPrompt{name, "a text"}) }, func(err error) {
			if left--; err != nil {
				t.Error(err)
			}
		})
	}
	b.until("all are stored", func() bool { return left == 0 })
	raw, err := b.app.Preference(t.Context(), preferPrompts)
	if err != nil {
		t.Fatal(err)
	}
	if stored, err := readBook(raw); err != nil || len(stored.Own) != 4 || len(b.book.Own) != 4 {
		t.Errorf("stored are %+v, %v; shown %+v", stored, err, b.book)
	}
	if err := b.app.SetPreference(t.Context(), preferPrompts, "{of a newer version"); err != nil {
		t.Fatal(err)
	}
	told := false
	b.changeBook(func(k *book) error { return k.put("", ownPrompt{"five", "a text"}) }, func(err error) { told = err != nil })
	b.until("that is an error", func() bool { return told })
	if raw, err = b.app.Preference(t.Context(), preferPrompts); err != nil || raw != "{of a newer version" {
		t.Errorf("what could not be read is %q now, %v", raw, err)
	}
}

// A file is attached where it was chosen, also when another conversation is shown by the time it is read.
func TestAFileGoesWhereItWasChosen(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	b.turn("hello")
	file := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(file, []byte("some notes"), 0o600); err != nil {
		t.Fatal(err)
	}
	first := b.state.conversation
	b.attachPath(file)
	b.Goto("") // before the queue has run
	b.until("it is kept", func() bool { return len(b.drafts[first].attach) == 1 })
	if len(b.composer.attach) != 0 {
		t.Error("it is attached in the new conversation")
	}
}
