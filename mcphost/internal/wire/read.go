package wire

import (
	"encoding/json"
	"unicode/utf8"
)

// Fields reads the members of an object: of a name that comes twice the last. It returns nil where raw is no object.
// raw must be JSON that is known to be valid, as all is that a Tap hands on: it is not checked again, which for a
// large message costs more than reading it. The values are parts of raw.
func Fields(raw []byte) map[string]json.RawMessage {
	m := map[string]json.RawMessage{}
	if !members(raw, func(name string, v []byte) bool {
		m[name] = v
		return true
	}) {
		return nil
	}
	return m
}

// Elements reads the elements of an array, under the same condition; ok is false where raw is none.
func Elements(raw []byte) (all []json.RawMessage, ok bool) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil, false
	}
	all = []json.RawMessage{}
	elements(raw, func(v []byte) { all = append(all, v) })
	return all, true
}

// Text reads a string, under the same condition; "" where raw is none.
func Text(raw []byte) string {
	if !isString(raw) {
		return ""
	}
	return text(raw)
}

// literal reports whether the inside of a JSON string stands for itself.
func literal(b []byte) bool {
	ascii := true
	for _, c := range b {
		if !plain[c] {
			return false
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	return ascii || utf8.Valid(b)
}
