package mcphost

import (
	"context"
	"errors"
	"fmt"

	"steward/mcphost/internal/patience"
	"steward/mcphost/internal/session"
	"steward/mcphost/internal/wire"
)

// ListError returns why the tools could not be read, or not to their end, when that was
// tried last; nil if they were. An error with a method Hint() string says with it what to
// do.
func (c *Connection) ListError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if rpc := new(wire.Error); errors.As(c.lists.failure, &rpc) && rpc.TooLarge {
		return &advised{c.lists.failure, "Allow it larger messages (maxMessage in its entry), or have it list fewer tools a page."}
	}
	return c.lists.failure
}

// Declared names what the server has declared to offer, of "tools", "prompts" and
// "resources". What is not declared is not asked for (MCP 2025-11-25, lifecycle,
// operation).
func (c *Connection) Declared() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for _, d := range []struct {
		name string
		yes  bool
	}{{"tools", c.caps.tools}, {"prompts", c.caps.prompts}, {"resources", c.caps.resources}} {
		if d.yes {
			out = append(out, d.name)
		}
	}
	return out
}

// ProbeTools asks for the tools though the server has not declared to have any, and
// returns how many stand on its first page. It is for a person who examines the server;
// what it finds is not offered.
func (c *Connection) ProbeTools(ctx context.Context) (int, error) {
	l, err := c.current(ctx)
	if err != nil {
		return 0, err
	}
	ctx, cancel := patience.WithTimeoutCause(ctx, listLimit, unanswered(listLimit))
	defer cancel()
	reply := l.session.Do(ctx, session.Request{Method: "tools/list"})
	if rpc := new(wire.Error); errors.As(reply.Err, &rpc) && !rpc.Invalid {
		return 0, fmt.Errorf("it answers with the error %d: %s", rpc.Code, c.redact(rpc.Message))
	}
	if reply.Err != nil && ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if reply.Err != nil {
		return 0, &requestError{"the answer to tools/list did not come: " + c.redact(reply.Err.Error()), reply.Err}
	}
	m, _ := fields(reply.Result)
	entries, ok := array(m["tools"])
	if !ok {
		return 0, errors.New("its answer holds no list of tools")
	}
	return len(entries), nil
}
