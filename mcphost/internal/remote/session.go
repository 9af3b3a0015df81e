package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strconv"

	"steward/mcphost/internal/wire"
)

// sessionNow returns the session's id, and a number that changes with it.
func (l *Link) sessionNow() (id string, generation int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session, l.generation
}

// sessionID takes the session's id from the answer to initialize (MCP 2025-11-25, session management).
func (l *Link) sessionID(resp *http.Response) (string, error) {
	id := resp.Header.Get("Mcp-Session-Id")
	if len(id) > maxSessionID {
		return "", l.noAnswer(resp.StatusCode, "its session id is longer than %d bytes", maxSessionID)
	}
	for _, c := range []byte(id) {
		if c < 0x21 || c > 0x7E {
			return "", l.noAnswer(resp.StatusCode, "its session id holds characters that are not allowed")
		}
	}
	return id, nil
}

// begin makes a session the current one, and keeps the request that began it, to begin again when the server has
// forgotten the session.
func (l *Link) begin(id string, frame []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session = id
	l.generation++
	l.initialize = frame
}

// again begins a new session after a 404 (MCP 2025-11-25, session management),
// once, and sends the request again: it was not processed. A tool call is never
// sent again without being asked for.
func (x *exchange) again(ctx context.Context, resp *http.Response, generation int) error {
	l := x.link
	body := explanation(resp)
	if err := l.renew(ctx, generation, x.header); err != nil {
		return fmt.Errorf("%w; a new session could not be begun: %w", l.refusal(resp, body), err)
	}
	if x.about.method == "tools/call" {
		return &Error{
			Status:  resp.StatusCode,
			Message: fmt.Sprintf("the server %s had forgotten the session (404) and most likely did not run the call", show(l.url)),
			Hint:    "A new session has begun; the call was not sent again.",
		}
	}
	return x.once(ctx, false)
}

// renew begins a new session unless another goroutine has. Until it has begun the old id stays, so that other requests
// find the session forgotten too, and wait for the new one; where it fails, the next one tries again.
func (l *Link) renew(ctx context.Context, generation int, header http.Header) error {
	ctx, cancel := context.WithTimeout(ctx, renewLimit)
	defer cancel()
	select {
	case l.renewing <- struct{}{}:
		defer func() { <-l.renewing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	l.mu.Lock()
	frame, now := l.initialize, l.generation
	l.mu.Unlock()
	if now != generation {
		return nil
	}
	if frame == nil {
		return errors.New("no session had been begun")
	}
	id, said, err := l.shakeHands(ctx, withID(frame, "session-"+strconv.Itoa(generation+1)))
	if err != nil {
		return err
	}
	ready := []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	l.o.Tap.Note(true, nil, ready)
	done, err := l.send(ctx, header, ready, request{session: &id}, nil)
	if err != nil {
		return err
	}
	discard(done)
	l.begin(id, frame)
	l.mu.Lock()
	if l.push != nil {
		l.push() // the stream of the old session; it is opened again for the new one
	}
	l.mu.Unlock()
	if _, first := l.o.Tap.Handshake(); !sameServer(first, said) {
		err := &Error{
			Message: fmt.Sprintf("the server %s had forgotten the session, and says other things of itself than before", show(l.url)),
			Hint:    "It is connected to anew.",
		}
		l.fail(err)
		return err
	}
	l.o.Warn("the server had forgotten the session; a new one has begun")
	if l.o.Renewed != nil {
		l.o.Renewed()
	}
	return nil
}

// shakeHands sends initialize again, and returns the new session's id and what the server says of itself.
func (l *Link) shakeHands(ctx context.Context, initialize []byte) (id string, said json.RawMessage, err error) {
	l.o.Tap.Note(true, nil, initialize)
	resp, err := l.send(ctx, http.Header{}, initialize, request{method: "initialize", session: new(string)}, nil)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = resp.Body.Close() }() // all that is wanted has been read
	if resp.StatusCode >= 300 {
		return "", nil, l.outgrown(resp.StatusCode, l.refusal(resp, nil))
	}
	if said, err = l.begun(resp); err != nil {
		return "", nil, l.outgrown(resp.StatusCode, err)
	}
	id, err = l.sessionID(resp)
	return id, said, err
}

// outgrown takes a refusal to begin a session again. Where it is not for now, nor for want of a sign-in, there may
// be a server of another era by now: the link ends, so that all begins anew.
func (l *Link) outgrown(status int, err error) error {
	switch {
	case status >= 500, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout,
		status == http.StatusUnauthorized, status == http.StatusForbidden:
	default:
		l.fail(err)
	}
	return err
}

// sameServer reports whether two results of initialize agree in what a session is built on. Where they do
// not, a session that goes on would offer what is no more, and hide what is new.
func sameServer(a, b json.RawMessage) bool {
	var before, now map[string]json.RawMessage
	if json.Unmarshal(a, &before) != nil || json.Unmarshal(b, &now) != nil {
		return false
	}
	return wire.Text(before["protocolVersion"]) == wire.Text(now["protocolVersion"]) && wire.Text(before["instructions"]) == wire.Text(now["instructions"]) &&
		reflect.DeepEqual(decoded(before["capabilities"]), decoded(now["capabilities"]))
}

func decoded(raw json.RawMessage) (v any) {
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return v
}

// begun returns the result of initialize.
func (l *Link) begun(resp *http.Response) (json.RawMessage, error) {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	var body []byte
	var err error
	if kind == "text/event-stream" {
		s := newStream(resp.Body, maxErrorBody)
		var e event
		for err == nil && !isResult(e.data) {
			e, err = s.next()
		}
		body = e.data
	} else {
		body, err = io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	}
	l.o.Tap.Note(false, nil, body)
	if err != nil || !isResult(body) {
		return nil, l.noAnswer(resp.StatusCode, "initialize was not answered with a result")
	}
	return resultOf(body), nil
}

func isResult(body []byte) bool {
	result := resultOf(body)
	return len(result) > 0 && result[0] == '{'
}

func resultOf(body []byte) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(body, &m) != nil {
		return nil
	}
	return m["result"]
}

// withID gives a request another id.
func withID(frame []byte, id string) []byte {
	return withRawID(frame, json.RawMessage(strconv.Quote(id)))
}

// withRawID gives a message another id, as it is written.
func withRawID(frame []byte, id json.RawMessage) []byte {
	var m map[string]json.RawMessage
	if json.Unmarshal(frame, &m) != nil || len(id) == 0 {
		return frame
	}
	m["id"] = id
	out, err := json.Marshal(m)
	if err != nil {
		return frame
	}
	return out
}
