package remote

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// event is one event of a stream.
type event struct {
	name string
	data []byte
	has  bool // data was given
}

// stream reads server-sent events (WHATWG HTML, 9.2.6) and forgives what
// servers get wrong: lines without a colon are fields without a value, as the
// standard says, and a last event without an empty line counts.
type stream struct {
	r      *bufio.Reader
	meter  *meter
	max    int64
	lastID string
	retry  time.Duration // 0 = not given
	first  bool
	cr     bool   // the last line ended with CR
	buf    []byte // the line being read
}

// lineKept is how much room for a line is kept for the next.
const lineKept = 1 << 20

// errTooLarge says that one event is larger than the limit.
var errTooLarge = errors.New("an event is larger than the limit")

func newStream(r io.Reader, limit int64) *stream {
	m := &meter{r: r}
	return &stream{r: bufio.NewReaderSize(m, 4<<10), meter: m, max: limit, first: true}
}

// beginKept is how much is kept of the data of an event above the limit, in bytes.
const beginKept = 64 << 10

// next returns the next event with data. An event above the limit is skipped
// to its end and reported as errTooLarge, with the beginning of its data; reading
// can go on.
func (s *stream) next() (event, error) {
	var e event
	var size int64
	tooLarge := false
	s.meter.left = skipped * s.max
	for {
		line, err := s.line(s.max - size)
		if errors.Is(err, errTooLarge) {
			s.cut(&e, line, tooLarge)
			tooLarge = true
			continue
		}
		if err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)) {
			switch {
			case errors.Is(err, io.EOF) && tooLarge:
				return event{}, errTooLarge
			case errors.Is(err, io.EOF) && e.has:
				return e, nil
			}
			return event{}, err
		}
		if s.first {
			line = bytes.TrimPrefix(line, []byte("\uFEFF"))
			s.first = false
		}
		if len(line) == 0 {
			switch {
			case tooLarge:
				return e, errTooLarge
			case e.has:
				return e, nil
			}
			e = event{}
			size = 0
			continue
		}
		if size += int64(len(line)); tooLarge || size > s.max {
			s.cut(&e, line, tooLarge)
			tooLarge = true
			continue
		}
		s.field(&e, line)
	}
}

// cut keeps the beginning of an event that has become too large with this line.
func (s *stream) cut(e *event, line []byte, before bool) {
	if before {
		return
	}
	s.field(e, line[:min(len(line), beginKept)])
	e.data = append([]byte(nil), e.data[:min(len(e.data), beginKept)]...)
}

// field takes one line of an event.
func (s *stream) field(e *event, line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		e.name = string(value)
	case "data":
		if e.has {
			e.data = append(e.data, '\n')
		}
		e.data = append(e.data, value...)
		e.has = true
	case "id":
		if id := string(value); len(id) <= maxSessionID && !strings.ContainsFunc(id, unsendable) {
			s.lastID = id
		}
	case "retry":
		if n, err := strconv.ParseInt(string(value), 10, 64); err == nil && n >= 0 {
			s.retry = min(time.Duration(min(n, int64(longestPause/time.Millisecond)))*time.Millisecond, longestPause)
		}
	}
}

// unsendable reports a character that no header can carry (RFC 9110, 5.5): an id with one could never be named as the last.
func unsendable(c rune) bool { return c < ' ' && c != '\t' || c == 0x7F }

// line reads up to the end of a line (LF, CRLF or CR), which it leaves out. A
// line longer than limit is read to its end and reported as errTooLarge, with its
// beginning. What it returns is valid until the next call.
func (s *stream) line(limit int64) ([]byte, error) {
	if s.buf = s.buf[:0]; cap(s.buf) > lineKept {
		s.buf = nil // a large message is not kept for as long as the stream lives
	}
	over := false
	for {
		if _, err := s.r.Peek(1); err != nil {
			if over {
				return s.buf, errTooLarge
			}
			return s.buf, err
		}
		b, _ := s.r.Peek(s.r.Buffered()) // what is there, without waiting for more
		if b[0] == '\n' && s.cr {
			s.cr = false // it belongs to the CR before
			s.discard(1)
			continue
		}
		s.cr = false
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			end = len(b)
		}
		if cr := bytes.IndexByte(b[:end], '\r'); cr >= 0 {
			end, s.cr = cr, true
		}
		room := max(0, limit-int64(len(s.buf)))
		over = over || int64(end) > room
		s.buf = append(s.buf, b[:min(int64(end), room)]...)
		if end == len(b) {
			s.discard(end)
			continue
		}
		s.discard(end + 1)
		if over {
			return s.buf, errTooLarge
		}
		return s.buf, nil
	}
}

// discard skips bytes that have been looked at, which cannot fail.
func (s *stream) discard(n int) { _, _ = s.r.Discard(n) }

// writeEvent writes one message as an event for the library. JSON text holds
// no line break, so one data line carries it.
func writeEvent(w io.Writer, name string, data []byte) error {
	prefix := "data: "
	if name != "" {
		prefix = "event: " + name + "\n" + prefix
	}
	buf := make([]byte, 0, len(prefix)+len(data)+2)
	buf = append(append(append(buf, prefix...), data...), '\n', '\n')
	if _, err := w.Write(buf); err != nil {
		return fmt.Errorf("the library no longer reads: %w", err)
	}
	return nil
}
