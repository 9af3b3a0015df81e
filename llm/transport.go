package llm

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// exchange is one HTTP request and what is learnt from its answer beside the
// answer itself. It belongs to the goroutine of the request.
type exchange struct {
	url   *url.URL
	body  []byte // nil: GET
	plain bool   // the answer is one JSON value about models, no stream
	key   string
	tools []Tool

	keyHeader string      // carries the key, where it is not Authorization
	also      http.Header // further headers
	header    http.Header // the owner's, which replace all others
	now       func() time.Time
	wire      *wire // who watches; nil for nobody

	alive func() // a sign of life
	first func() // a piece of the answer

	src io.Reader // the body, once there is one

	err          *Error // what the endpoint reported, or why it cannot be understood
	readErr      error  // how the body broke off
	model        string
	reasoningKey string // the member in which reasoning came
	extra        extras // the vendor's members of the message
	newerCalls   bool   // there were calls in the newer form
	packing      string // Content-Encoding, where it is one that cannot be read
	noise        string // what came that was no part of an answer
	cut          bool   // the body ended in the middle of an event
	head         []byte // how the body begins
	events       int
	sawChoice    bool
	done         bool // [DONE], or all of an answer that was no stream
}

func (x *exchange) where() string { return where(x.url) }

// refuse keeps the error the endpoint reports in its answer; the first counts.
func (x *exchange) refuse(f failure, body []byte) {
	if x.err == nil {
		x.err = classify(x.where(), f, body, x.tools)
	}
}

// broken keeps why the answer cannot be understood.
func (x *exchange) broken(what string) {
	if x.err == nil {
		x.err = &Error{Kind: KindProtocol, Status: http.StatusOK, Body: keep(x.head),
			Message: x.where() + " " + what + ". What came before it was kept. Try again, or use another endpoint."}
	}
}

// drain reads, after a complete answer, the little that is left, so that the
// connection can be used again. A server that keeps it open has 20 ms.
func (x *exchange) drain(cancel context.CancelCauseFunc) {
	if !x.done || x.src == nil {
		return
	}
	t := time.AfterFunc(20*time.Millisecond, func() { cancel(errEnough) })
	defer t.Stop()
	_, _ = io.CopyN(io.Discard, x.src, 64<<10) // if that fails the connection is closed, as it would be without
}

type exchangeKey struct{}

// door is what stands between go-openai and the network. It sends the body
// that was built, byte for byte, and hands back only answers that go-openai
// reads without loss; anything else becomes an *Error.
type door struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (d door) RoundTrip(req *http.Request) (*http.Response, error) {
	x, ok := req.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return nil, errors.New("a request to the model endpoint was made outside of an exchange")
	}
	if req.Body != nil {
		_ = req.Body.Close() // go-openai's version of the body, never read
	}
	out := req.Clone(req.Context())
	out.URL, out.Host = x.url, x.url.Host
	out.Header.Del("Connection")
	out.Header.Set("User-Agent", "steward")
	switch {
	case x.key == "":
	case x.keyHeader != "":
		out.Header.Del("Authorization")
		out.Header.Set(x.keyHeader, x.key)
	default:
		out.Header.Set("Authorization", "Bearer "+x.key)
	}
	for name, values := range x.also {
		out.Header[name] = values
	}
	for name, values := range x.header { // last: a gateway may want its own Authorization
		out.Header[http.CanonicalHeaderKey(name)] = values
	}
	if out.Body = nil; x.body != nil {
		out.Body = io.NopCloser(bytes.NewReader(x.body))
		out.ContentLength = int64(len(x.body))
		out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(x.body)), nil }
	}
	x.wire.goes(out, x.body)
	resp, err := d.next.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	x.wire.came(resp)
	x.alive()
	x.packing = unpack(resp)
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		if x.body != nil && !x.plain {
			x.src = resp.Body
			resp.Body = newReframer(resp.Body, x)
		}
		return resp, nil
	}
	return nil, refusal(resp, x)
}

// refusal reads the body of a refused request.
func refusal(resp *http.Response, x *exchange) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	cerr := resp.Body.Close()
	if len(body) == 0 && errors.Join(err, cerr) != nil && resp.StatusCode < 400 {
		return errors.Join(err, cerr)
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return &Error{Kind: KindConfig, Status: resp.StatusCode, Body: keep(body),
			Message: fmt.Sprintf("%s answered %s and points to %s. Redirects are not followed, because they could carry the key and the conversation elsewhere. If that address is right, enter it as the base URL.",
				x.where(), statusText(resp.StatusCode), redirectTarget(resp))}
	}
	f := readFailure(resp.StatusCode, body)
	if after := retryAfter(resp.Header, x.now()); after > 0 {
		f.after = after
	}
	f.status = resp.StatusCode
	return classify(x.where(), f, body, x.tools)
}

func redirectTarget(resp *http.Response) string {
	u, err := resp.Location()
	if err != nil {
		return "another address"
	}
	return firstLines(where(u) + u.EscapedPath()) // a query may carry a key
}

// newTransport is a transport with connections of its own.
func newTransport(o Options) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	proxy := http.ProxyFromEnvironment
	if o.Proxy != nil {
		proxy = usable(o.Proxy)
	}
	var trusted *tls.Config // nil: the system's certificates
	if o.Roots != nil {
		trusted = &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12}
	}
	return &http.Transport{
		Proxy:                  proxy,
		TLSClientConfig:        trusted,
		OnProxyConnectResponse: refusedByProxy,
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           8,
		MaxIdleConnsPerHost:    4,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		ExpectContinueTimeout:  time.Second,
		// A compressing proxy would hold an answer back until a block is full.
		DisableCompression: true,
	}
}

// watch ends a request whose endpoint is silent for too long. Until the answer
// begins, only the time until then counts: a model may read a long conversation
// without a sign of life. Its timers end with stop.
type watch struct {
	idle, start *time.Timer
	limit       time.Duration
	begun       bool
}

var (
	errSilent  = errors.New("the endpoint fell silent")
	errNoStart = errors.New("the answer did not begin in time")
	errEnough  = errors.New("the answer was complete")
)

func newWatch(cancel context.CancelCauseFunc, first, idle time.Duration) *watch {
	w := &watch{
		limit: idle,
		idle:  time.AfterFunc(time.Hour, func() { cancel(errSilent) }),
		start: time.AfterFunc(first, func() { cancel(errNoStart) }),
	}
	w.idle.Stop() // silence counts from the first piece
	return w
}

func (w *watch) alive() {
	if w.begun {
		w.idle.Reset(w.limit)
	}
}

func (w *watch) started() {
	w.start.Stop()
	w.begun = true
	w.alive()
}

// finishing shortens the wait once the endpoint has given a finish reason: only
// token counts and the end mark may still come.
func (w *watch) finishing() {
	w.limit = min(w.limit, 5*time.Second)
	w.alive()
}

func (w *watch) stop() {
	w.idle.Stop()
	w.start.Stop()
}
