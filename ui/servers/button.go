package servers

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"steward/ui/text"
	"steward/ui/theme"
)

const (
	buttonHeight = 34
	buttonPad    = 3 * step
	buttonIcon   = 16
)

// button is an outlined button, or a filled one where it does what the person came for. Enter and the space bar press
// it.
type button struct {
	widget.BaseWidget
	icon   string
	word   string
	tapped func()
	strong bool
	off    bool

	hovered, focused bool
	ground           *canvas.Rectangle
	label            *text.Label
	image            *canvas.Image
}

var (
	_ fyne.Tappable      = (*button)(nil)
	_ fyne.Focusable     = (*button)(nil)
	_ fyne.Disableable   = (*button)(nil)
	_ desktop.Hoverable  = (*button)(nil)
	_ desktop.Cursorable = (*button)(nil)
)

func newButton(word string, tapped func()) *button { return newIconButton("", word, tapped) }

// strongButton is the one that does what the person came for.
func strongButton(word string, tapped func()) *button {
	b := newButton(word, tapped)
	b.strong = true
	return b
}

// newIconButton has an icon ("" for none) before its word ("" for none).
func newIconButton(icon, word string, tapped func()) *button {
	b := &button{icon: icon, word: word, tapped: tapped, ground: canvas.NewRectangle(color.Transparent), label: text.NewLabel(word, text.Run{}, text.Whole)}
	if icon != "" {
		b.image = canvas.NewImageFromResource(theme.Icon(icon))
		b.image.FillMode = canvas.ImageFillContain
	}
	b.ExtendBaseWidget(b)
	return b
}

// SetText changes the word.
func (b *button) SetText(word string) {
	if b.word != word {
		b.word = word
		b.Refresh()
	}
}

// Disable, Enable and Disabled are Fyne's.
func (b *button) Disable() {
	if !b.off {
		b.off = true
		b.Refresh()
	}
}

// Enable lets it be pressed again.
func (b *button) Enable() {
	if b.off {
		b.off = false
		b.Refresh()
	}
}

// Disabled says whether it can not be pressed.
func (b *button) Disabled() bool { return b.off }

// Tapped is Fyne's.
func (b *button) Tapped(*fyne.PointEvent) { b.press() }

func (b *button) press() {
	if !b.off && b.tapped != nil {
		b.tapped()
	}
}

// MouseIn, MouseMoved and MouseOut are Fyne's.
func (b *button) MouseIn(*desktop.MouseEvent) { b.hovered = true; b.Refresh() }

// MouseMoved is of no interest.
func (b *button) MouseMoved(*desktop.MouseEvent) {}

// MouseOut is the end of MouseIn.
func (b *button) MouseOut() { b.hovered = false; b.Refresh() }

// Cursor is Fyne's.
func (b *button) Cursor() desktop.Cursor {
	if b.off {
		return desktop.DefaultCursor
	}
	return desktop.PointerCursor
}

// FocusGained and FocusLost are Fyne's.
func (b *button) FocusGained() { b.focused = true; b.Refresh() }

// FocusLost takes the sign of the focus away.
func (b *button) FocusLost() { b.focused = false; b.Refresh() }

// TypedRune is Fyne's.
func (b *button) TypedRune(r rune) {
	if r == ' ' {
		b.press()
	}
}

// TypedKey is Fyne's.
func (b *button) TypedKey(e *fyne.KeyEvent) {
	if e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter {
		b.press()
	}
}

// MinSize is Fyne's.
func (b *button) MinSize() fyne.Size {
	w := float32(2 * buttonPad)
	if b.word != "" {
		w += text.NewLabel(b.word, text.Run{}, text.Whole).MinSize().Width
	}
	if b.image != nil {
		w += buttonIcon
		if b.word != "" {
			w += 1.5 * step
		}
	}
	return fyne.NewSize(w, buttonHeight)
}

// CreateRenderer is Fyne's.
func (b *button) CreateRenderer() fyne.WidgetRenderer {
	r := &buttonRenderer{b}
	r.Refresh()
	return r
}

// buttonRenderer holds nothing of its own.
type buttonRenderer struct{ b *button }

func (r *buttonRenderer) Destroy()           {}
func (r *buttonRenderer) MinSize() fyne.Size { return r.b.MinSize() }

func (r *buttonRenderer) Objects() []fyne.CanvasObject {
	out := []fyne.CanvasObject{r.b.ground}
	if r.b.image != nil {
		out = append(out, r.b.image)
	}
	return append(out, r.b.label)
}

func (r *buttonRenderer) Layout(s fyne.Size) {
	b := r.b
	b.ground.Resize(s)
	x := float32(buttonPad)
	if b.image != nil {
		b.image.Move(fyne.NewPos(x, (s.Height-buttonIcon)/2))
		b.image.Resize(fyne.NewSquareSize(buttonIcon))
		x += buttonIcon + 1.5*step
	}
	h := heightOf(b.label, 4000)
	b.label.Move(fyne.NewPos(x, (s.Height-h)/2))
	b.label.Resize(fyne.NewSize(max(s.Width-x-step, 1), h))
}

func (r *buttonRenderer) Refresh() {
	b := r.b
	words, fill, line := theme.Text, theme.Card, theme.Edge
	switch {
	case b.off && b.strong:
		words, fill, line = theme.Dim, theme.Side, theme.Edge
	case b.off:
		words, fill = theme.Dim, theme.Ground
	case b.strong:
		words, fill, line = theme.OnAccent, theme.Accent, theme.Accent
	case b.hovered:
		fill = theme.AccentTint
	}
	width := float32(1)
	if b.focused {
		width, line = 2, theme.Accent
		if b.strong && !b.off {
			line = theme.Text
		}
	}
	b.ground.CornerRadius = theme.Radius - 2
	b.ground.FillColor, b.ground.StrokeColor, b.ground.StrokeWidth = theme.Color(fill), theme.Color(line), width
	b.ground.Refresh()
	b.label.SetText(b.word, text.Run{Color: words})
	if b.image != nil {
		b.image.Resource = theme.IconIn(b.icon, words)
		b.image.Refresh()
	}
	r.Layout(b.Size())
}
