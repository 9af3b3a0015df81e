package mcphost_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
	"steward/mcphost/send"
)

// TestHTTPBodiesLeftOpen checks answers of which nothing is wanted, or only the beginning, and that the server never
// ends: they hold nothing up.
func TestHTTPBodiesLeftOpen(t *testing.T) {
	t.Parallel()
	open := func(w http.ResponseWriter, r *http.Request, kind string, status int) bool {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "said at once\n") // a client that has gone needs none
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		return true
	}
	for name, kind := range map[string]string{"stream": "text/event-stream", "text": "text/plain"} {
		t.Run("after a notification, "+name, func(t *testing.T) {
			t.Parallel()
			s := newWeb(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
				return m.ID == nil && open(w, r, kind, http.StatusOK)
			}, nil)
			h, _ := trial.Host(t, mcphost.Options{})
			if r := callEcho(t, trial.Connect(t, h, config(s)), "echo"); r.Outcome != send.OK {
				t.Errorf("%s: %s", r.Outcome, r.Reason)
			}
		})
	}
	t.Run("with an error", func(t *testing.T) {
		t.Parallel()
		s := newWeb(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
			return m.Method == "tools/call" && open(w, r, "text/plain", http.StatusInternalServerError)
		}, nil)
		h, _ := trial.Host(t, mcphost.Options{})
		cfg := config(s)
		cfg.ToolTimeout = 30 * time.Second
		if r := callEcho(t, trial.Connect(t, h, cfg), "echo"); r.Outcome == send.OK || !strings.Contains(r.Reason, "500") || !strings.Contains(r.Reason, "said at once") {
			t.Errorf("%s: %s", r.Outcome, r.Reason)
		}
	})
}
