package mcphost_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"steward/mcphost"
	"steward/testdata/costs"
)

// How long many servers may take to be connected, as a multiple of what one takes.
const (
	many        = 30
	toolsOfEach = 200
	mostForMany = 1.3
	slowness    = 500 * time.Millisecond // before each answer of theirs
)

// BenchmarkConnectMany connects one slow server and many of them, by turns: they must not wait for each other.
func BenchmarkConnectMany(b *testing.B) {
	b.Run("stdio", func(b *testing.B) {
		server := filepath.Join(b.TempDir(), "scriptedserver")
		if out, err := exec.Command("go", "build", "-o", server, "steward/testdata/scriptedserver/cmd").CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		args := []string{"--tools", fmt.Sprint(toolsOfEach)}
		for _, method := range []string{"server/discover", "initialize", "tools/list"} {
			args = append(args, "--step", method+"=@sleep "+slowness.String(), "--step", method+"=@usual")
		}
		connectMany(b, func(i int) mcphost.ServerConfig {
			return mcphost.ServerConfig{ID: fmt.Sprint("s", i), Command: server, Args: args}
		})
	})
	b.Run("http", func(b *testing.B) {
		s := mcp.NewServer(&mcp.Implementation{Name: "slow", Version: "1"}, nil)
		for i := range toolsOfEach {
			mcp.AddTool(s, &mcp.Tool{Name: fmt.Sprintf("tool-%d", i)}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
				return nil, nil, errors.New("not called here")
			})
		}
		inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(slowness)
			inner.ServeHTTP(w, r)
		}))
		b.Cleanup(web.Close)
		connectMany(b, func(i int) mcphost.ServerConfig { return mcphost.ServerConfig{ID: fmt.Sprint("s", i), URL: web.URL} })
	})
}

func connectMany(b *testing.B, server func(i int) mcphost.ServerConfig) {
	var one, all time.Duration
	ratio := func() float64 { return float64(all) / float64(one) }
	for b.Loop() {
		for range 3 { // what else the computer does can only add to the time
			one, all = connected(b, 1, server), connected(b, many, server)
			if ratio() <= mostForMany {
				break
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(one.Milliseconds()), "one-ms")
	b.ReportMetric(float64(all.Milliseconds()), "all-ms")
	b.ReportMetric(ratio(), "ratio")
	if ratio() > mostForMany {
		costs.TooHigh(b, "%d servers were connected in %v, one in %v", many, all, one)
	}
}

// connected measures the time until so many servers are ready, with all their tools.
func connected(b *testing.B, n int, server func(i int) mcphost.ServerConfig) time.Duration {
	h := mcphost.New(mcphost.Options{WorkDir: b.TempDir()})
	defer func() {
		if err := h.Close(context.WithoutCancel(b.Context())); err != nil {
			b.Error(err)
		}
	}()
	var wg sync.WaitGroup
	start := time.Now()
	for i := range n {
		wg.Go(func() {
			c, err := h.Connect(b.Context(), server(i))
			if err != nil {
				b.Error(err)
			} else if got := len(c.Tools()); got < toolsOfEach {
				b.Errorf("%d tools", got)
			}
		})
	}
	wg.Wait()
	return time.Since(start)
}
