package waiting

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"steward/ui/text"
	"steward/ui/theme"
)

// look is how a button draws the eye.
type look uint8

const (
	plain    look = iota
	strong        // filled: lets something happen
	refusing      // outlined in the colour of refusal
	segment       // one of several views, see chosen
	quiet         // no outline
)

const (
	buttonHeight  = 35
	segmentHeight = 24
)

// button is an answer or a view of a card. Unlike Fyne's it leaves Enter alone where Enter must not answer, and hands
// Escape and shortcuts to its card.
type button struct {
	widget.BaseWidget
	card          *Card
	look          look
	caption, hint string
	enter         bool // Enter presses it; Space always does
	off           bool
	chosen        bool
	do            func()

	hovered, focused bool
	ground           *canvas.Rectangle
	label, key       *text.Label
}

func newButton(c *Card, l look, caption, hint string, do func()) *button {
	b := &button{card: c, look: l, caption: caption, hint: hint, enter: l != strong, do: do}
	b.ground = canvas.NewRectangle(color.Transparent)
	b.label = text.NewLabel("", text.Run{}, text.Whole)
	b.key = text.NewLabel("", text.Run{}, text.Whole)
	b.key.SetTextSize(theme.CaptionSize)
	if b.small() {
		b.label.SetTextSize(theme.CaptionSize)
	}
	b.ExtendBaseWidget(b)
	b.paint()
	return b
}

func (b *button) small() bool { return b.look == segment || b.look == quiet }

// set switches the button off or on, and marks it as chosen.
func (b *button) set(off, chosen bool) {
	if b.off == off && b.chosen == chosen {
		return
	}
	b.off, b.chosen = off, chosen
	b.Refresh()
}

func (b *button) say(caption string) {
	if b.caption != caption {
		b.caption = caption
		b.Refresh()
	}
}

func (b *button) paint() {
	fill, stroke, words := color.Color(color.Transparent), color.Color(color.Transparent), theme.Text
	b.ground.CornerRadius = theme.Radius - 2
	switch b.look {
	case plain:
		stroke = theme.Color(theme.Edge)
	case strong:
		fill, words = theme.Color(theme.Accent), theme.OnAccent
	case refusing:
		stroke, words = theme.Color(theme.Refusal), theme.Refusal
	case segment:
		stroke = theme.Color(theme.Edge)
		words = theme.Dim
		if b.chosen {
			fill, words = theme.Color(theme.AccentTint), theme.Text
		}
	case quiet:
		words = theme.Accent
	}
	hint := theme.Dim
	if b.look == strong {
		hint = theme.OnAccent
	}
	if b.off {
		words, hint = theme.Dim, theme.Dim
		stroke = theme.Color(theme.Edge)
		if b.look == strong {
			fill = theme.Color(theme.Side)
		}
	}
	if b.hovered && !b.off && b.look != strong {
		fill = theme.Color(theme.Hover)
	}
	b.ground.StrokeWidth = 1
	if b.focused {
		b.ground.StrokeWidth = 2
		stroke = theme.Color(theme.Accent)
		if b.look == strong && !b.off {
			stroke = theme.Color(theme.Text)
		}
	}
	b.ground.FillColor, b.ground.StrokeColor = fill, stroke
	b.label.SetText(b.caption, text.Run{Color: words, Bold: b.look == segment && b.chosen})
	b.key.SetText(b.hint, text.Run{Color: hint})
}

func (b *button) press() {
	if !b.off {
		b.do()
	}
}

// Tapped is Fyne's.
func (b *button) Tapped(*fyne.PointEvent) { b.press() }

// Cursor is Fyne's.
func (b *button) Cursor() desktop.Cursor {
	if b.off {
		return desktop.DefaultCursor
	}
	return desktop.PointerCursor
}

// MouseIn is Fyne's.
func (b *button) MouseIn(*desktop.MouseEvent) { b.hovered = true; b.Refresh() }

// MouseMoved is Fyne's.
func (b *button) MouseMoved(*desktop.MouseEvent) {}

// MouseOut is Fyne's.
func (b *button) MouseOut() { b.hovered = false; b.Refresh() }

// FocusGained is Fyne's.
func (b *button) FocusGained() { b.focused = true; b.Refresh() }

// FocusLost is Fyne's.
func (b *button) FocusLost() { b.focused = false; b.Refresh() }

// TypedRune is Fyne's.
func (b *button) TypedRune(rune) {}

// TypedKey is Fyne's.
func (b *button) TypedKey(ev *fyne.KeyEvent) {
	switch ev.Name {
	case fyne.KeySpace:
		b.press()
	case fyne.KeyReturn, fyne.KeyEnter:
		if b.enter {
			b.press()
		}
	default:
		b.card.key(ev)
	}
}

// TypedShortcut is Fyne's.
func (b *button) TypedShortcut(s fyne.Shortcut) { b.card.shortcut(s) }

// CreateRenderer is Fyne's.
func (b *button) CreateRenderer() fyne.WidgetRenderer { return &buttonRenderer{b} }

type buttonRenderer struct{ b *button }

func (r *buttonRenderer) Destroy() {}

func (r *buttonRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.b.ground, r.b.label, r.b.key}
}

func (r *buttonRenderer) padding() float32 {
	switch r.b.look {
	case segment:
		return 2.5 * theme.Step
	case quiet:
		return 0
	}
	return 3 * theme.Step
}

func (r *buttonRenderer) MinSize() fyne.Size {
	width := r.b.label.MinSize().Width + 2*r.padding()
	if r.b.hint != "" {
		width += r.b.key.MinSize().Width + 2*theme.Step
	}
	if r.b.small() {
		return fyne.NewSize(width, segmentHeight)
	}
	return fyne.NewSize(width, buttonHeight)
}

func (r *buttonRenderer) Refresh() {
	r.b.paint()
	r.Layout(r.b.Size())
	canvas.Refresh(r.b)
}

func (r *buttonRenderer) Layout(size fyne.Size) {
	r.b.ground.Resize(size)
	x := r.padding()
	for _, l := range []*text.Label{r.b.label, r.b.key} {
		s := l.MinSize()
		l.Resize(s)
		l.Move(fyne.NewPos(x, (size.Height-s.Height)/2))
		x += s.Width + 2*theme.Step
	}
}
