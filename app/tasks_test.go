package app

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"steward/app/consent"
	"steward/app/event"
	"steward/app/journal"
)

// taskRig is a program with a server that keeps its tasks over a restart.
func taskRig(t *testing.T, form string, ms string, tool string) *rig {
	t.Helper()
	flags := []string{"--tasks", form, "--task-file", filepath.Join(t.TempDir(), "tasks"), "--task-ms", ms}
	if form == "extension" {
		flags = append(flags, "--discover", "answer")
	}
	return newRig(t, map[string]any{"s": self(t, "scripted", flags...)}, calls(tool, `{"a":1}`), say("It is done."))
}

func (r *rig) onTask() bool {
	return r.heard(func(e event.Event) bool { p, ok := e.(event.Progress); return ok && p.Task && p.Message != "" })
}

// A call that its server works on as a task outlives the program: the same record, the
// same place in the conversation, nothing sent again, and what the person changed stays.
func TestATaskOutlivesTheProgram(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"core", "extension"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			r := taskRig(t, form, "1500", "task")
			turn := r.send(Draft{Text: "go"})
			id := turn.Conversation()
			r.answer(consent.Answer{Action: consent.Allow, Arguments: `{"a":2}`})
			r.until("the task runs", r.onTask)
			r.close()
			if res, err := turn.Wait(context.Background()); err != nil || res.State != "interrupted" {
				t.Errorf("the turn is %+v (%v)", res, err)
			}
			r.open()
			during := r.messages(id)
			c := during[len(during)-1].Calls[0]
			if c.State != CallRunning && c.Outcome != "ok" || c.Edited != `{"a":2}` || c.Record == 0 {
				t.Errorf("after the restart: %+v", c)
			}
			r.until("it has ended", func() bool {
				c = r.messages(id)[1].Calls[0]
				return c.State == CallDone
			})
			if c.Outcome != "ok" || c.Effect != "done" || c.Text != `done {"a":2}` || c.Edited != `{"a":2}` || c.Decision != "allowed" || c.By != "person" {
				t.Errorf("in the end: %+v", c)
			}
			all := must(t, func() ([]journal.Record, error) {
				return r.app.Journal().List(context.Background(), journal.Filter{Kind: "call", Tool: "task", Outcome: "ok"})
			})
			if len(all) != 1 || all[0].Record != c.Record {
				t.Errorf("records: %+v", all)
			}
			r.say(id, "and?")
			if texts, _ := r.lastRequest(); !strings.Contains(strings.Join(texts, "\n"), `done {"a":2}`) {
				t.Errorf("the model is told %q", texts)
			}
			r.holds()
		})
	}
}

// A task that is followed on can be stopped like any call.
func TestATaskIsStoppedAfterARestart(t *testing.T) {
	t.Parallel()
	r := taskRig(t, "core", "100", "task-forever")
	turn := r.send(Draft{Text: "go"})
	id := turn.Conversation()
	r.answer(consent.Answer{Action: consent.Allow, Arguments: `{"a":2}`})
	r.until("the task runs", r.onTask)
	r.reopen()
	call := r.messages(id)[1].Calls[0].ID
	r.until("it is stopped", func() bool { return r.app.StopCall(call) })
	r.until("it has ended", func() bool { return r.messages(id)[1].Calls[0].State == CallDone })
	if c := r.messages(id)[1].Calls[0]; c.Outcome != "cancelled" || c.Effect != "unknown" {
		t.Errorf("%+v", c)
	}
}

// A call by hand is left to be followed on where the front end closes.
func TestATaskByHandOutlivesTheProgram(t *testing.T) {
	t.Parallel()
	r := taskRig(t, "core", "500", "task")
	r.o.Policy.Calls = consent.Allow
	r.reopen()
	ctx, closing := context.WithCancelCause(context.Background())
	defer closing(nil)
	ended := make(chan Outcome, 1)
	go func() {
		o, err := r.app.Call(ctx, "s", "task", `{"a":1}`)
		if err != nil {
			t.Error(err)
		}
		ended <- o
	}()
	r.until("the task runs", r.onTask)
	closing(ErrClosed)
	o := <-ended
	if o.Outcome != journal.Running {
		t.Fatalf("left as %+v", o)
	}
	r.reopen()
	r.until("it has ended", func() bool {
		d, err := r.app.Journal().Show(context.Background(), o.Record)
		return err == nil && d.Outcome == "ok" && strings.Contains(string(d.Result), `done {\"a\":1}`)
	})
}

// The task of a server that this run was not given stays open until one is given it.
func TestATaskOfAServerThatIsNotGivenNow(t *testing.T) {
	t.Parallel()
	r := taskRig(t, "core", "300", "task")
	turn := r.send(Draft{Text: "go"})
	r.answer(consent.Answer{Action: consent.Allow})
	r.until("the task runs", r.onTask)
	r.close()
	given := r.o.ServersFile
	r.o.ServersFile = filepath.Join(t.TempDir(), "none.json")
	write(t, r.o.ServersFile, `{"mcpServers":{}}`)
	r.open()
	r.app.TasksSeen(context.Background())
	if c := r.messages(turn.Conversation())[1].Calls[0]; c.State != CallRunning {
		t.Errorf("%+v", c)
	}
	r.close()
	r.o.ServersFile = given
	r.open()
	r.until("it has ended", func() bool { return r.messages(turn.Conversation())[1].Calls[0].Outcome == "ok" })
}

// A call whose server cannot be asked for its task can be given up.
func TestATaskIsGivenUp(t *testing.T) {
	t.Parallel()
	r := taskRig(t, "core", "300", "task")
	turn := r.send(Draft{Text: "go"})
	r.answer(consent.Answer{Action: consent.Allow})
	r.until("the task runs", r.onTask)
	r.close()
	r.o.ServersFile = filepath.Join(t.TempDir(), "none.json")
	write(t, r.o.ServersFile, `{"mcpServers":{}}`)
	r.open()
	r.app.TasksSeen(context.Background())
	call := func() CallState { return r.messages(turn.Conversation())[1].Calls[0] }
	if !r.app.StopCall(call().ID) {
		t.Fatal("it cannot be stopped")
	}
	r.until("it has ended", func() bool { return call().State == CallDone })
	if c := call(); c.Outcome != "cancelled" || c.Effect != "unknown" || !strings.Contains(c.Reason, "does not wait for its task") {
		t.Errorf("%+v", c)
	}
}

// Who deletes a chat deletes what still runs in it, also where that began before the program was last closed: the server is
// told to stop, or, where it cannot be asked, the record alone is ended. Nothing goes on unseen.
func TestATaskEndsWithItsChat(t *testing.T) {
	t.Parallel()
	for name, given := range map[string]bool{"followed": true, "not followed": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := taskRig(t, "core", "100", "task-forever")
			id := r.send(Draft{Text: "go"}).Conversation()
			r.answer(consent.Answer{Action: consent.Allow})
			r.until("the task runs", r.onTask)
			r.close()
			if !given {
				r.o.ServersFile = filepath.Join(t.TempDir(), "none.json")
				write(t, r.o.ServersFile, `{"mcpServers":{}}`)
			}
			r.open()
			c := r.messages(id)[1].Calls[0]
			r.until("it stands as it should", func() bool {
				_, live := r.app.gate.Live(c.ID)
				return live == given
			})
			_, err := r.app.Delete(context.Background(), id)
			check(t, err)
			r.until("it has ended", func() bool {
				d, err := r.app.Journal().Show(context.Background(), c.Record)
				return err == nil && d.Outcome == "cancelled"
			})
		})
	}
}

// A call can be stopped as well while the server is still starting that is to be asked for its task.
func TestATaskIsStoppedWhileItsServerStarts(t *testing.T) {
	t.Parallel()
	marker, file := filepath.Join(t.TempDir(), "again"), filepath.Join(t.TempDir(), "tasks")
	server := self(t, "scripted", "--tasks", "core", "--task-file", file, "--task-ms", "100")
	run := append([]string{server["command"].(string)}, server["args"].([]string)...)
	server["command"], server["args"] = "sh", append([]string{"-c", `if [ -e "$0" ]; then exec sleep 60; fi; exec "$@"`, marker}, run...)
	r := newRig(t, map[string]any{"s": server}, calls("task-forever", `{"a":1}`), say("It is done."))
	id := r.send(Draft{Text: "go"}).Conversation()
	r.answer(consent.Answer{Action: consent.Allow})
	r.until("the task runs", r.onTask)
	r.close()
	write(t, marker, "")
	r.open()
	c := r.messages(id)[1].Calls[0]
	if _, live := r.app.gate.Live(c.ID); live || c.State != CallRunning {
		t.Fatalf("%+v", c)
	}
	if !r.app.StopCall(c.ID) {
		t.Fatal("it cannot be stopped")
	}
	r.until("it has ended", func() bool { return r.messages(id)[1].Calls[0].Outcome == "cancelled" })
}

// The model is told how a task ended also in a copy of its chat that was made while it ran: what the record says, with
// nothing running any more.
func TestTheEndOfATaskInACopy(t *testing.T) {
	t.Parallel()
	for tool, want := range map[string]string{"task": `done {"a":1}`, "task-forever": "The person stopped this call while it ran."} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			r := taskRig(t, "core", "300", tool)
			given := r.o.ServersFile
			id := r.send(Draft{Text: "go"}).Conversation()
			r.answer(consent.Answer{Action: consent.Allow})
			r.until("the task runs", r.onTask)
			r.close()
			r.o.ServersFile = filepath.Join(t.TempDir(), "none.json")
			write(t, r.o.ServersFile, `{"mcpServers":{}}`)
			r.open()
			r.app.TasksSeen(context.Background())
			c := must(t, func() (Conversation, error) { return r.app.Duplicate(context.Background(), id) })
			r.close()
			r.o.ServersFile = given
			r.open()
			call := r.messages(id)[1].Calls[0]
			if tool == "task-forever" {
				r.until("it is stopped", func() bool { return r.app.StopCall(call.ID) })
			}
			r.until("it has ended", func() bool { return r.messages(id)[1].Calls[0].State == CallDone })
			r.until("the copy shows it", func() bool {
				copied := r.messages(c.ID)[1].Calls[0]
				return copied.State == CallDone && copied.Outcome == r.messages(id)[1].Calls[0].Outcome
			})
			r.say(c.ID, "and?")
			texts, _ := r.lastRequest()
			if all := strings.Join(texts, "\n"); !strings.Contains(all, want) || strings.Contains(all, "not finished yet") {
				t.Errorf("the model is told %q", texts)
			}
		})
	}
}
