package mcphost

import (
	"context"
	"time"

	"steward/mcphost/internal/patience"
)

// limit is that of a request other than a tool call under way. It stands still
// while a person or a model is being asked on the server's behalf: the server
// cannot be blamed for that time.
type limit struct{ ctx context.Context }

// limited returns a context that ends with cause after d, pauses left out. end
// must be called.
func (c *Connection) limited(ctx context.Context, d time.Duration, cause error) (_ context.Context, end func()) {
	ctx, cancel := patience.WithTimeoutCause(ctx, d, cause)
	l := &limit{ctx}
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
		cancel()
	}
}

// pauseLimits stops the limits of all requests other than tool calls that run
// now, until the function it returns is called: a question of the server may
// belong to any of them.
func (c *Connection) pauseLimits() (release func()) {
	c.mu.Lock()
	running := make([]context.Context, 0, len(c.limits))
	for l := range c.limits {
		running = append(running, l.ctx)
	}
	c.mu.Unlock()
	resume := make([]func(), len(running))
	for i, ctx := range running {
		resume[i] = patience.Pause(ctx)
	}
	return func() {
		for _, f := range resume {
			f()
		}
	}
}
