//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package headless

import (
	"os"

	"golang.org/x/sys/unix"
)

// flushInput drops unread input; 1 is FREAD (tcflush(3)).
func flushInput(fd int) error { return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, 1) }

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
)

// hideInput switches echo off until restore is called.
func hideInput(f *os.File) (restore func(), err error) { return withoutEcho(int(f.Fd())) }
