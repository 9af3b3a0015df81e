package mcphost_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
	"steward/mcphost/send"
	"steward/testdata/authserver"
)

// signer is a person with a browser, and a keyring.
type signer struct {
	visit func(ctx context.Context, p mcphost.SignInPage) error // nil agrees and goes to the page
	ready func() error                                          // nil can be asked
	agree func(p mcphost.SignInPlan) error                      // nil lets this program register
	ask   func(r mcphost.ClientRequest) (mcphost.OAuthClient, error)

	mu     sync.Mutex
	kept   map[string][]byte
	visits []mcphost.SignInPage
	plans  []mcphost.SignInPlan // asked whether to register
	asked  []mcphost.ClientRequest
}

func newSigner() *signer { return &signer{kept: map[string][]byte{}} }

func (s *signer) Load(_ context.Context, key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept[key], nil
}

func (s *signer) Save(_ context.Context, key string, secret []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[key] = secret
	return nil
}

func (s *signer) Delete(_ context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.kept, key)
	return nil
}

func (s *signer) Ready(context.Context, mcphost.SignInPlan) error {
	if s.ready == nil {
		return nil
	}
	return s.ready()
}

func (s *signer) Register(_ context.Context, p mcphost.SignInPlan) error {
	s.mu.Lock()
	s.plans = append(s.plans, p)
	s.mu.Unlock()
	if s.agree == nil {
		return nil
	}
	return s.agree(p)
}

func (s *signer) Visit(ctx context.Context, p mcphost.SignInPage) error {
	s.mu.Lock()
	s.visits = append(s.visits, p)
	s.mu.Unlock()
	if s.visit != nil {
		return s.visit(ctx, p)
	}
	_, err := browse(ctx, p.URL)
	return err
}

func (s *signer) Client(_ context.Context, r mcphost.ClientRequest) (mcphost.OAuthClient, error) {
	s.mu.Lock()
	s.asked = append(s.asked, r)
	s.mu.Unlock()
	if s.ask == nil {
		return mcphost.OAuthClient{}, mcphost.ErrSignInRefused
	}
	return s.ask(r)
}

func (s *signer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.visits)
}

// keys are those under which something is kept that begin so.
func (s *signer) keys(prefix string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.kept)), func(k string) bool { return !strings.HasPrefix(k, prefix) })
}

// browse is a browser: it follows redirects, and returns the last page.
func browse(ctx context.Context, address string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return "", err
	}
	page, err := io.ReadAll(resp.Body)
	return fmt.Sprintf("%d %s", resp.StatusCode, page), errors.Join(err, resp.Body.Close())
}

// guarded starts an MCP server that wants a sign-in.
func guarded(t testing.TB, o authserver.Options) *authserver.Server {
	t.Helper()
	s := authserver.Start(o, &web{})
	t.Cleanup(s.Close)
	return s
}

func guardedConfig(s *authserver.Server) mcphost.ServerConfig {
	return mcphost.ServerConfig{ID: "web", URL: s.Endpoint(), StartTimeout: 20 * time.Second, ToolTimeout: 20 * time.Second}
}

// signedIn connects a host to a guarded server.
func signedIn(t testing.TB, s *authserver.Server, p *signer) (*mcphost.Host, *mcphost.Connection) {
	t.Helper()
	h, _ := trial.Host(t, mcphost.Options{SignIn: p})
	return h, trial.Connect(t, h, guardedConfig(s))
}

// failedStart connects a host to a server that cannot be signed in to.
func failedStart(t testing.TB, p *signer, cfg mcphost.ServerConfig) *mcphost.StartError {
	t.Helper()
	h, _ := trial.Host(t, mcphost.Options{SignIn: p})
	_, err := h.Connect(t.Context(), cfg)
	var se *mcphost.StartError
	if !errors.As(err, &se) {
		t.Fatalf("err = %v", err)
	}
	return se
}

// toolCall is a call of echo; attempts are counted in n, if it is not nil.
func toolCall(t testing.TB, c *mcphost.Connection, n *int) send.Call {
	t.Helper()
	return send.Call{
		Conn: c, Owner: "k", Tool: "echo", Definition: trial.Tool(t, c, "echo").Definition, Arguments: []byte(`{"b":1,"a":2}`),
		Spend: func([]byte) error { return nil },
		Attempt: func(_ context.Context, what string, _ any) error {
			if n != nil && what == "sign-in" {
				*n++
			}
			return nil
		},
	}
}

// TestSignIn goes the whole way: a sign-in at the start, what is sent for it,
// where secrets may be, the next run, a renewal, and signing out.
func TestSignIn(t *testing.T) {
	t.Parallel()
	s := guarded(t, authserver.Options{})
	p := newSigner()
	_, c := signedIn(t, s, p)
	if r, err := send.Tool(t.Context(), toolCall(t, c, nil)); err != nil || r.Outcome != send.OK {
		t.Fatalf("%+v, %v", r, err)
	}
	page := p.visits[0]
	if page.Server != "web" || page.Calls != nil || page.Issuer != s.Issuer() || page.Resource != s.Endpoint() || page.More {
		t.Errorf("the page: %+v", page)
	}
	tokens := s.Requests("as", "/token")
	if len(tokens) != 1 || tokens[0].Form.Get("resource") != s.Endpoint() {
		t.Errorf("token requests: %+v", tokens)
	}
	q := s.Requests("as", "/authorize")[0].Query
	if q.Get("resource") != s.Endpoint() || q.Get("state") == "" || q.Has("scope") {
		t.Errorf("the authorization request: %v", q)
	}
	if body := s.Requests("as", "/register")[0].Body; !strings.Contains(body, `"grant_types":["authorization_code","refresh_token"]`) || !strings.Contains(body, `"application_type":"native"`) {
		t.Errorf("the registration: %s", body)
	}
	state := c.SignInState()
	if !state.Needed || !state.SignedIn || state.Waiting || state.Refused || state.Issuer != s.Issuer() || state.Resource != s.Endpoint() || time.Until(state.Expires) < 50*time.Minute {
		t.Errorf("the state: %+v", state)
	}
	checkSecrets(t, s, c)

	// The next run of the program needs no person.
	h, c2 := signedIn(t, s, p)
	if p.count() != 1 || len(s.Requests("as", "/register")) != 1 {
		t.Errorf("%d visits, %d registrations", p.count(), len(s.Requests("as", "/register")))
	}
	// A token that is refused is renewed, for the same resource.
	s.RevokeAccess()
	n := 0
	if r, err := send.Tool(t.Context(), toolCall(t, c2, &n)); err != nil || r.Outcome != send.OK || n != 1 {
		t.Errorf("after the revocation: %+v, %v, %d attempts", r, err, n)
	}
	tokens = s.Requests("as", "/token")
	if last := tokens[len(tokens)-1].Form; last.Get("grant_type") != "refresh_token" || last.Get("resource") != s.Endpoint() || p.count() != 1 {
		t.Errorf("the renewal: %v, %d visits", last, p.count())
	}
	if err := c2.SignOut(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(s.Requests("as", "/revoke")); n != 2 || len(p.keys("tokens ")) != 0 || len(p.keys("client ")) != 1 || c2.SignInState().SignedIn {
		t.Errorf("signed out: %d revocations, kept %q, %+v", n, p.keys(""), c2.SignInState())
	}
	if err := c2.SignIn(t.Context()); err != nil || p.count() != 2 || !c2.SignInState().SignedIn {
		t.Errorf("signed in again: %v, %d visits", err, p.count())
	}
	if err := h.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// checkSecrets checks that no secret is where it must not be.
func checkSecrets(t *testing.T, s *authserver.Server, c *mcphost.Connection) {
	t.Helper()
	secrets := s.Secrets()
	if len(secrets) < 2 {
		t.Fatalf("the server gave out %q", secrets)
	}
	var texts []string
	for _, r := range append(s.Requests("mcp", ""), s.Requests("as", "/authorize")...) {
		texts = append(texts, r.Path+"?"+r.Query.Encode(), r.Body)
	}
	for _, l := range c.Log() {
		texts = append(texts, l.Text)
	}
	for _, f := range c.Frames() {
		texts = append(texts, string(f.Bytes))
	}
	for _, text := range texts {
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("a secret is in %q", text)
			}
		}
	}
}

// TestSignInSharedAndRefused checks that calls that need a sign-in at once share
// one, that it tells which calls wait, and that a no holds until it is taken back.
func TestSignInSharedAndRefused(t *testing.T) {
	t.Parallel()
	s := guarded(t, authserver.Options{})
	p := newSigner()
	_, c := signedIn(t, s, p)
	const calls = 4
	answer, refuse := make(chan bool), false
	p.visit = func(ctx context.Context, page mcphost.SignInPage) error {
		<-answer
		if refuse {
			return mcphost.ErrSignInRefused
		}
		_, err := browse(ctx, page.URL)
		return err
	}
	all := func(want string) {
		t.Helper()
		s.RevokeAccess()
		s.RevokeRefresh()
		var wg sync.WaitGroup
		for i := range calls {
			wg.Go(func() {
				k := toolCall(t, c, nil)
				k.Owner = fmt.Sprint("k", i)
				if r, err := send.Tool(t.Context(), k); err != nil || r.Outcome != want {
					t.Errorf("%+v, %v", r, err)
				}
			})
		}
		answer <- true
		wg.Wait()
	}
	all(send.OK)
	if p.count() != 2 || len(s.Requests("as", "/register")) != 1 {
		t.Errorf("%d visits, %d registrations", p.count(), len(s.Requests("as", "/register")))
	}
	if got := p.visits[1].Calls; len(got) == 0 || got[0][0] != 'k' {
		t.Errorf("waiting calls: %q", got)
	}
	refuse = true
	all(send.Unknown)
	if r, err := send.Tool(t.Context(), toolCall(t, c, nil)); err != nil || r.Outcome == send.OK || !strings.Contains(r.Reason, "signing in was refused") || !strings.Contains(r.Reason, "refused before it was run") || p.count() != 3 {
		t.Errorf("after the no: %+v, %v, %d visits", r, err, p.count())
	}
	if st := c.SignInState(); !st.Refused || st.SignedIn || st.Waiting {
		t.Errorf("%+v", st)
	}
	if err := c.Restart(t.Context()); !errors.Is(err, mcphost.ErrSignInRefused) || p.count() != 3 {
		t.Errorf("a restart: %v, %d visits", err, p.count())
	}
	refuse = false
	go func() { answer <- true }()
	if err := c.SignIn(t.Context()); err != nil || p.count() != 4 || c.State() != mcphost.StateReady {
		t.Errorf("signing in: %v, %d visits, %s", err, p.count(), c.State())
	}
}

// TestSignInPatience checks that no limit runs while a person is waited for, that
// others are not held up, and that the end does not wait.
func TestSignInPatience(t *testing.T) {
	t.Parallel()
	s := guarded(t, authserver.Options{})
	p := newSigner()
	asked := make(chan mcphost.SignInPage, 9)
	p.visit = func(ctx context.Context, page mcphost.SignInPage) error {
		asked <- page
		<-ctx.Done()
		return ctx.Err()
	}
	h, w := trial.Host(t, mcphost.Options{SignIn: p})
	cfg := guardedConfig(s)
	cfg.StartTimeout = 2 * time.Second
	started := make(chan error, 1)
	go func() {
		_, err := h.Connect(context.Background(), cfg)
		started <- err
	}()
	page := <-asked
	trial.Wait(t, w, func(o mcphost.SignInChanged) bool { return o.Server == "web" })
	trial.Connect(t, h, trial.Scripted("other"))
	time.Sleep(cfg.StartTimeout + time.Second) // a limit that ran on would have passed
	if st := h.Connections()[0].SignInState(); !st.Waiting || !st.Needed {
		t.Errorf("%+v", st)
	}
	if _, err := browse(t.Context(), page.URL); err != nil {
		t.Fatal(err)
	}
	if err := <-started; err != nil {
		t.Fatalf("the start: %v", err)
	}

	// A call's limits stand still too.
	c := h.Connections()[0]
	s.RevokeAccess()
	s.RevokeRefresh()
	k := toolCall(t, c, nil)
	k.Timeout, k.Max = 2*time.Second, 2*time.Second
	ended := make(chan send.Result, 1)
	go func() {
		r, err := send.Tool(context.Background(), k)
		if err != nil {
			t.Error(err)
		}
		ended <- r
	}()
	page = <-asked
	if !slices.Equal(page.Calls, []string{"k"}) {
		t.Errorf("waiting calls: %q", page.Calls)
	}
	time.Sleep(k.Max + time.Second)
	if _, err := browse(t.Context(), page.URL); err != nil {
		t.Fatal(err)
	}
	if r := <-ended; r.Outcome != send.OK {
		t.Errorf("%+v", r)
	}

	// The end of the call, and of the connection, withdraws the question.
	s.RevokeAccess()
	s.RevokeRefresh()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	if r, err := send.Tool(ctx, toolCall(t, c, nil)); err != nil || r.Outcome != send.Cancelled {
		t.Errorf("%+v, %v", r, err)
	}
	until(t, "the question is withdrawn", func() bool { return !c.SignInState().Waiting })
	go func() { started <- c.SignIn(context.Background()) }()
	<-asked
	closed := make(chan error, 1)
	go func() { closed <- c.Close(context.Background()) }()
	for range 2 {
		select {
		case err := <-closed:
			if err != nil {
				t.Error(err)
			}
		case err := <-started:
			if !errors.Is(err, mcphost.ErrClosed) {
				t.Errorf("signing in ended with %v", err)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("closing waits for the person")
		}
	}
}

// callsAt are the tool calls that a server received.
func callsAt(s *authserver.Server) []authserver.Seen {
	return slices.DeleteFunc(s.Requests("mcp", "/mcp"), func(r authserver.Seen) bool { return !strings.Contains(r.Body, `"tools/call"`) })
}

// TestSignInAttempt checks that a call is sent again only as an attempt, with the
// same bytes.
func TestSignInAttempt(t *testing.T) {
	t.Parallel()
	s := guarded(t, authserver.Options{})
	_, c := signedIn(t, s, newSigner())
	s.RevokeAccess()
	before := len(callsAt(s))
	n := 0
	if r, err := send.Tool(t.Context(), toolCall(t, c, &n)); err != nil || r.Outcome != send.OK || n != 1 {
		t.Errorf("%+v, %v, %d attempts", r, err, n)
	}
	posts := callsAt(s)[before:]
	if len(posts) != 2 || posts[0].Body != posts[1].Body || !strings.Contains(posts[0].Body, `"arguments":{"b":1,"a":2}`) || posts[0].Authorization == posts[1].Authorization {
		t.Errorf("sent: %+v", posts)
	}
	s.RevokeAccess()
	before = len(callsAt(s))
	k := toolCall(t, c, nil)
	k.Attempt = func(context.Context, string, any) error { return errors.New("the journal is full") }
	if r, err := send.Tool(t.Context(), k); err != nil || r.Outcome != send.Unknown || !strings.Contains(r.Reason, "journal is full") {
		t.Errorf("%+v, %v", r, err)
	}
	if posts := callsAt(s)[before:]; len(posts) != 1 {
		t.Errorf("it was sent %d times", len(posts))
	}
}

// TestSignInUnattended checks a host without anyone to ask, and a server for
// which a person has set an Authorization header.
func TestSignInUnattended(t *testing.T) {
	t.Parallel()
	s := guarded(t, authserver.Options{})
	h, _ := trial.Host(t, mcphost.Options{})
	_, err := h.Connect(t.Context(), guardedConfig(s))
	var se *mcphost.StartError
	if !errors.As(err, &se) || se.Stage != mcphost.StageSignIn || se.Hint == "" {
		t.Errorf("%+v", err)
	}
	p := newSigner()
	cfg := guardedConfig(s)
	cfg.Headers = map[string]string{"authorization": "Bearer mine"}
	h, _ = trial.Host(t, mcphost.Options{SignIn: p})
	if _, err := h.Connect(t.Context(), cfg); !errors.As(err, &se) || se.Stage != mcphost.StageSignIn || !se.KeyRefused || !strings.Contains(se.Hint, "key") {
		t.Errorf("%+v", err)
	}
	if err := h.Connections()[0].SignIn(t.Context()); err == nil || p.count() != 0 || len(p.keys("")) != 0 {
		t.Errorf("signed in where a header is set: %v, %d visits, kept %q", err, p.count(), p.keys(""))
	}
	u, err := url.Parse(s.Endpoint())
	if err != nil {
		t.Fatal(err)
	}
	if r := s.Requests("mcp", u.EscapedPath()); r[len(r)-1].Authorization != "Bearer mine" {
		t.Errorf("sent %q", r[len(r)-1].Authorization)
	}
}
