package remote

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"golang.org/x/net/http/httpguts"

	"steward/mcphost/internal/wire"
)

// Token reports whether s can be the name of a header (RFC 9110, 5.6.2).
func Token(s string) bool { return len(s) <= 256 && httpguts.ValidHeaderFieldName(s) }

// ours reports whether the transport itself sets the header: what a person has written
// for it, often copied from an example for another program, is left out.
func ours(name string) bool {
	switch name = strings.ToLower(name); name {
	case "accept", "accept-encoding", "content-type", "content-length", "transfer-encoding", "connection", "last-event-id",
		"mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name":
		return true
	}
	return strings.HasPrefix(name, "mcp-param-")
}

// encode writes a value for a header: as it is, if it is visible ASCII without
// blanks at its ends, else in the base64 form of MCP 2026-07-28.
func encode(s string) string {
	plain := s == strings.TrimSpace(s) && !strings.HasPrefix(s, "=?base64?")
	for i := 0; plain && i < len(s); i++ {
		plain = s[i] >= 0x20 && s[i] <= 0x7E
	}
	if plain {
		return s
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
}

// request is what a header, or the way a request is sent, may depend on.
type request struct {
	id        json.RawMessage
	session   *string // instead of the current one; "" for none
	method    string
	name      string // Mcp-Name
	tool      string
	arguments json.RawMessage
}

// read takes those parts out of a message.
func read(frame []byte) request {
	m := wire.Fields(frame)
	r := request{id: m["id"], method: wire.Text(m["method"])}
	switch r.method {
	case "tools/call", "prompts/get", "resources/read", "tasks/get", "tasks/update", "tasks/cancel":
		p := wire.Fields(m["params"])
		r.name = wire.Text(p["name"])
		switch {
		case r.method == "resources/read":
			r.name = wire.Text(p["uri"])
		case strings.HasPrefix(r.method, "tasks/"):
			r.name = wire.Text(p["taskId"]) // io.modelcontextprotocol/tasks 2026-07-28, routing headers
		}
		if r.method == "tools/call" {
			r.tool, r.arguments = r.name, p["arguments"]
		}
	}
	return r
}

// modern is the first version of the protocol with headers that mirror a
// request.
const modern = "2026-07-28"

// mirror sets the headers that mirror a message (MCP 2026-07-28, transports),
// if the version of the protocol has them.
func (l *Link) mirror(h http.Header, r request) {
	h.Del("Mcp-Method")
	h.Del("Mcp-Name")
	if h.Get("Mcp-Protocol-Version") < modern || r.method == "" {
		return
	}
	h.Set("Mcp-Method", r.method)
	if r.name != "" {
		h.Set("Mcp-Name", encode(r.name))
	}
	if r.tool != "" && l.o.ToolHeaders != nil {
		for name, value := range l.o.ToolHeaders(r.tool, r.arguments) {
			h.Set(name, encode(value))
		}
	}
}
