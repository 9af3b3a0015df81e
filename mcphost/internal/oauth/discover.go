package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	discoverLimit = 30 * time.Second // all that is fetched to find out where to sign in
	maxServers    = 5                // authorization servers that are tried
)

// place is where a sign-in happens, and what for.
type place struct {
	resource string   // what a token is for (RFC 8707)
	scopes   []string // that the server names
	server   authServer
}

// authServer is an authorization server (RFC 8414, 2).
type authServer struct {
	issuer                              string
	authorize, token, register, revoke  string
	scopes, methods                     []string
	methodsGiven, iss, clientIDDocument bool
	guessed                             bool // it has no metadata: its addresses are those of MCP 2025-03-26
}

// discovery finds out where to sign in.
type discovery struct {
	fetch  *fetcher
	server *url.URL // the MCP server
}

// find looks for the metadata of the server (RFC 9728) and of the authorization
// server that it names. A server without is its own authorization server (MCP
// 2025-03-26, authorization).
func (d discovery) find(ctx context.Context, challenge map[string]string) (place, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, discoverLimit, errors.New("it was not found out within "+discoverLimit.String()))
	defer cancel()
	p, issuers, err := d.resource(ctx, challenge["resource_metadata"])
	if err != nil {
		return place{}, err
	}
	if len(issuers) == 0 {
		p.server, err = d.own(ctx)
		return p, err
	}
	for _, issuer := range issuers[:min(len(issuers), maxServers)] {
		var wrong *Error
		p.server, wrong = d.named(ctx, issuer)
		if wrong == nil {
			return p, nil
		}
		if err == nil {
			err = wrong // the first is the one that should have worked
		}
	}
	return place{}, err
}

// canonical is the address of the server as a resource (MCP, authorization,
// canonical server URI): without a query, which may hold a secret, and without
// the slash that stands for no path.
func (d discovery) canonical() string {
	path := d.server.EscapedPath()
	if path == "/" {
		path = ""
	}
	return origin(d.server) + path
}

// resource fetches the server's metadata from where it says they are, else from
// the well-known addresses for its path and its origin (RFC 9728, 3). Without
// any, there are no issuers.
func (d discovery) resource(ctx context.Context, named string) (place, []string, error) {
	const known = "/.well-known/oauth-protected-resource"
	base := origin(d.server)
	var addresses []string
	if named != "" {
		if _, err := d.fetch.reach.check(named); err != nil {
			return place{}, nil, &Error{
				Message: fmt.Sprintf("the server says that its metadata are at an address that is not fetched: %v", err),
				Hint:    "Tell whoever runs the server.", Err: err,
			}
		}
		addresses = append(addresses, named)
	}
	if path := strings.TrimSuffix(d.server.EscapedPath(), "/"); path != "" {
		addresses = append(addresses, base+known+path)
	}
	addresses = append(addresses, base+known)
	var failed error
	for i, address := range addresses {
		if slices.Contains(addresses[:i], address) {
			continue
		}
		a, err := d.fetch.get(ctx, address)
		switch {
		case err != nil && !isPermitted(err):
			return place{}, nil, d.unread(address, err)
		case err != nil:
			failed = d.unread(address, err)
			continue
		case isDown(a.status):
			failed = d.unread(address, fmt.Errorf("it answered with the status %d", a.status))
			continue
		}
		o, ok := a.object()
		if a.status != http.StatusOK || !ok {
			continue // there are none; many servers answer any address with a page
		}
		p, issuers, err := d.readResource(o)
		return p, issuers, err
	}
	if failed != nil {
		return place{}, nil, failed
	}
	return place{resource: d.canonical()}, nil, nil
}

// isDown reports whether a status says nothing of what there is.
func isDown(status int) bool { return status >= 500 || status == http.StatusTooManyRequests }

func (d discovery) unread(address string, err error) error {
	return &Error{
		Message: fmt.Sprintf("how to sign in could not be read from %s: %v", show(address), err),
		Hint:    "Check the network, and try again later.", Err: err,
	}
}

// readResource reads metadata of a server. They must be this server's: else a
// token for another would be asked for (RFC 9728, 3.3).
func (d discovery) readResource(o object) (place, []string, error) {
	resource := o.str("resource")
	if !d.isOurs(resource) {
		return place{}, nil, &Error{
			Message: fmt.Sprintf("the server %s says that tokens are for %q, which is not its address", d.canonical(), short(resource)),
			Hint:    "No token is asked for, because it could be used elsewhere. Check the server's address, or tell whoever runs it.",
		}
	}
	return place{resource: resource, scopes: o.list("scopes_supported")}, o.list("authorization_servers"), nil
}

// isOurs reports whether a resource is the server's address, or its origin.
// Paths are compared as they are; a slash at the end makes another.
func (d discovery) isOurs(resource string) bool {
	u, err := url.Parse(resource)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || origin(u) != origin(d.server) {
		return false
	}
	if path := u.EscapedPath(); (path == "" || path == "/") && u.RawQuery == "" {
		return true
	}
	return u.EscapedPath() == d.server.EscapedPath() && (u.RawQuery == "" || u.RawQuery == d.server.RawQuery)
}

// own takes the server for its own authorization server.
func (d discovery) own(ctx context.Context) (authServer, error) {
	base := origin(d.server)
	if _, err := d.fetch.reach.check(base); err != nil {
		return authServer{}, &Error{
			Message: fmt.Sprintf("the server %s would be signed in to at its own address, and that is not done: %v", show(base), err),
			Hint:    "Use the server's https:// address.", Err: err,
		}
	}
	for _, address := range wellKnown(d.server, "") {
		a, err := d.fetch.get(ctx, address)
		if err == nil && isDown(a.status) {
			err = fmt.Errorf("it answered with the status %d", a.status)
		}
		if err != nil {
			return authServer{}, d.unread(address, err)
		}
		o, ok := a.object()
		if a.status != http.StatusOK || !ok {
			continue
		}
		issuer := o.str("issuer")
		if u, err := url.Parse(issuer); err != nil || origin(u) != base {
			return authServer{}, d.mismatch(base, issuer)
		}
		s, wrong := d.read(o, issuer)
		if wrong != nil {
			return authServer{}, wrong
		}
		return s, nil
	}
	return authServer{
		issuer: base, guessed: true,
		authorize: base + "/authorize", token: base + "/token", register: base + "/register",
	}, nil
}

func (d discovery) mismatch(want, got string) *Error {
	return &Error{
		Message: fmt.Sprintf("the authorization server %s says that it is another, %q", short(want), short(got)),
		Hint:    "It is not used. Tell whoever runs the server.",
	}
}

// wellKnown are the addresses of an issuer's metadata, in the order in which they
// are tried (MCP 2026-07-28, authorization server metadata discovery).
func wellKnown(issuer *url.URL, path string) []string {
	base := origin(issuer)
	if path = strings.TrimSuffix(path, "/"); path == "" {
		return []string{base + "/.well-known/oauth-authorization-server", base + "/.well-known/openid-configuration"}
	}
	return []string{
		base + "/.well-known/oauth-authorization-server" + path,
		base + "/.well-known/openid-configuration" + path,
		base + path + "/.well-known/openid-configuration",
	}
}

// named fetches the metadata of an issuer that the server named. Their issuer
// must be the same text (RFC 8414, 3.3).
func (d discovery) named(ctx context.Context, issuer string) (authServer, *Error) {
	u, err := d.fetch.reach.check(issuer)
	if err == nil && (u.RawQuery != "" || u.Fragment != "") {
		err = errors.New("it holds a query or a fragment")
	}
	if err != nil {
		return authServer{}, &Error{
			Message: fmt.Sprintf("the server names an authorization server that cannot be used: %v", err),
			Hint:    "Tell whoever runs the server.", Err: err,
		}
	}
	failed := errors.New("it has none at the addresses where they should be")
	for _, address := range wellKnown(u, u.EscapedPath()) {
		a, err := d.fetch.get(ctx, address)
		if err != nil {
			failed = err
			continue
		}
		o, ok := a.object()
		if a.status != http.StatusOK || !ok {
			if isDown(a.status) {
				failed = fmt.Errorf("it answered with the status %d", a.status)
			}
			continue
		}
		if got := o.str("issuer"); got != issuer {
			return authServer{}, d.mismatch(issuer, got)
		}
		s, wrong := d.read(o, issuer)
		if wrong != nil {
			return authServer{}, wrong
		}
		return s, nil
	}
	return authServer{}, &Error{
		Message: fmt.Sprintf("the metadata of the authorization server %s could not be read: %v", show(issuer), failed),
		Hint:    "Check the network, or tell whoever runs the server.", Err: failed,
	}
}

// read reads the metadata of an authorization server. Every address in it is
// checked, and it must support PKCE (MCP 2026-07-28, authorization code
// protection).
func (d discovery) read(o object, issuer string) (authServer, *Error) {
	s := authServer{
		issuer:    issuer,
		authorize: o.str("authorization_endpoint"), token: o.str("token_endpoint"),
		register: o.str("registration_endpoint"), revoke: o.str("revocation_endpoint"),
		scopes: o.list("scopes_supported"), methods: o.list("token_endpoint_auth_methods_supported"),
		methodsGiven: o.has("token_endpoint_auth_methods_supported"),
		iss:          o.flag("authorization_response_iss_parameter_supported"), clientIDDocument: o.flag("client_id_metadata_document_supported"),
	}
	for _, e := range []struct {
		name, address string
		needed        bool
	}{
		{"authorization_endpoint", s.authorize, true}, {"token_endpoint", s.token, true},
		{"registration_endpoint", s.register, false}, {"revocation_endpoint", s.revoke, false},
	} {
		if e.address == "" && !e.needed {
			continue
		}
		u, err := d.fetch.reach.check(e.address)
		if err == nil && u.Fragment != "" {
			err = errors.New("it holds a fragment")
		}
		if err != nil {
			return authServer{}, &Error{
				Message: fmt.Sprintf("the authorization server %s names an address as %s that is not used: %v", show(issuer), e.name, err),
				Hint:    "Tell whoever runs the server.", Err: err,
			}
		}
	}
	if !slices.Contains(o.list("code_challenge_methods_supported"), "S256") {
		return authServer{}, &Error{
			Message: fmt.Sprintf("the authorization server %s does not say that it supports PKCE with S256, which keeps a sign-in from being stolen", show(issuer)),
			Hint:    "It is not used. Tell whoever runs the server.",
		}
	}
	return s, nil
}
