package mcphost_test

import (
	"context"
	"testing"
	"time"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
	"steward/mcphost/send"
)

// TestHTTPStoppedBeforeSent stops calls before the library has come to send them. What reaches the server is what
// the record was asked about, and how the call ended says which.
func TestHTTPStoppedBeforeSent(t *testing.T) {
	t.Parallel()
	s := newWeb(t, nil, nil)
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, config(s))
	spent, mayHave := 0, 0
	for i := range 300 {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Duration(i)*time.Microsecond, cancel)
		done := make(chan struct{}, 1) // the library's goroutine may still be at it
		r, err := send.Tool(ctx, send.Call{
			Conn: c, Owner: "k", Tool: "echo", Definition: trial.Tool(t, c, "echo").Definition, Arguments: []byte(`{}`),
			Spend: func([]byte) error { done <- struct{}{}; return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		spent += len(done)
		if r.Effect != send.EffectNone {
			mayHave++
		}
	}
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := s.count("POST tools/call"); n > spent || spent != mayHave {
		t.Errorf("%d calls reached the server, %d were recorded before, %d are said to have been sent perhaps", n, spent, mayHave)
	}
}
