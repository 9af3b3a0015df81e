package chat

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"

	"steward/ui/list"
	"steward/ui/theme"
)

// column puts objects below each other, each as high as it needs to be at the column's width, perhaps on a ground of
// its own. It knows its height for a width, as the list wants it.
type column struct {
	widget.BaseWidget
	objects []fyne.CanvasObject
	gap     float32
	pad     pad

	ground, stroke fyne.ThemeColorName // "": none
	edge           fyne.ThemeColorName // a bar at the left side
	hang           float32             // how far left of it the bar stands
	radius         float32
	box, bar       *canvas.Rectangle
}

// pad is room at the sides.
type pad struct{ top, right, bottom, left float32 }

func newColumn(gap float32, p pad, objects ...fyne.CanvasObject) *column {
	c := &column{objects: objects, gap: gap, pad: p, box: canvas.NewRectangle(color.Transparent), bar: canvas.NewRectangle(color.Transparent), radius: theme.Radius}
	c.ExtendBaseWidget(c)
	return c
}

// put replaces the objects.
func (c *column) put(objects ...fyne.CanvasObject) {
	c.objects = objects
	c.Refresh()
}

// heightOf is the height an object needs at a width.
func heightOf(o fyne.CanvasObject, width float32) float32 {
	if m, ok := o.(list.Measured); ok {
		return m.HeightFor(width)
	}
	if o.Size().Width != width {
		o.Resize(fyne.NewSize(width, o.MinSize().Height))
	}
	return o.MinSize().Height
}

// HeightFor is the list's.
func (c *column) HeightFor(width float32) float32 {
	h := c.pad.top + c.pad.bottom
	inner := max(width-c.pad.left-c.pad.right, 1)
	n := 0
	for _, o := range c.objects {
		if o.Visible() {
			h += heightOf(o, inner)
			n++
		}
	}
	return h + float32(max(n-1, 0))*c.gap
}

// SeenPart tells what stands in the column which part of it is seen (list.Seen).
func (c *column) SeenPart(from, to float32) {
	for _, o := range c.objects {
		if s, ok := o.(list.Seen); ok && o.Visible() {
			s.SeenPart(from-o.Position().Y, to-o.Position().Y)
		}
	}
}

// CreateRenderer is Fyne's.
func (c *column) CreateRenderer() fyne.WidgetRenderer { return &columnRenderer{c} }

type columnRenderer struct{ c *column }

func (r *columnRenderer) Destroy() {}

func (r *columnRenderer) Objects() []fyne.CanvasObject {
	return append([]fyne.CanvasObject{r.c.box, r.c.bar}, r.c.objects...)
}

func (r *columnRenderer) MinSize() fyne.Size {
	w := r.c.Size().Width
	if w == 0 {
		return fyne.NewSize(1, 1)
	}
	return fyne.NewSize(1, r.c.HeightFor(w))
}

func (r *columnRenderer) paint() {
	c := r.c
	colour := func(n fyne.ThemeColorName) color.Color {
		if n == "" {
			return color.Transparent
		}
		return theme.Color(n)
	}
	c.box.FillColor, c.box.StrokeColor, c.box.CornerRadius = colour(c.ground), colour(c.stroke), c.radius
	c.box.StrokeWidth = 0
	if c.stroke != "" {
		c.box.StrokeWidth = 1
	}
	c.bar.FillColor = colour(c.edge)
	c.bar.TopLeftCornerRadius, c.bar.BottomLeftCornerRadius = c.radius, c.radius
}

func (r *columnRenderer) Refresh() {
	r.paint()
	r.Layout(r.c.Size())
	canvas.Refresh(r.c)
}

func (r *columnRenderer) Layout(s fyne.Size) {
	c := r.c
	r.paint()
	c.box.Resize(s)
	c.bar.Move(fyne.NewPos(-c.hang, 0))
	c.bar.Resize(fyne.NewSize(4, s.Height))
	inner := max(s.Width-c.pad.left-c.pad.right, 1)
	y := c.pad.top
	for _, o := range c.objects {
		if !o.Visible() {
			continue
		}
		h := heightOf(o, inner)
		o.Move(fyne.NewPos(c.pad.left, y))
		o.Resize(fyne.NewSize(inner, h))
		y += h + c.gap
	}
}

// line puts objects beside each other, in the middle of its height: those of left from the left side, those of right
// from the right, and between them stretch, if any. What does not fit on the left is left out from its end.
type line struct {
	left, right []fyne.CanvasObject
	stretch     fyne.CanvasObject
	gap         float32
}

func newLine(gap float32, left []fyne.CanvasObject, stretch fyne.CanvasObject, right ...fyne.CanvasObject) *fyne.Container {
	l := &line{left: left, right: right, stretch: stretch, gap: gap}
	all := append([]fyne.CanvasObject{}, left...)
	if stretch != nil {
		all = append(all, stretch)
	}
	return &fyne.Container{Layout: l, Objects: append(all, right...)}
}

// MinSize is Fyne's.
func (l *line) MinSize(objects []fyne.CanvasObject) fyne.Size {
	h := float32(0)
	for _, o := range objects {
		if o.Visible() {
			h = max(h, o.MinSize().Height)
		}
	}
	return fyne.NewSize(1, h)
}

// Layout is Fyne's.
func (l *line) Layout(_ []fyne.CanvasObject, s fyne.Size) {
	place := func(o fyne.CanvasObject, x, w float32) {
		h := o.MinSize().Height
		o.Resize(fyne.NewSize(max(w, 0), h))
		o.Move(fyne.NewPos(x, (s.Height-h)/2))
	}
	right := s.Width
	for i := len(l.right) - 1; i >= 0; i-- {
		if o := l.right[i]; o.Visible() {
			w := o.MinSize().Width
			right -= w
			place(o, right, w)
			right -= l.gap
		}
	}
	x := float32(0)
	for _, o := range l.left {
		if o.Visible() {
			w := min(o.MinSize().Width, max(right-x, 0))
			place(o, x, w)
			x += w + l.gap
		}
	}
	if l.stretch != nil && l.stretch.Visible() {
		place(l.stretch, x, right-x)
	}
}

// flow puts objects beside each other and goes on in a new line where there is no more room.
type flow struct{ gap float32 }

func (f flow) each(objects []fyne.CanvasObject, width float32, put func(o fyne.CanvasObject, at fyne.Position, s fyne.Size)) float32 {
	x, y, high := float32(0), float32(0), float32(0)
	for _, o := range objects {
		if !o.Visible() {
			continue
		}
		m := o.MinSize()
		w := min(m.Width, width)
		if x > 0 && x+w > width {
			x, y, high = 0, y+high+f.gap, 0
		}
		if put != nil {
			put(o, fyne.NewPos(x, y), fyne.NewSize(w, m.Height))
		}
		x += w + f.gap
		high = max(high, m.Height)
	}
	return y + high
}

// flowBox is a widget around flow that knows its height for a width.
type flowBox struct {
	widget.BaseWidget
	objects []fyne.CanvasObject
	flow    flow
	right   bool // lines end at the right side
}

func newFlow(gap float32, objects ...fyne.CanvasObject) *flowBox {
	b := &flowBox{objects: objects, flow: flow{gap}}
	b.ExtendBaseWidget(b)
	return b
}

// HeightFor is the list's.
func (b *flowBox) HeightFor(width float32) float32 { return b.flow.each(b.objects, width, nil) }

// CreateRenderer is Fyne's.
func (b *flowBox) CreateRenderer() fyne.WidgetRenderer { return &flowRenderer{b} }

type flowRenderer struct{ b *flowBox }

func (r *flowRenderer) Destroy()                     {}
func (r *flowRenderer) Objects() []fyne.CanvasObject { return r.b.objects }
func (r *flowRenderer) Refresh()                     { r.Layout(r.b.Size()); canvas.Refresh(r.b) }
func (r *flowRenderer) MinSize() fyne.Size {
	if w := r.b.Size().Width; w > 0 {
		return fyne.NewSize(1, r.b.HeightFor(w))
	}
	return fyne.NewSize(1, 1)
}

func (r *flowRenderer) Layout(s fyne.Size) {
	shift := float32(0)
	if r.b.right {
		used := float32(0)
		for _, o := range r.b.objects {
			if o.Visible() {
				used += o.MinSize().Width + r.b.flow.gap
			}
		}
		shift = max(s.Width-used+r.b.flow.gap, 0)
	}
	r.b.flow.each(r.b.objects, s.Width, func(o fyne.CanvasObject, at fyne.Position, z fyne.Size) {
		o.Move(at.AddXY(shift, 0))
		o.Resize(z)
	})
}
