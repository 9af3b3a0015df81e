package mcphost

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"steward/mcphost/internal/patience"
	"steward/mcphost/internal/session"
	"steward/mcphost/internal/wire"
)

// Limits of the time that a server gives for a list.
const (
	mostFresh  = time.Hour
	leastFresh = 5 * time.Second // instead of no time at all, of tools, which are looked at again and again
	sulk       = 30 * time.Second
)

// lifetime is for how long a list may be used as it was read (MCP 2026-07-28, caching): the shortest
// that any of its pages gives.
type lifetime struct {
	given bool
	d     time.Duration
}

// take reads the ttlMs of one page; a negative one is 0.
func (t *lifetime) take(ttlMs json.RawMessage) {
	ms, ok := number(ttlMs)
	if !ok {
		return
	}
	d := time.Duration(min(max(ms, 0), float64(mostFresh/time.Millisecond))) * time.Millisecond
	if !t.given || d < t.d {
		t.given, t.d = true, d
	}
}

// setUntil records how long a list that was just read may be used. A lifetime of 0 leaves it to the
// server's announcements where it makes any. c.mu is held.
func (c *Connection) setUntil(kind string, t lifetime, announced bool) {
	if c.lists.until == nil {
		c.lists.until = map[string]time.Time{}
	}
	delete(c.lists.until, kind)
	switch {
	case !t.given, t.d == 0 && announced:
	case t.d == 0 && kind == "tools":
		c.lists.until[kind] = c.now().Add(leastFresh)
	default:
		c.lists.until[kind] = c.now().Add(t.d)
	}
}

// forgetLists has lists that are read when they are asked for read anew, also those that are being read
// just now: those of another session say nothing of this one. c.mu is held.
func (c *Connection) forgetLists(kinds ...string) {
	if c.lists.changes == nil {
		c.lists.changes = map[string]int{}
	}
	for _, kind := range kinds {
		delete(c.lists.known, kind)
		c.lists.changes[kind]++
	}
}

// delayUntil lets a list that could not be read again be used for a while. c.mu is held.
func (c *Connection) delayUntil(kind string) {
	if _, ok := c.lists.until[kind]; ok {
		c.lists.until[kind] = c.now().Add(sulk)
	}
}

// expired reports whether the time of a list has passed. c.mu is held.
func (c *Connection) expired(kind string) bool {
	at, ok := c.lists.until[kind]
	return ok && !c.now().Before(at)
}

// fresh reports whether a list that was read may be used as it is. c.mu is held.
func (c *Connection) fresh(kind string, announced bool) bool {
	if _, timed := c.lists.until[kind]; timed {
		return !c.expired(kind)
	}
	return announced
}

// renewExpired has the tools read again in the background if their time has passed.
func (c *Connection) renewExpired() {
	c.mu.Lock()
	due := c.live != nil && c.expired("tools") && !c.lists.stale["tools"]
	c.mu.Unlock()
	if due {
		c.mark("tools")
	}
}

// badCursor reports whether a page could not be had because the server refused its cursor, or knows no
// more of it. An answer that cannot be read, or none, is something else.
func badCursor(err error) bool {
	var rpc *wire.Error
	return errors.As(err, &rpc) && !rpc.Invalid
}

// codeHeaderMismatch says that the headers of a request did not fit its content (MCP 2026-07-28, error codes).
const codeHeaderMismatch = -32020

// mismatch reports whether a request was refused because of its headers.
func mismatch(err error) bool {
	var rpc *wire.Error
	return errors.As(err, &rpc) && !rpc.Invalid && rpc.Code == codeHeaderMismatch
}

// relist reads the tools again after a request was refused because of its headers, which are made from
// them, and reports whether to make the request again. A tool call is not: its receipt is spent, and
// only a person, or a model that is asked for again, decides on another one. f is nil for the others.
func (c *Connection) relist(ctx context.Context, l *live, f *inflight, reply *session.Reply) bool {
	ctx, cancel := patience.WithTimeoutCause(ctx, settle, unanswered(settle))
	defer cancel()
	err := c.readTools(ctx, l) // where it fails, the list read before stays, and that is in the log
	if f == nil {
		return err == nil
	}
	var rpc *wire.Error
	if errors.As(reply.Err, &rpc) {
		told := *rpc
		told.Message += " (The server refused the call before it ran, because its HTTP headers do not fit the tool any more. The tools have been read again; the call was not sent again.)"
		reply.Err = &told
	}
	return false
}
