package code

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"steward/ui/text"
	"steward/ui/theme"
)

var (
	_ fyne.Tappable      = (*button)(nil)
	_ fyne.Focusable     = (*button)(nil)
	_ desktop.Hoverable  = (*button)(nil)
	_ desktop.Cursorable = (*button)(nil)
)

// button is a quiet button: an icon and a caption, with a ground only under the pointer or with the focus.
type button struct {
	widget.BaseWidget
	icon    *canvas.Image
	label   *text.Label
	caption string
	ground  *canvas.Rectangle
	tapped  func()
	left    func() // the pointer or the focus went away
	hovered bool
	focused bool
}

const (
	buttonIcon = 14
	buttonPad  = 1.5 * theme.Step
)

// NewButton makes a quiet button: an icon ("" for none) and a caption, both already translated or the person's own.
func NewButton(icon, caption string, tapped func()) fyne.CanvasObject {
	return newButton(icon, caption, tapped)
}

func newButton(icon, caption string, tapped func()) *button {
	b := &button{tapped: tapped, caption: caption, ground: canvas.NewRectangle(color.Transparent)}
	b.ground.CornerRadius = theme.Step
	if icon != "" {
		b.icon = canvas.NewImageFromResource(theme.IconIn(icon, theme.Dim))
		b.icon.FillMode = canvas.ImageFillContain
	}
	b.label = text.NewLabel(caption, text.Run{Color: theme.Dim}, text.Whole)
	b.label.SetTextSize(theme.CaptionSize)
	b.ExtendBaseWidget(b)
	return b
}

func (b *button) show(icon, caption string) {
	if b.icon != nil {
		b.icon.Resource = theme.IconIn(icon, theme.Dim)
		b.icon.Refresh()
	}
	b.caption = caption
	b.label.SetText(caption, text.Run{Color: theme.Dim})
	b.Refresh()
}

func (b *button) Tapped(*fyne.PointEvent)        { b.tapped() }
func (b *button) MouseIn(*desktop.MouseEvent)    { b.hovered = true; b.paint() }
func (b *button) MouseMoved(*desktop.MouseEvent) {}
func (b *button) MouseOut() {
	b.hovered = false
	b.paint()
	if b.left != nil {
		b.left()
	}
}
func (b *button) Cursor() desktop.Cursor { return desktop.PointerCursor }
func (b *button) FocusGained()           { b.focused = true; b.paint() }
func (b *button) FocusLost() {
	b.focused = false
	b.paint()
	if b.left != nil {
		b.left()
	}
}
func (b *button) TypedRune(r rune) {
	if r == ' ' {
		b.tapped()
	}
}

func (b *button) TypedKey(ev *fyne.KeyEvent) {
	if ev.Name == fyne.KeyReturn || ev.Name == fyne.KeyEnter {
		b.tapped()
	}
}

func (b *button) paint() {
	b.ground.FillColor = color.Transparent
	if b.hovered || b.focused {
		b.ground.FillColor = theme.Color(theme.Hover)
	}
	b.ground.StrokeWidth, b.ground.StrokeColor = 0, color.Transparent
	if b.focused {
		b.ground.StrokeWidth, b.ground.StrokeColor = 1, theme.Color(theme.Accent)
	}
	b.ground.Refresh()
}

func (b *button) CreateRenderer() fyne.WidgetRenderer {
	r := &buttonRenderer{b: b, objects: []fyne.CanvasObject{b.ground}}
	if b.icon != nil {
		r.objects = append(r.objects, b.icon)
	}
	r.objects = append(r.objects, b.label)
	return r
}

type buttonRenderer struct {
	b       *button
	objects []fyne.CanvasObject
}

func (r *buttonRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *buttonRenderer) Destroy()                     {}

func (r *buttonRenderer) Refresh() {
	r.Layout(r.b.Size())
	r.b.paint()
	r.b.label.Refresh()
	if r.b.icon != nil {
		r.b.icon.Refresh()
	}
}

func (r *buttonRenderer) MinSize() fyne.Size {
	s := r.b.label.MinSize()
	w := s.Width + 2*buttonPad
	if r.b.icon != nil {
		w += buttonIcon + theme.Step
	}
	return fyne.NewSize(w, max(s.Height, buttonIcon)+theme.Step)
}

func (r *buttonRenderer) Layout(s fyne.Size) {
	r.b.ground.Resize(s)
	x := float32(buttonPad)
	if r.b.icon != nil {
		r.b.icon.Move(fyne.NewPos(x, (s.Height-buttonIcon)/2))
		r.b.icon.Resize(fyne.NewSquareSize(buttonIcon))
		x += buttonIcon + theme.Step
	}
	l := r.b.label.MinSize()
	r.b.label.Move(fyne.NewPos(x, (s.Height-l.Height)/2))
	r.b.label.Resize(l)
}
