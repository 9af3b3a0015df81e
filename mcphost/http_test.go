package mcphost_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
	"steward/mcphost/send"
)

// web is a server over HTTP that misbehaves where it is told to.
type web struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string // "METHOD rpc-method" of each request

	// rpc may take a request; it returns false to leave it.
	rpc func(w http.ResponseWriter, r *http.Request, m message) bool
	// get takes a GET; nil answers 405.
	get http.HandlerFunc
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

func newWeb(t *testing.T, rpc func(http.ResponseWriter, *http.Request, message) bool, get http.HandlerFunc) *web {
	t.Helper()
	s := &web{rpc: rpc, get: get}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var m message
	_ = json.Unmarshal(body, &m) // empty for GET and DELETE
	s.mu.Lock()
	s.seen = append(s.seen, r.Method+" "+m.Method)
	rpc := s.rpc
	s.mu.Unlock()
	switch {
	case r.Method == http.MethodGet && s.get != nil:
		s.get(w, r)
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case rpc != nil && rpc(w, r, m):
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	default:
		answer(w, m, usual(m))
	}
}

func (s *web) count(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, x := range s.seen {
		if x == what {
			n++
		}
	}
	return n
}

// usual is what a good server of the older era answers.
func usual(m message) string {
	switch m.Method {
	case "initialize":
		return `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"web","version":"1"}}`
	case "tools/list":
		return `"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"工具","inputSchema":{"type":"object"}}]}`
	case "tools/call":
		return `"result":{"content":[{"type":"text","text":"called"}]}`
	case "ping":
		return `"result":{}`
	}
	return `"error":{"code":-32601,"message":"unknown"}`
}

func answer(w http.ResponseWriter, m message, what string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, what)
}

func config(s *web) mcphost.ServerConfig {
	return mcphost.ServerConfig{ID: "web", URL: s.URL + "/mcp", StartTimeout: 5 * time.Second, ToolTimeout: 5 * time.Second}
}

func callEcho(t testing.TB, c *mcphost.Connection, tool string) send.Result {
	t.Helper()
	r, err := send.Tool(t.Context(), send.Call{
		Conn: c, Owner: "k", Tool: tool, Definition: trial.Tool(t, c, tool).Definition, Arguments: []byte(`{}`),
		Spend: func([]byte) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// on answers one method with f.
func on(method string, f func(w http.ResponseWriter, m message)) func(http.ResponseWriter, *http.Request, message) bool {
	return func(w http.ResponseWriter, _ *http.Request, m message) bool {
		if m.Method != method {
			return false
		}
		f(w, m)
		return true
	}
}

// TestHTTPAnswers calls a tool whose answer comes in every way seen. After each
// the session must still work.
func TestHTTPAnswers(t *testing.T) {
	t.Parallel()
	sse := func(w http.ResponseWriter, text string) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, text)
	}
	result := func(m message) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"called"}]}}`, m.ID)
	}
	status := func(code int, body string) func(http.ResponseWriter, message) {
		return func(w http.ResponseWriter, m message) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, strings.ReplaceAll(body, "ID", string(m.ID)))
		}
	}
	tests := []struct {
		name, outcome, reason string
		f                     func(http.ResponseWriter, message)
	}{
		{"json", "ok", "", func(w http.ResponseWriter, m message) { answer(w, m, usual(m)) }},
		{"json with charset", "ok", "", func(w http.ResponseWriter, m message) {
			w.Header().Set("Content-Type", "Application/JSON; charset=UTF-8")
			_, _ = io.WriteString(w, result(m))
		}},
		{"stream", "ok", "", func(w http.ResponseWriter, m message) { sse(w, "event: message\nid: 1\ndata: "+result(m)+"\n\n") }},
		{"stream with CRLF, comments, bare fields, other events", "ok", "", func(w http.ResponseWriter, m message) {
			sse(w, "\uFEFF: hello\r\n\r\nnonsense\r\nretry: -1\r\nretry: 99999999999\r\nevent: ping\r\ndata: {}\r\n\r\ndata: no JSON\r\n\r\ndata:"+result(m)+"\r\n\r\n")
		}},
		{"stream without the last empty line", "ok", "", func(w http.ResponseWriter, m message) { sse(w, "data: "+result(m)) }},
		{"stream in several data lines", "ok", "", func(w http.ResponseWriter, m message) {
			sse(w, "data: "+strings.Replace(result(m), `,"result"`, ",\ndata: \"result\"", 1)+"\n\n")
		}},
		{"stream ends without an answer", "unknown", "closed the stream", func(w http.ResponseWriter, _ message) { sse(w, ": nothing\n\n") }},
		{"accepted without an answer", "unknown", "202", status(202, "")},
		{"no content", "unknown", "204", status(204, "")},
		{"empty", "unknown", "empty", func(w http.ResponseWriter, _ message) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, " ")
		}},
		{"no JSON", "unknown", "no answer", func(w http.ResponseWriter, _ message) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{oops")
		}},
		{"another's answer", "unknown", "no answer to this request", func(w http.ResponseWriter, _ message) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":"other","result":{}}`)
		}},
		{"a page", "unknown", "text/html", func(w http.ResponseWriter, _ message) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html><body>Please sign in")
		}},
		{"another charset", "unknown", "utf-16", func(w http.ResponseWriter, _ message) {
			w.Header().Set("Content-Type", "application/json; charset=utf-16")
		}},
		{"400", "unknown", "bad luck", status(400, "bad luck")},
		{"401", "unknown", "sign-in", status(401, "")},
		{"403", "unknown", "refuses access", status(403, "")},
		{"429", "unknown", "429", status(429, "")},
		{"500", "unknown", "500", status(500, "<html>")},
		{"503", "unknown", "503", status(503, `{"message":"down"}`)},
		{"500 with an answer", "protocol_error", "full", status(500, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"full"}}`)},
		{"another session id", "ok", "", func(w http.ResponseWriter, m message) {
			w.Header().Set("Mcp-Session-Id", "changed")
			answer(w, m, usual(m))
		}},
		{"the connection breaks", "unknown", "closed the connection", func(w http.ResponseWriter, _ message) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_ = conn.Close()
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newWeb(t, on("tools/call", tt.f), nil)
			h, _ := trial.Host(t, mcphost.Options{})
			c := trial.Connect(t, h, config(s))
			r := callEcho(t, c, "echo")
			if r.Outcome != tt.outcome || !strings.Contains(r.Reason, tt.reason) {
				t.Errorf("%s: %s", r.Outcome, r.Reason)
			}
			if n := s.count("POST tools/call"); n != 1 {
				t.Errorf("the call was sent %d times", n)
			}
			if n := s.count("POST notifications/cancelled"); n != 0 {
				t.Errorf("%d requests were cancelled, though none was stopped", n)
			}
			if err := c.Ping(t.Context()); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// TestHTTPLimits checks that an answer above the limit is cut, also where it is
// small on the wire.
func TestHTTPLimits(t *testing.T) {
	t.Parallel()
	s := newWeb(t, on("tools/call", func(w http.ResponseWriter, m message) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		defer func() { _ = z.Close() }()
		fmt.Fprintf(z, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, m.ID)
		block := []byte(strings.Repeat("x", 1<<20))
		for range 80 {
			if _, err := z.Write(block); err != nil {
				return
			}
		}
		fmt.Fprint(z, `"}]}}`)
	}), nil)
	h, _ := trial.Host(t, mcphost.Options{})
	cfg := config(s)
	cfg.ToolTimeout = time.Minute
	c := trial.Connect(t, h, cfg)
	if r := callEcho(t, c, "echo"); r.Outcome != send.Unknown || !strings.Contains(r.Reason, "64 MiB") {
		t.Errorf("%s: %s", r.Outcome, r.Reason)
	}
	if err := c.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestHTTPChannel opens the channel for unasked messages in every way seen; no
// way may delay the start or end the session.
func TestHTTPChannel(t *testing.T) {
	t.Parallel()
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	tests := map[string]struct {
		get  http.HandlerFunc
		most int
	}{
		"404": {status(404), 1}, "406": {status(406), 1}, "400": {status(400), 1}, "501": {status(501), 1},
		"hangs":          {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 1},
		"closes at once": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/event-stream") }, 2},
		"wants no pause": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "retry: 0\n\n")
		}, 2},
		"is no stream":     {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }, 1},
		"sends no headers": {func(w http.ResponseWriter, r *http.Request) { time.Sleep(10 * time.Millisecond); <-r.Context().Done() }, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newWeb(t, nil, tt.get)
			h, _ := trial.Host(t, mcphost.Options{})
			begun := time.Now()
			c := trial.Connect(t, h, config(s))
			if d := time.Since(begun); d > time.Second {
				t.Errorf("the start took %s", d)
			}
			time.Sleep(900 * time.Millisecond)
			if r := callEcho(t, c, "echo"); r.Outcome != "ok" {
				t.Errorf("%s: %s", r.Outcome, r.Reason)
			}
			if n := s.count("GET "); n > tt.most || n == 0 {
				t.Errorf("the channel was opened %d times", n)
			}
		})
	}
}

// TestHTTPPush checks that what comes on the channel arrives, also after the
// channel has been opened again, and that a server's question is answered.
func TestHTTPPush(t *testing.T) {
	t.Parallel()
	opened := make(chan string, 10)
	answered := make(chan string, 1)
	s := newWeb(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
		if m.Method == "" && m.ID != nil {
			answered <- string(m.ID)
			w.WriteHeader(202)
			return true
		}
		return false
	}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		opened <- r.Header.Get("Last-Event-ID")
		_, _ = io.WriteString(w, "retry: 10\nid: 7\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"hello\"}}\n\n"+
			"id: no\x01header\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"roots/list\"}\n\n")
	})
	h, w := trial.Host(t, mcphost.Options{})
	trial.Connect(t, h, config(s))
	trial.Wait(t, w, func(l mcphost.LogMessage) bool { return l.Text == "hello" })
	if id := <-answered; id != `"q"` {
		t.Errorf("answered %s", id)
	}
	for _, want := range []string{"", "7"} {
		select {
		case id := <-opened:
			if id != want {
				t.Errorf("Last-Event-ID %q, want %q", id, want)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("the channel was not opened again")
		}
	}
}

// TestHTTPSession checks that a forgotten session is begun again once, that
// lists are read anew, and that a tool call is not sent twice.
func TestHTTPSession(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	session, serial := "", 0
	forget := func() { mu.Lock(); session = ""; mu.Unlock() }
	s := newWeb(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
		mu.Lock()
		defer mu.Unlock()
		if m.Method == "initialize" {
			serial++
			session = fmt.Sprintf("session-%d", serial)
			w.Header().Set("Mcp-Session-Id", session)
			return false
		}
		if m.Method == "server/discover" {
			w.WriteHeader(400)
			return true
		}
		if session == "" || r.Header.Get("Mcp-Session-Id") != session {
			w.WriteHeader(404)
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`)
			return true
		}
		return false
	}, nil)
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, config(s))
	forget()
	if err := c.Ping(t.Context()); err != nil {
		t.Errorf("a ping after the session was forgotten: %v", err)
	}
	if n := s.count("POST initialize"); n != 2 {
		t.Errorf("initialize was sent %d times", n)
	}
	if err := c.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	lists := s.count("POST tools/list")
	forget()
	r := callEcho(t, c, "echo")
	if r.Outcome != send.Unknown || !strings.Contains(r.Reason, "not sent again") {
		t.Errorf("%s: %s", r.Outcome, r.Reason)
	}
	if n := s.count("POST tools/call"); n != 1 {
		t.Errorf("the call was sent %d times", n)
	}
	if r := callEcho(t, c, "echo"); r.Outcome != "ok" {
		t.Errorf("afterwards: %s %s", r.Outcome, r.Reason)
	}
	if s.count("POST tools/list") == lists {
		t.Error("the tools were not read again")
	}
}

// TestHTTPCancel checks that a stopped call tells the server, and that the
// answer it gives all the same is seen.
func TestHTTPCancel(t *testing.T) {
	t.Parallel()
	told := make(chan bool)
	s := newWeb(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
		switch m.Method {
		case "notifications/cancelled":
			t.Logf("%s", m.Params)
			select {
			case told <- true:
			case <-r.Context().Done():
			}
		case "tools/call":
			select {
			case <-told:
			case <-r.Context().Done():
			}
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n")
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", m.ID)
			return true
		}
		return false
	}, nil)
	h, w := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, config(s))
	ctx, cancel := context.WithCancel(t.Context())
	r, err := send.Tool(ctx, send.Call{
		Conn: c, Owner: "k", Tool: "echo", Definition: trial.Tool(t, c, "echo").Definition, Arguments: []byte(`{}`),
		Spend: func([]byte) error { return nil }, Sent: cancel,
	})
	if err != nil || r.Outcome != send.Cancelled {
		t.Errorf("%+v, %v", r, err)
	}
	trial.Wait(t, w, func(l mcphost.Late) bool { return l.Owner == "k" })
}
