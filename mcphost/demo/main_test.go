package demo

//lint:file-ignore SA1019 Sampling is deprecated since MCP 2026-07-28 but has to be tested while it is served.

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

// A child of the tests with this variable is the demo server on its standard streams.
const childVariable = "STEWARD_TEST_DEMO_STDIO"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		if err := Stdio(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// eras are the protocol revisions a client can be made to speak: one that negotiates,
// and those of the handshake.
var eras = []string{"", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// peer is a client with what it was asked and told.
type peer struct {
	*mcp.ClientSession
	mu       sync.Mutex
	asked    []*mcp.ElicitParams
	sampled  []string
	progress []mcp.ProgressNotificationParams
	updated  chan string
}

// behaviour says how a client answers the server's questions; nil is "cannot".
type behaviour struct {
	elicit func(*mcp.ElicitParams) (*mcp.ElicitResult, error)
	sample func(text string) (string, error)
}

func (p *peer) options(b behaviour) *mcp.ClientOptions {
	o := &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.progress = append(p.progress, *r.Params)
		},
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { p.updated <- r.Params.URI },
	}
	if b.elicit != nil {
		o.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			p.mu.Lock()
			p.asked = append(p.asked, r.Params)
			p.mu.Unlock()
			return b.elicit(r.Params)
		}
	}
	if b.sample != nil {
		o.CreateMessageHandler = func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			text := r.Params.Messages[0].Content.(*mcp.TextContent).Text
			p.mu.Lock()
			p.sampled = append(p.sampled, text)
			p.mu.Unlock()
			answer, err := b.sample(text)
			if err != nil {
				return nil, err
			}
			return &mcp.CreateMessageResult{Role: "assistant", Model: "test", Content: &mcp.TextContent{Text: answer}}, nil
		}
	}
	return o
}

// connect gives a client of transport that speaks version.
func connect(t *testing.T, transport mcp.Transport, version string, b behaviour) *peer {
	t.Helper()
	p := &peer{updated: make(chan string, 10)}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, p.options(b))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	session, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatalf("connect %q: %v", version, err)
	}
	p.ClientSession = session
	t.Cleanup(func() { _ = session.Close() })
	return p
}

// newPeer gives a client in the same process.
func newPeer(t *testing.T, version string, b behaviour) *peer {
	t.Helper()
	s, err := newServer(func() time.Time { return time.Date(2025, 3, 19, 12, 0, 0, 0, time.UTC) })
	if err != nil {
		t.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(done)
		_ = s.mcp.Run(ctx, far)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return connect(t, near, version, b)
}

// call calls a tool with arguments as JSON text.
func (p *peer) call(t *testing.T, tool, arguments string) *mcp.CallToolResult {
	t.Helper()
	res, err := p.try(t, tool, arguments)
	if err != nil {
		t.Fatalf("%s(%s): %v", tool, arguments, err)
	}
	return res
}

func (p *peer) try(t *testing.T, tool, arguments string) (*mcp.CallToolResult, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	params := &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)}
	params.SetProgressToken("p-" + tool)
	return p.CallTool(ctx, params)
}

// text is what a result says.
func text(res *mcp.CallToolResult) string {
	var parts []string
	for _, c := range res.Content {
		if tc, ok := c.(*mcp.TextContent); ok {
			parts = append(parts, tc.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// value decodes the structured result and checks that the text is the same.
func value[T any](t *testing.T, res *mcp.CallToolResult) T {
	t.Helper()
	var v T
	if res.IsError {
		t.Fatalf("an error: %s", text(res))
	}
	if err := json.Unmarshal([]byte(text(res)), &v); err != nil {
		t.Fatalf("the text %q is not the value: %v", text(res), err)
	}
	var a, b any
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil || json.Unmarshal(raw, &a) != nil || json.Unmarshal([]byte(text(res)), &b) != nil || fmt.Sprint(a) != fmt.Sprint(b) {
		t.Fatalf("structured %s and text %s differ (%v)", raw, text(res), err)
	}
	return v
}

// wantError checks that a result is an error a model can read.
func wantError(t *testing.T, res *mcp.CallToolResult, part string) {
	t.Helper()
	if !res.IsError || !strings.Contains(text(res), part) {
		t.Errorf("isError %v, text %q; want an error with %q", res.IsError, text(res), part)
	}
}
