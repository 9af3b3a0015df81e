package mcphost_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
)

// TestLargestMessage sets how large a message may be: a larger one fails what it answers,
// says the limit, and leaves the server usable.
func TestLargestMessage(t *testing.T) {
	t.Parallel()
	h, _ := trial.Host(t, mcphost.Options{})
	cfg := trial.Scripted("s", "--tools", "500", "--description", strings.Repeat("d", 4000))
	cfg.MaxFrame = 1 << 20
	c := trial.Connect(t, h, cfg)
	if err := c.ListError(); err == nil || !strings.Contains(err.Error(), "1 MiB") {
		t.Errorf("the list: %v", err)
	}
	if err := c.Ping(t.Context()); err != nil {
		t.Errorf("the server is lost with the message: %v", err)
	}
	cfg.ID, cfg.MaxFrame = "larger", 3<<20
	if c := trial.Connect(t, h, cfg); len(c.Tools()) < 500 || c.ListError() != nil {
		t.Errorf("%d tools, %v", len(c.Tools()), c.ListError())
	}
}

// TestStorm has a server send what it may send without end: little of it is told, the list
// is read seldom, the newest of the log is kept, what changed last is told, and the answer
// behind it comes.
func TestStorm(t *testing.T) {
	t.Parallel()
	h, w := trial.Host(t, mcphost.Options{})
	record := filepath.Join(t.TempDir(), "record")
	flags := []string{"--record", record}
	for _, step := range []string{
		`@repeat 15000 @notify notifications/message {"level":"emergency","data":"\u001b[2J fire"}`,
		`@repeat 15000 @notify notifications/resources/updated {"uri":"test://one"}`,
		`@notify notifications/resources/updated {"uri":"test://two"}`,
		`@repeat 15000 @notify notifications/tools/list_changed {}`,
		`@repeat 15000 @notify notifications/of/the/server {}`,
		`@repeat 15000 {"jsonrpc":"2.0","id":999,"result":{}}`,
		`@repeat 15000 @notify notifications/progress {"progressToken":"nobody","progress":1}`,
		`@repeat 10000 a line of text`,
		`@usual`,
	} {
		flags = append(flags, "--step", "ping="+step)
	}
	c := trial.Connect(t, h, trial.Scripted("s", flags...))
	begun := time.Now()
	if err := c.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	trial.Wait(t, w, func(u mcphost.ResourceUpdated) bool { return u.URI == "test://two" })
	until(t, "the log says that messages were left out", func() bool {
		return slices.ContainsFunc(c.Log(), func(l mcphost.LogLine) bool { return strings.Contains(l.Text, "came too fast and were left out") })
	})
	seconds := int(time.Since(begun)/time.Second) + 2
	var messages, updates, noise, lists int
	for _, o := range w.Seen() {
		switch o.(type) {
		case mcphost.LogMessage:
			messages++
		case mcphost.ResourceUpdated:
			updates++
		case mcphost.Noise:
			noise++
		case mcphost.ListChanged:
			lists++
		}
	}
	if messages > 20+3*seconds || updates > 3*seconds || noise > 6*seconds || lists > 0 {
		t.Errorf("in %d s: %d messages, %d updates, %d lines of noise, %d lists", seconds, messages, updates, noise, lists)
	}
	lines, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	if asked := strings.Count(string(lines), "tools/list"); asked > seconds+1 {
		t.Errorf("the tools were read %d times in %d s", asked, seconds)
	}
	left := 0
	for _, l := range c.Log() {
		if strings.Contains(l.Text, "were left out") {
			left++
		}
	}
	if n := len(c.Log()); left == 0 || n > 200+160*seconds {
		t.Errorf("%d lines of the log, %d say that others were left out", n, left)
	}
}

// TestStartIsSeen checks that what a program writes while it starts can be read then, and
// what is known of a start that failed afterwards.
func TestStartIsSeen(t *testing.T) {
	t.Parallel()
	h, _ := trial.Host(t, mcphost.Options{Redact: func(s string) string { return strings.ReplaceAll(s, "hush", "…") }})
	cfg := trial.Scripted("s", "--start", "@stderr npm http fetch GET hush", "--discover", "ignore", "--step", "initialize=@wait nothing", "--name", "hush")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	gone := make(chan error)
	go func() {
		_, err := h.Connect(ctx, cfg)
		gone <- err
	}()
	until(t, "its words are seen", func() bool {
		all := h.Connections()
		return len(all) == 1 && all[0].State() == mcphost.StateStarting && strings.Contains(all[0].Stderr(), "GET …") && len(all[0].Frames()) > 0
	})
	c := h.Connections()[0]
	if l := c.Launch(); l.Path != cfg.Command || strings.Contains(strings.Join(l.Args, " "), "hush") || l.Took != 0 || l.Dir == "" || len(l.Env) == 0 {
		t.Errorf("%+v", l)
	}
	cancel()
	if err := <-gone; err == nil {
		t.Error("it was started")
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if len(c.Frames()) == 0 || !strings.Contains(c.Stderr(), "npm http") {
		t.Error("what was seen of the start is forgotten")
	}
}

// until waits for a condition.
func until(t testing.TB, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !f(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}
