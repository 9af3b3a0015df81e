package llm

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
)

// mend makes JSON of an event that is none for one of two reasons which lose nothing: NaN and infinite numbers, as
// Python's library writes them, become null, and control characters in texts are escaped. It is nil where there is
// nothing of the kind, and where the event has arguments of a call, which are never changed.
func mend(b []byte, err error) []byte {
	if errors.Is(err, errJSONEnd) || bytes.Contains(withoutEscapes(b), []byte("arguments")) {
		return nil
	}
	out := make([]byte, 0, len(b)+16)
	inText, changed := false, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case inText && c == '\\' && i+1 < len(b):
			out = append(out, c, b[i+1])
			i++
		case c == '"':
			inText = !inText
			out = append(out, c)
		case inText && c < ' ':
			out, changed = fmt.Appendf(out, `\u%04x`, c), true
		case !inText && (c == 'N' || c == 'I' || c == '-'):
			word := noNumber(b[i:])
			if word == 0 {
				out = append(out, c)
				continue
			}
			out, changed = append(out, "null"...), true
			i += word - 1
		default:
			out = append(out, c)
		}
	}
	if !changed {
		return nil
	}
	return out
}

var asciiEscape = regexp.MustCompile(`\\u00[0-7][0-9a-fA-F]`)

// withoutEscapes is b with the escapes of letters resolved, as names may be written with them.
func withoutEscapes(b []byte) []byte {
	return asciiEscape.ReplaceAllFunc(b, func(e []byte) []byte { return []byte(unquote([]byte(`"` + string(e) + `"`))) })
}

// noNumber is the length of NaN, Infinity or -Infinity at the beginning of b, else 0.
func noNumber(b []byte) int {
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if bytes.HasPrefix(b, []byte(word)) {
			return len(word)
		}
	}
	return 0
}
