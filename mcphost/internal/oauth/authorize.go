package oauth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// VisitLimit is how long a person may take to say whether to sign in, and again
// to do it.
const VisitLimit = 5 * time.Minute

// ErrRefused says that the person did not want to sign in.
var ErrRefused = errors.New("signing in was refused")

// ErrDenied says that the authorization server, or the person at its page, said no.
var ErrDenied = fmt.Errorf("the authorization server did not grant it: %w", ErrRefused)

// ErrSignedIn is the cause with which the context of a visit ends that brought tokens.
var ErrSignedIn = errors.New("you are signed in")

// ErrNobody says that there is nobody who could be asked to sign in.
var ErrNobody = errors.New("nobody can be asked here to sign in")

// Person is asked. mcphost.SignIn says more.
type Person interface {
	Ready(ctx context.Context, p Plan) error
	Register(ctx context.Context, p Plan) error
	Visit(ctx context.Context, p Page) error
	Client(ctx context.Context, r Request) (Client, error)
}

// Plan is a sign-in that has not begun; see mcphost.SignInPlan.
type Plan struct {
	Calls            []string
	Issuer, Resource string
}

// Page is where a person signs in; see mcphost.SignInPage.
type Page struct {
	Calls                 []string
	Issuer, Resource, URL string
	Scopes                []string
	More                  bool
	// Strays receives where a browser came back with what is no answer to this page. It
	// was not used, and the right answer is still waited for.
	Strays <-chan struct{}
}

// Request asks for a client; see mcphost.ClientRequest.
type Request struct{ Issuer, Redirect, Reason string }

// Client is a client registered by hand.
type Client struct{ ID, Secret string }

// authorize has a person sign in and returns the tokens. A client that the
// authorization server no longer knows is registered anew, once.
func (a *Account) authorize(ctx context.Context, f *fetcher, fl *flight, p place, scopes []string, more bool) (tokens, error) {
	for again := false; ; again = true {
		visit, over := context.WithCancelCause(ctx)
		t, c, err := a.once(visit, f, fl, p, scopes, more)
		if err == nil {
			over(ErrSignedIn)
			t.Asked = scopes
			if len(t.Scopes) == 0 {
				t.Scopes = scopes // what is not said is as it was asked for (RFC 6749, 5.1)
			}
			return t, nil
		}
		over(a.explain(p, err))
		ours := c.Origin == fromServer || c.Origin == fromPerson
		if !isGone(err) || !ours || again {
			return tokens{}, a.explain(p, err)
		}
		a.forget(ctx, clientKey(p.server.issuer))
	}
}

// explain says where a sign-in failed.
func (a *Account) explain(p place, err error) error {
	var e *endpointError
	if errors.As(err, new(*Error)) || !errors.As(err, &e) {
		return err
	}
	out := &Error{
		Message: fmt.Sprintf("the authorization server %s gave no token (%v)", show(p.server.issuer), err),
		Hint:    "Try again, or tell whoever runs the server.", Err: err,
	}
	if isGone(err) {
		out.Hint = "It does not know this program under the client id that is set for the server; check it."
	}
	return out
}

// once goes through one authorization request (RFC 6749, 4.1; RFC 7636; RFC 8252).
func (a *Account) once(ctx context.Context, f *fetcher, fl *flight, p place, scopes []string, more bool) (tokens, client, error) {
	c, found, err := a.known(ctx, p)
	if err != nil {
		return tokens{}, c, err
	}
	if !found && p.server.guessed {
		// Whoever answers a request that it does not know with 401 is no authorization
		// server by that: the person decides whether it is spoken to as one.
		if err := a.permit(ctx, fl, p); err != nil {
			return tokens{}, c, err
		}
	}
	state, verifier := rand.Text(), rand.Text()+rand.Text() // 130 and 260 bits
	back, err := a.open(c, state)
	if err != nil {
		return tokens{}, c, err
	}
	defer func() {
		if back != nil {
			back.close()
		}
	}()
	if moves := c.Origin == fromServer && c.Redirect != back.redirect(); !found || moves {
		var reason string
		if c, reason, err = a.register(ctx, f, p, back.port); reason != "" {
			// That takes a person longer than the listener may be open.
			port := back.port
			back.close()
			back = nil
			if c, err = a.ask(ctx, p, port, reason); err == nil {
				back, err = a.open(c, state)
			}
		}
		if err != nil {
			return tokens{}, c, err
		}
	}
	a.hide(c.Secret, verifier)
	address, err := pageFor(p, c, back.redirect(), state, verifier, scopes)
	if err != nil {
		return tokens{}, c, err
	}
	answer, err := a.visit(ctx, back, Page{
		Calls: a.callsOf(fl), Issuer: p.server.issuer, Resource: p.resource, URL: address, Scopes: scopes, More: more, Strays: back.strays,
	})
	if err != nil {
		return tokens{}, c, err
	}
	code, err := readAnswer(p.server, answer)
	if err != nil {
		return tokens{}, c, err
	}
	a.hide(code)
	t, err := f.grant(ctx, p, c, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {back.redirect()}, "code_verifier": {verifier},
	}, a.o.Now())
	if err != nil {
		return tokens{}, c, err
	}
	c.Port = back.port
	a.keep(ctx, p, c)
	return t, c, nil
}

// plan is what a person is told before a sign-in begins.
func (a *Account) plan(fl *flight, p place) Plan {
	return Plan{Calls: a.callsOf(fl), Issuer: p.server.issuer, Resource: p.resource}
}

// permit asks the person whether to register where nothing says that one can.
func (a *Account) permit(ctx context.Context, fl *flight, p place) error {
	ctx, cancel := context.WithTimeoutCause(ctx, VisitLimit, context.DeadlineExceeded)
	defer cancel()
	err := a.o.Person.Register(ctx, a.plan(fl, p))
	switch {
	case err == nil, errors.Is(err, ErrRefused), errors.Is(err, ErrNobody):
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return &Error{Message: fmt.Sprintf("nobody was asked whether to register at %s: %v", show(p.server.issuer), err), Hint: "Try again.", Err: err}
}

// pageFor is the address of the page where a person signs in (RFC 6749, 4.1.1; RFC 7636,
// 4.3; RFC 8707, 2.1).
func pageFor(p place, c client, redirect, state, verifier string, scopes []string) (string, error) {
	sum := sha256.Sum256([]byte(verifier))
	q := url.Values{
		"response_type": {"code"}, "client_id": {c.ID}, "redirect_uri": {redirect}, "state": {state},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
		"resource": {p.resource},
	}
	if len(scopes) > 0 {
		q.Set("scope", strings.Join(scopes, " "))
	}
	if slices.Contains(scopes, offline) {
		q.Set("prompt", "consent") // else it is not granted (OpenID Connect Core, 11)
	}
	return extend(p.server.authorize, q)
}

// extend adds parameters to an address, in place of its own of the same names.
func extend(address string, q url.Values) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	all := u.Query()
	for name, values := range q {
		all[name] = values
	}
	u.RawQuery = all.Encode()
	return u.String(), nil
}

// open opens the listener for the browser: at the configured port, at the one
// used before, or at any that is free where another can be registered.
func (a *Account) open(c client, state string) (*callback, error) {
	if port := a.o.Port; port != 0 {
		back, err := listen(port, state)
		if err != nil {
			return nil, &Error{
				Message: fmt.Sprintf("the port %d, to which the browser is to come back, cannot be used: %v", port, err),
				Hint:    "End the program that uses it, or set another port for this server.", Err: err,
			}
		}
		return back, nil
	}
	if c.Port != 0 {
		back, err := listen(c.Port, state)
		switch {
		case err == nil:
			return back, nil
		case c.Origin == fromPerson:
			return nil, &Error{
				Message: fmt.Sprintf("the browser is to come back to %s, which is registered at the authorization server, but the port cannot be used: %v", c.Redirect, err),
				Hint:    "End the program that uses it, and try again.", Err: err,
			}
		}
	}
	back, err := listen(0, state)
	if err != nil {
		return nil, &Error{
			Message: fmt.Sprintf("no port on this computer could be opened for the browser to come back to: %v", err),
			Hint:    "Check the firewall.", Err: err,
		}
	}
	return back, nil
}

// visit asks the person and waits for the browser to come back. The context ends with the
// sign-in.
func (a *Account) visit(ctx context.Context, back *callback, p Page) (url.Values, error) {
	visited := make(chan error, 1)
	a.tasks.Go(func() {
		defer func() {
			if r := recover(); r != nil {
				visited <- fmt.Errorf("failure: %v", r)
			}
		}()
		visited <- a.o.Person.Visit(ctx, p)
	})
	limit := time.NewTimer(VisitLimit)
	defer limit.Stop()
	for {
		select {
		case answer := <-back.answers:
			return answer, nil
		case err := <-visited:
			switch {
			case errors.Is(err, ErrRefused), errors.Is(err, ErrNobody):
				return nil, err
			case err != nil:
				return nil, &Error{Message: fmt.Sprintf("the page for signing in could not be opened: %v", err), Hint: "Try again.", Err: err}
			}
			visited = nil // the browser has it
			limit.Reset(VisitLimit)
		case <-limit.C:
			return nil, &Error{
				Message: fmt.Sprintf("nobody signed in at %s within %s", show(p.Issuer), VisitLimit),
				Hint:    "Sign in again when you are ready.",
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// readAnswer takes the code out of the browser's request. Whose it is comes first
// (RFC 9207, 2.4): the text of an answer that another may have made is not shown.
func readAnswer(s authServer, q url.Values) (string, error) {
	_, given := q["iss"]
	switch {
	case given && q.Get("iss") != s.issuer, !given && s.iss:
		return "", &Error{
			Message: fmt.Sprintf("the answer that the browser brought back is not from the authorization server %s", show(s.issuer)),
			Hint:    "It was not used: another site may have tried to sign in in your place. Tell whoever runs the server.",
		}
	case q.Get("error") == "access_denied":
		said := "access_denied"
		if more := plain(q.Get("error_description")); more != "" {
			said += ": " + more
		}
		return "", &Error{Message: fmt.Sprintf("the authorization server %s did not grant it (%s)", show(s.issuer), said), Err: ErrDenied}
	case q.Get("error") != "":
		return "", &endpointError{status: 302, code: errorCode(q.Get("error")), said: plain(q.Get("error_description"))}
	}
	return q.Get("code"), nil
}
