package settings

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"

	"steward/ui/text"
	"steward/ui/theme"
)

const navHeight = 8 * theme.Step

func (n *navRow) paint() {
	fill := theme.Clear
	switch {
	case n.selected:
		fill = theme.AccentTint
	case n.hovered:
		fill = theme.Hover
	}
	n.ground.FillColor = theme.Color(fill)
	n.ground.StrokeWidth, n.ground.StrokeColor = 0, theme.Color(theme.Accent)
	if n.focused {
		n.ground.StrokeWidth = 1
	}
	n.label.SetText(n.words, text.Run{Bold: n.selected})
	n.image.SetResource(theme.IconIn(n.icon, theme.Dim))
}

func (n *navRow) change(flag *bool, to bool) {
	*flag = to
	n.Refresh()
}

// Tapped is Fyne's; so are the methods below.
func (n *navRow) Tapped(*fyne.PointEvent)        { n.tapped() }
func (n *navRow) MouseIn(*desktop.MouseEvent)    { n.change(&n.hovered, true) }
func (n *navRow) MouseMoved(*desktop.MouseEvent) {}
func (n *navRow) MouseOut()                      { n.change(&n.hovered, false) }
func (n *navRow) Cursor() desktop.Cursor         { return desktop.PointerCursor }
func (n *navRow) FocusGained()                   { n.change(&n.focused, true) }
func (n *navRow) FocusLost()                     { n.change(&n.focused, false) }
func (n *navRow) TypedRune(rune)                 {}

// TypedKey opens the section with Enter, and moves with the arrows.
func (n *navRow) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace:
		n.tapped()
	case fyne.KeyUp:
		n.move(-1)
	case fyne.KeyDown:
		n.move(1)
	}
}

// CreateRenderer is Fyne's.
func (n *navRow) CreateRenderer() fyne.WidgetRenderer { return &navRenderer{n} }

type navRenderer struct{ n *navRow }

func (r *navRenderer) Destroy()           {}
func (r *navRenderer) MinSize() fyne.Size { return fyne.NewSize(120, navHeight) }
func (r *navRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.n.ground, r.n.image, r.n.label}
}

func (r *navRenderer) Layout(size fyne.Size) {
	n := r.n
	n.ground.Resize(size)
	n.image.Resize(fyne.NewSquareSize(theme.IconSize))
	n.image.Move(fyne.NewPos(2.5*theme.Step, (size.Height-theme.IconSize)/2))
	least := n.label.MinSize()
	x := 2.5*theme.Step + theme.IconSize + 2*theme.Step
	n.label.Resize(fyne.NewSize(max(0, size.Width-x-theme.Step), least.Height))
	n.label.Move(fyne.NewPos(x, (size.Height-least.Height)/2))
}

func (r *navRenderer) Refresh() {
	r.n.paint()
	r.Layout(r.n.Size())
	canvas.Refresh(r.n)
}
