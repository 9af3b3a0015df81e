package mcphost_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
	"steward/mcphost/send"
)

// whose is an asker that notes of each question whose calls it belongs to.
type whose struct {
	mu    sync.Mutex
	calls map[string]string // by message
	meet  chan struct{}     // both questions are open
	open  int
}

func (a *whose) Elicit(ctx context.Context, e mcphost.Elicitation) (mcphost.ElicitAnswer, error) {
	a.mu.Lock()
	a.calls[e.Message] = strings.Join(e.Calls, " ")
	if a.open++; a.open == 2 {
		close(a.meet)
	}
	a.mu.Unlock()
	select {
	case <-a.meet:
	case <-ctx.Done():
	}
	return mcphost.ElicitAnswer{Action: "accept", Content: json.RawMessage(`{}`)}, nil
}

func (*whose) Sample(context.Context, mcphost.SamplingRequest) (mcphost.SamplingAnswer, error) {
	return mcphost.SamplingAnswer{}, mcphost.ErrNotAllowed
}

// rootsServer has one tool, which asks for the roots and then the person, and answers with the roots.
func rootsServer(t *testing.T) string {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "library", Version: "1"}, &mcp.ServerOptions{SupportedProtocolVersions: []string{"2025-11-25"}})
	mcp.AddTool(server, &mcp.Tool{Name: "folders"}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		//lint:ignore SA1019 deprecated since 2026-07-28, and still there to be answered
		roots, err := r.Session.ListRoots(ctx, nil)
		if err != nil {
			return nil, nil, err
		}
		uri := roots.Roots[0].URI
		if _, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "May I use " + uri + "?", RequestedSchema: map[string]any{"type": "object"}}); err != nil {
			return nil, nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(len(roots.Roots), " ", uri)}}}, nil, nil
	})
	s := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

// TestFoldersStayApart connects to one server for two conversations with different folders, over HTTP and as a
// program: each gets its own, and what the server asks belongs to the calls of that conversation alone.
func TestFoldersStayApart(t *testing.T) {
	t.Parallel()
	program := trial.Scripted("s", "--step", "tool:folders=@ask roots/list {}", "--step",
		`tool:folders=@ask elicitation/create {"message":"May I use /tmp/OWNER?","requestedSchema":{"type":"object","properties":{}}}`,
		"--step", "tool:folders=@ask roots/list {}", "--step", "tool:folders=@text ${answer}")
	for name, cfg := range map[string]mcphost.ServerConfig{
		"http":  {ID: "s", URL: rootsServer(t), StartTimeout: 10 * time.Second, ToolTimeout: 30 * time.Second},
		"stdio": program,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asker := &whose{calls: map[string]string{}, meet: make(chan struct{})}
			h, _ := trial.Host(t, mcphost.Options{Asker: asker})
			var wg sync.WaitGroup
			seen := map[*mcphost.Connection]bool{}
			for _, owner := range []string{"first", "second"} {
				own := cfg
				own.Roots, own.Args = []string{"/tmp/" + owner}, slices.Clone(cfg.Args)
				for i, a := range own.Args {
					own.Args[i] = strings.ReplaceAll(a, "OWNER", owner)
				}
				c := trial.Connect(t, h, own)
				if again := trial.Connect(t, h, own); again != c || seen[c] {
					t.Fatal("a conversation has not the one connection of its own")
				}
				seen[c] = true
				wg.Go(func() {
					r, err := send.Tool(t.Context(), send.Call{
						Conn: c, Owner: owner, Tool: "folders", Definition: trial.Tool(t, c, "folders").Definition, Arguments: []byte(`{}`),
						Spend: func([]byte) error { return nil },
					})
					if err != nil || r.Outcome != send.OK || !strings.Contains(r.Content[0].Text, "file:///tmp/"+owner) || strings.Count(r.Content[0].Text, "file://") != 1 {
						t.Errorf("%s: %s %s %+v %v", owner, r.Outcome, r.Reason, r.Content, err)
					}
				})
			}
			wg.Wait()
			asker.mu.Lock()
			defer asker.mu.Unlock()
			if len(asker.calls) != 2 {
				t.Errorf("questions: %v", asker.calls)
			}
			for message, calls := range asker.calls {
				if !strings.Contains(message, "/tmp/"+calls) {
					t.Errorf("%q belongs to %q", message, calls)
				}
			}
		})
	}
}
