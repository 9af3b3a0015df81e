package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"steward/mcphost/internal/oauth"
	"steward/mcphost/internal/wire"
)

// protected reports whether a token may travel to the server.
func (l *Link) protected() bool {
	return l.url.Scheme == "https" || l.o.AllowHTTP || loopback(l.url.Hostname())
}

// do sends a request with the token there is, in the header alone.
func (l *Link) do(req *http.Request) (*http.Response, error) {
	if l.o.Account != nil && l.protected() {
		token, err := l.o.Account.Token(req.Context())
		if err != nil {
			return nil, l.unsigned(0, err)
		}
		bear(req, token)
	}
	resp, err := l.client.Do(req)
	if err != nil {
		return nil, l.unreachable(err)
	}
	return resp, nil
}

func bear(req *http.Request, token string) {
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
}

// unsigned explains a sign-in that did not come about.
func (l *Link) unsigned(status int, err error) error {
	wants := fmt.Sprintf("the server %s wants a sign-in", show(l.url))
	if status != 0 {
		wants += fmt.Sprintf(" (%d %s)", status, http.StatusText(status))
	}
	out := &Error{Status: status, Err: err, Message: fmt.Sprintf("%s: %v", wants, err)}
	var e *oauth.Error
	if errors.As(err, &e) {
		out.Message = wants + ": " + e.Message
		out.Hint = e.Hint
	}
	return out
}

// denial is what a sign-in needs to know of a response.
func denial(resp *http.Response) *oauth.Denial {
	d := &oauth.Denial{Status: resp.StatusCode, Challenges: resp.Header.Values("WWW-Authenticate")}
	if resp.Request != nil {
		d.Token, _ = strings.CutPrefix(resp.Request.Header.Get("Authorization"), "Bearer ")
	}
	return d
}

// denied returns the denial that an error is, if a sign-in may help.
func denied(err error) (oauth.Denial, bool) {
	var e *Error
	if !errors.As(err, &e) || e.Denial == nil || !e.Denial.Asks() {
		return oauth.Denial{}, false
	}
	return *e.Denial, true
}

// Admit signs in after an error that is a denial; nil means that it may be tried
// again. Other errors come back as they are.
func (l *Link) Admit(ctx context.Context, err error, t *oauth.Tries) error {
	d, ok := denied(err)
	if !ok || l.o.Account == nil {
		return err
	}
	if !l.protected() {
		return &Error{
			Status:  d.Status,
			Message: fmt.Sprintf("the server %s wants a sign-in, which would travel unprotected over plain http", show(l.url)),
			Hint:    "Use the server's https:// address, or allow plain http for this server.",
		}
	}
	if err := l.o.Account.Admit(ctx, d, t); err != nil {
		return l.unsigned(d.Status, err)
	}
	return nil
}

// admit is Admit for a request of the caller's, which ends with the link too. A
// tool call is sent again only if that is allowed: the same bytes, which the
// server refused before it looked at them.
func (l *Link) admit(ctx, caller context.Context, method string, err error, t *oauth.Tries) error {
	d, ok := denied(err)
	if !ok || l.o.Account == nil {
		return err
	}
	both, cancel := context.WithCancel(caller)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	if err := l.Admit(both, err, t); err != nil {
		return err
	}
	if method != "tools/call" {
		return nil
	}
	call, ok := oauth.CallOf(caller)
	if !ok {
		return err
	}
	if err := call.Attempt(both, "sign-in", map[string]any{"status": d.Status}); err != nil {
		return fmt.Errorf("the call was not sent again after the sign-in: %w", err)
	}
	return nil
}

// signIn sends a request that was denied again, as often as a sign-in helps.
func (x *exchange) signIn(ctx context.Context, err error) error {
	var tries oauth.Tries
	for err != nil {
		if stop := x.link.admit(ctx, x.caller, x.about.method, err, &tries); stop != nil {
			return stop
		}
		err = x.once(ctx, true)
	}
	return nil
}

// signInOld is signIn for the transport of 2024-11-05.
func (l *Link) signInOld(ctx, caller context.Context, out *wire.Outgoing, err error) error {
	var tries oauth.Tries
	for err != nil {
		if stop := l.admit(l.ctx, caller, out.Method(), err, &tries); stop != nil {
			return stop
		}
		err = l.sendOld(ctx, out.Frame, out)
	}
	return nil
}

// await waits, after a denial of a stream that nobody asked for, until there is
// another token; false if that will not be.
func (l *Link) await(ctx context.Context, resp *http.Response) bool {
	return l.awaitDenied(ctx, *denial(resp))
}

func (l *Link) awaitDenied(ctx context.Context, d oauth.Denial) bool {
	if l.o.Account == nil || !l.protected() || d.Status != http.StatusUnauthorized {
		return false
	}
	return l.o.Account.Await(ctx, d.Token)
}
