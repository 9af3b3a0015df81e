package mcphost

import (
	"context"
	"sync"
	"time"
)

// limit bounds a request other than a tool call. It stands still while a person
// or a model is being asked on the server's behalf: the server cannot be blamed
// for that time.
type limit struct {
	mu     sync.Mutex
	timer  *time.Timer
	since  time.Time
	left   time.Duration
	asking int
}

// limited returns a context that ends with cause after d, pauses left out. end
// must be called.
func (c *Connection) limited(ctx context.Context, d time.Duration, cause error) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	l := &limit{since: time.Now(), left: d}
	l.timer = time.AfterFunc(d, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.asking == 0 {
			cancel(cause)
		}
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.limits == nil {
		c.limits = map[*limit]struct{}{}
	}
	c.limits[l] = struct{}{}
	return ctx, func() {
		c.mu.Lock()
		delete(c.limits, l)
		c.mu.Unlock()
		l.timer.Stop()
		cancel(nil)
	}
}

// paused stops and starts the limit; pauses nest.
func (l *limit) paused(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch now := time.Now(); {
	case on:
		if l.asking++; l.asking == 1 {
			l.timer.Stop()
			l.left = max(0, l.left-now.Sub(l.since))
		}
	case l.asking > 1:
		l.asking--
	case l.asking == 1:
		l.asking, l.since = 0, now
		l.timer.Reset(l.left)
	}
}

// pauseLimits stops the limits of all requests other than tool calls that run
// now, until the function it returns is called: a question of the server may
// belong to any of them.
func (c *Connection) pauseLimits() (release func()) {
	c.mu.Lock()
	paused := make([]*limit, 0, len(c.limits))
	for l := range c.limits {
		paused = append(paused, l)
	}
	c.mu.Unlock()
	for _, l := range paused {
		l.paused(true)
	}
	return func() {
		for _, l := range paused {
			l.paused(false)
		}
	}
}
