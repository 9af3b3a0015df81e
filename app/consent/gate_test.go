package consent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"steward/app/event"
	"steward/app/journal"
	"steward/storage"
)

func allow(o *Options) { o.Policy.Calls = Allow }

func TestAnAllowedCallSendsExactlyWhatWasRecorded(t *testing.T) {
	t.Parallel()
	r := newRig(t, allow)
	conn, received := r.server("s")
	args := `{"text":"你好 \u202e","z":1.50,"a":12345678901234567890}`
	o := r.now(r.call(conn, "echo", args), conn)
	expect(t, o, Allowed, "flag", "ok", "done")
	if got := received(); len(got) != 1 || got[0] != "echo "+args {
		t.Fatalf("the server received %q", got)
	}
	rec := r.records(journal.KindCall)
	if len(rec) != 1 || rec[0].Arguments != args || rec[0].Outcome != "ok" || rec[0].By != "flag" || rec[0].Record != o.Record {
		t.Fatalf("recorded: %+v", rec)
	}
	if strings.Contains(o.Text, "\u202e") || !strings.Contains(o.Text, "你好") {
		t.Fatalf("text for the model: %q", o.Text)
	}
	if !r.seen(func(e event.Event) bool {
		e2, ok := e.(event.Result)
		return ok && e2.Call == o.Call.ID() && e2.Effect == "done"
	}) {
		t.Fatal("no result was published")
	}
}

// What does not fit the tool's outputSchema is not handed on as if it did: the model and the person are told.
func TestStructuredContentThatDoesNotFitIsFlagged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer  string
		flagged bool
	}{
		"fits":     {`{"content":[],"structuredContent":{"z":1,"n":12345678901234567890}}`, false},
		"does not": {`{"content":[],"structuredContent":{"z":1,"n":"many"}}`, true},
		"no list":  {`{"content":[{"type":"text","text":"n"}],"structuredContent":[1]}`, true},
		"error":    {`{"content":[{"type":"text","text":"n"}],"structuredContent":{"n":"many"},"isError":true}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, allow)
			conn, _ := r.server("s", "--step", `tools/list=@result {"tools":[{"name":"count","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}]}`,
				"--step", "tool:count=@result "+c.answer)
			o := r.now(r.call(conn, "count", `{}`), conn)
			if got := strings.Contains(o.Text, "does not match the tool’s outputSchema") || strings.Contains(o.Text, "does not match the tool's outputSchema"); got != c.flagged || len(o.Notes) > 0 != c.flagged {
				t.Errorf("the model reads %q; notes %q", o.Text, o.Notes)
			}
			if c.flagged != r.seen(func(e event.Event) bool { n, ok := e.(event.Notice); return ok && n.Kind == "odd_result" }) {
				t.Error("the person is not told, or without a reason")
			}
		})
	}
}

func TestARefusedCallNeverReachesTheServer(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) {
		o.Policy.Calls = Deny
		o.Disabled = func(_, _, tool, _ string) bool { return tool == "add" }
	})
	conn, received := r.server("s")
	expect(t, r.now(r.call(conn, "echo", `{}`), conn), Denied, "flag", "denied", "none")
	expect(t, r.now(r.call(conn, "add", `{}`), conn), Denied, byDisabled, "denied", "none")
	expect(t, r.now(r.call(conn, "echo", `{"text":5}`), conn), Withdrawn, bySchema, "withdrawn", "none")
	if got := received(); len(got) != 0 {
		t.Fatalf("the server received %q", got)
	}
}

func TestArgumentsThatBreakTheSchemaAreToldToTheModel(t *testing.T) {
	t.Parallel()
	r := newRig(t, allow)
	conn, received := r.server("s")
	o := r.now(r.call(conn, "echo", `{"text":5}`), conn)
	expect(t, o, Withdrawn, bySchema, "withdrawn", "none")
	if !strings.Contains(o.Text, "text") || !strings.Contains(o.Text, "string") || len(received()) != 0 {
		t.Fatalf("%q, sent %v", o.Text, received())
	}
}

func TestEveryCallOfABatchIsDecidedByItself(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.Policy.Expiry = time.Second })
	conn, received := r.server("s")
	lane := &Lane{}
	var calls []Call
	var outs []<-chan Outcome
	for i := range 4 {
		c := r.call(conn, "echo", fmt.Sprintf(`{"text":"%d"}`, i))
		calls = append(calls, c)
		outs = append(outs, r.run(context.Background(), c, conn, Limits{Lane: lane}))
	}
	if n := len(r.gate.Waiting().List()); n != 4 {
		t.Fatalf("%d calls wait, want 4", n)
	}
	r.answerCall(calls[2], Answer{Action: Allow})
	expect(t, wait(t, outs[2]), Allowed, "person", "ok", "done") // while the others still wait
	r.answerCall(calls[1], Answer{Action: Deny, Reason: "not that one"})
	o := wait(t, outs[1])
	expect(t, o, Denied, "person", "denied", "none")
	if !strings.Contains(o.Text, "not that one") {
		t.Fatalf("the reason does not reach the model: %q", o.Text)
	}
	for _, i := range []int{0, 3} {
		expect(t, wait(t, outs[i]), Expired, byExpiry, "expired", "none")
		if err := r.gate.Waiting().Answer(calls[i].ID(), calls[i].Hash(), Answer{Action: Allow}); !errors.Is(err, ErrGone) {
			t.Fatalf("an expired call took an answer: %v", err)
		}
	}
	if got := received(); len(got) != 1 || got[0] != `echo {"text":"2"}` {
		t.Fatalf("the server received %q", got)
	}
	var words []string
	for _, rec := range r.records(journal.KindCall) {
		words = append(words, rec.Outcome)
	}
	slices.Sort(words)
	if !slices.Equal(words, []string{"denied", "expired", "expired", "ok"}) {
		t.Fatalf("outcomes recorded: %v", words)
	}
}

func TestAnEditIsANewCallAndOnlyThatIsSent(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	conn, received := r.server("s")
	err := r.store.Write(context.Background(), func(tx *storage.Tx) error {
		return tx.PutRule(storage.Rule{ID: "no", Effect: Deny, Condition: []byte(`{"arguments":{"text":{"prefix":"bad"}}}`), Created: time.Now()})
	})
	if err != nil {
		t.Fatal(err)
	}
	c := r.call(conn, "echo", `{"text":"a"}`)
	out := r.run(context.Background(), c, conn, Limits{})
	item := r.item(KindCall)
	for _, bad := range []string{`{"text":`, `[1]`, `{"text":7}`, `{"text":"bad idea"}`} {
		if err := r.gate.Waiting().Answer(c.ID(), c.Hash(), Answer{Action: Allow, Arguments: bad}); err == nil {
			t.Fatalf("the edit %s was taken", bad)
		}
	}
	r.answerCall(c, Answer{Action: Allow, Arguments: `{ "text": "b" }`})
	o := wait(t, out)
	expect(t, o, Allowed, "person", "ok", "done")
	if item.Call.Hash() != c.Hash() {
		t.Fatalf("an item that was read before became another call: %s", item.Call.Arguments())
	}
	if o.Call.Edited() != c.ID() || o.Call.Arguments() != `{"text":"b"}` {
		t.Fatalf("the outcome is that of %+v", o.Call)
	}
	if got := received(); len(got) != 1 || got[0] != `echo {"text":"b"}` {
		t.Fatalf("the server received %q", got)
	}
	rec := r.records(journal.KindCall)
	if len(rec) != 2 || rec[0].Outcome != "withdrawn" || rec[0].Arguments != `{"text":"a"}` || rec[1].Outcome != "ok" || rec[1].Arguments != `{"text":"b"}` {
		t.Fatalf("recorded: %+v", rec)
	}
}

func TestAChangeAtTheServerWithdrawsWhatWaits(t *testing.T) {
	t.Parallel()
	for tool, change := range map[string]string{"redefines": "changed", "removes": "does not offer", "die": "not running"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			conn, received := r.server("s")
			waiting, other := r.call(conn, "echo", `{"text":"x"}`), r.call(conn, "add", `{}`)
			out := r.run(context.Background(), waiting, conn, Limits{})
			otherOut := r.run(context.Background(), other, conn, Limits{})
			c := r.call(conn, tool, `{}`)
			done := r.run(context.Background(), c, conn, Limits{})
			r.answerCall(c, Answer{Action: Allow})
			wait(t, done)
			o := wait(t, out)
			expect(t, o, Withdrawn, byCurrent, "withdrawn", "none")
			if !strings.Contains(o.Reason, change) {
				t.Fatalf("reason: %s", o.Reason)
			}
			if err := r.gate.Waiting().Answer(waiting.ID(), waiting.Hash(), Answer{Action: Allow}); !errors.Is(err, ErrGone) {
				t.Fatalf("a withdrawn call took an answer: %v", err)
			}
			if tool == "die" {
				expect(t, wait(t, otherOut), Withdrawn, byCurrent, "withdrawn", "none")
			} else {
				r.answerCall(other, Answer{Action: Allow})
				expect(t, wait(t, otherOut), Allowed, "person", "ok", "done") // other tools keep working
			}
			for _, got := range received() {
				if strings.HasPrefix(got, "echo") {
					t.Fatalf("the server received %q", got)
				}
			}
		})
	}
}

func TestGrantsHoldUntilTheyAreRevokedOrTheDefinitionChanges(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.Listed = nil; o.Policy.Expiry = 300 * time.Millisecond })
	conn, _ := r.server("s")
	ctx := context.Background()
	trust := func() {
		t.Helper()
		if err := r.gate.Trust(ctx, conn, ""); err != nil {
			t.Fatal(err)
		}
	}
	trust()
	c := r.call(conn, "echo", `{"text":"1"}`)
	out := r.run(ctx, c, conn, Limits{})
	r.answerCall(c, Answer{Action: Allow, Scope: Always})
	expect(t, wait(t, out), Allowed, "person", "ok", "done")
	grants, err := r.gate.Grants(ctx)
	if err != nil || len(grants) != 1 {
		t.Fatalf("grants %v (%v)", grants, err)
	}
	expect(t, r.now(r.callIn("c_2", "t_2", conn, "echo", `{"text":"2"}`), conn), Allowed, "grant:"+grants[0].ID, "ok", "done")
	expect(t, r.now(r.call(conn, "add", `{}`), conn), Expired, byExpiry, "expired", "none") // another tool asks
	expect(t, r.now(r.call(conn, "echo", `{"text":"a","text":"b"}`), conn), Expired, byExpiry, "expired", "none")

	change := r.call(conn, "redefines", `{}`)
	out = r.run(ctx, change, conn, Limits{})
	r.answerCall(change, Answer{Action: Allow})
	wait(t, out)
	old := c.Definition()
	for r.call(conn, "echo", `{}`).Definition() == old {
		time.Sleep(time.Millisecond)
	}
	expect(t, r.now(r.call(conn, "echo", `{"text":"3"}`), conn), Withdrawn, byCurrent, "withdrawn", "none")
	trust()
	expect(t, r.now(r.call(conn, "echo", `{"text":"4"}`), conn), Expired, byExpiry, "expired", "none") // reviewed, but the grant was for the old one
	if err := r.gate.Revoke(ctx, grants[0].ID); err != nil {
		t.Fatal(err)
	}
	if err := r.gate.Revoke(ctx, grants[0].ID); err == nil {
		t.Fatal("a grant was revoked twice")
	}
	for end := time.Now().Add(5 * time.Second); len(r.records(journal.KindGrant)) != 2; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("records of grants: %+v", r.records(journal.KindGrant))
		}
	}
}

func TestAGrantForOneConversationDoesNotReachAnother(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.Policy.Expiry = 300 * time.Millisecond })
	conn, _ := r.server("s")
	c := r.call(conn, "echo", `{}`)
	out := r.run(context.Background(), c, conn, Limits{})
	r.answerCall(c, Answer{Action: Allow, Scope: InConversation})
	wait(t, out)
	if o := r.now(r.call(conn, "echo", `{}`), conn); !strings.HasPrefix(o.By, "grant:") {
		t.Fatalf("decided by %s", o.By)
	}
	expect(t, r.now(r.callIn("c_2", "t_2", conn, "echo", `{}`), conn), Expired, byExpiry, "expired", "none")
}

func TestADenyingRuleComesBeforeEverything(t *testing.T) {
	t.Parallel()
	r := newRig(t, allow)
	conn, received := r.server("s")
	ctx := context.Background()
	err := r.store.Write(ctx, func(tx *storage.Tx) error {
		if err := tx.PutRule(storage.Rule{ID: "no", Effect: Deny, Server: "s", Tool: "echo", Condition: []byte(`{"arguments":{"text":{"prefix":"bad"}}}`), Created: time.Now()}); err != nil {
			return err
		}
		return tx.PutGrant(storage.Grant{ID: "g", Server: "s", Tool: "echo", Definition: r.call(conn, "echo", `{}`).Definition(), ServerHash: conn.Config().Hash, Created: time.Now()})
	})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, r.now(r.call(conn, "echo", `{"text":"bad idea"}`), conn), Denied, "rule:no", "denied", "none")
	expect(t, r.now(r.call(conn, "echo", `{"text":"good"}`), conn), Allowed, "grant:g", "ok", "done")
	if n := len(received()); n != 1 {
		t.Fatalf("the server received %d calls", n)
	}
}

func TestAnUnreviewedServerContributesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.Listed = nil; allow(o) })
	conn, received := r.server("s")
	ctx := context.Background()
	offered := func() []string {
		t.Helper()
		tools, err := r.gate.Offered(ctx, "", conn)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range tools {
			names = append(names, tool.Name)
		}
		return names
	}
	if got := offered(); len(got) != 0 {
		t.Fatalf("offered without a review: %v", got)
	}
	expect(t, r.now(r.call(conn, "echo", `{}`), conn), Withdrawn, byCurrent, "withdrawn", "none")
	review, err := r.gate.Review(ctx, conn)
	if err != nil || review.Known || !review.Blocked || review.Pending() <= len(conn.Tools()) {
		t.Fatalf("review of a new server: known %v, blocked %v, %d pending of %d (%v)", review.Known, review.Blocked, review.Pending(), len(conn.Tools()), err)
	}
	if err := r.gate.Trust(ctx, conn, "sha256:other"); !errors.Is(err, ErrShown) {
		t.Fatalf("trusting what was not shown: %v", err)
	}
	if err := r.gate.Trust(ctx, conn, review.Hash); err != nil {
		t.Fatal(err)
	}
	expect(t, r.now(r.call(conn, "changes", `{}`), conn), Allowed, "flag", "ok", "done") // adds a tool
	for !slices.ContainsFunc(r.toolNames(conn), func(n string) bool { return n == "added" }) {
		time.Sleep(time.Millisecond)
	}
	if got := offered(); slices.Contains(got, "added") || !slices.Contains(got, "echo") {
		t.Fatalf("offered after a tool came: %v", got)
	}
	expect(t, r.now(r.call(conn, "added", `{}`), conn), Withdrawn, byCurrent, "withdrawn", "none")
	review, err = r.gate.Review(ctx, conn)
	if err != nil || review.Blocked || review.Pending() != 1 {
		t.Fatalf("review: %+v (%v)", review, err)
	}
	if got := received(); len(got) != 1 {
		t.Fatalf("the server received %q", got)
	}
}

func TestStopEndsAWaitingCallWithoutSendingIt(t *testing.T) {
	t.Parallel()
	for cause, want := range map[error][2]string{
		ErrStopped:   {byPerson, "cancelled"},
		ErrClosed:    {byClosed, "withdrawn"},
		ErrAbandoned: {byPerson, "cancelled"},
	} {
		r := newRig(t, nil)
		conn, received := r.server("s")
		ctx, cancel := context.WithCancelCause(context.Background())
		c := r.call(conn, "echo", `{}`)
		out := r.run(ctx, c, conn, Limits{})
		cancel(cause)
		expect(t, wait(t, out), Withdrawn, want[0], want[1], "none")
		if len(r.gate.Waiting().List()) != 0 || len(received()) != 0 {
			t.Fatal("the call still waits or was sent")
		}
	}
}

func TestStopEndsARunningCallAtOnceAndRecordsALateAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t, allow)
	conn, received := r.server("s", "--step", "tool:tardy=@sleep 100ms", "--step", "tool:tardy=@text too late")
	ctx, cancel := context.WithCancel(context.Background())
	out := r.run(ctx, r.call(conn, "tardy", `{}`), conn, Limits{})
	for len(received()) == 0 {
		time.Sleep(time.Millisecond)
	}
	start := time.Now()
	cancel()
	o := wait(t, out)
	if d := time.Since(start); d > 2*time.Second {
		t.Fatalf("stopping took %v", d)
	}
	expect(t, o, Allowed, "flag", "cancelled", "unknown")
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		d, err := r.journal.Show(context.Background(), o.Record)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := encode(d)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(raw, "too late") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the late answer is not in the record: %s", raw)
		}
	}
}

func TestTheClockOfACallStartsWhenItIsSent(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	conn, _ := r.server("s", "--step", "tool:brief=@text ok")
	c := r.call(conn, "brief", `{}`)
	out := r.run(context.Background(), c, conn, Limits{Timeout: 250 * time.Millisecond, Max: time.Second})
	time.Sleep(600 * time.Millisecond) // the person thinks longer than the server may
	r.answerCall(c, Answer{Action: Allow})
	expect(t, wait(t, out), Allowed, "person", "ok", "done")
	c = r.call(conn, "never", `{}`)
	out = r.run(context.Background(), c, conn, Limits{Timeout: 100 * time.Millisecond})
	r.answerCall(c, Answer{Action: Allow})
	expect(t, wait(t, out), Allowed, "person", "timeout", "unknown")
}

func TestWithoutAJournalThereIsNoCall(t *testing.T) {
	t.Parallel()
	r := newRig(t, allow)
	conn, received := r.server("s")
	c := r.call(conn, "echo", `{}`)
	r.gate.o.Journal = closedJournal(t)
	o, err := r.gate.Run(context.Background(), c, conn, Limits{})
	if err == nil || o.Effect != "none" || !strings.HasPrefix(o.Text, "Not executed.") {
		t.Fatalf("%+v, %v", o, err)
	}
	if got := received(); len(got) != 0 {
		t.Fatalf("the server received %q", got)
	}
}

func TestCallsInALaneRunInTheOrderOfTheirDecisions(t *testing.T) {
	t.Parallel()
	r := newRig(t, allow)
	conn, received := r.server("s")
	lane := &Lane{}
	var outs []<-chan Outcome
	for i := range 8 {
		outs = append(outs, r.run(context.Background(), r.call(conn, "echo", fmt.Sprintf(`{"text":"%d"}`, i)), conn, Limits{Lane: lane}))
	}
	for _, o := range outs {
		expect(t, wait(t, o), Allowed, "flag", "ok", "done")
	}
	for i, got := range received() {
		if want := fmt.Sprintf(`echo {"text":"%d"}`, i); got != want {
			t.Fatalf("call %d at the server is %s", i, got)
		}
	}
}

// Who reads the record sees that the program was closed, and not a call that nobody cancelled.
func TestClosingEndsARunningCallWithThatReason(t *testing.T) {
	t.Parallel()
	r := newRig(t, allow)
	conn, received := r.server("s", "--step", "tool:tardy=@sleep 60s", "--step", "tool:tardy=@text too late")
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	out := r.run(ctx, r.call(conn, "tardy", `{}`), conn, Limits{})
	for len(received()) == 0 {
		time.Sleep(time.Millisecond)
	}
	if n := r.gate.Running(); n != 1 {
		t.Errorf("%d calls run", n)
	}
	cancel(ErrClosed)
	o := wait(t, out)
	expect(t, o, Allowed, "flag", "cancelled", "unknown")
	if o.Reason != "Steward was closed while it ran" || !strings.Contains(o.Text, "Steward was closed while this call ran") {
		t.Errorf("reason %q, text %q", o.Reason, o.Text)
	}
	if n := r.gate.Running(); n != 0 {
		t.Errorf("%d calls run still", n)
	}
}
