package text

import (
	"math"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"

	"steward/ui/theme"
)

const (
	leading   = 1.5              // height of a line as a multiple of the text's size
	boxPad    = 3 * theme.Step   // around the text inside a ground
	cellPadX  = 2.5 * theme.Step // beside the text of a cell
	cellPadY  = 1.5 * theme.Step // above and below it
	tabSpaces = 4                // a tab stop in spaces
	unlimited = float32(1 << 30) // width of what is never broken
	pieceSize = 240              // bytes drawn as one object: at scale 2 its texture stays below 8,192 pixels
	tableLook = 500              // rows whose cells decide the widths of the columns
	minColumn = 6 * theme.Step
)

// A line is what is drawn in one row of one column: plain[start:end] of its para.
type line struct {
	start, end int32
	hard       int32   // index of its hardLine
	x, right   float32 // where its column begins and ends, from the left of the para's content
	y          float32 // only in tables, from the top of the para's content
}

// para is a block prepared for layout, and laid out.
type para struct {
	b     *Block
	base  Run // style of the whole block
	plain string
	spans []span
	hard  []hardLine
	size  float32

	width               float32 // that it was laid out for; 0: not yet
	lines               []line
	lineHeight          float32
	head, body, foot    float32 // heights
	gutter, left, inner float32 // geometry of the content
	columns             []float32
	rows                []float32 // where each row of a table begins, and where the last one ends
	y                   float64   // top of the para in its sheet, after Before
	widest              float32   // right end of the lines drawn until now
	above               *Block    // the block before it, nil for the first
	drawing             drawing
}

func newPara(b *Block, old *para) *para {
	p := &para{b: b, size: b.Size}
	if p.size == 0 {
		p.size = theme.TextSize
		if b.Code {
			p.size = theme.MonoSize
		}
	}
	p.base.Mono = b.Code
	p.lineHeight = float32(math.Ceil(float64(p.size * leading)))
	if b.Table != nil {
		p.prepareTable()
		return p
	}
	p.plain, p.spans = spansOf(b.Runs, p.base, p.size)
	p.hard = hardLines(p.plain)
	if old != nil {
		p.adopt(old)
	}
	return p
}

// adopt takes over the units of lines that did not change: text that only grew at its end is measured only there.
func (p *para) adopt(old *para) {
	if old.b.Table != nil || old.size != p.size || old.base != p.base || len(p.b.Runs) == 0 || len(old.b.Runs) == 0 {
		return
	}
	if len(p.b.Runs) != 1 || len(old.b.Runs) != 1 || p.b.Runs[0].look() != old.b.Runs[0].look() {
		return
	}
	if len(p.spans) < len(old.spans) {
		return
	}
	for i := range old.spans { // the last span may have grown; units only name spans by number
		o, n := old.spans[i], p.spans[i]
		if o.start != n.start || o.face != n.face || i < len(old.spans)-1 && o.end != n.end {
			return
		}
	}
	p.inner, p.gutter = old.inner, old.gutter
	for i := 0; i < len(old.hard)-1 && i < len(p.hard)-1; i++ {
		o, n := &old.hard[i], &p.hard[i]
		if o.start != n.start || o.end != n.end || old.plain[o.start:o.end] != p.plain[n.start:n.end] {
			return
		}
		n.units, n.lines = o.units, o.lines
	}
}

func (r Run) look() Run {
	r.Text = ""
	return r
}

func (p *para) prepareTable() {
	var all strings.Builder
	for i, row := range p.b.Table.Rows {
		for j, cell := range row {
			if j > 0 {
				all.WriteByte('\t')
			}
			start := all.Len()
			text, spans := spansOf(cell, Run{}, p.size)
			all.WriteString(text)
			for _, s := range spans {
				s.start, s.end = s.start+start, s.end+start
				p.spans = append(p.spans, s)
			}
			p.hard = append(p.hard, hardLine{start: start, end: all.Len()})
		}
		if i < len(p.b.Table.Rows)-1 {
			all.WriteByte('\n')
		}
	}
	p.plain = all.String()
}

// layout breaks the para into lines for a width. It costs nothing when the width is the same.
func (p *para) layout(width float32) {
	if p.width == width {
		return
	}
	p.drawing.reset()
	same := p.gutter
	p.gutter = p.gutterWidth()
	pad := p.pad()
	inner := max(width-p.b.Indent-2*pad-p.gutter, 1)
	if p.inner != inner || same != p.gutter {
		for i := range p.hard {
			p.hard[i].lines = nil
		}
	}
	p.width, p.inner, p.left = width, inner, p.b.Indent+pad+p.gutter
	p.head, p.foot = objectHeight(p.b.Head), objectHeight(p.b.Foot)
	p.lines = p.lines[:0]
	switch {
	case p.b.Object != nil:
		p.body = p.b.ObjectSize
	case p.b.Rule:
		p.body = 1
	case p.b.Table != nil:
		p.layoutTable()
	default:
		p.breakLines()
		p.body = float32(float64(len(p.lines)) * float64(p.lineHeight))
	}
}

func objectHeight(o fyne.CanvasObject) float32 {
	if o == nil || !o.Visible() {
		return 0
	}
	return o.MinSize().Height
}

func (p *para) pad() float32 {
	if p.b.Ground == "" {
		return 0
	}
	return boxPad
}

// height is that of the whole block with its ground, without Before.
func (p *para) height() float32 {
	h := p.head + p.body + p.foot
	if p.b.Ground != "" {
		if p.head == 0 {
			h += boxPad - theme.Step/2
		}
		if p.foot == 0 {
			h += boxPad - theme.Step/2
		}
	}
	return h
}

// top is where the text begins, from the top of the block.
func (p *para) top() float32 {
	if p.b.Ground != "" && p.head == 0 {
		return boxPad - theme.Step/2
	}
	return p.head
}

func (p *para) gutterWidth() float32 {
	chars := 0
	if p.b.Number {
		chars = len(strconv.Itoa(len(p.hard)+max(p.b.First, 1)-1)) + 1
	}
	for _, l := range p.b.Lines {
		if l.Sign != "" {
			chars += 2
			break
		}
	}
	return float32(chars) * p.baseFace().width("0")
}

func (p *para) baseFace() *face {
	style := theme.Style{Bold: p.base.Bold, Italic: p.base.Italic, Mono: p.base.Mono}
	return faceOf(faceKey{
		source: fontFor('x', style), size: p.size,
		style: fyne.TextStyle{Bold: style.Bold, Italic: style.Italic, Monospace: style.Mono},
	})
}

func (p *para) visibleHard() int {
	if p.b.Fold > 0 && p.b.Fold < len(p.hard) {
		return p.b.Fold
	}
	return len(p.hard)
}

func (p *para) breakLines() {
	n := p.visibleHard()
	if cap(p.lines) < n {
		p.lines = make([]line, 0, n+n/8)
	}
	for i := range n {
		h := &p.hard[i]
		from := len(p.lines)
		switch {
		case p.b.NoWrap:
			p.lines = p.cut(h, p.lines)
		case h.lines != nil:
			p.lines = append(p.lines, h.lines...)
		default:
			if h.units == nil {
				h.units = unitsOf(p.plain, p.spans, h.start, h.end)
			}
			p.lines = p.fill(h, p.inner, p.lines)
			h.lines = append(h.lines, p.lines[from:]...)
		}
		for k := from; k < len(p.lines); k++ {
			p.lines[k].hard, p.lines[k].right = int32(i), p.inner
		}
	}
}

// cut makes lines of a line that is not to be broken: one, unless it is so long that it must be cut for drawing.
func (p *para) cut(h *hardLine, out []line) []line {
	at := h.start
	for {
		stop := portion(p.plain, at, h.end)
		out = append(out, line{start: int32(at), end: int32(stop)})
		if stop >= h.end {
			return out
		}
		at = stop
	}
}

// fill breaks one line of the source into lines no wider than room.
func (p *para) fill(h *hardLine, room float32, out []line) []line {
	f := filler{p: p, room: room, out: out, start: int32(h.start)}
	for i := 0; i < len(h.units); {
		j := i + 1
		for j < len(h.units) && !h.units[j-1].breaks {
			j++
		}
		segment := h.units[i:j]
		if x, ok := f.place(segment); ok {
			f.x = x
			i = j
		} else if segment[0].start > f.start {
			f.end(segment[0].start)
		} else {
			f.split(segment)
			i = j
		}
	}
	f.end(int32(h.end))
	return f.out
}

type filler struct {
	p     *para
	room  float32
	out   []line
	start int32 // of the line being filled
	x     float32
}

func (f *filler) end(at int32) {
	f.out = append(f.out, line{start: f.start, end: at})
	f.start, f.x = at, 0
}

// place tries to put a segment on the line. Spaces at its end may reach beyond the room.
func (f *filler) place(segment []unit) (float32, bool) {
	x := f.x
	for i := range segment {
		u := &segment[i]
		if u.tab {
			x = f.p.tabStop(u, x)
			continue
		}
		if x+u.width > f.room {
			return 0, false
		}
		x += u.width + u.trail
	}
	return x, segment[len(segment)-1].end-f.start <= longLine
}

// split breaks a segment that alone is wider than a line between characters.
func (f *filler) split(segment []unit) {
	for i := range segment {
		u := &segment[i]
		if u.tab {
			f.x = f.p.tabStop(u, f.x)
			continue
		}
		face := f.p.spans[u.span].face
		word := strings.TrimRight(f.p.plain[u.start:u.end], " ")
		for at := u.start; word != ""; {
			limit := max(int(longLine-(at-f.start)), 0)
			n, w := face.fit(word[:runeStart(word, min(limit, len(word)))], f.room-f.x)
			if n == 0 && f.start == at {
				n = firstChar(word)
				w = face.width(word[:n])
			}
			at, word, f.x = at+int32(n), word[n:], f.x+w
			if word != "" {
				f.end(at)
			}
		}
		f.x += u.trail
	}
}

func (p *para) tabStop(u *unit, x float32) float32 {
	stop := tabSpaces * p.spans[u.span].face.width(" ")
	return (float32(math.Floor(float64(x/stop))) + 1) * stop
}

// natural is the width of the widest line of the source, unbroken.
func (p *para) natural() float32 {
	var widest float32
	for i := range p.hard[:p.visibleHard()] {
		widest = max(widest, p.naturalOf(&p.hard[i]))
	}
	return widest
}

func (p *para) naturalOf(h *hardLine) float32 {
	if h.units == nil {
		h.units = unitsOf(p.plain, p.spans, h.start, h.end)
	}
	var x, trail float32
	for i := range h.units {
		u := &h.units[i]
		if u.tab {
			x, trail = p.tabStop(u, x+trail), 0
			continue
		}
		x, trail = x+trail+u.width, u.trail
	}
	return x
}
