package send_test

import (
	"context"
	"encoding/json"
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
		{"null-content", "ok", "done", "", "", ""},
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
	busy.Timeout, busy.Max = time.Second, 300*time.Millisecond
	if r := do(t, busy); r.Outcome != send.Timeout || !strings.Contains(r.Reason, "300ms") || !strings.Contains(r.Reason, "progress or not") {
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
	c := trial.Connect(t, h, trial.Scripted("s", "--step", "tool:huge=@big 70000000"))
	if r := do(t, call(t, c, "big", `{}`)); r.Outcome != "ok" || len(text(r)) != 5_000_000 {
		t.Errorf("%d bytes, %s", len(text(r)), r.Reason)
	}
	if r := do(t, call(t, c, "huge", `{}`)); r.Outcome != send.ProtocolError || !strings.Contains(r.Reason, "64 MiB") {
		t.Errorf("%s %s", r.Outcome, r.Reason)
	}
	if r := do(t, call(t, c, "echo", `{}`)); r.Outcome != "ok" {
		t.Errorf("after it: %+v", r)
	}
}

// asker answers as its functions say.
type asker struct {
	elicit func(context.Context, mcphost.Elicitation) (mcphost.ElicitAnswer, error)
	sample func(context.Context, mcphost.SamplingRequest) (mcphost.SamplingAnswer, error)
}

func (a asker) Elicit(ctx context.Context, e mcphost.Elicitation) (mcphost.ElicitAnswer, error) {
	return a.elicit(ctx, e)
}

func (a asker) Sample(ctx context.Context, r mcphost.SamplingRequest) (mcphost.SamplingAnswer, error) {
	return a.sample(ctx, r)
}

// TestAsks checks that what a server asks during a call is answered while the
// call waits, and that the time does not count.
func TestAsks(t *testing.T) {
	t.Parallel()
	a := asker{
		elicit: func(_ context.Context, e mcphost.Elicitation) (mcphost.ElicitAnswer, error) {
			time.Sleep(250 * time.Millisecond) // longer than the call's limit
			if e.Server != "s" || len(e.Calls) != 1 || e.Calls[0] != "k_1" {
				t.Errorf("elicitation %+v", e)
			}
			if e.Mode == "url" && (e.URL != "https://example.com/in" || e.ElicitationID != "e1") {
				t.Errorf("elicitation %+v", e)
			}
			return mcphost.ElicitAnswer{Action: "accept", Content: json.RawMessage(`{"name":"李","age":12345678901234567890}`)}, nil
		},
		sample: func(_ context.Context, r mcphost.SamplingRequest) (mcphost.SamplingAnswer, error) {
			if r.MaxTokens != 50 || len(r.Messages) != 1 || r.Messages[0].Content[0].Text != "sum" {
				t.Errorf("sampling %+v", r)
			}
			return mcphost.SamplingAnswer{Model: "m", Text: "3"}, nil
		},
	}
	h, _ := trial.Host(t, mcphost.Options{Asker: a})
	root := t.TempDir()
	cfg := trial.Scripted("s", "--step", "tool:bad-sample=@ask sampling/createMessage {\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"x\"}}],\"maxTokens\":1,\"tools\":[]}",
		"--step", "tool:bad-sample=@text ${answer}")
	cfg.Sampling, cfg.Roots = true, []string{root}
	c := trial.Connect(t, h, cfg)
	tests := map[string]string{
		"elicit":     `{"action":"accept","content":{"name":"李","age":12345678901234567890}}`,
		"elicit-url": `{"action":"accept"}`,
		"sample":     `"text":"3"`,
		"roots":      `"uri":"file://` + root + `"`,
		"bad-sample": `-32602`,
	}
	for tool, want := range tests {
		k := call(t, c, tool, `{}`)
		k.Timeout = 150 * time.Millisecond
		if r := do(t, k); r.Outcome != "ok" || !strings.Contains(text(r), want) {
			t.Errorf("%s: %s %q (%s), want %s", tool, r.Outcome, text(r), r.Reason, want)
		}
	}
	quiet := trial.Scripted("quiet")
	c = trial.Connect(t, h, quiet)
	if r := do(t, call(t, c, "sample", `{}`)); !strings.Contains(text(r), `"error"`) || !strings.Contains(text(r), "not allowed") {
		t.Errorf("sampling without permission: %q", text(r))
	}
}

// TestAskEnds checks that a question is withdrawn when the call that made the
// server ask ends, and when the server withdraws it.
func TestAskEnds(t *testing.T) {
	t.Parallel()
	asked, ended := make(chan bool, 1), make(chan bool, 1)
	h, _ := trial.Host(t, mcphost.Options{Asker: asker{
		elicit: func(ctx context.Context, _ mcphost.Elicitation) (mcphost.ElicitAnswer, error) {
			asked <- true
			<-ctx.Done()
			ended <- true
			return mcphost.ElicitAnswer{Action: "accept"}, nil
		},
	}})
	record := filepath.Join(t.TempDir(), "record")
	c := trial.Connect(t, h, trial.Scripted("s", "--record", record))
	if r := do(t, call(t, c, "elicit-cancel", `{}`)); text(r) != "withdrawn" {
		t.Errorf("%+v", r)
	}
	<-asked
	<-ended
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	r, err := send.Tool(ctx, call(t, c, "elicit", `{}`))
	if err != nil || r.Outcome != send.Cancelled {
		t.Errorf("%+v, %v", r, err)
	}
	<-ended
	deadline := time.Now().Add(5 * time.Second)
	for {
		lines, err := os.ReadFile(record)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(lines), `{"action":"cancel"}`) && !strings.Contains(string(lines), "accept") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the question was not answered with cancel:\n%s", lines)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// TestAsksQueue checks that several questions at once are asked one by one.
func TestAsksQueue(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	open, most := 0, 0
	h, _ := trial.Host(t, mcphost.Options{Asker: asker{
		elicit: func(context.Context, mcphost.Elicitation) (mcphost.ElicitAnswer, error) {
			mu.Lock()
			open++
			most = max(most, open)
			mu.Unlock()
			time.Sleep(20 * time.Millisecond)
			mu.Lock()
			open--
			mu.Unlock()
			return mcphost.ElicitAnswer{Action: "decline"}, nil
		},
	}})
	c := trial.Connect(t, h, trial.Scripted("s"))
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			if r := do(t, call(t, c, "elicit", `{}`)); text(r) != `{"action":"decline"}` {
				t.Errorf("%+v", r)
			}
		})
	}
	wg.Wait()
	if most != 1 {
		t.Errorf("%d questions were open at once", most)
	}
}

// TestRounds checks the multi-round-trip requests of the newer era.
func TestRounds(t *testing.T) {
	t.Parallel()
	h, _ := trial.Host(t, mcphost.Options{Asker: asker{
		elicit: func(_ context.Context, e mcphost.Elicitation) (mcphost.ElicitAnswer, error) {
			return mcphost.ElicitAnswer{Action: "accept", Content: json.RawMessage(`{"q":"` + e.Message + `"}`)}, nil
		},
	}})
	record := filepath.Join(t.TempDir(), "record")
	state := `"a\u00e9\/\"<b>&\u2028é"`
	c := trial.Connect(t, h, trial.Scripted("s", "--discover", "answer", "--record", record,
		"--step", `tool:loop=@result {"resultType":"input_required","requestState":`+state+`,"inputRequests":{"z":{"method":"elicitation/create","params":{"message":"first","requestedSchema":{"type":"object","properties":{}}}},"a":{"method":"roots/list"}}}`,
		"--step", `tool:odd=@result {"resultType":"novel","content":[]}`,
		"--step", `tool:sampler=@result {"resultType":"input_required","inputRequests":{"s":{"method":"sampling/createMessage","params":{}}}}`,
		"--step", `tool:empty=@result {"resultType":"input_required"}`,
	))
	rounds := 0
	k := call(t, c, "loop", `{"b":1,"a":2}`)
	k.Attempt = func(_ context.Context, what string, _ any) error { rounds++; return nil }
	r := do(t, k)
	if r.Outcome != send.ProtocolError || rounds != 7 || !strings.Contains(r.Reason, "8 times") {
		t.Errorf("%d rounds: %+v", rounds, r)
	}
	lines, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	want := `"arguments":{"b":1,"a":2}`
	if n := strings.Count(string(lines), want); n != 8 {
		t.Errorf("%s was sent %d times:\n%s", want, n, lines)
	}
	if n := strings.Count(string(lines), `"requestState":`+state); n != 7 {
		t.Errorf("the state came back %d times:\n%s", n, lines)
	}
	if !strings.Contains(string(lines), `"inputResponses":{"z":{"action":"accept","content":{"q":"first"}},"a":{"roots":[]}}`) {
		t.Errorf("the answers are not in order:\n%s", lines)
	}
	k.Attempt = func(context.Context, string, any) error { return errors.New("the journal is full") }
	if r := do(t, k); r.Outcome != send.Unknown || !strings.Contains(r.Reason, "journal is full") {
		t.Errorf("a refused round: %+v", r)
	}
	for _, tool := range []string{"odd", "sampler", "empty"} {
		if r := do(t, call(t, c, tool, `{}`)); r.Outcome != send.ProtocolError {
			t.Errorf("%s: %+v", tool, r)
		}
	}
}

// TestURLElicitation checks error -32042: the page is offered, and the call is
// made again when the server says it is finished.
func TestURLElicitation(t *testing.T) {
	t.Parallel()
	action := "accept"
	h, _ := trial.Host(t, mcphost.Options{Asker: asker{
		elicit: func(_ context.Context, e mcphost.Elicitation) (mcphost.ElicitAnswer, error) {
			if e.Mode != "url" || e.URL != "https://example.com/pay" {
				t.Errorf("%+v", e)
			}
			return mcphost.ElicitAnswer{Action: action}, nil
		},
	}})
	refusal := `{"jsonrpc":"2.0","id":${id},"error":{"code":-32042,"message":"pay first","data":{"elicitations":[{"mode":"url","elicitationId":"p1","url":"https://example.com/pay","message":"Pay"}]}}}`
	c := trial.Connect(t, h, trial.Scripted("s", "--step", "tool:pay="+refusal,
		"--step", "tool:pay=@sleep 100ms", "--step", `tool:pay=@notify notifications/elicitation/complete {"elicitationId":"p1"}`))
	rounds := 0
	k := call(t, c, "pay", `{}`)
	k.Attempt = func(context.Context, string, any) error {
		if rounds++; rounds == 3 {
			return errors.New("enough")
		}
		return nil
	}
	if r := do(t, k); rounds != 3 || r.Outcome != send.Unknown {
		t.Errorf("%d rounds: %+v", rounds, r)
	}
	action = "decline"
	if r := do(t, call(t, c, "pay", `{}`)); r.Outcome != send.ProtocolError || !strings.Contains(r.Reason, "pay first") {
		t.Errorf("declined: %+v", r)
	}
}
