package clean

import (
	"strings"
	"unicode/utf8"
)

var blankAction = func() (is [256]bool) {
	for i, c := range classes {
		is[i] = c.clean == space || c.clean == newline
	}
	return is
}()

// isBlank reports spaces, tabs and line ends of every kind.
func isBlank(r rune) bool { return blankAction[classOf(r)] }

func isLineEnd(r rune) bool {
	return r == '\n' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029
}

// blank handles a whole run of spaces and line ends. What would be dropped
// inside the run does not end it, or a run could hide behind a zero width
// space in every line.
func (c *cleaner) blank() {
	var b blankRun
	start, end := c.at, c.at
	changed := false
	for end < len(c.in) {
		r, n := utf8.DecodeRuneInString(c.in[end:])
		class := classOf(r)
		if r == utf8.RuneError && n == 1 || !blankAction[class] {
			if !c.vanishes(class, r) {
				break
			}
			c.count(class, 1)
			changed = true
			end += n
			continue
		}
		if isLineEnd(r) {
			if r == '\r' && strings.HasPrefix(c.in[end+n:], "\n") {
				n++
			}
			changed = changed || r != '\n'
			if r != '\n' {
				c.count(class, 1)
			}
			b.line()
		} else {
			b.space(c.in[end : end+n])
		}
		end += n
	}
	lines, spaces := b.finish()
	c.count(lineClass, lines)
	c.count(runClass, spaces)
	if changed || lines+spaces > 0 {
		c.replace(end-start, b.out.String())
	} else {
		c.at = end
	}
	c.base, c.marks, c.emoji, c.fresh = ' ', 0, false, false
	if b.marked {
		c.base = '⟩'
	}
}

// vanishes reports what is always dropped after a space.
func (c *cleaner) vanishes(class uint8, r rune) bool {
	if class == none {
		return false
	}
	switch classes[class].clean {
	case drop, selector, tag, joiner:
		return true
	}
	return false
}

// blankRun writes a run of blank space, counting what is too long.
type blankRun struct {
	out     strings.Builder
	gap     strings.Builder // spaces since the last line end
	gapSize int
	lines   int
	spaces  int // that were counted instead of written
	marked  bool
}

func (b *blankRun) space(s string) {
	if b.gapSize++; b.gapSize <= maxSpaces {
		b.gap.WriteString(s)
	}
}

func (b *blankRun) line() {
	if b.lines++; b.lines <= maxNewlines {
		b.endGap()
		b.out.WriteByte('\n')
		return
	}
	b.gap.Reset()
	b.gapSize = 0
}

// endGap writes the spaces held back.
func (b *blankRun) endGap() {
	if b.marked = b.gapSize > maxSpaces; b.marked {
		b.out.WriteString("⟨" + thousands(b.gapSize) + " spaces" + closeRun)
		b.spaces += b.gapSize
	} else {
		b.out.WriteString(b.gap.String())
	}
	b.gap.Reset()
	b.gapSize = 0
}

// finish completes the text and returns how many line ends and spaces were
// counted instead of written.
func (b *blankRun) finish() (lines, spaces int) {
	if b.lines > maxNewlines {
		b.out.Reset()
		b.spaces = 0
		b.out.WriteString("\n⟨" + thousands(b.lines) + " line breaks" + closeRun + "\n")
		lines = b.lines
	}
	b.endGap()
	return lines, b.spaces
}
