package mcphost_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
	"steward/mcphost/send"
)

// TestTaskOverHTTP follows a task at a server of the newer era that fails now and then:
// a look that fails is repeated, the call is not, and every request about the task
// names it in the header by which it is routed.
func TestTaskOverHTTP(t *testing.T) {
	t.Parallel()
	const id = "tâsk-1"
	var mu sync.Mutex
	var names []string
	var calls, looks int
	s := newWeb(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
		mu.Lock()
		defer mu.Unlock()
		if strings.HasPrefix(m.Method, "tasks/") {
			names = append(names, r.Header.Get("Mcp-Method")+" "+r.Header.Get("Mcp-Name"))
		}
		task := `"taskId":"` + id + `","createdAt":"2026-11-30T10:00:00Z","lastUpdatedAt":"2026-11-30T10:00:00Z","ttlMs":null,"pollIntervalMs":20`
		switch m.Method {
		case "server/discover":
			answer(w, m, discovered)
		case "tools/list":
			answer(w, m, `"result":{"resultType":"complete","tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`)
		case "tools/call":
			calls++
			answer(w, m, `"result":{"resultType":"task","status":"working",`+task+`}`)
		case "tasks/get":
			looks++
			switch looks {
			case 1, 2, 3, 4, 5: // for longer than a moment
				w.WriteHeader(http.StatusServiceUnavailable)
			case 6:
				answer(w, m, `"error":{"code":-32603,"message":"come again"}`)
			case 7:
				answer(w, m, `"result":{"resultType":"complete","status":"working",`+task+`}`)
			default:
				answer(w, m, `"result":{"resultType":"complete","status":"completed",`+task+`,"result":{"content":[{"type":"text","text":"there"}]}}`)
			}
		case "subscriptions/listen":
			mu.Unlock()
			<-r.Context().Done()
			mu.Lock()
		default:
			return false
		}
		return true
	}, nil)
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, config(s))
	var kept json.RawMessage
	r, err := send.Tool(t.Context(), send.Call{
		Conn: c, Owner: "k", Tool: "echo", Definition: trial.Tool(t, c, "echo").Definition, Arguments: []byte(`{}`),
		Spend: func([]byte) error { return nil },
		Attempt: func(_ context.Context, what string, detail any) (err error) {
			kept, err = json.Marshal(detail)
			return err
		},
	})
	if err != nil || r.Outcome != send.OK || len(r.Content) != 1 || r.Content[0].Text != "there" {
		t.Fatalf("%+v, %v", r, err)
	}
	mu.Lock()
	defer mu.Unlock()
	if calls != 1 || looks != 8 {
		t.Errorf("%d calls, %d looks", calls, looks)
	}
	for _, n := range names {
		if n != "tasks/get =?base64?dMOic2stMQ==?=" {
			t.Errorf("headers %q", n)
		}
	}
	if string(kept) != `{"taskId":"`+id+`","form":"2026-07-28","pollMs":20}` {
		t.Errorf("kept %s", kept)
	}
}

// TestNoTaskOfAnotherRequest checks that a task in answer to what cannot be one is no
// answer (io.modelcontextprotocol/tasks 2026-07-28, capability negotiation).
func TestNoTaskOfAnotherRequest(t *testing.T) {
	t.Parallel()
	s := newWeb(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
		switch m.Method {
		case "server/discover":
			answer(w, m, discovered)
		case "resources/read":
			answer(w, m, `"result":{"resultType":"task","taskId":"1","status":"working"}`)
		default:
			return false
		}
		return true
	}, nil)
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, config(s))
	if _, err := c.ReadResource(t.Context(), "test://one"); err == nil || !strings.Contains(err.Error(), "unknown type") {
		t.Errorf("%v", err)
	}
}

// TestAppPagesAreMarked checks that tools with an app page are known, in both ways of
// naming it (MCP Apps 2026-01-26).
func TestAppPagesAreMarked(t *testing.T) {
	t.Parallel()
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s", "--step", `tools/list=@result {"tools":[`+
		`{"name":"a","inputSchema":{"type":"object"},"_meta":{"ui":{"resourceUri":"ui://s/a"}}},`+
		`{"name":"b","inputSchema":{"type":"object"},"_meta":{"ui/resourceUri":"ui://s/b"}},`+
		`{"name":"c","inputSchema":{"type":"object"},"_meta":{"ui":{}}},`+
		`{"name":"d","inputSchema":{"type":"object"},"execution":{"taskSupport":"forbidden"}},`+
		`{"name":"e","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}]}`))
	for name, want := range map[string]mcphost.Tool{"a": {App: true}, "b": {App: true}, "c": {}, "d": {}, "e": {TaskSupport: "optional"}} {
		if got := trial.Tool(t, c, name); got.App != want.App || got.TaskSupport != want.TaskSupport {
			t.Errorf("%s: %v %q", name, got.App, got.TaskSupport)
		}
	}
}
