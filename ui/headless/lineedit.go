package headless

import (
	"strings"
	"unicode"

	"github.com/rivo/uniseg"

	"steward/app/clean"
)

// lineEdit is one line being typed. It shows a single row of the screen, the part around
// the cursor where the text is longer, and needs nothing of the terminal but carriage
// return and blanks.
type lineEdit struct {
	prompt string // short; what stands before the text
	text   []rune
	at     int
	offer  bool // text was put there for the person: what is typed first replaces it
	hidden bool
	pasted bool // something was pasted
	show   func(string)
	width  int    // of the screen; 0 where it is not known
	row    string // as it was drawn last
	after  string // the part of row after the cursor
}

// take carries out one key other than Enter.
func (e *lineEdit) take(k key) {
	switch k.press {
	case letter:
		if e.offer {
			e.text, e.at = nil, 0
		}
		e.insert(k.letter)
	case enter: // pasted
		if e.offer {
			e.text, e.at = nil, 0
		}
		e.insert('\n')
	case back:
		e.cut(e.at-1, e.at)
	case erase:
		e.cut(e.at, e.at+1)
	case left:
		e.at = max(0, e.at-1)
	case right:
		e.at = min(len(e.text), e.at+1)
	case home:
		e.at = 0
	case end:
		e.at = len(e.text)
	case clearLine:
		e.cut(0, e.at)
	case clearRest:
		e.cut(e.at, len(e.text))
	case clearWord:
		from := e.at
		for from > 0 && unicode.IsSpace(e.text[from-1]) {
			from--
		}
		for from > 0 && !unicode.IsSpace(e.text[from-1]) {
			from--
		}
		e.cut(from, e.at)
	default:
		return
	}
	e.offer = false
}

func (e *lineEdit) insert(r rune) {
	if e.at == len(e.text) {
		e.text = append(e.text, r)
	} else {
		e.text = append(e.text[:e.at], append([]rune{r}, e.text[e.at:]...)...)
	}
	e.at++
}

func (e *lineEdit) cut(from, to int) {
	from, to = max(0, from), min(len(e.text), to)
	if from < to {
		e.text = append(e.text[:from], e.text[to:]...)
		e.at = from
	}
}

// draw shows the line as it is now.
func (e *lineEdit) draw() {
	var before, after string
	if !e.hidden {
		room := 1 << 20
		if e.width > 0 {
			room = max(4, e.width-1-uniseg.StringWidth(e.prompt))
		}
		before, after = e.window(room)
	}
	row := e.prompt + before + after
	if after == "" && e.after == "" && strings.HasPrefix(row, e.row) {
		e.show(row[len(e.row):]) // typed at the end: nothing else changes
	} else {
		blank := strings.Repeat(" ", max(0, uniseg.StringWidth(e.row)-uniseg.StringWidth(row)))
		e.show("\r" + row + blank)
		if blank != "" || after != "" {
			e.show("\r" + e.prompt + before)
		}
	}
	e.row, e.after = row, after
}

// window is the part of the text that fits into room columns, before and after the cursor.
// A mark says where more of it stands.
func (e *lineEdit) window(room int) (before, after string) {
	shown := func(r rune) (string, int) {
		s := clean.Reveal(string(r))
		switch r {
		case ' ':
			s = " "
		case '\n':
			s = "⏎"
		}
		return s, uniseg.StringWidth(s)
	}
	used, from := 0, e.at
	for from > 0 {
		_, w := shown(e.text[from-1])
		if used+w > room-2 {
			break
		}
		used += w
		from--
	}
	var b strings.Builder
	if from > 0 {
		b.WriteString("<")
		used++
	}
	for _, r := range e.text[from:e.at] {
		s, _ := shown(r)
		b.WriteString(s)
	}
	before = b.String()
	b.Reset()
	for _, r := range e.text[e.at:] {
		s, w := shown(r)
		if used+w > room-1 {
			b.WriteString(">")
			break
		}
		used += w
		b.WriteString(s)
	}
	return before, b.String()
}
