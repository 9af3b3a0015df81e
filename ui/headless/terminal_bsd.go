//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package headless

import "golang.org/x/sys/unix"

// flushInput drops unread input; 1 is FREAD (tcflush(3)).
func flushInput(fd int) error { return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, 1) }

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
)
