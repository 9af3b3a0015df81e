package mcphost_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
	"steward/mcphost/send"
	"steward/testdata/authserver"
)

// TestSignInHoldsUpAStart checks that the limits of a call, and of one that is followed
// on, do not run while the start that it waits for waits for a person.
func TestSignInHoldsUpAStart(t *testing.T) {
	t.Parallel()
	s := guarded(t, authserver.Options{})
	p := newSigner()
	_, c := signedIn(t, s, p)
	asked := make(chan mcphost.SignInPage, 9)
	p.visit = func(ctx context.Context, page mcphost.SignInPage) error {
		asked <- page
		<-ctx.Done()
		return ctx.Err()
	}
	k := toolCall(t, c, nil)
	k.Timeout, k.Max = 2*time.Second, 2*time.Second
	s.RevokeAccess()
	s.RevokeRefresh()
	restarted := make(chan error, 1)
	go func() { restarted <- c.Restart(context.Background()) }()
	page := <-asked
	ended, followed := make(chan send.Result, 1), make(chan send.Result, 1)
	go func() {
		r, err := send.Tool(context.Background(), k)
		if err != nil {
			t.Error(err)
		}
		ended <- r
	}()
	go func() {
		r, err := send.Follow(context.Background(), k, []byte(`{"taskId":"t","form":"2025-11-25"}`))
		if err != nil {
			t.Error(err)
		}
		followed <- r
	}()
	time.Sleep(k.Max + time.Second) // a limit that ran on would have passed
	if _, err := browse(t.Context(), page.URL); err != nil {
		t.Fatal(err)
	}
	if err := <-restarted; err != nil {
		t.Error(err)
	}
	if r := <-ended; r.Outcome != send.OK {
		t.Errorf("%+v", r)
	}
	if r := <-followed; r.Outcome == send.Timeout || !strings.Contains(r.Reason, "cannot be asked for it") {
		t.Errorf("the task of an earlier call: %+v", r)
	}
}

// TestSignInEchoed checks that a server that repeats what it was sent does not
// bring the token before anyone's eyes.
func TestSignInEchoed(t *testing.T) {
	t.Parallel()
	var echo atomic.Bool
	var token atomic.Value
	s := guarded(t, authserver.Options{TakeMCP: func(_ *authserver.Server, w http.ResponseWriter, r *http.Request) bool {
		if !echo.Load() || r.Method != http.MethodPost {
			return false
		}
		value := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		token.Store(value)
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte("who is " + value)) // the client's affair
		return true
	}})
	_, c := signedIn(t, s, newSigner())
	echo.Store(true)
	r, err := send.Tool(t.Context(), toolCall(t, c, nil))
	value, _ := token.Load().(string)
	if err != nil || value == "" || !strings.Contains(r.Reason, "who is") || strings.Contains(r.Reason, value) {
		t.Errorf("%q, %v", r.Reason, err)
	}
	for _, f := range append(r.Frames, c.Frames()...) {
		if strings.Contains(string(f.Bytes), value) {
			t.Errorf("the token is in %s", f.Bytes)
		}
	}
	for _, l := range c.Log() {
		if strings.Contains(l.Text, value) {
			t.Errorf("the token is in %s", l.Text)
		}
	}
}

// TestSignInPanics checks that a fault of the program around ends the sign-in alone.
func TestSignInPanics(t *testing.T) {
	t.Parallel()
	p := newSigner()
	p.visit = func(context.Context, mcphost.SignInPage) error { panic("oh") }
	if se := failedStart(t, p, guardedConfig(guarded(t, authserver.Options{}))); !strings.Contains(se.Message, "could not be opened") {
		t.Errorf("%+v", se)
	}
}

// TestSignInConfiguredStays checks that the client that was configured for one
// authorization server is not shown to another that the server names later.
func TestSignInConfiguredStays(t *testing.T) {
	t.Parallel()
	const id, secret = "configured-id", "configured-secret"
	other := guarded(t, authserver.Options{})
	var moved atomic.Bool
	s := guarded(t, authserver.Options{Resource: func(_ *authserver.Server, m map[string]any) {
		if moved.Load() {
			m["authorization_servers"] = []string{other.Issuer()}
		}
	}})
	s.AddClient(id, secret, "client_secret_basic")
	cfg := guardedConfig(s)
	cfg.OAuth.ClientID, cfg.OAuth.ClientSecret = id, secret
	h, _ := trial.Host(t, mcphost.Options{SignIn: newSigner()})
	c := trial.Connect(t, h, cfg)
	moved.Store(true)
	signInAgain(t, s, c, send.Unknown)
	for _, r := range other.Requests("as", "") {
		if strings.Contains(r.Path+r.Query.Encode()+r.Body, id) || strings.Contains(r.Authorization, "Basic") {
			t.Errorf("the other got %s %s %s", r.Path, r.Query, r.Body)
		}
	}
	if n := len(other.Requests("as", "/register")); n != 1 {
		t.Errorf("%d registrations at the other", n)
	}
}

// TestSignInAtItself checks a server that would be its own authorization server, where
// that is down, or would be spoken to unprotected: nothing is registered there.
func TestSignInAtItself(t *testing.T) {
	t.Parallel()
	s := guarded(t, authserver.Options{
		ResourceAt: []string{}, Challenge: func(*authserver.Server) []string { return nil },
		TakeMCP: func(_ *authserver.Server, w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/.well-known/oauth-authorization-server" {
				return false
			}
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		},
	})
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.MCP.Config.Handler.ServeHTTP(w, r) }))
	t.Cleanup(func() { proxy.CloseClientConnections(); proxy.Close() })
	far := guardedConfig(s)
	far.URL, far.AllowHTTP, far.Proxy = "http://mcp.example/mcp", true, proxy.URL
	for want, cfg := range map[string]mcphost.ServerConfig{"503": guardedConfig(s), "neither https": far} {
		p := newSigner()
		if se := failedStart(t, p, cfg); se.Stage != mcphost.StageSignIn || !strings.Contains(se.Message, want) || p.count() != 0 {
			t.Errorf("%s: %s %s, %d visits", want, se.Stage, se.Message, p.count())
		}
	}
	if n := len(s.Requests("mcp", "/register")); n != 0 {
		t.Errorf("%d registrations", n)
	}
}

// TestSignInRenewalInTheWay checks that tokens which have expired are kept where
// something else than the authorization server answers to their renewal, and that the
// person may sign in anew instead.
func TestSignInRenewalInTheWay(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusFound, http.StatusForbidden, http.StatusNotFound} {
		var down atomic.Bool
		var ahead atomic.Int64
		s := guarded(t, authserver.Options{Take: func(_ *authserver.Server, w http.ResponseWriter, r *http.Request) bool {
			return down.Load() && r.URL.Path == "/token" && r.FormValue("grant_type") == "refresh_token" && fails(status)(nil, w, r)
		}})
		p := newSigner()
		h, _ := trial.Host(t, mcphost.Options{SignIn: p, Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
		c := trial.Connect(t, h, guardedConfig(s))
		down.Store(true)
		ahead.Add(int64(2 * time.Hour))
		if r, err := send.Tool(t.Context(), toolCall(t, c, nil)); err != nil || r.Outcome != send.Withdrawn || !strings.Contains(r.Reason, fmt.Sprint(status)) {
			t.Errorf("%d: %s, %s, %v", status, r.Outcome, r.Reason, err)
		}
		down.Store(false)
		if r, err := send.Tool(t.Context(), toolCall(t, c, nil)); err != nil || r.Outcome != send.OK || p.count() != 1 {
			t.Errorf("%d, over: %s, %s, %v, %d visits", status, r.Outcome, r.Reason, err, p.count())
		}
		down.Store(true)
		ahead.Add(int64(2 * time.Hour))
		if err := c.SignIn(t.Context()); err != nil || p.count() != 2 {
			t.Errorf("%d, signing in: %v, %d visits", status, err, p.count())
		}
	}
}

// TestSignInRenewalNobodyWaitsFor checks that the tokens of a renewal are kept though
// whoever wanted them has left, and that the end of a session is none.
func TestSignInRenewalNobodyWaitsFor(t *testing.T) {
	t.Parallel()
	var slow, ended atomic.Bool
	var ahead atomic.Int64
	asked, answer := make(chan struct{}, 1), make(chan struct{})
	s := guarded(t, authserver.Options{
		Take: func(_ *authserver.Server, _ http.ResponseWriter, r *http.Request) bool {
			if slow.Load() && r.URL.Path == "/token" {
				asked <- struct{}{}
				<-answer
			}
			return false
		},
		TakeMCP: func(_ *authserver.Server, w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Mcp-Session-Id", "session")
			ended.Store(ended.Load() || r.Method == http.MethodDelete)
			return false
		},
	})
	p := newSigner()
	h, _ := trial.Host(t, mcphost.Options{SignIn: p, Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	c := trial.Connect(t, h, guardedConfig(s))
	k := toolCall(t, c, nil)
	slow.Store(true)
	ahead.Add(int64(2 * time.Hour))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if r, err := send.Tool(ctx, k); err != nil || r.Outcome == send.OK {
			t.Errorf("the call that was stopped: %+v, %v", r, err)
		}
	}()
	<-asked
	cancel()
	<-done
	slow.Store(false)
	close(answer)
	if r, err := send.Tool(t.Context(), toolCall(t, c, nil)); err != nil || r.Outcome != send.OK || p.count() != 1 {
		t.Errorf("%s: %s, %v, %d visits", r.Outcome, r.Reason, err, p.count())
	}
	ahead.Add(int64(2 * time.Hour))
	before := len(s.Requests("as", "/token"))
	if err := c.Close(t.Context()); err != nil || !ended.Load() || len(s.Requests("as", "/token")) != before {
		t.Errorf("%v, the end was sent: %v, with %d token requests", err, ended.Load(), len(s.Requests("as", "/token"))-before)
	}
}

// TestSignInShortTokens checks that tokens which last seconds are used until they expire.
func TestSignInShortTokens(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	begun := time.Now()
	s := guarded(t, authserver.Options{ExpiresIn: 20})
	h, _ := trial.Host(t, mcphost.Options{SignIn: newSigner(), Now: func() time.Time { return begun.Add(time.Duration(ahead.Load())) }})
	c := trial.Connect(t, h, guardedConfig(s))
	for _, step := range []struct {
		at     time.Duration
		tokens int
	}{{0, 1}, {14 * time.Second, 1}, {16 * time.Second, 2}, {30 * time.Second, 2}, {40 * time.Second, 3}} {
		ahead.Store(int64(step.at))
		if r, err := send.Tool(t.Context(), toolCall(t, c, nil)); err != nil || r.Outcome != send.OK || len(s.Requests("as", "/token")) != step.tokens {
			t.Errorf("after %s: %s, %v, %d token requests", step.at, r.Outcome, err, len(s.Requests("as", "/token")))
		}
	}
}

// TestSignInCorrectedSecret checks that a client secret which was corrected where it
// is kept serves at the next start: the configuration that names it is the same.
func TestSignInCorrectedSecret(t *testing.T) {
	t.Parallel()
	s := guarded(t, authserver.Options{})
	s.AddClient("configured-id", "right-secret", "client_secret_basic")
	h, _ := trial.Host(t, mcphost.Options{SignIn: newSigner()})
	cfg := guardedConfig(s)
	cfg.Hash, cfg.OAuth.ClientID, cfg.OAuth.ClientSecret = "same", "configured-id", "wrong-secret"
	if _, err := h.Connect(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "invalid_client") {
		t.Fatalf("err = %v", err)
	}
	for _, c := range h.Connections() {
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	cfg.OAuth.ClientSecret = "right-secret"
	trial.Connect(t, h, cfg)
}

// TestSignInTwoRoots checks that connections to one server with different folders, which
// are begun at once, sign in once.
func TestSignInTwoRoots(t *testing.T) {
	t.Parallel()
	s := guarded(t, authserver.Options{})
	p := newSigner()
	h, _ := trial.Host(t, mcphost.Options{SignIn: p})
	errs := make(chan error, 2)
	p.visit = func(ctx context.Context, page mcphost.SignInPage) error {
		for until := time.Now().Add(30 * time.Second); len(callsOf(s, "server/discover")) < 2; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(until) {
				return errors.New("the other has not begun")
			}
		}
		_, err := browse(ctx, page.URL)
		return err
	}
	for _, root := range []string{"/one", "/two"} {
		cfg := guardedConfig(s)
		cfg.Roots = []string{root}
		go func() {
			_, err := h.Connect(t.Context(), cfg)
			errs <- err
		}()
	}
	if one, two := <-errs, <-errs; one != nil || two != nil || p.count() != 1 || len(s.Requests("as", "/token")) != 1 {
		t.Errorf("%v, %v, %d visits, %d token requests", one, two, p.count(), len(s.Requests("as", "/token")))
	}
}

// callsOf are the requests of a method that the MCP server received.
func callsOf(s *authserver.Server, method string) []authserver.Seen {
	return slices.DeleteFunc(s.Requests("mcp", "/mcp"), func(r authserver.Seen) bool { return !strings.Contains(r.Body, `"`+method+`"`) })
}

// TestSignInTwoEntries checks that two entries for one server share its tokens,
// also where one has renewed them behind the other's back.
func TestSignInTwoEntries(t *testing.T) {
	t.Parallel()
	s := guarded(t, authserver.Options{})
	p := newSigner()
	h, c := signedIn(t, s, p)
	cfg := guardedConfig(s)
	cfg.ID = "twin"
	twin := trial.Connect(t, h, cfg)
	for range 2 {
		s.RevokeAccess()
		for _, one := range []*mcphost.Connection{c, twin} {
			if r, err := send.Tool(t.Context(), toolCall(t, one, nil)); err != nil || r.Outcome != send.OK {
				t.Errorf("%s: %+v, %v", one.Server(), r, err)
			}
		}
	}
	if n := len(s.Requests("as", "/token")); p.count() != 1 || n != 3 {
		t.Errorf("%d visits, %d token requests", p.count(), n)
	}
}
