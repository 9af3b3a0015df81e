// Package clean makes text from outside safe to read. Servers and models can
// send characters that hide, reorder or imitate text, and bytes that drive a
// terminal. [Clean] gives the text that screen and model both get; [Reveal]
// gives a text in which every odd character is visible and from which
// [Unreveal] finds the original again, for what is approved, sent or opened.
// The table in docs/text.md says what each does with each kind of character.
// All functions may be called from any goroutine.
package clean

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	open     = '⟨'
	closeRun = "⟩"
)

// Clean removes or marks what would deceive a reader, and leaves the rest:
// letters of every script, emoji, Markdown, line breaks and tabs. What it
// gives is valid UTF-8, and cleaning it again changes nothing. It takes time
// and memory linear in len(s); the result has at most seven times its bytes.
func Clean(s string) string {
	c := cleaner{in: s}
	c.run()
	return c.result()
}

// Line is [Clean] on one line: every stretch of blank space, line breaks
// included, becomes one space, those at the ends go, and what is longer than
// max characters ends in "…". A max below 1 gives "".
func Line(s string, max int) string {
	if max < 1 {
		return ""
	}
	words := strings.FieldsFunc(Clean(s), isBlank)
	line := strings.Join(words, " ")
	if utf8.RuneCountInString(line) <= max {
		return line
	}
	runes := []rune(line)[:max-1]
	return Clean(strings.TrimRight(string(runes), " ")) + "…"
}

// Finding says how many characters of one class Clean removed or changed.
// Class is a name in the table of docs/text.md.
type Finding struct {
	Class string
	Count int
}

// Inspect lists, in the table's order, what [Clean] changes in s; nil where
// nothing is hidden. Line ends that only become a line feed are not listed.
func Inspect(s string) []Finding {
	c := cleaner{in: s, counts: make([]int, len(classes))}
	c.run()
	var all []Finding
	for i, n := range c.counts {
		if n > 0 && classes[i].clean != newline {
			all = append(all, Finding{classes[i].name, n})
		}
	}
	return all
}

var (
	runClass   = classNamed(classRuns)
	lineClass  = classNamed(classLines)
	markClass  = classNamed(classMarks)
	bytesClass = classNamed(classBytes)
)

// cleaner goes through the text once. What it has written so far never
// changes, except that blank space is held back until its run has ended.
type cleaner struct {
	in     string
	out    strings.Builder
	flat   int   // in[flat:at] is unchanged and not yet written
	at     int   // next byte to read
	counts []int // by class; nil where nobody asks

	base  rune // last character written that is no mark, joiner or selector
	marks int  // marks written after base
	emoji bool // what was written last is an emoji that a joiner may follow
	fresh bool // ... and no selector followed it yet
}

func (c *cleaner) count(class uint8, n int) {
	if c.counts != nil {
		c.counts[class] += n
	}
}

// result gives the text; the input itself where nothing changed.
func (c *cleaner) result() string {
	if c.out.Len() == 0 && c.flat == 0 {
		return c.in
	}
	c.flush()
	return c.out.String()
}

// flush writes what is unchanged up to the place that is read next.
func (c *cleaner) flush() {
	c.out.WriteString(c.in[c.flat:c.at])
	c.flat = c.at
}

// replace puts text in place of the next n bytes.
func (c *cleaner) replace(n int, text string) {
	c.flush()
	c.out.WriteString(text)
	c.at += n
	c.flat = c.at
}

// wrote notes the last visible character, for what depends on it.
func (c *cleaner) wrote(r rune) {
	c.base, c.marks = r, 0
	c.emoji = r >= 0xa9 && (isPictograph(r) || isTone(r) && c.emoji)
	c.fresh = c.emoji
}

func (c *cleaner) run() {
	for c.at < len(c.in) {
		b := c.in[c.at]
		if ' ' < b && b < 0x7f {
			c.base, c.marks, c.emoji, c.fresh = rune(b), 0, false, false
			c.at++
			continue
		}
		if b == ' ' && c.at+1 < len(c.in) && ' ' < c.in[c.at+1] && c.in[c.at+1] < 0x7f {
			c.base, c.marks, c.emoji, c.fresh = ' ', 0, false, false
			c.at++
			continue
		}
		r, n := utf8.DecodeRuneInString(c.in[c.at:])
		if r == utf8.RuneError && n == 1 {
			c.count(bytesClass, 1)
			c.replace(brokenSize(c.in[c.at:]), "\uFFFD")
			c.wrote(utf8.RuneError)
			continue
		}
		class := classOf(r)
		if class == none {
			c.ordinary(r, n)
			continue
		}
		c.treat(class, r, n)
	}
}

// ordinary keeps the character, unless it is one mark too many.
func (c *cleaner) ordinary(r rune, n int) {
	if !isMark(r) {
		c.at += n
		c.wrote(r)
		return
	}
	if c.marks >= maxMarks {
		c.count(markClass, 1)
		c.replace(n, "")
		return
	}
	c.at += n
	c.marks++
	c.emoji, c.fresh = false, false
}

func (c *cleaner) treat(class uint8, r rune, n int) {
	switch classes[class].clean {
	case keep:
		c.at += n
		c.wrote(r)
	case space, newline:
		c.blank()
	case drop:
		c.count(class, 1)
		c.replace(n, "")
	case mark:
		c.count(class, 1)
		c.replace(n, marker(r))
		c.wrote('⟩')
	case picture:
		c.count(class, 1)
		shown := 0x2400 + r
		if r == 0x7f {
			shown = '␡'
		}
		c.replace(n, string(shown))
		c.wrote(shown)
	case escape:
		c.count(class, 1)
		c.replace(n, "␛"+string(r-0x40))
		c.wrote(r - 0x40)
	case joiner:
		c.join(class, r, n)
	case selector:
		c.selects(class, r, n)
	case tag:
		c.tagged(class, n)
	}
}

// join keeps a joiner where the spelling of the text needs it.
func (c *cleaner) join(class uint8, r rune, n int) {
	next, _ := utf8.DecodeRuneInString(c.in[c.at+n:])
	inEmoji := r == 0x200d && c.emoji && isPictograph(next)
	inWord := joins(c.base, next) && (!isMark(next) || c.marks < maxMarks) && classOf(next) == none
	if !inEmoji && !inWord {
		c.count(class, 1)
		c.replace(n, "")
		return
	}
	c.at += n
	c.emoji, c.fresh = false, false
}

// selects keeps one selector of emoji or text form after an emoji, and the one
// of a keycap such as 1️⃣.
func (c *cleaner) selects(class uint8, r rune, n int) {
	ok := c.fresh && (r == 0xfe0e || r == 0xfe0f)
	if r == 0xfe0f && c.marks == 0 && (c.base >= '0' && c.base <= '9' || c.base == '#' || c.base == '*') {
		ok = strings.HasPrefix(c.in[c.at+n:], "\u20e3")
	}
	if !ok {
		c.count(class, 1)
		c.replace(n, "")
		return
	}
	c.at += n
	c.fresh = false
}

// tagged keeps the tags that make a region's flag of a black flag.
func (c *cleaner) tagged(class uint8, n int) {
	if c.base == 0x1f3f4 && c.fresh && c.marks == 0 {
		for _, flag := range regionFlags {
			if strings.HasPrefix(c.in[c.at:], flag) {
				c.at += len(flag)
				c.fresh = false
				return
			}
		}
	}
	c.count(class, 1)
	c.replace(n, "")
}

// brokenSize is how many bytes at the start of s, which is no valid UTF-8
// there, stand for one fault: three for a surrogate, else one.
func brokenSize(s string) int {
	if _, ok := surrogate(s); ok {
		return 3
	}
	return 1
}

// surrogate decodes a lone surrogate as WTF-8 writes it.
func surrogate(s string) (rune, bool) {
	if len(s) < 3 || s[0] != 0xed || s[1] < 0xa0 || s[1] > 0xbf || s[2] < 0x80 || s[2] > 0xbf {
		return 0, false
	}
	return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), true
}

// thousands writes 5000 as 5,000.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
