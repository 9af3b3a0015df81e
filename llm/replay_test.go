package llm

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"steward/testdata/replay"
)

const replays = "../testdata/replay"

var update = flag.Bool("update", false, "write what came of each replayed answer beside it, to be read and judged")

// replayTools are offered with each request.
var replayTools = []Tool{{Name: "get_time"}, {Name: "weather"}, {Name: "time"}, {Name: "edit"}, {Name: "edit_file"}, {Name: "write_file"}, {Name: "list_all"}, {Name: "read_file"}}

// TestReplay has every file of testdata/replay answer: as it stands, byte by byte, and in random pieces. What comes of
// it must be what stands beside it each time.
func TestReplay(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(1, 2))
	sizes := func() int {
		mu.Lock()
		defer mu.Unlock()
		return 1 + random.IntN(48)
	}
	for name, cut := range map[string]struct {
		piece func() int
		read  func(io.Reader) io.Reader
	}{
		"whole":  {nil, func(r io.Reader) io.Reader { return r }},
		"bytes":  {func() int { return 1 }, iotest.OneByteReader},
		"random": {sizes, func(r io.Reader) io.Reader { return pieces{r, sizes} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if *update && name != "whole" {
				t.Skip("only the whole answers are written down")
			}
			s, err := replay.Serve("127.0.0.1:0", replays, cut.piece)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			if n := len(s.Names()); n < 80 {
				t.Errorf("only %d answers are replayed", n)
			}
			for _, file := range s.Names() {
				t.Run(file, func(t *testing.T) {
					t.Parallel()
					checkReplay(t, s, file, cut.read)
				})
			}
		})
	}
}

// checkReplay asks once and compares what happens.
func checkReplay(t *testing.T, s *replay.Server, file string, read func(io.Reader) io.Reader) {
	raw, err := os.ReadFile(filepath.Join(replays, file+".http"))
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t, s.URL(file), func(e *Endpoint, o *Options) {
		e.Model = "asked"
		e.Key = func() string { return "sk-replayed-key" }
		o.Now = func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
		own := newTransport(Options{})
		t.Cleanup(own.CloseIdleConnections)
		o.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			resp, err := own.RoundTrip(r)
			if err == nil {
				resp.Body = struct {
					io.Reader
					io.Closer
				}{read(resp.Body), resp.Body}
			}
			return resp, err
		})
		if o.Idle = time.Minute; strings.Contains(string(raw), "@@ hang") {
			o.Idle, o.FirstToken = 3*time.Second, time.Minute
		}
	})
	c.random = func(int64) int64 { return 0 }
	got := strings.ReplaceAll(outcomeOf(t, c), s.URL(file), "http://replay/v1")
	got = strings.ReplaceAll(got, strings.TrimSuffix(s.URL(file), "/"+file+"/v1"), "http://replay")
	got += fmt.Sprintf("requests %d\n", s.Asked(file))
	beside := filepath.Join(replays, file+".want")
	if *update {
		if err := os.WriteFile(beside, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(beside)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// outcomeOf asks a client and writes down the events, one a line; pieces of one text are one.
func outcomeOf(t *testing.T, c *Client) string {
	t.Helper()
	var b, text strings.Builder
	kind := ""
	flush := func(next string) {
		if kind != next && kind != "" {
			fmt.Fprintf(&b, "%s %s\n", kind, asJSON(text.String()))
			text.Reset()
		}
		kind = next
	}
	r := Request{Messages: []Message{{Role: RoleUser, Text: "hi"}}, Tools: replayTools}
	answer, err := c.Stream(t.Context(), r, func(e Event) {
		switch e := e.(type) {
		case TextDelta:
			flush("text")
			text.WriteString(e.Text)
		case ReasoningDelta:
			flush("reasoning")
			text.WriteString(e.Text)
		case Retrying:
			flush("")
			fmt.Fprintf(&b, "retry %d after %v: %s\n", e.Attempt, e.After, e.Reason)
		case Warning:
			flush("")
			fmt.Fprintf(&b, "warning %s: %s\n", e.Kind, e.Message)
		case UsageEvent:
			flush("")
			fmt.Fprintf(&b, "usage in %d (cached %d), out %d (reasoning %d), %d\n", e.Input, e.Cached, e.Output, e.Reasoning, e.Total)
		}
	})
	flush("")
	for _, call := range answer.Calls {
		id := call.ID
		if strings.HasPrefix(id, "call_") && len(id) == 29 {
			id = "(made)"
		}
		if call.Problem != "" {
			fmt.Fprintf(&b, "broken call %s %s %s: %s\n", id, call.Name, asJSON(call.Raw), call.Problem)
		} else {
			fmt.Fprintf(&b, "call %s %s %s\n", id, call.Name, call.Arguments)
		}
		if call.Extra != nil {
			fmt.Fprintf(&b, "  extra %s\n", call.Extra)
		}
	}
	if answer.ReasoningKey != "" {
		fmt.Fprintf(&b, "reasoning came in %s\n", answer.ReasoningKey)
	}
	if answer.Extra != nil {
		fmt.Fprintf(&b, "extra %s\n", answer.Extra)
	}
	fmt.Fprintf(&b, "%s, finish %q, model %s\n", answer.State, answer.Finish, answer.Model)
	var problem *Error
	if errors.As(err, &problem) {
		fmt.Fprintf(&b, "error %s %d, retryable %v: %s\n", problem.Kind, problem.Status, problem.Retryable, problem.Message)
	} else if err != nil {
		t.Errorf("the error is a %T: %v", err, err)
	}
	return b.String()
}

// asJSON is a text on one line, its letters as they are.
func asJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a text can be written
	}
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(b))
}

// pieces reads in pieces of the given sizes.
type pieces struct {
	r    io.Reader
	size func() int
}

func (p pieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), p.size())]) }

// TestReplayIsByteExact holds what a file says against what came over the wire.
func TestReplayIsByteExact(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	file := "HTTP/1.1 418 Teapot\nX-A: b\r\n\ndata: a\r\n@@ cut\n\r\n\r\n@@ repeat 2\n: é\n\n@@ end\nx\n@@ fill 3 ab\n\ny"
	if err := os.WriteFile(filepath.Join(root, "f.http"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := replay.Serve("127.0.0.1:0", root, func() int { return 2 })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL("f")+"/chat/completions", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	own := newTransport(Options{})
	t.Cleanup(own.CloseIdleConnections)
	resp, err := own.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if want := "data: a\r\n\r\n: é\n\n: é\n\nxababab\ny"; err != nil || resp.Status != "418 Teapot" || resp.Header.Get("X-A") != "b" || string(body) != want {
		t.Errorf("%s, %v, %q instead of %q, error %v", resp.Status, resp.Header, body, want, err)
	}
}
