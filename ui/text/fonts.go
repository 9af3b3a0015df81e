package text

import (
	"unicode"
	"unicode/utf8"

	"fyne.io/fyne/v2"

	"steward/ui/theme"
)

// fontFor gives the embedded font that has a character; nil leaves the search to Fyne.
func fontFor(r rune, s theme.Style) fyne.Resource {
	font, _ := theme.FontFor(r, s)
	return font
}

// Fyne searches all fonts of the system for each character it has not got, a third of a millisecond and more for each
// one that no font has: a text of many thousand different rare characters would stop the window for seconds. So a row of
// 256 characters of which the first few that come up are all without a glyph is taken to have none, and its characters
// are drawn as U+FFFD, which is what Fyne would draw after its search.
const (
	rowProbes = 8
	firstRare = 0x250 // below it the embedded fonts and Fyne's own have all
)

type row struct {
	seen  [rowProbes]rune
	n     int
	found bool
}

// rows is only touched on Fyne's thread.
var rows = map[rune]*row{}

// blank tells whether r is taken to have no glyph anywhere.
func blank(r rune) bool {
	if r < firstRare || r == utf8.RuneError {
		return false
	}
	if unicode.Is(unicode.Cn, r) { // not assigned to any character
		return true
	}
	w := rows[r>>8]
	if w == nil {
		w = &row{}
		rows[r>>8] = w
	}
	if w.found || w.n == rowProbes {
		return !w.found
	}
	for _, seen := range w.seen[:w.n] {
		if seen == r {
			return false
		}
	}
	f := faceOf(faceKey{size: theme.TextSize})
	if f.width(string(r)) != f.width("\U0010FFFF") { // a code point that never is a character
		w.found = true
		return false
	}
	w.seen[w.n] = r
	w.n++
	return false
}
