package llm

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// How much of an answer a Wire holds, in bytes, of its beginning and of its end.
const (
	wireHead = 512 << 10
	wireTail = 288 << 10
)

// Wire is one HTTP exchange with an endpoint as it went: the bytes of the request's body
// and of the answer's, as received. It holds no value of a header but the answer's content
// type, so no key, and no part of the address that could be one.
type Wire struct {
	URL    string    // without user information and query
	Sent   time.Time // when the request was about to go out
	Header []string  // names of the request's header fields, sorted; not that of the key

	Request []byte // never to be changed

	Status       int       // 0: no answer came
	Came         time.Time // when the answer began
	AnswerHeader []string  // names of the answer's header fields, sorted
	ContentType  string

	Answer []byte // its beginning
	Tail   []byte // its end, where Answer is not all
	Length int64  // of the whole answer as far as it was read, in bytes
}

type wireKey struct{}

// WithWire has on called with every exchange of a [Client.Stream] under the returned
// context, on the goroutine of Stream, when the exchange is over: one for each attempt.
// What is handed over is the caller's.
func WithWire(ctx context.Context, on func(Wire)) context.Context {
	return context.WithValue(ctx, wireKey{}, on)
}

// Address is the address of the endpoint without what may be secret in it, user information
// and query.
func (c *Client) Address() string { return plainURL(c.base) }

// PlainAddress is an address without what may be secret in it; "" where it is none.
func PlainAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return plainURL(u)
}

func plainURL(u *url.URL) string {
	plain := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return plain.String()
}

// wire watches one exchange; nil watches none. It belongs to the goroutine of the request.
type wire struct {
	on  func(Wire)
	now func() time.Time
	got Wire
}

func newWire(ctx context.Context, now func() time.Time) *wire {
	on, ok := ctx.Value(wireKey{}).(func(Wire))
	if !ok {
		return nil
	}
	return &wire{on: on, now: now}
}

// goes is told of the request as it is handed to the transport.
func (w *wire) goes(req *http.Request, body []byte) {
	if w == nil {
		return
	}
	w.got.URL, w.got.Sent, w.got.Request = plainURL(req.URL), w.now(), body
	w.got.Header = headerNames(req.Header)
}

// headerNames leaves out what only says that there is a key.
func headerNames(h http.Header) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(h)), func(name string) bool { return name == "Authorization" || name == "Proxy-Authorization" })
}

// came is told of the answer, before its body is read.
func (w *wire) came(resp *http.Response) {
	if w == nil || resp == nil {
		return
	}
	w.got.Status, w.got.Came = resp.StatusCode, w.now()
	w.got.AnswerHeader, w.got.ContentType = headerNames(resp.Header), resp.Header.Get("Content-Type")
	resp.Body = tapped{resp.Body, w}
}

// over hands the exchange out; where none began there is nothing to hand out.
func (w *wire) over() {
	if w == nil || w.got.Sent.IsZero() {
		return
	}
	w.got.Tail = w.got.Tail[max(len(w.got.Tail)-wireTail, 0):]
	w.on(w.got)
}

func (w *wire) read(b []byte) {
	w.got.Length += int64(len(b))
	if room := wireHead - len(w.got.Answer); room > 0 {
		n := min(room, len(b))
		w.got.Answer = append(w.got.Answer, b[:n]...)
		b = b[n:]
	}
	if len(b) == 0 {
		return
	}
	w.got.Tail = append(w.got.Tail, b...)
	if extra := len(w.got.Tail) - 2*wireTail; extra > 0 {
		w.got.Tail = append(w.got.Tail[:0], w.got.Tail[len(w.got.Tail)-wireTail:]...)
	}
}

// tapped is a body whose bytes the wire sees as they are read.
type tapped struct {
	io.ReadCloser
	w *wire
}

// Read implements io.Reader.
func (t tapped) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.w.read(p[:n])
	return n, err
}

// Reread reads the bytes of an answer that an endpoint gave with a 2xx status, as
// [Client.Stream] would have. Nothing is sent.
func Reread(ctx context.Context, contentType string, answer io.Reader) (Answer, error) {
	c, err := New(Endpoint{BaseURL: "http://127.0.0.1/v1", Model: "reread"}, Options{Transport: kept{contentType, answer}})
	if err != nil {
		return Answer{}, err
	}
	defer c.Close()
	c.pause = func(context.Context, time.Duration) error { return context.Canceled } // there is nobody to ask again
	return c.Stream(ctx, Request{Messages: []Message{{Role: RoleUser, Text: "?"}}}, func(Event) {})
}

// kept answers with bytes that came before.
type kept struct {
	contentType string
	answer      io.Reader
}

// RoundTrip implements http.RoundTripper.
func (k kept) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {k.contentType}}, Body: io.NopCloser(k.answer), ContentLength: -1,
	}, nil
}
