package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"runtime"
	"strings"
	"time"

	"steward/mcphost/internal/wire"
)

// post takes a message of the library: a notification is sent before it
// returns, so that the order stays; a request is sent by a goroutine.
func (l *Link) post(req *http.Request) (*http.Response, error) {
	frame, err := take(req)
	if err != nil {
		return nil, err
	}
	if modernVersion(req.Header) && read(frame).method == "notifications/cancelled" {
		return accepted(req), nil // a closed stream says it (MCP 2026-07-28, cancellation)
	}
	out, err := l.o.Tap.Out(frame)
	if err != nil {
		return nil, err
	}
	if !out.Request {
		l.notify(req.Context(), req.Header, out)
		return accepted(req), nil
	}
	x := &exchange{link: l, header: req.Header.Clone(), out: out, about: read(out.Frame), caller: req.Context()}
	resp, feed := answerNow(req, true)
	x.feed = feed
	modernEra := modernVersion(req.Header)
	if !l.spawn(func() { x.run(modernEra) }) {
		feed.close(errClosed)
		return nil, errClosed
	}
	runtime.Gosched() // the request goes first, then what the library does while it waits
	return resp, nil
}

func modernVersion(h http.Header) bool { return h.Get("Mcp-Protocol-Version") >= modern }

// spawn runs f on a goroutine that Close waits for; false if it is too late.
func (l *Link) spawn(f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.ctx.Err() != nil {
		return false
	}
	l.tasks.Go(f)
	return true
}

// notify sends a message that has no answer.
func (l *Link) notify(ctx context.Context, header http.Header, out *wire.Outgoing) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyLimit)
	defer cancel()
	stop := context.AfterFunc(l.ctx, cancel)
	defer stop()
	about := read(out.Frame)
	resp, err := l.send(ctx, header, out.Frame, about, out.Sent)
	if err != nil {
		l.o.Warn(fmt.Sprintf("the message %q did not reach the server: %v", about.method, err))
		return
	}
	defer discard(resp)
	if resp.StatusCode >= 300 {
		l.o.Warn(fmt.Sprintf("the server answered the message %q with %s", about.method, resp.Status))
	}
}

// reply sends the Tap's own answer to a request of the server.
func (l *Link) reply(frame []byte) error {
	if l.o.SSE {
		return l.replyOld(frame)
	}
	ctx, cancel := context.WithTimeout(l.ctx, notifyLimit)
	defer cancel()
	resp, err := l.send(ctx, http.Header{}, frame, request{}, nil)
	if err != nil {
		return err
	}
	defer discard(resp)
	if resp.StatusCode >= 300 {
		return l.refusal(resp, nil)
	}
	return nil
}

// send posts one message and returns the response.
func (l *Link) send(ctx context.Context, header http.Header, frame []byte, about request, sent func()) (*http.Response, error) {
	if sent != nil {
		ctx = whenSent(ctx, sent)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url.String(), bytes.NewReader(frame))
	if err != nil {
		return nil, err
	}
	// net/http sends a POST again by itself only where it knows that nothing of it
	// has left, or that the server did not look at it.
	if v := header.Get("Mcp-Protocol-Version"); v != "" {
		req.Header.Set("Mcp-Protocol-Version", v)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	l.dress(req)
	if s := about.session; s != nil {
		if req.Header.Del("Mcp-Session-Id"); *s != "" {
			req.Header.Set("Mcp-Session-Id", *s)
		}
	}
	l.mirror(req.Header, about)
	return l.do(req)
}

// whenSent has sent called when a request with this context has been written whole.
func whenSent(ctx context.Context, sent func()) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(i httptrace.WroteRequestInfo) {
			if i.Err == nil {
				sent()
			}
		},
	})
}

// discard ends a response of which nothing more is wanted. One that says that it is
// short is read so that the connection can be used again; another may never end.
func discard(resp *http.Response) {
	if resp.ContentLength >= 0 && resp.ContentLength <= 4<<10 {
		_, _ = io.Copy(io.Discard, resp.Body) // nothing is lost with it
	}
	_ = resp.Body.Close()
}

// ended closes a stream that has brought the answer, once the server has ended it, as it should at once (MCP 2025-11-25
// and 2026-07-28, transports): only then can its connection carry the next request.
func ended(body io.ReadCloser) {
	t := time.AfterFunc(endLimit, func() { _ = body.Close() }) // whoever reads gets an error
	defer t.Stop()
	_, _ = io.CopyN(io.Discard, body, 4<<10) // nothing is lost with it
	_ = body.Close()
}

// exchange is one request and its answer.
type exchange struct {
	link   *Link
	header http.Header
	out    *wire.Outgoing
	about  request
	feed   *feed
	caller context.Context
}

// run sends the request and feeds what comes to the library. In the newer era
// the end of the caller's context closes the stream, which tells the server; in
// the older one the stream is read on, for an answer that comes too late.
func (x *exchange) run(modernEra bool) {
	l := x.link
	defer x.feed.close(io.EOF)
	ctx, cancel := context.WithCancel(l.ctx)
	defer cancel()
	stop := context.AfterFunc(x.caller, func() {
		switch {
		case x.out.Answered():
			return //; the stream is about to end by itself
		case modernEra:
			cancel()
			return
		}
		t := time.AfterFunc(lateLimit, cancel)
		context.AfterFunc(ctx, func() { t.Stop() })
	})
	defer stop()
	if x.about.method == "subscriptions/listen" {
		x.subscribe(ctx)
		return
	}
	handshake := x.about.method == "initialize" || x.about.method == "server/discover"
	err := x.once(ctx, true)
	if handshake {
		l.setFailure(err) // where it is a denial, the start signs in, and begins anew
	} else {
		err = x.signIn(ctx, err)
	}
	if err != nil {
		x.feed.put(x.out.Fail(err))
	}
}

// once sends the request and reads its answer. Its error means that there is
// none.
func (x *exchange) once(ctx context.Context, first bool) error {
	l := x.link
	if x.about.method == "initialize" {
		l.mu.Lock()
		l.session, l.protocol = "", ""
		l.mu.Unlock()
	}
	id, generation := l.sessionNow()
	resp, err := l.send(ctx, x.header, x.out.Frame, x.about, x.out.Sent)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // all that is wanted has been read
	switch {
	case resp.StatusCode == http.StatusNotFound && id != "" && first:
		return x.again(ctx, resp, generation)
	case resp.StatusCode >= 300:
		return x.refused(resp)
	}
	if x.about.method == "initialize" {
		id, err := l.sessionID(resp)
		if err != nil {
			return err
		}
		l.begin(id, x.out.Frame)
	}
	if packed := resp.Header.Get("Content-Encoding"); packed != "" && !strings.EqualFold(packed, "identity") {
		// gzip, which is asked for, has been unpacked and the header taken away.
		return l.noAnswer(resp.StatusCode, "it is packed as %q, which was not asked for", short(packed))
	}
	kind, params, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch charset := strings.ToLower(params["charset"]); charset {
	case "", "utf-8", "utf8", "us-ascii":
	default:
		return l.noAnswer(resp.StatusCode, "it is written in %q, not in UTF-8", charset)
	}
	switch {
	case kind == "text/event-stream":
		return x.stream(ctx, resp)
	case kind == "application/json" || strings.HasSuffix(kind, "+json"):
		return x.whole(resp)
	case resp.StatusCode != http.StatusOK:
		return l.noAnswer(resp.StatusCode, "only %s, without content", resp.Status)
	case kind != "text/html":
		return x.mislabelled(resp)
	}
	return x.noJSON(resp)
}

// noJSON explains an answer that is something else.
func (x *exchange) noJSON(resp *http.Response) error {
	l := x.link
	e := l.noAnswer(resp.StatusCode, "it sent %q instead of JSON", short(resp.Header.Get("Content-Type")))
	var ours *Error
	if errors.As(e, &ours) {
		ours.Hint = "It is not an MCP server, or something between here and there (a sign-in page, a proxy) answers for it."
	}
	return e
}

func short(s string) string {
	if len(s) > 100 {
		return strings.ToValidUTF8(s[:100], "") + "…"
	}
	return s
}

// refused takes an HTTP error; its body may be a JSON-RPC answer.
func (x *exchange) refused(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	signIn := resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden && resp.Header.Get("WWW-Authenticate") != ""
	if err == nil && !signIn {
		if answer := x.errorAnswer(body); answer != nil {
			x.take(answer)
		}
		if !x.out.Open() {
			return nil
		}
	}
	return x.link.refusal(resp, body)
}

// errorAnswer returns the JSON-RPC answer that the body of an HTTP error holds; nil for none. In the
// newer era servers may leave its id out (MCP 2026-07-28, transports), and the errors that only they
// know say of which era they are.
func (x *exchange) errorAnswer(body []byte) []byte {
	var m map[string]json.RawMessage
	if json.Unmarshal(body, &m) != nil || m["jsonrpc"] == nil {
		return nil
	}
	if id := m["id"]; id != nil && string(id) != "null" {
		return body
	}
	e := wire.ReadError(m["error"])
	if m["error"] == nil || !modernVersion(x.header) && (e.Code > codeHeaderMismatch || e.Code < codeUnsupportedVersion) {
		return nil
	}
	return withRawID(body, x.about.id)
}

// Errors of the newer era (MCP 2026-07-28, error codes).
const (
	codeHeaderMismatch     = -32020
	codeUnsupportedVersion = -32022
)

// whole takes an answer that is one JSON text.
func (x *exchange) whole(resp *http.Response) error {
	l := x.link
	body, err := io.ReadAll(io.LimitReader(resp.Body, l.o.MaxFrame+1))
	if err != nil {
		return l.noAnswer(resp.StatusCode, "its answer broke off (%v)", err)
	}
	if int64(len(body)) > l.o.MaxFrame {
		return l.noAnswer(resp.StatusCode, "its answer is larger than %s", wire.SizeText(int(l.o.MaxFrame)))
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return l.noAnswer(resp.StatusCode, "its answer is empty")
	}
	if isEvents(body) {
		_, _, _ = x.events(bytes.NewReader(body)) // its end is that of the body
	} else {
		x.take(body)
	}
	if x.out.Open() {
		return l.noAnswer(resp.StatusCode, "what it sent is no answer to this request")
	}
	return nil
}

// mislabelled takes an answer whose content type is neither JSON nor a stream, as some servers send
// it: if it holds messages, it is one.
func (x *exchange) mislabelled(resp *http.Response) error {
	var begin [512]byte
	n, err := io.ReadFull(resp.Body, begin[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return x.link.noAnswer(resp.StatusCode, "its answer broke off (%v)", err)
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(begin[:n], []byte("\xef\xbb\xbf")))
	switch {
	case len(text) == 0:
		return x.link.noAnswer(resp.StatusCode, "its answer is empty")
	case text[0] != '{' && text[0] != '[' && !isEvents(text):
		return x.noJSON(resp)
	}
	again := *resp
	again.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(begin[:n]), resp.Body), resp.Body}
	return x.whole(&again)
}

// isEvents reports whether a text begins as a stream of events does.
func isEvents(b []byte) bool {
	for _, field := range []string{"event:", "data:", "id:", "retry:", ":"} {
		if bytes.HasPrefix(b, []byte(field)) {
			return true
		}
	}
	return false
}

// stream reads a stream until the answer has come. A stream that breaks off is
// taken up again where the server numbers its events (MCP 2025-11-25,
// resumability); that asks for the rest of the answer and sends nothing anew.
func (x *exchange) stream(ctx context.Context, resp *http.Response) error {
	l := x.link
	pause, last, idle := time.Duration(0), "", 0
	for {
		lastID, retry, err := x.events(resp.Body)
		if !x.out.Open() {
			x.feed.close(io.EOF) // the library has all of it
			ended(resp.Body)
			return nil
		}
		_ = resp.Body.Close() // read to its end, or not wanted
		if errors.Is(err, errTooLarge) || errors.Is(err, errEndless) {
			return l.noAnswer(resp.StatusCode, "its answer is larger than %s", wire.SizeText(int(l.o.MaxFrame)))
		}
		if lastID != "" && lastID != last {
			last, idle = lastID, 0
		} else {
			idle++
		}
		if last == "" || idle > maxResumes || modernVersion(x.header) {
			if err != nil && !errors.Is(err, io.EOF) {
				return l.noAnswer(resp.StatusCode, "the stream broke off (%v)", err)
			}
			return l.noAnswer(resp.StatusCode, "it closed the stream without one")
		}
		if pause = max(retry, shortestPause); retry == 0 {
			pause = min(firstPause<<idle, longestPause)
		}
		if !wait(ctx, pause) {
			return context.Cause(ctx)
		}
		next, err := l.get(ctx, x.header, last)
		switch {
		case err != nil:
			resp = emptyResponse(resp)
		case next.StatusCode >= 300:
			defer discard(next)
			// With the status of the request itself: that one was not refused.
			return l.noAnswer(resp.StatusCode, "the stream broke off, and could not be taken up again (%s)", next.Status)
		default:
			resp = next
		}
	}
}

// emptyResponse stands for a stream that could not be opened.
func emptyResponse(resp *http.Response) *http.Response {
	return &http.Response{StatusCode: resp.StatusCode, Body: http.NoBody}
}

// events feeds the events of a body until the answer has come or it ends.
func (x *exchange) events(body io.Reader) (lastID string, retry time.Duration, err error) {
	s := newStream(body, x.link.o.MaxFrame)
	for {
		e, err := s.next()
		if err != nil {
			return s.lastID, s.retry, err
		}
		if len(e.data) == 0 || e.name != "" && e.name != "message" {
			continue
		}
		x.take(e.data)
		if !x.out.Open() && x.caller.Err() == nil {
			return s.lastID, s.retry, nil
		}
		// Where the caller has gone, what still comes is read to the end of the
		// stream: it may be the answer.
	}
}

// take hands on a message of the server. Who waits for an answer has it from the Tap, and goes on before the library
// is given its share of it.
func (x *exchange) take(message []byte) {
	messages := x.link.o.Tap.In(message)
	runtime.Gosched()
	x.feed.put(messages...)
}

// wait pauses; false if the context ended before.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
