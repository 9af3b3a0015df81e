package mcphost

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"steward/mcphost/process"
)

// ErrClosed is returned after a host or a connection has been closed.
var ErrClosed = errors.New("the connection to the server has been closed")

// Options are what a [Host] is given by the program around it.
type Options struct {
	// Redact removes known secrets from text kept for display; nil keeps it.
	Redact func(string) string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Client names this program to servers.
	Client Implementation
	// Asker answers elicitation and sampling; with nil neither capability is
	// declared.
	Asker Asker
	// SignIn lets a person sign in to servers that want it; with nil such a server
	// fails with StageSignIn.
	SignIn SignIn
	// Eras keeps which servers are of the older era of the protocol, so that the next
	// run need not find it out again; with nil it is known until the host is closed.
	Eras Eras
	// Observe is told what happens; see [Observation]. nil discards.
	Observe func(Observation)
	// WorkDir is a private empty folder, the working folder of servers that
	// have none set; "" is the system's folder for temporary files.
	WorkDir string
}

// Host owns connections. Its methods may be called by any goroutine.
type Host struct {
	opts  Options
	paths *process.Paths

	mu          sync.Mutex
	closed      bool
	connections map[string]*Connection // by ServerConfig.key
	order       []string
	legacy      map[string]bool // by ServerConfig.eraKey: the era, as far as it is known
	accounts    accounts
}

// New returns a host without connections.
func New(o Options) *Host {
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Observe == nil {
		o.Observe = func(Observation) {}
	}
	if o.Client.Name == "" {
		o.Client.Name = "steward"
	}
	if o.Client.Version == "" {
		o.Client.Version = "0"
	}
	return &Host{
		opts: o, paths: process.NewPaths(),
		connections: map[string]*Connection{}, legacy: map[string]bool{},
	}
}

// Connect returns the connection to the server, started: a live one for the
// same server, configuration and roots, or a new one. Several calls at once
// share one start. The context bounds the wait, not the start, which goes on
// within its own limit; nor the connection, which lives until it is closed.
// A start that fails is a *[StartError]; the connection then stays among
// [Host.Connections], failed, and another Connect tries again.
func (h *Host) Connect(ctx context.Context, cfg ServerConfig) (*Connection, error) {
	key := cfg.key()
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil, ErrClosed
	}
	c := h.connections[key]
	if c == nil {
		c = newConnection(h, key, cfg)
		h.connections[key] = c
		h.order = append(h.order, key)
	}
	h.mu.Unlock()
	if err := c.ensure(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// Connections returns the connections that have not been closed, in the order
// they were made.
func (h *Host) Connections() []*Connection {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]*Connection, 0, len(h.order))
	for _, k := range h.order {
		out = append(out, h.connections[k])
	}
	return out
}

// Close ends all connections at once, side by side, and waits for them: at
// most about three seconds, less if the context ends before.
func (h *Host) Close(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	all := h.Connections()
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, c := range all {
		wg.Go(func() { errs[i] = c.Close(ctx) })
	}
	wg.Go(h.paths.Close)
	var signIns error
	wg.Go(func() { signIns = h.accounts.close(ctx) })
	wg.Wait()
	return errors.Join(append(errs, signIns)...)
}

// forget removes a closed connection.
func (h *Host) forget(c *Connection) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.connections[c.key] == c {
		delete(h.connections, c.key)
		h.order = slices.DeleteFunc(h.order, func(k string) bool { return k == c.key })
	}
}
