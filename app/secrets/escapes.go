package secrets

import "strings"

// seen is replace, applied to a text and to what the text says once its escapes of JSON are
// read: a value is a secret also where its letters are written by number. Where that finds
// more, the escapes of ASCII in all of the text are read.
func seen(s string, replace func(string) string) string {
	out := replace(s)
	plain := asciiPlain(out)
	if plain == out {
		return out
	}
	if found := replace(plain); found != plain {
		return found
	}
	return out
}

// asciiPlain reads \u0020 to \u007e, also in JSON held in JSON, where several backslashes
// stand before the u. What JSON itself must escape stays.
func asciiPlain(s string) string {
	if !strings.Contains(s, `\u00`) {
		return s
	}
	var b strings.Builder
	done := 0
	for i := 0; ; {
		at := strings.Index(s[i:], `\u00`)
		if at < 0 {
			break
		}
		at += i
		i = at + 1
		c, ok := asciiOf(s[at:])
		if !ok {
			continue
		}
		start := at
		for start > done && s[start-1] == '\\' {
			start--
		}
		b.WriteString(s[done:start])
		b.WriteByte(c)
		done = at + len(`\u0000`)
		i = done
	}
	b.WriteString(s[done:])
	return b.String()
}

// asciiOf reads the escape that s begins with; false where it is none of a printable ASCII
// character that may stand in a string of JSON as it is.
func asciiOf(s string) (byte, bool) {
	if len(s) < len(`\u0000`) {
		return 0, false
	}
	c := 0
	for _, d := range []byte(s[len(`\u00`):len(`\u0000`)]) {
		switch {
		case d >= '0' && d <= '9':
			c = c<<4 | int(d-'0')
		case d >= 'a' && d <= 'f':
			c = c<<4 | int(d-'a'+10)
		case d >= 'A' && d <= 'F':
			c = c<<4 | int(d-'A'+10)
		default:
			return 0, false
		}
	}
	return byte(c), c >= 0x20 && c < 0x7F && c != '"' && c != '\\'
}
