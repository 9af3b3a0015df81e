package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parts are the members of a message, as written; nil where absent.
type parts struct {
	version, id, method, params, result, failure []byte
	others                                       bool
}

func split(b []byte) (p parts) {
	members(b, func(name string, v []byte) bool {
		switch name {
		case "jsonrpc":
			p.version = v
		case "id":
			p.id = v
		case "method":
			p.method = v
		case "params":
			p.params = v
		case "result":
			p.result = v
		case "error":
			p.failure = v
		default:
			p.others = true
		}
		return true
	})
	// Some programs write every member of a message, null where it has none.
	if falsy(p.failure) {
		p.failure = nil
	}
	if falsy(p.method) {
		p.method = nil
	}
	if p.method != nil && falsy(p.result) {
		p.result = nil
	}
	return p
}

// falsy reports whether a member stands for "there is none".
func falsy(v []byte) bool {
	return v == nil || string(v) == "null" || string(v) == "false"
}

// message handles one JSON object of the server.
func (t *Tap) message(p piece) [][]byte {
	raw := p.data
	if p.tolerated {
		raw, p.nulled = repair(raw)
	}
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	m := split(raw)
	switch {
	case m.method != nil && isString(m.method) && m.result == nil && m.failure == nil:
		if !p.behindText && (m.version != nil || knownCall(m)) {
			t.record(false, p.data, t.progressOf(m))
			t.fromServer(m, p.deep)
			return nil
		}
	case m.method == nil && (m.version != nil || !m.others && (m.result != nil || m.failure != nil)):
		return t.response(raw, m, p)
	}
	t.reportNoise(raw)
	return nil
}

// knownCall reports whether a message without "jsonrpc" is one nevertheless, and not
// a log entry that happens to have a "method".
func knownCall(m parts) bool {
	method := text(m.method)
	known := method == "ping"
	for _, prefix := range []string{"notifications/", "elicitation/", "sampling/", "roots/"} {
		known = known || strings.HasPrefix(method, prefix)
	}
	return known && !m.others
}

// response handles an answer.
func (t *Tap) response(raw []byte, m parts, p piece) [][]byte {
	key := idKey(m.id)
	t.mu.Lock()
	c := t.open[key]
	if falsy(m.id) {
		c = nil
		key, c = t.probeMeant(m)
	}
	before, known := t.ended[key]
	if c != nil {
		t.end(key, c, true)
	}
	t.mu.Unlock()
	switch {
	case c != nil:
		t.record(false, p.data, c.pending)
		a := t.judge(m, p.deep)
		a.Nulled = p.nulled
		return [][]byte{t.settle(c, a)}
	case falsy(m.id), p.behindText, m.version == nil && !known:
		t.reportNoise(raw)
	default:
		t.record(false, p.data, nil)
		t.late(before, raw)
	}
	return nil
}

// probeMeant finds the request that an error without id can only mean: old servers
// answer a method they do not know, such as the probe server/discover, with "id":null.
// It is taken as the probe's answer if nothing else is open. t.mu is held.
func (t *Tap) probeMeant(m parts) (string, *call) {
	if key, c := t.only(); m.failure != nil && c != nil && c.method == "server/discover" {
		return key, c
	}
	return "", nil
}

// judge decides what an answer says (JSON-RPC 2.0, section 5).
func (t *Tap) judge(m parts, deep bool) Answer {
	invalid := func(format string, args ...any) Answer {
		return Answer{Err: &Error{Code: CodeInternal, Message: fmt.Sprintf(format, args...), Invalid: true}}
	}
	switch {
	case deep:
		return invalid("the server's answer is nested more than %d levels deep", MaxDepth)
	case m.failure != nil && m.result != nil && string(m.result) != "null":
		return invalid("the server's answer holds both a result and an error: %s", clipText(readError(m.failure).Message, 1000))
	case m.failure != nil:
		return Answer{Err: readError(m.failure)}
	case m.result == nil:
		return invalid("the server's answer holds neither a result nor an error")
	}
	return Answer{Result: m.result}
}

// maxErrorText is how much of an error's message is kept, in bytes: it becomes part of
// sentences that are shown, logged and recorded.
const maxErrorText = 16 << 10

// readError makes an error object of what a server sent as one.
func readError(v []byte) *Error {
	e := &Error{Code: CodeInternal}
	defer func() {
		if len(e.Message) > maxErrorText {
			e.Message = clipText(e.Message, maxErrorText) + "…"
		}
	}()
	if !isObject(v) {
		e.Message = text(v)
		return e
	}
	e.Message = string(v[:min(len(v), maxErrorText+1)])
	members(v, func(name string, v []byte) bool {
		switch name {
		case "code":
			if f, ok := new(big.Rat).SetString(clipText(text(v), 32)); ok && f.IsInt() && f.Num().IsInt64() {
				e.Code = f.Num().Int64()
			}
		case "message":
			e.Message = text(v)
		case "data":
			e.Data = v
		}
		return true
	})
	return e
}

// idKey makes ids comparable: numbers of the same value, and such a number in quotes,
// are the same. It never goes through a float, which would change a large number.
func idKey(id []byte) string {
	s := text(id)
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return strconv.FormatInt(i, 10)
	}
	// 1.0 and 1e0, but not 1e999999999, which would fill the memory.
	if len(s) <= 24 && !strings.ContainsAny(s, "/xXpPoObB_") {
		if e := strings.IndexAny(s, "eE"); e >= 0 && len(s)-e > 3 {
			return s
		}
		if r, ok := new(big.Rat).SetString(s); ok && r.IsInt() {
			return r.Num().String()
		}
	}
	return s
}

func resultFrame(id string, result []byte) []byte {
	b := make([]byte, 0, len(result)+len(id)+40)
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	b = append(b, `,"result":`...)
	b = append(b, result...)
	return append(b, '}')
}

// dataKept is how much of an error's data the library gets; it reads the list of
// supported versions from it.
const dataKept = 64 << 10

func errorFrame(id string, e *Error) []byte {
	b := make([]byte, 0, len(e.Message)+len(e.Data)+96)
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	b = append(b, `,"error":{"code":`...)
	b = strconv.AppendInt(b, e.Code, 10)
	b = append(b, `,"message":`...)
	b = append(b, quote(clipText(e.Message, dataKept))...)
	if len(e.Data) > 0 && len(e.Data) <= dataKept {
		b = append(b, `,"data":`...)
		b = append(b, e.Data...)
	}
	return append(b, `}}`...)
}

// progressOf finds the open request that a progress notification belongs to.
func (t *Tap) progressOf(m parts) *Pending {
	if text(m.method) != "notifications/progress" {
		return nil
	}
	token := text(member(m.params, "progressToken"))
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.expected[token]
	if p == nil {
		return nil
	}
	for _, c := range t.open {
		if c.pending == p {
			return p
		}
	}
	return nil
}

// fromServer handles a request or notification of the server.
func (t *Tap) fromServer(m parts, deep bool) {
	method := text(m.method)
	params := json.RawMessage(m.params)
	if falsy(m.params) {
		params = nil
	}
	if falsy(m.id) {
		switch {
		case deep:
			t.reportNoise(fmt.Appendf(nil, "the notification %s is nested more than %d levels deep", method, MaxDepth))
		case method == "notifications/progress":
			if p := t.progressOf(m); p != nil {
				p.progress(params)
				return
			}
			t.notify(method, params) // of a request that was answered with a task, perhaps
		case method == "notifications/cancelled":
			t.requests.cancel(idKey(member(params, "requestId")))
		default:
			t.notify(method, params)
		}
		return
	}
	t.mu.Lock()
	modern := t.modern
	t.mu.Unlock()
	if modern || len(m.id) > maxRequestID || isObject(m.id) || m.id[0] == '[' || string(m.id) == "true" {
		t.reportNoise(fmt.Appendf(nil, "the request %s, which a server may not make so: id %.100s", clipText(method, 100), m.id))
		return
	}
	if deep {
		t.requests.refuse(m.id, &Error{Code: CodeInvalidRequest, Message: fmt.Sprintf("the request is nested more than %d levels deep", MaxDepth)})
		return
	}
	t.requests.serve(ServerRequest{ID: json.RawMessage(m.id), Method: method, Params: params})
}
