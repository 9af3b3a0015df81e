package text

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"github.com/go-text/typesetting/segmenter"

	"steward/ui/theme"
)

// A place is a boundary between two characters: a byte offset into the text of a para.
type place struct{ para, offset int }

func (a place) before(b place) bool {
	return a.para < b.para || a.para == b.para && a.offset < b.offset
}

// grain is what a selection grows by.
type grain uint8

const (
	byChar grain = iota
	byWord
	byLine
)

// selection spans from what was first chosen (one character boundary, a word, a line) to the caret.
type selection struct {
	from, to place // what was first chosen
	caret    place
	by       grain
}

func (s *sheet) clamp(at place) place {
	if len(s.paras) == 0 {
		return place{}
	}
	at.para = min(max(at.para, 0), len(s.paras)-1)
	at.offset = min(max(at.offset, 0), len(s.paras[at.para].plain))
	return at
}

// placeAt is the boundary nearest to a point of the sheet.
func (s *sheet) placeAt(x float32, y float64) place {
	if len(s.paras) == 0 {
		return place{}
	}
	i := s.paraAt(y)
	p := s.paras[i]
	if y > p.y+float64(p.height()) && i+1 < len(s.paras) && y-p.y-float64(p.height()) > s.paras[i+1].y-y {
		i++
		p = s.paras[i]
	}
	if y < p.y && p.b.Table == nil {
		return place{i, 0}
	}
	n := p.lineNear(x, y-p.y)
	switch {
	case n < 0:
		return place{i, 0}
	case p.b.Table == nil && y > p.y+p.lineTop(len(p.lines)-1)+float64(p.lineHeight):
		return place{i, len(p.plain)} // below the last line: with all that a fold hides
	}
	return place{i, p.offsetAt(&p.lines[n], x-p.left)}
}

// grainAt is the word or line around a place.
func (s *sheet) grainAt(at place, by grain) (place, place) {
	if len(s.paras) == 0 || by == byChar {
		return at, at
	}
	p := s.paras[at.para]
	var h *hardLine
	for i := range p.hard {
		if h = &p.hard[i]; at.offset <= h.end {
			break
		}
	}
	if h == nil {
		return at, at
	}
	if by == byLine {
		return place{at.para, h.start}, place{at.para, h.end}
	}
	start, end := wordAt(p.plain[h.start:h.end], at.offset-h.start)
	return place{at.para, h.start + start}, place{at.para, h.start + end}
}

// wordAt finds the word around a byte of a line, looking no further than a long line to either side.
func wordAt(line string, at int) (int, int) {
	base := 0
	if at > longLine {
		base = runeStart(line, at-longLine)
	}
	line = line[base:]
	if at-base+longLine < len(line) {
		line = line[:runeStart(line, at-base+longLine)]
	}
	starts := make([]int, 0, len(line)+1)
	for i := range line {
		starts = append(starts, i)
	}
	starts = append(starts, len(line))
	var seg segmenter.Segmenter
	seg.Init([]rune(line))
	for it := seg.WordIterator(); it.Next(); {
		w := it.Word()
		from, to := base+starts[w.Offset], base+starts[w.Offset+len(w.Text)]
		if from <= at && at <= to {
			return from, to
		}
	}
	n := firstChar(line[min(at-base, len(line)):])
	return at, at + n
}

// bounds are the ends of the selection in the order of the text.
func (v *View) bounds() (place, place) {
	from, to := v.grainAt(v.sel.caret, v.sel.by)
	if v.sel.from.before(from) {
		from = v.sel.from
	}
	if to.before(v.sel.to) {
		to = v.sel.to
	}
	return v.clamp(from), v.clamp(to)
}

func (v *View) chosen() bool {
	from, to := v.bounds()
	return from != to
}

func (v *View) marking() bool { return v.find.words != "" || v.chosen() }

// markAll makes the rectangles behind what was found and behind what is chosen.
func (v *View) markAll() {
	v.marks = v.marks[:0:0]
	v.markFound()
	v.markSelection()
}

// markSelection makes the rectangles behind the chosen text, for the lines that are drawn.
func (v *View) markSelection() {
	from, to := v.bounds()
	if from == to {
		return
	}
	for i := from.para; i <= to.para && i < len(v.paras); i++ {
		p := v.paras[i]
		if !p.drawing.ready || p.b.Object != nil {
			continue
		}
		start, end := 0, len(p.plain)
		if i == from.para {
			start = from.offset
		}
		if i == to.para {
			end = to.offset
		}
		for n := p.drawing.lo; n < p.drawing.hi && n < len(p.lines); n++ {
			v.markLine(p, n, start, end, i < to.para)
		}
	}
}

func (v *View) markLine(p *para, n, start, end int, more bool) {
	l := &p.lines[n]
	if int(l.end) < start || int(l.start) > end {
		return
	}
	x0, x1 := p.xAt(l, max(start, int(l.start))), p.xAt(l, min(end, int(l.end)))
	if end > int(l.end) || more && n == len(p.lines)-1 { // the end of the line is chosen too
		x1 += theme.Step
	}
	if p.b.Table != nil {
		x1 = min(x1, l.right)
	}
	if x1 <= x0 {
		return
	}
	r := canvas.NewRectangle(theme.Color(theme.Mark))
	r.Move(fyne.NewPos(p.left+x0-v.left, float32(p.y-v.top+p.lineTop(n))))
	r.Resize(fyne.NewSize(x1-x0, p.lineHeight))
	v.marks = append(v.marks, r)
}

// SelectedText gives what copying gives: the Markdown when whole blocks are chosen that have it, else the text as it
// stands in the source, byte by byte.
func (v *View) SelectedText() string {
	from, to := v.bounds()
	if from == to {
		return ""
	}
	return v.textOf(from, to)
}

func (v *View) textOf(from, to place) string {
	if first, last := v.sheet.all(); v.Whole != nil && from == first && to == last {
		return v.Whole()
	}
	if source, ok := v.sourceOf(from, to); ok {
		return source
	}
	return v.plainOf(from, to)
}

// sourceOf gives the Markdown of whole blocks.
func (v *View) sourceOf(from, to place) (string, bool) {
	p, q := v.paras[from.para], v.paras[to.para]
	if from.offset != 0 || to.offset != len(q.plain) || p.b.Source == "" {
		return "", false
	}
	if from.para == to.para && p.b.Code {
		return "", false
	}
	if to.para+1 < len(v.paras) && v.paras[to.para+1].b.Group == q.b.Group {
		return "", false
	}
	var all strings.Builder
	for _, p := range v.paras[from.para : to.para+1] {
		all.WriteString(p.b.Source)
	}
	if to.para < len(v.paras)-1 {
		return strings.TrimRight(all.String(), "\r\n"), true
	}
	return all.String(), true
}

func (v *View) plainOf(from, to place) string {
	if from.para == to.para {
		return v.paras[from.para].plain[from.offset:to.offset]
	}
	var all strings.Builder
	for i := from.para; i <= to.para; i++ {
		p := v.paras[i]
		start, end := 0, len(p.plain)
		if i == from.para {
			start = from.offset
		} else {
			all.WriteByte('\n')
			if p.b.Group != v.paras[i-1].b.Group {
				all.WriteByte('\n')
			}
		}
		if i == to.para {
			end = to.offset
		}
		if start == 0 && p.b.Marker != "" {
			all.WriteString(p.b.Marker + " ")
		}
		all.WriteString(p.plain[start:end])
	}
	return all.String()
}

// all is everything.
func (s *sheet) all() (place, place) {
	if len(s.paras) == 0 {
		return place{}, place{}
	}
	last := len(s.paras) - 1
	return place{0, 0}, place{last, len(s.paras[last].plain)}
}
