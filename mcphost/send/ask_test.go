package send_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
	"steward/mcphost/send"
)

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
	cfg := trial.Scripted("s", "--step", "tool:bad-sample=@ask sampling/createMessage {\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"x\"}}],\"maxTokens\":1,\"tools\":[{\"name\":\"t\"},{\"name\":\"t\"}]}",
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
	await := func(c chan bool) {
		t.Helper()
		select {
		case <-c:
		case <-time.After(15 * time.Second):
			t.Fatal("the question was not asked, or not withdrawn")
		}
	}
	h, _ := trial.Host(t, mcphost.Options{Asker: asker{
		elicit: func(ctx context.Context, _ mcphost.Elicitation) (mcphost.ElicitAnswer, error) {
			asked <- true
			<-ctx.Done()
			ended <- true
			return mcphost.ElicitAnswer{Action: "accept"}, nil
		},
	}})
	record := filepath.Join(t.TempDir(), "record")
	c := trial.Connect(t, h, trial.Scripted("s", "--record", record,
		"--step", `tool:withdraw=@ask-only elicitation/create {"message":"Never mind","requestedSchema":{"type":"object","properties":{}}}`,
		"--step", "tool:withdraw=@sleep 500ms", "--step", "tool:withdraw=@cancel", "--step", "tool:withdraw=@text withdrawn"))
	if r := do(t, call(t, c, "withdraw", `{}`)); text(r) != "withdrawn" {
		t.Errorf("%+v", r)
	}
	await(asked)
	await(ended)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	r, err := send.Tool(ctx, call(t, c, "elicit", `{}`))
	if err != nil || r.Outcome != send.Cancelled {
		t.Errorf("%+v, %v", r, err)
	}
	await(ended)
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
	var asked atomic.Int32
	h, _ := trial.Host(t, mcphost.Options{Asker: asker{
		elicit: func(_ context.Context, e mcphost.Elicitation) (mcphost.ElicitAnswer, error) {
			asked.Add(1)
			return mcphost.ElicitAnswer{Action: "accept", Content: json.RawMessage(`{"q":"` + e.Message + `"}`)}, nil
		},
	}})
	record := filepath.Join(t.TempDir(), "record")
	state := `"a\u00e9\/\"<b>&\u2028é"`
	c := trial.Connect(t, h, trial.Scripted("s", "--discover", "answer", "--record", record,
		"--step", `tool:loop=@result {"resultType":"input_required","requestState":`+state+`,"inputRequests":{"z":{"method":"elicitation/create","params":{"message":"first","requestedSchema":{"type":"object","properties":{}}}},"a":{"method":"roots/list"}}}`,
		"--step", `tool:odd=@result {"resultType":"novel","content":[]}`,
		"--step", `tool:sampler=@result {"resultType":"input_required","inputRequests":{"s":{"method":"sampling/createMessage","params":{}}}}`,
		"--step", `tool:twofold=@result {"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"a":{"method":"roots/list"}}}`,
		"--step", `tool:empty=@result {"resultType":"input_required"}`,
	))
	rounds := 0
	k := call(t, c, "loop", `{"b":1,"a":2}`)
	k.Attempt = func(_ context.Context, what string, _ any) error { rounds++; return nil }
	r := do(t, k)
	if r.Outcome != send.ProtocolError || rounds != 7 || !strings.Contains(r.Reason, "8 times") {
		t.Errorf("%d rounds: %+v", rounds, r)
	}
	if n := asked.Load(); n != 7 { // not once more for an answer that nobody would get
		t.Errorf("the person was asked %d times", n)
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
	for _, tool := range []string{"odd", "sampler", "empty", "twofold"} {
		if r := do(t, call(t, c, tool, `{}`)); r.Outcome != send.ProtocolError || strings.Contains(r.Reason, "8 times") {
			t.Errorf("%s: %+v", tool, r)
		}
	}
}

// TestToolChangesWhileItAsks has a tool become another one while it asks for input: what
// it was to do was agreed to for the tool that was shown, so it is not asked again.
func TestToolChangesWhileItAsks(t *testing.T) {
	t.Parallel()
	const more = `{"resultType":"input_required","requestState":"s","inputRequests":{"a":{"method":"roots/list"}}}`
	record := filepath.Join(t.TempDir(), "record")
	h, _ := trial.Host(t, mcphost.Options{Asker: asker{}})
	c := trial.Connect(t, h, trial.Scripted("s", "--discover", "answer", "--record", record,
		"--step", "tool:turncoat=@describe turncoat something else altogether",
		"--step", "tool:turncoat=@notify notifications/tools/list_changed {}",
		"--step", "tool:turncoat=@result "+more,
		"--step", "tool:steady=@notify notifications/tools/list_changed {}",
		"--step", "tool:steady=@result "+more))
	attempts := 0
	k := call(t, c, "turncoat", `{}`)
	k.Attempt = func(context.Context, string, any) error { attempts++; return nil }
	if r := do(t, k); r.Outcome != send.ProtocolError || !strings.Contains(r.Reason, "has changed the tool") {
		t.Errorf("%s: %s", r.Outcome, r.Reason)
	}
	if sent := lines(t, record, `"tools/call"`); len(sent) != 1 || attempts != 0 {
		t.Errorf("%d attempts, sent %q", attempts, sent)
	}
	k = call(t, c, "steady", `{}`)
	k.Attempt = func(context.Context, string, any) error { attempts++; return nil }
	if r := do(t, k); r.Outcome != send.ProtocolError || !strings.Contains(r.Reason, "more than") || attempts != 7 {
		t.Errorf("a list that is announced and the same: %s: %s, %d attempts", r.Outcome, r.Reason, attempts)
	}
}
