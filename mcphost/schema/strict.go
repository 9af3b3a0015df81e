package schema

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits of every reader in this package.
const (
	// MaxDepth is how deep arrays and objects may be nested in a JSON text.
	MaxDepth = 1000
	// MaxBytes is how long a JSON text may be, in bytes.
	MaxBytes = 64 << 20
)

// ErrLimit is the errors.Is target of every refusal because of a size, depth or
// number limit.
var ErrLimit = errors.New("limit exceeded")

// limitError is a sentence that is ErrLimit for errors.Is.
type limitError string

func (e limitError) Error() string        { return string(e) }
func (e limitError) Is(target error) bool { return target == ErrLimit }

// SyntaxError says why a text is not one JSON value (RFC 8259) and where.
type SyntaxError struct {
	Offset  int    // in bytes, from 0
	Line    int    // from 1
	Column  int    // in characters, from 1
	Problem string // what is wrong, without the place
}

// Error gives the problem and its place.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("not valid JSON at line %d, column %d: %s", e.Line, e.Column, e.Problem)
}

// Compact removes the white space between the tokens of one JSON value and changes
// nothing else: order, repeated names, number text and string escapes stay as they
// are. It refuses, with a [*SyntaxError], everything that is not exactly one JSON
// value by RFC 8259: data after the value, a byte order mark, invalid UTF-8, and
// escapes of half a surrogate pair, which no receiver could read the same way.
// Errors about [MaxDepth] and [MaxBytes] are [ErrLimit]. The result is a new slice
// that the caller owns.
func Compact(raw []byte) ([]byte, error) {
	s, err := newScanner(raw)
	if err != nil {
		return nil, err
	}
	s.out = make([]byte, 0, len(raw))
	if err := s.document(); err != nil {
		return nil, err
	}
	return s.out, nil
}

// check is Compact without a result.
func check(raw []byte) error {
	s, err := newScanner(raw)
	if err != nil {
		return err
	}
	return s.document()
}

// scanner walks over one JSON text. With out set it copies every token there.
type scanner struct {
	src   []byte
	pos   int
	depth int
	out   []byte
	lone  bool // accept escapes of half a surrogate pair
	count int  // values read so far
	moved int  // bytes copied by Canonical to put names in order
}

func newScanner(raw []byte) (*scanner, error) {
	if len(raw) > MaxBytes {
		return nil, limitError(fmt.Sprintf("the JSON text is %d bytes long; at most %d are read", len(raw), MaxBytes))
	}
	return &scanner{src: raw}, nil
}

// fail makes a SyntaxError for the byte at offset at.
func (s *scanner) fail(at int, format string, args ...any) error {
	before := s.src[:min(at, len(s.src))]
	line := 1 + bytes.Count(before, []byte{'\n'})
	column := 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return &SyntaxError{Offset: at, Line: line, Column: column, Problem: fmt.Sprintf(format, args...)}
}

// unexpected describes the byte at pos, or the end of the text.
func (s *scanner) unexpected(want string) error {
	if s.pos >= len(s.src) {
		return s.fail(s.pos, "the text ends where %s should be", want)
	}
	r, size := utf8.DecodeRune(s.src[s.pos:])
	if r == utf8.RuneError && size < 2 {
		return s.fail(s.pos, "invalid UTF-8 byte 0x%02x", s.src[s.pos])
	}
	return s.fail(s.pos, "%q where %s should be", r, want)
}

func (s *scanner) space() {
	for s.pos < len(s.src) {
		switch s.src[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// document reads one value and demands the end of the text after it.
func (s *scanner) document() error {
	if bytes.HasPrefix(s.src, []byte("\xef\xbb\xbf")) {
		return s.fail(0, "a byte order mark stands before the value")
	}
	s.space()
	if err := s.value(); err != nil {
		return err
	}
	s.space()
	if s.pos < len(s.src) {
		return s.fail(s.pos, "more data follows after the value")
	}
	return nil
}

// value reads one value that begins at pos.
func (s *scanner) value() error {
	s.count++
	if s.pos >= len(s.src) {
		return s.unexpected("a value")
	}
	switch c := s.src[s.pos]; {
	case c == '"':
		return s.str()
	case c == '{' || c == '[':
		return s.nested(c)
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	}
	return s.unexpected("a value")
}

func (s *scanner) emit(from int) {
	if s.out != nil {
		s.out = append(s.out, s.src[from:s.pos]...)
	}
}

func (s *scanner) word(w string) error {
	start := s.pos
	if !bytes.HasPrefix(s.src[start:], []byte(w)) {
		return s.unexpected("a value")
	}
	s.pos += len(w)
	s.emit(start)
	return nil
}

// punct reads one structural byte.
func (s *scanner) punct() {
	s.pos++
	s.emit(s.pos - 1)
}

func (s *scanner) enter() error {
	s.depth++
	if s.depth > MaxDepth {
		return limitError(fmt.Sprintf("the JSON text is nested more than %d levels deep", MaxDepth))
	}
	return nil
}

// nested reads an object or an array.
func (s *scanner) nested(open byte) error {
	if err := s.enter(); err != nil {
		return err
	}
	end, name := byte(']'), "array"
	if open == '{' {
		end, name = '}', "object"
	}
	s.punct()
	s.space()
	if s.pos < len(s.src) && s.src[s.pos] == end {
		s.punct()
		s.depth--
		return nil
	}
	for {
		if open == '{' {
			if err := s.name(); err != nil {
				return err
			}
		}
		if err := s.value(); err != nil {
			return err
		}
		s.space()
		if s.pos < len(s.src) && s.src[s.pos] == ',' {
			s.punct()
			s.space()
			continue
		}
		if s.pos < len(s.src) && s.src[s.pos] == end {
			s.punct()
			s.depth--
			return nil
		}
		return s.unexpected("a comma or the end of the " + name)
	}
}

// name reads a member's name and its colon, and goes to the start of its value.
func (s *scanner) name() error {
	if s.pos >= len(s.src) || s.src[s.pos] != '"' {
		return s.unexpected("a name in quotes")
	}
	if err := s.str(); err != nil {
		return err
	}
	s.space()
	if s.pos >= len(s.src) || s.src[s.pos] != ':' {
		return s.unexpected("a colon")
	}
	s.punct()
	s.space()
	return nil
}

// str reads a string and checks its bytes and escapes.
func (s *scanner) str() error {
	start := s.pos
	src := s.src
	i := start + 1
	for i < len(src) {
		c := src[i]
		switch {
		case c == '"':
			s.pos = i + 1
			s.emit(start)
			return nil
		case c == '\\':
			n, err := s.escape(i)
			if err != nil {
				return err
			}
			i += n
		case c < 0x20:
			return s.fail(i, "the control character 0x%02x stands unescaped in a string", c)
		case c < utf8.RuneSelf:
			i++
		default:
			r, size := utf8.DecodeRune(src[i:])
			if r == utf8.RuneError && size == 1 {
				return s.fail(i, "invalid UTF-8 byte 0x%02x in a string", c)
			}
			i += size
		}
	}
	return s.fail(len(src), "the text ends inside a string")
}

// escape checks the escape that begins at i and gives its length in bytes.
func (s *scanner) escape(i int) (int, error) {
	if i+1 >= len(s.src) {
		return 0, s.fail(len(s.src), "the text ends inside a string")
	}
	switch s.src[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, nil
	case 'u':
	default:
		return 0, s.fail(i, "%q is not an escape of JSON", s.src[i:i+2])
	}
	u, ok := hex4(s.src, i+2)
	if !ok {
		return 0, s.fail(i, "\\u needs four hexadecimal digits")
	}
	if !utf16.IsSurrogate(u) {
		return 6, nil
	}
	if low, ok := lowHalf(s.src, i+6); ok && utf16.DecodeRune(u, low) != utf8.RuneError {
		return 12, nil
	}
	if s.lone {
		return 6, nil
	}
	return 0, s.fail(i, "%s is half of a surrogate pair, not a character", s.src[i:i+6])
}

// lowHalf reads the \uXXXX at i, if there is one.
func lowHalf(src []byte, i int) (rune, bool) {
	if i+1 >= len(src) || src[i] != '\\' || src[i+1] != 'u' {
		return 0, false
	}
	return hex4(src, i+2)
}

func hex4(src []byte, i int) (rune, bool) {
	if i+4 > len(src) {
		return 0, false
	}
	var r rune
	for _, c := range src[i : i+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// number reads a number by the grammar of RFC 8259, section 6.
func (s *scanner) number() error {
	start := s.pos
	if s.src[s.pos] == '-' {
		s.pos++
	}
	if s.pos < len(s.src) && s.src[s.pos] == '0' {
		s.pos++
		if s.pos < len(s.src) && isDigit(s.src[s.pos]) {
			return s.fail(start, "a number must not begin with a zero")
		}
	} else if !s.digits() {
		return s.unexpected("a digit")
	}
	if s.pos < len(s.src) && s.src[s.pos] == '.' {
		s.pos++
		if !s.digits() {
			return s.unexpected("a digit")
		}
	}
	if s.pos < len(s.src) && (s.src[s.pos] == 'e' || s.src[s.pos] == 'E') {
		s.pos++
		if s.pos < len(s.src) && (s.src[s.pos] == '+' || s.src[s.pos] == '-') {
			s.pos++
		}
		if !s.digits() {
			return s.unexpected("a digit")
		}
	}
	s.emit(start)
	return nil
}

func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.src) && isDigit(s.src[s.pos]) {
		s.pos++
	}
	return s.pos > start
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
