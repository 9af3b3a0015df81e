package mcphost

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrClosed is returned after a host or a connection has been closed.
var ErrClosed = errors.New("this program is no longer connected to the server")

// Options are what a [Host] is given by the program around it. Observe and
// Asker must be ready before the first Connect.
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
	// Observe is told what happens; see [Observation]. nil discards.
	Observe func(Observation)
	// WorkDir is a private empty folder, the working folder of servers that
	// have none set; "" is the system's folder for temporary files.
	WorkDir string
	// EnvPath returns the PATH that programs are looked up on and that they
	// get; nil is this process's own.
	EnvPath func() string
}

// Host owns connections. Its methods may be called by any goroutine.
type Host struct {
	opts Options

	mu          sync.Mutex
	closed      bool
	connections map[string]*Connection // by ServerConfig.key
	order       []string
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
	return &Host{opts: o, connections: map[string]*Connection{}}
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

var _ context.Context
