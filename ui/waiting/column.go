package waiting

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"

	"steward/ui/list"
	"steward/ui/theme"
)

// measured is an object whose height depends on its width.
type measured interface{ HeightFor(width float32) float32 }

func heightFor(o fyne.CanvasObject, width float32) float32 {
	if m, ok := o.(measured); ok {
		return m.HeightFor(width)
	}
	return o.MinSize().Height
}

// column stands objects below each other; box puts it on a coloured ground.
type column struct {
	widget.BaseWidget
	objects []fyne.CanvasObject
	gap     float32
	padding float32
	ground  fyne.ThemeColorName // "": none
	back    *canvas.Rectangle
}

func newColumn(gap float32, objects ...fyne.CanvasObject) *column {
	c := &column{objects: objects, gap: gap, back: canvas.NewRectangle(color.Transparent)}
	c.back.CornerRadius = theme.Radius - 2
	c.ExtendBaseWidget(c)
	return c
}

func newBox(ground fyne.ThemeColorName, objects ...fyne.CanvasObject) *column {
	c := newColumn(2*theme.Step, objects...)
	c.ground, c.padding = ground, 2.5*theme.Step
	c.paint()
	return c
}

func (c *column) paint() {
	c.back.FillColor = color.Transparent
	if c.ground != "" {
		c.back.FillColor = theme.Color(c.ground)
	}
}

// HeightFor is the height the column needs at a width.
func (c *column) HeightFor(width float32) float32 {
	inner := width - 2*c.padding
	height, n := 2*c.padding, 0
	for _, o := range c.objects {
		if !o.Visible() {
			continue
		}
		if n++; n > 1 {
			height += c.gap
		}
		height += heightFor(o, inner)
	}
	return height
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
	return append([]fyne.CanvasObject{r.c.back}, r.c.objects...)
}

func (r *columnRenderer) MinSize() fyne.Size {
	return fyne.NewSize(0, r.c.HeightFor(max(r.c.Size().Width, leastWidth)))
}

func (r *columnRenderer) Refresh() {
	r.c.paint()
	for _, o := range r.c.objects {
		o.Refresh()
	}
	r.Layout(r.c.Size())
	canvas.Refresh(r.c)
}

func (r *columnRenderer) Layout(size fyne.Size) {
	c := r.c
	c.back.Resize(size)
	y := c.padding
	inner := size.Width - 2*c.padding
	for _, o := range c.objects {
		if !o.Visible() {
			continue
		}
		h := heightFor(o, inner)
		o.Move(fyne.NewPos(c.padding, y))
		o.Resize(fyne.NewSize(inner, h))
		y += h + c.gap
	}
}

// flow stands objects beside each other, in further lines where there is no room; what is in right ends at the right
// side, in a line of its own where both do not fit into one.
type flow struct {
	widget.BaseWidget
	left, right []fyne.CanvasObject
	gap         float32
}

func newFlow(gap float32, left, right []fyne.CanvasObject) *flow {
	f := &flow{left: left, right: right, gap: gap}
	f.ExtendBaseWidget(f)
	return f
}

// arrange places everything (where place is set) and gives the height.
func (f *flow) arrange(width float32, place bool) float32 {
	var all []fyne.CanvasObject
	var sum, rightSum float32
	for i, group := range [][]fyne.CanvasObject{f.left, f.right} {
		for _, o := range group {
			if !o.Visible() {
				continue
			}
			all = append(all, o)
			w := o.MinSize().Width + f.gap
			sum += w
			if i == 1 {
				rightSum += w
			}
		}
	}
	oneLine := sum-f.gap <= width
	ownLine := !oneLine && rightSum-f.gap <= width
	var x, y, line float32
	begun := 0 // where the line begins
	end := func(to int) {
		for _, o := range all[begun:to] {
			if place {
				o.Move(fyne.NewPos(o.Position().X, y+(line-o.Size().Height)/2))
			}
		}
		begun = to
	}
	for i, o := range all {
		s := o.MinSize()
		s.Width = min(s.Width, width)
		if i == len(all)-f.shown(f.right) && (oneLine || ownLine) {
			if ownLine && x > 0 {
				end(i)
				y, line = y+line+f.gap, 0
			}
			x = max(0, width-rightSum+f.gap)
		}
		if x > 0 && x+s.Width > width+0.5 {
			end(i)
			x, y, line = 0, y+line+f.gap, 0
		}
		line = max(line, s.Height)
		if place {
			o.Resize(s)
			o.Move(fyne.NewPos(x, y))
		}
		x += s.Width + f.gap
	}
	end(len(all))
	return y + line
}

func (f *flow) shown(objects []fyne.CanvasObject) int {
	n := 0
	for _, o := range objects {
		if o.Visible() {
			n++
		}
	}
	return n
}

// HeightFor is the height the flow needs at a width.
func (f *flow) HeightFor(width float32) float32 { return f.arrange(width, false) }

// CreateRenderer is Fyne's.
func (f *flow) CreateRenderer() fyne.WidgetRenderer { return &flowRenderer{f} }

type flowRenderer struct{ f *flow }

func (r *flowRenderer) Destroy() {}

func (r *flowRenderer) Objects() []fyne.CanvasObject {
	return append(append([]fyne.CanvasObject{}, r.f.left...), r.f.right...)
}

func (r *flowRenderer) MinSize() fyne.Size {
	return fyne.NewSize(0, r.f.arrange(max(r.f.Size().Width, leastWidth), false))
}

func (r *flowRenderer) Refresh() {
	for _, o := range r.Objects() {
		o.Refresh()
	}
	r.Layout(r.f.Size())
	canvas.Refresh(r.f)
}

func (r *flowRenderer) Layout(size fyne.Size) { r.f.arrange(size.Width, true) }

// pair stands a name beside its value, which gets the rest of the width.
type pair struct {
	widget.BaseWidget
	name, value fyne.CanvasObject
	share       float32 // of the width, for the name
	most        float32
	right       bool // the value has its own width, at the right side
}

func newPair(name, value fyne.CanvasObject) *pair {
	p := &pair{name: name, value: value, share: 0.3, most: 122}
	p.ExtendBaseWidget(p)
	return p
}

// newInput stands an input at its own width to the right of its name.
func newInput(name, input fyne.CanvasObject) *pair {
	p := newPair(name, input)
	p.right = true
	return p
}

func (p *pair) first(width float32) float32 {
	if p.right {
		return max(0, width-p.value.MinSize().Width)
	}
	return min(width*p.share, p.most)
}

// HeightFor is the height the pair needs at a width.
func (p *pair) HeightFor(width float32) float32 {
	n := p.first(width)
	return max(heightFor(p.name, n-2*theme.Step), heightFor(p.value, width-n))
}

// CreateRenderer is Fyne's.
func (p *pair) CreateRenderer() fyne.WidgetRenderer { return &pairRenderer{p} }

type pairRenderer struct{ p *pair }

func (r *pairRenderer) Destroy()                     {}
func (r *pairRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.p.name, r.p.value} }

func (r *pairRenderer) MinSize() fyne.Size {
	return fyne.NewSize(0, r.p.HeightFor(max(r.p.Size().Width, leastWidth)))
}

func (r *pairRenderer) Refresh() {
	r.p.name.Refresh()
	r.p.value.Refresh()
	r.Layout(r.p.Size())
	canvas.Refresh(r.p)
}

func (r *pairRenderer) Layout(size fyne.Size) {
	n := r.p.first(size.Width)
	r.p.name.Resize(fyne.NewSize(n-2*theme.Step, heightFor(r.p.name, n-2*theme.Step)))
	r.p.name.Move(fyne.NewPos(0, 0))
	if r.p.right {
		r.p.name.Move(fyne.NewPos(0, max(0, (size.Height-r.p.name.Size().Height)/2)))
	}
	r.p.value.Resize(fyne.NewSize(size.Width-n, heightFor(r.p.value, size.Width-n)))
	r.p.value.Move(fyne.NewPos(n, 0))
}
