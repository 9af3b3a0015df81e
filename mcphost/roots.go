package mcphost

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"steward/mcphost/internal/wire"
)

// A server of the older era that takes its folders from roots asks for them when it has been told that the session
// is initialized, and looks at each folder before it lets a tool use it. A call that follows at once would be
// refused as outside of its folders, although they are shared.
const (
	rootsAsked  = time.Second            // how long after the start a server may take to ask
	rootsTaken  = 100 * time.Millisecond // how long it has to look at them
	rootsMethod = "roots/list"
)

// rootsWait tells when a session's server was first given its roots.
type rootsWait struct {
	once  sync.Once
	given chan struct{}
	at    time.Time // read only after given is closed
}

func newRootsWait() *rootsWait { return &rootsWait{given: make(chan struct{})} }

// handleOn answers what the server of one session asks, and notes when it was given its roots.
func (c *Connection) handleOn(w *rootsWait) func(context.Context, wire.ServerRequest) (json.RawMessage, error) {
	return func(ctx context.Context, r wire.ServerRequest) (json.RawMessage, error) {
		result, err := c.handle(ctx, r)
		if r.Method == rootsMethod && err == nil {
			w.once.Do(func() {
				w.at = c.now()
				close(w.given)
			})
		}
		return result, err
	}
}

// settleRoots holds a call back until a server that shares folders has had the time to learn of them. It costs
// nothing without folders, and at most rootsAsked and rootsTaken, counted from the start, with them.
func (c *Connection) settleRoots(ctx context.Context, l *live) {
	if len(c.cfg.Roots) == 0 || l.session.Hello().Modern {
		return
	}
	if !pause(ctx, l.since.Add(rootsAsked).Sub(c.now()), l.roots.given) {
		return // it did not ask in time, or ctx has ended
	}
	pause(ctx, l.roots.at.Add(rootsTaken).Sub(c.now()), nil)
}

// pause waits for d, for done, or for the end of ctx, and reports whether done came.
func pause(ctx context.Context, d time.Duration, done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
	}
	t := time.NewTimer(max(d, 0))
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
	case <-ctx.Done():
	}
	return false
}
