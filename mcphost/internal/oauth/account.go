// Package oauth signs in to MCP servers (OAuth 2.1; MCP 2026-07-28,
// authorization, and the rules of 2025-03-26 for servers without metadata). It
// finds out where, asks the person, takes the browser's answer, and keeps tokens
// by authorization server and resource, so that none reaches anything it was not
// made for. What servers say is never trusted: every address is checked, and what
// is fetched is bounded.
package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"steward/mcphost/internal/patience"
)

// Options are given to New. All but MetadataURL, Scopes, Port and the client must
// be set. Changed and Warn are called from any goroutine, and must not block.
type Options struct {
	URL                    *url.URL // of the MCP server
	Name                   string   // of this program, for people
	ClientID, ClientSecret string   // configured
	MetadataURL            string
	Scopes                 []string
	Port                   int
	Keeper                 Keeper
	Person                 Person
	Now                    func() time.Time
	Changed                func()            // the state may have changed
	Warn                   func(text string) // a sentence without its full stop
}

// State is how things stand; see mcphost.SignInState.
type State struct {
	Needed, SignedIn, Refused, Waiting bool
	Issuer, Resource                   string
	Scopes                             []string
	Expires                            time.Time
}

// Account is the sign-in of one server. Its methods may be called by any
// goroutine. There is at most one sign-in under way; it ends when nobody waits
// for it any more.
type Account struct {
	o     Options
	tasks sync.WaitGroup

	mu      sync.Mutex
	base    *http.Transport
	token   tokens
	place   place  // where token is from
	shown   place  // where a sign-in is, or was last
	last    Denial // that no sign-in has answered yet
	needed  bool
	refused bool
	vain    map[string]bool // scopes that a sign-in did not bring
	flight  *flight
	closed  bool
	secrets secrets
	adopted chan struct{} // closed, and made anew, when tokens come into use
}

// flight is a sign-in, or a renewal, under way. What is not a channel is guarded
// by Account.mu; err, asked and renewed may be read when done is closed.
type flight struct {
	done    chan struct{}
	asking  chan struct{} // closed when a person begins to be waited for
	cancel  context.CancelCauseFunc
	waiting map[*string]bool // the owner of each caller that waits
	quiet   bool             // it asks nobody
	asked   bool             // the person
	renewed bool             // the tokens
	err     error
}

// New makes an Account. Nothing is sent or asked yet.
func New(o Options) *Account { return &Account{o: o, adopted: make(chan struct{})} }

// Use sets what connections are made with: its proxy and certificates. It must be
// called before anything else.
func (a *Account) Use(base *http.Transport) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.base = base
}

// Limits of one request to the server.
const (
	maxTries = 8                // it is sent again at most so often
	maxAsked = 3                // the person is asked at most so often, where ever more is wanted
	leeway   = 30 * time.Second // tokens are renewed so long before they expire
)

// Tries counts what was done for one request.
type Tries struct {
	total, asked, renewed int
	wanted                bool // the person wants to sign in, also where a renewal might do later
}

var (
	errNeedsPerson = errors.New("the server wants a sign-in")
	errSignedOut   = errors.New("it was signed out")
	errClosed      = errors.New("the connection to the server has been closed")
	errAlone       = errors.New("nobody waits for the sign-in any more")
)

// Token returns what to send to the server, "" where there is nothing. Tokens
// that have expired are renewed; where that fails for now, it is an error, and
// they stay.
func (a *Account) Token(ctx context.Context) (string, error) {
	for tried := false; ; {
		a.mu.Lock()
		t, now := a.token, a.o.Now()
		if tried || a.closed || t.Access == "" || t.Refresh == "" || t.Expires.IsZero() || now.Before(t.Expires.Add(-t.leeway())) {
			a.mu.Unlock()
			return t.Access, nil
		}
		fl := a.flight
		switch {
		case fl == nil:
			fl = a.start(true, a.renew)
		case !fl.quiet:
			a.mu.Unlock()
			return t.Access, nil // a sign-in is under way; the server will say whether it is needed
		}
		w := fl.join(ctx)
		a.mu.Unlock()
		err := a.wait(ctx, fl, w)
		tried = !errors.Is(err, errAlone)
		switch {
		case err == nil, errors.Is(err, errNeedsPerson):
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
		case !tried: // it was ending when it was joined
		case now.Before(t.Expires):
			return t.Access, nil
		default:
			return "", err
		}
	}
}

// Held returns the token at hand, as it is, for what is not worth a renewal; "" where
// there is none.
func (a *Account) Held() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.token.Access
}

// Admit answers a denial: when it returns nil, the request may be sent again. It
// may wait for a person; see patience.Pause.
func (a *Account) Admit(ctx context.Context, d Denial, t *Tries) error {
	if t.total++; t.total > maxTries {
		return a.endless()
	}
	for {
		a.mu.Lock()
		news := !a.needed
		a.needed = true
		fl, err := a.admit(ctx, d, t)
		var w *string
		if fl != nil {
			w = fl.join(ctx)
		}
		a.mu.Unlock()
		if news {
			a.o.Changed()
		}
		if fl == nil {
			return err
		}
		err = a.wait(ctx, fl, w)
		if fl.isDone() {
			if fl.asked {
				t.asked++
			}
			if fl.renewed {
				t.renewed++
			}
		}
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, errNeedsPerson) && fl.quiet && !isQuiet(ctx):
			continue // it was another's, which could not ask
		case errors.Is(err, errAlone):
			continue // it was ending when it was joined
		}
		return err
	}
}

// admit finds the flight to wait for; without one, error says how it stands. a.mu
// is held.
func (a *Account) admit(ctx context.Context, d Denial, t *Tries) (*flight, error) {
	if a.token.Access != "" && a.token.Access != d.Token {
		return nil, nil // another has signed in meanwhile
	}
	a.last = d
	switch {
	case a.closed:
		return nil, errClosed
	case d.Status == http.StatusUnauthorized && t.asked > 0, t.asked >= maxAsked:
		return nil, a.endless()
	case a.refused && !isQuiet(ctx):
		return nil, ErrRefused
	case a.flight != nil && !a.flight.quiet && isQuiet(ctx):
		return nil, errNeedsPerson
	case a.flight != nil:
		return a.flight, nil
	}
	tries := *t
	return a.start(isQuiet(ctx), func(ctx context.Context, fl *flight) error { return a.enter(ctx, fl, d, tries) }), nil
}

func (a *Account) endless() error {
	return &Error{
		Message: fmt.Sprintf("the server %s refuses access again right after a sign-in", a.o.URL.Host),
		Hint:    "Check with whoever runs it what your account may do there; signing out and in again may help.",
	}
}

// start begins a flight. a.mu is held.
func (a *Account) start(quiet bool, run func(context.Context, *flight) error) *flight {
	ctx, cancel := context.WithCancelCause(context.Background())
	fl := &flight{
		done: make(chan struct{}), asking: make(chan struct{}), cancel: cancel,
		waiting: map[*string]bool{}, quiet: quiet,
	}
	a.flight = fl
	a.tasks.Go(func() {
		defer cancel(nil)
		err := guarded(ctx, fl, run)
		if ctx.Err() != nil && err != nil {
			err = context.Cause(ctx)
		}
		a.mu.Lock()
		fl.err = err
		a.flight = nil
		if errors.Is(err, ErrRefused) {
			a.refused = true
		}
		a.mu.Unlock()
		a.o.Changed()
		close(fl.done)
	})
	return fl
}

// guarded runs a flight; a panic in it ends it alone.
func guarded(ctx context.Context, fl *flight, run func(context.Context, *flight) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("signing in failed: %v", r)
		}
	}()
	return run(ctx, fl)
}

func (f *flight) isDone() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// join adds one who waits for a flight. Account.mu is held.
func (f *flight) join(ctx context.Context) (waiter *string) {
	owner := ""
	if call, ok := CallOf(ctx); ok {
		owner = call.Owner
	}
	f.waiting[&owner] = true
	return &owner
}

// wait waits for a flight that was joined, which ends when its last waiter leaves.
func (a *Account) wait(ctx context.Context, fl *flight, waiter *string) error {
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if delete(fl.waiting, waiter); len(fl.waiting) == 0 {
			fl.cancel(errAlone)
		}
	}()
	select {
	case <-fl.done:
		return fl.err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-fl.asking:
	}
	defer patience.Pause(ctx)()
	select {
	case <-fl.done:
		return fl.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Await waits until there are other tokens than the one given, or the context
// has ended, which is false.
func (a *Account) Await(ctx context.Context, token string) bool {
	for {
		a.mu.Lock()
		now, adopted := a.token.Access, a.adopted
		a.mu.Unlock()
		if now != "" && now != token {
			return ctx.Err() == nil
		}
		select {
		case <-adopted:
		case <-ctx.Done():
			return false
		}
	}
}

// callsOf returns the owners of the tool calls that wait for a flight.
func (a *Account) callsOf(fl *flight) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []string
	for owner := range fl.waiting {
		if *owner != "" {
			out = append(out, *owner)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// enter gets tokens that the server may take: those that are kept, renewed ones,
// or those of a new sign-in.
func (a *Account) enter(ctx context.Context, fl *flight, d Denial, t Tries) error {
	f := a.fetcher(ctx)
	p, err := discovery{fetch: f, server: a.o.URL}.find(ctx, d.challenge())
	if err != nil {
		return err
	}
	old, err := a.kept(ctx, p)
	if err != nil {
		return err
	}
	if !d.more() {
		switch {
		case old.Access != "" && old.Access != d.Token && (old.Expires.IsZero() || a.o.Now().Before(old.Expires)):
			a.adopt(p, old)
			return nil
		case old.Refresh != "" && t.renewed == 0:
			fl.renewed = true
			err := a.replace(ctx, f, p, old)
			if err == nil || ctx.Err() != nil || !errors.Is(err, errNeedsPerson) && !t.wanted {
				return err
			}
			if old, err = a.kept(ctx, p); err != nil {
				return err
			}
		}
	}
	if fl.quiet {
		return errNeedsPerson
	}
	scopes, need, err := a.wanted(d, p, old)
	if err != nil {
		return err
	}
	a.mu.Lock()
	a.shown = p
	a.mu.Unlock()
	fl.asked = true
	close(fl.asking)
	a.o.Changed()
	got, err := a.authorize(ctx, f, fl, p, scopes, d.more())
	if err != nil {
		return err
	}
	if d.more() && !contains(got.Scopes, need) {
		a.inVain(need)
	}
	a.adopt(p, got)
	a.save(ctx, tokensKey(got.Issuer, got.Resource), got)
	return nil
}

// offline is the scope that brings a refresh token where the authorization
// server lists it.
const offline = "offline_access"

// wanted decides which scopes to ask for: what is configured, else what the
// server asked for now, else what its metadata name, else none. Where it wants
// more than was granted, what was asked for before stays (MCP 2026-07-28, scope
// selection and step-up authorization).
//
// need are those without which it would have been in vain.
func (a *Account) wanted(d Denial, p place, old tokens) (out, need []string, err error) {
	asked := strings.Fields(d.challenge()["scope"])
	switch {
	case len(a.o.Scopes) > 0 && !d.more():
		return unique(a.o.Scopes), nil, nil
	case len(a.o.Scopes) > 0:
		out = append(slices.Clone(a.o.Scopes), asked...)
	case len(asked) > 0:
		out = asked
	default:
		out = p.scopes
	}
	out = unique(append(slices.Clone(old.Asked), out...))
	need = slices.Clone(asked)
	if len(need) == 0 {
		need = slices.Clone(out)
	}
	if len(out) > 0 && len(a.o.Scopes) == 0 && slices.Contains(p.server.scopes, offline) {
		out = unique(append(out, offline))
	}
	a.mu.Lock()
	vain := a.vain[scopeKey(need)]
	a.mu.Unlock()
	if d.more() && (vain || old.Access != "" && contains(old.Scopes, need)) {
		return nil, nil, &Error{
			Message: fmt.Sprintf("the server %s wants more rights (%s) than a sign-in brings", a.o.URL.Host, short(strings.Join(asked, " "))),
			Hint:    "Check with whoever runs it what your account may do there.",
		}
	}
	return out, need, nil
}

func unique(all []string) []string {
	var out []string
	for _, s := range all {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// contains reports whether all of some are among all.
func contains(all, some []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

func scopeKey(scopes []string) string {
	sorted := slices.Clone(scopes)
	slices.Sort(sorted)
	return strings.Join(sorted, " ")
}

func (a *Account) inVain(scopes []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.vain == nil {
		a.vain = map[string]bool{}
	}
	a.vain[scopeKey(scopes)] = true
}
