package journal

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"steward/storage"
)

func init() {
	children["calls"] = func(dir string) error {
		db, err := storage.Open(bg, storage.Options{Dir: dir, Program: "child"})
		if err != nil {
			return err
		}
		j, r, err := Open(bg, Options{Store: db})
		if err != nil || r.Problem != "" {
			return fmt.Errorf("%s: %w", r.Problem, err)
		}
		var out sync.Mutex
		say := func(what string, n int64) {
			out.Lock()
			defer out.Unlock()
			fmt.Println(what, n)
		}
		failed := make(chan error)
		for i := range 3 {
			go func() {
				for {
					if err := childCall(j, i, say); err != nil {
						failed <- err
						return
					}
				}
			}()
		}
		return <-failed
	}
}

func childCall(j *Journal, i int, say func(string, int64)) error {
	e, err := j.Propose(bg, callOf(fmt.Sprintf(`{"i":%d}`, i)))
	if err != nil {
		return err
	}
	if i == 0 {
		if err := e.Shown(bg, "h"); err != nil {
			return err
		}
		say("shown", e.Number())
	}
	if err := e.Decided(bg, Decision{Decision: Allowed, By: "flag"}); err != nil {
		return err
	}
	if _, err := e.Intent(bg, []byte("exact")); err != nil {
		return err
	}
	say("intent", e.Number())
	e.Sent()
	if err := e.Outcome(bg, Outcome{Outcome: OK}); err != nil {
		return err
	}
	say("outcome", e.Number())
	return nil
}

// Whatever moment the program is killed at: what was acknowledged is there, an
// intent never stays open, what was never intended is withdrawn, the chain
// holds, and the anchor that is behind is no alarm.
func TestKilledDuringCalls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	acked := map[string]string{}
	rank := map[string]int{"shown": 1, "intent": 2, "outcome": 3}
	unknown, withdrawn := 0, 0
	for range 15 {
		for _, line := range runAndKill(t, "calls", dir, time.Duration(rand.IntN(40))*time.Millisecond) {
			var what, n string
			if _, err := fmt.Sscan(line, &what, &n); err == nil && rank[what] > rank[acked[n]] {
				acked[n] = what
			}
		}
		if v, err := verdict(t, dir, nil); err != nil || !v.OK { // before anything is repaired
			t.Fatalf("%+v %v", v, err)
		}
		db, err := storage.Open(bg, storage.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		j, r, err := Open(bg, Options{Store: db})
		if err != nil || r.Problem != "" {
			t.Fatal(r.Problem, err)
		}
		for _, rec := range r.Unknown {
			if rec.Outcome != Unknown || rec.Effect != EffectUnknown || show(t, j, rec.Record).Reason != reasonCrash {
				t.Errorf("%+v", rec)
			}
		}
		for _, rec := range r.Withdrawn {
			if rec.Outcome != Withdrawn || rec.Effect != EffectNone || rank[acked[fmt.Sprint(rec.Record)]] > 1 {
				t.Errorf("%+v was acknowledged as %s", rec, acked[fmt.Sprint(rec.Record)])
			}
		}
		unknown, withdrawn = unknown+len(r.Unknown), withdrawn+len(r.Withdrawn)
		holds(t, j)
		ok(t, j.Close(bg))
		j, r, err = Open(bg, Options{Store: db})
		if err != nil || len(r.Unknown)+len(r.Withdrawn) > 0 || r.Problem != "" {
			t.Errorf("the second time: %+v %v", r, err)
		}
		ok(t, j.Close(bg))
		ok(t, db.Close())
	}
	j := testJournal(t, Options{Store: testStore(t, dir)})
	l, err := j.List(bg, Filter{Limit: -1})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Record{}
	for _, r := range l {
		got[fmt.Sprint(r.Record)] = r
	}
	for n, what := range acked {
		r, there := got[n]
		if !there || (what == "outcome" && r.Outcome != OK) || (what == "intent" && r.Outcome != OK && r.Outcome != Unknown) {
			t.Errorf("record %s was acknowledged as %s and is %+v", n, what, r)
		}
	}
	t.Logf("%d records acknowledged, %d unknown and %d withdrawn after crashes", len(acked), unknown, withdrawn)
	if len(acked) < 20 || unknown == 0 {
		t.Error("too little happened for this test to mean anything")
	}
}

// runAndKill starts a child, kills it some time after its first line, and
// gives the lines it had written out whole.
func runAndKill(t *testing.T, name, dir string, after time.Duration) []string {
	t.Helper()
	cmd := child(t, name, dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaint strings.Builder
	cmd.Stderr = &complaint
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	var lines []string
	in := bufio.NewReader(out)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			break // the child is dead
		}
		if len(lines) == 0 {
			timer.Reset(after)
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	_ = cmd.Wait() // killed
	if complaint.Len() > 0 {
		t.Errorf("the child says: %s", complaint.String())
	}
	return lines
}

// An outcome that cannot be written is kept and told; nothing more is intended
// until it is written, and then all goes on.
func TestOutcomeThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	told := make(chan error, 10)
	db := testStore(t, dir)
	j := testJournal(t, Options{Store: db, OnDegraded: func(err error) { told <- err }})
	running, _ := intended(t, j, `{"running":1}`)
	next := propose(t, j, callOf(`{"next":1}`))
	ok(t, next.Decided(bg, Decision{Decision: Allowed, By: "flag"}))
	ok(t, next.Shown(bg, "h"))

	blockEvents(t, dir)
	if err := running.Outcome(bg, Outcome{Outcome: OK, Result: json.RawMessage(`"kept"`)}); !errors.Is(err, ErrDegraded) {
		t.Fatal(err)
	}
	if err := <-told; !errors.Is(err, ErrDegraded) {
		t.Error(err)
	}
	if r, err := next.Intent(bg, []byte(`{}`)); !errors.Is(err, ErrDegraded) || r != nil {
		t.Errorf("an intent while an outcome waits: %v %v", r, err)
	}
	if err := running.Outcome(bg, Outcome{Outcome: OK}); !errors.Is(err, ErrState) {
		t.Error(err)
	}
	time.Sleep(2*retryDelay + retryDelay/2) // several attempts fail
	if len(told) > 0 {
		t.Errorf("told again: %v", <-told)
	}
	unblockEvents(t, dir)
	select {
	case err := <-told:
		ok(t, err)
	case <-time.After(10 * time.Second):
		t.Fatal("it was not tried again")
	}
	if d := show(t, j, running.Number()); d.Outcome != OK || string(d.Result) != `"kept"` {
		t.Errorf("%+v", d)
	}
	if _, err := next.Intent(bg, []byte(`{}`)); err != nil {
		t.Error(err)
	}
	ok(t, next.Outcome(bg, Outcome{Outcome: OK}))
	holds(t, j)
}

// blockEvents makes every write of an event fail, from another process's hand.
func blockEvents(t *testing.T, dir string) {
	t.Helper()
	outside(t, dir, "CREATE TRIGGER block BEFORE INSERT ON event BEGIN SELECT RAISE(ABORT, 'blocked'); END")
}

func unblockEvents(t *testing.T, dir string) {
	t.Helper()
	outside(t, dir, "DROP TRIGGER block")
}

func outside(t *testing.T, dir, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(dir, "steward.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
	ok(t, db.Close())
}

// An intent that cannot be written gives no receipt, and is not written later
// either.
func TestIntentThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := testJournal(t, Options{Store: testStore(t, dir)})
	call(t, j, `{}`, `{}`)
	e := propose(t, j, callOf(`{"n":2}`))
	ok(t, e.Decided(bg, Decision{Decision: Allowed, By: "flag"}))
	blockEvents(t, dir)
	if r, err := e.Intent(bg, []byte(`{}`)); err == nil || r != nil {
		t.Errorf("%v %v", r, err)
	}
	unblockEvents(t, dir)
	call(t, j, `{"n":3}`, `{}`)
	if r := show(t, j, e.Number()); r.Outcome != Waiting {
		t.Errorf("%+v", r)
	}
	if _, err := e.Intent(bg, []byte(`{}`)); err != nil { // it may be tried again
		t.Error(err)
	}
	ok(t, e.Outcome(bg, Outcome{Outcome: OK}))
	holds(t, j)
}

// Another program holds the file: who does not wait gets no receipt, and no
// intent appears afterwards.
func TestFileHeldByAnotherProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := storage.Open(bg, storage.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { ok(t, db.Close()) }()
	j, _, err := Open(bg, Options{Store: db})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { ok(t, j.Close(bg)) }()
	e := propose(t, j, callOf(`{}`))
	ok(t, e.Decided(bg, Decision{Decision: Allowed, By: "flag"}))
	other, err := sql.Open("sqlite3", filepath.Join(dir, "steward.db"))
	if err != nil {
		t.Fatal(err)
	}
	other.SetMaxOpenConns(1)
	defer other.Close()
	if _, err := other.Exec("BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(bg, 100*time.Millisecond)
	defer cancel()
	if r, err := e.Intent(short, []byte(`{}`)); !errors.Is(err, context.DeadlineExceeded) || r != nil {
		t.Errorf("%v %v", r, err)
	}
	waiting := propose(t, j, callOf(`{"waits":1}`))
	ok(t, waiting.Decided(bg, Decision{Decision: Allowed, By: "flag"}))
	got := make(chan error, 1)
	go func() {
		_, err := waiting.Intent(bg, []byte(`{}`))
		got <- err
	}()
	time.Sleep(50 * time.Millisecond)
	if _, err := other.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	ok(t, <-got)
	ok(t, waiting.Outcome(bg, Outcome{Outcome: OK}))
	if r := show(t, j, e.Number()); r.Outcome != Waiting {
		t.Errorf("an intent that was given up: %+v", r)
	}
	ok(t, e.Outcome(bg, Outcome{Outcome: Cancelled}))
	if r := show(t, j, e.Number()); r.Effect != EffectNone {
		t.Errorf("%+v", r)
	}
	holds(t, j)
}

// A call that is stopped is recorded although its context has ended.
func TestOutcomeOfAStoppedCall(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	e, _ := intended(t, j, `{}`)
	ended, cancel := context.WithCancel(bg)
	cancel()
	ok(t, e.Outcome(ended, Outcome{Outcome: Cancelled}))
	if r := show(t, j, e.Number()); r.Outcome != Cancelled || r.Effect != EffectUnknown {
		t.Errorf("%+v", r)
	}
	e, _ = intended(t, j, `{}`)
	ok(t, e.Outcome(bg, Outcome{Outcome: OK}))
	if err := e.Late(ended, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := j.Propose(ended, callOf(`{}`)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
