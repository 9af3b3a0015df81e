package text

import (
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"github.com/go-text/typesetting/segmenter"

	"steward/ui/theme"
)

// A span is a stretch of a block's text with one look and one font. Spans follow each other without a gap.
type span struct {
	start, end int
	run        *Run
	face       *face
}

// A unit is a stretch of text inside one span that is never broken, unless it alone is wider than the line.
type unit struct {
	start, end int32
	span       int32
	width      float32 // without the spaces at its end
	trail      float32 // of those spaces
	breaks     bool    // the line may end after it (UAX #14)
	tab        bool    // reaches to the next tab stop
}

// hardLine is a line of the source, without its newline. Its units are made when they are first needed.
type hardLine struct {
	start, end int
	units      []unit
	lines      []line // at the width they were last broken for
}

// spansOf cuts the runs where the font changes.
func spansOf(runs []Run, base Run, size float32) (string, []span) {
	var all strings.Builder
	for i := range runs {
		all.WriteString(runs[i].Text)
	}
	plain := all.String()
	var spans []span
	at := 0
	for i := range runs {
		r := &runs[i]
		style := theme.Style{Bold: r.Bold || base.Bold, Italic: r.Italic || base.Italic, Mono: r.Mono || base.Mono}
		spans = appendSpans(spans, plain, at, at+len(r.Text), r, style, size)
		at += len(r.Text)
	}
	return plain, spans
}

func appendSpans(spans []span, plain string, from, to int, run *Run, style theme.Style, size float32) []span {
	if run.Mono && size == theme.TextSize {
		size = theme.MonoSize // code in a sentence: the same height of small letters
	}
	look := fyne.TextStyle{Bold: style.Bold, Italic: style.Italic, Monospace: style.Mono}
	var last fyne.Resource
	lastBlank, first := false, true
	for i := from; i < to; {
		r, n := utf8.DecodeRuneInString(plain[i:to])
		if !first && joins(r) { // marks, joiners and selectors stay with what they belong to
			spans[len(spans)-1].end = i + n
			i += n
			continue
		}
		source, none := last, lastBlank
		if first || r >= 0x80 || r >= ' ' && last == nil {
			source = fontFor(r, style)
			if none = source == nil && blank(r); none {
				source = fontFor(utf8.RuneError, style)
			}
		}
		if first || source != last || none != lastBlank {
			spans = append(spans, span{start: i, run: run, face: faceOf(faceKey{source, size, look, none})})
		}
		first, last, lastBlank = false, source, none
		spans[len(spans)-1].end = i + n
		i += n
	}
	return spans
}

// joins tells runes that only mean something together with the one before.
func joins(r rune) bool {
	return r >= 0x300 && r < 0x370 || r == 0x200d || r >= 0xfe00 && r <= 0xfe0f || r >= 0x1f3fb && r <= 0x1f3ff ||
		r >= 0x20d0 && r < 0x2100 || r >= 0xe0020 && r <= 0xe007f
}

// hardLines splits at newlines.
func hardLines(plain string) []hardLine {
	lines := make([]hardLine, 0, strings.Count(plain, "\n")+1)
	at := 0
	for {
		n := strings.IndexByte(plain[at:], '\n')
		if n < 0 {
			return append(lines, hardLine{start: at, end: len(plain)})
		}
		lines = append(lines, hardLine{start: at, end: at + n})
		at += n + 1
	}
}

// unitsOf cuts plain[start:end], a part of one line of the source, into units. A long line goes through the segmenter
// in portions, cut at a space when there is one.
func unitsOf(plain string, spans []span, start, end int) []unit {
	units := make([]unit, 0, (end-start)/6+1)
	si := spanAt(spans, start)
	var seg segmenter.Segmenter
	for start < end {
		stop := portion(plain, start, end)
		runes := []rune(plain[start:stop])
		seg.Init(runes)
		at := start
		for it := seg.LineIterator(); it.Next(); {
			from := at
			for range it.Line().Text { // byte lengths from the source itself: an invalid byte is one rune here
				_, n := utf8.DecodeRuneInString(plain[at:stop])
				at += n
			}
			units, si = appendUnits(units, plain, spans, si, from, at)
		}
		start = stop
	}
	return units
}

func portion(plain string, start, end int) int {
	if end-start <= longLine {
		return end
	}
	stop := runeStart(plain, start+longLine)
	if space := strings.LastIndexByte(plain[start+longLine/2:stop], ' '); space >= 0 {
		return start + longLine/2 + space + 1
	}
	return stop
}

func spanAt(spans []span, at int) int {
	lo, hi := 0, len(spans)
	for lo < hi {
		m := (lo + hi) / 2
		if spans[m].end <= at {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// appendUnits adds one segment of UAX #14, cut where spans end and around tabs.
func appendUnits(units []unit, plain string, spans []span, si, from, to int) ([]unit, int) {
	for from < to {
		for si < len(spans)-1 && spans[si].end <= from {
			si++
		}
		stop := min(to, spans[si].end)
		u := unit{start: int32(from), span: int32(si)}
		if tab := strings.IndexByte(plain[from:stop], '\t'); tab == 0 {
			stop = from + 1
			u.tab = true
		} else {
			if tab > 0 {
				stop = from + tab
			}
			f := spans[si].face
			word := strings.TrimRight(plain[from:stop], " ")
			u.width = f.width(word)
			u.trail = float32(stop-from-len(word)) * f.width(" ")
		}
		u.end = int32(stop)
		u.breaks = stop == to
		units = append(units, u)
		from = stop
	}
	return units, si
}
