package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// fetcher makes the way to authorization servers for one flight.
func (a *Account) fetcher(ctx context.Context) *fetcher {
	a.mu.Lock()
	base := a.base
	a.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	return newFetcher(base, reachOf(ctx, a.o.URL))
}

// kept returns the tokens for a place, those in hand or those that are kept.
func (a *Account) kept(ctx context.Context, p place) (tokens, error) {
	a.mu.Lock()
	t := a.token
	a.mu.Unlock()
	if t.Access != "" && t.Issuer == p.server.issuer && t.Resource == p.resource {
		return t, nil
	}
	t = tokens{}
	found, err := a.load(ctx, tokensKey(p.server.issuer, p.resource), &t)
	if err != nil || !found || t.Issuer != p.server.issuer || t.Resource != p.resource || !isToken(t.Access) {
		return tokens{}, err
	}
	a.hide(t.Access, t.Refresh, t.Client.Secret)
	return t, nil
}

// adopt takes tokens into use.
func (a *Account) adopt(p place, t tokens) {
	a.hide(t.Access, t.Refresh, t.Client.Secret)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.token, a.place, a.shown, a.last, a.lapsed = t, p, p, Denial{}, nil
	close(a.adopted)
	a.adopted = make(chan struct{})
}

// renew is the flight that renews tokens that have expired.
func (a *Account) renew(ctx context.Context, fl *flight) error {
	a.mu.Lock()
	p, old := a.place, a.token
	a.mu.Unlock()
	fl.renewed = true
	return a.replace(ctx, a.fetcher(ctx), p, old)
}

// replace renews tokens. Those that are good for nothing any more are deleted,
// which is errNeedsPerson; a failure that may pass leaves them.
func (a *Account) replace(ctx context.Context, f *fetcher, p place, old tokens) error {
	// Another entry for the same server may have renewed them; refresh tokens are
	// often good for one use.
	var newer tokens
	if found, err := a.load(ctx, tokensKey(old.Issuer, old.Resource), &newer); err == nil && found &&
		newer.Issuer == old.Issuer && newer.Resource == old.Resource &&
		newer.Access != old.Access && newer.Refresh != old.Refresh && isToken(newer.Access) {
		a.hide(newer.Access, newer.Refresh, newer.Client.Secret)
		if newer.Expires.IsZero() || a.o.Now().Before(newer.Expires) {
			a.adopt(p, newer)
			return nil
		}
		old = newer
	}
	t, err := f.refresh(ctx, p, old, a.o.Now())
	switch {
	case err == nil:
		a.adopt(p, t)
		a.save(ctx, tokensKey(t.Issuer, t.Resource), t)
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case isTemporary(err):
		return &Error{
			Message: fmt.Sprintf("the sign-in at %s could not be renewed: %v", show(p.server.issuer), err),
			Hint:    "Try again later; the sign-in itself is kept.", Err: err,
		}
	}
	if isGone(err) && old.Client.Origin == fromServer {
		var c client
		if found, loadErr := a.load(ctx, clientKey(old.Issuer), &c); loadErr == nil && found && c.ID == old.Client.ID {
			a.forget(ctx, clientKey(old.Issuer))
		}
	}
	a.drop(old, &Error{
		Message: fmt.Sprintf("the authorization server %s refused to renew the sign-in (%v)", show(p.server.issuer), err),
		Hint:    "Sign in again, or tell whoever runs it.", Err: err,
	})
	if isGone(err) || isRevoked(err) {
		a.forget(ctx, tokensKey(old.Issuer, old.Resource))
		return errNeedsPerson
	}
	old.Refresh = "" // whatever is wrong with it, asking again would not help
	a.save(ctx, tokensKey(old.Issuer, old.Resource), old)
	return errNeedsPerson
}

// drop takes tokens out of use, and remembers and says why.
func (a *Account) drop(old tokens, why *Error) {
	a.o.Warn(why.Message)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lapsed = why
	if a.token.Access == old.Access {
		a.token = tokens{}
	}
}

// SignIn forgets a refusal, and signs in unless there are tokens that have not expired
// and that the server has not refused. Where those cannot be renewed, the person is asked.
func (a *Account) SignIn(ctx context.Context) error {
	a.mu.Lock()
	a.refused, a.vain = nil, nil
	d, t := a.last, a.token
	a.mu.Unlock()
	a.o.Changed()
	if t.Access != "" && d.Status == 0 && (t.Expires.IsZero() || a.o.Now().Before(t.Expires)) {
		return nil
	}
	if d.Status == 0 {
		d.Status = http.StatusUnauthorized
	}
	d.Token = t.Access
	return a.Admit(ctx, d, &Tries{wanted: true})
}

// revokeLimit bounds the revocation of tokens.
const revokeLimit = 15 * time.Second

// SignOut ends a sign-in under way, has the tokens revoked where the
// authorization server does that, and deletes them.
func (a *Account) SignOut(ctx context.Context) error {
	a.mu.Lock()
	fl := a.flight
	a.mu.Unlock()
	if fl != nil {
		fl.cancel(errSignedOut)
		select {
		case <-fl.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	a.mu.Lock()
	t, p := a.token, a.place
	a.token, a.last = tokens{}, Denial{}
	a.mu.Unlock()
	defer a.o.Changed()
	f := a.fetcher(ctx)
	if t.Access == "" {
		var err error
		if p, err = (discovery{fetch: f, server: a.o.URL}).find(ctx, nil); err != nil {
			return err
		}
		if t, err = a.kept(ctx, p); err != nil || t.Access == "" {
			return err
		}
	}
	if p.server.revoke != "" {
		limited, cancel := context.WithTimeout(ctx, revokeLimit)
		defer cancel()
		if err := f.revoke(limited, p, t); err != nil {
			a.o.Warn(fmt.Sprintf("%s did not revoke the sign-in, which ends there by itself: %v", show(p.server.issuer), err))
		}
	}
	if err := a.o.Keeper.Delete(ctx, tokensKey(t.Issuer, t.Resource)); err != nil {
		return &Error{Message: fmt.Sprintf("the sign-in could not be deleted: %v", err), Hint: "Unlock the keyring, and try again.", Err: err}
	}
	return nil
}

// State returns how things stand.
func (a *Account) State() State {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := State{Needed: a.needed, Refused: errors.Is(a.refused, ErrRefused), Issuer: a.shown.server.issuer, Resource: a.shown.resource}
	if fl := a.flight; fl != nil {
		select {
		case <-fl.asking:
			s.Waiting = true
		default:
		}
	}
	if t := a.token; t.Access != "" {
		s.SignedIn = a.last.Status != http.StatusUnauthorized
		s.Scopes, s.Expires = slices.Clone(t.Scopes), t.Expires
	}
	return s
}

// Close ends what is under way, and waits for it until the context ends. What
// waited for a sign-in gets an error.
func (a *Account) Close(ctx context.Context) error {
	a.mu.Lock()
	a.closed = true
	if a.flight != nil {
		a.flight.cancel(errClosed)
	}
	a.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.tasks.Wait()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return errors.New("a sign-in has not ended yet")
	}
}

// secrets are the newest secrets of an account, to be taken out of texts.
type secrets struct {
	mu       sync.Mutex
	values   []string
	replacer *strings.Replacer
}

const (
	maxSecrets  = 64
	leastSecret = 8 // shorter ones would take common words out
	instead     = "[secret:sign-in]"
)

func (a *Account) hide(values ...string) {
	s := &a.secrets
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range values {
		if len(v) >= leastSecret && !slices.Contains(s.values, v) {
			s.values = append(s.values, v)
			s.replacer = nil
		}
	}
	s.values = s.values[max(0, len(s.values)-maxSecrets):]
}

// Redact takes the secrets of the account out of a text.
func (a *Account) Redact(text string) string {
	s := &a.secrets
	s.mu.Lock()
	if s.replacer == nil {
		var pairs []string
		sorted := slices.Clone(s.values)
		slices.SortFunc(sorted, func(x, y string) int { return len(y) - len(x) })
		for _, v := range sorted {
			pairs = append(pairs, v, instead)
		}
		s.replacer = strings.NewReplacer(pairs...)
	}
	r := s.replacer
	s.mu.Unlock()
	return r.Replace(text)
}
