package text

import (
	"math"
	"sort"
	"strings"
)

// A piece is what one canvas text draws.
type piece struct {
	start, end int
	x, w       float32 // from the left of the para's content; spaces at the end of the line do not count
	span       int
}

func (p *para) unitsIn(l *line) []unit {
	h := &p.hard[l.hard]
	if p.b.NoWrap || h.units == nil {
		return unitsOf(p.plain, p.spans, int(l.start), int(l.end))
	}
	from := sort.Search(len(h.units), func(i int) bool { return h.units[i].end > l.start })
	to := sort.Search(len(h.units), func(i int) bool { return h.units[i].start >= l.end })
	return h.units[from:max(from, to)]
}

// walk goes over the parts of a line from left to right: part by part its bytes, its place, its width without and with
// its trailing spaces. It ends when do returns false.
func (p *para) walk(l *line, do func(u *unit, start, end int, x, w, full float32) bool) {
	x := l.x
	units := p.unitsIn(l)
	for i := range units {
		u := &units[i]
		start, end := max(int(u.start), int(l.start)), min(int(u.end), int(l.end))
		var w, full float32
		switch {
		case u.tab:
			w = p.tabStop(u, x-l.x) - (x - l.x)
			full = w
		case start == int(u.start) && end == int(u.end):
			w, full = u.width, u.width+u.trail
		default: // cut in two because it is wider than a line
			f := p.spans[u.span].face
			word := strings.TrimRight(p.plain[start:end], " ")
			w = f.sum(word)
			full = w + float32(end-start-len(word))*f.width(" ")
		}
		if !do(u, start, end, x, w, full) {
			return
		}
		x += full
	}
}

// sum adds up the widths of the characters, as splitting a word does.
func (f *face) sum(s string) float32 {
	_, w := f.fit(s, unlimited)
	return w
}

func (p *para) lineWidth(l *line) float32 {
	var right float32
	p.walk(l, func(u *unit, _, _ int, x, w, _ float32) bool {
		if !u.tab { // a tab at the end is as invisible as a space there
			right = x + w - l.x
		}
		return true
	})
	return right
}

// pieces merges the parts of a line that one canvas text can draw.
func (p *para) pieces(l *line, out []piece) []piece {
	shift := p.align(l)
	fresh := true
	p.walk(l, func(u *unit, start, end int, x, w, _ float32) bool {
		if u.tab {
			fresh = true
			return true
		}
		x += shift
		if n := len(out) - 1; !fresh && out[n].span == int(u.span) && end-out[n].start <= pieceSize {
			out[n].end, out[n].w = end, x+w-out[n].x
			return true
		}
		fresh = false
		for end-start > pieceSize {
			out, start, x = p.cutPiece(out, int(u.span), start, x)
		}
		if start < end {
			f := p.spans[u.span].face
			if start != max(int(u.start), int(l.start)) {
				w = f.sum(strings.TrimRight(p.plain[start:end], " "))
			}
			out = append(out, piece{start: start, end: end, x: x, w: w, span: int(u.span)})
		}
		return true
	})
	return out
}

func (p *para) cutPiece(out []piece, span, start int, x float32) ([]piece, int, float32) {
	n := 0
	rest := p.plain[start:]
	for n < pieceSize-longChar {
		n += firstChar(rest[n:])
	}
	w := p.spans[span].face.sum(rest[:n])
	return append(out, piece{start: start, end: start + n, x: x, w: w, span: span}), start + n, x + w
}

// xAt is where the byte at offset stands in its line.
func (p *para) xAt(l *line, offset int) float32 {
	at := l.x
	p.walk(l, func(u *unit, start, end int, x, w, full float32) bool {
		if offset >= end {
			at = x + full
			return true
		}
		at = x
		if offset > start && !u.tab {
			at = min(x+p.spans[u.span].face.sum(p.plain[start:offset]), x+full)
		}
		return false
	})
	return at + p.align(l)
}

// offsetAt is the boundary between characters that is nearest to x.
func (p *para) offsetAt(l *line, x float32) int {
	x -= p.align(l)
	offset := int(l.end)
	p.walk(l, func(u *unit, start, end int, left, _, full float32) bool {
		if x >= left+full {
			return true
		}
		offset = start
		if u.tab {
			if x > left+full/2 {
				offset = end
			}
			return false
		}
		f := p.spans[u.span].face
		for offset < end {
			n := min(firstChar(p.plain[offset:end]), end-offset)
			w := f.width(p.plain[offset : offset+n])
			if x < left+w/2 {
				return false
			}
			offset, left = offset+n, left+w
		}
		return false
	})
	return offset
}

// lineTop is where a line begins, from the top of the para.
func (p *para) lineTop(i int) float64 {
	if p.b.Table != nil {
		return float64(p.top() + p.lines[i].y)
	}
	return float64(p.top()) + float64(i)*float64(p.lineHeight)
}

// lineNear is the line nearest to a place given from the top left of the para.
func (p *para) lineNear(x float32, y float64) int {
	if len(p.lines) == 0 {
		return -1
	}
	y -= float64(p.top())
	if p.b.Table == nil {
		return min(max(int(math.Floor(y/float64(p.lineHeight))), 0), len(p.lines)-1)
	}
	best, least := 0, math.Inf(1)
	for i := range p.lines {
		l := &p.lines[i]
		far := 1e6*outside(y, float64(l.y-cellPadY), float64(l.y+p.lineHeight+cellPadY)) +
			outside(float64(x-p.left), float64(l.x-cellPadX), float64(l.right+cellPadX))
		if far < least || far == least && math.Abs(y-float64(l.y)) < math.Abs(y-float64(p.lines[best].y)) {
			best, least = i, far
		}
	}
	return best
}

func outside(v, from, to float64) float64 {
	if v < from {
		return from - v
	}
	return max(v-to, 0)
}

// lineWith is the line that shows the byte at offset: the later one where a line was broken there.
func (p *para) lineWith(offset int) int {
	i := sort.Search(len(p.lines), func(i int) bool { return int(p.lines[i].start) > offset }) - 1
	return max(i, 0)
}

// linesWithin gives the range of lines that touch the heights from and to, measured from the top of the para.
func (p *para) linesWithin(from, to float64) (int, int) {
	n := len(p.lines)
	if p.b.Table == nil {
		from, to = from-float64(p.top()), to-float64(p.top())
		lo := math.Floor(from / float64(p.lineHeight))
		hi := math.Ceil(to / float64(p.lineHeight))
		return int(min(max(lo, 0), float64(n))), int(min(max(hi, 0), float64(n)))
	}
	rows := len(p.rows) - 1
	if rows < 1 || n == 0 {
		return 0, 0
	}
	top := float64(p.top())
	first := sort.Search(rows, func(r int) bool { return top+float64(p.rows[r+1]) > from })
	last := sort.Search(rows, func(r int) bool { return top+float64(p.rows[r]) >= to })
	lo := sort.Search(n, func(i int) bool { return p.rowOf(i) >= first })
	hi := sort.Search(n, func(i int) bool { return p.rowOf(i) >= last })
	return lo, max(lo, hi)
}

func (p *para) rowOf(i int) int {
	y := p.lines[i].y
	return sort.Search(len(p.rows), func(r int) bool { return p.rows[r] > y }) - 1
}
