package mcphost_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
)

const subscribes = `"capabilities":{"tools":{},"resources":{"subscribe":true},"logging":{}}`

// legacyThat answers initialize with subscribes, modernThat server/discover.
const (
	legacyThat = `initialize=@result {"protocolVersion":"2025-11-25",` + subscribes + `,"serverInfo":{"name":"x","version":"1"}}`
	modernThat = `server/discover=@result {"resultType":"complete","supportedVersions":["2026-07-28"],` + subscribes + `,"ttlMs":0,"cacheScope":"private"}`
)

// received waits until the server has received a text n times, and returns all that it received.
func received(t *testing.T, file, text string, n int) string {
	t.Helper()
	limit := time.Now().Add(20 * time.Second)
	for {
		raw, err := os.ReadFile(file)
		if err == nil && strings.Count(string(raw), text) >= n {
			return string(raw)
		}
		if time.Now().After(limit) {
			t.Fatalf("%q did not come %d times: %v\n%s", text, n, err, raw)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestLogLevel(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "record")
	h, w := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s", "--record", file, "--step", `logging/setLevel=@notify notifications/message {"level":"debug","data":"deep"}`, "--step", "logging/setLevel=@usual"))
	received(t, file, `"level":"info"`, 1)
	if err := c.SetLogLevel(t.Context(), "loud"); err == nil {
		t.Error("a level that is none was sent")
	}
	if err := c.SetLogLevel(t.Context(), "Debug"); err != nil {
		t.Fatal(err)
	}
	received(t, file, `"level":"debug"`, 1)
	trial.Wait(t, w, func(m mcphost.LogMessage) bool { return m.Text == "deep" })
	if err := c.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	received(t, file, `"level":"debug"`, 2)
	if level, logs := c.LogLevel(); level != "debug" || !logs {
		t.Errorf("level %q, %v", level, logs)
	}
}

func TestLogLevelWhereItIsNotDeclared(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "record")
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s", "--record", file,
		"--step", `initialize=@result {"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`))
	if err := c.SetLogLevel(t.Context(), "debug"); err == nil {
		t.Error("the level was set")
	}
	if err := c.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if raw := received(t, file, `"ping"`, 1); strings.Contains(raw, "logging/setLevel") {
		t.Errorf("it was asked for what it does not declare:\n%s", raw)
	}
}

func TestLogLevelOfTheNewerEra(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "record")
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s", "--record", file, "--discover", "answer"))
	received(t, file, `"io.modelcontextprotocol/logLevel":"info"`, 1)
	if err := c.SetLogLevel(t.Context(), "error"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ReadResource(t.Context(), "test://one"); err != nil {
		t.Fatal(err)
	}
	if raw := received(t, file, `"io.modelcontextprotocol/logLevel":"error"`, 1); strings.Contains(raw, "logging/setLevel") {
		t.Errorf("it was asked in the way of the older era:\n%s", raw)
	}
}

// TestSubscriptions follows a resource in both eras, over a restart, until nobody wants to know.
func TestSubscriptions(t *testing.T) {
	t.Parallel()
	const updated = `@notify notifications/resources/updated {"uri":"test://one"}`
	tests := []struct {
		name, version, asked, ended string
		steps                       []string
	}{
		{"older era", legacyThat, `"method":"resources/subscribe"`, `"method":"resources/unsubscribe"`,
			[]string{"resources/subscribe=@usual", "resources/subscribe=" + updated}},
		{"newer era", modernThat, `"resourceSubscriptions":["test://one"]`, `"method":"notifications/cancelled"`,
			[]string{"subscriptions/listen=@usual", "subscriptions/listen=" + updated}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "record")
			flags := []string{"--record", file, "--step", tt.version}
			for _, s := range tt.steps {
				flags = append(flags, "--step", s)
			}
			h, w := trial.Host(t, mcphost.Options{})
			c := trial.Connect(t, h, trial.Scripted("s", flags...))
			for range 2 { // the second time nothing is sent
				if err := c.Subscribe(t.Context(), "test://one"); err != nil {
					t.Fatal(err)
				}
			}
			is := func(u mcphost.ResourceUpdated) bool { return u.URI == "test://one" }
			trial.Wait(t, w, is)
			if err := c.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			raw := received(t, file, tt.asked, 2)
			if n := strings.Count(raw, tt.asked); n != 2 {
				t.Errorf("asked %d times:\n%s", n, raw)
			}
			if err := c.Unsubscribe(t.Context(), "test://one"); err != nil {
				t.Fatal(err)
			}
			received(t, file, tt.ended, 1)
			if err := c.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := c.Ping(t.Context()); err != nil {
				t.Fatal(err)
			}
			if raw, err := os.ReadFile(file); err != nil || strings.Count(string(raw), tt.asked) != 2 {
				t.Errorf("asked again although nobody wants to know: %v\n%s", err, raw)
			}
		})
	}
}

// TestFloodOfLogMessages checks that a flood is gathered, that an error in it is told, and that nothing else waits for it.
func TestFloodOfLogMessages(t *testing.T) {
	t.Parallel()
	h, w := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s", "--step", "prompts/get=@repeat 5000 "+`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"more"}}`,
		"--step", `prompts/get=@notify notifications/message {"level":"emergency","logger":"core","data":"it burns"}`, "--step", "prompts/get=@usual"))
	if _, err := c.GetPrompt(t.Context(), "greet", nil); err != nil {
		t.Fatal(err)
	}
	m := trial.Wait(t, w, func(m mcphost.LogMessage) bool { return m.Level == "emergency" })
	if m.Text != "it burns" || m.Logger != "core" || m.Count != 1 {
		t.Errorf("%+v", m)
	}
	told, counted := 0, 0
	for _, o := range w.Seen() {
		if m, ok := o.(mcphost.LogMessage); ok && m.Level == "info" {
			told, counted = told+1, counted+m.Count
		}
	}
	if told == 0 || told > 100 || counted < told {
		t.Errorf("%d messages were told, for %d", told, counted)
	}
	limit := time.Now().Add(20 * time.Second)
	for {
		lines, left := 0, ""
		for _, l := range c.Log() {
			if l.Kind == "message" {
				lines++
			}
			if strings.Contains(l.Text, "too fast") {
				left = l.Text
			}
		}
		if left != "" && lines > 0 && lines < 800 {
			break
		}
		if time.Now().After(limit) {
			t.Fatalf("%d lines in the log, %q", lines, left)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestRoundsOfReading checks that prompts and resources are asked for again with what the server wants, its state byte for
// byte, not more than 8 times, and that the state is on no other request.
func TestRoundsOfReading(t *testing.T) {
	t.Parallel()
	for method, read := range map[string]func(*mcphost.Connection) error{
		"prompts/get": func(c *mcphost.Connection) error {
			_, err := c.GetPrompt(t.Context(), "greet", map[string]string{"who": "x"})
			return err
		},
		"resources/read": func(c *mcphost.Connection) error {
			_, err := c.ReadResource(t.Context(), "test://one")
			return err
		},
	} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "record")
			h, _ := trial.Host(t, mcphost.Options{})
			c := trial.Connect(t, h, trial.Scripted("s", "--record", file, "--discover", "answer",
				"--step", method+`=@result {"resultType":"input_required","inputRequests":{"r":{"method":"roots/list"}},"requestState":"s\u0074\u00e4te-${n}"}`))
			if err := read(c); err == nil || !strings.Contains(err.Error(), "more than 8 times") {
				t.Fatalf("%v", err)
			}
			if _, err := c.Resources(t.Context()); err != nil {
				t.Fatal(err)
			}
			raw := received(t, file, `"method":"resources/list"`, 1)
			asked := 0
			for _, line := range strings.Split(raw, "\n") {
				if !strings.Contains(line, `"method":"`+method+`"`) {
					if strings.Contains(line, "requestState") {
						t.Errorf("the state is on another request: %s", line)
					}
					continue
				}
				if asked++; asked == 1 {
					if strings.Contains(line, "requestState") || strings.Contains(line, "inputResponses") {
						t.Errorf("the first request: %s", line)
					}
					continue
				}
				state := `"requestState":"s\u0074\u00e4te-` + string(rune('0'+asked-1)) + `"`
				if !strings.Contains(line, state) || !strings.Contains(line, `"inputResponses":{"r":{"roots":[]}}`) {
					t.Errorf("request %d: %s", asked, line)
				}
			}
			if asked != 8 {
				t.Errorf("asked %d times", asked)
			}
		})
	}
}
