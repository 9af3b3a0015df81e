package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"steward/ui/theme"
)

// Found is where words stand in a text, in bytes.
type Found struct{ From, To int }

// Find gives every place where words stand in a text, upper and lower case being the same, from the first on; places do
// not overlap. It is pure and may be called from any goroutine.
func Find(text, words string) []Found {
	want := []rune(strings.Map(fold, words))
	if len(want) == 0 {
		return nil
	}
	var out []Found
	for at := 0; at < len(text); {
		if end, ok := begins(text, at, want); ok {
			out = append(out, Found{at, end})
			at = end
			continue
		}
		_, n := utf8.DecodeRuneInString(text[at:])
		at += n
	}
	return out
}

func begins(text string, at int, want []rune) (end int, ok bool) {
	for _, w := range want {
		r, n := utf8.DecodeRuneInString(text[at:])
		if n == 0 || fold(r) != w {
			return 0, false
		}
		at += n
	}
	return at, true
}

// fold is unicode.ToLower, without its table where that is not needed.
func fold(r rune) rune {
	switch {
	case 'A' <= r && r <= 'Z':
		return r + 'a' - 'A'
	case r < 0x80:
		return r
	}
	return unicode.ToLower(r)
}

// Plain is the text of a block without marks, in which [Find] finds what a view would mark. It is pure and may be called
// from any goroutine.
func (b *Block) Plain() string {
	var all strings.Builder
	if b.Table == nil {
		for _, r := range b.Runs {
			all.WriteString(r.Text)
		}
		return all.String()
	}
	for i, row := range b.Table.Rows {
		if i > 0 {
			all.WriteByte('\n')
		}
		for j, cell := range row {
			if j > 0 {
				all.WriteByte('\t')
			}
			for _, r := range cell {
				all.WriteString(r.Text)
			}
		}
	}
	return all.String()
}

// finding is what a view marks.
type finding struct {
	words   string
	current int
}

// Mark marks every place where words stand, across all blocks, and the current-th of them, counted from 0, more than the
// others. No words take the marks away.
func (v *View) Mark(words string, current int) {
	now := finding{words, current}
	if words == "" {
		now.current = 0
	}
	if v.find == now {
		return
	}
	v.find = now
	v.mark()
}

// Marked is the height at which the n-th place that is marked begins, and that of its line; false where there is none.
func (v *View) Marked(n int) (top, height float32, ok bool) {
	if v.find.words == "" || n < 0 {
		return 0, 0, false
	}
	for _, p := range v.paras {
		found := Find(p.plain, v.find.words)
		if n >= len(found) {
			n -= len(found)
			continue
		}
		if p.b.Object != nil || len(p.lines) == 0 {
			return float32(p.y), p.height(), true
		}
		line := min(p.lineWith(found[n].From), len(p.lines)-1)
		return float32(p.y + p.lineTop(line)), p.lineHeight, true
	}
	return 0, 0, false
}

// markFound makes the rectangles behind what was found, for the lines that are drawn.
func (v *View) markFound() {
	if v.find.words == "" {
		return
	}
	before := 0
	for _, p := range v.paras {
		found := Find(p.plain, v.find.words)
		if p.drawing.ready && p.b.Object == nil {
			for i, f := range found {
				v.markOne(p, f, before+i == v.find.current)
			}
		}
		before += len(found)
	}
}

func (v *View) markOne(p *para, f Found, current bool) {
	for n := p.drawing.lo; n < p.drawing.hi && n < len(p.lines); n++ {
		l := &p.lines[n]
		if int(l.end) <= f.From || int(l.start) >= f.To {
			continue
		}
		x0, x1 := p.xAt(l, max(f.From, int(l.start))), p.xAt(l, min(f.To, int(l.end)))
		r := canvas.NewRectangle(theme.Color(theme.WaitingTint))
		r.CornerRadius, r.StrokeColor, r.StrokeWidth = 3, theme.Color(theme.Line), 1
		if current {
			r.StrokeColor, r.StrokeWidth = theme.Color(theme.Waiting), 1.5
		}
		r.Move(fyne.NewPos(p.left+x0-v.left-1, float32(p.y-v.top+p.lineTop(n))+1))
		r.Resize(fyne.NewSize(x1-x0+2, p.lineHeight-2))
		v.marks = append(v.marks, r)
	}
}
