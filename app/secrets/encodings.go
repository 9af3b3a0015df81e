package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf16"
)

// encodings lists the forms in which a value of at least minFree bytes may
// stand in other text.
func encodings(value string) []string {
	forms := []string{value, url.QueryEscape(value), url.PathEscape(value), percentAll(value)}
	for _, v := range []string{value, jsonEscape(value), jsonEscapeHTML(value), jsonASCII(value)} {
		forms = append(forms, v, jsonEscape(v)) // the second: JSON held in JSON, as tool arguments are
	}
	forms = append(forms, hex.EncodeToString([]byte(value)), strings.ToUpper(hex.EncodeToString([]byte(value))))
	for offset := range 3 {
		forms = append(forms, base64Inside(base64.StdEncoding, value, offset), base64Inside(base64.URLEncoding, value, offset))
	}
	for _, f := range forms[1:4] {
		forms = append(forms, lowerPercent(f))
	}
	kept := forms[:0]
	for _, f := range forms {
		if len(f) >= minFree {
			kept = append(kept, f)
		}
	}
	return kept
}

// jsonEscape gives the inside of the JSON text, with <, > and & as they are.
func jsonEscape(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return s // a string always encodes
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(b.String(), "\n"), `"`), `"`)
}

// jsonEscapeHTML is what encoding/json writes by itself: <, > and & by number.
func jsonEscapeHTML(s string) string {
	return strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(jsonEscape(s))
}

// jsonASCII writes everything beyond ASCII by number, as many encoders do, and
// the slash with a backslash, as PHP's does.
func jsonASCII(s string) string {
	var b strings.Builder
	for _, r := range jsonEscape(s) {
		switch {
		case r == '/':
			b.WriteString(`\/`)
		case r < 0x80:
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		}
	}
	return b.String()
}

// percentAll encodes everything but letters and digits.
func percentAll(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; isWord(c) && c < 0x80 && c != '_' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// lowerPercent writes %2F as %2f.
func lowerPercent(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(string(b[i+1:i+3])))
		}
	}
	return string(b)
}

// base64Inside gives those characters of the encoding that depend on the value
// alone, if offset bytes (of each group of three) stand before it and anything
// may follow.
func base64Inside(enc *base64.Encoding, value string, offset int) string {
	encoded := enc.WithPadding(base64.NoPadding).EncodeToString(append(make([]byte, offset), value...))
	first := (offset*8 + 5) / 6 // characters that hold bits of what stands before
	whole := (offset + len(value)) * 8 / 6
	if first >= whole {
		return ""
	}
	return encoded[first:whole]
}
