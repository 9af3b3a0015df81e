package audit

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"steward/ui/text"
	"steward/ui/theme"
)

const (
	chipHeight = 6.5 * theme.Step
	chipPad    = 3 * theme.Step
	tabHeight  = 6 * theme.Step
)

// chip is a small round button with a word, which says how something stands and can be changed by a tap.
type chip struct {
	widget.BaseWidget
	label    *text.Label
	ground   *canvas.Rectangle
	words    string
	color    fyne.ThemeColorName
	tapped   func()
	hovered  bool
	focused  bool
	square   bool // one of several side by side
	selected bool
	move     func(by int) // the arrow keys, of one of several
}

func newChip(words string, tapped func()) *chip {
	c := &chip{label: text.NewLabel("", text.Run{}, text.Whole), ground: canvas.NewRectangle(nil), tapped: tapped}
	c.label.SetTextSize(theme.CaptionSize)
	c.ExtendBaseWidget(c)
	c.set(words, theme.Dim)
	return c
}

// set shows other words. They may hold foreign text.
func (c *chip) set(words string, color fyne.ThemeColorName) {
	c.words, c.color = words, color
	c.Refresh()
}

func (c *chip) paint() {
	color, fill, stroke := c.color, theme.Card, theme.Edge
	if c.square {
		fill, stroke = theme.Clear, theme.Clear
	}
	if c.selected {
		color, fill = theme.Text, theme.AccentTint
	}
	if c.hovered && !c.selected {
		fill = theme.Hover
	}
	if c.focused {
		stroke = theme.Accent
	}
	c.label.SetText(c.words, text.Run{Color: color})
	c.ground.FillColor, c.ground.StrokeColor, c.ground.StrokeWidth = theme.Color(fill), theme.Color(stroke), 1
	c.ground.CornerRadius = canvas.RadiusMaximum
	if c.square {
		c.ground.CornerRadius = theme.Radius - 2
	}
}

// Tapped is Fyne's.
func (c *chip) Tapped(*fyne.PointEvent) { c.tapped() }

// MouseIn, MouseMoved, MouseOut and Cursor are Fyne's.
func (c *chip) MouseIn(*desktop.MouseEvent)    { c.hovered = true; c.Refresh() }
func (c *chip) MouseMoved(*desktop.MouseEvent) {}
func (c *chip) MouseOut()                      { c.hovered = false; c.Refresh() }
func (c *chip) Cursor() desktop.Cursor         { return desktop.PointerCursor }

// FocusGained, FocusLost, TypedRune and TypedKey are Fyne's.
func (c *chip) FocusGained()   { c.focused = true; c.Refresh() }
func (c *chip) FocusLost()     { c.focused = false; c.Refresh() }
func (c *chip) TypedRune(rune) {}
func (c *chip) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace, fyne.KeyDown:
		c.tapped()
	case fyne.KeyLeft:
		if c.move != nil {
			c.move(-1)
		}
	case fyne.KeyRight:
		if c.move != nil {
			c.move(1)
		}
	}
}

// below is where a menu of this chip begins, in the window.
func below(o fyne.CanvasObject) fyne.Position {
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(o)
	return at.AddXY(0, o.Size().Height+theme.Step)
}

// CreateRenderer is Fyne's.
func (c *chip) CreateRenderer() fyne.WidgetRenderer { return &chipRenderer{c} }

type chipRenderer struct{ c *chip }

func (r *chipRenderer) Destroy() {}
func (r *chipRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.c.ground, r.c.label}
}

func (r *chipRenderer) MinSize() fyne.Size {
	height := float32(chipHeight)
	if r.c.square {
		height = tabHeight
	}
	return fyne.NewSize(r.c.label.MinSize().Width+2*chipPad, height)
}

func (r *chipRenderer) Layout(size fyne.Size) {
	r.c.ground.Resize(size)
	least := r.c.label.MinSize()
	r.c.label.Resize(least)
	r.c.label.Move(fyne.NewPos((size.Width-least.Width)/2, (size.Height-least.Height)/2))
}

func (r *chipRenderer) Refresh() {
	r.c.paint()
	r.Layout(r.c.Size())
	canvas.Refresh(r.c)
}

// tabs are chips side by side, one of which is chosen.
type tabs struct {
	chips  []*chip
	chosen int
	on     func(i int)
}

func newTabs(words []string, on func(i int)) *tabs {
	t := &tabs{on: on}
	for i, w := range words {
		c := newChip(w, func() { t.choose(i) })
		c.square = true
		c.move = func(by int) {
			next := (i + by + len(t.chips)) % len(t.chips)
			t.choose(next)
			if over := fyne.CurrentApp().Driver().CanvasForObject(t.chips[next]); over != nil {
				over.Focus(t.chips[next])
			}
		}
		t.chips = append(t.chips, c)
	}
	t.mark()
	return t
}

func (t *tabs) choose(i int) {
	t.chosen = i
	t.mark()
	t.on(i)
}

func (t *tabs) mark() {
	for i, c := range t.chips {
		c.selected = i == t.chosen
		c.Refresh()
	}
}
