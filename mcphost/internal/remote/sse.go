package remote

import (
	"bufio"
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
	id   string
	has  bool // data was given
}

// stream reads server-sent events (WHATWG HTML, 9.2.6) and forgives what
// servers get wrong: lines without a colon are fields without a value, as the
// standard says, and a last event without an empty line counts.
type stream struct {
	r      *bufio.Reader
	max    int64
	lastID string
	retry  time.Duration // 0 = not given
	first  bool
	cr     bool // the last line ended with CR
}

// errTooLarge says that one event is larger than the limit.
var errTooLarge = errors.New("an event is larger than the limit")

func newStream(r io.Reader, limit int64) *stream {
	return &stream{r: bufio.NewReaderSize(r, 16<<10), max: limit, first: true}
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
	for {
		line, err := s.line(s.max - size)
		if errors.Is(err, errTooLarge) {
			s.cut(&e, line, tooLarge)
			tooLarge = true
			continue
		}
		if err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)) {
			if errors.Is(err, io.EOF) && e.has && !tooLarge {
				return e, nil
			}
			return event{}, err
		}
		if s.first {
			line = strings.TrimPrefix(line, "\uFEFF")
			s.first = false
		}
		if line == "" {
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
func (s *stream) cut(e *event, line string, before bool) {
	if before {
		return
	}
	s.field(e, line[:min(len(line), beginKept)])
	e.data = append([]byte(nil), e.data[:min(len(e.data), beginKept)]...)
}

// field takes one line of an event.
func (s *stream) field(e *event, line string) {
	name, value, _ := strings.Cut(line, ":")
	value = strings.TrimPrefix(value, " ")
	switch name {
	case "event":
		e.name = value
	case "data":
		if e.has {
			e.data = append(e.data, '\n')
		}
		e.data = append(e.data, value...)
		e.has = true
	case "id":
		if !strings.ContainsRune(value, 0) && len(value) <= maxSessionID {
			s.lastID, e.id = value, value
		}
	case "retry":
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && n >= 0 {
			s.retry = min(time.Duration(min(n, int64(longestPause/time.Millisecond)))*time.Millisecond, longestPause)
		}
	}
}

// line reads up to the end of a line (LF, CRLF or CR), which it leaves out. A
// line longer than limit is read to its end and reported as errTooLarge, with its
// beginning.
func (s *stream) line(limit int64) (string, error) {
	var b strings.Builder
	over := false
	for {
		c, err := s.r.ReadByte()
		if err != nil {
			if over {
				return b.String(), errTooLarge
			}
			return b.String(), err
		}
		if c == '\n' && s.cr && b.Len() == 0 && !over {
			s.cr = false
			continue
		}
		s.cr = false
		if c == '\n' {
			break
		}
		if c == '\r' {
			s.cr = true // a LF that follows belongs to it
			break
		}
		if int64(b.Len()) >= limit {
			over = true
			continue
		}
		b.WriteByte(c)
	}
	if over {
		return b.String(), errTooLarge
	}
	return b.String(), nil
}

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
