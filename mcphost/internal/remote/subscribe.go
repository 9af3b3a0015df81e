package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strconv"
	"time"

	"steward/mcphost/internal/wire"
)

// subscribe keeps a subscriptions/listen of the newer era alive: the server's
// notifications come on the answer's stream, which is asked for again whenever it
// ends, however that happens, unless the server says that there is none (MCP
// 2026-07-28, subscriptions). What was reported meanwhile is lost, so lists are read
// again after each gap.
func (x *exchange) subscribe(ctx context.Context) {
	l := x.link
	frame := x.out.Frame
	for n, serial := 0, 0; ; n++ {
		started := time.Now()
		err := x.listen(ctx, frame, serial > 0)
		if ctx.Err() != nil {
			return
		}
		if d, ok := denied(err); ok && l.awaitDenied(ctx, d) {
			n = 0 // another has signed in
		} else if final(err) {
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
		serial++
		frame = withID(x.out.Frame, "listen-"+strconv.Itoa(serial)+"-"+strconv.FormatInt(time.Now().UnixNano(), 36))
	}
}

// final reports whether an error says that asking again is of no use.
func final(err error) bool {
	var e *Error
	if errors.As(err, &e) {
		switch e.Status {
		case http.StatusTooManyRequests, http.StatusRequestTimeout, http.StatusUnauthorized: // a token is renewed with the next request
			return false
		}
		return e.Status >= 300 && e.Status < 500
	}
	var rpc *wire.Error
	return errors.As(err, &rpc) && (rpc.Code == wire.CodeMethodNotFound || rpc.Code == wire.CodeInvalidRequest || rpc.Code == wire.CodeInvalidParams)
}

// listen asks for the server's reports once and takes them until the stream ends. again says that
// there was a stream before, and so a gap.
func (x *exchange) listen(ctx context.Context, frame []byte, again bool) error {
	l := x.link
	resp, err := l.send(ctx, x.header, frame, x.about, x.out.Sent)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // read to its end
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); resp.StatusCode >= 300 || kind != "text/event-stream" {
		body := explanation(resp)
		if resp.StatusCode >= 300 {
			return l.refusal(resp, body)
		}
		if ended, why := lastAnswer(body); ended {
			return why
		}
		return l.noAnswer(resp.StatusCode, "it sent %q instead of a stream", short(resp.Header.Get("Content-Type")))
	}
	if again && l.o.Missed != nil {
		l.o.Missed()
	}
	s := newStream(resp.Body, l.o.MaxFrame)
	for {
		e, err := s.next()
		if errors.Is(err, errTooLarge) {
			l.o.Warn("the server sent a message above the size limit; it was left out")
			continue
		}
		if err != nil {
			return nil // it broke off or was closed, which is the same
		}
		if len(e.data) == 0 || e.name != "" && e.name != "message" {
			continue
		}
		if ended, why := lastAnswer(e.data); ended {
			return why
		}
		x.feed.put(l.o.Tap.In(e.data)...)
	}
}

// lastAnswer reports whether a message is the answer that ends the stream, and the error that it
// holds, if any. A good end is the server's to make: it may be going away.
func lastAnswer(message []byte) (ended bool, err error) {
	var m map[string]json.RawMessage
	if json.Unmarshal(message, &m) != nil || m["method"] != nil || m["result"] == nil && m["error"] == nil {
		return false, nil
	}
	failure := m["error"]
	if failure == nil || bytes.Equal(failure, []byte("null")) {
		return true, nil
	}
	return true, wire.ReadError(failure)
}
