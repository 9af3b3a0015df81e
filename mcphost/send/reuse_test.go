package send_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
	"steward/mcphost/send"
)

// TestConnectionReused makes calls one after another to a server that answers with a stream: each must leave its
// connection fit for the next, in both eras.
func TestConnectionReused(t *testing.T) {
	t.Parallel()
	for name, stateless := range map[string]bool{"2026-07-28": true, "with a session": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := trial.EchoServer()
			var opened atomic.Int64
			s := httptest.NewUnstartedServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
				&mcp.StreamableHTTPOptions{Stateless: stateless}))
			s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateNew {
					opened.Add(1)
				}
			}
			s.Start()
			t.Cleanup(s.Close)
			h, _ := trial.Host(t, mcphost.Options{})
			c := trial.Connect(t, h, mcphost.ServerConfig{ID: "echo", URL: s.URL})
			k := call(t, c, "echo", `{"text":"again"}`)
			const calls = 200
			before := opened.Load()
			for range calls {
				if r, err := send.Tool(t.Context(), k); err != nil || r.Outcome != send.OK {
					t.Fatal(r, err)
				}
			}
			// One that the next call did not wait for may be opened besides, now and then.
			if n := opened.Load() - before; n > calls/20 {
				t.Errorf("%d calls opened %d connections", calls, n)
			}
		})
	}
}
