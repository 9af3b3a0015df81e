package demo

import (
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// BenchmarkStart is what the demo server costs before it can answer; the baseline is
// an SDK server without any features.
func BenchmarkStart(b *testing.B) {
	b.Run("baseline=empty-server", func(b *testing.B) {
		for b.Loop() {
			mcp.NewServer(&mcp.Implementation{Name: name, Version: "1"}, nil)
		}
	})
	b.Run("demo", func(b *testing.B) {
		for b.Loop() {
			if _, err := newServer(time.Now); err != nil {
				b.Fatal(err)
			}
		}
	})
}
