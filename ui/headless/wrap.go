package headless

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// wrap breaks one line into rows of at most width columns, at words where that can be
// (Unicode Standard Annex 14); wide characters count two. A width of 0 is unknown: the
// line is left to the terminal.
func wrap(line string, width int) []string {
	line = strings.ReplaceAll(line, "\t", "    ")
	if width <= 0 || uniseg.StringWidth(line) <= width {
		return []string{line}
	}
	var rows []string
	var row strings.Builder
	used, state := 0, -1
	flush := func() {
		rows = append(rows, strings.TrimRight(row.String(), " "))
		row.Reset()
		used = 0
	}
	for line != "" {
		var piece string
		piece, line, _, state = uniseg.FirstLineSegmentInString(line, state)
		need := uniseg.StringWidth(strings.TrimRight(piece, " "))
		if used > 0 && used+need > width {
			flush()
		}
		if need > width {
			pieces := chop(piece, width)
			rows = append(rows, pieces[:len(pieces)-1]...)
			piece = pieces[len(pieces)-1]
		}
		row.WriteString(piece)
		used += uniseg.StringWidth(piece)
	}
	if row.Len() > 0 {
		flush()
	}
	return rows
}

// chop breaks text at exactly width columns, wherever that falls.
func chop(text string, width int) []string {
	var rows []string
	start, used := 0, 0
	g := uniseg.NewGraphemes(text)
	for g.Next() {
		w := g.Width()
		from, _ := g.Positions()
		if used+w > width && used > 0 {
			rows = append(rows, text[start:from])
			start, used = from, 0
		}
		used += w
	}
	return append(rows, text[start:])
}

// firstCharacters is the beginning of a text, at most n characters of it.
func firstCharacters(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// lastCharacters is the end of a text, at most n characters of it.
func lastCharacters(s string, n int) string {
	at := len(s)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return s[at:]
}

// cutShort is a text of at most n characters, with its length where it was longer.
func cutShort(s string, n int) string {
	if head := firstCharacters(s, n); len(head) < len(s) {
		return fmt.Sprintf("%s… (%s characters in all)", head, thousands(utf8.RuneCountInString(s)))
	}
	return s
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
