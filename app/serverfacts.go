package app

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"steward/app/config"
	"steward/app/event"
	"steward/mcphost"
)

const (
	// factWait bounds finding out about one server.
	factWait = 15 * time.Second
	// offersWait is how long [App.Server] waits for what a server has not told yet. It is
	// waited once for each connection: a server that is slow holds nobody up again.
	offersWait = 2 * time.Second
)

// serverFacts are what was asked of servers, by name: once for each connection, and again
// when the server says that it changed or a person wants it. Nothing is asked unless
// somebody looks.
type serverFacts struct {
	mu     sync.Mutex
	looked bool // somebody has looked
	known  map[string]serverKnown
	asking map[string]*asking
}

// asking is what is being found out about one connection. done is closed at its end.
type asking struct {
	conn  *mcphost.Connection
	stale bool // something changed meanwhile: it must be found out again
	done  chan struct{}
}

// serverKnown holds for one connection of a server.
type serverKnown struct {
	conn                          *mcphost.Connection
	prompts, resources, templates int // -1: could not be listed
	offers                        ServerOffers
	pending, fresh                int
	latency                       time.Duration
	stale                         bool
}

// watched notes that somebody looks at servers: from now on they are told of each change.
func (a *App) watched() {
	a.desk.facts.mu.Lock()
	defer a.desk.facts.mu.Unlock()
	a.desk.facts.looked = true
}

// facts gives what is known of a running server, and begins to find out what is not.
func (a *App) facts(name string, conn *mcphost.Connection) (serverKnown, bool) {
	f := &a.desk.facts
	f.mu.Lock()
	defer f.mu.Unlock()
	k, ok := f.known[name]
	ok = ok && k.conn == conn
	if ok && !k.stale {
		return k, true
	}
	if now := f.asking[name]; now == nil || now.conn != conn {
		q := &asking{conn: conn, done: make(chan struct{})}
		if a.spawn(func(ctx context.Context) { a.findOut(ctx, name, q) }) {
			f.asking[name] = q
		}
	}
	return k, ok
}

// factsWait is [App.facts] that waits for what was never found out: within ctx, at most
// offersWait, and for each connection only once.
func (a *App) factsWait(ctx context.Context, name string, conn *mcphost.Connection) (serverKnown, bool) {
	k, ok := a.facts(name, conn)
	if ok {
		return k, true
	}
	f := &a.desk.facts
	f.mu.Lock()
	q := f.asking[name]
	f.mu.Unlock()
	if q == nil {
		return a.facts(name, conn)
	}
	late := time.NewTimer(offersWait)
	defer late.Stop()
	select {
	case <-q.done:
	case <-ctx.Done():
	case <-late.C:
		f.mu.Lock()
		if _, have := f.known[name]; !have || f.known[name].conn != conn { // who asks next does not wait as well
			f.known[name] = serverKnown{conn: conn, prompts: -1, resources: -1, templates: -1, stale: true}
		}
		f.mu.Unlock()
	}
	return a.facts(name, conn)
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
	if q := f.asking[name]; q != nil {
		q.stale = true
	}
}

// findOut asks a running server for its lists and for a sign of life, side by side. What
// fails stays unknown; the server's own page says why.
func (a *App) findOut(ctx context.Context, name string, q *asking) {
	ctx, cancel := context.WithTimeout(ctx, factWait)
	defer cancel()
	k := serverKnown{conn: q.conn}
	var all sync.WaitGroup
	all.Go(func() {
		start := time.Now()
		if q.conn.Ping(ctx) == nil {
			k.latency = time.Since(start)
		}
	})
	all.Go(func() { a.readOffers(ctx, q.conn, &k) })
	all.Wait()
	f := &a.desk.facts
	f.mu.Lock()
	if f.asking[name] == q { // else another connection's are being found out
		delete(f.asking, name)
		k.stale = q.stale
		f.known[name] = k
	}
	f.mu.Unlock()
	close(q.done)
	a.bus.Publish(event.ServersChanged{Server: name})
}

// readOffers asks a server for what it offers beside its tools, and compares with what was
// reviewed.
func (a *App) readOffers(ctx context.Context, conn *mcphost.Connection, k *serverKnown) {
	o := ServerOffers{Known: true, PromptList: []Prompt{}, ResourceList: []Resource{}, TemplateList: []Resource{}}
	var prompts []mcphost.Prompt
	var resources []mcphost.Resource
	var templates []mcphost.Template
	var errs [3]error
	var all sync.WaitGroup
	all.Go(func() { prompts, errs[0] = conn.Prompts(ctx) })
	all.Go(func() { resources, errs[1] = conn.Resources(ctx) })
	all.Go(func() { templates, errs[2] = conn.Templates(ctx) })
	all.Wait()
	for _, p := range prompts {
		o.PromptList = append(o.PromptList, shownPrompt(conn.Server(), p))
	}
	for _, r := range resources {
		o.ResourceList = append(o.ResourceList, shownResource(conn.Server(), r))
	}
	for _, t := range templates {
		o.TemplateList = append(o.TemplateList, shownTemplate(conn.Server(), t))
	}
	k.prompts, k.resources, k.templates = len(prompts), len(resources), len(templates)
	var failed []string
	for i, count := range []*int{&k.prompts, &k.resources, &k.templates} {
		if errs[i] != nil {
			*count = -1
			failed = append(failed, fmt.Sprintf("The %s cannot be listed: %s", []string{"prompts", "resources", "resource templates"}[i], a.line(errs[i].Error())))
		}
	}
	o.OfferError = strings.Join(failed, "\n")
	k.offers = o
	if errs[0] == nil {
		if r, err := a.gate.ReviewWith(ctx, conn, prompts); err == nil {
			k.pending, k.fresh = r.Pending(), r.New()
		}
	}
}

// RefreshServer asks a running server again for everything it offers, also where it has
// announced no change. What it answers is told as a ServersChanged event.
func (a *App) RefreshServer(ctx context.Context, name string) error {
	if _, ok := config.Find(a.servers.now().servers, name); !ok {
		return a.servers.unknown(name)
	}
	conn := a.servers.entry(name).started()
	if conn == nil || conn.State() != mcphost.StateReady {
		return &Message{Key: "server_not_running", Args: args("server", reveal(name), "detail", "The server "+reveal(name)+" is not running. Start it first, so that it can be asked what it offers.")}
	}
	err := conn.Refresh(ctx)
	a.changedServer(name)
	return err
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
