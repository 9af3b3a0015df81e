package text

import (
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"steward/ui/theme"
)

// drawing is what a para has on the screen: the lines lo to hi, at y.
type drawing struct {
	ready          bool
	lo, hi         int
	y              float64
	scale, x       float32
	grounds, texts []fyne.CanvasObject
}

func (d *drawing) reset() { *d = drawing{} }

// draw makes the objects of the lines between from and to, heights measured from the top of the para, or keeps those it
// has. The para stands at y. It tells whether anything changed.
// The text, but not the ground, stands x to the right.
func (p *para) draw(x float32, y, from, to float64, scale float32) bool {
	lo, hi := p.linesWithin(from, to)
	d := &p.drawing
	if d.ready && d.lo == lo && d.hi == hi && d.scale == scale && d.x == x {
		if d.y == y {
			return false
		}
		dy := float32(y - d.y)
		for _, o := range d.grounds {
			o.Move(o.Position().AddXY(0, dy))
		}
		for _, o := range d.texts {
			o.Move(o.Position().AddXY(0, dy))
		}
		d.y = y
		return true
	}
	*d = drawing{ready: true, lo: lo, hi: hi, y: y, scale: scale, x: x}
	p.drawBlock(y, from, to)
	if p.b.Object != nil || p.b.Rule {
		return true
	}
	var pieces []piece
	for i := lo; i < hi; i++ {
		l := &p.lines[i]
		pieces = p.pieces(l, pieces[:0])
		if n := len(pieces); n > 0 {
			p.widest = max(p.widest, pieces[n-1].x+pieces[n-1].w)
		}
		p.drawLine(i, l, pieces, float32(y+p.lineTop(i)), scale)
	}
	if lo == 0 {
		p.drawMarker(float32(y)+p.top(), scale)
	}
	return true
}

// rect adds a rectangle below the texts.
func (p *para) rect(name fyne.ThemeColorName, x, y, w, h, radius float32) {
	r := canvas.NewRectangle(theme.Color(name))
	r.CornerRadius = radius
	r.Move(fyne.NewPos(x, y))
	r.Resize(fyne.NewSize(w, h))
	p.drawing.grounds = append(p.drawing.grounds, r)
}

// drawBlock draws what belongs to the block as a whole. Long grounds are cut to what is seen: a rectangle of a million
// pixels loses its place in 32 bits.
func (p *para) drawBlock(y, from, to float64) {
	top, bottom := max(0, from-100), min(float64(p.height()), to+100)
	if bottom <= top {
		return
	}
	if p.b.Ground != "" {
		p.rect(p.b.Ground, p.b.Indent, float32(y+top), p.width-p.b.Indent, float32(bottom-top), theme.Radius)
	}
	for _, x := range p.b.Bars {
		above := 0.0
		if from <= 0 && p.barAbove(x) {
			above = float64(p.b.Before)
		}
		p.rect(theme.Line, x, float32(y+top-above), 3, float32(bottom-top+above), 0)
	}
	if p.b.Rule {
		p.rect(theme.Line, p.b.Indent, float32(y), p.width-p.b.Indent, 1, 0)
	}
	if p.b.Table != nil {
		var right float32
		for _, w := range p.columns {
			right += w
		}
		for _, row := range p.rows[min(1, len(p.rows)):] {
			if at := float64(p.top() + row); at >= from && at <= to+1 {
				p.rect(theme.Line, p.left, float32(y+at)-1, right, 1, 0)
			}
		}
	}
}

// barAbove tells whether a bar goes on from the para above.
func (p *para) barAbove(x float32) bool {
	return p.above != nil && slices.Contains(p.above.Bars, x)
}

func (p *para) drawLine(index int, l *line, pieces []piece, top, scale float32) {
	first := index == 0 || p.lines[index-1].hard != l.hard
	if int(l.hard) < len(p.b.Lines) {
		look := p.b.Lines[l.hard]
		if look.Ground != "" {
			p.rect(look.Ground, p.b.Indent, top, p.width-p.b.Indent, p.lineHeight, 0)
		}
		if first && look.Sign != "" {
			p.label(look.Sign, p.left-p.baseFace().width("00"), top, theme.Dim, scale)
		}
	}
	if p.b.Number && first {
		first := max(p.b.First, 1)
		n := strconv.Itoa(int(l.hard) + first)
		at := p.b.Indent + p.pad() + p.baseFace().width("0")*float32(len(strconv.Itoa(len(p.hard)+first-1))-len(n))
		p.label(n, at, top, theme.Dim, scale)
	}
	for i, pc := range pieces {
		run := p.spans[pc.span].run
		if run.Ground != "" && (i == 0 || p.spans[pieces[i-1].span].run != run) {
			right := pc.x + pc.w
			for _, next := range pieces[i+1:] {
				if p.spans[next.span].run != run {
					break
				}
				right = next.x + next.w
			}
			p.rect(run.Ground, p.left+p.drawing.x+pc.x-2, top+2, right-pc.x+4, p.lineHeight-4, theme.Step)
		}
		p.drawPiece(&pieces[i], run, top, scale)
	}
}

func (p *para) drawPiece(pc *piece, run *Run, top, scale float32) {
	f := p.spans[pc.span].face
	text := f.drawable(strings.TrimRight(p.plain[pc.start:pc.end], " "))
	if text == "" {
		return
	}
	name := run.Color
	if name == "" {
		name = theme.Text
		switch {
		case run.Link != "" && Web(run.Link):
			name = theme.Accent
		case p.b.Table != nil && pc.start < p.headEnd():
			name = theme.Dim
		}
	}
	t := newText(text, theme.Color(name), f)
	t.TextStyle.Strikethrough = run.Strike
	t.TextStyle.Underline = run.Underline || name == theme.Accent && run.Link != ""
	p.place(t, f, p.left+pc.x, top, pc.w, scale)
}

func newText(text string, c color.Color, f *face) *canvas.Text {
	return &canvas.Text{Text: text, Color: c, TextSize: f.size, TextStyle: f.style, FontSource: f.source}
}

// place puts a text on the line's baseline. Fyne draws a face at the next whole device pixel below its ascent, so the
// position makes up for that: faces of different heights then stand on the same pixel at every scale.
func (p *para) place(t *canvas.Text, f *face, x, top, width, scale float32) {
	base := p.baseFace()
	baseline := float32(math.Round(float64(((p.lineHeight-base.height)/2 + base.ascent) * scale)))
	up := float32(math.Ceil(float64(f.ascent * scale)))
	t.Move(fyne.NewPos(p.drawing.x+x, top+(baseline-up)/scale))
	t.Resize(fyne.NewSize(width+1, f.height))
	p.drawing.texts = append(p.drawing.texts, t)
}

func (p *para) headEnd() int {
	if rows := p.b.Table.Rows; len(rows) > 0 && len(rows[0]) > 0 {
		return p.hard[len(rows[0])-1].end
	}
	return 0
}

// label draws a text that is not part of the block's text: a number, a sign, a bullet.
func (p *para) label(text string, x, top float32, name fyne.ThemeColorName, scale float32) {
	f := p.baseFace()
	p.place(newText(text, theme.Color(name), f), f, x, top, f.width(text), scale)
}

func (p *para) drawMarker(top, scale float32) {
	right := p.b.Indent - 1.5*theme.Step
	if p.b.Task != NoTask {
		p.drawTask(right-3.5*theme.Step, top+(p.lineHeight-14)/2)
		return
	}
	if p.b.Marker != "" {
		p.label(p.b.Marker, right-p.baseFace().width(p.b.Marker), top, theme.Dim, scale)
	}
}

func (p *para) drawTask(x, y float32) {
	box := canvas.NewRectangle(color.Transparent)
	box.StrokeWidth, box.StrokeColor, box.CornerRadius = 1, theme.Color(theme.Dim), 3
	if p.b.Task == DoneTask {
		box.FillColor, box.StrokeColor = theme.Color(theme.Accent), theme.Color(theme.Accent)
	}
	box.Move(fyne.NewPos(x, y))
	box.Resize(fyne.NewSize(14, 14))
	p.drawing.texts = append(p.drawing.texts, box)
	if p.b.Task != DoneTask {
		return
	}
	for _, s := range [][4]float32{{3.2, 7.2, 6, 10}, {6, 10, 11, 4.2}} {
		l := canvas.NewLine(theme.Color(theme.OnAccent))
		l.StrokeWidth = 1.6
		l.Position1, l.Position2 = fyne.NewPos(x+s[0], y+s[1]), fyne.NewPos(x+s[2], y+s[3])
		p.drawing.texts = append(p.drawing.texts, l)
	}
}
