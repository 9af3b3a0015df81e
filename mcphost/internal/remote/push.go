package remote

import (
	"context"
	"errors"
	"fmt"
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
	var c channel
	for failures := 0; ; {
		ctx, cancel := context.WithCancel(l.ctx)
		l.mu.Lock()
		l.push = cancel
		generation := l.generation
		l.mu.Unlock()
		if generation != c.generation {
			c, failures = channel{generation: generation}, 0
		}
		c.once(ctx, l, header, feed)
		if c.none && c.forgotten && c.worked {
			c.none, c.worked = false, false // should the next one be missing too, there is none
			if err := l.renew(ctx, generation, header); err != nil {
				l.o.Warn(fmt.Sprintf("the server has forgotten the session, and a new one could not be begun: %v", err))
				c.worked = true
			}
		}
		if c.none {
			<-ctx.Done() // a new session has begun, or the link has ended
		}
		cancel()
		if l.ctx.Err() != nil {
			return
		}
		if _, now := l.sessionNow(); now != generation || c.none {
			continue
		}
		if c.got {
			failures = 0
		}
		pause := min(firstPause<<failures, longestPause)
		failures = min(failures+1, 10)
		if !wait(l.ctx, max(pause, c.retry)) {
			return
		}
	}
}

// channel is what is known of the channel of one session.
type channel struct {
	generation int
	lastID     string        // Last-Event-ID
	retry      time.Duration // asked for by the server; 0 = not
	worked     bool          // it has been open once
	missed     bool          // it could not be opened, so that reports may have been missed
	none       bool          // it is not worth opening again
	forgotten  bool          // because of a 404
	got        bool          // something came
}

// once opens the channel and feeds what comes until it ends.
func (c *channel) once(ctx context.Context, l *Link, header http.Header, feed *feed) {
	c.retry, c.got, c.none, c.forgotten = 0, false, false, false
	resp, err := l.get(ctx, header, c.lastID)
	if err != nil {
		c.missed = true
		return
	}
	defer func() { _ = resp.Body.Close() }() // read to its end
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch s := resp.StatusCode; {
	case denial(resp).Asks():
		c.missed, c.none = true, !l.await(ctx, resp)
		return
	case s == http.StatusTooManyRequests, s >= 500 && s != http.StatusNotImplemented:
		c.missed = true
		return
	case s >= 300, kind != "text/event-stream":
		c.none, c.forgotten = true, s == http.StatusNotFound
		return
	}
	if c.missed && c.lastID == "" && l.o.Missed != nil {
		l.o.Missed() // nothing tells what was reported meanwhile
	}
	c.worked, c.missed = true, false
	s := newStream(resp.Body, l.o.MaxFrame)
	defer func() {
		c.retry = s.retry
		if s.lastID != "" {
			c.lastID = s.lastID
		}
	}()
	for {
		e, err := s.next()
		if errors.Is(err, errTooLarge) {
			l.tooLarge(feed, e.data)
			continue
		}
		if err != nil {
			return
		}
		if c.got = true; len(e.data) > 0 && (e.name == "" || e.name == "message") {
			feed.put(l.o.Tap.In(e.data)...)
		}
	}
}

// tooLarge takes the beginning of a message above the limit: where it is the answer to a request,
// that request has failed.
func (l *Link) tooLarge(feed *feed, begin []byte) {
	l.o.Warn("the server sent a message above the size limit; it was left out")
	feed.put(l.o.Tap.TooLarge(begin)...)
}
