package servers

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"steward/ui/text"
	"steward/ui/theme"
)

// segments are words of which one is chosen.
type segments struct {
	*fyne.Container
	made   []*segment
	chosen int
	on     func(i int)
}

func newSegments(on func(i int), words ...string) *segments {
	s := &segments{Container: container.NewHBox(), on: on}
	s.Layout = &rowLayout{}
	s.set(words...)
	return s
}

func (s *segments) set(words ...string) {
	for i, w := range words {
		if i == len(s.made) {
			g := &segment{label: caption("", theme.Dim, text.Whole), ground: newPaint(theme.Clear, "", 1.5*step)}
			g.tapped = func() { s.choose(i) }
			g.step = func(by int) { s.step(i + by) }
			g.ExtendBaseWidget(g)
			s.made = append(s.made, g)
			s.Objects = append(s.Objects, g)
		}
		s.made[i].word = w
	}
	s.paint()
}

// step goes on to another one by an arrow key.
func (s *segments) step(i int) {
	if i < 0 || i >= len(s.made) {
		return
	}
	s.choose(i)
	if c := fyne.CurrentApp().Driver().CanvasForObject(s.made[i]); c != nil {
		c.Focus(s.made[i])
	}
}

func (s *segments) choose(i int) {
	s.show(i)
	s.on(i)
}

// show marks one without telling on.
func (s *segments) show(i int) {
	s.chosen = i
	s.paint()
}

func (s *segments) paint() {
	for i, g := range s.made {
		g.chosen = i == s.chosen
		g.Refresh()
	}
	s.Container.Refresh()
}

type rowLayout struct{ gap float32 }

// MinSize is Fyne's.
func (r *rowLayout) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var s fyne.Size
	for _, o := range objects {
		m := o.MinSize()
		s.Width += m.Width + r.gap
		s.Height = max(s.Height, m.Height)
	}
	return s
}

// Layout is Fyne's.
func (r *rowLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	var x float32
	for _, o := range objects {
		m := o.MinSize()
		o.Move(fyne.NewPos(x, (size.Height-m.Height)/2))
		o.Resize(m)
		x += m.Width + r.gap
	}
}

// segment is one of them; Tab and the arrows go from one to the next, Enter and the space bar choose.
type segment struct {
	widget.BaseWidget
	word            string
	label           *text.Label
	ground          *paint
	tapped          func()
	step            func(by int)
	chosen, focused bool
}

var (
	_ fyne.Focusable     = (*segment)(nil)
	_ desktop.Cursorable = (*segment)(nil)
)

// Tapped is Fyne's.
func (g *segment) Tapped(*fyne.PointEvent) { g.tapped() }

// Cursor is Fyne's.
func (g *segment) Cursor() desktop.Cursor { return desktop.PointerCursor }

// FocusGained is Fyne's.
func (g *segment) FocusGained() { g.focused = true; g.Refresh() }

// FocusLost is Fyne's.
func (g *segment) FocusLost() { g.focused = false; g.Refresh() }

// TypedRune is Fyne's.
func (g *segment) TypedRune(r rune) {
	if r == ' ' {
		g.tapped()
	}
}

// TypedKey is Fyne's.
func (g *segment) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyReturn, fyne.KeyEnter:
		g.tapped()
	case fyne.KeyLeft:
		g.step(-1)
	case fyne.KeyRight:
		g.step(1)
	}
}

// Refresh is Fyne's.
func (g *segment) Refresh() {
	look := text.Run{Color: theme.Dim}
	g.ground.fill, g.ground.line = theme.Clear, ""
	if g.chosen {
		look, g.ground.fill = text.Run{Color: theme.Text}, theme.AccentTint
	}
	if g.focused {
		g.ground.line = theme.Accent
	}
	g.label.SetText(g.word, look)
	g.ground.Refresh()
	g.BaseWidget.Refresh()
}

// CreateRenderer is Fyne's.
func (g *segment) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(padded(2.5*step, 1.5*step, g.ground, g.label))
}
