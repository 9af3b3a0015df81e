package wire

// scanner follows one JSON object (RFC 8259) byte by byte, so that a message can be
// recognised while it arrives, over several reads and lines, however long it is. It
// is more tolerant than the RFC in two points, which repair puts right afterwards:
// control characters other than line ends inside strings, and the literals NaN,
// Infinity and -Infinity, which Python and JavaScript programs write.
//
// It also notes the value of the member "id" of the outermost object, so that a
// message too large to keep, or broken further on, can still fail its request.
type scanner struct {
	state     scanState
	nested    []bool // per open container: true for an object
	deepest   int
	tolerated bool   // something needs repair
	literal   string // the literal being read, and how far
	read      int
	hex       int
	inKey     bool

	key []byte // the outermost member's name, at most maxKey bytes
	id  []byte // the value of "id", at most maxID bytes
	own bool   // the value being read is that of "id"
}

const (
	maxKey = 16
	maxID  = 128
	// maxNested bounds the scanner's own memory; MaxDepth is what is accepted.
	maxNested = 1 << 20
)

type scanState uint8

const (
	wantValue     scanState = iota
	wantFirstItem           // value or ]
	wantFirstKey            // key or }
	wantKey
	wantColon
	wantMore // , or the end of the container
	inString
	inEscape
	inHex
	inLiteral
	numberSign
	numberZero
	numberDigits
	numberPoint
	numberFraction
	numberExponent
	numberExponentSign
	numberExponentDigits
)

type scanResult uint8

const (
	scanMore scanResult = iota // all bytes were taken, the object goes on
	scanDone                   // the object is complete
	scanBad                    // the byte at the returned offset cannot stand there
)

func (s *scanner) reset() {
	*s = scanner{nested: s.nested[:0], key: s.key[:0], id: s.id[:0]}
}

// plain tells the bytes that need no attention inside a string.
var plain = func() (t [256]bool) {
	for i := 0x20; i < 256; i++ {
		t[i] = i != '"' && i != '\\'
	}
	return t
}()

// feed takes bytes and returns how many belong to the object.
func (s *scanner) feed(b []byte) (int, scanResult) {
	for i := 0; i < len(b); i++ {
		if s.state == inString {
			from := i
			for i < len(b) && plain[b[i]] {
				i++
			}
			s.note(b[from:i])
			if i == len(b) {
				return i, scanMore
			}
		}
		c := b[i]
		if s.isNumber() && s.number(c) {
			s.note(b[i : i+1])
			continue
		}
		if !s.step(c) {
			return i, scanBad
		}
		if len(s.nested) == 0 {
			return i + 1, scanDone
		}
	}
	return len(b), scanMore
}

// note keeps the bytes of a name or an id of the outermost object.
func (s *scanner) note(b []byte) {
	switch {
	case len(s.nested) != 1:
	case s.inKey:
		s.key = append(s.key, b[:min(len(b), maxKey-len(s.key))]...)
	case s.own:
		s.id = append(s.id, b[:min(len(b), maxID-len(s.id))]...)
	}
}

func (s *scanner) isNumber() bool { return s.state >= numberSign }

// number takes c as part of a number; false means that the number ended before c, or
// cannot end there (step then refuses).
func (s *scanner) number(c byte) bool {
	digit := c >= '0' && c <= '9'
	next := s.state
	switch s.state {
	case numberSign:
		switch {
		case c == '0':
			next = numberZero
		case digit:
			next = numberDigits
		case c == 'I':
			s.tolerated = true
			s.literal, s.read, s.state = "Infinity", 1, inLiteral
			return true
		default:
			return false
		}
	case numberZero, numberDigits:
		switch {
		case digit && s.state == numberDigits:
		case c == '.':
			next = numberPoint
		case c == 'e' || c == 'E':
			next = numberExponent
		default:
			s.state = wantMore
			return false
		}
	case numberPoint, numberFraction:
		switch {
		case digit:
			next = numberFraction
		case s.state == numberFraction && (c == 'e' || c == 'E'):
			next = numberExponent
		case s.state == numberFraction:
			s.state = wantMore
			return false
		default:
			return false
		}
	case numberExponent:
		switch {
		case c == '+' || c == '-':
			next = numberExponentSign
		case digit:
			next = numberExponentDigits
		default:
			return false
		}
	case numberExponentSign, numberExponentDigits:
		switch {
		case digit:
			next = numberExponentDigits
		case s.state == numberExponentDigits:
			s.state = wantMore
			return false
		default:
			return false
		}
	}
	s.state = next
	return true
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// step takes one byte outside of numbers and of the plain run of a string.
func (s *scanner) step(c byte) bool {
	switch s.state {
	case wantValue:
		return isSpace(c) || s.value(c)
	case wantFirstItem:
		return isSpace(c) || c == ']' && s.close(false) || c != ']' && s.value(c)
	case wantFirstKey:
		return isSpace(c) || c == '}' && s.close(true) || s.beginKey(c)
	case wantKey:
		return isSpace(c) || s.beginKey(c)
	case wantColon:
		if c == ':' {
			s.state = wantValue
			s.own = len(s.nested) == 1 && string(s.key) == "id"
			if s.own {
				s.id = s.id[:0]
			}
			return true
		}
		return isSpace(c)
	case wantMore:
		return isSpace(c) || s.more(c)
	case inString:
		return s.endOfPlain(c)
	case inEscape:
		s.note([]byte{c})
		switch c {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			s.state = inString
		case 'u':
			s.state, s.hex = inHex, 0
		default:
			return false
		}
		return true
	case inHex:
		s.note([]byte{c})
		if s.hex++; s.hex == 4 {
			s.state = inString
		}
		return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
	case inLiteral:
		if c != s.literal[s.read] {
			return false
		}
		if s.read++; s.read == len(s.literal) {
			s.state = wantMore
		}
		return true
	}
	return false // a number that ends too early
}

// value takes the first byte of a value.
func (s *scanner) value(c byte) bool {
	switch c {
	case '{':
		return s.open(true)
	case '[':
		return s.open(false)
	case '"':
		s.note([]byte{c})
		s.state, s.inKey = inString, false
	case 't':
		s.literal, s.read, s.state = "true", 1, inLiteral
	case 'f':
		s.literal, s.read, s.state = "false", 1, inLiteral
	case 'n':
		s.literal, s.read, s.state = "null", 1, inLiteral
	case 'N':
		s.tolerated = true
		s.literal, s.read, s.state = "NaN", 1, inLiteral
	case 'I':
		s.tolerated = true
		s.literal, s.read, s.state = "Infinity", 1, inLiteral
	case '-':
		s.note([]byte{c})
		s.state = numberSign
	case '0':
		s.note([]byte{c})
		s.state = numberZero
	default:
		if c < '1' || c > '9' {
			return false
		}
		s.note([]byte{c})
		s.state = numberDigits
	}
	return true
}

func (s *scanner) open(object bool) bool {
	if len(s.nested) == maxNested {
		return false
	}
	s.nested = append(s.nested, object)
	s.deepest = max(s.deepest, len(s.nested))
	s.state = wantFirstItem
	if object {
		s.state = wantFirstKey
	}
	return true
}

func (s *scanner) close(object bool) bool {
	top := len(s.nested) - 1
	if s.nested[top] != object {
		return false
	}
	s.nested = s.nested[:top]
	s.state = wantMore
	return true
}

func (s *scanner) beginKey(c byte) bool {
	if c != '"' {
		return false
	}
	s.state, s.inKey = inString, true
	if len(s.nested) == 1 {
		s.key = s.key[:0]
	}
	return true
}

func (s *scanner) more(c byte) bool {
	switch c {
	case ',':
		s.state = wantValue
		if s.nested[len(s.nested)-1] {
			s.state = wantKey
		}
		if len(s.nested) == 1 {
			s.own = false
		}
		return true
	case '}':
		return s.close(true)
	case ']':
		return s.close(false)
	}
	return false
}

// endOfPlain takes a byte of a string that is not plain.
func (s *scanner) endOfPlain(c byte) bool {
	switch c {
	case '"':
		if s.inKey {
			s.state, s.inKey = wantColon, false
			return true
		}
		s.note([]byte{c})
		s.state = wantMore
		return true
	case '\\':
		s.note([]byte{c})
		s.state = inEscape
		return true
	case '\n', '\r':
		return false // a string never crosses a line
	}
	s.tolerated = true
	return true
}

// check scans a whole JSON object and reports whether it is one.
func (s *scanner) check(b []byte) bool {
	s.reset()
	n, r := s.feed(b)
	return r == scanDone && n == len(b)
}
