package remote

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"time"
)

// get opens a stream by GET.
func (l *Link) get(ctx context.Context, header http.Header, lastID string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.url.String(), nil)
	if err != nil {
		return nil, err
	}
	if v := header.Get("Mcp-Protocol-Version"); v != "" {
		req.Header.Set("Mcp-Protocol-Version", v)
	}
	req.Header.Set("Accept", "text/event-stream")
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	l.dress(req)
	return l.do(req)
}

// listen takes the library's GET after initialize: the channel on which the
// server speaks unasked (MCP 2025-11-25, listening for messages). The library
// gets its stream at once; behind it the channel is opened, and opened again
// whenever it ends. A server that has none, which it may say in any way, is
// left in peace until a new session begins.
func (l *Link) listen(req *http.Request) (*http.Response, error) {
	header := req.Header.Clone()
	l.mu.Lock()
	l.protocol = header.Get("Mcp-Protocol-Version")
	l.mu.Unlock()
	resp, feed := answerNow(req, true)
	if !l.spawn(func() { l.pushes(header, feed) }) {
		feed.close(errClosed)
		return nil, errClosed
	}
	return resp, nil
}

// pushes keeps the channel open until the link is closed. The library's stream
// stays open even when there is no channel: its end would mean something.
func (l *Link) pushes(header http.Header, feed *feed) {
	defer feed.close(errClosed)
	lastID := ""
	for failures := 0; ; {
		ctx, cancel := context.WithCancel(l.ctx)
		l.mu.Lock()
		l.push = cancel
		generation := l.generation
		l.mu.Unlock()
		id, retry, got, more := l.pushOnce(ctx, header, feed, lastID)
		if !more {
			<-ctx.Done() // a new session has begun, or the link has ended
		}
		cancel()
		if l.ctx.Err() != nil {
			return
		}
		if _, now := l.sessionNow(); now != generation || !more {
			lastID, failures = "", 0
			continue
		}
		if lastID = id; got {
			failures = 0
		}
		pause := min(firstPause<<failures, longestPause)
		failures = min(failures+1, 10)
		if !wait(l.ctx, max(pause, retry)) {
			return
		}
	}
}

// pushOnce opens the channel and feeds what comes. more says whether it is
// worth opening again; got, whether something came.
func (l *Link) pushOnce(ctx context.Context, header http.Header, feed *feed, lastID string) (id string, retry time.Duration, got, more bool) {
	resp, err := l.get(ctx, header, lastID)
	if err != nil {
		return lastID, 0, false, l.ctx.Err() == nil
	}
	defer func() { _ = resp.Body.Close() }() // read to its end
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch s := resp.StatusCode; {
	case denial(resp).Asks():
		return lastID, 0, false, l.await(ctx, resp)
	case s == http.StatusTooManyRequests, s >= 500 && s != http.StatusNotImplemented:
		return lastID, 0, false, true
	case s >= 300, kind != "text/event-stream":
		return lastID, 0, false, false
	}
	s := newStream(resp.Body, l.o.MaxFrame)
	for {
		e, err := s.next()
		if errors.Is(err, errTooLarge) {
			l.o.Warn("the server pushed a message above the size limit; it was left out")
			continue
		}
		if err != nil {
			if s.lastID != "" {
				lastID = s.lastID
			}
			return lastID, s.retry, got, l.ctx.Err() == nil
		}
		if got = true; len(e.data) > 0 && (e.name == "" || e.name == "message") {
			feed.put(l.o.Tap.In(e.data)...)
		}
	}
}

// subscribe keeps a subscriptions/listen of the newer era alive: the server's
// notifications come on the answer's stream, which is asked for again when it
// breaks off (MCP 2026-07-28, subscriptions).
func (x *exchange) subscribe(ctx context.Context) {
	l := x.link
	frame := x.out.Frame
	for n := 0; ; n++ {
		started := time.Now()
		err := x.once(ctx, true)
		if !x.out.Open() || ctx.Err() != nil {
			return
		}
		var e *Error
		if errors.As(err, &e) && e.Denial != nil && e.Denial.Asks() && l.awaitDenied(ctx, *e.Denial) {
			x.out.Frame = withID(frame, "listen-"+time.Now().Format("150405.000000"))
			continue
		}
		if errors.As(err, &e) && e.Status >= 300 && e.Status < 500 && e.Status != http.StatusTooManyRequests {
			x.feed.put(x.out.Fail(err))
			l.o.Warn("the server does not report changes: " + err.Error())
			return
		}
		if time.Since(started) > longestPause {
			n = 0
		}
		if !wait(ctx, min(firstPause<<min(n, 10), longestPause)) {
			return
		}
		x.out.Frame = withID(frame, "listen-"+time.Now().Format("150405.000000"))
	}
}
