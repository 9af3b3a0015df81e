//go:build unix

package process

import (
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// group is the process group of a program: the program leads it (and a session, so that
// it cannot read from our terminal, and Ctrl+C there does not reach it), and what it starts
// belongs to it unless it leaves on purpose (survey finds those on Linux).
type group struct {
	mu     sync.Mutex
	id     int
	empty  bool // seen empty once; its number may belong to others from then on
	guard  *guard
	strays []stray
	marker string // in the environment of all that the program starts; set before the start; "" for none
}

// mark adds what the processes of this start are known by to their environment.
func (g *group) mark(s *Spec) {
	if g.marker = newMarker(); g.marker != "" {
		s.Env = append([]string{g.marker}, s.Env...)
	}
}

func command(s Spec) *exec.Cmd {
	return &exec.Cmd{
		Path: s.Path, Args: append([]string{s.Path}, s.Args...), Env: append([]string{}, s.Env...), Dir: s.Dir,
		SysProcAttr: attributes(),
	}
}

// adopt is called right after the start.
func (g *group) adopt(p *os.Process) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.id = p.Pid
}

// protect is called when the program runs; it may take a moment.
func (g *group) protect() {
	guard := newGuard(g.id, g.marker)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.guard = guard
}

// release is called when the group has ended.
func (g *group) release() {
	g.mu.Lock()
	guard := g.guard
	g.mu.Unlock()
	guard.dismiss()
}

// survey notes the processes below the program that have left its group.
func (g *group) survey() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.strays = strays(g.id)
}

func (g *group) terminate() { g.signal(syscall.SIGTERM) }
func (g *group) kill()      { g.signal(syscall.SIGKILL) }

func (g *group) signal(s syscall.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.empty && errors.Is(syscall.Kill(-g.id, s), syscall.ESRCH) {
		g.empty = true
	}
	for _, x := range g.strays {
		x.signal(s)
	}
}

// isEmpty reports whether nothing of the group, and none of the strays, is left.
func (g *group) isEmpty() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.empty && !groupLives(g.id) {
		g.empty = true
	}
	if !g.empty {
		return false
	}
	for _, x := range g.strays {
		if x.lives() {
			return false
		}
	}
	return true
}

func (g *group) emptyWithin(d time.Duration) bool {
	deadline := time.Now().Add(d)
	for pause := time.Millisecond; ; pause = min(pause*2, 20*time.Millisecond) {
		if g.isEmpty() {
			return true
		}
		if !time.Now().Before(deadline) {
			return false
		}
		time.Sleep(pause)
	}
}
