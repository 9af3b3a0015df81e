package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// endedKept is how many ended requests are remembered, to tell a late answer from
// one that belongs to nothing.
const endedKept = 1024

// Tap reads and writes the messages of one connection. All methods may be called
// from any goroutine. Close ends it and its goroutines.
type Tap struct {
	o        Options
	log      *Log
	requests *requests

	mu        sync.Mutex
	expected  map[string]*Pending // by token, until released
	open      map[string]*call    // by id, until answered
	ended     map[string]pastCall
	endedIDs  []string
	noise     noiseCount
	modern    bool
	method    string
	handshake json.RawMessage
	closed    error
}

// call is one request on its way.
type call struct {
	id      string // as written
	method  string
	pending *Pending // nil for requests the library makes by itself
}

func (c *call) token() string {
	if c.pending == nil {
		return ""
	}
	return c.pending.want.Token
}

// pastCall is what is remembered of a request that has ended; not its answer, which may
// be large.
type pastCall struct {
	token, method string
	answered      bool
}

// NewTap makes a Tap. Attach must be called before the server can be answered.
func NewTap(o Options) *Tap {
	if o.MaxFrame <= 0 {
		o.MaxFrame = DefaultMaxFrame
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = &Log{}
	}
	return &Tap{
		o: o, log: o.Log, requests: newRequests(o.MaxFrame, o.Handle),
		expected: map[string]*Pending{}, open: map[string]*call{}, ended: map[string]pastCall{},
	}
}

// Attach says how the Tap sends its own answers to the server's requests: one message
// a call, without newline, one call at a time. reply may block; its error ends nothing,
// the transport reports its own failure.
func (t *Tap) Attach(reply func(frame []byte) error) {
	t.requests.attach(func(frame []byte) {
		t.record(true, frame, nil)
		_ = reply(frame)
	})
}

// Expect registers a request. Release the Pending when nobody waits any more.
func (t *Tap) Expect(e Expectation) (*Pending, error) {
	if e.Token == "" {
		return nil, errors.New("a request needs a token")
	}
	p := newPending(t, e)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed != nil {
		return nil, fmt.Errorf("the connection has ended: %w", t.closed)
	}
	if t.expected[e.Token] != nil {
		return nil, fmt.Errorf("the token %q is in use", e.Token)
	}
	t.expected[e.Token] = p
	return p, nil
}

// rejected is what the library gets for a request that must not leave. It ends that
// request alone.
func rejected(err error) error {
	return &jsonrpc.Error{Code: CodeRejected, Message: err.Error()}
}

// Out takes one message of the library on its way to the server. It returns what to
// send; an error (a *jsonrpc.Error with CodeRejected) means that nothing may be sent.
func (t *Tap) Out(frame []byte) (*Outgoing, error) {
	var id, params []byte
	var method string
	members(frame, func(name string, v []byte) bool {
		switch name {
		case "id":
			id = v
		case "method":
			method = text(v)
		case "params":
			params = v
		}
		return true
	})
	switch {
	case method == "notifications/cancelled":
		frame = t.cancelled(frame, params)
	case method == "initialize" && len(t.o.Capabilities) > 0:
		declared := setMembers(member(params, "capabilities"), t.o.Capabilities)
		params = setMembers(params, []Member{{Name: "capabilities", Value: declared}})
		frame = setMembers(frame, []Member{{Name: "params", Value: params}})
	}
	if id == nil || method == "" {
		t.record(true, frame, nil)
		return &Outgoing{tap: t, Frame: frame}, nil
	}
	token := text(member(member(params, "_meta"), "progressToken"))
	c := &call{id: string(id), method: method}
	t.mu.Lock()
	closed := t.closed
	c.pending = t.expected[token]
	// One of ours that nobody waits for has neither its parameters nor its Before.
	orphan := c.pending == nil && (token != "" || method == "tools/call")
	if closed == nil && !orphan {
		t.open[idKey(id)] = c
	}
	t.mu.Unlock()
	switch {
	case closed != nil:
		return nil, rejected(fmt.Errorf("the connection has ended: %w", closed))
	case orphan:
		return nil, rejected(errWithdrawn)
	}
	if c.pending != nil {
		var err error
		if frame, err = c.pending.leave(frame, params); err != nil {
			t.forget(c)
			c.pending.finish(Answer{Err: err})
			return nil, rejected(err)
		}
	}
	t.record(true, frame, c.pending)
	return &Outgoing{tap: t, Frame: frame, Request: true, call: c}, nil
}

// cancelled notes that nobody waits for a request any more, and replaces the reason
// (the library writes its own error there) by a neutral one.
func (t *Tap) cancelled(frame, params []byte) []byte {
	key := idKey(member(params, "requestId"))
	t.mu.Lock()
	if c := t.open[key]; c != nil {
		t.end(key, c, false)
	}
	t.mu.Unlock()
	params = setMembers(params, []Member{{Name: "reason", Value: json.RawMessage(`"cancelled by the host"`)}})
	return setMembers(frame, []Member{{Name: "params", Value: params}})
}

// forget takes back a request that did not leave.
func (t *Tap) forget(c *call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if key := idKey([]byte(c.id)); t.open[key] == c {
		delete(t.open, key)
	}
}

// end moves a request to the ended ones. t.mu is held.
func (t *Tap) end(key string, c *call, answered bool) {
	delete(t.open, key)
	if _, again := t.ended[key]; !again {
		t.endedIDs = append(t.endedIDs, key)
	}
	t.ended[key] = pastCall{c.token(), c.method, answered}
	if len(t.endedIDs) > endedKept {
		delete(t.ended, t.endedIDs[0])
		t.endedIDs = t.endedIDs[1:]
	}
}

// In takes what the server sent: one JSON text, also a batch, also anything else. It
// returns the messages for the library, all of them answers to requests that are
// still open. It does not keep raw.
func (t *Tap) In(raw []byte) (out [][]byte) {
	defer t.recovered("a message of the server")
	f := framer{max: t.o.MaxFrame, emit: func(p piece) { out = append(out, t.take(p)...) }}
	f.feed(raw)
	f.end()
	return out
}

// brokenID finds the id of an answer that is not valid JSON where it stands at the
// very end; the framer finds those before the fault. An "id" anywhere else may be part
// of the content.
var brokenID = regexp.MustCompile(`^\{.*"jsonrpc".*"id"\s*:\s*(\d+|"[^"\\]*")\s*\}\s*$|^\{.*"id"\s*:\s*(\d+|"[^"\\]*")\s*,\s*"jsonrpc"\s*:\s*"2\.0"\s*\}\s*$`)

// take handles one piece of the stream.
func (t *Tap) take(p piece) [][]byte {
	switch p.kind {
	case noise:
		t.reportNoise(p.data)
		if id := brokenID.FindSubmatch(p.data); id != nil {
			return t.fail(string(id[1])+string(id[2]), false, "the server's answer is not valid JSON")
		}
		return nil
	case tooLarge:
		t.noteLarge(p.data)
		return t.failLarge(p.id)
	case broken:
		// Its text is reported as noise when its line ends.
		return t.fail(p.id, false, "the server's answer is not valid JSON")
	}
	return t.message(p)
}

// fail answers a request for the server. Without an id it is the only open request
// that is meant, if sole is true: the answer is too large to be read to its id.
func (t *Tap) fail(id string, sole bool, why string) [][]byte {
	t.mu.Lock()
	key := idKey([]byte(id))
	c := t.open[key]
	if c == nil && id == "" && sole {
		key, c = t.only()
	}
	if c != nil {
		t.end(key, c, true)
	}
	t.mu.Unlock()
	if c == nil {
		return nil
	}
	return [][]byte{t.settle(c, Answer{Err: &Error{Code: CodeInternal, Message: why, Invalid: true, TooLarge: sole}})}
}

// only returns the request that is open alone. subscriptions/listen does not count: it
// stays open as long as the connection. t.mu is held.
func (t *Tap) only() (key string, c *call) {
	for k, other := range t.open {
		if other.method == "subscriptions/listen" {
			continue
		}
		if c != nil {
			return "", nil
		}
		key, c = k, other
	}
	return key, c
}

// settle gives the answer to whoever waits, and returns the message for the library.
func (t *Tap) settle(c *call, a Answer) []byte {
	if c.pending != nil {
		c.pending.finish(a)
	}
	var e *Error
	switch {
	case errors.As(a.Err, &e):
		return errorFrame(c.id, e)
	case a.Err != nil:
		return errorFrame(c.id, &Error{Code: CodeInternal, Message: a.Err.Error()})
	}
	if isObject(a.Result) && (c.method == "initialize" || c.method == "server/discover") {
		t.mu.Lock()
		t.method, t.handshake = c.method, a.Result
		t.mu.Unlock()
	}
	return resultFrame(c.id, minimal(c.method, a.Result))
}

// Settle answers what the server still asks, as cancelled, before its connection is
// closed: a server that waits for a person learns that nobody will answer. It waits for
// the handlers and the writing at most settleLimit, and takes no further requests.
func (t *Tap) Settle() { t.requests.settle(settleLimit) }

const settleLimit = 200 * time.Millisecond

// Close ends every Pending with err, cancels the handlers of the server's requests,
// and waits for them at most a second. It may be called several times.
func (t *Tap) Close(err error) {
	if err == nil {
		err = errors.New("the connection was closed")
	}
	t.mu.Lock()
	if t.closed == nil {
		t.closed = err
	}
	waiting := make([]*Pending, 0, len(t.expected))
	for _, p := range t.expected {
		waiting = append(waiting, p)
	}
	for _, c := range t.open {
		if c.pending != nil {
			waiting = append(waiting, c.pending)
		}
	}
	clear(t.open)
	t.mu.Unlock()
	for _, p := range waiting {
		p.finish(Answer{Err: err})
	}
	t.requests.close(time.Second)
}

// SetModern says that the connection speaks 2026-07-28 or later, where servers make
// no requests: those that come are noise, and are not answered.
func (t *Tap) SetModern(on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.modern = on
}

// Handshake returns the method (initialize or server/discover) and the raw result of
// the handshake that was answered last; "" and nil before.
func (t *Tap) Handshake() (method string, result json.RawMessage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.method, t.handshake
}

// Frames returns the newest messages of the connection, oldest first: at most 512,
// and 1 MiB of their text.
func (t *Tap) Frames() []Frame { return t.log.Frames() }

func (t *Tap) record(out bool, frame []byte, p *Pending) {
	f := Frame{Time: t.o.Now(), Out: out, Size: len(frame), Bytes: clip(frame, frameKept)}
	if p != nil {
		f.Token = p.want.Token
		p.frames.add(f)
	}
	t.log.kept.add(f)
}

// Note keeps in the log what went over the wire beside the messages: what HTTP says, a
// message that the transport exchanged by itself. request, where not nil, is the message
// that it belongs to.
func (t *Tap) Note(out bool, request, note []byte) {
	if len(note) == 0 {
		return
	}
	var p *Pending
	if len(request) > 0 {
		token := text(member(member(member(request, "params"), "_meta"), "progressToken"))
		t.mu.Lock()
		p = t.expected[token]
		t.mu.Unlock()
	}
	t.record(out, bytes.ToValidUTF8(note, []byte("\uFFFD")), p)
}

// NoiseSeen returns how many pieces of noise came so far, and the first of them.
func (t *Tap) NoiseSeen() (count int, first string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.noise.total, t.noise.first
}

func (t *Tap) reportNoise(b []byte) {
	line := strings.TrimRight(strings.ToValidUTF8(string(clip(b, NoiseKept)), "\uFFFD"), "\r\n")
	t.mu.Lock()
	count := t.noise.add(line, t.o.Now())
	t.mu.Unlock()
	if count > 0 && t.o.Noise != nil {
		// There is nobody to tell that the one who is told of noise failed; NoiseSeen
		// has counted it.
		defer func() { _ = recover() }()
		t.o.Noise(Noise{Line: line, Count: count})
	}
}

// noiseCount limits reports of noise to noiseBurst a second.
type noiseCount struct {
	total  int
	first  string
	second time.Time
	spent  int
	unsaid int
}

const noiseBurst = 5

// add counts one piece and returns how many the report stands for, 0 for no report.
func (n *noiseCount) add(line string, now time.Time) int {
	if n.total == 0 {
		n.first = line
	}
	n.total++
	n.unsaid++
	if d := now.Sub(n.second); d >= time.Second || d < 0 {
		n.second, n.spent = now, 0
	}
	if n.spent >= noiseBurst {
		return 0
	}
	n.spent++
	count := n.unsaid
	n.unsaid = 0
	return count
}

// notify hands a notification on. A handler that panics loses that notification.
func (t *Tap) notify(method string, params []byte) {
	if t.o.Notify == nil {
		return
	}
	defer t.recovered("a notification")
	t.o.Notify(method, params)
}

// recovered is deferred around code of others, and around what reads foreign bytes: a
// panic there loses what it was about, and nothing else.
func (t *Tap) recovered(what string) {
	if r := recover(); r != nil {
		t.reportNoise(fmt.Appendf(nil, "%s was lost, because handling it failed: %v", what, r))
	}
}

// late reports an answer nobody waits for.
func (t *Tap) late(c pastCall, raw []byte) {
	l := Late{Token: c.token, Method: c.method, Duplicate: c.answered, Raw: raw}
	if t.o.Late != nil {
		defer t.recovered("a late answer")
		t.o.Late(l)
	}
}
