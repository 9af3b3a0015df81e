package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestStdioAsAProcess(t *testing.T) {
	t.Parallel()
	for _, version := range eras {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		child := exec.Command(self)
		child.Env = append(os.Environ(), childVariable+"=1")
		p := connect(t, &mcp.CommandTransport{Command: child}, version, behaviour{elicit: confirm, sample: firstFlight})
		if b := value[booking](t, p.call(t, "book_trip", paris)); b.Status != "booked" {
			t.Errorf("%s: %+v", version, b)
		}
		if res := p.call(t, "find_best_flight", best); res.IsError {
			t.Errorf("%s: %s", version, text(res))
		}
		if err := p.Close(); err != nil {
			t.Errorf("%s: the server does not end well: %v", version, err)
		}
		if !child.ProcessState.Success() {
			t.Errorf("%s: %v", version, child.ProcessState)
		}
	}
}

func TestStdioEnds(t *testing.T) {
	t.Parallel()
	// With its context.
	in, unread := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Stdio(ctx, in, io.Discard) }()
	time.Sleep(20 * time.Millisecond)
	cancel()
	wait(t, "context", done)
	_ = unread.Close()
	// With its input.
	go func() { done <- Stdio(t.Context(), strings.NewReader(""), io.Discard) }()
	wait(t, "input", done)
}

func wait(t *testing.T, what string, done chan error) {
	t.Helper()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	case <-time.After(10 * time.Second):
		t.Fatalf("%s: the server goes on", what)
	}
}

// website is a running HTTP demo.
type website struct {
	url, token string
	stop       func()
}

func serve(t *testing.T, addr string) website {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	announced := make(chan website, 1)
	done := make(chan error, 1)
	go func() {
		done <- HTTP(ctx, addr, func(url, token string) { announced <- website{url: url, token: token} })
	}()
	select {
	case w := <-announced:
		stopped := false
		w.stop = func() {
			if !stopped {
				stopped = true
				cancel()
				wait(t, "HTTP", done)
			}
		}
		t.Cleanup(w.stop)
		return w
	case err := <-done:
		cancel()
		t.Fatalf("HTTP(%s): %v", addr, err)
	}
	panic("unreachable")
}

// bearer adds the token to every request.
type bearer struct {
	token string
	base  *http.Transport
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.base.RoundTrip(r)
}

func (w website) client(t *testing.T) *http.Client {
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	return &http.Client{Transport: bearer{w.token, base}}
}

func TestHTTPInEveryRevision(t *testing.T) {
	t.Parallel()
	w := serve(t, "127.0.0.1:0")
	for i, version := range eras {
		if version == "2024-11-05" {
			continue // that revision had another HTTP transport
		}
		p := connect(t, &mcp.StreamableClientTransport{Endpoint: w.url, HTTPClient: w.client(t)}, version, behaviour{elicit: confirm, sample: firstFlight})
		if got := p.InitializeResult().ProtocolVersion; version != "" && got != version || version == "" && got != firstStateless {
			t.Fatalf("asked for %q, speaks %q", version, got)
		}
		subscribe(t, p)
		if b := value[booking](t, p.call(t, "book_trip", paris)); b.Status != "booked" || b.Trip.Booking != fmt.Sprintf("SD-%04d", i+1) {
			t.Errorf("%s: %+v", version, b)
		}
		select {
		case <-p.updated:
		case <-time.After(10 * time.Second):
			t.Errorf("%q: no update of the trip document", version)
		}
		if res := p.call(t, "find_best_flight", best); res.IsError {
			t.Errorf("%s: %s", version, text(res))
		}
		p.mu.Lock()
		if len(p.progress) == 0 {
			t.Errorf("%s: no progress", version)
		}
		p.mu.Unlock()
		if err := p.Close(); err != nil && !errors.Is(err, mcp.ErrConnectionClosed) {
			t.Errorf("%s: %v", version, err)
		}
	}
}

func TestHTTPStopsWithOpenStreams(t *testing.T) {
	t.Parallel()
	w := serve(t, "localhost:0")
	if !strings.HasPrefix(w.url, "http://127.0.0.1:") || !strings.HasSuffix(w.url, "/mcp") {
		t.Errorf("listens at %s", w.url)
	}
	for _, version := range []string{"", "2025-11-25"} {
		p := connect(t, &mcp.StreamableClientTransport{Endpoint: w.url, HTTPClient: w.client(t), MaxRetries: -1}, version, behaviour{})
		subscribe(t, p)
	}
	start := time.Now()
	w.stop()
	if d := time.Since(start); d > 8*time.Second {
		t.Errorf("stopping took %v", d)
	}
	if _, err := net.DialTimeout("tcp", strings.TrimSuffix(strings.TrimPrefix(w.url, "http://"), "/mcp"), time.Second); err == nil {
		t.Error("the port is still open")
	}
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func TestHTTPGuard(t *testing.T) {
	t.Parallel()
	w := serve(t, "127.0.0.1:0")
	client := w.client(t)
	client.Transport = client.Transport.(bearer).base
	_, port, err := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(w.url, "http://"), "/mcp"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name                      string
		path, host, origin, token string
		body                      string
		want                      int
	}{
		{"right", "/mcp", "", "", "Bearer " + w.token, initialize, 200},
		{"own name", "/mcp", "localhost:" + port, "http://localhost:" + port, "Bearer " + w.token, initialize, 200},
		{"no token", "/mcp", "", "", "", initialize, 401},
		{"wrong token", "/mcp", "", "", "Bearer " + w.token + "x", initialize, 401},
		{"half a token", "/mcp", "", "", "Bearer " + w.token[:10], initialize, 401},
		{"token of another kind", "/mcp", "", "", "Basic " + w.token, initialize, 401},
		{"token in the address", "/mcp?token=" + w.token, "", "", "", initialize, 401},
		{"foreign page", "/mcp", "", "https://evil.example", "Bearer " + w.token, initialize, 403},
		{"sandboxed page", "/mcp", "", "null", "Bearer " + w.token, initialize, 403},
		{"page of another port", "/mcp", "", "http://localhost:1", "Bearer " + w.token, initialize, 403},
		{"page with https", "/mcp", "", "https://localhost:" + port, "Bearer " + w.token, initialize, 403},
		{"rebound name", "/mcp", "evil.example:" + port, "", "Bearer " + w.token, initialize, 403},
		{"rebound name without port", "/mcp", "evil.example", "http://evil.example", "Bearer " + w.token, initialize, 403},
		{"name that ends like ours", "/mcp", "localhost.evil.example:" + port, "", "Bearer " + w.token, initialize, 403},
		{"other port", "/mcp", "localhost:1", "", "Bearer " + w.token, initialize, 403},
		{"other path", "/", "", "", "Bearer " + w.token, initialize, 404},
		{"too long", "/mcp", "", "", "Bearer " + w.token, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", maxBody) + `"}}`, 413},
		{"too long, no token", "/mcp", "", "", "", strings.Repeat("x", maxBody*2), 401},
	} {
		status, body := post(t, client, "http://127.0.0.1:"+port+c.path, c.host, c.origin, c.token, c.body)
		// A body beyond the limit is refused as such or as unreadable; never read.
		if status != c.want && !(c.want == 413 && status == 400) {
			t.Errorf("%s: %d %s, want %d", c.name, status, body, c.want)
		}
		if strings.Contains(body, w.token) {
			t.Errorf("%s: the token comes back: %s", c.name, body)
		}
	}
}

func post(t *testing.T, client *http.Client, url, host, origin, token, body string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for k, v := range map[string]string{"Origin": origin, "Authorization": token} {
		if v != "" {
			r.Header.Set(k, v)
		}
	}
	r.Host = host
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

func TestHTTPAddresses(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.168.1.5:80", "example.com:80", "8.8.8.8:0", "[::ffff:10.0.0.1]:0", "localhost.evil.example:0", "", "127.0.0.1", "127.0.0.1:http", "127.0.0.1:70000", "127.0.0.1:-1", "::1:80", "70000"} {
		ctx, cancel := context.WithCancel(t.Context())
		err := HTTP(ctx, addr, func(url, _ string) { t.Errorf("%q: listens at %s", addr, url); cancel() })
		cancel()
		if err == nil || !strings.Contains(err.Error(), "127.0.0.1:PORT") && !strings.Contains(err.Error(), "is not a port") {
			t.Errorf("%q: %v", addr, err)
		}
	}
	for addr, want := range map[string]string{"0": "127.0.0.1:0", "8080": "127.0.0.1:8080", "LOCALHOST:1": "127.0.0.1:1", "[::1]:0": "[::1]:0", "127.5.6.7:9": "127.5.6.7:9", "[::ffff:127.0.0.1]:3": "[::ffff:127.0.0.1]:3"} {
		if got, err := loopback(addr); err != nil || got != want {
			t.Errorf("loopback(%q) = %q, %v", addr, got, err)
		}
	}
	w := serve(t, "127.0.0.1:0")
	taken := strings.TrimSuffix(strings.TrimPrefix(w.url, "http://"), "/mcp")
	if err := HTTP(t.Context(), taken, func(string, string) {}); err == nil || !strings.Contains(err.Error(), "cannot listen at "+taken) {
		t.Errorf("a port that is taken: %v", err)
	}
	if w2 := serve(t, "127.0.0.1:0"); w2.token == w.token || len(w2.token) < 40 {
		t.Errorf("tokens %q and %q", w.token, w2.token)
	}
}

const (
	hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	searching = `{"jsonrpc":"2.0","id":"s","method":"tools/call","params":{"name":"search_flights","arguments":{"from":"Paris","to":"Rome","date":"2025-03-17"}}}` + "\n"
	asking    = `{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"book_trip","arguments":` + paris + `}}` + "\n"
)

// What was asked before the input ended is answered, and lines that are no messages
// harm nothing.
func TestStdioAnswersToTheEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"one batch of work": {hello + searching, []string{`"id":1,"result"`, `"id":"s","result"`}},
		"no last line end":  {hello + strings.TrimSuffix(searching, "\n"), []string{`"id":"s","result"`}},
		"noise":             {"hello\n\n{\"a\":1}\n\xff\xfe\n[]\n42\n\"x\"\n" + hello + "nonsense\n" + searching, []string{`"id":null,"error":{"code":-32700`, `"id":null,"error":{"code":-32600`, `"id":"s","result"`}},
		"a line too long":   {hello + `{"jsonrpc":"2.0","id":9,"method":"ping","params":{"x":"` + strings.Repeat("x", maxLine) + `"}}` + "\n" + searching, []string{"longer than 1048576 bytes", `"id":"s","result"`}},
		"batch":             {hello + `[{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","id":6,"method":"tools/list"}]` + "\n", []string{`"id":5,"result"`, `"id":6,"result"`}},
		"notifications":     {hello + `[{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","method":"notifications/y"},{"jsonrpc":"2.0","id":5,"method":"ping"}]` + "\n" + searching, []string{`[{"jsonrpc":"2.0","id":5,"result"`, `"id":"s","result"`}},
		"an id twice":       {hello + `[{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","id":5,"method":"ping"}]` + "\n" + searching, []string{"uses the id of another", `"id":"s","result"`}},
		"an id in use":      {hello + searching + "[" + strings.TrimSpace(searching) + "]\n" + `{"jsonrpc":"2.0","id":6,"method":"ping"}` + "\n", []string{"uses the id of another", `"id":6,"result"`, `"id":"s","result"`}},
		"asks who is gone":  {hello + asking, []string{`"id":1,"result"`}},
		"unknown method":    {hello + `{"jsonrpc":"2.0","id":7,"method":"what"}` + "\n", []string{`"id":7,"error"`}},
		"windows line ends": {strings.ReplaceAll(hello+searching, "\n", "\r\n"), []string{`"id":"s","result"`}},
	} {
		var out strings.Builder // read only after Stdio has returned
		done := make(chan error, 1)
		start := time.Now()
		go func() { done <- Stdio(t.Context(), strings.NewReader(c.in), &out) }()
		wait(t, name, done)
		// Who is gone is not waited for.
		if d := time.Since(start); d > 6*time.Second || name == "asks who is gone" && d >= drain {
			t.Errorf("%s took %v", name, d)
		}
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %s in %s", name, want, out.String())
			}
		}
	}
}
