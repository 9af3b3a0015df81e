//go:build !unix

package headless

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"
)

const controllingTerminal = "CONIN$"

// lineReader reads lines from a console. A console read cannot be called back, so one
// goroutine does all the reading; it ends with the program.
type lineReader struct {
	lines chan string
	whole bool // what stands before the end of the input without a line break is a line
}

func (l *lineReader) open(f *os.File) error {
	l.lines = make(chan string)
	go func() {
		defer close(l.lines)
		r := bufio.NewReader(f)
		for {
			s, err := r.ReadString('\n')
			if err != nil && (s == "" || !l.whole) {
				return
			}
			l.lines <- strings.TrimRight(s, "\r\n")
		}
	}()
	return nil
}

func (l *lineReader) shut() {}

func (l *lineReader) drop() error {
	for {
		select {
		case _, ok := <-l.lines:
			if !ok {
				return io.EOF
			}
		default:
			return nil
		}
	}
}

func (l *lineReader) read(ctx context.Context) (string, error) {
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case s, ok := <-l.lines:
		if !ok {
			return "", io.EOF
		}
		return s, nil
	}
}

func hideInput(*os.File) (func(), error) {
	return nil, errors.New("not supported on this system")
}
