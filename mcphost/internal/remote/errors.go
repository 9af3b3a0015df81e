package remote

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"steward/mcphost/internal/oauth"
)

// Error says why a server over HTTP gave no usable answer.
type Error struct {
	Status  int    // the HTTP status; 0 if there was none
	Message string // a sentence that names the address
	// Unreached says that no answer came at all: nobody listens, the name is not known,
	// the certificate is no good.
	Unreached bool
	Hint      string // what to do
	// Denial is what a sign-in would begin with, of a 401 or 403.
	Denial *oauth.Denial
	Err    error
}

// Error gives the message and the hint.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + ". " + e.Hint
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// show is an address without what may be secret in it.
func show(u *url.URL) string {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return shown.String()
}

// refusal explains an HTTP status that is no success.
func (l *Link) refusal(resp *http.Response, body []byte) error {
	e := &Error{Status: resp.StatusCode}
	said := snippet(resp, body)
	switch s := resp.StatusCode; {
	case s == http.StatusUnauthorized:
		e.Denial = denial(resp)
		e.Message = fmt.Sprintf("the server %s wants a sign-in (401 Unauthorized)%s%s", show(l.url), asks(resp.Header), said)
		e.Hint = "Give a valid key or token among the server's headers."
	case s == http.StatusForbidden:
		e.Denial = denial(resp)
		e.Message = fmt.Sprintf("the server %s refuses access (403 Forbidden)%s%s", show(l.url), asks(resp.Header), said)
		e.Hint = "Check that the key or token among its headers may do this."
	case s >= 300 && s < 400:
		e.Message, e.Hint = l.moved(resp)
	case s == http.StatusNotFound, s == http.StatusMethodNotAllowed:
		e.Message = fmt.Sprintf("at %s there is no MCP server (%s)%s", show(l.url), resp.Status, said)
		e.Hint = "Check the address; it often ends with /mcp."
	case s == http.StatusProxyAuthRequired:
		e.Message = "the proxy on the way to the server " + show(l.url) + " wants a sign-in (407)"
		e.Hint = proxyHint
	case s == http.StatusTooManyRequests:
		e.Message = fmt.Sprintf("the server %s takes no more requests for now (429)%s", show(l.url), said)
		e.Hint = "Wait a while and try again." + after(resp.Header.Get("Retry-After"), time.Now())
	case s >= 500:
		e.Message = fmt.Sprintf("the server %s failed (%s)%s", show(l.url), resp.Status, said)
		e.Hint = "Try again later, or ask whoever runs it." + after(resp.Header.Get("Retry-After"), time.Now())
	default:
		e.Message = fmt.Sprintf("the server %s refused the request (%s)%s", show(l.url), resp.Status, said)
	}
	return e
}

// asks is what a server says it wants, cut to what is worth reading.
func asks(h http.Header) string {
	const most = 2 << 10
	s := strings.ToValidUTF8(strings.Join(h.Values("WWW-Authenticate"), ", "), "\uFFFD")
	switch {
	case s == "":
		return ""
	case len(s) > most:
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return ", asking for: " + s
}

// snippet is what the server said with a status, if it is short plain text or
// JSON with a message; a page of HTML is not shown.
func snippet(resp *http.Response, body []byte) string {
	text := strings.TrimSpace(string(body))
	if strings.HasPrefix(text, "{") {
		var m map[string]json.RawMessage
		if json.Unmarshal(body, &m) == nil {
			for _, name := range []string{"error_description", "message", "detail", "error"} {
				var s string
				var inner map[string]json.RawMessage
				switch {
				case json.Unmarshal(m[name], &s) == nil && s != "":
					text = s
				case json.Unmarshal(m[name], &inner) == nil && json.Unmarshal(inner["message"], &s) == nil && s != "":
					text = s
				default:
					continue
				}
				break
			}
		}
	}
	if text == "" || strings.HasPrefix(text, "<") || !utf8.ValidString(text) {
		return ""
	}
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	return ": " + strings.Join(strings.Fields(text), " ")
}

// noAnswer explains a success that holds no answer.
func (l *Link) noAnswer(status int, format string, args ...any) error {
	return &Error{
		Status:  status,
		Message: fmt.Sprintf("the server %s gave no answer: ", show(l.url)) + fmt.Sprintf(format, args...),
	}
}
