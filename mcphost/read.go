package mcphost

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"steward/mcphost/schema"
)

// fields reads the members of an object, names compared exactly; ok is false
// where raw is no object. Servers are foreign: nothing here may be decoded into
// a struct, whose names encoding/json would match in any case.
func fields(raw json.RawMessage) (map[string]json.RawMessage, bool) {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil || m == nil {
		return nil, false
	}
	return m, true
}

// str reads a string; "" where raw is none.
func str(raw json.RawMessage) string {
	if len(raw) == 0 || raw[0] != '"' {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// boolean reads a boolean; nil where raw is none.
func boolean(raw json.RawMessage) *bool {
	var b bool
	switch string(raw) {
	case "true":
		b = true
	case "false":
	default:
		return nil
	}
	return &b
}

// number reads a number; ok is false where raw is none or not finite.
func number(raw json.RawMessage) (f float64, ok bool) {
	if len(raw) == 0 || (raw[0] != '-' && (raw[0] < '0' || raw[0] > '9')) {
		return 0, false
	}
	if json.Unmarshal(raw, &f) != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

// array reads the elements of an array; ok is false where raw is none.
func array(raw json.RawMessage) (a []json.RawMessage, ok bool) {
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &a) != nil {
		return nil, false
	}
	return a, true
}

// object returns raw if it is an object, else nil.
func object(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	return raw
}

// absent reports whether a member is missing or null.
func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// wrongType says which member of an entry is not of the type the protocol
// gives it; "" if none. Wants: s string, b boolean, o object, a array,
// n number.
func wrongType(m map[string]json.RawMessage, wants string) string {
	for want := range strings.FieldsSeq(wants) {
		name, kind, _ := strings.Cut(want, ":")
		raw := m[name]
		if absent(raw) {
			continue
		}
		ok := false
		switch kind {
		case "s":
			ok = raw[0] == '"'
		case "b":
			ok = boolean(raw) != nil
		case "o":
			ok = raw[0] == '{'
		case "a":
			ok = raw[0] == '['
		case "n":
			_, ok = number(raw)
		}
		if !ok {
			return fmt.Sprintf("its %s is of the wrong type (%s)", name, short(string(raw), 40))
		}
	}
	return ""
}

// short cuts a text for a message.
func short(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// badName says why a name cannot be offered; "" if it can. Names in any script
// are fine; characters that cannot be seen are not.
func badName(name string) string {
	switch {
	case name == "":
		return "it has no name"
	case len(name) > MaxName:
		return fmt.Sprintf("its name is longer than %d bytes", MaxName)
	case !utf8.ValidString(name):
		return "its name is not valid UTF-8"
	}
	for _, r := range name {
		if unicode.IsControl(r) || invisible(r) {
			return fmt.Sprintf("its name %+q holds a character that cannot be seen (U+%04X)", short(name, 100), r)
		}
	}
	return ""
}

// invisible reports characters that show nothing, or change how others show:
// format characters, line separators, blanks that are not the space, fillers
// (UTS #39, default ignorable code points).
func invisible(r rune) bool {
	switch {
	case r < 0x80:
		return false
	case unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Zs, unicode.Variation_Selector):
		return true
	case r == 0x034F, r == 0x115F, r == 0x1160, r == 0x17B4, r == 0x17B5, r == 0x3164, r == 0xFFA0,
		r == 0x2800, r >= 0x180B && r <= 0x180F, r >= 0xE0000 && r <= 0xE0FFF, r >= 0xFFF0 && r <= 0xFFF8:
		return true
	}
	return false
}

// hashText is the hash of a text.
func hashText(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// definition is the hash of an entry of a list: over its canonical form,
// without _meta other than _meta.ui, which decides what an app may do.
func definition(raw json.RawMessage) (string, error) {
	canonical, err := schema.Canonical(raw)
	if err != nil {
		return "", err
	}
	// The members of canonical are sorted and its strings have one spelling,
	// so taking some out leaves a canonical text.
	var kept strings.Builder
	kept.WriteByte('{')
	for _, m := range topMembers(canonical) {
		if m.name == "_meta" {
			ui, ok := fields(m.value)
			if !ok || absent(ui["ui"]) {
				continue
			}
			only, err := schema.Canonical(ui["ui"])
			if err != nil {
				return "", err
			}
			m.value = []byte(`{"ui":` + string(only) + `}`)
		}
		if kept.Len() > 1 {
			kept.WriteByte(',')
		}
		kept.WriteString(m.key)
		kept.WriteByte(':')
		kept.Write(m.value)
	}
	kept.WriteByte('}')
	return hashText(kept.String()), nil
}

// topMember is one member of an object in canonical text; key is its name as
// written, quotes included.
type topMember struct {
	key, name string
	value     json.RawMessage
}

// topMembers cuts an object in canonical text into its members. Repeated names
// stay.
func topMembers(canonical []byte) []topMember {
	var out []topMember
	for i := 1; i < len(canonical)-1; {
		keyEnd := i + skipValue(canonical[i:])
		valueEnd := keyEnd + 1 + skipValue(canonical[keyEnd+1:])
		key := string(canonical[i:keyEnd])
		out = append(out, topMember{key: key, name: str(json.RawMessage(key)), value: canonical[keyEnd+1 : valueEnd]})
		i = valueEnd + 1 // past the comma
	}
	return out
}

// skipValue returns the length of the value that canonical text begins with.
func skipValue(b []byte) int {
	depth, inString := 0, false
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case inString:
			if c == '\\' {
				i++
			} else if c == '"' {
				inString = false
				if depth == 0 {
					return i + 1
				}
			}
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case depth == 0 && (c == ',' || c == ':'):
			return i
		}
	}
	return len(b)
}
