package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// known returns the client that is to be used at an authorization server, as far
// as it is known before the redirect URI is: configured, named by its document,
// or registered before; false where it has to be registered.
func (a *Account) known(ctx context.Context, p place) (client, bool, error) {
	s := p.server
	if id := a.o.ClientID; id != "" {
		var b bound
		hash := clientHash(id, a.o.ClientSecret)
		found, err := a.load(ctx, boundKey(p.resource), &b)
		if err != nil {
			return client{}, false, err
		}
		if !found || b.Client != hash || b.Issuer == s.issuer {
			return client{ID: id, Secret: a.o.ClientSecret, Origin: fromConfig, Port: b.Port}, true, nil
		}
		a.o.Warn(fmt.Sprintf("the server names another authorization server (%s) than the one for which a client is configured (%s); that client is not used there", short(s.issuer), short(b.Issuer)))
	}
	if a.o.MetadataURL != "" && s.clientIDDocument {
		var c client
		if _, err := a.load(ctx, clientKey(s.issuer), &c); err != nil {
			return client{}, false, err
		}
		return client{ID: a.o.MetadataURL, Origin: fromDocument, Port: c.Port}, true, nil
	}
	var c client
	found, err := a.load(ctx, clientKey(s.issuer), &c)
	usable := found && c.ID != "" && (c.Origin == fromServer || c.Origin == fromPerson) &&
		(c.Expires.IsZero() || a.o.Now().Before(c.Expires))
	return c, usable, err
}

// keep remembers a client that served, and the port the browser came back to.
func (a *Account) keep(ctx context.Context, p place, c client) {
	if c.Origin == fromConfig {
		a.save(ctx, boundKey(p.resource), bound{Issuer: p.server.issuer, Client: clientHash(c.ID, c.Secret), Port: c.Port})
		return
	}
	a.save(ctx, clientKey(p.server.issuer), c)
}

// register registers this program with a redirect URI (RFC 7591). Where the
// authorization server takes no programs that do it by themselves, reason says
// why a person has to.
func (a *Account) register(ctx context.Context, f *fetcher, p place, port int) (c client, reason string, err error) {
	if p.server.register == "" {
		return client{}, fmt.Sprintf("the authorization server %s does not let programs register by themselves", show(p.server.issuer)), nil
	}
	c, err = a.registerAt(ctx, f, p, port)
	if err == nil {
		a.keep(ctx, p, c)
		return c, "", nil
	}
	var refused *endpointError
	switch {
	case errors.As(err, &refused) && refused.status < 300:
		return client{}, "", &Error{
			Message: fmt.Sprintf("the authorization server %s answered the registration of this program with something else (%v)", show(p.server.issuer), err),
			Hint:    "Tell whoever runs it, or give a client id under which this program is registered there.", Err: err,
		}
	case !errors.As(err, &refused) || refused.temporary():
		return client{}, "", &Error{Message: fmt.Sprintf("registering at %s failed: %v", show(p.server.issuer), err), Hint: "Check the network, and try again later.", Err: err}
	case p.server.guessed:
		return client{}, "", &Error{
			Message: fmt.Sprintf("the server %s does not say where to sign in", a.o.URL.Host),
			Hint:    "Give a valid key or token among the server's headers, or a client id under which this program is registered there.",
			Err:     err,
		}
	}
	return client{}, fmt.Sprintf("the authorization server %s refused to register this program: %v", show(p.server.issuer), err), nil
}

// ask asks the person for a client.
func (a *Account) ask(ctx context.Context, p place, port int, reason string) (client, error) {
	c, err := a.o.Person.Client(ctx, Request{Issuer: p.server.issuer, Redirect: redirectOn(port), Reason: strings.ToUpper(reason[:1]) + reason[1:] + "."})
	switch {
	case errors.Is(err, ErrRefused), errors.Is(err, ErrNobody):
		return client{}, err
	case err != nil:
		return client{}, &Error{Message: reason, Hint: "Set the client id under which this program is registered there.", Err: err}
	case c.ID == "":
		return client{}, &Error{Message: reason, Hint: "Set the client id under which this program is registered there."}
	}
	out := client{ID: c.ID, Secret: c.Secret, Redirect: redirectOn(port), Port: port, Origin: fromPerson}
	a.keep(ctx, p, out)
	return out, nil
}

// registration is what is sent (RFC 7591, 2; OpenID Connect Registration for
// application_type, which MCP 2026-07-28 demands).
type registration struct {
	Name        string   `json:"client_name"`
	Redirects   []string `json:"redirect_uris"`
	Grants      []string `json:"grant_types"`
	Responses   []string `json:"response_types"`
	Application string   `json:"application_type"`
	Method      string   `json:"token_endpoint_auth_method,omitempty"`
}

func (a *Account) registerAt(ctx context.Context, f *fetcher, p place, port int) (client, error) {
	body, err := json.Marshal(registration{
		Name: a.o.Name, Redirects: []string{redirectOn(port)},
		Grants: []string{"authorization_code", "refresh_token"}, Responses: []string{"code"},
		Application: "native", Method: p.server.preferred(),
	})
	if err != nil {
		return client{}, err
	}
	got, err := f.do(ctx, http.MethodPost, p.server.register, bytes.NewReader(body), "application/json", nil)
	if err != nil {
		return client{}, err
	}
	if got.status != http.StatusOK && got.status != http.StatusCreated {
		return client{}, refusedBy(got)
	}
	o, ok := got.object()
	if !ok {
		return client{}, &endpointError{status: got.status, said: "what it sent is no JSON object"}
	}
	id, okID := o.text("client_id")
	secret, okSecret := o.text("client_secret")
	var expires float64 // seconds since 1970; 0 is never
	okExpires := !o.has("client_secret_expires_at") || json.Unmarshal(o["client_secret_expires_at"], &expires) == nil
	if !okID || !okSecret || !okExpires || id == "" {
		return client{}, &endpointError{status: got.status, said: "what it sent holds no client_id, or members of a wrong kind"}
	}
	c := client{ID: id, Secret: secret, Method: o.str("token_endpoint_auth_method"), Redirect: redirectOn(port), Port: port, Origin: fromServer}
	if expires > 0 && expires < 1e11 && secret != "" {
		c.Expires = time.Unix(int64(expires), 0)
	}
	return c, nil
}

// The ways in which a client shows who it is at the token endpoint (RFC 7591, 2).
const (
	methodBasic = "client_secret_basic"
	methodPost  = "client_secret_post"
	methodNone  = "none"
)

// preferred is what this program asks for at a registration: a program on a
// person's computer keeps no secret from that person. "" leaves it to the server.
func (s authServer) preferred() string {
	for _, m := range []string{methodNone, methodBasic, methodPost} {
		if slices.Contains(s.methods, m) {
			return m
		}
	}
	return ""
}

// method decides how a client shows who it is; one way, because an authorization
// code that was sent once may be used up.
func (s authServer) method(c client) (string, error) {
	offers := func(m string) bool { return !s.methodsGiven || slices.Contains(s.methods, m) }
	switch {
	case c.Secret == "":
		return methodNone, nil
	case (c.Method == methodBasic || c.Method == methodPost || c.Method == methodNone) && offers(c.Method):
		return c.Method, nil
	}
	for _, m := range []string{methodBasic, methodPost, methodNone} {
		if offers(m) {
			return m, nil
		}
	}
	return "", &Error{
		Message: fmt.Sprintf("the authorization server %s knows only ways of showing who a client is that this program does not have (%q)", show(s.issuer), s.methods),
		Hint:    "Ask whoever runs the server for a client that needs no secret.",
	}
}
