package mcphost_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
	"steward/mcphost/send"
)

const discovered = `"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new","version":"1"}}}`

// TestMirroredHeaders checks the headers that repeat a request, and that tools
// that ask for impossible ones are left out.
func TestMirroredHeaders(t *testing.T) {
	t.Parallel()
	tool := func(name, properties string) string {
		return `{"name":"` + name + `","inputSchema":{"type":"object","properties":{` + properties + `}}}`
	}
	list := []string{
		tool("工具", `"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},"ok":{"type":"boolean","x-mcp-header":"Ok"},"none":{"type":["string","null"],"x-mcp-header":"None"},"e":{"type":"integer","x-mcp-header":"E"},"big":{"type":"integer","x-mcp-header":"Big"},"far":{"type":"integer","x-mcp-header":"Far"},"half":{"type":"integer","x-mcp-header":"Half"},"line":{"type":"string","x-mcp-header":"Line"},"like":{"type":"string","x-mcp-header":"Like"},"no":{"type":"boolean","x-mcp-header":"No"},"o":{"type":"object","properties":{"deep":{"type":"string","x-mcp-header":"Deep"}}}`),
		tool("property-of-that-name", `"x-mcp-header":{"type":"string","default":{"x-mcp-header":"a b"}}`),
		tool("bad-space", `"a":{"type":"string","x-mcp-header":"a b"}`),
		tool("bad-line", `"a":{"type":"string","x-mcp-header":"a\r\nb"}`),
		tool("bad-empty", `"a":{"type":"string","x-mcp-header":""}`),
		tool("bad-kind", `"a":{"type":"object","x-mcp-header":"A"}`),
		tool("bad-number", `"a":{"type":"number","x-mcp-header":"A"}`),
		tool("bad-twice", `"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}`),
		tool("bad-items", `"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}`),
		tool("bad-if", `"a":{"if":{"properties":{"b":{"type":"string","x-mcp-header":"A"}}}}`),
		tool("bad-ref", `"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"string","x-mcp-header":"A"}`),
		tool("bad-prefix", `"a":{"prefixItems":[{"type":"string","x-mcp-header":"A"}]}`),
		tool("bad-number-or-null", `"a":{"type":["number","null"],"x-mcp-header":"A"}`),
		tool("bad-null", `"a":{"type":"null","x-mcp-header":"A"}`),
		tool("bad-word", `"a":{"type":"string","x-mcp-header":7}`),
		tool("bad-choice", `"a":{"anyOf":[{"type":"string","x-mcp-header":"A"}]}`),
	}
	headers := make(chan http.Header, 1)
	s := newWeb(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
		switch m.Method {
		case "server/discover":
			answer(w, m, discovered)
		case "tools/list":
			answer(w, m, `"result":{"resultType":"complete","tools":[`+strings.Join(list, ",")+`]}`)
		case "tools/call":
			headers <- r.Header.Clone()
			answer(w, m, `"result":{"resultType":"complete","content":[]}`)
		case "subscriptions/listen":
			<-r.Context().Done()
		default:
			return false
		}
		return true
	}, nil)
	h, _ := trial.Host(t, mcphost.Options{})
	cfg := config(s)
	cfg.Headers = map[string]string{"X-Api-Key": "k"}
	c := trial.Connect(t, h, cfg)
	if got := trial.Names(c.Tools()); got != "工具 property-of-that-name" {
		t.Errorf("tools %s", got)
	}
	r, err := send.Tool(t.Context(), send.Call{
		Conn: c, Owner: "k", Tool: "工具", Definition: trial.Tool(t, c, "工具").Definition,
		Arguments: []byte(`{"region":" 北京","n":7,"ok":true,"none":null,"e":1e3,"big":-9007199254740991,"far":9007199254740993,"half":1.5,"line":"a\r\nX-Evil: 1","like":"=?base64?YQ==?=","no":false,"o":{"deep":"d"}}`), Spend: func([]byte) error { return nil },
	})
	if err != nil || r.Outcome != send.OK {
		t.Fatalf("%+v, %v", r, err)
	}
	got := <-headers
	base64Of := func(s string) string { return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?=" }
	for name, want := range map[string]string{
		"Mcp-Method": "tools/call", "Mcp-Name": base64Of("工具"), "Mcp-Protocol-Version": "2026-07-28",
		"Mcp-Param-Region": base64Of(" 北京"), "Mcp-Param-N": "7", "Mcp-Param-Ok": "true", "Mcp-Param-None": "", "Mcp-Param-E": "1000", "Mcp-Param-Big": "-9007199254740991", "Mcp-Param-Far": "", "Mcp-Param-Half": "",
		"Mcp-Param-Line": base64Of("a\r\nX-Evil: 1"), "X-Evil": "", "Mcp-Param-Like": base64Of("=?base64?YQ==?="), "Mcp-Param-No": "false", "Mcp-Param-Deep": "d",
		"X-Api-Key": "k", "Accept": "application/json, text/event-stream", "Mcp-Session-Id": "",
	} {
		if got.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, got.Get(name), want)
		}
	}
}

// TestListenAgain checks that the stream of changes is asked for again when it
// breaks off, and that a change then is seen.
func TestListenAgain(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var ids []string
	s := newWeb(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
		switch m.Method {
		case "server/discover":
			answer(w, m, discovered)
		case "subscriptions/listen":
			mu.Lock()
			ids = append(ids, string(m.ID))
			n := len(ids)
			mu.Unlock()
			w.Header().Set("Content-Type", "text/event-stream")
			if n == 1 {
				return true
			}
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/prompts/list_changed\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":%s}}}\n\n", m.ID)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		default:
			return false
		}
		return true
	}, nil)
	h, w := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, config(s))
	trial.Wait(t, w, func(l mcphost.ListChanged) bool { return l.Kind == "prompts" })
	mu.Lock()
	defer mu.Unlock()
	if len(ids) != 2 || ids[0] == ids[1] {
		t.Errorf("ids %v", ids)
	}
	if r := callEcho(t, c, "echo"); r.Outcome != "ok" {
		t.Errorf("%s %s", r.Outcome, r.Reason)
	}
}

// TestListenNeverAnswered checks that a server that keeps silent about
// subscriptions delays nothing.
func TestListenNeverAnswered(t *testing.T) {
	t.Parallel()
	s := newWeb(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
		switch m.Method {
		case "server/discover":
			answer(w, m, discovered)
		case "subscriptions/listen":
			<-r.Context().Done()
		default:
			return false
		}
		return true
	}, nil)
	h, _ := trial.Host(t, mcphost.Options{})
	begun := time.Now()
	c := trial.Connect(t, h, config(s))
	if d := time.Since(begun); d > time.Second {
		t.Errorf("the start took %s", d)
	}
	// A stopped call closes its stream, which tells a server of this era.
	closed := make(chan bool, 1)
	s.mu.Lock()
	rpc := s.rpc
	s.rpc = func(w http.ResponseWriter, r *http.Request, m message) bool {
		if m.Method == "tools/call" {
			<-r.Context().Done()
			closed <- true
			return true
		}
		return rpc(w, r, m)
	}
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	r, err := send.Tool(ctx, send.Call{
		Conn: c, Owner: "k", Tool: "echo", Definition: trial.Tool(t, c, "echo").Definition, Arguments: []byte(`{}`),
		Spend: func([]byte) error { return nil },
	})
	if err != nil || r.Outcome != send.Cancelled {
		t.Errorf("%+v, %v", r, err)
	}
	select {
	case <-closed:
	case <-time.After(5 * time.Second):
		t.Error("the server was not told")
	}
	if n := s.count("POST notifications/cancelled"); n != 0 {
		t.Errorf("%d notifications were sent besides", n)
	}
}

// TestHangingPageKeepsOldList checks that a list that cannot be read again to
// its end does not replace the one before.
func TestHangingPageKeepsOldList(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	hang := false
	s := newWeb(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
		if m.Method != "tools/list" {
			return false
		}
		mu.Lock()
		now := hang
		mu.Unlock()
		var p struct{ Cursor *string }
		_ = json.Unmarshal(m.Params, &p) // there is always an object
		switch {
		case p.Cursor == nil:
			answer(w, m, `"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"nextCursor":""}`)
		case now:
			<-r.Context().Done()
		default:
			answer(w, m, `"result":{"tools":[{"name":"b","inputSchema":{"type":"object"}}]}`)
		}
		return true
	}, nil)
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, config(s))
	if got := trial.Names(c.Tools()); got != "a b" {
		t.Fatalf("tools %s", got)
	}
	mu.Lock()
	hang = true
	mu.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := c.Refresh(ctx); err == nil {
		t.Error("no error")
	}
	if got := trial.Names(c.Tools()); got != "a b" {
		t.Errorf("tools %s", got)
	}
}

// TestLibraryServer talks to the protocol library's own server of the older
// era over HTTP: its questions come on the stream of the call.
func TestLibraryServer(t *testing.T) {
	t.Parallel()
	server := mcp.NewServer(&mcp.Implementation{Name: "library", Version: "1"}, &mcp.ServerOptions{
		SupportedProtocolVersions: []string{"2025-11-25", "2025-06-18"},
	})
	mcp.AddTool(server, &mcp.Tool{Name: "ask"}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		e, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "sure?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"ok": map[string]any{"type": "boolean"}}}})
		if err != nil {
			return nil, nil, err
		}
		//lint:ignore SA1019 deprecated since 2026-07-28, and still there to be answered
		roots, err := r.Session.ListRoots(ctx, nil)
		if err != nil {
			return nil, nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(e.Action, e.Content["ok"], roots.Roots[0].URI)}}}, nil, nil
	})
	handler := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(func() { handler.CloseClientConnections(); handler.Close() })
	h, w := trial.Host(t, mcphost.Options{Asker: yes{}})
	c := trial.Connect(t, h, mcphost.ServerConfig{ID: "library", URL: handler.URL, Roots: []string{"/tmp/a b"}, StartTimeout: 5 * time.Second})
	if c.Protocol() != "2025-11-25" {
		t.Errorf("protocol %s", c.Protocol())
	}
	r := callEcho(t, c, "ask")
	if r.Outcome != send.OK || r.Content[0].Text != "accept true file:///tmp/a%20b" && r.Content[0].Text != "accepttruefile:///tmp/a%20b" {
		t.Errorf("%s %s %v", r.Outcome, r.Reason, r.Content)
	}
	mcp.AddTool(server, &mcp.Tool{Name: "later"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{}, nil, nil
	})
	trial.Wait(t, w, func(l mcphost.ListChanged) bool { return l.Kind == "tools" })
	trial.Tool(t, c, "later")
}

type yes struct{}

func (yes) Elicit(context.Context, mcphost.Elicitation) (mcphost.ElicitAnswer, error) {
	return mcphost.ElicitAnswer{Action: "accept", Content: json.RawMessage(`{"ok":true}`)}, nil
}

func (yes) Sample(context.Context, mcphost.SamplingRequest) (mcphost.SamplingAnswer, error) {
	return mcphost.SamplingAnswer{}, mcphost.ErrNotAllowed
}
