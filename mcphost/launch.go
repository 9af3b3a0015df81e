package mcphost

import (
	"slices"
	"time"
)

// Launch is how a server was started last, redacted for display. Path and what follows
// is empty for a server over HTTP.
type Launch struct {
	Begun time.Time
	Took  time.Duration // until it was ready; 0 before, and where it failed
	Path  string        // the program that was found
	Args  []string
	Dir   string
	Env   []string // all of its environment, "NAME=value", sorted
}

// Launch returns how the server was started last; the zero Launch before the first
// start.
func (c *Connection) Launch() Launch {
	c.mu.Lock()
	l := c.launch
	c.mu.Unlock()
	l.Args, l.Env = slices.Clone(l.Args), slices.Clone(l.Env)
	return l
}

// launches notes what is about to be run.
func (c *Connection) launches(path, dir string, env []string) {
	shown := func(in []string) []string {
		out := make([]string, len(in))
		for i, s := range in {
			out[i] = c.redact(s)
		}
		return out
	}
	args, env := shown(c.cfg.Args), shown(env)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.launch.Path, c.launch.Args, c.launch.Dir, c.launch.Env = path, args, dir, env
}

// opens makes a session that is being begun the one whose standard error and messages
// are shown, so that a person sees what a slow start is about.
func (c *Connection) opens(l *live) {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opening == nil {
		c.launch = Launch{Begun: now}
	}
	c.opening = l
}

// opened ends a start; l is nil where it failed. What was seen of it stays.
func (c *Connection) opened(l *live) {
	now := c.now()
	c.mu.Lock()
	last := c.opening
	c.opening = nil
	if l != nil {
		c.launch.Took = now.Sub(c.launch.Begun)
	}
	c.mu.Unlock()
	if l != nil || last == nil {
		return
	}
	s := last.stderr()
	c.mu.Lock()
	defer c.mu.Unlock()
	if s != "" {
		c.stderr = s
	}
}

// shown returns the session that is shown: the current one, or the one being begun; nil
// where there is none. stderr is its standard error so far.
func (c *Connection) shown() (l *live, stderr func() string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l = c.live
	if l == nil {
		l = c.opening
	}
	if l != nil {
		stderr = l.stderr
	}
	return l, stderr
}
