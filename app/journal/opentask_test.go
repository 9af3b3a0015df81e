package journal

import (
	"context"
	"encoding/json"
	"testing"

	"steward/storage"
)

// A call that its server works on as a task stays open over a restart, as often as it
// takes, and ends once; what ran beside it does not.
func TestATaskStaysOpen(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := t.TempDir()
	task := json.RawMessage(`{"taskId":"t-1","form":"2025-11-25"}`)
	var open, other int64
	func() {
		j, _ := reopen(t, dir)
		defer shut(t, j)
		for i, n := range []*int64{&open, &other} {
			e, err := j.Propose(ctx, Proposal{
				Kind: KindCall, Conversation: "c_1", Server: "s", Tool: "build", Arguments: `{"a":1}`, Model: "m", Definition: "sha256:d",
				Detail: map[string]any{"call": "k_1", "turn": "t_1", "server_hash": "h", "edits": "k_0"},
			})
			if err != nil {
				t.Fatal(err)
			}
			*n = e.Number()
			if err := e.Decided(ctx, Decision{Decision: Allowed, By: "person"}); err != nil {
				t.Fatal(err)
			}
			if _, err := e.Intent(ctx, []byte(`{"a":1}`)); err != nil {
				t.Fatal(err)
			}
			what := AttemptTask
			if i == 1 {
				what = "input"
			}
			if err := e.Attempt(ctx, what, task); err != nil {
				t.Fatal(err)
			}
		}
	}()
	for range 2 {
		j, r := reopen(t, dir)
		if len(r.Tasks) != 1 || len(r.Unknown) > 1 || r.Tasks[0].Record.Record != open {
			t.Fatalf("%+v", r)
		}
		got := r.Tasks[0]
		if got.Call != "k_1" || got.Edits != "k_0" || got.Turn != "t_1" || got.ServerHash != "h" || got.Definition != "sha256:d" ||
			string(got.Task) != string(task) || got.Begun.IsZero() || got.Outcome != Running || got.Tool != "build" || got.Arguments != `{"a":1}` {
			t.Errorf("%+v", got)
		}
		if d, err := j.Show(ctx, other); err != nil || d.Outcome != Unknown {
			t.Errorf("the other call: %+v %v", d, err)
		}
		shut(t, j)
	}
	j, r := reopen(t, dir)
	if err := r.Tasks[0].Entry.Outcome(ctx, Outcome{Outcome: OK, Result: json.RawMessage(`{"content":[]}`), Seconds: 3}); err != nil {
		t.Fatal(err)
	}
	if err := r.Tasks[0].Entry.Outcome(ctx, Outcome{Outcome: OK}); err == nil {
		t.Error("it ended twice")
	}
	shut(t, j)
	j, r = reopen(t, dir)
	defer shut(t, j)
	if d, err := j.Show(ctx, open); err != nil || d.Outcome != OK || d.Seconds != 3 || len(r.Tasks) != 0 {
		t.Errorf("%+v %v %+v", d, err, r)
	}
	holds(t, j)
}

// reopen opens the journal of a folder as the program does at its start.
func reopen(t *testing.T, dir string) (*Journal, Recovery) {
	t.Helper()
	db, err := storage.Open(context.Background(), storage.Options{Dir: dir, Program: "test"})
	ok(t, err)
	j, r, err := Open(context.Background(), Options{Store: db})
	ok(t, err)
	return j, r
}

func shut(t *testing.T, j *Journal) {
	t.Helper()
	ok(t, j.Close(context.Background()))
	ok(t, j.store.Close())
}

// What is kept of a task and cannot be read any more keeps nobody from starting: where the person goes on with a journal that
// does not hold, the call ends as not known.
func TestATaskThatCannotBeReadIsNotFollowed(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"its body": `UPDATE body SET bytes = CAST('{' AS BLOB) WHERE event = (SELECT max(seq) FROM event WHERE kind = 'attempt')`,
		"its word": `UPDATE event SET meta = '{' WHERE kind = 'attempt'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			j, _ := reopen(t, dir)
			e, err := j.Propose(t.Context(), Proposal{Kind: KindCall, Server: "s", Tool: "build", Arguments: `{}`, Detail: map[string]any{"call": "k_1"}})
			ok(t, err)
			ok(t, e.Decided(t.Context(), Decision{Decision: Allowed, By: "person"}))
			_, err = e.Intent(t.Context(), []byte(`{}`))
			ok(t, err)
			ok(t, e.Attempt(t.Context(), AttemptTask, json.RawMessage(`{"taskId":"t-1"}`)))
			shut(t, j)
			tampered(t, dir, change)
			j, _ = reopen(t, dir)
			ok(t, j.Acknowledge(t.Context()))
			shut(t, j)
			j, r := reopen(t, dir)
			defer shut(t, j)
			if len(r.Tasks) != 0 || len(r.Unknown) != 1 || r.Unknown[0].Record != e.Number() {
				t.Errorf("%+v", r)
			}
		})
	}
}
