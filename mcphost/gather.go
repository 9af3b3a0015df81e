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
// Log messages have limits of their own. The zero gather is ready. One timer runs while something is held back;
// stop ends it.
type gather struct {
	mu      sync.Mutex
	now     func() time.Time
	flush   func(uris []string, lines int)
	timer   *time.Timer
	stopped bool

	begun   time.Time // of the current gatherPause
	lines   int       // let through in it
	updates bool      // so was a change
	lost    int
	held    map[string]bool
	order   []string
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
	g.lost++
	g.later()
	return false
}

// update reports whether a change of a resource may be told at once; else it is told
// later, together with the others.
func (g *gather) update(uri string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open()
	if !g.updates && len(g.order) == 0 {
		g.updates = true
		return true
	}
	if g.held == nil {
		g.held = map[string]bool{}
	}
	if !g.held[uri] && len(g.order) < mostUpdated {
		g.held[uri] = true
		g.order = append(g.order, uri)
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
	uris, lines := g.order, g.lost
	g.held, g.order, g.lost = nil, nil, 0
	// Under the lock, so that nothing is told after stop has returned.
	g.flush(uris, lines)
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
func (c *Connection) gathered(uris []string, lines int) {
	for _, uri := range uris {
		c.events.put(ResourceUpdated{Server: c.cfg.ID, URI: uri})
	}
	if lines > 0 {
		c.keep(LogLine{Time: c.now(), Kind: "warning", Text: fmt.Sprintf("%d lines of the log were left out, because they came faster than %d a second", lines, mostLogged)})
	}
}
