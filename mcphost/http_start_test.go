package mcphost_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
)

// TestHTTPStartErrors checks that a start over HTTP that fails says why.
func TestHTTPStartErrors(t *testing.T) {
	t.Parallel()
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	tls := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(tls.Close)
	other := newWeb(t, nil, nil)
	refuse := func(code int, header, value string) *web {
		return newWeb(t, func(w http.ResponseWriter, _ *http.Request, _ message) bool {
			w.Header().Set(header, value)
			w.WriteHeader(code)
			return true
		}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMethodNotAllowed) })
	}
	tests := []struct {
		name, url string
		headers   map[string]string
		want      []string
	}{
		{"no address", "localhost:1", nil, []string{"localhost:1", "https://"}},
		{"nobody there", dead.URL, nil, []string{dead.URL, "cannot be reached", "running"}},
		{"certificate", tls.URL, nil, []string{tls.URL, "cannot be trusted"}},
		{"401", refuse(401, "WWW-Authenticate", `Bearer resource_metadata="https://x/y"`).URL, nil, []string{"sign-in", "resource_metadata"}},
		{"500", refuse(500, "X", "y").URL, nil, []string{"500"}},
		{"405 for all", refuse(405, "X", "y").URL, nil, []string{"405", "no MCP server"}},
		{"elsewhere", refuse(307, "Location", other.URL+"/mcp?token=t").URL, map[string]string{"X-Api-Key": "k"}, []string{other.URL, "does not follow"}},
		{"to itself", refuse(308, "Location", "/").URL, nil, []string{"in a circle", "Check the address"}},
		{"to itself as another request", refuse(302, "Location", "").URL + "/", nil, []string{"302 Found"}},
		{"in a circle", sending(t, 307, map[string]string{"/": "/a", "/a": "/b?x=1", "/b": "/"}), nil, []string{"in a circle"}},
		{"as another request", sending(t, 301, map[string]string{"/": "/a", "/a": "/b"}), nil, []string{"301 Moved Permanently) that would turn", "/a with", "write it"}},
		{"see other", sending(t, 303, map[string]string{"/": "/a"}), nil, []string{"303 See Other) that would turn"}},
		{"too often", sending(t, 307, map[string]string{"/": "/1", "/1": "/2", "/2": "/3", "/3": "/4"}), nil, []string{"more than 3 times, at last to", "/4"}},
		{"unprotected", "http://example.test/mcp", map[string]string{"X-Api-Key": "k"}, []string{"unprotected", "https://"}},
		{"sent twice", "https://example.test/mcp", map[string]string{"x-idempotency-key": "k"}, []string{"x-idempotency-key", "twice", "Remove"}},
		{"a page", newWeb(t, func(w http.ResponseWriter, _ *http.Request, _ message) bool {
			w.Header().Set("Content-Type", "text/html")
			return true
		}, nil).URL, nil, []string{"not an MCP server"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h, _ := trial.Host(t, mcphost.Options{})
			_, err := h.Connect(t.Context(), mcphost.ServerConfig{ID: "web", URL: tt.url, Headers: tt.headers, StartTimeout: 5 * time.Second})
			var se *mcphost.StartError
			if !errors.As(err, &se) {
				t.Fatalf("err = %v", err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in: %v", want, err)
				}
			}
			if strings.Contains(err.Error(), "token=") {
				t.Errorf("a secret is in: %v", err)
			}
		})
	}
	if n := other.count("POST server/discover") + other.count("POST initialize"); n != 0 {
		t.Errorf("%d requests reached the other origin", n)
	}
}

// sending is a server that answers all but what is asked under /4 with redirects.
func sending(t *testing.T, status int, to map[string]string) string {
	return newWeb(t, func(w http.ResponseWriter, r *http.Request, _ message) bool {
		w.Header().Set("Location", to[r.URL.Path])
		w.WriteHeader(status)
		return true
	}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMethodNotAllowed) }).URL + "/"
}

// TestHTTPRedirect checks that a redirect within the origin is followed.
func TestHTTPRedirect(t *testing.T) {
	t.Parallel()
	s := newWeb(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
		if r.URL.Path == "/mcp" {
			http.Redirect(w, r, "/mcp/", http.StatusPermanentRedirect)
			return true
		}
		return r.Header.Get("X-Api-Key") != "k"
	}, nil)
	h, _ := trial.Host(t, mcphost.Options{})
	cfg := config(s)
	cfg.Headers = map[string]string{"X-Api-Key": "k"}
	c := trial.Connect(t, h, cfg)
	if r := callEcho(t, c, "echo"); r.Outcome != "ok" {
		t.Errorf("%s %s", r.Outcome, r.Reason)
	}
}

// TestOldSSE connects to a server that speaks the transport of 2024-11-05
// alone, found out or told.
func TestOldSSE(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"", "sse"} {
		t.Run("transport "+transport, func(t *testing.T) {
			t.Parallel()
			events := make(chan string, 10)
			mux := http.NewServeMux()
			mux.HandleFunc("POST /mcp", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMethodNotAllowed) })
			mux.HandleFunc("GET /mcp", func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprint(w, "event: endpoint\ndata: /post?s=1\n\n")
				flush := http.NewResponseController(w)
				for {
					_ = flush.Flush()
					select {
					case e := <-events:
						fmt.Fprintf(w, "event: message\ndata: %s\n\n", e)
					case <-r.Context().Done():
						return
					}
				}
			})
			mux.HandleFunc("POST /post", func(w http.ResponseWriter, r *http.Request) {
				var m message
				if json.NewDecoder(r.Body).Decode(&m) == nil && m.ID != nil {
					events <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, usual(m))
				}
				w.WriteHeader(202)
			})
			s := httptest.NewServer(mux)
			t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
			h, _ := trial.Host(t, mcphost.Options{})
			c := trial.Connect(t, h, mcphost.ServerConfig{ID: "old", URL: s.URL + "/mcp", Transport: transport, StartTimeout: 5 * time.Second})
			if r := callEcho(t, c, "echo"); r.Outcome != "ok" || r.Content[0].Text != "called" {
				t.Errorf("%s %s", r.Outcome, r.Reason)
			}
		})
	}
}
