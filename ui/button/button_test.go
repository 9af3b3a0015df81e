package button

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"steward/ui/theme"
)

// window shows o in the program's theme.
func window(t *testing.T, o fyne.CanvasObject) fyne.Window {
	t.Helper()
	test.NewTempApp(t).Settings().SetTheme(theme.New(theme.AlwaysLight))
	w := test.NewTempWindow(t, o)
	w.Resize(fyne.NewSize(200, 80))
	return w
}

func TestKeysPressIt(t *testing.T) {
	pressed := 0
	b := New(Outlined, "plus", "Add", func() { pressed++ })
	window(t, b)
	for _, name := range []fyne.KeyName{fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter} {
		b.TypedKey(&fyne.KeyEvent{Name: name})
	}
	test.Tap(b)
	if pressed != 4 {
		t.Errorf("pressed %d times, want 4", pressed)
	}
	b.EnterOff = true
	b.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	b.Disable()
	b.TypedKey(&fyne.KeyEvent{Name: fyne.KeySpace})
	b.Tapped(nil)
	if pressed != 4 {
		t.Error("it was pressed by Enter, which is off, or while it was off")
	}
}

func TestWhatItDoesNotUseGoesOn(t *testing.T) {
	b := New(Quiet, "", "More", nil)
	w := window(t, b)
	var keys []fyne.KeyName
	w.Canvas().SetOnTypedKey(func(e *fyne.KeyEvent) { keys = append(keys, e.Name) })
	w.Canvas().Focus(b)
	b.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	b.OnKey = func(e *fyne.KeyEvent) bool { return e.Name == fyne.KeyLeft }
	b.TypedKey(&fyne.KeyEvent{Name: fyne.KeyLeft})
	b.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
	if len(keys) != 2 || keys[0] != fyne.KeyEscape || keys[1] != fyne.KeyDown {
		t.Errorf("the window heard %v", keys)
	}
	var heard fyne.Shortcut
	n := &desktop.CustomShortcut{KeyName: fyne.KeyN, Modifier: fyne.KeyModifierControl}
	b.OnShortcut = func(s fyne.Shortcut) { heard = s }
	if b.TypedShortcut(n); heard == nil {
		t.Error("a shortcut was lost")
	}
}

func TestItGrowsWithWhatItSays(t *testing.T) {
	b := New(Outlined, "", "Save", nil)
	window(t, b)
	small := b.MinSize()
	b.SetText("Save everything")
	wide := b.MinSize()
	b.SetHint("Ctrl S")
	b.SetIcon("check")
	if wide.Width <= small.Width || b.MinSize().Width <= wide.Width || b.MinSize().Height != small.Height {
		t.Errorf("%v, then %v, then %v", small, wide, b.MinSize())
	}
	if b.Text() != "Save everything" {
		t.Error(b.Text())
	}
}

func TestItIsSeenWhereTheKeyboardIs(t *testing.T) {
	for _, look := range []Look{Outlined, Strong, Refusing, Quiet, Segment} {
		b := New(look, "", "x", nil)
		w := window(t, b)
		before := b.ground.StrokeColor
		w.Canvas().Focus(b)
		if b.ground.StrokeColor == before || b.ground.StrokeWidth < 2 {
			t.Errorf("look %d shows no focus", look)
		}
		w.Canvas().Unfocus()
		if b.ground.StrokeColor != before {
			t.Errorf("look %d keeps showing the focus", look)
		}
	}
}
