package process

import (
	"bytes"
	"strings"
	"sync"
)

// stderrKept is how many bytes of standard error are kept.
const stderrKept = 256 << 10

// tail keeps the last bytes written to it. Writing never fails and never blocks for
// long, so a program that floods its standard error is never held up.
type tail struct {
	mu   sync.Mutex
	max  int
	data []byte // at most 2×max; the last max bytes count
}

func newTail(max int) *tail { return &tail{max: max} }

func (t *tail) Write(b []byte) (int, error) {
	n := len(b)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(b) >= t.max {
		t.data = append(t.data[:0], b[len(b)-t.max:]...)
		return n, nil
	}
	if len(t.data)+len(b) > 2*t.max {
		keep := t.max - len(b)
		t.data = append(t.data[:0], t.data[len(t.data)-keep:]...)
	}
	t.data = append(t.data, b...)
	return n, nil
}

func (t *tail) bytes() []byte {
	if len(t.data) > t.max {
		return t.data[len(t.data)-t.max:]
	}
	return t.data
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.bytes())
}

// Lines returns the last n lines, and of those the last max bytes.
func (t *tail) Lines(n, max int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := bytes.TrimRight(t.bytes(), "\r\n")
	start := len(b)
	for start > 0 && n > 0 {
		start = bytes.LastIndexByte(b[:start], '\n')
		if start < 0 {
			start = 0
			break
		}
		n--
	}
	if start > 0 {
		start++
	}
	if len(b)-start > max {
		start = len(b) - max
	}
	return strings.ReplaceAll(string(b[start:]), "\r\n", "\n")
}
