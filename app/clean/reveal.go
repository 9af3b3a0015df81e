package clean

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxReveal is the most bytes that Unreveal makes of a text.
const maxReveal = 256 << 20

// Reveal shows a text so that no two different texts look alike because of
// something invisible: whatever is odd stands as a mark between ⟨ and ⟩ that
// holds its number, bytes that are no text as ⟨\xNN⟩, and ⟨ itself as
// ⟨\u27E8⟩. Backslashes and quotes are left alone, so JSON stays readable.
// [Unreveal] finds the original bytes again; different inputs never give the
// same output. It takes time and memory linear in len(s).
func Reveal(s string) string {
	r := revealer{in: s}
	r.run()
	if r.flat == 0 && r.out.Len() == 0 {
		return s
	}
	r.out.WriteString(s[r.flat:])
	return r.out.String()
}

type revealer struct {
	in    string
	out   strings.Builder
	flat  int // in[flat:at] is unchanged and not yet written
	at    int
	base  bool // a letter stands before, that marks may sit on
	marks int
}

func (v *revealer) run() {
	for v.at < len(v.in) {
		b := v.in[v.at]
		if ' ' < b && b < 0x7f {
			v.base, v.marks = 'a' <= b|0x20 && b|0x20 <= 'z', 0
			v.at++
			continue
		}
		if b == ' ' {
			v.spaces()
			continue
		}
		odd, n := v.odd(v.in[v.at:])
		if !odd {
			v.at += n
			continue
		}
		v.mark(n)
	}
}

// odd judges the next character and gives its size.
func (v *revealer) odd(s string) (bool, int) {
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 {
		return true, brokenSize(s)
	}
	if classOf(r) != none {
		return true, n
	}
	if plain(r) {
		v.base, v.marks = true, 0
		return false, n
	}
	if isMark(r) {
		if !v.base || v.marks >= revealMarks {
			return true, n
		}
		v.marks++
		return false, n
	}
	if !unicode.IsGraphic(r) && !unicode.Is(unicode.Cf, r) { // Cf outside the table is visible
		return true, n
	}
	v.base, v.marks = unicode.IsLetter(r), 0
	return false, n
}

// mark writes the n bytes of an odd character, or of a run of the same, as marks.
func (v *revealer) mark(n int) {
	one := v.in[v.at : v.at+n]
	count := 1
	for rest := v.in[v.at+n:]; strings.HasPrefix(rest, one); rest = rest[n:] {
		// A broken byte may be equal to the first byte of a sound character.
		if r, size := utf8.DecodeRuneInString(rest); r == utf8.RuneError && size == 1 && brokenSize(rest) != n || size > n {
			break
		}
		count++
	}
	v.out.WriteString(v.in[v.flat:v.at])
	name := name(one)
	if count > revealRun {
		v.out.WriteString("⟨" + thousands(count) + " × " + name + closeRun)
	} else {
		for range count {
			v.out.WriteString("⟨" + name + closeRun)
		}
	}
	v.at += count * n
	v.flat, v.base, v.marks = v.at, false, 0
}

// spaces leaves a short run inside the text, and counts it otherwise.
func (v *revealer) spaces() {
	end := v.at
	for end < len(v.in) && v.in[end] == ' ' {
		end++
	}
	n := end - v.at
	if v.at == 0 || end == len(v.in) || n > maxSpaces {
		word := " spaces"
		if n == 1 {
			word = " space"
		}
		v.out.WriteString(v.in[v.flat:v.at] + "⟨" + thousands(n) + word + closeRun)
		v.flat = end
	}
	v.at, v.base, v.marks = end, false, 0
}

// marker is the mark of one character.
func marker(r rune) string { return "⟨" + name(string(r)) + closeRun }

// name is what stands inside the mark of a character or byte.
func name(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 {
		if lone, ok := surrogate(s); ok {
			return fmt.Sprintf(`\u%04X`, lone)
		}
		return fmt.Sprintf(`\x%02X`, s[0])
	}
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < 0x80:
		return fmt.Sprintf(`\x%02X`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04X`, r)
	}
	return fmt.Sprintf(`\U%08X`, r)
}

var errNotRevealed = errors.New("this text cannot come from Reveal")

// Unreveal gives back the text that [Reveal] was given, byte for byte, and an
// error for what Reveal never writes. A result above 256 MiB is an error too.
func Unreveal(s string) (string, error) {
	if !strings.ContainsRune(s, open) {
		if Reveal(s) != s {
			return "", errNotRevealed
		}
		return s, nil
	}
	var out strings.Builder
	rest := s
	for {
		before, after, found := strings.Cut(rest, string(open))
		out.WriteString(before)
		if !found {
			break
		}
		inside, tail, closed := strings.Cut(after, closeRun)
		if !closed {
			return "", errNotRevealed
		}
		text, count, err := meaning(inside)
		if err != nil {
			return "", err
		}
		if count > (maxReveal-out.Len())/len(text) {
			return "", errors.New("the text is larger than 256 MiB")
		}
		out.WriteString(strings.Repeat(text, count))
		rest = tail
	}
	// Whatever is not exactly what Reveal writes is refused, or two texts
	// would be read as one.
	if Reveal(out.String()) != s {
		return "", errNotRevealed
	}
	return out.String(), nil
}

// meaning reads the inside of a mark: a text and how often it stands there.
func meaning(inside string) (string, int, error) {
	if n, word, ok := strings.Cut(inside, " "); ok && (word == "spaces" || word == "space") {
		count, err := parseCount(n)
		return " ", count, err
	}
	count := 1
	if n, what, ok := strings.Cut(inside, " × "); ok {
		var err error
		if count, err = parseCount(n); err != nil {
			return "", 0, err
		}
		inside = what
	}
	switch inside {
	case `\n`:
		return "\n", count, nil
	case `\r`:
		return "\r", count, nil
	case `\t`:
		return "\t", count, nil
	}
	if len(inside) < 4 || inside[0] != '\\' {
		return "", 0, errNotRevealed
	}
	v, err := strconv.ParseUint(inside[2:], 16, 32)
	if err != nil || v > unicode.MaxRune {
		return "", 0, errNotRevealed
	}
	switch {
	case inside[1] == 'x' && v <= 0xff:
		return string([]byte{byte(v)}), count, nil
	case inside[1] == 'u' && v >= 0xd800 && v <= 0xdfff:
		return string([]byte{0xed, 0x80 | byte(v>>6&0x3f), 0x80 | byte(v&0x3f)}), count, nil
	case inside[1] == 'u' || inside[1] == 'U':
		return string(rune(v)), count, nil
	}
	return "", 0, errNotRevealed
}

func parseCount(n string) (int, error) {
	count, err := strconv.Atoi(strings.ReplaceAll(n, ",", ""))
	if err != nil || count < 1 {
		return 0, errNotRevealed
	}
	return count, nil
}
