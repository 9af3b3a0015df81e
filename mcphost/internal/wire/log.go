package wire

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// Limits of a log of messages.
const (
	frameKept = 16 << 10
	logFrames = 512
	logBytes  = 1 << 20
)

// frameLog keeps the newest messages.
type frameLog struct {
	mu     sync.Mutex
	frames []Frame
	bytes  int
}

func (l *frameLog) add(f Frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.frames = append(l.frames, f)
	l.bytes += len(f.Bytes)
	drop := 0
	for len(l.frames)-drop > logFrames || l.bytes > logBytes {
		l.bytes -= len(l.frames[drop].Bytes)
		l.frames[drop] = Frame{}
		drop++
	}
	l.frames = l.frames[drop:]
}

func (l *frameLog) list() []Frame {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Frame(nil), l.frames...)
}

// Log is the log of all messages of a server, over one session after the other.
// The zero Log is ready. Its methods may be called from any goroutine.
type Log struct{ kept frameLog }

// Frames returns the newest messages, oldest first: at most 512, and 1 MiB of
// their text.
func (l *Log) Frames() []Frame { return l.kept.list() }

// clip returns a copy of at most n bytes.
func clip(b []byte, n int) []byte { return append([]byte(nil), b[:min(len(b), n)]...) }

// clipText cuts s to at most n bytes between characters, and makes it valid UTF-8.
func clipText(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
