package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// endpointError is an authorization server's refusal (RFC 6749, 5.2).
type endpointError struct {
	status int
	code   string // "" where it gave none
	said   string
}

func (e *endpointError) Error() string {
	s := fmt.Sprintf("status %d", e.status)
	if e.code != "" {
		s += ", " + e.code
	}
	if e.said != "" {
		s += ": " + e.said
	}
	return s
}

// temporary reports whether the same request may succeed later.
func (e *endpointError) temporary() bool {
	return e.status < 300 || e.status >= 500 || e.status == http.StatusTooManyRequests || e.status == http.StatusRequestTimeout
}

// refusedBy reads a refusal. Pages of HTML are not repeated.
func refusedBy(a answer) *endpointError {
	e := &endpointError{status: a.status}
	if o, ok := a.object(); ok {
		e.code, e.said = errorCode(o.str("error")), plain(o.str("error_description"))
	}
	return e
}

// errorCode is an error code if it can be one (RFC 6749, 5.2), else "".
func errorCode(s string) string {
	if len(s) > 60 || s[:tokenLength(s)] != s {
		return ""
	}
	return s
}

// plain is a description as RFC 6749 allows it: visible ASCII, and not long.
func plain(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, short(s)))
}

// isGone reports whether an authorization server no longer knows the client.
func isGone(err error) bool {
	var e *endpointError
	return errors.As(err, &e) && (e.code == "invalid_client" || e.code == "unauthorized_client" || e.code == "" && e.status == http.StatusUnauthorized)
}

// isRevoked reports whether a refresh token is good for nothing any more.
func isRevoked(err error) bool {
	var e *endpointError
	return errors.As(err, &e) && e.code == "invalid_grant"
}

// isTemporary reports whether a renewal may succeed later. Only an authorization
// server that says what is wrong, with the statuses that it has for it, has looked at
// the token (RFC 6749, 5.2): what stands before it answers with others.
func isTemporary(err error) bool {
	var e *endpointError
	return !errors.As(err, &e) || e.temporary() || e.code == "" && e.status != http.StatusBadRequest && e.status != http.StatusUnauthorized
}

// request makes one request to the token or the revocation endpoint.
func (f *fetcher) request(ctx context.Context, s authServer, address string, c client, form url.Values) (answer, error) {
	method, err := s.method(c)
	if err != nil {
		return answer{}, err
	}
	var user *url.Userinfo
	switch method {
	case methodBasic:
		user = url.UserPassword(c.ID, c.Secret)
	case methodPost:
		form.Set("client_id", c.ID)
		form.Set("client_secret", c.Secret)
	default:
		form.Set("client_id", c.ID)
	}
	return f.post(ctx, address, form, user)
}

// grace is how long a request for tokens may go on when nobody waits for it any more.
const grace = 2 * time.Second

// lasting returns a context that ends so long after its parent: a refresh token or a code
// is used up by a request, so that tokens whose answer was not waited for are lost.
func lasting(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	stop := context.AfterFunc(parent, func() {
		t := time.AfterFunc(grace, cancel)
		context.AfterFunc(ctx, func() { t.Stop() })
	})
	return ctx, func() {
		stop()
		cancel()
	}
}

// grant asks the token endpoint for tokens and reads its answer (RFC 6749, 5.1).
// Where that is not what it should be there are none.
func (f *fetcher) grant(ctx context.Context, p place, c client, form url.Values, now time.Time) (tokens, error) {
	form.Set("resource", p.resource) // RFC 8707, 2.2
	ctx, cancel := lasting(ctx)
	defer cancel()
	a, err := f.request(ctx, p.server, p.server.token, c, form)
	if err != nil {
		return tokens{}, err
	}
	if a.status != http.StatusOK {
		return tokens{}, refusedBy(a)
	}
	wrong := func(what string) (tokens, error) {
		return tokens{}, &endpointError{status: a.status, said: "its answer cannot be used: " + what}
	}
	o, ok := a.object()
	if !ok {
		return wrong("it is no JSON object")
	}
	if code := errorCode(o.str("error")); code != "" && !o.has("access_token") {
		return tokens{}, refusedBy(a) // some servers answer errors with 200
	}
	access, okAccess := o.text("access_token")
	refresh, okRefresh := o.text("refresh_token")
	kind, okKind := o.text("token_type")
	scope, okScope := o.text("scope")
	life, okLife := o.seconds("expires_in")
	switch {
	case !okAccess || !isToken(access):
		return wrong("access_token is missing, or no text that can be a token")
	case !okKind || kind != "" && !strings.EqualFold(kind, "Bearer"):
		return wrong("the tokens are of another type than Bearer")
	case !okRefresh || !okScope:
		return wrong("refresh_token or scope is no text")
	case !okLife:
		return wrong("expires_in is no number of seconds")
	}
	t := tokens{Issuer: p.server.issuer, Resource: p.resource, Access: access, Refresh: refresh, Scopes: strings.Fields(scope), Client: c}
	if life > 0 {
		t.Expires, t.Seconds = now.Add(life), int(life/time.Second)
	}
	return t, nil
}

// isToken reports whether s can stand in a header as a Bearer token (RFC 6750, 2.1).
func isToken(s string) bool {
	if s == "" || len(s) > 64<<10 {
		return false
	}
	for _, c := range []byte(s) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}

// refresh asks for new tokens in place of old ones (RFC 6749, 6).
func (f *fetcher) refresh(ctx context.Context, p place, old tokens, now time.Time) (tokens, error) {
	t, err := f.grant(ctx, p, old.Client, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {old.Refresh}}, now)
	if err != nil {
		return tokens{}, err
	}
	if t.Refresh == "" {
		t.Refresh = old.Refresh
	}
	if len(t.Scopes) == 0 {
		t.Scopes = old.Scopes
	}
	t.Asked = old.Asked
	return t, nil
}

// revoke tells the authorization server that tokens are not used any more
// (RFC 7009).
func (f *fetcher) revoke(ctx context.Context, p place, t tokens) error {
	var errs []error
	for _, one := range []struct{ token, hint string }{{t.Refresh, "refresh_token"}, {t.Access, "access_token"}} {
		if one.token == "" {
			continue
		}
		a, err := f.request(ctx, p.server, p.server.revoke, t.Client, url.Values{"token": {one.token}, "token_type_hint": {one.hint}})
		if err == nil && a.status >= 300 {
			err = refusedBy(a)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
