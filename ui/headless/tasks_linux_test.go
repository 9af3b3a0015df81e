package headless

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"steward/testdata/scriptedmodel"
)

// taskForms are the two forms in which a server works on a call as a task.
var taskForms = map[string][]string{
	"core":      {"--tasks", "core"},
	"extension": {"--tasks", "extension", "--discover", "answer"},
}

func eachTaskForm(t *testing.T, f func(t *testing.T, flags []string)) {
	t.Parallel()
	for name, flags := range taskForms {
		t.Run(name, func(t *testing.T) { t.Parallel(); f(t, append([]string{}, flags...)) })
	}
}

// seenTwice says that a server which records what it is sent was asked for its task
// twice, so that all that belongs to the call is on the disk.
func seenTwice(file string) func(string) bool {
	return func(string) bool {
		seen, err := os.ReadFile(file)
		return err == nil && bytes.Count(seen, []byte(`"tasks/get"`)) >= 2
	}
}

// TestTaskSurvivesAKill kills the program while a task runs at a server that keeps it:
// the next start goes on with the same record, sends nothing again, and the result
// stands where the conversation expects it.
func TestTaskSurvivesAKill(t *testing.T) {
	eachTaskForm(t, func(t *testing.T, flags []string) {
		data, dir := t.TempDir(), t.TempDir()
		seen := filepath.Join(dir, "seen")
		servers := serversFile(t, scripted(append(flags, "--record", seen, "--task-file", filepath.Join(dir, "tasks"), "--task-ms", "1500")...))
		_, endpoint := model(t, scriptedmodel.CallTool("task", `{"mail":"boss"}`))
		r := interruptedWhen(t, prepared(t, with(endpoint, "ask", "send it", "--data", data, "--servers", servers, "--consent", "allow", "--events")...), seenTwice(seen), syscall.SIGKILL)
		conversation := one(t, lines(t, whole(r.out)), "turn_start").str("conversation")
		if got := lastCallOf(t, data); got.str("outcome") != "running" || got.str("effect") != "unknown" {
			t.Errorf("after the kill: %s", got.text)
		}
		for { // the task is finished while nobody looks
			made, err := os.Stat(filepath.Join(dir, "tasks"))
			if err != nil {
				t.Fatal(err)
			}
			if time.Since(made.ModTime()) > 1600*time.Millisecond {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		m, all := next(t, data, servers, "--conversation", conversation)
		rec := lastCallOf(t, data)
		if rec.str("outcome") != "ok" || rec.str("effect") != "done" || rec.str("decision") != "allowed" {
			t.Errorf("record: %s\n%s", rec.text, texts(all))
		}
		if !bytes.Contains(m.Requests()[0].Body, []byte(`done {\"mail\":\"boss\"}`)) {
			t.Errorf("the model is not told of the result: %s", m.Requests()[0].Body)
		}
		sent, err := os.ReadFile(seen)
		if err != nil || bytes.Count(sent, []byte(`"tools/call"`)) != 1 || bytes.Contains(sent, []byte(`"tasks/cancel"`)) {
			t.Errorf("the server was sent (%v): %s", err, sent)
		}
		if calls := array(t, steward(t, "journal", "list", "--json", "--kind", "call", "--data", data).mustExit(t, 0).out); len(calls) != 1 {
			t.Errorf("%d records", len(calls))
		}
		steward(t, "journal", "verify", "--data", data).mustExit(t, 0)
	})
}

// TestTaskThatIsNotFinished kills the program while a task runs that goes on running:
// who writes on meanwhile gets a model that knows of it, and it is left as it is.
func TestTaskThatIsNotFinished(t *testing.T) {
	t.Parallel()
	data, dir := t.TempDir(), t.TempDir()
	seen := filepath.Join(dir, "seen")
	servers := serversFile(t, scripted("--tasks", "core", "--record", seen, "--task-file", filepath.Join(dir, "tasks")))
	_, endpoint := model(t, scriptedmodel.CallTool("task-forever", `{}`))
	r := interruptedWhen(t, prepared(t, with(endpoint, "ask", "send it", "--data", data, "--servers", servers, "--consent", "allow", "--events")...), seenTwice(seen), syscall.SIGKILL)
	conversation := one(t, lines(t, whole(r.out)), "turn_start").str("conversation")
	m, _ := next(t, data, servers, "--conversation", conversation)
	if body := m.Requests()[0].Body; !bytes.Contains(body, []byte("works on this call as a task, which is not finished yet")) || len(m.Problems()) > 0 {
		t.Errorf("the model is told (%v): %s", m.Problems(), body)
	}
	sent, err := os.ReadFile(seen)
	if err != nil || bytes.Count(sent, []byte(`"tools/call"`)) != 1 || bytes.Contains(sent, []byte(`"tasks/cancel"`)) {
		t.Errorf("the server was sent (%v): %s", err, sent)
	}
	if got := lastCallOf(t, data); got.str("outcome") != "running" {
		t.Errorf("record: %s", got.text)
	}
	steward(t, "journal", "verify", "--data", data).mustExit(t, 0)
}

// TestTaskForgottenByItsServer kills the program while a task runs at a server that
// keeps it only as long as it runs itself: that is not known to have succeeded.
func TestTaskForgottenByItsServer(t *testing.T) {
	eachTaskForm(t, func(t *testing.T, flags []string) {
		data, seen := t.TempDir(), filepath.Join(t.TempDir(), "seen")
		servers := serversFile(t, scripted(append(flags, "--record", seen, "--task-ms", "60000")...))
		r := interruptedWhen(t, prepared(t, "call", "s", "task", `{"mail":"boss"}`, "--data", data, "--servers", servers, "--consent", "allow", "--events"), seenTwice(seen), syscall.SIGKILL)
		record, _ := one(t, lines(t, whole(r.out)), "call").value["record"].(float64)
		steward(t, "call", "s", "echo", `{}`, "--data", data, "--servers", servers, "--consent", "allow").mustExit(t, 0)
		shown := steward(t, "journal", "show", strconv.Itoa(int(record)), "--json", "--data", data).mustExit(t, 0).out
		if !strings.Contains(shown, `"outcome":"unknown"`) || !strings.Contains(shown, "does not know the task any more") {
			t.Errorf("record: %s", shown)
		}
	})
}

// TestTaskStaysWithItsServer kills the program while a task runs, and changes the
// settings of the server: another program is not asked for it.
func TestTaskStaysWithItsServer(t *testing.T) {
	t.Parallel()
	data, dir := t.TempDir(), t.TempDir()
	seen, other := filepath.Join(dir, "seen"), filepath.Join(dir, "other")
	flags := []string{"--tasks", "core", "--task-file", filepath.Join(dir, "tasks")}
	servers := serversFile(t, scripted(append(flags, "--record", seen, "--task-ms", "60000")...))
	interruptedWhen(t, prepared(t, "call", "s", "task", `{}`, "--data", data, "--servers", servers, "--consent", "allow"), seenTwice(seen), syscall.SIGKILL)
	changed := serversFile(t, scripted(append(flags, "--record", other)...))
	steward(t, "call", "s", "echo", `{}`, "--data", data, "--servers", changed, "--consent", "allow").mustExit(t, 0)
	sent, err := os.ReadFile(other)
	if err != nil || bytes.Contains(sent, []byte(`"tasks/`)) {
		t.Errorf("the other server was asked (%v): %s", err, sent)
	}
	calls := array(t, steward(t, "journal", "list", "--json", "--kind", "call", "--tool", "task", "--data", data).mustExit(t, 0).out)
	if len(calls) != 1 || calls[0].str("outcome") != "unknown" {
		t.Errorf("records: %s", texts(calls))
	}
}

// TestTaskStopped stops a turn while a task runs: the server is told, and the record
// says that the effect is not known.
func TestTaskStopped(t *testing.T) {
	eachTaskForm(t, func(t *testing.T, flags []string) {
		data, seen := t.TempDir(), filepath.Join(t.TempDir(), "seen")
		servers := serversFile(t, scripted(append(flags, "--record", seen)...))
		r := interruptedWhen(t, prepared(t, "call", "s", "task-forever", `{}`, "--data", data, "--servers", servers, "--consent", "allow", "--events"), seenTwice(seen), os.Interrupt)
		all := lines(t, r.out)
		if got := one(t, all, "result"); got.str("outcome") != "cancelled" || got.str("effect") != "unknown" {
			t.Errorf("result: %s", got.text)
		}
		if got := only(all, "progress"); len(got) == 0 || !strings.Contains(texts(got), "The task is working.") {
			t.Errorf("progress: %s", texts(got))
		}
		sent, err := os.ReadFile(seen)
		if err != nil || bytes.Count(sent, []byte(`"tasks/cancel"`)) != 1 {
			t.Errorf("the server was sent (%v): %s", err, sent)
		}
	})
}
