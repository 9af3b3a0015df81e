package form

import (
	"strconv"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	test.NewApp()
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}

// keyboard presses keys as a desktop does: the press, the key, then perhaps a character.
type keyboard struct {
	e    *Entry
	held fyne.KeyModifier
}

func keysOf(t *testing.T, e *Entry) *keyboard {
	k := &keyboard{e: e}
	e.Modifiers = func() fyne.KeyModifier { return k.held }
	w := test.NewTempWindow(t, e)
	w.Resize(fyne.NewSize(400, 200))
	w.Canvas().Focus(e)
	return k
}

// press is a key that brings no character, or one that an input method keeps.
func (k *keyboard) press(names ...fyne.KeyName) {
	for _, n := range names {
		k.e.KeyDown(&fyne.KeyEvent{Name: n})
		k.e.TypedKey(&fyne.KeyEvent{Name: n})
		k.e.KeyUp(&fyne.KeyEvent{Name: n})
	}
}

func (k *keyboard) write(text string) {
	for _, r := range text {
		name := fyne.KeyName(strings.ToUpper(string(r)))
		k.e.KeyDown(&fyne.KeyEvent{Name: name})
		k.e.TypedKey(&fyne.KeyEvent{Name: name})
		k.e.TypedRune(r)
		k.e.KeyUp(&fyne.KeyEvent{Name: name})
	}
}

func (k *keyboard) commit(text string) {
	for _, r := range text {
		k.e.TypedRune(r)
	}
}

func TestEnterSubmitsAndShiftEnterBreaks(t *testing.T) {
	for _, swapped := range []bool{false, true} {
		e := NewMultiLine(2)
		e.EnterBreaks = swapped
		var sent []string
		e.OnSubmit = func(text string) { sent = append(sent, text) }
		k := keysOf(t, e)
		breaks, sends := fyne.KeyModifierShift, fyne.KeyModifier(0)
		if swapped {
			breaks, sends = sends, breaks
		}
		k.write("one")
		k.held = breaks
		k.press(fyne.KeyReturn)
		k.held = 0
		k.write("two")
		k.held = sends
		k.press(fyne.KeyEnter)
		if e.Text != "one\ntwo" || len(sent) != 1 || sent[0] != "one\ntwo" {
			t.Errorf("swapped %v: text %q, sent %q", swapped, e.Text, sent)
		}
	}
}

func TestHeldEnterSubmitsOnce(t *testing.T) {
	e := NewMultiLine(2)
	sent := 0
	e.OnSubmit = func(string) { sent++ }
	k := keysOf(t, e)
	k.write("x")
	e.KeyDown(&fyne.KeyEvent{Name: fyne.KeyReturn})
	for range 30 {
		e.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	}
	e.KeyUp(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if sent != 1 {
		t.Errorf("one press sent %d times", sent)
	}
	k.press(fyne.KeyReturn)
	if sent != 2 {
		t.Error("a second press sends nothing")
	}
}

func TestKeysOfAnInputMethodDoNothingHere(t *testing.T) {
	e := NewMultiLine(2)
	sent := 0
	e.OnSubmit = func(string) { sent++ }
	k := keysOf(t, e)
	k.write("ab")
	// n, i and Enter go to the input method, which then commits the letters.
	k.press("N", "I")
	if !e.Composing() {
		t.Fatal("composing is not noticed")
	}
	k.press(fyne.KeyLeft, fyne.KeyUp, fyne.KeyHome, fyne.KeyReturn)
	if e.Text != "ab" || sent != 0 || e.CursorColumn != 2 {
		t.Fatalf("while composing: text %q, sent %d, cursor %d", e.Text, sent, e.CursorColumn)
	}
	k.commit("你")
	k.press(fyne.KeyBackspace)
	if e.Text != "ab" {
		t.Errorf("after composing, BackSpace left %q", e.Text)
	}
	// Two letters taken back inside the input method, the third one is ours.
	k.press("N", "I", fyne.KeyBackspace, fyne.KeyBackspace)
	if e.Text != "ab" {
		t.Errorf("BackSpace inside the input method left %q", e.Text)
	}
	k.press(fyne.KeyBackspace)
	if e.Text != "a" {
		t.Errorf("the next BackSpace left %q", e.Text)
	}
	k.press("N", fyne.KeyEscape, fyne.KeyReturn)
	if sent != 1 {
		t.Error("after Escape ended composing, Enter does not send")
	}
	k.press("N")
	e.FocusLost()
	e.FocusGained()
	k.press(fyne.KeyReturn)
	if sent != 2 {
		t.Error("keys pressed before the focus came back count still")
	}
	k.held = fyne.KeyModifierControl
	k.press("C")
	if e.Composing() {
		t.Error("Ctrl+C counts as composing")
	}
}

func TestKeysCanBeTakenFirst(t *testing.T) {
	e := NewEntry()
	var seen []fyne.KeyName
	e.OnKey = func(k *fyne.KeyEvent) bool { seen = append(seen, k.Name); return k.Name == fyne.KeyReturn }
	e.OnSubmit = func(string) { t.Error("a key that was taken submits") }
	k := keysOf(t, e)
	k.press(fyne.KeyReturn, fyne.KeyUp)
	if len(seen) != 2 {
		t.Errorf("seen %v", seen)
	}
	if e.AcceptsTab() || NewMultiLine(3).AcceptsTab() {
		t.Error("Tab stays in an entry")
	}
}

func TestBigPastesStayOut(t *testing.T) {
	for _, multi := range []bool{true, false} {
		e := NewEntry()
		if multi {
			e = NewMultiLine(3)
		}
		var big []string
		e.OnBigPaste = func(text string) { big = append(big, text) }
		keysOf(t, e)
		clip := test.NewClipboard()
		paste := func(text string) {
			clip.SetContent(text)
			e.TypedShortcut(&fyne.ShortcutPaste{Clipboard: clip})
		}
		paste(strings.Repeat("a", MaxText+1))
		paste(strings.Repeat("字", MaxText/3+1))
		if e.Text != "" || len(big) != 2 || len(big[0]) != MaxText+1 {
			t.Fatalf("%d bytes are in, %d pastes were told", len(e.Text), len(big))
		}
		paste("fits\tas it is")
		if e.Text != "fits\tas it is" {
			t.Errorf("a small paste became %q", e.Text)
		}
		paste(strings.Repeat("b", MaxText-8))
		if len(big) != 3 {
			t.Error("two pastes together are longer than the limit")
		}
		e.TypedShortcut(&fyne.ShortcutSelectAll{})
		paste(strings.Repeat("b", MaxText))
		if len(e.Text) != MaxText {
			t.Errorf("a paste over everything left %d bytes", len(e.Text))
		}
	}
}

func TestShortcutsThatAnEntryDoesNotKnowGoOn(t *testing.T) {
	e := NewEntry()
	window := &fyne.ShortcutHandler{}
	e.window = window
	palette := &desktop.CustomShortcut{KeyName: fyne.KeyK, Modifier: fyne.KeyModifierControl}
	asked := 0
	window.AddShortcut(palette, func(fyne.Shortcut) { asked++ })
	e.TypedShortcut(palette)
	if asked != 1 {
		t.Error("Ctrl+K ends in the entry")
	}
	e.SetText("two words")
	e.CursorColumn = 9
	e.TypedShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyBackspace, Modifier: fyne.KeyModifierShortcutDefault})
	if e.Text != "two " {
		t.Errorf("deleting a word left %q", e.Text)
	}
	e.OnShortcut = func(fyne.Shortcut) bool { return true }
	e.TypedShortcut(palette)
	if asked != 1 {
		t.Error("a shortcut that was taken goes on")
	}
}

// The surroundings of a form have shortcuts, such as the one that sends it. They hold in every control.
func TestShortcutsOfTheSurroundingsHoldInEveryControl(t *testing.T) {
	send := &desktop.CustomShortcut{KeyName: fyne.KeyReturn, Modifier: fyne.KeyModifierControl}
	many := Field{Name: "many", Kind: Choice}
	for i := range fewOptions + 1 {
		many.Choices = append(many.Choices, Option{Value: raw(strconv.Itoa(i)), Title: strconv.Itoa(i)})
	}
	f := New([]Field{{Name: "yes", Kind: Boolean}, {Name: "one", Kind: Choice, Choices: choices("a", "b")},
		{Name: "some", Kind: Choices, Choices: choices("a", "b")}, many, {Name: "text", Kind: Text}, {Name: "day", Kind: Date}}, draw)
	got := 0
	f.OnShortcut = func(s fyne.Shortcut) bool { got++; return s == fyne.Shortcut(send) }
	w := show(t, f)
	for i, r := range f.rows {
		f.FocusField(r.answer.field.Name)
		control, ok := w.Canvas().Focused().(fyne.Shortcutable)
		if !ok {
			t.Errorf("%s hands no shortcut on: %T", r.answer.field.Name, w.Canvas().Focused())
			continue
		}
		if control.TypedShortcut(send); got != i+1 {
			t.Errorf("the shortcut typed in %s did not arrive", r.answer.field.Name)
			got = i + 1
		}
	}
}
