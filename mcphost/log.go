package mcphost

import (
	"strings"
	"time"

	"steward/mcphost/internal/wire"
)

// redact removes secrets for display.
func (c *Connection) redact(s string) string {
	if a := c.account(); a != nil {
		s = a.Redact(s)
	}
	return c.host.opts.Redact(s)
}

// now is the host's clock.
func (c *Connection) now() time.Time { return c.host.opts.Now() }

// Stderr returns what is kept of the program's standard error, redacted: at
// most the last 256 KiB, also while it starts. It stays after the program's end.
func (c *Connection) Stderr() string {
	l, stderr := c.shown()
	if l != nil {
		return c.redact(stderr())
	}
	c.mu.Lock()
	kept := c.stderr
	c.mu.Unlock()
	return c.redact(kept)
}

// Frames returns the newest messages of the connection, oldest first, redacted:
// at most 512, and 1 MiB of their text. Those before a restart stay, so that what
// led to an end can be looked at after the server has been started again.
func (c *Connection) Frames() []Frame { return c.convertFrames(c.wire.Frames()) }

// Shown converts frames of the wire for display, redacted. Only code below this
// package can make them.
func (c *Connection) Shown(in []wire.Frame) []Frame { return c.convertFrames(in) }

// seam is what is left out at the end of a message of which only the beginning was kept,
// in bytes: where it was clipped there may be the beginning of a secret, which is found
// as a whole alone.
const seam = 4 << 10

// beforeSeam is a redacted text without the seam at its end.
func beforeSeam(text string) string {
	return strings.ToValidUTF8(text[:max(0, len(text)-seam)], "")
}

// convertFrames redacts frames.
func (c *Connection) convertFrames(in []wire.Frame) []Frame {
	out := make([]Frame, len(in))
	for i, f := range in {
		direction := "in"
		if f.Out {
			direction = "out"
		}
		text, cut := c.redact(string(f.Bytes)), f.Size > len(f.Bytes)
		if cut {
			text = beforeSeam(text)
		}
		out[i] = Frame{Time: f.Time, Direction: direction, Bytes: []byte(text), Size: f.Size, Cut: cut}
	}
	return out
}

// Log returns the newest lines of the connection's log, oldest first.
func (c *Connection) Log() []LogLine {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log.all()
}

// note adds a line to the log.
func (c *Connection) note(kind, level, text string) {
	// What this program itself notes is never too much.
	if kind != "state" && !c.gather.line() {
		return
	}
	c.keep(LogLine{Time: c.now(), Kind: kind, Level: level, Text: c.redact(strings.ToValidUTF8(text, "\uFFFD"))})
}

// keep adds a line to the log as it is.
func (c *Connection) keep(line LogLine) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log.add(line)
}

// maxLog is the number of lines kept in a connection's log.
const maxLog = 1000

// maxLogLine is the length of the longest line kept in it, in bytes.
const maxLogLine = 8 << 10

// ring keeps the newest lines of a log. The zero ring is ready.
type ring struct {
	lines []LogLine
	next  int
}

func (r *ring) add(l LogLine) {
	if len(l.Text) > maxLogLine {
		l.Text = strings.ToValidUTF8(l.Text[:maxLogLine], "") + "…"
	}
	if len(r.lines) < maxLog {
		r.lines = append(r.lines, l)
		return
	}
	r.lines[r.next] = l
	r.next = (r.next + 1) % maxLog
}

func (r *ring) all() []LogLine {
	out := make([]LogLine, 0, len(r.lines))
	return append(append(out, r.lines[r.next:]...), r.lines[:r.next]...)
}
