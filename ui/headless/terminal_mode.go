package headless

import (
	"io"
	"os"
	"sync"
)

// Bracketed paste: the terminal puts marks around what is pasted, so that it can be told
// from what is typed (xterm control sequences, "Bracketed Paste Mode").
const (
	pasteOn  = "\x1b[?2004h"
	pasteOff = "\x1b[?2004l"
)

// mode is how the terminal hands over what is typed. While a question stands, each key
// comes as it is pressed; otherwise the terminal is as it was found. Its methods may be
// called from any goroutine.
type mode struct {
	in, out *os.File
	paste   bool // the terminal knows bracketed paste

	mu      sync.Mutex
	depth   int
	set     func()
	restore func() // nil: keys cannot be had one by one
}

// enter begins a question; leave ends it. Questions may stand inside one another.
func (m *mode) enter() (leave func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.depth++
	if m.depth == 1 {
		var err error
		if m.set, m.restore, err = keyMode(m.in); err != nil {
			m.set, m.restore = nil, nil // lines then, as the system gives them
		}
		m.mark(pasteOn)
	}
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.depth--; m.depth == 0 && m.restore != nil {
			m.mark(pasteOff)
			m.restore()
			m.set, m.restore = nil, nil
		}
	}
}

// keys says whether keys come one by one and unseen.
func (m *mode) keys() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.restore != nil
}

// pause gives the terminal back while the program is stopped or another one has it.
func (m *mode) pause() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.restore != nil {
		m.mark(pasteOff)
		m.restore()
	}
}

func (m *mode) resume() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.set != nil {
		m.set()
		m.mark(pasteOn)
	}
}

func (m *mode) mark(s string) {
	if m.paste && m.restore != nil {
		io.WriteString(m.out, s) //nolint:errcheck // a terminal that is gone shows in the next read
	}
}
