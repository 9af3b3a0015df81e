package mcphost_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
)

// sessions is a server that gives out sessions and can forget them.
type sessions struct {
	current atomic.Int64 // the session's number; 0 is none
	serial  atomic.Int64
	down    atomic.Bool // it answers initialize with 503
}

func (s *sessions) name() string { return fmt.Sprintf("session-%d", s.current.Load()) }

func (s *sessions) known(r *http.Request) bool {
	return s.current.Load() != 0 && r.Header.Get("Mcp-Session-Id") == s.name()
}

func (s *sessions) rpc(w http.ResponseWriter, r *http.Request, m message) bool {
	switch {
	case m.Method == "server/discover":
		w.WriteHeader(http.StatusBadRequest)
	case m.Method == "initialize" && s.down.Load():
		w.WriteHeader(http.StatusServiceUnavailable)
	case m.Method == "initialize":
		s.current.Store(s.serial.Add(1))
		w.Header().Set("Mcp-Session-Id", s.name())
		return false
	case r.Header.Get("Mcp-Session-Id") == "":
		w.WriteHeader(http.StatusBadRequest)
	case !s.known(r):
		w.WriteHeader(http.StatusNotFound)
	default:
		return false
	}
	return true
}

// TestHTTPSessionWhileItRestarts forgets the session while a new one cannot be had: the next use must try again.
func TestHTTPSessionWhileItRestarts(t *testing.T) {
	t.Parallel()
	var state sessions
	s := newWeb(t, state.rpc, nil)
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, config(s))
	state.current.Store(0)
	state.down.Store(true)
	if err := c.Ping(t.Context()); err == nil {
		t.Error("a ping was answered by a server that is down")
	}
	state.down.Store(false)
	if err := c.Ping(t.Context()); err != nil {
		t.Errorf("when it was up again: %v", err)
	}
}

// TestHTTPChannelOfANewSession has a server forget a session and end its channel: the channel must be there again
// with the next session.
func TestHTTPChannelOfANewSession(t *testing.T) {
	t.Parallel()
	var state sessions
	cut := make(chan struct{})
	opened := make(chan string, 8)
	s := newWeb(t, state.rpc, func(w http.ResponseWriter, r *http.Request) {
		if !state.known(r) {
			w.WriteHeader(http.StatusNotFound)
			opened <- "refused"
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		opened <- r.Header.Get("Mcp-Session-Id")
		select {
		case <-cut:
		case <-r.Context().Done():
		}
	})
	next := func(want string) {
		t.Helper()
		select {
		case got := <-opened:
			if got != want {
				t.Fatalf("the channel: %s, not %s", got, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("the channel was not opened: %s", want)
		}
	}
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, config(s))
	next("session-1")
	state.current.Store(0)
	cut <- struct{}{}
	next("refused")
	if err := c.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	next("session-2")
}
