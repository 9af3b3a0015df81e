package send_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
	"steward/mcphost/send"
)

// forms are the flags of a server for each form of tasks.
var forms = map[string][]string{
	"core":      {"--tasks", "core"},
	"extension": {"--tasks", "extension", "--discover", "answer"},
}

func eachForm(t *testing.T, f func(t *testing.T, flags []string)) {
	t.Parallel()
	for name, flags := range forms {
		t.Run(name, func(t *testing.T) { t.Parallel(); f(t, slices.Clone(flags)) })
	}
}

// TestTaskOutcomes follows tasks that end in every way: each has its own word, and
// none is an empty success.
func TestTaskOutcomes(t *testing.T) {
	eachForm(t, func(t *testing.T, flags []string) {
		h, _ := trial.Host(t, mcphost.Options{Asker: person{}})
		c := trial.Connect(t, h, trial.Scripted("s", append(flags, "--task-ms", "60")...))
		for _, tt := range []struct{ tool, outcome, effect, text, reason string }{
			{"echo", "ok", "done", `{"a":1}`, ""},
			{"task", "ok", "done", `done {"a":1}`, ""},
			{"task-tool-error", "tool_error", "done", "it failed", ""},
			{"task-structured", "ok", "done", "", ""},
			{"task-input", "ok", "done", `answered {"action":"accept"`, ""},
			{"task-hint", "ok", "done", `done {"a":1}`, ""},
			{"task-fails", "protocol_error", "done", "", "out of paper"},
			{"task-stopped", "protocol_error", "unknown", "", "The server ended the task as cancelled before it was finished: The task is cancelled."},
			{"task-odd", "protocol_error", "unknown", "", `"paused", which is no state`},
			{"task-lost", "unknown", "unknown", "", "does not know the task any more"},
			{"task-empty", "protocol_error", "done", "", "neither content nor structured content"},
			{"task-none", "protocol_error", "done", "", "no result"},
			{"task-no-id", "protocol_error", "unknown", "", "no id"},
			{"task-broken", "protocol_error", "unknown", "", "cannot be asked for it"},
		} {
			r := do(t, call(t, c, tt.tool, `{"a":1}`))
			if r.Outcome != tt.outcome || r.Effect != tt.effect || !strings.HasPrefix(text(r), tt.text) || !strings.Contains(r.Reason, tt.reason) || tt.text == "" && text(r) != "" {
				t.Errorf("%s: %s, %s, text %q, reason %q; want %+v", tt.tool, r.Outcome, r.Effect, text(r), r.Reason, tt)
			}
			if (r.Reason == "") != (r.Outcome == "ok" || r.Outcome == "tool_error") {
				t.Errorf("%s: the reason is %q", tt.tool, r.Reason)
			}
		}
	})
}

// person answers every form.
type person struct{}

func (person) Elicit(_ context.Context, e mcphost.Elicitation) (mcphost.ElicitAnswer, error) {
	if len(e.Calls) != 1 {
		return mcphost.ElicitAnswer{}, errors.New("the question belongs to one call")
	}
	return mcphost.ElicitAnswer{Action: "accept", Content: json.RawMessage(`{"name":"Ann"}`)}, nil
}

func (person) Sample(context.Context, mcphost.SamplingRequest) (mcphost.SamplingAnswer, error) {
	return mcphost.SamplingAnswer{}, mcphost.ErrNotAllowed
}

// TestTaskOnTheWire checks what is sent for a task: params.task where the tool allows
// it and nowhere else, the related task on the answer to a question, each key of
// inputRequests once, and what must be kept before the first look.
func TestTaskOnTheWire(t *testing.T) {
	eachForm(t, func(t *testing.T, flags []string) {
		record := filepath.Join(t.TempDir(), "record")
		h, _ := trial.Host(t, mcphost.Options{Asker: person{}})
		c := trial.Connect(t, h, trial.Scripted("s", append(flags, "--task-support", "optional", "--record", record)...))
		k := call(t, c, "task-input", `{"a":1}`)
		var kept mcphost.Task
		k.Attempt = func(_ context.Context, what string, detail any) error {
			if got := lines(t, record, `"tasks/get"`); what == "task" && len(got) > 0 {
				t.Errorf("the task was asked for before it was kept: %q", got)
			}
			if what == "task" {
				kept = detail.(mcphost.Task)
			}
			return nil
		}
		var mu sync.Mutex
		var said []string
		k.Progress = func(_, _ float64, m string) { mu.Lock(); said = append(said, m); mu.Unlock() }
		if r := do(t, k); r.Outcome != "ok" || !strings.Contains(text(r), `"name":"Ann"`) {
			t.Fatalf("%s %q %s", r.Outcome, text(r), r.Reason)
		}
		do(t, call(t, c, "echo", `{"a":1}`))
		if kept.ID == "" || kept.TTL != 3600000 || kept.Poll != 20 {
			t.Errorf("kept %+v", kept)
		}
		if want := []string{"The task is working.", "The task is input_required."}; len(said) < 2 || !slices.Equal(said[:2], want) {
			t.Errorf("it was said %q", said)
		}
		calls := lines(t, record, `"tools/call"`)
		if kept.Form == mcphost.TaskCore {
			if len(calls) != 2 || !strings.Contains(calls[0], `"task":{"ttl":86400000}`) || strings.Contains(calls[1], `"task":`) {
				t.Errorf("calls %q", calls)
			}
			if got := lines(t, record, `"io.modelcontextprotocol/related-task":{"taskId":"`+kept.ID+`"}`); len(got) != 1 {
				t.Errorf("answers with the related task: %q", got)
			}
			if first := lines(t, record, `"initialize"`); len(first) != 1 || !strings.Contains(first[0], `"tasks":{"list":{},"cancel":{}}`) || strings.Contains(first[0], "requests") {
				t.Errorf("declared %q", first)
			}
			return
		}
		if len(calls) != 2 || !strings.Contains(calls[0], `"extensions":{"io.modelcontextprotocol/tasks":{}}`) || strings.Contains(calls[0], `"task":`) {
			t.Errorf("calls %q", calls)
		}
		if got := lines(t, record, `"tasks/update"`); len(got) != 1 || !strings.Contains(got[0], `"inputResponses":{"who":{"action":"accept","content":{"name":"Ann"}}}`) {
			t.Errorf("answers %q", got)
		}
	})
}

// lines are those of a recorded server that hold a text.
func lines(t *testing.T, record, text string) (out []string) {
	t.Helper()
	data, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if strings.Contains(line, text) {
			out = append(out, line)
		}
	}
	return out
}

// TestTaskStopped stops a call while its task runs: the server is told, and a result
// that comes all the same is an answer that came late.
func TestTaskStopped(t *testing.T) {
	eachForm(t, func(t *testing.T, flags []string) {
		record := filepath.Join(t.TempDir(), "record")
		h, watch := trial.Host(t, mcphost.Options{})
		c := trial.Connect(t, h, trial.Scripted("s", append(flags, "--record", record, "--task-ms", "300")...))
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		k := call(t, c, "task-stubborn", `{"a":1}`)
		k.Progress = func(float64, float64, string) { stop() }
		r, err := send.Tool(ctx, k)
		if err != nil || r.Outcome != "cancelled" || r.Effect != "unknown" {
			t.Fatalf("%+v %v", r, err)
		}
		late := trial.Wait(t, watch, func(l mcphost.Late) bool { return l.Owner == "k_1" })
		if !strings.Contains(string(late.Raw), `done {\"a\":1}`) {
			t.Errorf("late %s", late.Raw)
		}
		if got := lines(t, record, `"tasks/cancel"`); len(got) != 1 {
			t.Errorf("the server was told %q", got)
		}
	})
}

// TestTaskLeft ends the program's part in a call whose task runs, and goes on with it
// on a new connection to a server that kept it; one that did not is not taken for
// success.
func TestTaskLeft(t *testing.T) {
	eachForm(t, func(t *testing.T, flags []string) {
		dir := t.TempDir()
		record, file := filepath.Join(dir, "record"), filepath.Join(dir, "tasks")
		flags = append(flags, "--record", record, "--task-file", file, "--task-ms", "300")
		h, _ := trial.Host(t, mcphost.Options{})
		c := trial.Connect(t, h, trial.Scripted("s", flags...))
		ctx, leave := context.WithCancelCause(t.Context())
		defer leave(nil)
		k := call(t, c, "task", `{"a":1}`)
		var kept json.RawMessage
		k.Attempt = func(_ context.Context, _ string, detail any) (err error) {
			kept, err = json.Marshal(detail)
			return err
		}
		k.Progress = func(float64, float64, string) { leave(send.ErrLeave) }
		if r, err := send.Tool(ctx, k); err != nil || r.Outcome != send.Left {
			t.Fatalf("%+v %v", r, err)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		again := trial.Connect(t, h, trial.Scripted("s", flags...))
		r, err := send.Follow(t.Context(), send.Call{Conn: again, Owner: "k_1", Tool: k.Tool, Definition: k.Definition}, kept)
		if err != nil || r.Outcome != "ok" || text(r) != `done {"a":1}` {
			t.Errorf("%+v %v", r, err)
		}
		if calls, told := lines(t, record, `"tools/call"`), lines(t, record, `"tasks/cancel"`); len(calls) != 1 || len(told) != 0 {
			t.Errorf("sent %q, cancelled %q", calls, told)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		r, err = send.Follow(t.Context(), send.Call{Conn: again, Owner: "k_1", Tool: k.Tool, Definition: k.Definition}, kept)
		if err != nil || r.Outcome != "unknown" || r.Effect != "unknown" || !strings.Contains(r.Reason, "does not know the task any more") {
			t.Errorf("%+v %v", r, err)
		}
	})
}

// TestTaskServerDies ends the server while a task runs. One that it keeps is asked for
// again; one that is gone with it ends as not known, and says how the server ended.
func TestTaskServerDies(t *testing.T) {
	eachForm(t, func(t *testing.T, flags []string) {
		file := filepath.Join(t.TempDir(), "tasks")
		for _, more := range [][]string{{"--task-file", file}, nil} {
			h, _ := trial.Host(t, mcphost.Options{})
			c := trial.Connect(t, h, trial.Scripted("s", slices.Concat(flags, more, []string{"--task-ms", "500"})...))
			var died sync.Once
			k := call(t, c, "task", `{"a":1}`)
			die := call(t, c, "die", `{}`)
			var dead sync.WaitGroup
			k.Progress = func(float64, float64, string) {
				died.Do(func() { dead.Go(func() { do(t, die) }) })
			}
			r := do(t, k)
			dead.Wait()
			switch {
			case more != nil && (r.Outcome != "ok" || text(r) != `done {"a":1}`):
				t.Errorf("kept: %+v", r)
			case more == nil && (r.Outcome != "unknown" || r.Effect != "unknown" || !strings.Contains(r.Reason, "exit status 3") || !strings.Contains(r.Reason, "out of luck")):
				t.Errorf("gone: %s %s %s", r.Outcome, r.Effect, r.Reason)
			}
		}
	})
}

// TestTokensOfSessions starts the server again: a task that is followed on keeps the
// token of its call, which must then be no other call's.
func TestTokensOfSessions(t *testing.T) {
	t.Parallel()
	record := filepath.Join(t.TempDir(), "record")
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s", "--record", record))
	for range 2 {
		do(t, call(t, c, "echo", `{"a":1}`))
		if err := c.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	for _, line := range lines(t, record, `"progressToken"`) {
		_, token, _ := strings.Cut(line, `"progressToken":"`)
		token, _, _ = strings.Cut(token, `"`)
		if seen[token] {
			t.Errorf("%s is the token of two requests", token)
		}
		seen[token] = true
	}
	if len(seen) < 5 {
		t.Errorf("seen were %v", seen)
	}
}

// TestTaskLimits checks that a task lives on beyond the limits of a call while it is
// looked at, and ends at a limit that a person has set; the server is then told.
func TestTaskLimits(t *testing.T) {
	eachForm(t, func(t *testing.T, flags []string) {
		record := filepath.Join(t.TempDir(), "record")
		h, _ := trial.Host(t, mcphost.Options{})
		c := trial.Connect(t, h, trial.Scripted("s", append(flags, "--record", record, "--task-ms", "7000")...))
		var both sync.WaitGroup
		for _, tool := range []string{"task", "task-hint"} { // the second wants not to be asked for longer than the limit
			k := call(t, c, tool, `{}`)
			k.Timeout = 3 * time.Second
			both.Go(func() {
				if r, err := send.Tool(t.Context(), k); err != nil || r.Outcome != "ok" {
					t.Errorf("%s: %+v %v", tool, r, err)
				}
			})
		}
		both.Wait()
		k := call(t, c, "task-forever", `{}`)
		k.Max = 500 * time.Millisecond
		if r := do(t, k); r.Outcome != "timeout" || r.Effect != "unknown" || !strings.Contains(r.Reason, "500ms") {
			t.Errorf("beyond the limit: %+v", r)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := lines(t, record, `"tasks/cancel"`); len(got) != 1 {
			t.Errorf("the server was told %q", got)
		}
	})
}

// TestTaskProgress checks that the token of a call stays good while its task runs.
func TestTaskProgress(t *testing.T) {
	t.Parallel()
	h, _ := trial.Host(t, mcphost.Options{Asker: person{}})
	c := trial.Connect(t, h, trial.Scripted("s", "--tasks", "core", "--task-ms", "200", "--task-poll", "1000"))
	k := call(t, c, "task-progress", `{}`)
	var mu sync.Mutex
	found := false
	k.Progress = func(done, total float64, m string) {
		mu.Lock()
		defer mu.Unlock()
		found = found || done == 3 && total == 4 && m == "three of four"
	}
	if r := do(t, k); r.Outcome != "ok" || !found {
		t.Errorf("%+v, progress %v", r, found)
	}
	for _, tool := range []string{"task-failed-ok", "task-ask-fails"} {
		if r := do(t, call(t, c, tool, `{}`)); r.Outcome != "tool_error" || len(r.Notes) != 1 {
			t.Errorf("%s: a failed task with a result: %+v", tool, r)
		}
	}
}

// TestTaskAsksForEver has a task ask for something new at every look: it is given up.
func TestTaskAsksForEver(t *testing.T) {
	t.Parallel()
	const task = `"taskId":"t1","pollIntervalMs":1,"ttlMs":null`
	h, _ := trial.Host(t, mcphost.Options{Asker: person{}})
	record := filepath.Join(t.TempDir(), "record")
	c := trial.Connect(t, h, trial.Scripted("s", "--discover", "answer", "--record", record,
		"--step", `tool:work=@result {"resultType":"task","status":"working",`+task+`}`,
		"--step", `tasks/get=@result {"resultType":"complete","status":"input_required",`+task+`,"inputRequests":{"k${n}":{"method":"roots/list"}}}`,
		"--step", `tasks/update=@result {"resultType":"complete"}`,
		"--step", `tasks/cancel=@result {"resultType":"complete"}`))
	k := call(t, c, "work", `{}`)
	attempts := 0
	k.Attempt = func(context.Context, string, any) error { attempts++; return nil }
	if r := do(t, k); r.Outcome != send.ProtocolError || !strings.Contains(r.Reason, "more than 100 times") || attempts != 101 {
		t.Errorf("%s: %s, %d attempts", r.Outcome, r.Reason, attempts)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := lines(t, record, `"tasks/cancel"`); len(got) != 1 {
		t.Errorf("the server was told %q", got)
	}
}

// TestTaskProgressFlood checks that the progress of a task is told no more often than that
// of another call, and the last of it in any case.
func TestTaskProgressFlood(t *testing.T) {
	t.Parallel()
	const progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":1,"message":"more"}}`
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s",
		"--step", `tool:work=@result {"task":{"taskId":"t1","status":"working","pollInterval":1000}}`,
		"--step", `tool:work=@repeat 5000 `+progress,
		"--step", `tool:work=`+strings.Replace(progress, "more", "the last", 1),
		"--step", `tasks/get=@result {"taskId":"t1","status":"completed"}`,
		"--step", `tasks/result=@result {"content":[]}`))
	k := call(t, c, "work", `{}`)
	var mu sync.Mutex
	var said []string
	k.Progress = func(_, _ float64, m string) { mu.Lock(); said = append(said, m); mu.Unlock() }
	begun := time.Now()
	r := do(t, k)
	most := 102 + int(time.Since(begun).Seconds()*50)
	mu.Lock()
	defer mu.Unlock()
	if r.Outcome != "ok" || len(said) > most || len(said) == 0 || said[len(said)-1] != "the last" {
		t.Errorf("%s %s; %d reports were told, at most %d may be; the last of %.200q", r.Outcome, r.Reason, len(said), most, said)
	}
}
