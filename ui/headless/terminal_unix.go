//go:build unix

package headless

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const controllingTerminal = "/dev/tty"

// source hands out what is typed, as it comes, and lets go when its context ends. It waits
// with poll on the terminal and on a pipe, so no goroutine is ever left behind in a read.
type source struct {
	fd      int
	wakeR   *os.File
	wakeW   *os.File
	resumed atomic.Bool
}

func (s *source) open(f *os.File) (err error) {
	s.fd = int(f.Fd())
	s.wakeR, s.wakeW, err = os.Pipe()
	return err
}

func (s *source) shut() {
	s.wakeR.Close()
	s.wakeW.Close()
}

func (s *source) wake() { s.wakeW.Write([]byte{0}) } //nolint:errcheck // the pipe's other end is ours

// flush throws away what has been typed and not been read.
func (s *source) flush() error {
	err := flushInput(s.fd)
	if err == nil || errors.Is(err, unix.ENOTTY) {
		return nil
	}
	return fmt.Errorf("clearing what was typed before: %w", err)
}

// next returns what has been typed, or nothing after limit (none below zero); errResumed
// where the program was stopped meanwhile and goes on. io.EOF: nobody can type any more.
func (s *source) next(ctx context.Context, limit time.Duration) ([]byte, error) {
	stop := context.AfterFunc(ctx, s.wake)
	defer stop()
	end := time.Now().Add(limit)
	for {
		wait := -1
		if limit >= 0 {
			wait = max(0, int((time.Until(end)+time.Millisecond-1)/time.Millisecond))
		}
		fds := []unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}, {Fd: int32(s.wakeR.Fd()), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, wait)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return nil, fmt.Errorf("waiting for the terminal: %w", err)
		}
		if err == nil && fds[1].Revents != 0 {
			s.wakeR.Read(make([]byte, 64)) //nolint:errcheck // what it stands for is asked below
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case s.resumed.Swap(false):
			return nil, errResumed
		case err == nil && n == 0:
			return nil, nil
		case err == nil && fds[0].Revents != 0:
			if b, err := s.take(); err != nil || len(b) > 0 {
				return b, err
			}
		}
	}
}

func (s *source) take() ([]byte, error) {
	buf := make([]byte, 4096)
	n, err := unix.Read(s.fd, buf)
	switch {
	case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		return nil, nil
	case err != nil, n == 0:
		return nil, io.EOF // the terminal is gone: nobody can answer
	}
	return buf[:n], nil
}

// keyMode hands over each key as it is pressed, unseen: the program shows what is typed.
// Signals stay with the system. A line is then not bounded by what the system keeps of one
// (4,095 bytes on Linux, N_TTY_BUF_SIZE). set may be called again after restore.
func keyMode(f *os.File) (set, restore func(), err error) {
	fd := int(f.Fd())
	old, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return nil, nil, err
	}
	keys := *old
	keys.Lflag &^= unix.ICANON | unix.ECHO | unix.IEXTEN
	keys.Cc[unix.VMIN], keys.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(fd, setTermios, &keys); err != nil {
		return nil, nil, err
	}
	// A terminal that is gone needs neither.
	return func() { _ = unix.IoctlSetTermios(fd, setTermios, &keys) }, func() { _ = unix.IoctlSetTermios(fd, setTermios, old) }, nil
}

// watchStops gives the terminal back while the program is stopped (Ctrl+Z), and has the
// open question shown again when it goes on. It owns one goroutine until end is called.
func (t *terminal) watchStops() (end func()) {
	ch := make(chan os.Signal, 4)
	signal.Notify(ch, unix.SIGTSTP, unix.SIGCONT)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			case sig := <-ch:
				if sig == unix.SIGTSTP {
					t.mode.pause()
					signal.Reset(unix.SIGTSTP)
					_ = unix.Kill(unix.Getpid(), unix.SIGTSTP) // it is allowed to stop itself
					time.Sleep(100 * time.Millisecond)         // stops within; a group without a shell is not stopped at all
					signal.Notify(ch, unix.SIGTSTP)
				}
				t.mode.resume()
				t.src.resumed.Store(true)
				t.src.wake()
			}
		}
	}()
	return func() {
		signal.Stop(ch)
		close(quit)
		<-done
	}
}
