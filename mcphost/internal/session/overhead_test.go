package session_test

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"steward/mcphost/internal/session"
	"steward/mcphost/internal/trial"
	"steward/mcphost/internal/wire"
)

// BenchmarkOverhead compares a call through this program's session and the Tap with one of the library alone, in
// memory: both talk over pipes to the library's own server.
func BenchmarkOverhead(b *testing.B) {
	for _, size := range trial.Sizes {
		b.Run("memory/"+size.Name, func(b *testing.B) {
			arguments := trial.EchoArguments(size.Bytes)
			bare, ours := library(b), ourSession(b)
			trial.Compare(b, size, func() error {
				return trial.BareCall(b.Context(), bare, arguments)
			}, func() error {
				r := ours.Do(b.Context(), session.Request{
					Method: "tools/call", Subject: "echo", Params: []wire.Member{{Name: "arguments", Value: arguments}},
				})
				if r.Err == nil && len(r.Result) < size.Bytes {
					return fmt.Errorf("the result has %d bytes", len(r.Result))
				}
				return r.Err
			})
		})
	}
}

// serve runs the server at the other end of two pipes, and returns ours.
func serve(b *testing.B) (in io.ReadCloser, out io.WriteCloser) {
	b.Helper()
	in, serverOut := io.Pipe()
	serverIn, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- trial.EchoServer().Run(context.WithoutCancel(b.Context()), &mcp.IOTransport{Reader: serverIn, Writer: serverOut})
	}()
	b.Cleanup(func() {
		_ = out.Close() // a pipe's never fails
		<-ended         // however it ended: there is nobody to talk to
	})
	return in, out
}

func library(b *testing.B) *mcp.ClientSession {
	in, out := serve(b)
	return trial.Bare(b, &mcp.IOTransport{Reader: in, Writer: out})
}

func ourSession(b *testing.B) *session.Session {
	in, out := serve(b)
	tap := wire.NewTap(wire.Options{})
	link := wire.NewStdio(wire.StdioOptions{Process: &piped{in: out, out: in, done: make(chan struct{})}, Tap: tap})
	s, err := session.Open(b.Context(), link, tap, session.Options{
		Client: mcp.Implementation{Name: "steward", Version: "1"}, Discover: true, Probe: time.Minute,
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s
}

// piped is a program that is not one: its input and output are pipes in memory.
type piped struct {
	in   io.WriteCloser
	out  io.ReadCloser
	done chan struct{}
}

func (p *piped) Stdin() io.WriteCloser    { return p.in }
func (p *piped) Stdout() io.ReadCloser    { return p.out }
func (p *piped) Done() <-chan struct{}    { return p.done }
func (p *piped) Drained() <-chan struct{} { return p.done }
func (p *piped) ExitCode() int            { return 0 }
func (p *piped) Ending() string           { return "closed" }
func (p *piped) Tail(int) string          { return "" }

func (p *piped) Stop(time.Duration) error {
	close(p.done)
	_ = p.in.Close() // as above
	return p.out.Close()
}
