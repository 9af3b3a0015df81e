package settings

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"steward/ui/form"
	"steward/ui/text"
	"steward/ui/theme"
)

const (
	wide      float32 = 660 // of what is read
	inCard            = wide - 8*theme.Step
	rowHeight float32 = 30
	asking    float32 = 460 // of a dialog
	navWidth  float32 = 190
	keysWidth float32 = 190
)

// views are the words of text views.
func views() text.Words {
	return text.Words{
		Copy:      func() string { return lang.X("common.copy", "Copy") },
		CopyAll:   func() string { return lang.X("common.copy_all", "Copy all") },
		SelectAll: func() string { return lang.X("common.select_all", "Select all") },
		Copied:    func() string { return lang.X("common.copied", "Copied") },
	}
}

// wrapped is text that may be long, at a width of its own.
func wrapped(s string, look text.Run, width float32) fyne.CanvasObject {
	return &fyne.Container{Layout: fixedWidth{width}, Objects: []fyne.CanvasObject{text.NewLabel(s, look, text.Wrap)}}
}

// fixedWidth gives its one object, which knows its height for a width, that width.
type fixedWidth struct{ width float32 }

// MinSize is Fyne's.
func (f fixedWidth) MinSize(objects []fyne.CanvasObject) fyne.Size {
	if m, ok := objects[0].(interface{ HeightFor(width float32) float32 }); ok {
		return fyne.NewSize(f.width, m.HeightFor(f.width))
	}
	return fyne.NewSize(f.width, objects[0].MinSize().Height)
}

// Layout is Fyne's.
func (f fixedWidth) Layout(objects []fyne.CanvasObject, size fyne.Size) { objects[0].Resize(size) }

func heading(s string) fyne.CanvasObject {
	l := text.NewLabel(s, text.Run{Bold: true}, text.Whole)
	l.SetTextSize(theme.TextSize + 2)
	return l
}

func caption(s string) fyne.CanvasObject {
	l := text.NewLabel(s, text.Run{Color: theme.Dim}, text.Whole)
	l.SetTextSize(theme.CaptionSize)
	return container.New(layout.NewCustomPaddedLayout(2*theme.Step, 0, 0, 0), l)
}

func note(s string) fyne.CanvasObject { return wrapped(s, text.Run{Color: theme.Dim}, wide) }

func below(objects ...fyne.CanvasObject) *fyne.Container {
	return container.New(layout.NewCustomPaddedVBoxLayout(2*theme.Step), objects...)
}

func beside(objects ...fyne.CanvasObject) *fyne.Container {
	return container.New(layout.NewCustomPaddedHBoxLayout(2*theme.Step), objects...)
}

// card is a ground of its own that follows the theme.
type card struct {
	widget.BaseWidget
	ground *canvas.Rectangle
	inside fyne.CanvasObject
}

func newCard(objects ...fyne.CanvasObject) *card {
	pad := 4 * theme.Step
	c := &card{ground: canvas.NewRectangle(nil), inside: container.New(layout.NewCustomPaddedLayout(3*theme.Step, 3*theme.Step, pad, pad), below(objects...))}
	c.ground.CornerRadius, c.ground.StrokeWidth = theme.Radius, 1
	c.paint()
	c.ExtendBaseWidget(c)
	return c
}

func (c *card) paint() {
	c.ground.FillColor, c.ground.StrokeColor = theme.Color(theme.Card), theme.Color(theme.Line)
}

// Refresh is Fyne's.
func (c *card) Refresh() {
	c.paint()
	c.BaseWidget.Refresh()
}

// CreateRenderer is Fyne's.
func (c *card) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.NewStack(c.ground, c.inside))
}

// labelled puts a control after its name.
func labelled(name string, control fyne.CanvasObject) fyne.CanvasObject {
	words := &fyne.Container{Layout: fixedWidth{150}, Objects: []fyne.CanvasObject{text.NewLabel(name, text.Run{}, text.Wrap)}}
	return container.NewBorder(nil, nil, middle(words), nil, control)
}

// middle keeps an object at its own height, in the middle.
func middle(o fyne.CanvasObject) fyne.CanvasObject {
	return container.New(layout.NewCustomPaddedVBoxLayout(0), layout.NewSpacer(), o, layout.NewSpacer())
}

// line is a thin line that follows the theme.
type line struct {
	widget.BaseWidget
	shape *canvas.Rectangle
}

func newLine() *line {
	l := &line{shape: canvas.NewRectangle(theme.Color(theme.Line))}
	l.shape.SetMinSize(fyne.NewSize(1, 1))
	l.ExtendBaseWidget(l)
	return l
}

// Refresh is Fyne's.
func (l *line) Refresh() {
	l.shape.FillColor = theme.Color(theme.Line)
	canvas.Refresh(l.shape)
}

// CreateRenderer is Fyne's.
func (l *line) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(l.shape) }

// room keeps a dialog at least as wide as width.
func room(width float32) fyne.CanvasObject {
	r := canvas.NewRectangle(theme.Color(theme.Clear))
	r.SetMinSize(fyne.NewSize(width, 0))
	return r
}

// navRow is one section in the list at the left.
type navRow struct {
	widget.BaseWidget
	icon     string
	label    *text.Label
	words    string
	ground   *canvas.Rectangle
	image    *widget.Icon
	tapped   func()
	selected bool
	hovered  bool
	focused  bool
	move     func(by int)
}

func newNavRow(icon, words string, tapped func()) *navRow {
	n := &navRow{icon: icon, words: words, tapped: tapped, label: text.NewLabel("", text.Run{}, text.Cut), ground: canvas.NewRectangle(nil), image: widget.NewIcon(nil)}
	n.ground.CornerRadius = theme.Radius
	n.ExtendBaseWidget(n)
	n.paint()
	return n
}

// tall is room of a height.
func tall(height float32) fyne.CanvasObject {
	r := canvas.NewRectangle(theme.Color(theme.Clear))
	r.SetMinSize(fyne.NewSize(0, height))
	return r
}

// labels draws the texts of a form.
func labels(s string, role form.Role) fyne.CanvasObject {
	look := text.Run{}
	switch role {
	case form.Help:
		look.Color = theme.Dim
	case form.Complaint:
		look.Color, s = theme.Refusal, "✗ "+s
	case form.Warning:
		look.Color, s = theme.Waiting, "! "+s
	}
	return text.NewLabel(s, look, text.Wrap)
}
