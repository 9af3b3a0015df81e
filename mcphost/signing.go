package mcphost

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"steward/mcphost/internal/oauth"
	"steward/mcphost/internal/remote"
	"steward/mcphost/internal/session"
)

// SignInChanged says that [Connection.SignInState] may have changed.
type SignInChanged struct{ Server string }

func (SignInChanged) observation() {}

// SignIn forgets a refusal, signs in to the server if that is needed, and starts
// it again. The context bounds the wait; a sign-in that nobody waits for any more
// ends. The error says why it did not come about; it wraps [ErrSignInRefused]
// where the person said no.
func (c *Connection) SignIn(ctx context.Context) error {
	a, err := c.lend()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.life, func() { cancel(ErrClosed) })()
	if err := a.SignIn(ctx); err != nil {
		return c.startError(&stageError{StageSignIn, err}, c.cfg.startTimeout())
	}
	return c.Restart(ctx)
}

// SignOut has the authorization server revoke the tokens, if it can, and deletes
// them. What this program is registered as at the authorization server stays. The
// error says what could not be deleted; a server that does not revoke is none.
func (c *Connection) SignOut(ctx context.Context) error {
	a, err := c.lend()
	if err != nil {
		return err
	}
	if err := a.SignOut(ctx); err != nil {
		return &requestError{c.redact("signing out of server " + c.cfg.ID + " failed: " + err.Error()), err}
	}
	return nil
}

// SignInState returns how things stand with signing in. It does not block.
func (c *Connection) SignInState() SignInState {
	a := c.account()
	if a == nil {
		return SignInState{}
	}
	s := a.State()
	return SignInState{
		Needed: s.Needed, SignedIn: s.SignedIn, Refused: s.Refused, Waiting: s.Waiting,
		Issuer: s.Issuer, Resource: s.Resource, Scopes: s.Scopes, Expires: s.Expires,
	}
}

// errNoSignIn says that there is nothing to sign in to, or nobody who could.
var errNoSignIn = errors.New("this server cannot be signed in to")

// lend returns the account, with the way to the network that its server has.
func (c *Connection) lend() (*oauth.Account, error) {
	a := c.account()
	if a == nil {
		return nil, errNoSignIn
	}
	link, err := c.remoteLink(nil, false)
	if err != nil {
		return nil, err
	}
	_ = link // nothing has been sent on it, so that nothing need be ended
	return a, nil
}

// accounts are the sign-ins of a host, one for each server and configuration,
// whatever its roots.
type accounts struct {
	mu     sync.Mutex
	closed bool
	all    map[string]*oauth.Account // by ServerConfig.accountKey
}

// close ends all sign-ins side by side, within the time that a connection has for its end.
func (s *accounts) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeLimit)
	defer cancel()
	s.mu.Lock()
	s.closed = true
	all := slices.Collect(maps.Values(s.all)) // they stay, for the secrets they know
	s.mu.Unlock()
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, a := range all {
		wg.Go(func() { errs[i] = a.Close(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// accountKey tells sign-ins apart. Secrets that are put into the configuration can
// change while its hash stays: who corrects one is not held to the one before.
func (c ServerConfig) accountKey() string {
	o := c.OAuth
	parts := append([]string{c.eraKey(), c.URL, o.ClientID, o.ClientSecret, o.MetadataURL, strconv.Itoa(o.CallbackPort)}, o.Scopes...)
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return string(sum[:])
}

// authorizes reports whether the person has set what the server is shown: a header, or
// a name and password in the address. That is what it gets, and nothing else.
func (c ServerConfig) authorizes() bool {
	for name := range c.Headers {
		if strings.EqualFold(name, "Authorization") {
			return true
		}
	}
	u, err := url.Parse(strings.TrimSpace(c.URL))
	return err == nil && u.User != nil
}

// account returns the account of the connection's server; nil for servers that
// are not signed in to, and where nobody could be asked.
func (c *Connection) account() *oauth.Account {
	if c.host.opts.SignIn == nil || c.cfg.transport() == TransportStdio || c.cfg.authorizes() {
		return nil
	}
	s := &c.host.accounts
	s.mu.Lock()
	defer s.mu.Unlock()
	key := c.cfg.accountKey()
	if a := s.all[key]; a != nil {
		return a
	}
	u, err := url.Parse(strings.TrimSpace(c.cfg.URL))
	if err != nil || s.closed {
		return nil
	}
	name := c.host.opts.Client.Title
	if name == "" {
		name = c.host.opts.Client.Name
	}
	o := c.cfg.OAuth
	a := oauth.New(oauth.Options{
		URL: u, Name: name, ClientID: o.ClientID, ClientSecret: o.ClientSecret, MetadataURL: o.MetadataURL,
		Scopes: o.Scopes, Port: o.CallbackPort, Keeper: c.host.opts.SignIn, Person: person{c.host.opts.SignIn, c.cfg.ID},
		Now: c.now, Changed: func() { c.host.signInChanged(key) },
		Warn: func(text string) { c.host.signInWarned(key, text) },
	})
	if s.all == nil {
		s.all = map[string]*oauth.Account{}
	}
	s.all[key] = a
	return a
}

// sharing returns the connections that share an account.
func (h *Host) sharing(key string) []*Connection {
	var out []*Connection
	for _, c := range h.Connections() {
		if c.cfg.accountKey() == key {
			out = append(out, c)
		}
	}
	return out
}

func (h *Host) signInChanged(key string) {
	for _, c := range h.sharing(key) {
		c.events.put(SignInChanged{Server: c.cfg.ID})
	}
}

func (h *Host) signInWarned(key, text string) {
	for _, c := range h.sharing(key) {
		c.note("warning", "", text)
	}
}

// person puts the questions of an account to the program around the host.
type person struct {
	signIn SignIn
	server string
}

func (p person) plan(q oauth.Plan) SignInPlan {
	return SignInPlan{Server: p.server, Calls: q.Calls, Issuer: q.Issuer, Resource: q.Resource}
}

func (p person) Ready(ctx context.Context, q oauth.Plan) error {
	return p.signIn.Ready(ctx, p.plan(q))
}

func (p person) Register(ctx context.Context, q oauth.Plan) error {
	return p.signIn.Register(ctx, p.plan(q))
}

func (p person) Visit(ctx context.Context, page oauth.Page) error {
	return p.signIn.Visit(ctx, SignInPage{
		Server: p.server, Calls: page.Calls, Issuer: page.Issuer, Resource: page.Resource,
		URL: page.URL, Scopes: page.Scopes, More: page.More, Strays: page.Strays,
	})
}

func (p person) Client(ctx context.Context, r oauth.Request) (oauth.Client, error) {
	c, err := p.signIn.Client(ctx, ClientRequest{Server: p.server, Issuer: r.Issuer, Redirect: r.Redirect, Reason: r.Reason})
	return oauth.Client{ID: c.ID, Secret: c.Secret}, err
}

// asksSignIn reports whether an error is a server's wish for a sign-in.
func (c *Connection) asksSignIn(err error) bool {
	var e *remote.Error
	return c.account() != nil && errors.As(err, &e) && e.Denial != nil && e.Denial.Asks()
}

// admit signs in after a denial at the start of a session. What it returns is the
// error of the start.
func (c *Connection) admit(ctx context.Context, link session.Link, err error, t *oauth.Tries) error {
	l, ok := link.(interface {
		Admit(context.Context, error, *oauth.Tries) error
	})
	if !ok {
		return &stageError{StageHandshake, err}
	}
	if err := l.Admit(ctx, err, t); err != nil {
		return &stageError{StageSignIn, err}
	}
	return nil
}

// renewed renews tokens that have expired before anything is sent, so that the
// time it takes is not the server's.
func (c *Connection) renewed(ctx context.Context) error {
	a := c.account()
	if a == nil {
		return nil
	}
	if _, err := a.Token(ctx); err != nil {
		return &stageError{StageSignIn, err}
	}
	return nil
}

// unsigned reports whether a server wanted a sign-in that did not come about.
func unsigned(err error) bool {
	var e *remote.Error
	return errors.As(err, &e) && e.Status == http.StatusUnauthorized
}

// signInHint says what to do about a server that wants a sign-in and did not get
// one.
func (c *Connection) signInHint(e *remote.Error) string {
	switch {
	case errors.Is(e, ErrSignInRefused), errors.Is(e, ErrSignInNobody):
		return "Sign in to it when you want to use it."
	case e.Hint != "":
		return e.Hint
	}
	return "Sign in to it, or give a valid key or token among its headers."
}
