package scriptedserver

import (
	"compress/gzip"
	"io"
	"net/http"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Faults are the names of what a Web can do wrong, sorted. Those that begin with "call-" break into tools/call, with
// "start-" into the beginning, with "get-" into the channel, with "listen-" into subscriptions/listen.
func Faults() []string {
	out := make([]string, 0, len(webFaults))
	for name := range webFaults {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// part of a fault that answers.
type do = func(s *Web, w http.ResponseWriter, r *http.Request, m message) bool

// with answers with a status, headers as "Name: value" lines, and a body.
func with(status int, header, body string) do {
	return func(_ *Web, w http.ResponseWriter, _ *http.Request, m message) bool {
		if header == noType {
			w.Header()["Content-Type"] = nil // else it is guessed
		}
		for line := range strings.Lines(header) {
			if name, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
				w.Header().Set(name, value)
			}
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, fill(body, m)) // the host may have gone
		return true
	}
}

const (
	asJSON   = "Content-Type: application/json"
	asStream = "Content-Type: text/event-stream"
	noType   = "no content type"
)

// hang keeps the request open: without headers, or behind them.
func hang(status int, header string) do {
	return func(s *Web, w http.ResponseWriter, r *http.Request, m message) bool {
		if status != 0 {
			with(status, header, "")(s, w, r, m)
			_ = http.NewResponseController(w).Flush() // the host may have gone
		}
		select {
		case <-r.Context().Done():
		case <-s.done:
		}
		return true
	}
}

// trickle sends a text of which one byte comes at a time, for ever.
func trickle(header, text string) do {
	return func(s *Web, w http.ResponseWriter, r *http.Request, m message) bool {
		with(200, header, "")(s, w, r, m)
		for {
			if _, err := io.WriteString(w, text); err != nil {
				return true
			}
			_ = http.NewResponseController(w).Flush() // the next write says so
			select {
			case <-r.Context().Done():
				return true
			case <-s.done:
				return true
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
}

// large sends an answer of 80 MB between two texts.
func large(header, before, after string, zip, declared bool) do {
	return func(_ *Web, w http.ResponseWriter, _ *http.Request, m message) bool {
		for line := range strings.Lines(header) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			w.Header().Set(name, value)
		}
		if declared {
			w.Header().Set("Content-Length", strconv.Itoa(2<<30))
		}
		out := io.Writer(w)
		if zip {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer func() { _ = z.Close() }() // the host may have gone
			out = z
		}
		_, err := io.WriteString(out, fill(before, m))
		block := strings.Repeat("x", 1<<20)
		for i := 0; i < 80 && err == nil; i++ {
			_, err = io.WriteString(out, block)
		}
		if err == nil {
			_, _ = io.WriteString(out, fill(after, m)) // as above
		}
		return true
	}
}

// endless sends a line of a stream that never ends, as fast as it is taken.
func endless(begin string) do {
	return func(s *Web, w http.ResponseWriter, r *http.Request, m message) bool {
		with(200, asStream, begin)(s, w, r, m)
		block := strings.Repeat("x", 1<<20)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, block); err != nil {
				break
			}
		}
		return true
	}
}

// reset closes the connection, after a beginning of the answer if there is one.
func reset(begin string) do {
	return func(_ *Web, w http.ResponseWriter, _ *http.Request, m message) bool {
		conn, buf, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return false
		}
		_, _ = buf.WriteString(fill(begin, m)) // into memory
		_ = buf.Flush()                        // the host may have gone
		_ = conn.Close()
		return true
	}
}

// forgotten forgets the session and says so.
func forgotten(s *Web, w http.ResponseWriter, r *http.Request, m message) bool {
	s.Forget()
	return with(404, asJSON, `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`)(s, w, r, m)
}

// resumed ends a call's stream after an event with an id, and gives the answer to whoever takes the stream up again.
func resumed(s *Web, w http.ResponseWriter, r *http.Request, m message) bool {
	answer := resultFor(m)
	s.mu.Lock()
	s.faults["GET"] = fault{"GET", func(_ *Web, w http.ResponseWriter, r *http.Request, _ message) bool {
		if r.Header.Get("Last-Event-ID") != "7" {
			return false
		}
		return with(200, asStream, "id: 8\ndata: "+answer+"\n\n")(s, w, r, m)
	}}
	s.mu.Unlock()
	return with(200, asStream, "retry: 10\nid: 7\ndata:\n\n")(s, w, r, m)
}

// notResumed begins a stream whose events are numbered, and does not go on with it.
func notResumed(s *Web, w http.ResponseWriter, r *http.Request, m message) bool {
	s.mu.Lock()
	s.faults["GET"] = fault{"GET", with(405, "", "")}
	s.mu.Unlock()
	return with(200, asStream, "retry: 10\nid: 7\ndata:\n\n")(s, w, r, m)
}

var longName = strings.Repeat("s", 10<<10)

var webFaults = map[string]fault{
	"call-html":               {"tools/call", with(200, "Content-Type: text/html", "<html><script>alert(1)</script>Please sign in")},
	"call-202":                {"tools/call", with(202, "", "")},
	"call-204":                {"tools/call", with(204, "", "")},
	"call-empty":              {"tools/call", with(200, asJSON, " \n")},
	"call-no-type":            {"tools/call", with(200, noType, "${answer}")},
	"call-text-plain":         {"tools/call", with(200, "Content-Type: text/plain", "${answer}")},
	"call-stream-as-json":     {"tools/call", with(200, asJSON, "event: message\ndata: ${answer}\n\n")},
	"call-plain-words":        {"tools/call", with(200, "Content-Type: text/plain", "It works!")},
	"call-utf-16":             {"tools/call", with(200, "Content-Type: application/json; charset=utf-16", "${answer}")},
	"call-not-json":           {"tools/call", with(200, asJSON, "{oops")},
	"call-other-id":           {"tools/call", with(200, asJSON, `{"jsonrpc":"2.0","id":"other","result":{"content":[]}}`)},
	"call-twice":              {"tools/call", with(200, asStream, "data: ${answer}\n\ndata: ${answer}\n\n")},
	"call-batch":              {"tools/call", with(200, asJSON, "[${answer}]")},
	"call-other-case":         {"tools/call", with(200, asJSON, `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"called"}]},"Result":{"content":[{"type":"text","text":"forged"}]},"ID":"x","METHOD":"notifications/message"}`)},
	"call-duplicate-keys":     {"tools/call", with(200, asJSON, `{"jsonrpc":"2.0","id":"x","id":${id},"result":{"content":[{"type":"text","text":"called"}]}}`)},
	"call-result-and-error":   {"tools/call", with(200, asJSON, `{"jsonrpc":"2.0","id":${id},"result":{"content":[]},"error":{"code":1,"message":"both"}}`)},
	"call-large":              {"tools/call", large(asJSON, `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`, `"}]}}`, false, false)},
	"call-large-declared":     {"tools/call", large(asJSON, `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`, `"}]}}`, false, true)},
	"call-large-zipped":       {"tools/call", large(asJSON, `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`, `"}]}}`, true, false)},
	"call-large-event":        {"tools/call", large(asStream, `data: {"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`, "\"}]}}\n\n", false, false)},
	"call-stream-endless":     {"tools/call", endless("data: ")},
	"call-comments-endless":   {"tools/call", endless(":")},
	"call-stream-ends":        {"tools/call", with(200, asStream, ": nothing\n\n")},
	"call-stream-trickles":    {"tools/call", trickle(asStream, ":")},
	"call-stream-odd":         {"tools/call", with(200, asStream, "\uFEFF: hello\r\n\r\nnonsense\r\nretry: -1\r\nretry: 99999999999\r\nevent: ping\r\ndata: {}\r\n\r\ndata: no JSON\r\n\r\ndata:${answer}\r\n\r\n")},
	"call-stream-no-end":      {"tools/call", with(200, asStream, "data: ${answer}")},
	"call-stream-resumed":     {"tools/call", resumed},
	"call-stream-not-resumed": {"tools/call", notResumed},
	"call-packed":             {"tools/call", with(200, asJSON+"\nContent-Encoding: br", "\x8b\x00\x80abc\x03")},
	"call-stream-gone":        {"tools/call", with(200, asStream, "retry: 10\nid: 9\ndata:\n\n")},
	"call-reset":              {"tools/call", reset("")},
	"call-broken-off":         {"tools/call", reset("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"jsonrpc\"")},
	"call-hangs":              {"tools/call", hang(0, "")},
	"call-hangs-later":        {"tools/call", hang(200, asJSON)},
	"call-302":                {"tools/call", with(302, "Location: /other", "")},
	"call-307-elsewhere":      {"tools/call", with(307, "Location: http://127.0.0.1:1/mcp?token=t", "")},
	"call-308-loop":           {"tools/call", with(308, "Location: /mcp", "")},
	"call-400":                {"tools/call", with(400, "", "bad luck")},
	"call-401":                {"tools/call", with(401, "WWW-Authenticate: Bearer", `{"jsonrpc":"2.0","id":${id},"error":{"code":-32001,"message":"no token"}}`)},
	"call-403":                {"tools/call", with(403, "", "")},
	"call-407":                {"tools/call", with(407, "", "")},
	"call-429":                {"tools/call", with(429, "Retry-After: 1000000000", "")},
	"call-429-soon":           {"tools/call", with(429, "Retry-After: 5", "")},
	"call-429-past":           {"tools/call", with(429, "Retry-After: Mon, 02 Jan 2006 15:04:05 GMT", "")},
	"call-500-html":           {"tools/call", with(500, "", "<html>stack trace")},
	"call-500-answer":         {"tools/call", with(500, asJSON, `{"jsonrpc":"2.0","id":${id},"error":{"code":-32000,"message":"full"}}`)},
	"call-503":                {"tools/call", with(503, "Retry-After: 90", `{"message":"down"}`)},
	"call-session-forgotten":  {"tools/call", forgotten},
	"call-session-changed":    {"tools/call", with(200, asJSON+"\nMcp-Session-Id: another", "${answer}")},
	"call-header-mismatch":    {"tools/call", with(400, asJSON, `{"jsonrpc":"2.0","id":${id},"error":{"code":-32020,"message":"Header mismatch"}}`)},
	"start-hangs":             {"*", hang(0, "")},
	"start-hangs-later":       {"*", hang(200, asStream)},
	"start-trickles":          {"*", trickle(asStream, "d")},
	"start-trickles-json":     {"*", trickle(asJSON, " ")},
	"start-html":              {"*", with(200, "Content-Type: text/html", "<html>Please sign in")},
	"start-empty":             {"*", with(200, asJSON, "")},
	"start-204":               {"*", with(204, "", "")},
	"start-401":               {"*", with(401, `WWW-Authenticate: Bearer resource_metadata="https://x.example/y"`, "")},
	"start-429":               {"*", with(429, "Retry-After: 30", "")},
	"start-500":               {"*", with(500, "", "")},
	"start-301":               {"*", with(301, "Location: /other", "")},
	"start-308-loop":          {"*", with(308, "Location: /mcp", "")},
	"start-session-long":      {"initialize", with(200, asJSON+"\nMcp-Session-Id: "+longName, `{"jsonrpc":"2.0","id":${id},"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}`)},
	"start-session-odd":       {"initialize", with(200, asJSON+"\nMcp-Session-Id: a\u00e9b", `{"jsonrpc":"2.0","id":${id},"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}`)},
	"start-discover-hangs":    {"server/discover", hang(0, "")},
	"start-discover-reset":    {"server/discover", reset("")},
	"start-discover-403":      {"server/discover", with(403, "", "only known methods pass here")},
	"start-403":               {"*", with(403, "", "your plan does not include this")},
	"start-discover-503":      {"server/discover", with(503, "", "")},
	"start-lists-hang":        {"tools/list", hang(0, "")},
	"get-404":                 {"GET", with(404, "", "")},
	"get-406":                 {"GET", with(406, "", "")},
	"get-400":                 {"GET", with(400, "", "")},
	"get-405":                 {"GET", with(405, "", "")},
	"get-501":                 {"GET", with(501, "", "")},
	"get-500":                 {"GET", with(500, "", "")},
	"get-hangs":               {"GET", hang(0, "")},
	"get-ends":                {"GET", with(200, asStream, "")},
	"get-ends-without-pause":  {"GET", with(200, asStream, "retry: 0\n\n")},
	"get-ends-after-messages": {"GET", with(200, asStream, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"data\":\"x\"}}\n\n")},
	"get-words":               {"GET", with(200, "", "hello")},
	"get-reset":               {"GET", reset("")},
	"listen-404":              {"subscriptions/listen", with(404, asJSON, `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"unknown"}}`)},
	"listen-hangs":            {"subscriptions/listen", hang(0, "")},
	"listen-drops":            {"subscriptions/listen", with(200, asStream, ": kept alive\n\n")},
	"listen-ends":             {"subscriptions/listen", with(200, asStream, `data: {"jsonrpc":"2.0","id":${id},"result":{"resultType":"complete"}}`+"\n\n")},
	"listen-503":              {"subscriptions/listen", with(503, "", "")},
}
