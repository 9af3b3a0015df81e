package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"steward/storage"
)

// childEnv names what this test binary does when it is started as a child.
const childEnv = "STEWARD_JOURNAL_CHILD"

var children = map[string]func(dir string) error{}

func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		if err := children[name](os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func child(t *testing.T, name, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, dir)
	cmd.Env = append(os.Environ(), childEnv+"="+name)
	return cmd
}

var bg = context.Background()

func testStore(t testing.TB, dir string) *storage.DB {
	t.Helper()
	db, err := storage.Open(bg, storage.Options{Dir: dir, Program: "steward test", OnError: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ok(t, db.Close()) })
	return db
}

func testJournal(t testing.TB, o Options) *Journal {
	t.Helper()
	j, _, err := Open(bg, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ok(t, j.Close(bg)) })
	return j
}

func newJournal(t testing.TB) *Journal {
	t.Helper()
	return testJournal(t, Options{Store: testStore(t, t.TempDir())})
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func propose(t testing.TB, j *Journal, p Proposal) *Entry {
	t.Helper()
	e, err := j.Propose(bg, p)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func callOf(args string) Proposal {
	return Proposal{Kind: KindCall, Server: "weekly-report", Tool: "get_weekly_report", Arguments: args, Conversation: "c_1", Model: "fake", Definition: "sha256:d"}
}

// intended is a call whose intent is on the disk.
func intended(t testing.TB, j *Journal, args string) (*Entry, *Receipt) {
	t.Helper()
	e := propose(t, j, callOf(args))
	ok(t, e.Decided(bg, Decision{Decision: Allowed, By: "flag"}))
	r, err := e.Intent(bg, []byte(args))
	if err != nil {
		t.Fatal(err)
	}
	return e, r
}

// call is a whole call.
func call(t testing.TB, j *Journal, args string, result string) int64 {
	t.Helper()
	e, r := intended(t, j, args)
	if err := r.Spend([]byte(args)); err != nil {
		t.Fatal(err)
	}
	e.Sent()
	if err := e.Outcome(bg, Outcome{Outcome: OK, Result: json.RawMessage(result), Seconds: 0.021}); err != nil {
		t.Fatal(err)
	}
	return e.Number()
}

func show(t testing.TB, j *Journal, n int64) Detail {
	t.Helper()
	d, err := j.Show(bg, n)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func holds(t testing.TB, j *Journal) Verification {
	t.Helper()
	v, err := j.Verify(bg)
	if err != nil || !v.OK {
		t.Errorf("the journal does not hold: %+v %v", v, err)
	}
	return v
}

// commits counts what the store had to put on the disk.
func headOf(t testing.TB, db *storage.DB) (h storage.Head) {
	t.Helper()
	ok(t, db.Read(bg, func(s *storage.Snapshot) (err error) { h, err = s.Head(); return err }))
	return h
}

// A call whose decision needs no person is on the disk in two steps: nothing
// before the intent, nothing between intent and outcome.
func TestTwoCommitsPerCall(t *testing.T) {
	t.Parallel()
	db := testStore(t, t.TempDir())
	j := testJournal(t, Options{Store: db})
	call(t, j, `{}`, `{}`)
	before := headOf(t, db).Seq
	e := propose(t, j, callOf(`{"a":1}`))
	ok(t, e.Decided(bg, Decision{Decision: Allowed, By: "rule:1"}))
	time.Sleep(2 * noteDelay)
	if got := headOf(t, db).Seq; got != before {
		t.Errorf("%d events were written before the intent", got-before)
	}
	r, err := e.Intent(bg, []byte(`{"a":1}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := headOf(t, db).Seq; got != before+3 {
		t.Errorf("with the intent %d events, want proposed, decided, intent", got-before)
	}
	ok(t, r.Spend([]byte(`{"a":1}`)))
	e.Sent()
	time.Sleep(2 * noteDelay)
	if got := headOf(t, db).Seq; got != before+3 {
		t.Error("sent had a commit of its own")
	}
	ok(t, e.Outcome(bg, Outcome{Outcome: OK}))
	if got := headOf(t, db).Seq; got != before+5 {
		t.Errorf("%d events in all, want 5", got-before)
	}
}

func TestShownIsDurable(t *testing.T) {
	t.Parallel()
	db := testStore(t, t.TempDir())
	j := testJournal(t, Options{Store: db})
	e := propose(t, j, callOf(`{}`))
	ok(t, e.Shown(bg, "sha256:shown"))
	if got := headOf(t, db); got.Seq != 3 || got.Record != 1 {
		t.Errorf("%+v", got)
	}
	if l, err := j.List(bg, Filter{}); err != nil || len(l) != 1 || l[0].Outcome != Waiting || l[0].Effect != EffectNone {
		t.Errorf("%+v %v", l, err)
	}
}

func TestReceipt(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	_, r := intended(t, j, `{"a":1}`)
	if err := r.Spend([]byte(`{"a":2}`)); !errors.Is(err, ErrOtherBytes) {
		t.Error(err)
	}
	if err := r.Spend([]byte(`{"a":1}`)); !errors.Is(err, ErrSpent) {
		t.Errorf("a refused receipt is used up: %v", err)
	}
	_, r = intended(t, j, `{"a":1}`)
	var wg sync.WaitGroup
	spent := make(chan error, 50)
	for range 50 {
		wg.Go(func() { spent <- r.Spend([]byte(`{"a":1}`)) })
	}
	wg.Wait()
	close(spent)
	good := 0
	for err := range spent {
		if err == nil {
			good++
		} else if !errors.Is(err, ErrSpent) {
			t.Error(err)
		}
	}
	if good != 1 {
		t.Errorf("spent %d times", good)
	}
	var none *Receipt
	if none.Spend(nil) == nil {
		t.Error("sending without a receipt")
	}
}

// Steps that do not fit are refused and leave no event.
func TestStepsInOrder(t *testing.T) {
	t.Parallel()
	db := testStore(t, t.TempDir())
	j := testJournal(t, Options{Store: db})
	misfit := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, ErrState) {
			t.Errorf("%s: %v", what, err)
		}
	}
	e := propose(t, j, callOf(`{}`))
	_, err := e.Intent(bg, []byte(`{}`))
	misfit("intent without a decision", err)
	misfit("attempt before the intent", e.Attempt(bg, "x", nil))
	misfit("late before the outcome", e.Late(bg, nil))
	misfit("ok without an intent", e.Outcome(bg, Outcome{Outcome: OK}))
	ok(t, e.Decided(bg, Decision{Decision: Denied, By: "person", Reason: "no"}))
	misfit("a second decision", e.Decided(bg, Decision{Decision: Allowed}))
	_, err = e.Intent(bg, []byte(`{}`))
	misfit("intent after a no", err)
	ok(t, e.Outcome(bg, Outcome{Outcome: Denied}))
	misfit("a second outcome", e.Outcome(bg, Outcome{Outcome: Denied}))
	misfit("shown after the outcome", e.Shown(bg, "h"))
	misfit("intent after the outcome", func() error { _, err := e.Intent(bg, nil); return err }())

	e, _ = intended(t, j, `{}`)
	_, err = e.Intent(bg, []byte(`{}`))
	misfit("a second intent", err)
	misfit("shown after the intent", e.Shown(bg, "h"))
	for _, bad := range []Outcome{{Outcome: "fine"}, {Outcome: Running}, {Outcome: Denied, Effect: EffectDone}, {Outcome: OK, Effect: "maybe"}} {
		if e.Outcome(bg, bad) == nil {
			t.Errorf("accepted: %+v", bad)
		}
	}
	ok(t, e.Attempt(bg, "sign-in", map[string]int{"status": 401}))
	ok(t, e.Outcome(bg, Outcome{Outcome: Timeout}))
	ok(t, e.Late(bg, []byte(`{"late":true}`)))
	if _, err := j.Propose(bg, Proposal{Kind: "thing"}); err == nil {
		t.Error("a kind that is none")
	}
	if e.Decided(bg, Decision{Decision: "perhaps"}) == nil {
		t.Error("a decision that is none")
	}
	holds(t, j)
	var events []string
	for _, ev := range show(t, j, 2).Events {
		events = append(events, ev.Event)
	}
	if got := strings.Join(events, " "); got != "proposed decided intent attempt outcome late" {
		t.Error(got)
	}
}

func TestEffects(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	for _, c := range []struct {
		intended bool
		o        Outcome
		want     string
	}{
		{true, Outcome{Outcome: OK}, EffectDone},
		{true, Outcome{Outcome: ToolError}, EffectDone},
		{true, Outcome{Outcome: ProtocolError}, EffectUnknown},
		{true, Outcome{Outcome: ProtocolError, Effect: EffectDone}, EffectDone},
		{true, Outcome{Outcome: Withdrawn}, EffectNone},
		{true, Outcome{Outcome: Cancelled}, EffectUnknown},
		{true, Outcome{Outcome: Timeout}, EffectUnknown},
		{true, Outcome{Outcome: Unknown}, EffectUnknown},
		{false, Outcome{Outcome: Cancelled}, EffectNone},
		{false, Outcome{Outcome: Denied}, EffectNone},
		{false, Outcome{Outcome: Expired}, EffectNone},
		{false, Outcome{Outcome: Withdrawn}, EffectNone},
	} {
		var e *Entry
		if c.intended {
			e, _ = intended(t, j, `{}`)
		} else {
			e = propose(t, j, callOf(`{}`))
		}
		ok(t, e.Outcome(bg, c.o))
		if r := show(t, j, e.Number()); r.Outcome != c.o.Outcome || r.Effect != c.want {
			t.Errorf("%+v after intent %v: %s %s", c.o, c.intended, r.Outcome, r.Effect)
		}
	}
	holds(t, j)
}

// Numbers rise in the order of the chain, however many propose at once, and
// nothing is lost or mixed up.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			for n := range 10 {
				if n%3 == 0 {
					if _, err := j.Note(bg, Proposal{Kind: KindServer, Server: fmt.Sprint(i)}, Outcome{}); err != nil {
						t.Error(err)
					}
				}
				args := fmt.Sprintf(`{"from":%d,"n":%d}`, i, n)
				number := call(t, j, args, fmt.Sprintf(`{"answer":%d}`, i*100+n))
				d := show(t, j, number)
				if d.Arguments != args || string(d.Result) != fmt.Sprintf(`{"answer":%d}`, i*100+n) {
					t.Errorf("record %d: %+v", number, d)
				}
			}
		})
	}
	wg.Wait()
	holds(t, j)
	l, err := j.List(bg, Filter{Kind: "call", Limit: -1})
	if err != nil || len(l) != 200 {
		t.Error(len(l), err)
	}
}

func TestReadOnlyJournal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := testJournal(t, Options{Store: testStore(t, dir)})
	call(t, j, `{"n":1}`, `{}`)
	ro, err := storage.Open(bg, storage.Options{Dir: dir, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { ok(t, ro.Close()) }()
	r, err := OpenReadOnly(bg, Options{Store: ro})
	if err != nil {
		t.Fatal(err)
	}
	call(t, j, `{"n":2}`, `{}`) // while it is read
	if l, err := r.List(bg, Filter{}); err != nil || len(l) != 2 {
		t.Error(l, err)
	}
	holds(t, r)
	if _, err := r.Propose(bg, callOf(`{}`)); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
	if _, err := r.Note(bg, Proposal{Kind: KindGrant}, Outcome{}); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
	if _, _, err := Open(bg, Options{Store: ro}); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
	ok(t, r.Close(bg))
}

func TestClosedJournal(t *testing.T) {
	t.Parallel()
	db := testStore(t, t.TempDir())
	j := testJournal(t, Options{Store: db})
	e, _ := intended(t, j, `{}`)
	if _, err := j.Note(bg, Proposal{Kind: KindGrant}, Outcome{}); err != nil {
		t.Error(err)
	}
	before := headOf(t, db).Seq
	ok(t, j.Close(bg))
	ok(t, j.Close(bg))
	if got := headOf(t, db).Seq; got != before+1 {
		t.Error("closing lost the note")
	}
	if _, err := j.Propose(bg, callOf(`{}`)); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if err := e.Outcome(bg, Outcome{Outcome: OK}); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// An opened and unused journal writes nothing.
func TestNothingHappened(t *testing.T) {
	t.Parallel()
	db := testStore(t, t.TempDir())
	j := testJournal(t, Options{Store: db})
	v := holds(t, j)
	if v.Events != 0 || v.AnchorChecked != checkedNone {
		t.Errorf("%+v", v)
	}
	ok(t, j.Close(bg))
	if headOf(t, db).Seq != 0 {
		t.Error("an event was written")
	}
}
