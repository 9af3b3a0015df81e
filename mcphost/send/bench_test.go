package send_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
	"steward/mcphost/send"
)

// BenchmarkSend measures one call of an echo tool over stdio, and the protocol
// library alone against the same server as the baseline.
func BenchmarkSend(b *testing.B) {
	arguments := []byte(`{"text":"日期 2025-03-17","n":12345678901234567890}`)
	cfg := trial.Scripted("s")
	b.Run("baseline", func(b *testing.B) {
		command := exec.Command(cfg.Command, cfg.Args...)
		command.Env = os.Environ()
		for name, value := range cfg.Env {
			command.Env = append(command.Env, name+"="+value)
		}
		client := mcp.NewClient(&mcp.Implementation{Name: "baseline", Version: "1"}, nil)
		session, err := client.Connect(b.Context(), &mcp.CommandTransport{Command: command}, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := session.CallTool(b.Context(), &mcp.CallToolParams{Name: "echo", Arguments: json.RawMessage(arguments)}); err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		if err := session.Close(); err != nil {
			b.Log(err)
		}
	})
	b.Run("steward", func(b *testing.B) {
		h, _ := trial.Host(b, mcphost.Options{})
		c := trial.Connect(b, h, cfg)
		k := call(b, c, "echo", string(arguments))
		b.ReportAllocs()
		for b.Loop() {
			r, err := send.Tool(b.Context(), k)
			if err != nil || r.Outcome != send.OK {
				b.Fatal(r, err)
			}
		}
		b.StopTimer()
	})
}

// BenchmarkStart measures a start, from nothing to the list of tools, and the
// bare start of the same program as the baseline.
func BenchmarkStart(b *testing.B) {
	cfg := trial.Scripted("s")
	b.Run("baseline", func(b *testing.B) {
		for b.Loop() {
			command := exec.Command(cfg.Command, "--start", "@exit 0")
			command.Env = append(os.Environ(), "MCPHOST_TRIAL_ROLE=scripted")
			if err := command.Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("steward", func(b *testing.B) {
		for b.Loop() {
			h, _ := trial.Host(b, mcphost.Options{})
			trial.Connect(b, h, cfg)
			b.StopTimer()
			if err := h.Close(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	})
}
