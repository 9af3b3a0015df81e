package form

import (
	"encoding/json"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
)

func TestListsAreTyped(t *testing.T) {
	f := New([]Field{
		{Name: "tags", Kind: List, Entry: String, MinItems: 1, MaxItems: 3, Default: raw(`["a, b","ü"]`)},
		{Name: "n", Kind: List, Entry: Integer, Check: func(text string) error {
			if strings.Contains(text, "13") {
				return problem("no thirteen")
			}
			return nil
		}},
	}, draw)
	w := show(t, f)
	grown := 0
	f.OnResize = func() { grown++ }
	if got := values(f); got != `tags=["a, b","ü"]` {
		t.Fatalf("at first %s", got)
	}
	l := f.rows[0].items
	w.Canvas().Focus(l.rows[1].entry)
	height := f.HeightFor(400)
	l.rows[1].entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if len(l.rows) != 3 || w.Canvas().Focused() != fyne.Focusable(l.rows[2].entry) {
		t.Fatalf("Enter makes %d entries", len(l.rows))
	}
	if f.HeightFor(400) <= height-l.add.MinSize().Height || grown == 0 || l.add.Visible() {
		t.Errorf("after %d entries the height is %v, it was %v; more can be added: %v", len(l.rows), f.HeightFor(400), height, l.add.Visible())
	}
	test.Type(l.rows[2].entry, "c")
	if got := values(f); got != `tags=["a, b","ü","c"]` {
		t.Errorf("with a third entry %s", got)
	}
	test.Tap(l.rows[0].remove)
	if got := values(f); got != `tags=["ü","c"]` || w.Canvas().Focused() != fyne.Focusable(l.rows[0].entry) {
		t.Errorf("without the first %s", got)
	}
	test.Tap(l.rows[0].remove)
	test.Tap(l.rows[0].remove)
	if p := f.Problems(); len(p) != 1 && values(f) != "" {
		t.Errorf("an empty list of an optional field: %v, %s", p, values(f))
	}
	n := f.rows[1].items
	test.Tap(n.add)
	for _, c := range [][2]string{{"x", "Entry 1: Write a whole number, such as 42."}, {"13", "no thirteen"}, {"007", ""}} {
		typed, want := c[0], c[1]
		n.rows[0].entry.SetText(typed)
		got := ""
		if p := f.Problems(); len(p) > 0 {
			got = p[0].Text
		}
		if got != want {
			t.Errorf("%s: %q, want %q", typed, got, want)
		}
	}
	if string(f.Values()["n"]) != "[7]" {
		t.Errorf("numbers are sent as %s", f.Values()["n"])
	}
	again := New([]Field{{Name: "n", Kind: List, Entry: Integer}}, draw)
	again.Restore(f.State())
	if string(again.Values()["n"]) != "[7]" || len(again.rows[0].items.rows) != 1 {
		t.Errorf("the draft gives %s", again.Values()["n"])
	}
	if refused := again.Set(map[string]json.RawMessage{"n": raw(`["a"]`)}); len(refused) != 1 {
		t.Error("a text is taken for a number")
	}
}

// No answer to a required field is null where the server takes that.
func TestNoAnswerIsNull(t *testing.T) {
	f := New([]Field{{Name: "a", Kind: Integer, Required: true, Nullable: true}, {Name: "b", Kind: Integer, Nullable: true}, {Name: "c", Kind: Choice, Required: true, Nullable: true, Choices: choices("x"), Default: raw("null")}}, draw)
	if p := f.Problems(); p != nil || values(f) != "a=null c=null" {
		t.Errorf("%v, %s", p, values(f))
	}
	f.Set(map[string]json.RawMessage{"a": raw("3")})
	if values(f) != "a=3 c=null" {
		t.Error(values(f))
	}
}

// Shortcuts typed in any control go to the form's owner.
func TestShortcutsGoToTheOwner(t *testing.T) {
	f := New([]Field{{Name: "s", Kind: String}, {Name: "b", Kind: Boolean}, {Name: "c", Kind: Choices, Choices: choices("x")}, {Name: "l", Kind: List, Entry: String, Default: raw(`["a"]`)}}, draw)
	show(t, f)
	got := 0
	f.OnShortcut = func(fyne.Shortcut) bool { got++; return true }
	controls := []fyne.Focusable{f.rows[3].items.add, f.rows[3].items.rows[0].remove}
	for _, r := range f.rows {
		controls = append(controls, r.target())
	}
	for i, c := range controls {
		c.(fyne.Shortcutable).TypedShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyReturn, Modifier: fyne.KeyModifierControl})
		if got != i+1 {
			t.Errorf("%T keeps shortcuts", c)
			got = i + 1
		}
	}
}

// Escape that a control has no use for goes to the form's owner, or else to the window.
func TestEscapeGoesOn(t *testing.T) {
	var many []Option
	for i := range fewOptions + 1 {
		many = append(many, Option{Value: quote(strings.Repeat("x", i+1))})
	}
	f := New([]Field{{Name: "s", Kind: String}, {Name: "t", Kind: Text}, {Name: "d", Kind: Date}, {Name: "b", Kind: Boolean}, {Name: "l", Kind: List, Entry: String, Default: raw(`["a"]`)}, {Name: "m", Kind: Choice, Choices: many}}, draw)
	w := show(t, f)
	window, owner := 0, 0
	w.Canvas().SetOnTypedKey(func(ev *fyne.KeyEvent) {
		if ev.Name == fyne.KeyEscape {
			window++
		}
	})
	controls := []fyne.Focusable{}
	for _, r := range f.rows {
		controls = append(controls, r.target())
	}
	controls = append(controls, f.rows[4].items.add, f.rows[4].items.rows[0].remove, f.rows[5].control.(*optionList).list)
	for _, c := range controls {
		w.Canvas().Focus(c)
		window, owner = 0, 0
		c.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
		if window != 1 {
			t.Errorf("%T: the window got %d", c, window)
		}
		f.OnEscape = func() bool { owner++; return true }
		c.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
		f.OnEscape = nil
		if owner != 1 || window != 1 {
			t.Errorf("%T: the owner got %d, the window %d", c, owner, window)
		}
	}
}
