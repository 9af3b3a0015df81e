package chat

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"steward/ui/text"
	"steward/ui/theme"
)

// look is how a chip draws the eye.
type look uint8

const (
	outlined look = iota // with a border: the rule
	quiet                // an icon or words alone
	strong               // filled with the accent
	chosen               // on the accent's tint
)

var (
	_ fyne.Tappable      = (*chip)(nil)
	_ fyne.Focusable     = (*chip)(nil)
	_ desktop.Hoverable  = (*chip)(nil)
	_ desktop.Cursorable = (*chip)(nil)
)

// chip is every small button of the chat: an icon, words, perhaps a mark that it opens something, perhaps a cross that
// takes it away. Its words may be foreign; they are drawn plain.
type chip struct {
	widget.BaseWidget
	look    look
	icon    string
	words   string
	colour  fyne.ThemeColorName // of icon and words; "": by the look
	pill    bool
	opens   bool                      // shows a mark that something opens
	most    float32                   // its widest; 0: as wide as its words
	small   bool                      // caption size
	tapped  func()                    // nil: it cannot be used
	removed func()                    // not nil: a cross is shown
	onShort func(fyne.Shortcut) bool  // keys it does not know
	onKey   func(*fyne.KeyEvent) bool // first look at keys; true: done with

	ground  *canvas.Rectangle
	picture *widget.Icon
	label   *text.Label
	mark    *widget.Icon
	cross   *widget.Icon
	hovered bool
	focused bool
}

func newChip(l look, icon, words string, tapped func()) *chip {
	c := &chip{look: l, icon: icon, words: words, tapped: tapped}
	c.ground = canvas.NewRectangle(color.Transparent)
	c.picture, c.mark, c.cross = widget.NewIcon(nil), widget.NewIcon(nil), widget.NewIcon(nil)
	c.label = text.NewLabel("", text.Run{}, text.Cut)
	c.ExtendBaseWidget(c)
	return c
}

// newPill makes a chip as they stand in the head and in the composer.
func newPill(icon, words string, opens bool, tapped func()) *chip {
	c := newChip(outlined, icon, words, tapped)
	c.pill, c.small, c.opens, c.colour = true, true, opens, theme.Dim
	return c
}

// say changes the words.
func (c *chip) say(words string) {
	if c.words != words {
		c.words = words
		c.Refresh()
	}
}

func (c *chip) own() fyne.ThemeColorName {
	switch {
	case c.look == strong:
		return theme.OnAccent
	case c.colour != "":
		return c.colour
	case c.look == quiet:
		return theme.Dim
	}
	return theme.Text
}

func (c *chip) paint() {
	fill, stroke := color.Color(color.Transparent), color.Color(color.Transparent)
	switch c.look {
	case outlined:
		fill, stroke = theme.Color(theme.Card), theme.Color(theme.Edge)
	case strong:
		fill = theme.Color(theme.Accent)
	case chosen:
		fill = theme.Color(theme.AccentTint)
	}
	if c.hovered && c.tapped != nil {
		switch c.look {
		case outlined:
			stroke = theme.Color(theme.Dim)
		case quiet:
			fill = theme.Color(theme.Hover)
		case strong:
			stroke = theme.Color(theme.Text)
		}
	}
	c.ground.StrokeWidth = 1
	if c.focused {
		stroke, c.ground.StrokeWidth = theme.Color(theme.Accent), 1.5
		if c.look == strong {
			stroke = theme.Color(theme.Text)
		}
	}
	c.ground.FillColor, c.ground.StrokeColor = fill, stroke
	c.ground.CornerRadius = theme.Radius - 2
	if c.pill {
		c.ground.CornerRadius = canvas.RadiusMaximum
	}
	if c.icon != "" {
		c.picture.SetResource(theme.IconIn(c.icon, c.own()))
	}
	c.mark.SetResource(theme.IconIn("chevron-down", c.own()))
	c.cross.SetResource(theme.IconIn("cross", theme.Dim))
	c.label.SetText(c.words, text.Run{Color: c.own()})
	c.label.SetTextSize(c.textSize())
}

func (c *chip) textSize() float32 {
	if c.small || c.look == quiet {
		return theme.CaptionSize
	}
	return theme.TextSize
}

// Tapped is Fyne's.
func (c *chip) Tapped(e *fyne.PointEvent) {
	if c.removed != nil && e != nil && e.Position.X > c.Size().Width-24 {
		c.removed()
		return
	}
	if c.tapped != nil {
		c.tapped()
	}
}

// Cursor is Fyne's.
func (c *chip) Cursor() desktop.Cursor {
	if c.tapped == nil && c.removed == nil {
		return desktop.DefaultCursor
	}
	return desktop.PointerCursor
}

func (c *chip) set(change func()) {
	change()
	c.paint()
	c.ground.Refresh()
}

// MouseIn is Fyne's.
func (c *chip) MouseIn(*desktop.MouseEvent) { c.set(func() { c.hovered = true }) }

// MouseMoved is Fyne's.
func (c *chip) MouseMoved(*desktop.MouseEvent) {}

// MouseOut is Fyne's.
func (c *chip) MouseOut() { c.set(func() { c.hovered = false }) }

// FocusGained is Fyne's.
func (c *chip) FocusGained() { c.set(func() { c.focused = true }) }

// FocusLost is Fyne's.
func (c *chip) FocusLost() { c.set(func() { c.focused = false }) }

// TypedRune is Fyne's.
func (c *chip) TypedRune(rune) {}

// TypedKey is Fyne's.
func (c *chip) TypedKey(e *fyne.KeyEvent) {
	if c.onKey != nil && c.onKey(e) {
		return
	}
	switch e.Name {
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace:
		if c.tapped != nil {
			c.tapped()
		}
	case fyne.KeyDelete, fyne.KeyBackspace:
		if c.removed != nil {
			c.removed()
		}
	case fyne.KeyEscape:
		c.TypedShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyEscape})
	}
}

// TypedShortcut hands on what a button does not know.
func (c *chip) TypedShortcut(s fyne.Shortcut) {
	if c.onShort != nil {
		c.onShort(s)
	}
}

// CreateRenderer is Fyne's.
func (c *chip) CreateRenderer() fyne.WidgetRenderer { c.paint(); return &chipRenderer{c} }

type chipRenderer struct{ c *chip }

func (r *chipRenderer) Destroy() {}

func (r *chipRenderer) Objects() []fyne.CanvasObject {
	c := r.c
	out := []fyne.CanvasObject{c.ground}
	if c.icon != "" {
		out = append(out, c.picture)
	}
	if c.words != "" {
		out = append(out, c.label)
	}
	if c.opens {
		out = append(out, c.mark)
	}
	if c.removed != nil {
		out = append(out, c.cross)
	}
	return out
}

func (r *chipRenderer) metrics() (pad, icon, gap float32) {
	pad, icon, gap = 3*theme.Step, theme.IconSize, 1.5*theme.Step
	if r.c.textSize() == theme.CaptionSize {
		pad, icon, gap = 2.5*theme.Step, 14, 1.25*theme.Step
	}
	if r.c.words == "" {
		pad = 1.75 * theme.Step
	}
	return pad, icon, gap
}

func (r *chipRenderer) MinSize() fyne.Size {
	c := r.c
	pad, icon, gap := r.metrics()
	w := 2 * pad
	if c.icon != "" {
		w += icon
	}
	if c.words != "" {
		if c.icon != "" {
			w += gap
		}
		w += textWidth(c.words, c.textSize(), false)
	}
	for _, on := range []bool{c.opens, c.removed != nil} {
		if on {
			w += 12 + gap
		}
	}
	h := float32(35)
	if c.textSize() == theme.CaptionSize {
		h = 24
		if c.look == quiet && c.words == "" {
			h = 28
		}
	}
	if c.most > 0 {
		w = min(w, c.most)
	}
	return fyne.NewSize(w, h)
}

func (r *chipRenderer) Refresh() {
	r.c.paint()
	r.Layout(r.c.Size())
	canvas.Refresh(r.c)
}

func (r *chipRenderer) Layout(s fyne.Size) {
	c := r.c
	pad, icon, gap := r.metrics()
	c.ground.Resize(s)
	x, right := pad, s.Width-pad
	put := func(o fyne.CanvasObject, x float32, z fyne.Size) {
		o.Resize(z)
		o.Move(fyne.NewPos(x, (s.Height-z.Height)/2))
	}
	if c.icon != "" {
		if c.words == "" && !c.opens && c.removed == nil {
			x = (s.Width - icon) / 2
		}
		put(c.picture, x, fyne.NewSquareSize(icon))
		x += icon + gap
	}
	for _, o := range []struct {
		on   bool
		icon fyne.CanvasObject
	}{{c.removed != nil, c.cross}, {c.opens, c.mark}} {
		if o.on {
			right -= 12
			put(o.icon, right, fyne.NewSquareSize(12))
			right -= gap
		}
	}
	if c.words != "" {
		put(c.label, x, fyne.NewSize(max(right-x, 0)+1, c.label.MinSize().Height))
	}
}

// textWidth is how wide words are in one line.
func textWidth(words string, size float32, bold bool) float32 {
	l := text.NewLabel(words, text.Run{Bold: bold}, text.Whole)
	l.SetTextSize(size)
	return l.MinSize().Width
}

// caption makes small dim words.
func caption(words string, colour fyne.ThemeColorName, fit text.Fitting) *text.Label {
	l := text.NewLabel(words, text.Run{Color: colour}, fit)
	l.SetTextSize(theme.CaptionSize)
	return l
}
