// Package layer shows what lies over the places: popups, menus, toasts and dialogs.
//
// Popups, menus and toasts are part of the window's own content and not of the toolkit's overlays, which take the whole
// keyboard: a person goes on typing while a popup beside the text changes. Only a dialog is an overlay, because there
// the keyboard must stay inside.
//
// Everything here belongs to Fyne's goroutine.
package layer

import (
	"time"

	"fyne.io/fyne/v2"

	"steward/ui/place"
	"steward/ui/theme"
)

const (
	edge     = 2 * theme.Step // distance that everything keeps from the window's sides
	toastGap = 2 * theme.Step
	maxToast = float32(520) // width
	toasts   = 3            // shown at once
)

// Layer is the last child of the window's content, over all others.
type Layer struct {
	canvas fyne.Canvas
	after  func(d time.Duration, f func()) (stop func())

	root    *fyne.Container
	catcher *catcher
	popup   *popup
	toasts  []*toast
	dialogs []*dialog
	file    place.FileDialog // shown, or nil
}

var _ place.Layer = (*Layer)(nil)

// New makes the layer of a window's canvas. after calls f on Fyne's goroutine once d is over, unless it is stopped
// before.
func New(c fyne.Canvas, after func(d time.Duration, f func()) (stop func())) *Layer {
	l := &Layer{canvas: c, after: after}
	l.root = &fyne.Container{Layout: (*arranger)(l)}
	return l
}

// Object is what the window's content stacks over everything else.
func (l *Layer) Object() fyne.CanvasObject { return l.root }

// Open says whether a popup, a menu or a dialog is shown.
func (l *Layer) Open() bool { return l.popup != nil || l.Modal() }

// Modal says whether a dialog has the keyboard.
func (l *Layer) Modal() bool { return len(l.dialogs) > 0 || l.file != nil }

// Escape closes the topmost dialog, or the popup, and reports whether there was one.
func (l *Layer) Escape() bool {
	if f := l.file; f != nil {
		l.file = nil
		f.Dismiss()
		return true
	}
	if n := len(l.dialogs); n > 0 {
		l.dialogs[n-1].close()
		return true
	}
	if l.popup != nil {
		l.popup.close()
		return true
	}
	return false
}

// File is place.Layer's.
func (l *Layer) File(d place.FileDialog) {
	l.file = d
	d.SetOnClosed(func() { l.file = nil })
	d.Show() // before Resize: only then has the toolkit something to resize
	size := l.canvas.Size()
	d.Resize(fyne.NewSize(min(840, size.Width-10*theme.Step), min(560, size.Height-10*theme.Step)))
}

// Close ends everything that is shown; what was offered counts as not taken.
func (l *Layer) Close() {
	for l.Escape() {
	}
	for len(l.toasts) > 0 {
		l.toasts[0].end()
	}
}

// arranger lays the layer out: a popup where it was asked for, toasts at the foot.
type arranger Layer

// MinSize asks for nothing: what lies over the places never makes the window larger.
func (a *arranger) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.Size{} }

// Layout is called with every size of the window.
func (a *arranger) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	if a.popup != nil {
		a.catcher.Resize(size)
		a.popup.arrange(size)
	}
	bottom := size.Height - 6*theme.Step
	for i := len(a.toasts) - 1; i >= 0; i-- {
		bottom -= a.toasts[i].arrange(size.Width, bottom) + toastGap
	}
}

func (l *Layer) arrange() {
	l.root.Layout.Layout(nil, l.root.Size())
	l.root.Refresh()
}
