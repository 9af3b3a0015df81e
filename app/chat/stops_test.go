package chat

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"steward/app/consent"
	"steward/app/event"
	"steward/app/journal"
	"steward/llm"
	"steward/mcphost"
	sm "steward/testdata/scriptedmodel"
)

// calls is an answer with so many calls of a tool.
func calls(tool string, n int) sm.Step {
	var step sm.Step
	for i := range n {
		step.Calls = append(step.Calls, sm.Call{Tool: tool, ID: fmt.Sprintf("c%d", i), Arguments: raw(fmt.Sprintf(`{"text":"%d"}`, i))})
	}
	return step
}

// until waits for something that comes soon.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it never came: " + what)
		}
	}
}

// received counts the calls that a server recorded in a file.
func received(t *testing.T, file string) int {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(data), `"method":"tools/call"`)
}

// goesOn sends another message in the conversation of a stopped turn, to an endpoint that takes only valid requests, and
// gives what it was told of the calls.
func (r *rig) goesOn(conversation string) []string {
	r.t.Helper()
	before := len(r.model.Requests())
	r.want(r.finish(r.send(Turn{Conversation: conversation, Text: "go on"})), Finished)
	return r.tools(before + 1)
}

func TestStopWhileCallsWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{policy: allowAll(), script: strict(calls("never", 6), sm.Say("hello"))})
	file := filepath.Join(t.TempDir(), "received")
	r.server("s", "--record", file)
	run := r.send(Turn{Text: "go"})
	until(t, "the first call", func() bool { return received(t, file) > 0 })
	run.Stop()
	res := r.finish(run)
	r.want(res, Stopped)
	got := r.goesOn(res.Conversation)
	if len(got) != 6 || !strings.Contains(got[0], "while it ran") {
		t.Fatalf("the model got %q", got)
	}
	for _, text := range got[1:] {
		if text != "Not executed. The person stopped this call before it was sent." {
			t.Errorf("the model got %q", text)
		}
	}
	for i, rec := range r.records(journal.KindCall) {
		want := journal.EffectNone
		if i == 0 {
			want = journal.EffectUnknown
		}
		if rec.Outcome != journal.Cancelled || rec.Effect != want {
			t.Errorf("call %d is recorded as %s, %s", i, rec.Outcome, rec.Effect)
		}
	}
	if n := received(t, file); n != 1 {
		t.Errorf("the server got %d calls", n)
	}
}

func TestStopWhileCardsWait(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{script: strict(calls("echo", 4), sm.Say("hello"))})
	file := filepath.Join(t.TempDir(), "received")
	r.server("s", "--record", file)
	run := r.send(Turn{Text: "go"})
	items := r.waiting(4)
	r.answer(items[2], consent.Answer{Action: consent.Deny, Reason: "no"})
	run.Stop()
	res := r.finish(run)
	r.want(res, Stopped)
	if left := r.gate.Waiting().List(); len(left) != 0 {
		t.Errorf("%d cards still wait", len(left))
	}
	for _, i := range []int{0, 1, 3} {
		if err := r.gate.Waiting().Answer(items[i].ID, items[i].Hash, consent.Answer{Action: consent.Allow}); err == nil {
			t.Errorf("card %d took an answer after the stop", i)
		}
	}
	got := r.goesOn(res.Conversation)
	if len(got) != 4 || !strings.Contains(got[2], `"no"`) {
		t.Fatalf("the model got %q", got)
	}
	for _, text := range got {
		if !strings.HasPrefix(text, "Not executed.") {
			t.Errorf("the model got %q", text)
		}
	}
	var outcomes []string
	for _, rec := range r.records(journal.KindCall) {
		outcomes = append(outcomes, rec.Outcome+" "+rec.Effect)
	}
	if want := []string{"cancelled none", "cancelled none", "denied none", "cancelled none"}; !slices.Equal(outcomes, want) {
		t.Errorf("recorded: %q", outcomes)
	}
	if n := received(t, file); n != 0 {
		t.Errorf("the server got %d calls", n)
	}
}

// A stop during the pause before a request is tried again ends the pause; what was called before stays, and is not
// called again.
func TestStopWhileARequestWaitsToBeTriedAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{policy: allowAll(), script: strict(calls("echo", 1), sm.Fail(429, `{"error":{"message":"slow down"}}`).With("Retry-After", "50"), sm.Say("hello"))})
	r.server("s")
	run := r.send(Turn{Text: "go"})
	until(t, "the pause", func() bool { return strings.Contains(r.notices(), "retrying") })
	run.Stop()
	res := r.finish(run)
	r.want(res, Stopped)
	if n := len(r.model.Requests()); n != 2 {
		t.Errorf("the model was asked %d times", n)
	}
	if rec := r.recorded(journal.KindModel, 2); rec[1].Outcome != journal.Cancelled {
		t.Errorf("recorded: %+v", rec[1])
	}
	if got := r.goesOn(res.Conversation); !slices.Equal(got, []string{"0"}) || r.ran() != 1 {
		t.Errorf("the model got %q, %d calls ran", got, r.ran())
	}
}

func TestStopBetweenTwoRounds(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{policy: allowAll(), script: strict(calls("echo", 2), sm.Say("hello"))})
	r.server("s")
	before, asked := r.engine.o.Model, 0
	r.engine.o.Model = func(ctx context.Context, c string) (*llm.Client, string, error) {
		if asked++; asked == 2 { // all results are there, the next request is not built
			r.engine.StopAll()
		}
		return before(ctx, c)
	}
	res := r.ask("go")
	r.want(res, Stopped)
	if n := len(r.model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
	if got := r.goesOn(res.Conversation); !slices.Equal(got, []string{"0", "1"}) {
		t.Errorf("the model got %q", got)
	}
}

func TestStopWhileServersAreWaitedFor(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{script: strict()})
	r.engine.o.Connections = func(ctx context.Context, _ string) ([]*mcphost.Connection, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	run := r.send(Turn{Text: "go"})
	until(t, "the turn", func() bool { return r.heard(func(e event.Event) bool { _, ok := e.(event.TurnStart); return ok }) })
	run.Stop()
	r.want(r.finish(run), Stopped)
	if n := len(r.model.Requests()); n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
}

func (r *rig) heard(match func(event.Event) bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.events, match)
}

// Half a call is none: it is neither stored nor recorded, and nothing of it runs.
func TestStopInTheMiddleOfACallThatStreams(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{policy: allowAll(), script: strict(
		sm.Step{Parts: []sm.Part{sm.Text("I will look. "), sm.CallDelta(0, "c1", "s__echo", `{"text":"a"}`), sm.CallDelta(1, "c2", "s__echo", `{"te`)}, End: "hang"}, sm.Say("hello"),
	)})
	file := filepath.Join(t.TempDir(), "received")
	r.server("s", "--record", file)
	run := r.send(Turn{Text: "go"})
	until(t, "the answer", func() bool { return r.saw("I will look.") })
	run.Stop()
	res := r.finish(run)
	r.want(res, Stopped)
	if m := r.messages(res.Conversation); len(m) != 2 || len(readCalls(m[1])) != 0 {
		t.Errorf("stored: %+v", m)
	}
	if got := r.goesOn(res.Conversation); len(got) != 0 || len(r.records(journal.KindCall)) != 0 || received(t, file) != 0 {
		t.Errorf("the model got %q", got)
	}
}

// The answers stand in the order of the calls, whenever they came.
func TestAnswersStandInTheOrderOfTheCalls(t *testing.T) {
	t.Parallel()
	step := sm.Step{}
	for i, tool := range []string{"slow", "fast", "slow", "fast", "fast"} {
		step.Calls = append(step.Calls, sm.Call{Tool: llm.Alias(tool, "work"), ID: fmt.Sprintf("c%d", i)})
	}
	r := newRig(t, rigOptions{policy: allowAll(), script: strict(step, sm.Say("ok"))})
	r.server("slow", "--step", "tool:work=@sleep 600ms", "--step", "tool:work=@text slow ${n}")
	r.server("fast", "--step", "tool:work=@text fast ${n}")
	r.want(r.ask("go"), Finished)
	var ids, results []string
	for _, m := range r.request(2) {
		if m.Role == "tool" {
			ids, results = append(ids, m.ToolCallID), append(results, m.text())
		}
	}
	if want := []string{"c0", "c1", "c2", "c3", "c4"}; !slices.Equal(ids, want) {
		t.Errorf("the answers stand as %q", ids)
	}
	if want := []string{"slow 1", "fast 1", "slow 2", "fast 2", "fast 3"}; !slices.Equal(results, want) {
		t.Errorf("the answers are %q", results)
	}
	var first string
	r.mu.Lock()
	for _, e := range r.events {
		if e, ok := e.(event.Result); ok && first == "" {
			first = e.Content[0].Text
		}
	}
	r.mu.Unlock()
	if first != "fast 1" {
		t.Errorf("the first to come was %q, so this shows nothing", first)
	}
}

// At most four calls of one conversation run at once, at however many servers, and others not at all because of them.
func TestAtMostFourCallsOfAConversationRunAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{policy: allowAll(), script: strict(calls("look", 9), sm.Say("ok"))})
	r.server("s", "--reads", "look", "--step", "tool:look=@gather 4", "--step", "tool:look=@sleep 100ms", "--step", "tool:look=@text ${together}")
	r.want(r.ask("go"), Finished)
	if got := slices.Max(r.tools(2)); got != "4" {
		t.Errorf("%s calls ran at once", got)
	}
}
