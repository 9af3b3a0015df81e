package wire

import (
	"bytes"
	"runtime"
)

// NoiseKept is how much of a line that is no message is kept, in bytes.
const NoiseKept = 8 << 10

// Limits of the search for a message behind a broken one.
const (
	maxTries  = 16      // broken objects on one line
	maxRetry  = 1 << 20 // bytes of a broken line that are looked at again
	chunkSize = 64 << 10
	// collectAbove is the size from which room for a message is only taken after what
	// earlier ones left behind was given back; it happens at most four times a message.
	collectAbove = 8 << 20
)

type kind uint8

const (
	whole    kind = iota // a complete JSON object
	noise                // text that is no object
	tooLarge             // an object above the limit: data is its head
	broken               // an object that is no JSON from some point on: data is its head
)

// piece is something found in the stream of a server.
type piece struct {
	kind kind
	data []byte
	// scan: of whole
	deep      bool
	tolerated bool
	nulled    bool // see repair; of a message alone
	// behindText is true if other text stood before it on its line.
	behindText bool
	// id is the object's own id as written, "" if it was not seen. (tooLarge, broken)
	id   string
	size int
}

// framer finds JSON objects in a stream in which a server's messages stand between
// anything else: banners, log lines, byte order marks, colours, blank lines; several
// on a line, or one over several lines. Outside of objects it pays no attention to
// brackets and commas, so a JSON-RPC batch falls apart into its messages.
//
// It keeps at most the object being read (up to max bytes) and the head of a line.
type framer struct {
	max  int
	emit func(piece)

	scan   scanner
	inside bool // an object is being read
	large  bool // … and it is over the limit
	told   bool // … and that was said
	size   int
	buf    []byte
	line   int  // where the current line begins in buf
	strict bool // an object must end on its line

	text  []byte // the head of what else stands on the line
	tries int
	prior bool // text stood before the object on its line
}

// feed takes bytes from the stream. It does not keep b.
func (f *framer) feed(b []byte) {
	for len(b) > 0 {
		if f.inside {
			b = f.object(b)
		} else {
			b = f.outside(b)
		}
	}
}

// outside takes bytes up to the beginning of an object.
func (f *framer) outside(b []byte) []byte {
	for i, c := range b {
		switch {
		case c == '\n':
			f.keep(b[:i])
			f.endLine()
			return b[i+1:]
		case c == '{' && f.tries < maxTries:
			f.keep(b[:i])
			f.begin()
			return b[i:]
		}
	}
	f.keep(b)
	return nil
}

func (f *framer) keep(b []byte) {
	if room := NoiseKept - len(f.text); room > 0 {
		f.text = append(f.text, b[:min(len(b), room)]...)
	}
}

func (f *framer) endLine() {
	if !isPadding(f.text) {
		f.emit(piece{kind: noise, data: bytes.Clone(f.text)})
	}
	f.text = f.text[:0]
	f.tries = 0
}

func (f *framer) begin() {
	f.scan.reset()
	f.inside, f.large, f.told = true, false, false
	f.size, f.line = 0, 0
	f.prior = !isPadding(f.text)
}

// object takes bytes of the object being read, at most to the end of the line.
func (f *framer) object(b []byte) []byte {
	part := b
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		part = b[:i+1]
	}
	n, result := f.scan.feed(part)
	f.take(part[:n], result)
	switch {
	case result == scanDone:
		f.complete(part[:n])
	case result == scanBad || f.strict && n > 0 && part[n-1] == '\n':
		f.reject()
	case part[n-1] == '\n' && !f.large:
		if f.hidesMessage() {
			f.reject()
		}
		f.line = len(f.buf)
	}
	return b[n:]
}

// take keeps the bytes, unless the object is complete and was never split: then they
// are used as they are.
func (f *framer) take(b []byte, result scanResult) {
	f.size += len(b)
	switch {
	case f.large:
	case f.size > f.max:
		f.large = true
		if len(f.buf) == 0 {
			f.buf = b
		}
		f.text = append(f.text[:0], f.buf[:min(len(f.buf), NoiseKept)]...)
		f.buf = nil
	case result == scanDone && len(f.buf) == 0:
	default:
		f.grow(len(b))
		f.buf = append(f.buf, b...)
	}
	if f.large && !f.told && len(f.scan.id) > 0 && !f.scan.own {
		f.tellLarge()
	}
}

// grow makes room for n more bytes. It doubles the room, never beyond the limit: append
// would take smaller steps and leave four times the message behind as garbage.
func (f *framer) grow(n int) {
	need := len(f.buf) + n
	if need <= cap(f.buf) || need <= chunkSize {
		return
	}
	if need > collectAbove {
		runtime.GC()
	}
	room := make([]byte, len(f.buf), max(need, min(2*cap(f.buf), f.max)))
	copy(room, f.buf)
	f.buf = room
}

func (f *framer) tellLarge() {
	f.told = true
	f.emit(piece{kind: tooLarge, data: bytes.Clone(f.text), id: string(f.scan.id), size: f.size})
}

func (f *framer) complete(last []byte) {
	f.inside = false
	if f.large {
		if !f.told {
			f.tellLarge()
		}
		f.text = f.text[:0]
		return
	}
	p := piece{kind: whole, deep: f.scan.deepest > MaxDepth, tolerated: f.scan.tolerated, behindText: f.prior}
	switch {
	case len(f.buf) == 0:
		p.data = bytes.Clone(last)
	case len(f.buf) > chunkSize:
		p.data, f.buf = f.buf, nil // handed over: a copy of a large message costs too much
	default:
		p.data = bytes.Clone(f.buf)
		f.buf = f.buf[:0]
	}
	p.size = len(p.data)
	f.emit(p)
}

// hidesMessage reports whether the line that just ended inside an object is itself a
// whole message: then the object began with a line of noise such as "{", and would
// swallow everything to come.
func (f *framer) hidesMessage() bool {
	line := bytes.TrimSpace(f.buf[f.line:])
	if f.line == 0 || len(line) == 0 || line[0] != '{' || !bytes.Contains(line, []byte(`"jsonrpc"`)) {
		return false
	}
	var s scanner
	return s.check(line)
}

// reject gives up the object being read. What follows its first brace is looked at
// again, with every further object bound to end on its line.
func (f *framer) reject() {
	f.inside = false
	if f.large {
		if !f.told {
			f.tellLarge()
		}
		f.text = f.text[:0]
		return
	}
	rejected := f.buf
	f.buf = nil
	if !f.prior && len(f.scan.id) > 0 && !f.scan.own && bytes.Contains(rejected, []byte(`"jsonrpc"`)) {
		f.emit(piece{kind: broken, data: bytes.Clone(rejected[:min(len(rejected), NoiseKept)]), id: string(f.scan.id), size: len(rejected)})
	}
	f.tries++
	if len(rejected) == 0 {
		return
	}
	if len(rejected) > maxRetry {
		f.keep(rejected)
		end := bytes.IndexByte(rejected, '\n')
		if end < 0 {
			return
		}
		rejected = rejected[end:]
	} else {
		f.keep(rejected[:1])
		rejected = rejected[1:]
	}
	outer := f.strict
	f.strict = true
	f.feed(rejected)
	f.strict = outer
}

// end says that the stream has ended: what is unfinished will not be finished.
func (f *framer) end() {
	for f.inside {
		f.reject()
	}
	f.endLine()
}

// isPadding reports whether text around messages says nothing: white space, control
// characters, a byte order mark, terminal sequences, and the brackets and commas of a
// batch.
func isPadding(b []byte) bool {
	for len(b) > 0 {
		switch c := b[0]; {
		case c == 0x1b:
			b = b[terminalSequence(b):]
		case c <= ' ' || c == 0x7f || c == '[' || c == ']' || c == ',':
			b = b[1:]
		case bytes.HasPrefix(b, []byte("\xef\xbb\xbf")):
			b = b[3:]
		default:
			return false
		}
	}
	return true
}

// terminalSequence returns the length of the control sequence b begins with
// (ECMA-48: CSI up to its final byte, OSC up to BEL or ST, else two bytes).
func terminalSequence(b []byte) int {
	if len(b) < 2 {
		return len(b)
	}
	switch b[1] {
	case '[':
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				return i + 1
			}
		}
		return len(b)
	case ']':
		for i := 2; i < len(b); i++ {
			if b[i] == 0x07 {
				return i + 1
			}
			if b[i] == 0x1b {
				return min(i+2, len(b)) // ST is ESC and a backslash
			}
		}
		return len(b)
	}
	return 2
}
