package waiting

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"steward/ui/theme"
)

// HeightFor is the height the card needs at a width.
func (c *Card) HeightFor(width float32) float32 {
	inner := width - 2*inset - edgeWidth
	left := theme.IconSize + 2*theme.Step
	if !c.Waits() {
		return c.line.HeightFor(inner-left) + 4*theme.Step
	}
	return inset + c.headHeight(inner) + 2*theme.Step + c.rest.HeightFor(inner) + 3*theme.Step + c.foot.HeightFor(inner) + inset
}

// below tells whether the clock stands below the title, for want of room beside it.
func (c *Card) below(inner float32) bool { return inner < c.meta.MinSize().Width+leastWidth }

func (c *Card) headHeight(inner float32) float32 {
	left := theme.IconSize + 2*theme.Step
	if c.below(inner) {
		return c.head.HeightFor(inner-left) + c.meta.MinSize().Height
	}
	return c.head.HeightFor(inner - left - c.meta.MinSize().Width - 3*theme.Step)
}

// CreateRenderer is Fyne's.
func (c *Card) CreateRenderer() fyne.WidgetRenderer { return &cardRenderer{c} }

type cardRenderer struct{ c *Card }

func (r *cardRenderer) Destroy() {}

// Objects has the answers before what they are about: the keyboard comes to the harmless one first.
func (r *cardRenderer) Objects() []fyne.CanvasObject {
	c := r.c
	if !c.Waits() {
		return []fyne.CanvasObject{c.ground, c.edge, c.icon, c.line}
	}
	return []fyne.CanvasObject{c.ground, c.edge, c.icon, c.foot, c.head, c.meta, c.sight}
}

func (r *cardRenderer) MinSize() fyne.Size {
	return fyne.NewSize(leastWidth, r.c.HeightFor(max(r.c.Size().Width, leastWidth)))
}

func (r *cardRenderer) Refresh() {
	r.c.paint()
	for _, o := range r.Objects()[2:] {
		o.Refresh()
	}
	r.Layout(r.c.Size())
	canvas.Refresh(r.c)
}

func (r *cardRenderer) Layout(size fyne.Size) {
	c := r.c
	c.ground.Resize(size)
	c.edge.Resize(fyne.NewSize(edgeWidth, size.Height))
	x := float32(edgeWidth + inset)
	inner := size.Width - 2*inset - edgeWidth
	left := theme.IconSize + 2*theme.Step
	c.icon.Resize(fyne.NewSquareSize(theme.IconSize))
	if !c.Waits() {
		h := c.line.HeightFor(inner - left)
		c.icon.Move(fyne.NewPos(x, 2*theme.Step+2))
		c.line.Move(fyne.NewPos(x+left, 2*theme.Step))
		c.line.Resize(fyne.NewSize(inner-left, h))
		return
	}
	y := float32(inset)
	c.icon.Move(fyne.NewPos(x, y+2))
	meta := c.meta.MinSize()
	c.meta.Resize(meta)
	width := inner - left
	if c.below(inner) {
		c.meta.Move(fyne.NewPos(x+left, y+c.head.HeightFor(width)))
	} else {
		width -= meta.Width + 3*theme.Step
		c.meta.Move(fyne.NewPos(x+inner-meta.Width, y))
	}
	c.head.Move(fyne.NewPos(x+left, y))
	c.head.Resize(fyne.NewSize(width, c.head.HeightFor(width)))
	y += c.headHeight(inner) + 2*theme.Step
	c.sight.of.Resize(fyne.NewSize(inner, c.rest.HeightFor(inner)))
	c.foot.Resize(fyne.NewSize(inner, c.foot.HeightFor(inner)))
	c.sight.top = y
	c.layBelow()
	if size.Height > 0 && size.Width >= leastWidth {
		c.seen()
	}
}
