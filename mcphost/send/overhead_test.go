package send_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
	"steward/mcphost/send"
)

// BenchmarkOverhead compares a tool call through this program, the whole way, with one of the protocol library alone
// to the same server, as a program and over HTTP. In memory: mcphost/internal/session.
func BenchmarkOverhead(b *testing.B) {
	b.Run("stdio", func(b *testing.B) {
		path, env := trial.EchoCommand()
		command := exec.Command(path)
		command.Env = append(os.Environ(), env...)
		overhead(b, &mcp.CommandTransport{Command: command}, mcphost.ServerConfig{
			ID: "echo", Command: path, Env: map[string]string{"MCPHOST_TRIAL_ROLE": "echo"},
		})
	})
	// The library's server speaks the newer version of the protocol over HTTP only without sessions.
	for name, stateless := range map[string]bool{"http": true, "http-with-session": false} {
		b.Run(name, func(b *testing.B) {
			one := trial.EchoServer()
			s := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return one },
				&mcp.StreamableHTTPOptions{Stateless: stateless}))
			b.Cleanup(s.Close)
			overhead(b, &mcp.StreamableClientTransport{Endpoint: s.URL}, mcphost.ServerConfig{ID: "echo", URL: s.URL})
		})
	}
}

func overhead(b *testing.B, transport mcp.Transport, cfg mcphost.ServerConfig) {
	bare := trial.Bare(b, transport)
	h, _ := trial.Host(b, mcphost.Options{})
	c := trial.Connect(b, h, cfg)
	b.Log("protocol", c.Protocol())
	if c.Protocol() != bare.InitializeResult().ProtocolVersion {
		b.Fatalf("versions %s and %s", c.Protocol(), bare.InitializeResult().ProtocolVersion)
	}
	for _, size := range trial.Sizes {
		b.Run(size.Name, func(b *testing.B) {
			k := call(b, c, "echo", string(trial.EchoArguments(size.Bytes)))
			trial.Compare(b, size, func() error {
				return trial.BareCall(b.Context(), bare, k.Arguments)
			}, func() error {
				r, err := send.Tool(b.Context(), k)
				if err == nil && (r.Outcome != send.OK || len(r.Content) != 1) {
					err = fmt.Errorf("%s: %s", r.Outcome, r.Reason)
				}
				return err
			})
		})
	}
}
