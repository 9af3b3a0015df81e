// Package remote is the way to MCP servers over HTTP: Streamable HTTP (MCP
// 2025-11-25 and 2026-07-28, transports) and, for old servers, HTTP with SSE
// (MCP 2024-11-05).
//
// The protocol library keeps its own transport; this package stands below it as
// its http.RoundTripper. What servers really send is read here, within limits
// and without being strict, and goes through the wire.Tap; the library is given
// well-formed streams alone. So a server's fault ends the request it belongs to
// and never the session, and a stream that a server opens late or never holds
// nothing up. The session id, redirects, reconnecting, and the headers that
// mirror a request live here too.
package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"steward/mcphost/internal/oauth"
	"steward/mcphost/internal/wire"
)

// Limits of the conversation over HTTP.
const (
	dialLimit    = 20 * time.Second // connecting, and again the TLS handshake
	notifyLimit  = 10 * time.Second // sending a notification or an answer
	deleteLimit  = time.Second      // ending a session
	endLimit     = time.Second      // the end of a stream behind the answer
	errorLimit   = 5 * time.Second  // what a server says with an error, to its end
	renewLimit   = 30 * time.Second // beginning a session again
	lateLimit    = 10 * time.Minute // waiting for an answer after a cancellation
	firstPause   = time.Second      // before a stream is opened again
	longestPause = 60 * time.Second
	// shortestPause is waited even where a server wants none.
	shortestPause = 100 * time.Millisecond
	maxResumes    = 5 // of one answer, without anything new
	maxErrorBody  = 1 << 20
	maxSessionID  = 1 << 10
)

// Options are given to New. Functions may be nil, except Tap.
type Options struct {
	URL     string
	Headers map[string]string
	// AllowHTTP lets headers travel over plain http to a host that is not
	// loopback.
	AllowHTTP bool
	Network   Network
	// SSE speaks the transport of 2024-11-05.
	SSE      bool
	Tap      *wire.Tap
	MaxFrame int64
	// Warn is told what is odd, a sentence each; Renewed that the server had
	// forgotten the session and a new one has begun.
	Warn    func(text string)
	Renewed func()
	// Missed is told that the server may have reported changes while nobody heard it.
	Missed func()
	// ToolHeaders gives the headers that a call of a tool needs besides.
	ToolHeaders func(tool string, arguments []byte) map[string]string
	// Account signs in to the server; nil where that is not possible, or not wanted
	// because the headers or the address hold what the server is shown.
	Account *oauth.Account
}

// Link is the way to one server. It is a session.Link.
type Link struct {
	o       Options
	url     *url.URL
	client  *http.Client
	base    *http.Transport
	ctx     context.Context
	end     context.CancelFunc
	tasks   sync.WaitGroup
	done    chan struct{}
	endOnce sync.Once

	mu         sync.Mutex
	closed     bool
	err        error
	failure    error  // of the last request of the handshake
	session    string // Mcp-Session-Id
	generation int    // of the session
	initialize []byte // the handshake, to begin again
	protocol   string // MCP-Protocol-Version
	push       context.CancelFunc
	renewing   chan struct{} // held while a session is begun again
	endpoint   *url.URL      // where to post to, and
	old        *feed         // the one stream, of HTTP with SSE
}

// New checks the address and makes a Link. Nothing is sent yet.
func New(o Options) (*Link, error) {
	u, err := url.Parse(strings.TrimSpace(o.URL))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, &Error{
			Message: fmt.Sprintf("%q is no address of a server", o.URL),
			Hint:    "Give an address that begins with https:// (or http:// on this computer).",
		}
	}
	u.Fragment = ""
	secret := len(o.Headers) > 0 || u.User != nil
	if u.Scheme == "http" && secret && !o.AllowHTTP && !loopback(u.Hostname()) {
		return nil, &Error{
			Message: fmt.Sprintf("headers would travel unprotected over plain http to %s, where anyone on the way can read them", u.Host),
			Hint:    "Use the server's https:// address, or allow plain http for this server.",
		}
	}
	for name, value := range o.Headers {
		if replays(name) {
			return nil, &Error{
				Message: fmt.Sprintf("the header %q cannot be sent, because with it a call could be sent twice", name),
				Hint:    "Remove it from the server's headers.",
			}
		}
		if !Token(name) || strings.ContainsAny(value, "\r\n\x00") {
			return nil, &Error{
				Message: fmt.Sprintf("the header %q cannot be sent", name),
				Hint:    "A header's name is letters, digits and dashes; its value is one line.",
			}
		}
	}
	if o.MaxFrame <= 0 {
		o.MaxFrame = wire.DefaultMaxFrame
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	l := &Link{o: o, url: u, done: make(chan struct{}), renewing: make(chan struct{}, 1)}
	if l.base, err = o.Network.Transport(); err != nil {
		return nil, err
	}
	l.ctx, l.end = context.WithCancel(context.Background())
	l.client = &http.Client{Transport: observed{l.base, o.Tap}, CheckRedirect: l.redirect}
	if o.Account != nil {
		o.Account.Use(l.base)
	}
	return l, nil
}

// replays reports whether net/http takes a POST with this header for one that it may send again by itself
// (http.Transport).
func replays(header string) bool {
	return strings.EqualFold(header, "Idempotency-Key") || strings.EqualFold(header, "X-Idempotency-Key")
}

// Connect implements mcp.Transport.
func (l *Link) Connect(ctx context.Context) (mcp.Connection, error) {
	client := &http.Client{Transport: l, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	l.o.Tap.Attach(l.reply)
	if l.o.SSE {
		return (&mcp.SSEClientTransport{Endpoint: l.url.String(), HTTPClient: client, MaxEventSize: -1}).Connect(l.ctx)
	}
	return (&mcp.StreamableClientTransport{
		Endpoint: l.url.String(), HTTPClient: client, MaxRetries: -1, MaxEventSize: -1,
	}).Connect(ctx)
}

// RoundTrip implements http.RoundTripper for the library.
func (l *Link) RoundTrip(req *http.Request) (*http.Response, error) {
	if l.ctx.Err() != nil {
		if req.Body != nil {
			_ = req.Body.Close() // a RoundTripper must; there is nothing to lose
		}
		return nil, errClosed
	}
	switch {
	case req.Method == http.MethodPost && l.o.SSE:
		return l.postOld(req)
	case req.Method == http.MethodPost:
		return l.post(req)
	case req.Method == http.MethodGet && l.o.SSE:
		return l.openOld(req)
	case req.Method == http.MethodGet:
		return l.listen(req)
	}
	return nil, fmt.Errorf("no %s is sent to MCP servers", req.Method)
}

var errClosed = errors.New("the connection has been closed")

// mostHops is how many redirects of one request are followed.
const mostHops = 3

// redirect lets a request be sent again to another path of the same origin,
// with the same method and body; anything else ends as an error. So neither
// headers nor a request's content ever reach another origin.
func (l *Link) redirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) <= mostHops && req.Method == first.Method && sameOrigin(req.URL, first.URL) {
		return nil
	}
	return http.ErrUseLastResponse
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	switch p := u.Port(); {
	case p != "":
		return p
	case u.Scheme == "https":
		return "443"
	default:
		return "80"
	}
}

// loopback reports whether a host is this computer.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// Done implements session.Link.
func (l *Link) Done() <-chan struct{} { return l.done }

// Err implements session.Link.
func (l *Link) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	return l.err
}

// fail ends the link from inside.
func (l *Link) fail(err error) {
	l.mu.Lock()
	if l.err == nil {
		l.err = err
	}
	l.mu.Unlock()
	l.endOnce.Do(func() { close(l.done) })
	l.o.Tap.Close(err)
}

// Close implements session.Link: it ends the session at the server and all that
// goes on, within about a second.
func (l *Link) Close() error {
	l.mu.Lock()
	again := l.closed
	l.closed = true
	id := l.session
	l.mu.Unlock()
	if !again {
		l.o.Tap.Settle()
	}
	if !again && id != "" {
		l.endSession()
	}
	l.end()
	l.endOnce.Do(func() { close(l.done) })
	l.o.Tap.Close(errClosed)
	l.tasks.Wait()
	l.base.CloseIdleConnections()
	return nil
}

// endSession tells the server that the session is over. A server may not know
// that (405), and nothing depends on it.
func (l *Link) endSession() {
	ctx, cancel := context.WithTimeout(l.ctx, deleteLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, l.url.String(), nil)
	if err != nil {
		return
	}
	l.dress(req)
	if l.o.Account != nil && l.protected() {
		bear(req, l.o.Account.Held()) // the end is too short for a renewal
	}
	resp, err := l.client.Do(req)
	if err != nil {
		return
	}
	_ = resp.Body.Close() // nothing is read of it
}

// Failure returns why the last request of the handshake failed, if it did for
// a reason other than the server's own JSON-RPC error.
func (l *Link) Failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failure
}

// Refuse returns why initialize need not be tried after server/discover
// failed: the server cannot be reached, or wants a sign-in. (A 403 that asks for none may be of something before the
// server, and meant for the method alone.)
func (l *Link) Refuse() error {
	var e *Error
	if err := l.Failure(); errors.As(err, &e) && (e.Unreached || e.Status == 401 || e.Status == 403 && e.Denial != nil && e.Denial.Asks()) {
		return err
	}
	return nil
}

// Busy reports whether the last request of the handshake failed for a reason that
// says nothing of what the server speaks: it is overloaded, or failed itself.
func (l *Link) Busy() bool {
	var e *Error
	return errors.As(l.Failure(), &e) && (e.Status >= 500 && e.Status != http.StatusNotImplemented || e.Status == 429 || e.Status == 408)
}

func (l *Link) setFailure(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failure = err
}

// dress sets the headers that every request to the server carries.
func (l *Link) dress(req *http.Request) {
	for name, value := range l.o.Headers {
		if ours(name) {
			continue
		}
		req.Header.Set(name, value)
		if strings.EqualFold(name, "Host") {
			req.Host = value
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session != "" {
		req.Header.Set("Mcp-Session-Id", l.session)
	}
	if l.protocol != "" && req.Header.Get("Mcp-Protocol-Version") == "" {
		req.Header.Set("Mcp-Protocol-Version", l.protocol)
	}
}
