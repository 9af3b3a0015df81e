package headless

import (
	"os"

	"golang.org/x/sys/unix"
)

func flushInput(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }

const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
)

// hideInput switches echo off until restore is called.
func hideInput(f *os.File) (restore func(), err error) { return withoutEcho(int(f.Fd())) }
