package mcphost_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
)

func framesText(frames []mcphost.Frame) string {
	var b strings.Builder
	for _, f := range frames {
		fmt.Fprintf(&b, "%s %s\n", f.Direction, f.Bytes)
	}
	return b.String()
}

// TestTheLogHoldsWhatHTTPSaid checks that a status that is no success stands with the call it answers, and that sessions
// begun again, streams and the end of the session stand in the connection's log.
func TestTheLogHoldsWhatHTTPSaid(t *testing.T) {
	t.Parallel()
	var state sessions
	s := newWeb(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
		if m.Method == "tools/call" {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.WriteHeader(http.StatusBadGateway)
			fmt.Fprint(w, "<html>the gateway "+strings.Repeat("x", 100_000))
			return true
		}
		return state.rpc(w, r, m)
	}, nil)
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, config(s))
	r := callEcho(t, c, "echo")
	if got := framesText(r.Frames); !strings.Contains(got, "in HTTP 502 Bad Gateway text/html\n\n<html>the gateway xxx") || !strings.Contains(got, `out {"jsonrpc":"2.0"`) || len(got) > 10_000 {
		t.Errorf("the frames of the call: %.6000s", got)
	}
	state.current.Store(0)
	if err := c.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"out GET /mcp", "in HTTP 404 Not Found", `"id":"session-2"`, `in {"jsonrpc":"2.0","id":"session-2","result"`}
	limit := time.Now().Add(20 * time.Second)
	for {
		got := framesText(c.Frames())
		missing := ""
		for _, w := range want {
			if !strings.Contains(got, w) {
				missing = w
			}
		}
		if missing == "" && strings.Count(got, `out {"jsonrpc":"2.0","method":"notifications/initialized"}`) >= 1 {
			break
		}
		if time.Now().After(limit) {
			t.Fatalf("the log lacks %q:\n%s", missing, got)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// script writes steps to a file, for those that are too long for a command line.
func script(t *testing.T, steps ...string) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"step": steps})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestTheLogOutlivesARestart checks that what went before a crash, and what the server was asked to find out which era it
// is of, can still be looked at when it has been started again.
func TestTheLogOutlivesARestart(t *testing.T) {
	t.Parallel()
	h, w := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s", "--discover", "exit"))
	if r := callEcho(t, c, "die"); r.Outcome != "unknown" {
		t.Fatalf("%+v", r)
	}
	trial.Wait(t, w, func(e mcphost.Exited) bool { return e.Code == 3 })
	if err := c.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := framesText(c.Frames())
	for text, most := range map[string]int{`"method":"server/discover"`: 1, `"name":"die","arguments"`: 1, `"method":"initialize"`: 2, `"method":"ping"`: 1} {
		if n := strings.Count(got, text); n != most {
			t.Errorf("%s stands there %d times, want %d:\n%s", text, n, most, got)
		}
	}
}
