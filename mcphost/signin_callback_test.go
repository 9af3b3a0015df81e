package mcphost_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
	"steward/mcphost/send"
	"steward/testdata/authserver"
)

// returning is what the browser would be sent back with.
type returning struct {
	address string // the redirect URI
	q       url.Values
}

// goTo visits the page without following it back, and returns where that leads.
func goTo(ctx context.Context, page string) (returning, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return returning{}, err
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return returning{}, err
	}
	if err := resp.Body.Close(); err != nil {
		return returning{}, err
	}
	u, err := resp.Location()
	if err != nil {
		return returning{}, err
	}
	q := u.Query()
	u.RawQuery = ""
	return returning{u.String(), q}, nil
}

// call sends a request to the listener and returns the answer.
func (r returning) call(method, host, path string, q url.Values, body io.Reader) (string, error) {
	u, err := url.Parse(r.address)
	if err != nil {
		return "", err
	}
	if path != "" {
		u.Path = path
	}
	u.RawQuery = q.Encode()
	req, err := http.NewRequest(method, u.String(), body)
	if err != nil {
		return "", err
	}
	if host != "" {
		req.Host = host
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return "", err
	}
	page, err := io.ReadAll(resp.Body)
	if e := resp.Body.Close(); err == nil {
		err = e
	}
	return fmt.Sprint(resp.StatusCode, " ", resp.Header.Get("Content-Security-Policy"), " ", string(page)), err
}

// TestSignInCallback checks that only the answer that is waited for counts: what
// else comes to the port changes nothing, is told nothing, and is not repeated.
func TestSignInCallback(t *testing.T) {
	t.Parallel()
	s := guarded(t, authserver.Options{})
	p := newSigner()
	const canary = "<script>canary"
	p.visit = func(ctx context.Context, page mcphost.SignInPage) error {
		r, err := goTo(ctx, page.URL)
		if err != nil {
			return err
		}
		with := func(name, value string) url.Values {
			q := url.Values{}
			for k, v := range r.q {
				q[k] = v
			}
			q.Set(name, value)
			return q
		}
		twice := with("x", canary)
		twice["state"] = append(twice["state"], twice["state"]...)
		no := url.Values{"state": r.q["state"], "x": {canary}}
		for _, wrong := range []struct {
			name, method, host, path string
			q                        url.Values
			body                     io.Reader
			want                     string
		}{
			{"wrong state", "GET", "", "", with("state", canary), nil, "400"},
			{"no state", "GET", "", "", url.Values{"code": {canary}}, nil, "400"},
			{"state twice", "GET", "", "", twice, nil, "400"},
			{"neither code nor error", "GET", "", "", no, nil, "400"},
			{"another path", "GET", "", "/", r.q, nil, "404"},
			{"a path below", "GET", "", "/callback/", r.q, nil, "404"},
			{"another host", "GET", "evil.test", "", r.q, nil, "403"},
			{"a name for this computer", "GET", "localhost", "", r.q, nil, "403"},
			{"POST", "POST", "", "", r.q, strings.NewReader("x=" + canary), "405"},
			{"a body", "GET", "", "", r.q, strings.NewReader(canary), "413"},
			{"a long query", "GET", "", "", with("x", strings.Repeat(canary, 700)), nil, "413"},
		} {
			got, err := r.call(wrong.method, wrong.host, wrong.path, wrong.q, wrong.body)
			if err != nil || !strings.HasPrefix(got, wrong.want) || strings.Contains(got, "canary") || !strings.Contains(got, "default-src 'none'") {
				t.Errorf("%s: %v %s", wrong.name, err, got)
			}
		}
		select {
		case <-page.Strays:
		default:
			t.Error("it is not told that a browser came back with something else")
		}
		if got, err := r.call("POST", "", "", r.q, bytes.NewReader(make([]byte, 10<<20))); err == nil && strings.HasPrefix(got, "2") {
			t.Errorf("10 MB: %s", got)
		}
		if n := len(s.Requests("as", "/token")); n != 0 {
			t.Errorf("a code was used %d times", n)
		}
		first, err := r.call("GET", "", "", r.q, nil)
		if err != nil || !strings.HasPrefix(first, "200") {
			t.Errorf("the right one: %v %s", err, first)
		}
		if second, err := r.call("GET", "", "", r.q, nil); err == nil && !strings.HasPrefix(second, "410") {
			t.Errorf("the right one again: %s", second)
		}
		return nil
	}
	_, c := signedIn(t, s, p)
	if r, err := send.Tool(t.Context(), toolCall(t, c, nil)); err != nil || r.Outcome != send.OK || len(s.Requests("as", "/token")) != 1 {
		t.Errorf("%+v, %v, %d token requests", r, err, len(s.Requests("as", "/token")))
	}
	u := p.visits[0].URL
	q, err := url.Parse(u)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := browse(t.Context(), q.Query().Get("redirect_uri")); err == nil {
		t.Error("the port is still open")
	}
}

// TestSignInAnswer checks what the browser may bring back: whose it is (the four
// cases of RFC 9207), and errors, of which nothing is believed or repeated where
// it is another's.
func TestSignInAnswer(t *testing.T) {
	t.Parallel()
	const canary = "<script>canary"
	tests := map[string]struct {
		advertised bool
		back       func(s *authserver.Server, q url.Values)
		want       string // "" is success
	}{
		"advertised, right":     {true, func(s *authserver.Server, q url.Values) {}, ""},
		"advertised, missing":   {true, func(s *authserver.Server, q url.Values) { q.Del("iss") }, "not from"},
		"unadvertised, right":   {false, func(s *authserver.Server, q url.Values) {}, ""},
		"unadvertised, missing": {false, func(s *authserver.Server, q url.Values) { q.Del("iss") }, ""},
		"unadvertised, wrong":   {false, func(s *authserver.Server, q url.Values) { q.Set("iss", "https://evil.example") }, "not from"},
		"a slash more":          {true, func(s *authserver.Server, q url.Values) { q.Set("iss", s.Issuer()+"/") }, "not from"},
		"empty":                 {false, func(s *authserver.Server, q url.Values) { q.Set("iss", "") }, "not from"},
		"another's error": {true, func(s *authserver.Server, q url.Values) {
			q.Set("iss", "https://evil.example")
			q.Set("error", "canary")
			q.Set("error_description", canary)
		}, "not from"},
		"an error": {true, func(s *authserver.Server, q url.Values) {
			q.Del("code")
			q.Set("error", "server_error")
			q.Set("error_description", "it is\r\n\x1b[31mdown")
		}, "server_error: it is   [31mdown"},
		"an error that is none": {true, func(s *authserver.Server, q url.Values) { q.Del("code"); q.Set("error", "a b\n<x>") }, "status 302)"},
		"denied": {true, func(s *authserver.Server, q url.Values) {
			q.Del("code")
			q.Set("error", "access_denied")
			q.Set("error_description", "the person\r\nsaid no")
		}, "did not grant it (access_denied: the person  said no)"},
		"denied by another": {false, func(s *authserver.Server, q url.Values) {
			q.Del("code")
			q.Set("iss", "https://evil.example")
			q.Set("error", "access_denied")
			q.Set("error_description", canary)
		}, "not from"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := guarded(t, authserver.Options{Back: tt.back, Metadata: func(_ *authserver.Server, m map[string]any) {
				if !tt.advertised {
					delete(m, "authorization_response_iss_parameter_supported")
				}
			}})
			p := newSigner()
			h, _ := trial.Host(t, mcphost.Options{SignIn: p})
			_, err := h.Connect(t.Context(), guardedConfig(s))
			switch {
			case tt.want == "" && err != nil, tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("err = %v", err)
			case err != nil && (strings.Contains(err.Error(), "canary") || len(s.Requests("as", "/token")) != 0):
				t.Errorf("%v, %d token requests", err, len(s.Requests("as", "/token")))
			}
		})
	}
}

// TestSignInStreams checks that a stream that nobody asked for never asks a
// person, and comes back with the next sign-in.
func TestSignInStreams(t *testing.T) {
	t.Parallel()
	pushed := make(chan bool, 9)
	s := authserver.Start(authserver.Options{}, &web{get: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"x\"}}\n\n")
		_ = http.NewResponseController(w).Flush()
		pushed <- true
	}})
	t.Cleanup(s.Close)
	p := newSigner()
	_, c := signedIn(t, s, p)
	<-pushed
	s.RevokeAccess()
	s.RevokeRefresh()
	denied := func() (n int) {
		for _, r := range s.Requests("mcp", "/mcp") {
			if r.Method == http.MethodGet {
				n++
			}
		}
		return n
	}
	until(t, "the stream is opened again, and denied", func() bool { return denied() >= 2 })
	if p.count() != 1 {
		t.Errorf("%d visits for a stream", p.count())
	}
	for len(pushed) > 0 {
		<-pushed
	}
	if r, err := send.Tool(t.Context(), toolCall(t, c, nil)); err != nil || r.Outcome != send.OK || p.count() != 2 {
		t.Errorf("%+v, %v, %d visits", r, err, p.count())
	}
	until(t, "the stream comes back", func() bool { return len(pushed) > 0 })
}

// TestSignInOldSSE signs in to a server of the transport of 2024-11-05, and again
// in the middle of its session.
func TestSignInOldSSE(t *testing.T) {
	t.Parallel()
	events := make(chan string, 10)
	p := newSigner()
	old := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			var m message
			if json.Unmarshal(body, &m) == nil && m.ID != nil {
				events <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, usual(m))
			}
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: endpoint\ndata: /mcp?s=1\n\n")
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
	s := authserver.Start(authserver.Options{}, old)
	t.Cleanup(s.Close)
	cfg := guardedConfig(s)
	cfg.Transport = mcphost.TransportSSE
	h, _ := trial.Host(t, mcphost.Options{SignIn: p})
	c := trial.Connect(t, h, cfg)
	s.RevokeAccess()
	s.RevokeRefresh()
	n := 0
	if r, err := send.Tool(t.Context(), toolCall(t, c, &n)); err != nil || r.Outcome != send.OK || n != 1 || p.count() != 2 {
		t.Errorf("%+v, %v, %d attempts, %d visits", r, err, n, p.count())
	}
}

// TestSignInNowhereElse checks that a token never follows a redirect to another
// origin.
func TestSignInNowhereElse(t *testing.T) {
	t.Parallel()
	var leaked atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { leaked.Add(1) }))
	t.Cleanup(other.Close)
	var away atomic.Bool
	s := guarded(t, authserver.Options{TakeMCP: func(_ *authserver.Server, w http.ResponseWriter, r *http.Request) bool {
		if !away.Load() || r.URL.Path != "/mcp" {
			return false
		}
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		return true
	}})
	_, c := signedIn(t, s, newSigner())
	away.Store(true)
	if r, err := send.Tool(t.Context(), toolCall(t, c, nil)); err != nil || r.Outcome != send.Unknown || leaked.Load() != 0 {
		t.Errorf("%+v, %v, %d requests elsewhere", r, err, leaked.Load())
	}
}
