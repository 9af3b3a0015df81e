package schema

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// Member is one name of an object with its value as written.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Object is a JSON object in the order it was written. A name that appears twice
// appears twice.
type Object []Member

// Get gives the value of name, and whether there is one. Of several it is the last,
// the one that most readers of JSON would take.
func (o Object) Get(name string) (json.RawMessage, bool) {
	for i := len(o) - 1; i >= 0; i-- {
		if o[i].Name == name {
			return o[i].Value, true
		}
	}
	return nil, false
}

// Duplicates lists the names that appear more than once, in order of first repetition.
func (o Object) Duplicates() []string {
	count := make(map[string]int, len(o))
	var twice []string
	for _, m := range o {
		count[m.Name]++
		if count[m.Name] == 2 {
			twice = append(twice, m.Name)
		}
	}
	return twice
}

// ParseObject reads one JSON object without losing order or repeated names. The
// whole text is checked as [Compact] does. Values are slices of raw, which must not
// be changed afterwards.
func ParseObject(raw []byte) (Object, error) {
	s, err := newScanner(raw)
	if err != nil {
		return nil, err
	}
	if err := s.document(); err != nil {
		return nil, err
	}
	s.pos = 0
	s.space()
	if s.src[s.pos] != '{' {
		return nil, s.fail(s.pos, "a JSON object was expected")
	}
	return s.members(), nil
}

// uncheckedObject reads an object out of a text that was checked before.
func uncheckedObject(raw []byte) Object {
	s := scanner{src: raw}
	s.space()
	return s.members()
}

// uncheckedArray reads an array out of a text that was checked before.
func uncheckedArray(raw []byte) []json.RawMessage {
	s := scanner{src: raw}
	s.space()
	items := []json.RawMessage{}
	s.pos++
	for s.space(); s.src[s.pos] != ']'; s.space() {
		if s.src[s.pos] == ',' {
			s.pos++
			s.space()
		}
		start := s.pos
		s.skip()
		items = append(items, json.RawMessage(s.src[start:s.pos:s.pos]))
	}
	return items
}

// members reads the object at pos of a text that was checked before.
func (s *scanner) members() Object {
	o := Object{}
	s.pos++
	for s.space(); s.src[s.pos] != '}'; s.space() {
		if s.src[s.pos] == ',' {
			s.pos++
			s.space()
		}
		from := s.pos
		s.skip()
		name := unquote(s.src[from:s.pos])
		s.space()
		s.pos++ // the colon
		s.space()
		start := s.pos
		s.skip()
		o = append(o, Member{Name: string(name), Value: json.RawMessage(s.src[start:s.pos:s.pos])})
	}
	s.pos++
	return o
}

// skip passes over the value at pos of a text that was checked before, without
// checking it again.
func (s *scanner) skip() {
	depth := 0
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; c {
		case '"':
			s.skipString()
			if depth == 0 {
				return
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return // the end of a number or word in the object around it
			}
			depth--
			if depth == 0 {
				s.pos++
				return
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return
			}
		}
		s.pos++
	}
}

func (s *scanner) skipString() {
	for s.pos++; s.src[s.pos] != '"'; s.pos++ {
		if s.src[s.pos] == '\\' {
			s.pos++
		}
	}
	s.pos++
}

// Canonical gives the one text for everything that is the same JSON value as written
// by different writers: no white space, the names of every object sorted by code
// point, strings with the fewest escapes. Nothing is lost: repeated names stay, in
// their order, numbers stay as written (1.0 is not 1), array order stays. It is meant
// for hashes, where two different definitions must never become one; RFC 8785 is not
// used because it rounds numbers to float64 and knows no repeated names.
//
// Unlike [Compact] it accepts the escape of half a surrogate pair, which has no other
// spelling, and keeps it. Other errors are those of Compact.
func Canonical(raw []byte) ([]byte, error) {
	s, err := newScanner(raw)
	if err != nil {
		return nil, err
	}
	s.lone = true
	if err := s.document(); err != nil {
		return nil, err
	}
	s.pos = 0
	s.space()
	out := s.canonical(make([]byte, 0, len(raw)))
	if s.moved > maxMoved {
		return nil, limitError("the JSON text has too many unsorted names at too many levels to be put in order")
	}
	return out, nil
}

// maxMoved bounds the bytes copied to put names in order: an object is copied once
// for every unsorted object around it, so depth multiplies size.
const maxMoved = 256 << 20

// canonical appends the canonical text of the value at pos, which was checked before.
func (s *scanner) canonical(out []byte) []byte {
	start := s.pos
	switch s.src[s.pos] {
	case '{':
		return s.canonicalObject(out)
	case '[':
		out = append(out, '[')
		s.pos++
		for s.space(); s.src[s.pos] != ']'; s.space() {
			if s.src[s.pos] == ',' {
				out = append(out, ',')
				s.pos++
				s.space()
			}
			out = s.canonical(out)
		}
		s.pos++
		return append(out, ']')
	case '"':
		s.skipString()
		return appendQuoted(out, unquote(s.src[start:s.pos]))
	}
	s.skip()
	return append(out, s.src[start:s.pos]...)
}

// span is one member of an object: its name, and where its canonical text stands.
type span struct {
	name     []byte
	from, to int
}

// canonicalObject writes the members where they come and then puts them in order.
func (s *scanner) canonicalObject(out []byte) []byte {
	out = append(out, '{')
	base := len(out)
	var spans []span
	sorted := true
	s.pos++
	for s.space(); s.src[s.pos] != '}'; s.space() {
		if s.src[s.pos] == ',' {
			s.pos++
			s.space()
		}
		start := s.pos
		s.skipString()
		name := unquote(s.src[start:s.pos])
		s.space()
		s.pos++ // the colon
		s.space()
		from := len(out)
		out = appendQuoted(out, name)
		out = append(out, ':')
		out = s.canonical(out)
		out = append(out, ',')
		if n := len(spans); n > 0 && bytes.Compare(spans[n-1].name, name) > 0 {
			sorted = false
		}
		spans = append(spans, span{name, from, len(out)})
	}
	s.pos++
	if !sorted {
		s.moved += len(out) - base
	}
	if !sorted && s.moved <= maxMoved {
		written := bytes.Clone(out[base:])
		slices.SortStableFunc(spans, func(a, b span) int { return bytes.Compare(a.name, b.name) })
		out = out[:base]
		for _, sp := range spans {
			out = append(out, written[sp.from-base:sp.to-base]...)
		}
	}
	if len(spans) > 0 {
		out = out[:len(out)-1] // the last comma
	}
	return append(out, '}')
}

// unquote decodes a checked string token. Half a surrogate pair becomes the three
// bytes it would have if UTF-8 allowed it (WTF-8), so that no two strings meet.
// Without escapes the result is a part of token.
func unquote(token []byte) []byte {
	token = token[1 : len(token)-1]
	i := bytes.IndexByte(token, '\\')
	if i < 0 {
		return token
	}
	out := append(make([]byte, 0, len(token)), token[:i]...)
	for i < len(token) {
		c := token[i]
		if c != '\\' {
			out = append(out, c)
			i++
			continue
		}
		if token[i+1] != 'u' {
			out = append(out, unescaped(token[i+1]))
			i += 2
			continue
		}
		u, _ := hex4(token, i+2)
		i += 6
		if utf16.IsSurrogate(u) {
			low, ok := lowHalf(token, i)
			if r := utf16.DecodeRune(u, low); ok && r != utf8.RuneError {
				out = utf8.AppendRune(out, r)
				i += 6
				continue
			}
			out = append(out, 0xe0|byte(u>>12), 0x80|byte(u>>6)&0x3f, 0x80|byte(u)&0x3f)
			continue
		}
		out = utf8.AppendRune(out, u)
	}
	return out
}

func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

const hexDigits = "0123456789abcdef"

// appendQuoted writes a decoded string with the fewest escapes: quote, backslash,
// the control characters below 0x20, and half surrogates.
func appendQuoted(out, text []byte) []byte {
	out = append(out, '"')
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c < 0x20:
			out = appendControl(out, c)
		case c == 0xed && i+2 < len(text) && text[i+1] >= 0xa0:
			u := 0xd000 | uint16(text[i+1]&0x3f)<<6 | uint16(text[i+2]&0x3f)
			out = append(out, '\\', 'u', hexDigits[u>>12], hexDigits[u>>8&15], hexDigits[u>>4&15], hexDigits[u&15])
			i += 2
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}

func appendControl(out []byte, c byte) []byte {
	switch c {
	case '\b':
		return append(out, '\\', 'b')
	case '\f':
		return append(out, '\\', 'f')
	case '\n':
		return append(out, '\\', 'n')
	case '\r':
		return append(out, '\\', 'r')
	case '\t':
		return append(out, '\\', 't')
	}
	return append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}
