package mcphost_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
	"steward/mcphost/send"
	"steward/testdata/authserver"
)

// signInAgain makes the tokens useless and calls a tool.
func signInAgain(t *testing.T, s *authserver.Server, c *mcphost.Connection, want string) send.Result {
	t.Helper()
	s.RevokeAccess()
	s.RevokeRefresh()
	r, err := send.Tool(t.Context(), toolCall(t, c, nil))
	if err != nil || r.Outcome != want {
		t.Fatalf("%+v, %v", r, err)
	}
	return r
}

// TestSignInClients checks under which identity this program signs in.
func TestSignInClients(t *testing.T) {
	t.Parallel()
	none := func(_ *authserver.Server, m map[string]any) { delete(m, "registration_endpoint") }
	const document = "https://steward.example/client.json"
	t.Run("configured, each way", func(t *testing.T) {
		t.Parallel()
		for _, method := range []string{"none", "client_secret_basic", "client_secret_post"} {
			s := guarded(t, authserver.Options{Metadata: func(_ *authserver.Server, m map[string]any) {
				m["token_endpoint_auth_methods_supported"] = []string{"private_key_jwt", method}
				m["client_id_metadata_document_supported"] = true
			}})
			cfg := guardedConfig(s)
			cfg.OAuth = mcphost.OAuthConfig{ClientID: "my id:é", ClientSecret: "my+secret/ü", MetadataURL: document}
			if method == "none" {
				cfg.OAuth.ClientSecret = ""
			}
			s.AddClient(cfg.OAuth.ClientID, cfg.OAuth.ClientSecret, method)
			h, _ := trial.Host(t, mcphost.Options{SignIn: newSigner()})
			trial.Connect(t, h, cfg)
			if n := len(s.Requests("as", "/token")); n != 1 {
				t.Errorf("%s: %d token requests", method, n)
			}
			if n := len(s.Requests("as", "/register")); n != 0 {
				t.Errorf("%s: %d registrations", method, n)
			}
		}
	})
	t.Run("a document", func(t *testing.T) {
		t.Parallel()
		s := guarded(t, authserver.Options{Metadata: func(_ *authserver.Server, m map[string]any) { m["client_id_metadata_document_supported"] = true }})
		s.AddClient(document, "", "none")
		cfg := guardedConfig(s)
		cfg.OAuth.MetadataURL = document
		h, _ := trial.Host(t, mcphost.Options{SignIn: newSigner()})
		c := trial.Connect(t, h, cfg)
		signInAgain(t, s, c, send.OK)
		if n := len(s.Requests("as", "/register")); n != 0 {
			t.Errorf("%d registrations", n)
		}
	})
	t.Run("asked, and remembered", func(t *testing.T) {
		t.Parallel()
		s := guarded(t, authserver.Options{Metadata: none})
		p := newSigner()
		p.ask = func(r mcphost.ClientRequest) (mcphost.OAuthClient, error) {
			s.AddClient("by hand", "kept-secret", "client_secret_basic", r.Redirect)
			return mcphost.OAuthClient{ID: "by hand", Secret: "kept-secret"}, nil
		}
		_, c := signedIn(t, s, p)
		signInAgain(t, s, c, send.OK)
		if len(p.asked) != 1 || p.asked[0].Issuer != s.Issuer() || p.asked[0].Server != "web" || p.asked[0].Reason == "" {
			t.Errorf("asked %+v", p.asked)
		}
	})
	t.Run("asked and refused", func(t *testing.T) {
		t.Parallel()
		p := newSigner()
		se := failedStart(t, p, guardedConfig(guarded(t, authserver.Options{Metadata: none})))
		if !strings.Contains(se.Message, "refused") || len(p.asked) != 1 || p.count() != 0 {
			t.Errorf("%+v, asked %d times", se, len(p.asked))
		}
	})
	t.Run("configured and unknown", func(t *testing.T) {
		t.Parallel()
		cfg := guardedConfig(guarded(t, authserver.Options{Back: func(_ *authserver.Server, q url.Values) { q.Set("code", "x") }}))
		cfg.OAuth.ClientID = "nobody"
		p := newSigner()
		p.visit = func(ctx context.Context, page mcphost.SignInPage) error {
			u, err := url.Parse(page.URL)
			if err != nil {
				return err
			}
			q := u.Query()
			_, err = browse(ctx, q.Get("redirect_uri")+"?"+url.Values{"state": {q.Get("state")}, "code": {"x"}, "iss": {page.Issuer}}.Encode())
			return err
		}
		if se := failedStart(t, p, cfg); !strings.Contains(se.Hint, "client id") || p.count() != 1 {
			t.Errorf("%+v, %d visits", se, p.count())
		}
	})
}

// redirectOf is the address that a registration says the browser comes back to.
func redirectOf(t *testing.T, registration authserver.Seen) string {
	t.Helper()
	var m struct {
		Redirects []string `json:"redirect_uris"`
	}
	if err := json.Unmarshal([]byte(registration.Body), &m); err != nil || len(m.Redirects) != 1 {
		t.Fatalf("%v: %s", err, registration.Body)
	}
	u, err := url.Parse(m.Redirects[0])
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

// TestSignInRegistration checks that a registration is used again, and made anew
// where it does not fit any more: the port is taken, or the server has forgotten it.
func TestSignInRegistration(t *testing.T) {
	t.Parallel()
	s := guarded(t, authserver.Options{})
	p := newSigner()
	browses := p.visit
	started := make(chan bool, 1)
	p.visit = func(ctx context.Context, _ mcphost.SignInPage) error {
		started <- true
		<-ctx.Done() // the browser was closed
		return ctx.Err()
	}
	h, _ := trial.Host(t, mcphost.Options{SignIn: p})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	if _, err := h.Connect(ctx, guardedConfig(s)); err == nil {
		t.Fatal("it connected without a sign-in")
	}
	c := h.Connections()[0]
	redirect := redirectOf(t, s.Requests("as", "/register")[0])
	// What the first start waited for is over with the connection alone.
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.visit = browses
	var taken net.Listener
	until(t, "the port is free again", func() (free bool) {
		var err error
		taken, err = net.Listen("tcp4", redirect)
		return err == nil
	})
	c = trial.Connect(t, h, guardedConfig(s))
	if n := len(s.Requests("as", "/register")); n != 2 {
		t.Errorf("%d registrations with the port taken", n)
	}
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	signInAgain(t, s, c, send.OK)
	if n := len(s.Requests("as", "/register")); n != 2 {
		t.Errorf("%d registrations with the port free", n)
	}
}

// TestSignInPurged checks that a client that the authorization server has
// forgotten is registered anew, once.
func TestSignInPurged(t *testing.T) {
	t.Parallel()
	s := guarded(t, authserver.Options{})
	p := newSigner()
	_, c := signedIn(t, s, p)
	p.visit = func(ctx context.Context, page mcphost.SignInPage) error {
		if p.count() == 2 {
			u, err := url.Parse(page.URL)
			if err != nil {
				return err
			}
			q := u.Query()
			s.PurgeClients()
			_, err = browse(ctx, q.Get("redirect_uri")+"?"+url.Values{"state": {q.Get("state")}, "code": {"x"}, "iss": {page.Issuer}}.Encode())
			return err
		}
		_, err := browse(ctx, page.URL)
		return err
	}
	s.RevokeAccess()
	s.RevokeRefresh()
	r, err := send.Tool(t.Context(), toolCall(t, c, nil))
	if err != nil || r.Outcome != send.OK || p.count() != 3 || len(s.Requests("as", "/register")) != 2 {
		t.Errorf("%+v, %v, %d visits, %d registrations", r, err, p.count(), len(s.Requests("as", "/register")))
	}
	// Found out at a renewal.
	s.RevokeAccess()
	s.PurgeClients()
	if r, err = send.Tool(t.Context(), toolCall(t, c, nil)); err != nil || r.Outcome != send.OK || p.count() != 4 || len(s.Requests("as", "/register")) != 3 {
		t.Errorf("at a renewal: %+v, %v, %d visits, %d registrations", r, err, p.count(), len(s.Requests("as", "/register")))
	}
}

// TestSignInTokens checks that answers of the token endpoint that cannot be used
// end the sign-in, and leave nothing behind.
func TestSignInTokens(t *testing.T) {
	t.Parallel()
	grant := func(f func(m map[string]any)) authserver.Options {
		return authserver.Options{Grant: func(_ *authserver.Server, m map[string]any) { f(m) }}
	}
	set := func(name string, v any) authserver.Options { return grant(func(m map[string]any) { m[name] = v }) }
	tests := map[string]struct {
		o    authserver.Options
		want string
	}{
		"no access token":      {grant(func(m map[string]any) { delete(m, "access_token") }), "access_token"},
		"a number as token":    {set("access_token", 7), "access_token"},
		"an empty token":       {set("access_token", ""), "access_token"},
		"a token of two lines": {set("access_token", "a\r\nX-Evil: b"), "access_token"},
		"a list as refresh":    {set("refresh_token", []string{"x"}), "refresh_token"},
		"expires in a text":    {set("expires_in", "3600"), "expires_in"},
		"expires in the past":  {set("expires_in", -1), "expires_in"},
		"another type":         {set("token_type", "mac"), "Bearer"},
		"an error with 200": {grant(func(m map[string]any) {
			clear(m)
			m["error"], m["error_description"] = "bad_verification_code", "<script>no\nmore"
		}), "bad_verification_code: <script>no more"},
		"HTML": {authserver.Options{Take: func(_ *authserver.Server, w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/token" {
				return false
			}
			fmt.Fprint(w, `<html>{"access_token":"x","token_type":"Bearer"}`)
			return true
		}}, "no JSON"},
		"JSON said to be text": {authserver.Options{Take: func(_ *authserver.Server, w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/token" {
				return false
			}
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `{"access_token":"xxxxxxxx","token_type":"Bearer"}`)
			return true
		}}, "no JSON"},
		"sent elsewhere": {redirected("/token", "/authorize"), "302"},
		"it fails": {authserver.Options{Take: func(_ *authserver.Server, w http.ResponseWriter, r *http.Request) bool {
			return r.URL.Path == "/token" && fails(500)(nil, w, r)
		}}, "500"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := guarded(t, tt.o)
			p := newSigner()
			se := failedStart(t, p, guardedConfig(s))
			if se.Stage != mcphost.StageSignIn || !strings.Contains(se.Message, tt.want) || len(p.keys("tokens ")) != 0 || len(s.Requests("as", "/token")) != 1 {
				t.Errorf("%+v, kept %q, %d requests", se, p.keys(""), len(s.Requests("as", "/token")))
			}
		})
	}
}

// TestSignInRenewal checks that tokens that have expired are renewed before they
// are used, that a failure of the authorization server leaves them, and that what
// it has revoked is deleted.
func TestSignInRenewal(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	var ahead atomic.Int64
	s := guarded(t, authserver.Options{Take: func(_ *authserver.Server, w http.ResponseWriter, r *http.Request) bool {
		return down.Load() && r.URL.Path == "/token" && fails(503)(nil, w, r)
	}})
	p := newSigner()
	h, _ := trial.Host(t, mcphost.Options{SignIn: p, Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	c := trial.Connect(t, h, guardedConfig(s))
	do := func(want string) send.Result {
		t.Helper()
		r, err := send.Tool(t.Context(), toolCall(t, c, nil))
		if err != nil || r.Outcome != want {
			t.Errorf("%+v, %v", r, err)
		}
		return r
	}
	down.Store(true)
	ahead.Add(int64(2 * time.Hour))
	calls := len(callsAt(s))
	if r := do(send.Withdrawn); !strings.Contains(r.Reason, "503") || len(callsAt(s)) != calls || len(p.keys("tokens ")) != 1 {
		t.Errorf("%s; kept %q", r.Reason, p.keys(""))
	}
	down.Store(false)
	do(send.OK)
	if p.count() != 1 || len(callsAt(s)) != calls+1 {
		t.Errorf("%d visits, %d requests", p.count(), len(callsAt(s))-calls)
	}
	s.RevokeRefresh()
	ahead.Add(int64(2 * time.Hour))
	p.visit = func(context.Context, mcphost.SignInPage) error {
		if kept := p.keys("tokens "); len(kept) != 0 {
			t.Errorf("%q is still kept", kept)
		}
		return mcphost.ErrSignInRefused
	}
	do(send.Unknown)
	if p.count() != 2 {
		t.Errorf("%d visits", p.count())
	}
}

// TestSignInMoves checks that nothing of one authorization server reaches another
// that a server names later.
func TestSignInMoves(t *testing.T) {
	t.Parallel()
	other := guarded(t, authserver.Options{})
	var moved atomic.Bool
	s := guarded(t, authserver.Options{Resource: func(_ *authserver.Server, m map[string]any) {
		if moved.Load() {
			m["authorization_servers"] = []string{other.Issuer()}
		}
	}, Take: func(s *authserver.Server, _ http.ResponseWriter, r *http.Request) bool {
		if moved.Load() {
			t.Errorf("%s was asked of the old authorization server", r.URL.Path)
		}
		return false
	}})
	secrets := s.Secrets
	p := newSigner()
	_, c := signedIn(t, s, p)
	old := secrets()
	moved.Store(true)
	signInAgain(t, s, c, send.Unknown) // the server itself knows only its own tokens
	if len(other.Requests("as", "/register")) != 1 || len(p.keys("tokens ")) != 2 || len(p.keys("client ")) != 2 {
		t.Errorf("kept %q", p.keys(""))
	}
	for _, r := range other.Requests("as", "") {
		for _, secret := range old {
			if strings.Contains(r.Body+r.Authorization+r.Query.Encode(), secret) {
				t.Errorf("%s got a secret of the other", r.Path)
			}
		}
	}
}
