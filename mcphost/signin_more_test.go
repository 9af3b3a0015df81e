package mcphost_test

import (
	"context"
	"net/http"
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
