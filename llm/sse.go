package llm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
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
// line or by nothing, objects and [DONE] without "data:", and a plain JSON answer
// where a stream was asked for.
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
	data    []byte // lines of an event that is not complete
	open    bool   // data holds something
	bare    bool   // it does not stand behind "data:"
	chunk   chunkReader

	srcErr error  // the end of the input
	ending bool   // only what stands before it is still to be read
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
		rest, err = io.ReadAll(io.LimitReader(f.src, maxWhole+1))
		body = append(body, rest...)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		f.x.readErr = err
		f.err = err
		return
	}
	f.x.head = body[:min(len(body), maxBody)]
	if len(body) > maxWhole {
		f.fail(fmt.Sprintf("sent an answer longer than %d MB", maxWhole>>20))
		return
	}
	value, jerr := whole(body)
	switch trailing := (*syntaxError)(nil); {
	case errors.As(jerr, &trailing) && body[skipSpace(body, 0)] == '{':
		// Perhaps several objects, one a line.
		f.buf, f.r, f.w, f.scanned, f.srcErr = body, 0, len(body), 0, io.EOF
		return
	case jerr != nil || value[0] != '{' && value[0] != '[':
		f.x.cut = errors.Is(jerr, errJSONEnd)
		f.err = io.EOF // nothing of an answer: the caller says so
		return
	}
	if _, err := f.value(value); err != nil {
		f.err = io.EOF // a list of something else
		return
	}
	if f.err == nil && f.x.sawChoice {
		f.finish()
	}
	if f.err == nil {
		if member(value, "choices") == nil {
			f.x.refuse(readFailure(200, value), value)
		}
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
	switch {
	case f.open && f.bare:
		f.bareLine(line)
		return
	case len(line) == 0:
		if f.open {
			f.flush()
		}
		f.event = f.event[:0]
		return
	case line[0] == '{' || line[0] == '[':
		if f.open {
			f.flush() // there was no blank line
		}
		if f.err == nil {
			f.bareLine(line)
		}
		return
	}
	name, value := line, []byte(nil)
	if i := bytes.IndexByte(line, ':'); i >= 0 {
		name, value = line[:i], bytes.TrimPrefix(line[i+1:], []byte(" "))
	}
	switch string(bytes.ToLower(bytes.TrimLeft(name, " \t"))) { // the standard wants them exactly so
	case "data":
		f.dataLine(value)
	case "event":
		f.event = append(f.event[:0], value...)
	case "", "id", "retry":
	default:
		f.aside(line)
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
	case isEnd(trimmed):
		f.finish()
	case trimmed[0] != '{' && trimmed[0] != '[':
		f.noise(trimmed)
	default:
		if rest, err := f.value(trimmed); errors.Is(err, errJSONEnd) {
			f.data, f.open, f.bare = append(f.data[:0], rest...), true, false
		} else if err != nil {
			f.fail("sent an event that is not JSON (" + err.Error() + ")")
		}
	}
}

// isEnd tells whether a value is the mark that nothing more comes.
func isEnd(v []byte) bool { return string(v) == "[DONE]" || string(v) == `"[DONE]"` }

// maxBare bounds an object that stands in a stream without "data:" and over several lines, in bytes: it is looked at
// again with each of them.
const maxBare = 64 << 10

// bareLine takes a line that begins an object without "data:", or goes on with one.
func (f *reframer) bareLine(line []byte) {
	if isEnd(bytes.Trim(line, blank)) && !f.open {
		f.finish()
		return
	}
	if f.open {
		f.data = append(append(f.data, '\n'), line...)
		line = f.data
	}
	rest, err := f.value(bytes.Trim(line, blank))
	switch {
	case err == nil:
		f.open, f.bare = false, false
	case errors.Is(err, errJSONEnd) && len(rest) <= maxBare:
		f.data, f.open, f.bare = append(f.data[:0], rest...), true, true
	default: // words that only begin like an object
		f.open, f.bare = false, false
		f.aside(line)
	}
}

// flush handles an event of several lines.
func (f *reframer) flush() {
	f.open = false
	if _, err := f.value(bytes.Trim(f.data, blank)); err != nil {
		f.fail("sent an event that is not complete JSON (" + err.Error() + ")")
	}
}

// value takes an event's JSON: one chunk, several behind each other, or several in a list. Where the last one is not
// complete it is returned with errJSONEnd. Output is added only of what is good.
func (f *reframer) value(b []byte) (rest []byte, err error) {
	for f.err == nil {
		before := len(f.out)
		end := 0
		if b[0] == '[' {
			if end, err = skipValue(b, 0, 0); err == nil {
				f.list(b[:end])
			}
		} else if f.out, end, err = f.chunk.read(f.out, b, f.x); err != nil {
			f.out = f.out[:before]
			if mended := mend(b, err); mended != nil {
				b = mended
				continue
			}
		}
		if err != nil {
			return b, err
		}
		f.seen(before, b[:end])
		if b = bytes.TrimLeft(b[end:], blank); len(b) == 0 {
			break
		}
		if after, ok := bytes.CutPrefix(b, []byte("data:")); ok {
			b = bytes.TrimLeft(after, blank)
		}
		switch {
		case isEnd(b):
			f.finish()
		case len(b) == 0 || b[0] != '{':
			return b, &syntaxError{end, "there is text behind the value"}
		}
	}
	return nil, nil
}

// list takes the chunks of a list that has been checked.
func (f *reframer) list(b []byte) {
	_, _ = eachItem(b, 0, 0, func(i, depth int) (int, error) {
		end, err := skipValue(b, i, depth)
		if err == nil && b[i] == '{' {
			f.out, _, err = f.chunk.read(f.out, b[i:end], f.x)
		}
		return end, err
	})
}

// seen takes note of an event whose output begins at before.
func (f *reframer) seen(before int, event []byte) {
	f.x.events++
	if len(f.out) > before {
		f.x.first()
	}
	if f.x.err == nil && string(f.event) == "error" && !f.chunk.choice {
		f.x.refuse(readFailure(200, event), event)
	}
	if f.x.err != nil {
		f.err = io.EOF
	}
}

// noise takes data that is no JSON object, such as "ping". It is not an answer,
// but it may be the only reason given for one that breaks off.
func (f *reframer) noise(text []byte) {
	if string(f.event) == "error" {
		f.x.refuse(failure{status: 200, message: firstLines(string(text))}, text)
		f.err = io.EOF
		return
	}
	f.aside(text)
}

// aside keeps what is no part of an answer, for the case that nothing else says why there is none.
func (f *reframer) aside(text []byte) {
	if room := headSize - len(f.x.noise); room > 0 {
		f.x.noise += string(text[:min(len(text), room)]) + "\n"
	}
}

// finish ends the output as the API does.
func (f *reframer) finish() {
	f.x.done = true
	f.out = append(f.out, "data: [DONE]\n"...)
	f.err = io.EOF
}

// fail ends the output because of what the endpoint sent. At the end of the input it may have wanted to send more.
func (f *reframer) fail(what string) {
	if f.ending {
		f.x.cut = true
		return
	}
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
		rest := f.buf[f.r:f.w]
		f.r, f.ending = f.w, true
		if f.x.cut = strings.HasPrefix("data: [DONE]", string(rest)); !f.x.cut || string(rest) == "data: [DONE]" {
			f.take(bytes.TrimSuffix(rest, []byte("\r")))
		}
	}
	if f.open && f.err == nil {
		_, verr := f.value(bytes.Trim(f.data, blank))
		f.x.cut = f.x.cut || verr != nil
	}
	if f.err == nil {
		f.err = err
	}
}
