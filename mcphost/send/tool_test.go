package send_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
	"steward/mcphost/send"
)

// call makes a call of the current definition of a tool.
func call(t testing.TB, c *mcphost.Connection, tool, arguments string) send.Call {
	t.Helper()
	return send.Call{
		Conn: c, Owner: "k_1", Tool: tool, Definition: trial.Tool(t, c, tool).Definition,
		Arguments: []byte(arguments), Timeout: 10 * time.Second,
		Spend:   func([]byte) error { return nil },
		Attempt: func(context.Context, string, any) error { return nil },
	}
}

// do sends a call or ends the test.
func do(t testing.TB, c send.Call) send.Result {
	t.Helper()
	r, err := send.Tool(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func text(r send.Result) string {
	var out []string
	for _, c := range r.Content {
		out = append(out, c.Text)
	}
	return strings.Join(out, "\n")
}

// TestOutcomes calls tools that answer in every way seen.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s"))
	tests := []struct {
		tool, outcome, effect, text, reason, note string
	}{
		{"echo", "ok", "done", `{"a":1}`, "", ""},
		{"slow", "ok", "done", "done", "", ""},
		{"noisy", "ok", "done", "done", "", ""},
		{"flood", "ok", "done", "done", "", ""},
		{"twice", "ok", "done", "once", "", ""},
		{"structured", "ok", "done", "", "", ""},
		{"unknown-content", "ok", "done", `{"type":"hologram","data":7}` + "\nseen", "", "hologram"},
		{"bad-base64", "ok", "done", "[image that cannot be read: its data is not base64]", "", "base64"},
		{"null-content", "ok", "done", "", "", "neither content nor structured content."},
		{"nothing", "ok", "done", "", "", "neither content nor structured content."},
		{"other-result", "ok", "done", `{"toolResult":{"total":36}}`, "", "it was kept as written"},
		{"no-number", "ok", "done", "NaN", "", "were read as null"},
		{"null-item", "ok", "done", "[empty block]\n5", "", "null"},
		{"null-result", "protocol_error", "done", "", "null", ""},
		{"string-content", "ok", "done", "just text", "", "no list"},
		{"string-error", "tool_error", "done", "it failed", "", "isError"},
		{"tool-error", "tool_error", "done", "it failed", "", ""},
		{"no-answer", "protocol_error", "done", "", "", ""},
		{"both", "protocol_error", "done", "", "", ""},
		{"rpc-error", "protocol_error", "done", "", "error -32000: it is broken", ""},
		{"text-error", "protocol_error", "done", "", "boom", ""},
	}
	for _, tt := range tests {
		t.Run(tt.tool, func(t *testing.T) {
			r := do(t, call(t, c, tt.tool, `{"a":1}`))
			if r.Outcome != tt.outcome || r.Effect != tt.effect {
				t.Errorf("outcome %s, effect %s; want %s, %s (%s)", r.Outcome, r.Effect, tt.outcome, tt.effect, r.Reason)
			}
			if text(r) != tt.text {
				t.Errorf("text %q, want %q", text(r), tt.text)
			}
			if !strings.Contains(r.Reason, tt.reason) || (r.Reason == "") != (r.Outcome == "ok" || r.Outcome == "tool_error") {
				t.Errorf("reason %q, want %q", r.Reason, tt.reason)
			}
			if notes := strings.Join(r.Notes, " "); !strings.Contains(notes, tt.note) || (tt.note == "") != (notes == "") {
				t.Errorf("notes %q, want %q", notes, tt.note)
			}
			if r.Outcome == "ok" && (len(r.Raw) == 0 || len(r.Frames) < 2) {
				t.Errorf("raw %s, %d frames", r.Raw, len(r.Frames))
			}
		})
	}
	if r := do(t, call(t, c, "no-number", `{}`)); string(r.Structured) != `{"x":null,"y":null}` || !strings.Contains(string(r.Frames[len(r.Frames)-1].Bytes), `{"x":NaN,"y":-Infinity}`) {
		t.Errorf("structured content %s, as it came: %s", r.Structured, r.Frames[len(r.Frames)-1].Bytes)
	}
	if r := do(t, call(t, c, "structured", `{}`)); string(r.Structured) != `{"z":1,"a":12345678901234567890,"total":36}` {
		t.Errorf("structured content %s", r.Structured)
	}
}

// TestExactBytes checks that the arguments reach the wire byte for byte, and
// that the receipt was spent before, with the same bytes.
func TestExactBytes(t *testing.T) {
	t.Parallel()
	record := filepath.Join(t.TempDir(), "record")
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s", "--record", record))
	for _, arguments := range []string{
		`{}`,
		`{"z":1,"a":2,"z":3}`,
		`{"n":12345678901234567890.10,"e":1E+2,"m":-0}`,
		`{"html":"<a href=\"x\">&amp;</a>","esc":"\u00e9\/\ud83d\ude00","raw":"é😀"}`,
		`{"中文":"日期","line":"\u2028\n","sep":" "}`,
		`{"deep":[[[[{"a":[]}]]]],"name":"other","arguments":{"x":1},"_meta":{"progressToken":"mine"}}`,
	} {
		var spent string
		k := call(t, c, "echo", arguments)
		k.Spend = func(exact []byte) error {
			spent = string(exact)
			if lines, err := os.ReadFile(record); err != nil || strings.Contains(string(lines), `"arguments":`+arguments+`,`) {
				t.Errorf("%s was on the wire before the receipt was spent (%v)", arguments, err)
			}
			return nil
		}
		sent := make(chan bool, 1)
		k.Sent = func() { sent <- true }
		if r := do(t, k); r.Outcome != "ok" || text(r) != arguments {
			t.Errorf("%s came back as %s (%s)", arguments, text(r), r.Reason)
		}
		if spent != arguments {
			t.Errorf("spent with %s", spent)
		}
		select {
		case <-sent:
		case <-time.After(5 * time.Second):
			t.Error("Sent was not called")
		}
		lines, err := os.ReadFile(record)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(lines), `"arguments":`+arguments) {
			t.Errorf("%s is not on the wire:\n%s", arguments, lines)
		}
		if !strings.Contains(string(lines), `"progressToken"`) {
			t.Errorf("no progress token was sent:\n%s", lines)
		}
	}
}

// TestNothingIsSent covers all ways in which a call must not leave.
func TestNothingIsSent(t *testing.T) {
	t.Parallel()
	record := filepath.Join(t.TempDir(), "record")
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s", "--record", record))
	no := func([]byte) error { t.Error("the receipt was spent"); return nil }

	changed := call(t, c, "echo", `{}`)
	changed.Definition, changed.Spend = "sha256:0000", no
	removed := call(t, c, "echo", `{}`)
	removed.Tool, removed.Spend = "no-such-tool", no
	refused := call(t, c, "echo", `{}`)
	refused.Spend = func([]byte) error { return errors.New("the receipt belongs to other bytes") }
	for name, k := range map[string]send.Call{"changed": changed, "removed": removed, "refused": refused} {
		r := do(t, k)
		if r.Outcome != send.Withdrawn || r.Effect != send.EffectNone || !strings.HasPrefix(r.Reason, "Nothing was sent: ") {
			t.Errorf("%s: %+v", name, r)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	k := call(t, c, "echo", `{}`)
	k.Spend = no
	r, err := send.Tool(cancelled, k)
	if err != nil || r.Outcome != send.Cancelled || r.Effect != send.EffectNone {
		t.Errorf("cancelled before: %+v, %v", r, err)
	}
	for name, k := range map[string]send.Call{
		"no receipt":   {Conn: c, Tool: "echo", Arguments: []byte(`{}`)},
		"no arguments": {Conn: c, Tool: "echo", Spend: no},
		"no object":    {Conn: c, Tool: "echo", Spend: no, Arguments: []byte(`[]`)},
	} {
		if _, err := send.Tool(t.Context(), k); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	lines, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(lines), "tools/call") {
		t.Errorf("something was sent:\n%s", lines)
	}
}

// TestRedefinedTool checks that a tool that changes after it was shown is not
// called, while the others go on.
func TestRedefinedTool(t *testing.T) {
	t.Parallel()
	h, w := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s"))
	shown := call(t, c, "echo", `{}`)
	other := call(t, c, "add", `{"a":1,"b":2}`)
	if r := do(t, call(t, c, "redefines", `{}`)); r.Outcome != "ok" {
		t.Fatal(r.Reason)
	}
	if r := do(t, shown); r.Outcome != send.Withdrawn || !strings.Contains(r.Reason, "changed") {
		t.Errorf("%+v", r)
	}
	trial.Wait(t, w, func(l mcphost.ListChanged) bool { return l.Kind == "tools" })
	if r := do(t, other); r.Outcome != "ok" {
		t.Errorf("%+v", r)
	}
	if r := do(t, call(t, c, "removes", `{}`)); r.Outcome != "ok" {
		t.Fatal(r.Reason)
	}
	if r := do(t, shown); r.Outcome != send.Withdrawn || !strings.Contains(r.Reason, "no tool") {
		t.Errorf("%+v", r)
	}
}

// TestListChangesDuringCall checks that a server may announce a change in the
// middle of a call and wait until it is read.
func TestListChangesDuringCall(t *testing.T) {
	t.Parallel()
	h, w := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s"))
	if r := do(t, call(t, c, "changes", `{}`)); r.Outcome != "ok" || text(r) != "changed" {
		t.Fatalf("%+v", r)
	}
	trial.Wait(t, w, func(l mcphost.ListChanged) bool { return l.Kind == "tools" })
	trial.Tool(t, c, "added")
}

// TestCancel checks that a stopped call ends here at once, that the server is
// told, and that an answer it gives all the same is seen.
func TestCancel(t *testing.T) {
	t.Parallel()
	record := filepath.Join(t.TempDir(), "record")
	h, w := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s", "--record", record))
	ctx, cancel := context.WithCancel(t.Context())
	k := call(t, c, "late", `{}`)
	var begun time.Time
	k.Sent = func() {
		time.AfterFunc(50*time.Millisecond, func() { begun = time.Now(); cancel() })
	}
	r, err := send.Tool(ctx, k)
	if err != nil || r.Outcome != send.Cancelled || r.Effect != send.EffectUnknown {
		t.Errorf("%+v, %v", r, err)
	}
	if d := time.Since(begun); d > 500*time.Millisecond {
		t.Errorf("it took %s", d)
	}
	late := trial.Wait(t, w, func(mcphost.Late) bool { return true })
	if late.Owner != "k_1" || !strings.Contains(string(late.Raw), "too late") {
		t.Errorf("late: %+v", late)
	}
	lines, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(lines), "notifications/cancelled") || strings.Contains(string(lines), "context canceled") {
		t.Errorf("the server was told:\n%s", lines)
	}
	if r := do(t, call(t, c, "echo", `{}`)); r.Outcome != "ok" {
		t.Errorf("after it: %+v", r)
	}
}

// TestLimits checks both limits of a call and that the message is true.
func TestLimits(t *testing.T) {
	t.Parallel()
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s", "--step", "tool:busy=@progress 200 20ms", "--step", "tool:busy=@text done",
		"--step", "tool:steady=@progress 8 50ms", "--step", "tool:steady=@text done"))
	silent := call(t, c, "never", `{}`)
	silent.Timeout = 200 * time.Millisecond
	if r := do(t, silent); r.Outcome != send.Timeout || r.Effect != send.EffectUnknown || !strings.Contains(r.Reason, "200ms") || !strings.Contains(r.Reason, "silence") {
		t.Errorf("silent: %+v", r)
	}
	busy := call(t, c, "busy", `{}`)
	busy.Timeout, busy.Max = time.Second, 1500*time.Millisecond
	if r := do(t, busy); r.Outcome != send.Timeout || !strings.Contains(r.Reason, "1.5s") || !strings.Contains(r.Reason, "progress or not") {
		t.Errorf("busy: %+v", r)
	}
	steady := call(t, c, "steady", `{}`)
	steady.Timeout = 250 * time.Millisecond
	var mu sync.Mutex
	var values []float64
	steady.Progress = func(done, _ float64, _ string) {
		mu.Lock()
		defer mu.Unlock()
		values = append(values, done)
	}
	if r := do(t, steady); r.Outcome != "ok" {
		t.Errorf("progress did not renew the limit: %+v", r)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(values) == 0 {
		t.Error("no progress was seen")
	}
}

// TestServerGone checks that a call ends at once when its server does.
func TestServerGone(t *testing.T) {
	t.Parallel()
	for tool, want := range map[string]string{"die": "out of luck", "killed": "killed", "mute": "closed"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			record := filepath.Join(t.TempDir(), "record")
			h, _ := trial.Host(t, mcphost.Options{})
			c := trial.Connect(t, h, trial.Scripted("s", "--record", record))
			begun := time.Now()
			r := do(t, call(t, c, tool, `{}`))
			if r.Outcome != send.Unknown || r.Effect != send.EffectUnknown || !strings.Contains(r.Reason, want) {
				t.Errorf("%+v", r)
			}
			if d := time.Since(begun); d > 3*time.Second {
				t.Errorf("it took %s", d)
			}
			// The next use starts the server again, and nothing is sent twice.
			if r := do(t, call(t, c, "echo", `{}`)); r.Outcome != "ok" {
				t.Errorf("afterwards: %+v", r)
			}
			lines, err := os.ReadFile(record)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(lines), `"name":"`+tool+`"`); n != 1 {
				t.Errorf("%s was called %d times", tool, n)
			}
		})
	}
}

// TestUnreadInput checks that a server that stops reading blocks nothing.
func TestUnreadInput(t *testing.T) {
	t.Parallel()
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s"))
	do(t, call(t, c, "deaf", `{}`))
	k := call(t, c, "echo", `{"x":"`+strings.Repeat("x", 1<<20)+`"}`)
	k.Timeout = 300 * time.Millisecond
	begun := time.Now()
	r := do(t, k)
	if r.Outcome != send.Timeout || r.Effect != send.EffectUnknown {
		t.Errorf("%+v", r)
	}
	if d := time.Since(begun); d > 2*time.Second {
		t.Errorf("it took %s", d)
	}
	begun = time.Now()
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if d := time.Since(begun); d > 3*time.Second {
		t.Errorf("closing took %s", d)
	}
}

// TestBigResult reads a result far above the usual limits of line readers.
func TestBigResult(t *testing.T) {
	t.Parallel()
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s", "--step", "tool:huge=@big 200000000", "--step", "tool:large=@big 50000000"))
	if r := do(t, call(t, c, "big", `{}`)); r.Outcome != "ok" || len(text(r)) != 5_000_000 {
		t.Errorf("%d bytes, %s", len(text(r)), r.Reason)
	}
	large := call(t, c, "large", `{}`)
	large.Timeout = time.Minute
	if r := do(t, large); r.Outcome != "ok" || len(text(r)) != 50_000_000 {
		t.Errorf("%d bytes, %s", len(text(r)), r.Reason)
	}
	huge := call(t, c, "huge", `{}`)
	huge.Timeout = time.Minute
	if r := do(t, huge); r.Outcome != send.ProtocolError || !strings.Contains(r.Reason, "64 MiB") {
		t.Errorf("%s %s", r.Outcome, r.Reason)
	}
	if r := do(t, call(t, c, "echo", `{}`)); r.Outcome != "ok" {
		t.Errorf("after it: %+v", r)
	}
}
