package app

import (
	"context"
	"sync"
	"time"

	"steward/app/event"
	"steward/mcphost"
)

// factWait bounds finding out about one server.
const factWait = 15 * time.Second

// serverFacts are what was asked of servers for the list of servers, by name. Nothing is
// asked unless somebody looks at the list.
type serverFacts struct {
	mu     sync.Mutex
	looked bool // somebody has looked at the list
	known  map[string]serverKnown
	asking map[string]bool
}

// serverKnown holds for one connection of a server.
type serverKnown struct {
	conn                          *mcphost.Connection
	prompts, resources, templates int
	pending                       int
	latency                       time.Duration
	stale                         bool
}

// facts gives what is known of a running server, and begins to find out what is not.
func (a *App) facts(name string, conn *mcphost.Connection) (serverKnown, bool) {
	f := &a.desk.facts
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looked = true
	k, ok := f.known[name]
	ok = ok && k.conn == conn
	if (!ok || k.stale) && !f.asking[name] {
		f.asking[name] = a.spawn(func(ctx context.Context) { a.findOut(ctx, name, conn) })
	}
	return k, ok
}

// forgetFacts makes what is known of a server be found out again.
func (a *App) forgetFacts(name string) {
	f := &a.desk.facts
	f.mu.Lock()
	defer f.mu.Unlock()
	if k, ok := f.known[name]; ok {
		k.stale = true
		f.known[name] = k
	}
}

// findOut asks a running server for its lists and for a sign of life. What fails stays
// unknown; the server's own page says why.
func (a *App) findOut(ctx context.Context, name string, conn *mcphost.Connection) {
	ctx, cancel := context.WithTimeout(ctx, factWait)
	defer cancel()
	k := serverKnown{conn: conn, prompts: -1, resources: -1, templates: -1, pending: 0}
	start := time.Now()
	if conn.Ping(ctx) == nil {
		k.latency = time.Since(start)
	}
	if list, err := conn.Prompts(ctx); err == nil {
		k.prompts = len(list)
	}
	if list, err := conn.Resources(ctx); err == nil {
		k.resources = len(list)
	}
	if list, err := conn.Templates(ctx); err == nil {
		k.templates = len(list)
	}
	if r, err := a.gate.Review(ctx, conn); err == nil {
		k.pending = r.Pending()
	}
	f := &a.desk.facts
	f.mu.Lock()
	delete(f.asking, name)
	f.known[name] = k
	f.mu.Unlock()
	a.bus.Publish(event.ServersChanged{Server: name})
}

// noticeChange tells that what a server offers or what state it is in has changed.
func (a *App) noticeChange(o mcphost.Observation) {
	name := ""
	switch o := o.(type) {
	case mcphost.ListChanged:
		name = o.Server
	case mcphost.StateChanged:
		name = o.Server
	case mcphost.ResourceUpdated:
		a.bus.Publish(event.ResourceUpdated{Server: o.Server, URI: o.URI})
		return
	default:
		return
	}
	f := &a.desk.facts
	f.mu.Lock()
	looked := f.looked
	f.mu.Unlock()
	if looked {
		a.forgetFacts(name)
		a.bus.Publish(event.ServersChanged{Server: name})
	}
}
