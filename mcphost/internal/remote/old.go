package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"steward/mcphost/internal/wire"
)

// openOld opens the one stream of HTTP with SSE (MCP 2024-11-05, transports):
// its first event names the address to post to, all others are messages.
func (l *Link) openOld(req *http.Request) (*http.Response, error) {
	resp, feed := answerNow(req, false)
	l.mu.Lock()
	l.old = feed
	l.mu.Unlock()
	if !l.spawn(func() { l.readOld(feed) }) {
		feed.close(errClosed)
		return nil, errClosed
	}
	return resp, nil
}

// readOld feeds the stream until it ends, and the link with it: a session of
// this transport is its stream.
func (l *Link) readOld(feed *feed) {
	err := l.streamOld(feed)
	if l.ctx.Err() == nil {
		l.setFailure(err)
		l.fail(err)
	}
	feed.close(err)
}

func (l *Link) streamOld(feed *feed) error {
	resp, err := l.get(l.ctx, http.Header{}, "")
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // read to its end
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode >= 300:
		body := explanation(resp)
		return l.refusal(resp, body)
	case kind != "text/event-stream":
		return l.noAnswer(resp.StatusCode, "it sent %q instead of a stream", short(resp.Header.Get("Content-Type")))
	}
	s := newStream(resp.Body, l.o.MaxFrame)
	named := false
	for {
		e, err := s.next()
		switch {
		case errors.Is(err, errTooLarge):
			l.tooLarge(feed, e.data)
		case err != nil:
			return &Error{Message: fmt.Sprintf("the server %s closed the stream", show(l.url)), Err: err}
		case e.name == "endpoint" && !named:
			if err := l.nameOld(string(e.data), feed); err != nil {
				return err
			}
			named = true
		case len(e.data) > 0 && (e.name == "" || e.name == "message"):
			feed.put(l.o.Tap.In(e.data)...)
		}
	}
}

// nameOld takes the address to post to, which must be of the same origin.
func (l *Link) nameOld(data string, feed *feed) error {
	u, err := l.url.Parse(strings.TrimSpace(data))
	if err != nil {
		return &Error{Message: fmt.Sprintf("the server %s named no usable address to post to", show(l.url)), Err: err}
	}
	if !sameOrigin(u, l.url) {
		return &Error{
			Message: fmt.Sprintf("the server %s wants messages posted to another place, %s", show(l.url), show(u)),
			Hint:    "That is refused, because it would carry them and the server's headers there.",
		}
	}
	u.User = l.url.User
	l.mu.Lock()
	l.endpoint = u
	l.mu.Unlock()
	feed.endpoint(u.String())
	return nil
}

// Named reports whether the server has named an address to post to, and so speaks the transport of
// 2024-11-05.
func (l *Link) Named() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.endpoint != nil
}

// postOld takes a message of the library; its answer comes on the stream. A notification is sent
// before it returns, so that the order stays. A request is sent by a goroutine, because servers may
// hold the POST back until they have answered on the stream.
func (l *Link) postOld(req *http.Request) (*http.Response, error) {
	frame, err := take(req)
	if err != nil {
		return nil, err
	}
	out, err := l.o.Tap.Out(frame)
	if err != nil {
		return nil, err
	}
	if !out.Request {
		ctx, cancel := context.WithTimeout(req.Context(), notifyLimit)
		defer cancel()
		if err := l.sendOld(ctx, out.Frame, out); err != nil {
			l.o.Warn(fmt.Sprintf("the message %q did not reach the server: %v", read(out.Frame).method, err))
		}
		return accepted(req), nil
	}
	ctx := context.WithoutCancel(req.Context())
	if !l.spawn(func() { l.requestOld(ctx, req.Context(), out) }) {
		return nil, errClosed
	}
	return accepted(req), nil
}

// requestOld posts a request. Whoever waits for its answer has a limit of its own, and a POST that is
// held back longer than any answer is given up.
func (l *Link) requestOld(ctx, caller context.Context, out *wire.Outgoing) {
	ctx, cancel := context.WithTimeout(ctx, lateLimit)
	defer cancel()
	err := l.signInOld(ctx, caller, out, l.sendOld(ctx, out.Frame, out))
	if err == nil {
		return
	}
	l.mu.Lock()
	feed := l.old
	l.mu.Unlock()
	if message := out.Fail(err); message != nil && feed != nil {
		feed.put(message)
	}
}

// replyOld sends the Tap's own answer to a request of the server.
func (l *Link) replyOld(frame []byte) error {
	ctx, cancel := context.WithTimeout(l.ctx, notifyLimit)
	defer cancel()
	return l.sendOld(ctx, frame, nil)
}

// sendOld posts one message. out is nil for an answer of our own.
func (l *Link) sendOld(ctx context.Context, frame []byte, out *wire.Outgoing) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(l.ctx, cancel)
	defer stop()
	l.mu.Lock()
	endpoint := l.endpoint
	l.mu.Unlock()
	if endpoint == nil {
		return l.noAnswer(0, "it has named no address to post to")
	}
	if out != nil {
		ctx = whenSent(ctx, out.Sent)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint.String(), bytes.NewReader(frame))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	l.dress(req)
	resp, err := l.do(req)
	if err != nil {
		return err
	}
	defer discard(resp)
	if resp.StatusCode < 300 {
		return nil
	}
	body := explanation(resp)
	return l.refusal(resp, body)
}
