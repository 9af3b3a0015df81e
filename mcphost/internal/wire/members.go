package wire

import (
	"encoding/json"
	"strconv"
)

// repair puts right what the scanner tolerated in b, a complete object. nulled says that a number
// which JSON cannot hold has become null.
func repair(b []byte) (out []byte, nulled bool) {
	out = make([]byte, 0, len(b)+16)
	quoted, escaped := false, false
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case quoted && escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted && c < 0x20:
			out = append(out, `\u00`...)
			out = append(out, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
			continue
		case !quoted && c == 'N':
			out, nulled = append(out, "null"...), true
			i += len("NaN") - 1
			continue
		case !quoted && c == 'I':
			if n := len(out); n > 0 && out[n-1] == '-' {
				out = out[:n-1]
			}
			out, nulled = append(out, "null"...), true
			i += len("Infinity") - 1
			continue
		}
		out = append(out, c)
	}
	return out, nulled
}

// members calls f for each member of an object that the scanner accepted, in order,
// until f returns false. The values are parts of b. It returns false if b is no object.
// Of an object that is cut off it finds what is there; the last value may lack its end.
func members(b []byte, f func(name string, value []byte) bool) bool {
	i := space(b, 0)
	if i >= len(b) || b[i] != '{' {
		return false
	}
	for i = space(b, i+1); i < len(b) && b[i] == '"'; i = space(b, i+1) {
		end := skip(b, i)
		name := text(b[i:end])
		if i = space(b, space(b, end)+1); i >= len(b) { // past the colon
			break
		}
		end = skip(b, i)
		if !f(name, b[i:end:end]) {
			return true
		}
		if i = space(b, end); i >= len(b) || b[i] != ',' {
			break
		}
	}
	return true
}

func space(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

// skip returns where the value that begins at i ends.
func skip(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		depth := 0
		for ; i < len(b); i++ {
			switch b[i] {
			case '"':
				i = skipString(b, i) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return len(b)
	}
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && !isSpace(b[i]) {
		i++
	}
	return i
}

func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch {
		case plain[b[i]]:
		case b[i] == '\\':
			i++
		case b[i] == '"':
			return i + 1
		}
	}
	return len(b)
}

// text returns the string that a JSON string stands for; other values as written.
func text(b []byte) string {
	if len(b) < 2 || b[0] != '"' {
		return string(b)
	}
	if inside := b[1 : len(b)-1]; literal(inside) {
		return string(inside)
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return string(b[1 : len(b)-1])
	}
	return s
}

// isObject reports whether a value is an object.
func isObject(b []byte) bool { return len(b) > 0 && b[0] == '{' }

// isString reports whether a value is a string.
func isString(b []byte) bool { return len(b) > 0 && b[0] == '"' }

// member returns one member of an object, nil if it is not there.
func member(b []byte, name string) (value []byte) {
	members(b, func(n string, v []byte) bool {
		if n == name {
			value = v
		}
		return true
	})
	return value
}

// quote writes a JSON string.
func quote(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		return []byte(strconv.Quote(s)) // a string can always be marshalled
	}
	return b
}
