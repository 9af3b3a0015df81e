package llm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

const (
	maxLine  = 16 << 20 // longest line or event taken
	maxWhole = 16 << 20 // longest answer that is not a stream
	headSize = 4 << 10  // kept of an answer nobody can read, for the message
)

// reframer reads a server-sent event stream as it is found in the field and
// hands out events in the one form go-openai reads without loss: a line
// "data: " with a small JSON object, in the end "data: [DONE]".
//
// It follows the HTML standard's event stream rules (§9.2.6: comments, fields
// without a value, all three line ends, a byte order mark, events of several
// data lines) and accepts besides: events that are not separated by a blank
// line, [DONE] without one, and a plain JSON answer where a stream was asked for.
//
// It belongs to the goroutine that reads it.
type reframer struct {
	src io.ReadCloser
	x   *exchange

	buf     []byte // unread input is buf[r:w]
	r, w    int
	scanned int // bytes of it known to hold no line end
	started bool
	skipLF  bool // the last line ended in CR
	event   []byte
	data    []byte // data lines of an event that is not complete
	open    bool   // data holds something
	chunk   chunkReader

	srcErr error  // the end of the input
	out    []byte // output not yet handed out is out[sent:]
	sent   int
	err    error // what follows it
}

func newReframer(src io.ReadCloser, x *exchange) *reframer {
	f := &reframer{src: src, x: x, buf: make([]byte, 16<<10)}
	f.chunk.init()
	return f
}

// Close closes the answer's body.
func (f *reframer) Close() error { return f.src.Close() }

// Read hands out whole events, as many as have arrived.
func (f *reframer) Read(p []byte) (int, error) {
	for f.sent == len(f.out) {
		f.out, f.sent = f.out[:0], 0
		for f.err == nil && len(f.out) < len(p) {
			line, ok := f.line()
			if !ok {
				break
			}
			f.take(line)
		}
		if len(f.out) > 0 {
			break
		}
		switch {
		case f.err != nil:
			return 0, f.err
		case f.srcErr != nil:
			f.end(f.srcErr)
		default:
			f.fill()
		}
	}
	n := copy(p, f.out[f.sent:])
	f.sent += n
	return n, nil
}

// fill waits for more input.
func (f *reframer) fill() {
	if f.w == len(f.buf) {
		if f.r > 0 {
			copy(f.buf, f.buf[f.r:f.w])
			f.w -= f.r
			f.r = 0
		} else if len(f.buf) >= maxLine {
			f.fail(fmt.Sprintf("sent a line longer than %d MB", maxLine>>20))
			return
		} else {
			f.buf = append(f.buf, make([]byte, len(f.buf))...)
		}
	}
	n, err := f.src.Read(f.buf[f.w:])
	f.w += n
	if len(f.x.head) < headSize {
		f.x.head = append(f.x.head, f.buf[f.w-n:f.w]...)
	}
	if !f.started && (n > 0 || err != nil) && f.begin() {
		f.whole(err)
		return
	}
	f.srcErr = err
}

// begin steps over a byte order mark and tells whether the body is something
// else than a stream: no event can start with a bracket.
func (f *reframer) begin() bool {
	b := f.buf[f.r:f.w]
	bom := []byte("\xef\xbb\xbf")
	if len(b) < len(bom) && bytes.HasPrefix(bom, b) {
		return false // not decided yet
	}
	b = bytes.TrimPrefix(b, bom)
	trimmed := bytes.TrimLeft(b, blank)
	if len(trimmed) == 0 {
		return false
	}
	f.started = true
	f.r, f.scanned = f.w-len(b), 0
	return trimmed[0] == '{' || trimmed[0] == '[' || trimmed[0] == '<'
}

// whole reads a body that is no stream to its end.
func (f *reframer) whole(err error) {
	body := bytes.Clone(f.buf[f.r:f.w])
	if err == nil {
		var rest []byte
		rest, err = io.ReadAll(io.LimitReader(f.src, maxWhole))
		body = append(body, rest...)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		f.x.readErr = err
		f.err = err
		return
	}
	f.x.head = body[:min(len(body), maxBody)]
	value, jerr := whole(body)
	if jerr != nil || value[0] != '{' && value[0] != '[' {
		f.err = io.EOF // nothing of an answer: the caller says so
		return
	}
	f.value(value)
	if f.err == nil && f.x.sawChoice {
		f.finish()
	}
	if f.err == nil {
		f.x.refuse(readFailure(200, value), value)
		f.err = io.EOF
	}
}

// line is the next whole line, without its end.
func (f *reframer) line() ([]byte, bool) {
	if !f.started {
		return nil, false
	}
	if f.skipLF && f.r < f.w {
		if f.buf[f.r] == '\n' {
			f.r++
		}
		f.skipLF = false
	}
	rest := f.buf[f.r:f.w]
	end := bytes.IndexByte(rest[f.scanned:], '\n')
	limit := len(rest)
	if end >= 0 {
		end += f.scanned
		limit = end
	}
	if cr := bytes.IndexByte(rest[f.scanned:limit], '\r'); cr >= 0 {
		end = f.scanned + cr
		f.skipLF = true
	}
	if end < 0 {
		f.scanned = len(rest)
		return nil, false
	}
	f.r += end + 1
	f.scanned = 0
	f.x.alive()
	return rest[:end], true
}

// take handles one line of the stream.
func (f *reframer) take(line []byte) {
	if len(line) == 0 {
		if f.open {
			f.flush()
		}
		f.event = f.event[:0]
		return
	}
	name, value := line, []byte(nil)
	if i := bytes.IndexByte(line, ':'); i >= 0 {
		name, value = line[:i], bytes.TrimPrefix(line[i+1:], []byte(" "))
	}
	switch string(name) {
	case "data":
		f.dataLine(value)
	case "event":
		f.event = append(f.event[:0], value...)
	}
}

// dataLine takes the value of one data line. A value that is complete by itself
// is an event; whether a blank line follows does not matter then.
func (f *reframer) dataLine(value []byte) {
	if f.open {
		if len(f.data)+len(value) > maxLine {
			f.fail(fmt.Sprintf("sent an event longer than %d MB", maxLine>>20))
			return
		}
		f.data = append(append(f.data, '\n'), value...)
		return
	}
	trimmed := bytes.Trim(value, blank)
	switch {
	case len(trimmed) == 0:
	case string(trimmed) == "[DONE]":
		f.finish()
	case trimmed[0] != '{' && trimmed[0] != '[':
		f.noise(trimmed)
	default:
		if err := f.value(trimmed); errors.Is(err, errJSONEnd) {
			f.data, f.open = append(f.data[:0], value...), true
		} else if err != nil {
			f.fail("sent an event that is not JSON (" + err.Error() + ")")
		}
	}
}

// flush handles an event of several data lines.
func (f *reframer) flush() {
	f.open = false
	if err := f.value(bytes.Trim(f.data, blank)); err != nil {
		f.fail("sent an event that is not complete JSON (" + err.Error() + ")")
	}
}

// value takes an event's JSON: one chunk, or several in an array. Output is
// added only if all of it is good.
func (f *reframer) value(b []byte) error {
	before := len(f.out)
	var err error
	if b[0] == '[' {
		var end int
		end, err = eachItem(b, 0, 0, func(i, depth int) (int, error) {
			if i < len(b) && b[i] == '{' {
				end, err := skipValue(b, i, depth)
				if err == nil {
					f.out, err = f.chunk.read(f.out, b[i:end], f.x)
				}
				return end, err
			}
			return skipValue(b, i, depth)
		})
		if rest := skipSpace(b, end); err == nil && rest != len(b) {
			err = &syntaxError{rest, "there is text behind the value"}
		}
	} else {
		f.out, err = f.chunk.read(f.out, b, f.x)
	}
	if err != nil {
		f.out = f.out[:before]
		return err
	}
	f.x.events++
	if len(f.out) > before {
		f.x.first()
	}
	if f.x.err == nil && string(f.event) == "error" && !f.chunk.choice {
		f.x.refuse(readFailure(200, b), b)
	}
	if f.x.err != nil {
		f.err = io.EOF
	}
	return nil
}

// noise takes data that is no JSON object, such as "ping". It is not an answer,
// but it may be the only reason given for one that breaks off.
func (f *reframer) noise(text []byte) {
	if string(f.event) == "error" {
		f.x.refuse(failure{status: 200, message: firstLines(string(text))}, text)
		f.err = io.EOF
		return
	}
	f.x.noise = string(text[:min(len(text), headSize)])
}

// finish ends the output as the API does.
func (f *reframer) finish() {
	f.x.done = true
	f.out = append(f.out, "data: [DONE]\n"...)
	f.err = io.EOF
}

// fail ends the output because of what the endpoint sent.
func (f *reframer) fail(what string) {
	f.x.broken(what)
	f.err = io.EOF
}

// end takes the end of the input: what stands there without a line end may
// still be an event.
func (f *reframer) end(err error) {
	if !errors.Is(err, io.EOF) {
		f.x.readErr = err
	}
	if f.started && f.r < f.w {
		rest := bytes.Trim(f.buf[f.r:f.w], blank)
		if data, ok := bytes.CutPrefix(rest, []byte("data:")); ok && !f.open {
			if data = bytes.Trim(data, blank); string(data) == "[DONE]" {
				f.finish()
			} else if len(data) > 0 && data[0] == '{' {
				_ = f.value(data) // half an event is a cut, which shows by itself
			}
		}
	} else if f.open {
		_ = f.value(bytes.Trim(f.data, blank)) // the same
	}
	f.r = f.w
	if f.err == nil {
		f.err = err
	}
}
