package mcphost_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
)

// memory is an mcphost.Eras.
type memory struct {
	mu     sync.Mutex
	legacy map[string]bool
	writes int
}

func (m *memory) Legacy(server, hash string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.legacy[server+" "+hash]
}

func (m *memory) Remember(server, hash string, legacy bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.legacy == nil {
		m.legacy = map[string]bool{}
	}
	m.legacy[server+" "+hash] = legacy
	m.writes++
}

func methods(t *testing.T, record string) string {
	t.Helper()
	lines, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(lines)) {
		var m message
		if json.Unmarshal([]byte(line), &m) == nil {
			out = append(out, m.Method)
		}
	}
	return strings.Join(out, " ")
}

// TestEraAcrossRuns checks that a server of the older era is not asked server/discover again by the
// next run, and that one that has become one of the newer era is found out in the same start.
func TestEraAcrossRuns(t *testing.T) {
	t.Parallel()
	var known memory
	record := filepath.Join(t.TempDir(), "record")
	cfg := trial.Scripted("s", "--record", record)
	for range 2 {
		h, _ := trial.Host(t, mcphost.Options{Eras: &known})
		trial.Connect(t, h, cfg)
		if err := h.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	got := methods(t, record)
	if n := strings.Count(got, "server/discover"); n != 1 {
		t.Errorf("server/discover was sent %d times: %s", n, got)
	}
	if known.writes != 1 {
		t.Errorf("the era was written %d times", known.writes)
	}
	newer := trial.Scripted("s", "--discover", "answer", "--step", "initialize=@error -32601 unknown")
	newer.Hash = cfg.Hash
	h, _ := trial.Host(t, mcphost.Options{Eras: &known})
	c := trial.Connect(t, h, newer)
	if c.Protocol() != "2026-07-28" {
		t.Errorf("protocol %s", c.Protocol())
	}
	if known.Legacy("s", cfg.Hash) {
		t.Error("it is still remembered as one of the older era")
	}
}

// TestEraAfterAFailure checks that a start that fails has the server asked again by the next.
func TestEraAfterAFailure(t *testing.T) {
	t.Parallel()
	known := memory{legacy: map[string]bool{"web h": true}}
	down := true
	var mu sync.Mutex
	s := newWeb(t, func(w http.ResponseWriter, _ *http.Request, _ message) bool {
		mu.Lock()
		defer mu.Unlock()
		if down {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return down
	}, nil)
	cfg := config(s)
	cfg.Hash = "h"
	h, _ := trial.Host(t, mcphost.Options{Eras: &known})
	if _, err := h.Connect(t.Context(), cfg); err == nil {
		t.Fatal("no error")
	}
	if n := s.count("POST server/discover"); n != 0 {
		t.Errorf("server/discover was sent %d times before", n)
	}
	mu.Lock()
	down = false
	mu.Unlock()
	trial.Connect(t, h, cfg)
	if n := s.count("POST server/discover"); n != 1 {
		t.Errorf("server/discover was sent %d times", n)
	}
	if !known.Legacy("web", "h") {
		t.Error("what was found out was not kept")
	}
}

// TestEraOfABusyServer checks that a server that was too busy to be asked is not taken for one of the
// older era from then on.
func TestEraOfABusyServer(t *testing.T) {
	t.Parallel()
	var known memory
	s := newWeb(t, on("server/discover", func(w http.ResponseWriter, _ message) { w.WriteHeader(http.StatusServiceUnavailable) }), nil)
	h, _ := trial.Host(t, mcphost.Options{Eras: &known})
	trial.Connect(t, h, config(s))
	if known.Legacy("web", "") {
		t.Error("it is")
	}
}

// TestSlowNewerServer starts a server that answers server/discover alone, and later than it may.
func TestSlowNewerServer(t *testing.T) {
	t.Parallel()
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s", "--discover", "answer", "--step", "initialize=@error -32601 unknown",
		"--step", "server/discover=@sleep 6s", "--step", "server/discover=@usual"))
	if c.Protocol() != "2026-07-28" {
		t.Errorf("protocol %s", c.Protocol())
	}
}

// TestDiscoverHangsOverHTTP checks that a server over HTTP that never answers server/discover is
// begun with anew.
func TestDiscoverHangsOverHTTP(t *testing.T) {
	t.Parallel()
	s := newWeb(t, func(_ http.ResponseWriter, r *http.Request, m message) bool {
		if m.Method != "server/discover" {
			return false
		}
		<-r.Context().Done()
		return true
	}, nil)
	h, _ := trial.Host(t, mcphost.Options{})
	cfg := config(s)
	cfg.StartTimeout = 20 * time.Second
	if c := trial.Connect(t, h, cfg); c.Protocol() != "2025-06-18" {
		t.Errorf("protocol %s", c.Protocol())
	}
}

// TestErrorsOfTheNewerEra checks that a server that answers server/discover with an error that only
// the newer era knows is not asked initialize, however it is written.
func TestErrorsOfTheNewerEra(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"header mismatch": `{"jsonrpc":"2.0","id":ID,"error":{"code":-32020,"message":"header Mcp-Method"}}`,
		"capability":      `{"jsonrpc":"2.0","error":{"code":-32021,"message":"needs sampling"}}`,
		"version":         `{"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"other","data":{"supported":["2027-01-01"]}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWeb(t, on("server/discover", func(w http.ResponseWriter, m message) {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = w.Write([]byte(strings.ReplaceAll(body, "ID", string(m.ID))))
			}), nil)
			h, _ := trial.Host(t, mcphost.Options{})
			_, err := h.Connect(t.Context(), config(s))
			var se *mcphost.StartError
			if !errors.As(err, &se) {
				t.Fatalf("err = %v", err)
			}
			if n := s.count("POST initialize") + s.count("GET "); n != 0 {
				t.Errorf("%d other ways were tried", n)
			}
			t.Log(err)
		})
	}
}

// TestServerOfAnotherEraAfterwards replaces a running server over HTTP by one of the other era: what is asked next
// fails, and what comes after that is asked in its way.
func TestServerOfAnotherEraAfterwards(t *testing.T) {
	t.Parallel()
	var modern atomic.Bool
	newer := func(w http.ResponseWriter, r *http.Request, m message) bool {
		switch m.Method {
		case "server/discover":
			answer(w, m, discovered)
		case "subscriptions/listen":
			<-r.Context().Done()
		case "initialize":
			w.WriteHeader(http.StatusBadRequest)
			answer(w, m, `"error":{"code":-32601,"message":"unknown"}`)
		default:
			if m.ID != nil && r.Header.Get("Mcp-Protocol-Version") != "2026-07-28" {
				w.WriteHeader(http.StatusNotFound)
				return true
			}
			return false
		}
		return true
	}
	var state sessions
	older := func(w http.ResponseWriter, r *http.Request, m message) bool {
		if m.ID != nil && r.Header.Get("Mcp-Protocol-Version") == "2026-07-28" {
			w.WriteHeader(http.StatusBadRequest)
			answer(w, m, `"error":{"code":-32022,"message":"unsupported","data":{"supported":["2025-06-18"]}}`)
			return true
		}
		return state.rpc(w, r, m)
	}
	s := newWeb(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
		if modern.Load() {
			return newer(w, r, m)
		}
		return older(w, r, m)
	}, nil)
	h, _ := trial.Host(t, mcphost.Options{})
	cfg := config(s)
	cfg.StartTimeout = 20 * time.Second
	c := trial.Connect(t, h, cfg)
	if c.Protocol() != "2025-06-18" {
		t.Fatalf("protocol %s", c.Protocol())
	}
	for _, want := range []string{"2026-07-28", "2025-06-18", "2026-07-28"} {
		modern.Store(want == "2026-07-28")
		callEcho(t, c, "echo") // it may fail, and shows what has happened
		until(t, "it speaks "+want, func() bool { return c.State() == mcphost.StateReady && c.Protocol() == want })
		if r := callEcho(t, c, "echo"); r.Outcome != "ok" {
			t.Errorf("%s: %s %s", want, r.Outcome, r.Reason)
		}
	}
}
