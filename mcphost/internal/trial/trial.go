// Package trial helps the tests of mcphost and mcphost/send: a test binary that
// runs itself again as the scripted server, and a host that is watched.
package trial

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"steward/mcphost"
	"steward/testdata/scriptedserver"
)

const role = "MCPHOST_TRIAL_ROLE"

// Main is TestMain: it runs the tests, or is the server that a test started.
func Main(m *testing.M) {
	switch os.Getenv(role) {
	case "scripted":
		os.Exit(scriptedserver.Main(os.Args[1:]))
	case "echo":
		os.Exit(echo())
	}
	goleak.VerifyTestMain(m)
}

// Scripted configures the scripted server with flags.
func Scripted(id string, flags ...string) mcphost.ServerConfig {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return mcphost.ServerConfig{
		ID: id, Command: self, Args: flags, Env: map[string]string{role: "scripted"},
		Hash: fmt.Sprintf("%q", flags),
	}
}

// Watch keeps what a host observed.
type Watch struct {
	mu   sync.Mutex
	seen []mcphost.Observation
	more chan struct{}
}

// Observe is for mcphost.Options.
func (w *Watch) Observe(o mcphost.Observation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, o)
	close(w.more)
	w.more = make(chan struct{})
}

// Seen returns all observations so far.
func (w *Watch) Seen() []mcphost.Observation {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.seen)
}

// Wait waits for an observation that fits.
func Wait[T mcphost.Observation](t testing.TB, w *Watch, fits func(T) bool) T {
	t.Helper()
	limit := time.After(15 * time.Second)
	for {
		w.mu.Lock()
		more := w.more
		for _, o := range w.seen {
			if v, ok := o.(T); ok && fits(v) {
				w.mu.Unlock()
				return v
			}
		}
		w.mu.Unlock()
		select {
		case <-more:
		case <-limit:
			var zero T
			t.Fatalf("no fitting %T was observed; seen: %+v", zero, w.Seen())
		}
	}
}

// Host makes a host that the test closes, with a Watch unless o has an Observe.
func Host(t testing.TB, o mcphost.Options) (*mcphost.Host, *Watch) {
	t.Helper()
	w := &Watch{more: make(chan struct{})}
	if o.Observe == nil {
		o.Observe = w.Observe
	}
	if o.WorkDir == "" {
		o.WorkDir = t.TempDir()
	}
	h := mcphost.New(o)
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Errorf("closing the host: %v", err)
		}
	})
	return h, w
}

// Connect connects or ends the test.
func Connect(t testing.TB, h *mcphost.Host, cfg mcphost.ServerConfig) *mcphost.Connection {
	t.Helper()
	c, err := h.Connect(t.Context(), cfg)
	if err != nil {
		t.Fatalf("Connect(%s): %v", cfg.ID, err)
	}
	return c
}

// Names are the names of tools.
func Names(tools []mcphost.Tool) string {
	var out []string
	for _, tool := range tools {
		out = append(out, tool.Name)
	}
	return strings.Join(out, " ")
}

// Tool returns a tool of the connection or ends the test.
func Tool(t testing.TB, c *mcphost.Connection, name string) mcphost.Tool {
	t.Helper()
	for _, tool := range c.Tools() {
		if tool.Name == name {
			return tool
		}
	}
	t.Fatalf("there is no tool %q among %s", name, Names(c.Tools()))
	return mcphost.Tool{}
}
