//go:build !unix

package headless

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"time"
)

const controllingTerminal = "CONIN$"

// source hands out the lines of a console. A console read cannot be called back, so one
// goroutine does all the reading; it ends with the program.
type source struct {
	lines chan []byte
}

func (s *source) open(f *os.File) error {
	s.lines = make(chan []byte)
	go func() {
		defer close(s.lines)
		r := bufio.NewReader(f)
		for {
			line, err := r.ReadBytes('\n')
			if len(line) > 0 {
				s.lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	return nil
}

func (s *source) shut() {}

// flush does nothing: next hands out at once what was typed.
func (s *source) flush() error { return nil }

// next returns what has been typed, or nothing after limit (none below zero). io.EOF:
// nobody can type any more.
func (s *source) next(ctx context.Context, limit time.Duration) ([]byte, error) {
	var late <-chan time.Time
	if limit >= 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-late:
		return nil, nil
	case line, ok := <-s.lines:
		if !ok {
			return nil, io.EOF
		}
		return line, nil
	}
}

func keyMode(*os.File) (set, restore func(), err error) {
	return nil, nil, errors.New("not supported on this system")
}

func (t *terminal) watchStops() (end func()) { return func() {} }
