//go:build unix && !linux

package process

import (
	"errors"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func lockThread() (unlock func()) { return func() {} }

func groupLives(id int) bool {
	// EPERM is what macOS says of a group of zombies.
	err := syscall.Kill(-id, 0)
	return !errors.Is(err, syscall.ESRCH) && !errors.Is(err, syscall.EPERM)
}

// stray would be a process that left its group; only Linux can find those cheaply.
type stray struct{}

func (stray) lives() bool             { return false }
func (stray) signal(_ syscall.Signal) {}

func strays(int) []stray { return nil }

// newMarker is "": without /proc a marked process could not be found.
func newMarker() string { return "" }

func (g *group) surveyMarked() (found bool) { return false }
