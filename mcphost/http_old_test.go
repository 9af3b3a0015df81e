package mcphost_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
	"steward/mcphost/send"
)

// oldSSE is a server of the transport of 2024-11-05 that misbehaves where it is told to.
type oldSSE struct {
	*httptest.Server
	endpoint string                                                  // the data of the endpoint event; "" sends none
	get      http.HandlerFunc                                        // instead of the stream
	post     func(w http.ResponseWriter, r *http.Request, m message) // takes a POST; it answers through say
	first    int                                                     // status of a POST to the address itself
	body     string                                                  // of that

	events chan string
	cut    chan struct{}
	gets   atomic.Int64
	posts  atomic.Int64 // to the address itself
}

func newOldSSE(t *testing.T) *oldSSE {
	s := &oldSSE{endpoint: "/post?s=1", first: http.StatusMethodNotAllowed, events: make(chan string, 100), cut: make(chan struct{}, 10)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func (s *oldSSE) say(text string) { s.events <- text }

func (s *oldSSE) answer(m message) {
	if m.ID != nil {
		s.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, usual(m)))
	}
}

func (s *oldSSE) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodGet:
		s.gets.Add(1)
		if s.get != nil {
			s.get(w, r)
			return
		}
		s.stream(w, r)
	case r.URL.Path != "/post":
		s.posts.Add(1)
		w.WriteHeader(s.first)
		_, _ = io.WriteString(w, s.body)
	default:
		var m message
		if json.NewDecoder(r.Body).Decode(&m) != nil {
			return
		}
		if s.post != nil {
			s.post(w, r, m)
			return
		}
		s.answer(m)
		w.WriteHeader(http.StatusAccepted)
	}
}

func (s *oldSSE) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	if s.endpoint != "" {
		fmt.Fprintf(w, "event: endpoint\ndata: %s\n\n", s.endpoint)
	}
	flush := http.NewResponseController(w)
	for {
		_ = flush.Flush()
		select {
		case e := <-s.events:
			fmt.Fprintf(w, "event: message\ndata: %s\n\n", e)
		case <-s.cut:
			return
		case <-r.Context().Done():
			return
		}
	}
}

func (s *oldSSE) config() mcphost.ServerConfig {
	return mcphost.ServerConfig{ID: "old", URL: s.URL + "/mcp", StartTimeout: 10 * time.Second, ToolTimeout: 20 * time.Second}
}

// TestOldSSEStartEnds begins with servers of the old transport that never get so far.
func TestOldSSEStartEnds(t *testing.T) {
	t.Parallel()
	other := newWeb(t, nil, nil)
	for name, tt := range map[string]struct {
		change func(*oldSSE)
		want   string
	}{
		"no endpoint":         {func(s *oldSSE) { s.endpoint = "" }, "did not answer within"},
		"GET hangs":           {func(s *oldSSE) { s.get = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() } }, "did not answer within"},
		"GET trickles":        {func(s *oldSSE) { s.get = trickling }, "did not answer within"},
		"endpoint elsewhere":  {func(s *oldSSE) { s.endpoint = other.URL + "/mcp" }, "posted to another place"},
		"endpoint no address": {func(s *oldSSE) { s.endpoint = "http://[::1" }, "named no usable address"},
		"POST fails": {func(s *oldSSE) {
			s.post = func(w http.ResponseWriter, _ *http.Request, _ message) { w.WriteHeader(http.StatusInternalServerError) }
		}, "500"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, transport := range []string{mcphost.TransportSSE, ""} {
				s := newOldSSE(t)
				tt.change(s)
				cfg := s.config()
				cfg.Transport, cfg.Headers = transport, map[string]string{"X-Key": "k"}
				if strings.Contains(tt.want, "within") {
					cfg.StartTimeout = time.Second
				}
				got := refused(t, cfg)
				if !strings.Contains(got, tt.want) && !(transport == "" && strings.Contains(got, "405")) {
					t.Errorf("transport %q: %s", transport, got)
				}
			}
		})
	}
	t.Cleanup(func() {
		if n := len(other.seen); n != 0 {
			t.Errorf("%d requests reached another origin", n)
		}
	})
}

func trickling(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for r.Context().Err() == nil {
		if _, err := io.WriteString(w, ":"); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
		time.Sleep(10 * time.Millisecond)
	}
}

// TestOldSSEHoldsThePost checks that servers that hold a POST back until they have answered it hold up nothing else.
func TestOldSSEHoldsThePost(t *testing.T) {
	t.Parallel()
	s := newOldSSE(t)
	pinged := make(chan struct{})
	s.post = func(w http.ResponseWriter, r *http.Request, m message) {
		switch m.Method {
		case "ping":
			close(pinged)
		case "tools/call":
			select {
			case <-pinged:
			case <-r.Context().Done():
			}
		}
		s.answer(m)
		w.WriteHeader(http.StatusAccepted)
	}
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, s.config())
	called := make(chan send.Result, 1)
	sent := make(chan struct{})
	go func() {
		r, err := send.Tool(t.Context(), send.Call{
			Conn: c, Owner: "k", Tool: "echo", Definition: trial.Tool(t, c, "echo").Definition, Arguments: []byte(`{}`),
			Spend: func([]byte) error { return nil }, Sent: func() { close(sent) },
		})
		if err != nil {
			t.Error(err)
		}
		called <- r
	}()
	<-sent
	if err := c.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if r := <-called; r.Outcome != send.OK {
		t.Errorf("%s: %s", r.Outcome, r.Reason)
	}
}

// TestOldSSEFaults checks that what goes wrong with a call ends that call, and that a stream that ends is not the end.
func TestOldSSEFaults(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		post func(*oldSSE, http.ResponseWriter, message)
		want string
	}{
		"refused": {func(_ *oldSSE, w http.ResponseWriter, _ message) { w.WriteHeader(http.StatusServiceUnavailable) }, "503"},
		"large": {func(s *oldSSE, w http.ResponseWriter, m message) {
			s.say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 2<<20) + `"}]}}`)
		}, "larger than 1 MiB"},
		"the stream ends": {func(s *oldSSE, w http.ResponseWriter, _ message) { s.cut <- struct{}{} }, "closed the stream"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newOldSSE(t)
			s.post = func(w http.ResponseWriter, _ *http.Request, m message) {
				if m.Method == "tools/call" {
					tt.post(s, w, m)
					return
				}
				s.answer(m)
				w.WriteHeader(http.StatusAccepted)
			}
			h, _ := trial.Host(t, mcphost.Options{})
			cfg := s.config()
			cfg.MaxFrame = 1 << 20
			c := trial.Connect(t, h, cfg)
			if r := callEcho(t, c, "echo"); r.Outcome == send.OK || !strings.Contains(r.Reason, tt.want) {
				t.Errorf("%s: %s", r.Outcome, r.Reason)
			}
			if err := c.Ping(t.Context()); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// TestWhenOldSSEIsTried checks that the old transport is tried only after a POST was refused as its servers refuse it, and that the first error
// is the one that is told.
func TestWhenOldSSEIsTried(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status int
		body   string
		tried  bool
		want   string
	}{
		{400, "", true, "400"}, {404, "", true, "404"}, {405, "", true, "405"},
		{400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: no session"}}`, true, "no session"},
		{400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"other","data":{"supported":["2027-01-01"]}}}`, false, "2027-01-01"},
		{404, `{"jsonrpc":"2.0","error":{"code":-32021,"message":"needs more"}}`, false, "needs more"},
		{401, "", false, "sign-in"}, {403, "", false, "refuses access"}, {406, "", false, "406"}, {410, "", false, "410"}, {429, "", false, "429"},
		{500, "", false, "500"}, {503, "", false, "503"},
	} {
		t.Run(fmt.Sprint(tt.status, " ", tt.want), func(t *testing.T) {
			t.Parallel()
			s := newOldSSE(t)
			s.first, s.body = tt.status, tt.body
			s.get = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }
			got := refused(t, s.config())
			if tried := s.gets.Load() > 0; tried != tt.tried || !strings.Contains(got, tt.want) || strings.Contains(got, "teapot") {
				t.Errorf("tried: %v; %s", tried, got)
			}
		})
	}
}
