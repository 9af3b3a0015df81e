package layer

import (
	"image/color"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"steward/ui/place"
)

// rig is a window with an entry under the layer, and timers that a test lets run out.
type rig struct {
	*Layer
	window fyne.Window
	entry  *widget.Entry
	timers map[int]func()
	n      int
}

func newRig(t *testing.T) *rig {
	t.Helper()
	test.NewTempApp(t)
	r := &rig{timers: map[int]func(){}, entry: widget.NewEntry()}
	r.window = test.NewTempWindow(t, canvas.NewRectangle(color.Black))
	r.Layer = New(r.window.Canvas(), func(_ time.Duration, f func()) func() {
		r.n++
		n := r.n
		r.timers[n] = f
		return func() { delete(r.timers, n) }
	})
	r.window.SetPadded(false)
	r.window.SetContent(container.NewStack(r.entry, r.Object()))
	r.window.Resize(fyne.NewSize(600, 400))
	r.window.Canvas().Focus(r.entry)
	return r
}

func box(w, h float32) fyne.CanvasObject {
	b := canvas.NewRectangle(color.White)
	b.SetMinSize(fyne.NewSize(w, h))
	return b
}

func TestPopupLeavesTheKeyboardAloneAndFitsIn(t *testing.T) {
	r := newRig(t)
	closed := 0
	r.Popup(box(200, 100), fyne.NewPos(550, 390), func() { closed++ })
	if r.window.Canvas().Focused() != fyne.Focusable(r.entry) {
		t.Error("a popup took the focus")
	}
	f := r.popup.frame
	if at, size := f.Position(), f.Size(); at.X+size.Width > 600 || at.Y+size.Height > 400 {
		t.Errorf("the popup at %v, %v large, leaves the window", at, size)
	}
	r.Popup(box(5000, 5000), fyne.NewPos(0, 0), func() { closed++ })
	if closed != 1 {
		t.Error("the second popup did not close the first")
	}
	if size := r.popup.frame.Size(); size.Width > 600 || size.Height > 400 {
		t.Errorf("a popup of %v is larger than the window", size)
	}
	test.TapCanvas(r.window.Canvas(), fyne.NewPos(2, 2))
	if closed != 2 || r.Open() {
		t.Error("a tap elsewhere did not close the popup")
	}
	if r.Escape() {
		t.Error("Escape closed something that is not there")
	}
}

func TestMenuTakesKeysAndGivesTheFocusBack(t *testing.T) {
	r := newRig(t)
	var did string
	items := []place.MenuItem{{Label: "One", Disabled: true}, {Label: "Two", Do: func() { did += "two" }}, {}, {Label: "Three", Do: func() { did += "three" }}}
	press := func(names ...fyne.KeyName) {
		for _, n := range names {
			r.window.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: n})
		}
	}
	r.Menu(items, fyne.NewPos(10, 10))
	press(fyne.KeyDown, fyne.KeyDown, fyne.KeyDown, fyne.KeyReturn)
	if did != "two" {
		t.Errorf("did %q; the keys should walk Two, Three, Two", did)
	}
	if r.window.Canvas().Focused() != fyne.Focusable(r.entry) || r.Open() {
		t.Error("the menu did not give the focus back")
	}
	r.Menu(items, fyne.NewPos(10, 10))
	press(fyne.KeyUp, fyne.KeyEscape)
	if did != "two" || r.Open() {
		t.Errorf("Escape did %q", did)
	}
	r.Menu(items, fyne.NewPos(10, 10))
	r.window.Canvas().Focus(r.entry)
	if r.Open() {
		t.Error("the menu stays without the keyboard")
	}
}

func TestOfferIsTakenOrEndsOnce(t *testing.T) {
	r := newRig(t)
	taken, ended := 0, 0
	r.Offer("It was deleted.", "Undo", func() { taken++ }, func() { ended++ })
	r.toasts[0].body.button.OnTapped()
	if taken != 1 || ended != 0 || len(r.timers) != 0 || len(r.toasts) != 0 {
		t.Fatalf("taken %d, ended %d, %d timers, %d toasts", taken, ended, len(r.timers), len(r.toasts))
	}
	for range toasts + 2 {
		r.Offer("It was deleted.", "Undo", func() { taken++ }, func() { ended++ })
	}
	if len(r.toasts) != toasts || ended != 2 {
		t.Errorf("%d toasts are shown and %d have ended", len(r.toasts), ended)
	}
	for _, f := range r.timers {
		f()
	}
	if ended != toasts+2 || taken != 1 || len(r.toasts) != 0 {
		t.Errorf("taken %d, ended %d, %d toasts", taken, ended, len(r.toasts))
	}
}

func TestEscapeIsTheFirstAnswer(t *testing.T) {
	r := newRig(t)
	var said string
	ask := func() {
		r.Ask("Sure?", "It cannot be undone.", place.Button{Label: "No", Do: func() { said += "no " }}, place.Button{Label: "Yes", Look: place.Dangerous, Do: func() { said += "yes " }})
	}
	press := func(n fyne.KeyName) { r.window.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: n}) }
	ask()
	press(fyne.KeyEscape)
	ask()
	press(fyne.KeyReturn)
	ask()
	press(fyne.KeyRight)
	press(fyne.KeyReturn)
	ask()
	r.Close()
	if said != "no no yes no " {
		t.Errorf("said %q", said)
	}
	if r.Modal() || r.window.Canvas().Overlays().Top() != nil {
		t.Error("a question stays")
	}
}

func TestDialogsCloseFromTheTop(t *testing.T) {
	r := newRig(t)
	var closed string
	lower := r.Dialog(box(100, 100), func() { closed += "lower " })
	r.Dialog(box(50, 50), func() { closed += "upper " })
	r.Escape()
	if closed != "upper " || !r.Modal() {
		t.Fatalf("closed %q", closed)
	}
	r.Dialog(box(50, 50), func() { closed += "third " })
	lower()
	lower()
	if closed != "upper third lower " || r.Modal() {
		t.Errorf("closed %q", closed)
	}
}
