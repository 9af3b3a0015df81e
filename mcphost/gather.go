package mcphost

import (
	"fmt"
	"sync"
	"time"
)

// Limits of what a server can make this program do with notifications, which it may send
// without end.
const (
	gatherPause = time.Second // between two reports of the same kind
	mostLogged  = 100         // lines of the log in one gatherPause
	mostUpdated = 100         // resources whose changes are told in one gatherPause
)

// gather keeps a server's notifications from becoming a storm: lines of the log above a
// rate are counted instead of kept, and the changes of one resource are told together.
// Log messages have limits of their own (messages), and are counted here where they are
// left out. One timer runs while something is held back; stop ends it.
type gather struct {
	mu      sync.Mutex
	now     func() time.Time
	flush   func(heldBack)
	timer   *time.Timer
	stopped bool

	begun   time.Time // of the current gatherPause
	lines   int       // let through in it
	updates bool      // so was a change
	held    map[string]bool
	back    heldBack
}

// heldBack is what was not told when it came.
type heldBack struct {
	uris     []string // of resources that have changed, each once
	changes  int      // of further resources
	lines    int      // of the log
	messages int      // of the server's for the log
}

// open begins a new gatherPause where the last one is over. g.mu is held.
func (g *gather) open() {
	now := g.now()
	if d := now.Sub(g.begun); d >= gatherPause || d < 0 {
		g.begun, g.lines, g.updates = now, 0, false
	}
}

// line reports whether one more line may be kept in the log.
func (g *gather) line() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open()
	if g.lines++; g.lines <= mostLogged {
		return true
	}
	g.back.lines++
	g.later()
	return false
}

// message counts a log message that was left out.
func (g *gather) message() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.back.messages++
	g.later()
}

// update reports whether a change of a resource may be told at once; else it is told
// later, together with the others.
func (g *gather) update(uri string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open()
	if !g.updates && len(g.back.uris) == 0 {
		g.updates = true
		return true
	}
	if g.held == nil {
		g.held = map[string]bool{}
	}
	switch {
	case g.held[uri]:
	case len(g.back.uris) < mostUpdated:
		g.held[uri] = true
		g.back.uris = append(g.back.uris, uri)
	default:
		g.back.changes++
	}
	g.later()
	return false
}

// later makes what is held back be told. g.mu is held.
func (g *gather) later() {
	if g.timer == nil && !g.stopped {
		g.timer = time.AfterFunc(gatherPause, g.tell)
	}
}

func (g *gather) tell() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.timer = nil
	if g.stopped {
		return
	}
	back := g.back
	g.held, g.back = nil, heldBack{}
	// Under the lock, so that nothing is told after stop has returned.
	g.flush(back)
}

// stop ends it; what is held back is lost.
func (g *gather) stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stopped = true
	if g.timer != nil {
		g.timer.Stop()
	}
}

// gathered tells what was held back.
func (c *Connection) gathered(back heldBack) {
	for _, uri := range back.uris {
		c.events.put(ResourceUpdated{Server: c.cfg.ID, URI: uri})
	}
	for _, left := range []struct {
		n   int
		why string
	}{
		{back.lines, fmt.Sprintf("lines of the log were left out, because they came faster than %d a second", mostLogged)},
		{back.messages, "of its log messages came too fast and were left out"},
		{back.changes, fmt.Sprintf("changes of resources were not told, because those of %d others came at the same time", mostUpdated)},
	} {
		if left.n > 0 {
			// As it is, since a flood of other lines must not take it along.
			c.keep(LogLine{Time: c.now(), Kind: "warning", Text: fmt.Sprintf("%d %s", left.n, left.why)})
		}
	}
}
