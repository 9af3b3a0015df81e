package consent

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// readable writes the characters of a text of JSON that are escaped by their number (\u90e8) as they are, so that a person
// can read what a definition says. What could not be seen, or would change what the text means as JSON, stays escaped.
func readable(text string) string {
	if !strings.Contains(text, `\u`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			i++
			continue
		}
		r, size := escaped(text[i:])
		if size == 0 || r < 0x80 || !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			size = max(size, 2)
			b.WriteString(text[i : i+size])
		} else {
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// escaped reads the character that begins a text as \uXXXX, or as two of these, and how many bytes it takes; 0 for
// another escape.
func escaped(text string) (r rune, size int) {
	unit := func(s string) (rune, bool) {
		if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
			return 0, false
		}
		n, err := strconv.ParseUint(s[2:6], 16, 16)
		return rune(n), err == nil
	}
	r, ok := unit(text)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(r) {
		low, ok := unit(text[6:])
		if r = utf16.DecodeRune(r, low); !ok || r == unicode.ReplacementChar {
			return unicode.ReplacementChar, 6
		}
		return r, 12
	}
	return r, 6
}
