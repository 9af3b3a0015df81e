package remote

import (
	"errors"
	"io"
)

// skipped is how many times the limit of an event is read in search of its end before the stream is given up.
const skipped = 4

// errEndless says that a stream goes on and on without an event in it.
var errEndless = errors.New("it went on and on without a message")

// meter reads so many bytes and no more.
type meter struct {
	r    io.Reader
	left int64
}

func (m *meter) Read(p []byte) (int, error) {
	if m.left <= 0 {
		return 0, errEndless
	}
	n, err := m.r.Read(p)
	m.left -= int64(n)
	return n, err
}
