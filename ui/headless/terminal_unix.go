//go:build unix

package headless

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

const controllingTerminal = "/dev/tty"

// maxLine is the length of the longest answer, in bytes: what stands on stdin may have no end.
const maxLine = 1 << 20

// lineReader reads lines from a terminal and lets go when its context ends. It waits with
// poll on the terminal and on a pipe, so no goroutine is ever left behind in a read.
type lineReader struct {
	fd      int
	wakeR   *os.File
	wakeW   *os.File
	pending []byte
	whole   bool // what stands before the end of the input without a line break is a line
}

func (l *lineReader) open(f *os.File) (err error) {
	l.fd = int(f.Fd())
	l.wakeR, l.wakeW, err = os.Pipe()
	return err
}

func (l *lineReader) shut() {
	l.wakeR.Close()
	l.wakeW.Close()
}

// drop throws away what has been typed and not read.
func (l *lineReader) drop() error {
	l.pending = nil
	err := flushInput(l.fd)
	if errors.Is(err, unix.ENOTTY) {
		return l.drain()
	}
	if err != nil {
		return fmt.Errorf("clearing what was typed before: %w", err)
	}
	return nil
}

// drain reads what is there; the end of the input is left for read to find.
func (l *lineReader) drain() error {
	for {
		fds := []unix.PollFd{{Fd: int32(l.fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, 0)
		if n <= 0 || err != nil {
			return nil
		}
		buf := make([]byte, 4096)
		if n, err := unix.Read(l.fd, buf); n <= 0 || err != nil {
			return nil
		}
	}
}

func (l *lineReader) read(ctx context.Context) (string, error) {
	stop := context.AfterFunc(ctx, func() { l.wakeW.Write([]byte{0}) }) //nolint:errcheck // the pipe's other end is ours
	defer func() {
		if !stop() {
			var b [1]byte
			l.wakeR.Read(b[:]) //nolint:errcheck // takes back the one byte written above
		}
	}()
	for {
		if i := bytes.IndexByte(l.pending, '\n'); i >= 0 {
			line := string(l.pending[:i])
			l.pending = l.pending[i+1:]
			return line, nil
		}
		if len(l.pending) > maxLine {
			return "", fmt.Errorf("the answer is longer than %d MiB", maxLine>>20)
		}
		if err := l.fill(ctx); err != nil {
			if l.whole && errors.Is(err, io.EOF) && len(l.pending) > 0 {
				line := string(l.pending)
				l.pending = nil
				return line, nil
			}
			return "", err
		}
	}
}

// fill waits for input and reads once.
func (l *lineReader) fill(ctx context.Context) error {
	for {
		fds := []unix.PollFd{{Fd: int32(l.fd), Events: unix.POLLIN}, {Fd: int32(l.wakeR.Fd()), Events: unix.POLLIN}}
		_, err := unix.Poll(fds, -1)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("waiting for the terminal: %w", err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && fds[0].Revents != 0 {
			break
		}
	}
	buf := make([]byte, 4096)
	n, err := unix.Read(l.fd, buf)
	switch {
	case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		return nil
	case err != nil:
		return io.EOF // the terminal is gone: nobody can answer
	case n == 0:
		return io.EOF
	}
	l.pending = append(l.pending, buf[:n]...)
	return nil
}
