package form

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
)

// optionGroup shows a few options below each other. It is one tab stop: arrows go through the options, Space chooses,
// Delete takes an answer back.
type optionGroup struct {
	widget.BaseWidget
	*options
	rows []*optionRow
}

var (
	_ fyne.Focusable    = (*optionGroup)(nil)
	_ fyne.Shortcutable = (*optionGroup)(nil)
	_ fyne.Tappable     = (*optionGroup)(nil)
)

func newOptionGroup(o *options) *optionGroup {
	g := &optionGroup{options: o}
	o.mark = func() {
		for _, r := range g.rows {
			r.mark()
		}
	}
	for i := range o.values {
		g.rows = append(g.rows, newOptionRow(o, i))
	}
	g.ExtendBaseWidget(g)
	return g
}

func (g *optionGroup) target() fyne.Focusable { return g }

// Tapped chooses what is under the pointer.
func (g *optionGroup) Tapped(event *fyne.PointEvent) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(g); c != nil {
		c.Focus(g)
	}
	for i, r := range g.rows {
		at, size := r.Position(), r.Size()
		if event.Position.X >= at.X && event.Position.X < at.X+size.Width && event.Position.Y >= at.Y && event.Position.Y < at.Y+size.Height {
			g.toggle(i)
			return
		}
	}
}

// TypedShortcut hands on every shortcut: Fyne would look for it in the canvas alone, and a form's surroundings have some.
func (g *optionGroup) TypedShortcut(shortcut fyne.Shortcut) {
	if g.onShortcut(shortcut) {
		return
	}
	handShortcut(g, shortcut)
}

// FocusGained shows where the keys go.
func (g *optionGroup) FocusGained() {
	g.focused = true
	g.mark()
	g.onFocus(true)
}

// FocusLost takes the sign away.
func (g *optionGroup) FocusLost() {
	g.focused = false
	g.mark()
	g.onFocus(false)
}

// TypedRune goes to the next choice that begins with the character.
func (g *optionGroup) TypedRune(r rune) {
	if r == ' ' {
		return
	}
	for step := 1; step <= len(g.rows); step++ {
		i := (g.cursor + step) % len(g.rows)
		if strings.HasPrefix(strings.ToLower(g.title(i)), strings.ToLower(string(r))) {
			g.cursor = i
			g.mark()
			return
		}
	}
}

// TypedKey goes through the choices and chooses.
func (g *optionGroup) TypedKey(event *fyne.KeyEvent) {
	if len(g.rows) == 0 || event.Name == fyne.KeyEscape {
		if event.Name == fyne.KeyEscape && !g.onKey(event) {
			handKey(g, event)
		}
		return
	}
	switch event.Name {
	case fyne.KeyUp, fyne.KeyLeft:
		g.cursor = max(0, g.cursor-1)
	case fyne.KeyDown, fyne.KeyRight:
		g.cursor = min(len(g.rows)-1, g.cursor+1)
	case fyne.KeyHome:
		g.cursor = 0
	case fyne.KeyEnd:
		g.cursor = len(g.rows) - 1
	case fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter:
		g.toggle(g.cursor)
		return
	case fyne.KeyDelete, fyne.KeyBackspace:
		if !g.field.Required || g.many {
			clear(g.chosen)
			g.mark()
			g.onChosen()
		}
		return
	default:
		return
	}
	g.mark()
}

// HeightFor is the height needed at a width.
func (g *optionGroup) HeightFor(width float32) float32 { return g.lay(width, false) }

func (g *optionGroup) lay(width float32, put bool) float32 {
	if g.field.Kind == Boolean {
		h := float32(0)
		half := min(width/2, 96)
		for i, r := range g.rows {
			h = max(h, r.HeightFor(half))
			if put {
				r.Move(fyne.NewPos(half*float32(i), 0))
				r.Resize(fyne.NewSize(half, r.HeightFor(half)))
			}
		}
		return h
	}
	y := float32(0)
	for _, r := range g.rows {
		h := r.HeightFor(width)
		if put {
			r.Move(fyne.NewPos(0, y))
			r.Resize(fyne.NewSize(width, h))
		}
		y += h
	}
	return y
}

// MinSize is the height at the present width.
func (g *optionGroup) MinSize() fyne.Size {
	width := g.Size().Width
	if width < narrowest {
		return fyne.NewSize(narrowest, 0)
	}
	return fyne.NewSize(narrowest, g.lay(width, false))
}

// CreateRenderer is Fyne's.
func (g *optionGroup) CreateRenderer() fyne.WidgetRenderer {
	var objects []fyne.CanvasObject
	for _, r := range g.rows {
		objects = append(objects, r)
	}
	return &optionGroupRenderer{group: g, objects: objects}
}

type optionGroupRenderer struct {
	group   *optionGroup
	objects []fyne.CanvasObject
}

func (r *optionGroupRenderer) Destroy()                     {}
func (r *optionGroupRenderer) MinSize() fyne.Size           { return r.group.MinSize() }
func (r *optionGroupRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *optionGroupRenderer) Layout(size fyne.Size)        { r.group.lay(size.Width, true) }

func (r *optionGroupRenderer) Refresh() {
	for _, o := range r.objects {
		o.Refresh()
	}
	r.group.lay(r.group.Size().Width, true)
}
