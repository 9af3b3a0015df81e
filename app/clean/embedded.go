package clean

import "strings"

const (
	maxMediaType = 200 // bytes before "base64,"
	minEncoded   = 16  // characters of base64 from which on an address counts as one
	minLine      = 60  // characters of a line of base64 that goes on in the next one
)

// Embedded replaces each data address that holds base64 (RFC 2397), wherever it stands:
// alone, in a sentence, or in strings of JSON within strings of JSON, where slashes have a
// backslash or several and characters are written as escapes. replace is given the media
// type, "" for none, and the base64 with the escapes undone; it may be no valid base64.
func Embedded(s string, replace func(media, encoded string) string) string {
	const mark = "base64,"
	var b strings.Builder
	done := 0
	for from := 0; ; {
		at := strings.Index(s[from:], mark)
		if at < 0 {
			break
		}
		at += from
		from = at + len(mark)
		earliest := max(done, at-maxMediaType)
		begin := strings.LastIndex(s[earliest:at], "data:")
		if begin < 0 {
			continue
		}
		begin += earliest
		media, ok := mediaType(s[begin+len("data:") : at])
		encoded, end := encodedText(s, from)
		if !ok || len(encoded) < minEncoded {
			continue
		}
		b.WriteString(s[done:begin])
		b.WriteString(replace(media, encoded))
		done, from = end, end
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

var unescaped = strings.NewReplacer(`\`, "", "u002f", "/", "u002F", "/", "%2f", "/", "%2F", "/", "u003b", ";", "u003B", ";", "%3b", ";", "%3B", ";")

// mediaType reads what stands between "data:" and "base64,", without its parameters.
func mediaType(s string) (string, bool) {
	s = unescaped.Replace(s)
	rest, ok := strings.CutSuffix(s, ";")
	if !ok || strings.ContainsAny(s, " \t\r\n\"'<>()[]{},") {
		return "", false
	}
	media, _, _ := strings.Cut(rest, ";")
	return strings.ToLower(media), true
}

// encodedText reads base64 that begins at i, and where it ends.
func encodedText(s string, i int) (encoded string, end int) {
	var b strings.Builder
	plain := i // from where on it stands as it is
	line := i
	for i < len(s) {
		c := s[i]
		if c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '=' || c == '-' || c == '_' {
			i++
			continue
		}
		meant, n := escaped(s[i:])
		if (c == '\r' || c == '\n') && (i-line >= minLine || i == line) {
			n = 1
		}
		if n == 0 {
			break
		}
		if meant == "" {
			line = i + n
		}
		b.WriteString(s[plain:i])
		b.WriteString(meant)
		i += n
		plain = i
	}
	if b.Len() == 0 {
		return s[plain:i], i
	}
	b.WriteString(s[plain:i])
	return b.String(), i
}

// escaped reads an escape of a string in JSON, however often it was escaped itself, or of an
// address, that stands for a character of base64 or for a line break; 0 for anything else.
func escaped(s string) (meant string, n int) {
	for n < len(s) && s[n] == '\\' {
		n++
	}
	rest := s[n:]
	switch {
	case n == 0 && len(s) >= 3 && s[0] == '%':
		if c := special[strings.ToLower(s[1:3])]; c != "" {
			return c, 3
		}
	case n == 0 || rest == "":
	case rest[0] == '/':
		return "/", n + 1
	case rest[0] == 'n' || rest[0] == 'r':
		return "", n + 1
	case len(rest) >= 5 && rest[:3] == "u00":
		if c := special[strings.ToLower(rest[3:5])]; c != "" {
			return c, n + 5
		}
	}
	return "", 0
}

// special are the characters of base64 that are written as escapes, by their code.
var special = map[string]string{"2b": "+", "2f": "/", "3d": "="}
