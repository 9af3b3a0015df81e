package chat

import (
	"context"
	"strings"
	"testing"

	"steward/app/consent"
	"steward/app/journal"
	sm "steward/testdata/scriptedmodel"
)

// endless is a model that calls a tool again and again.
func endless() sm.Script {
	return sm.Script{Strict: true, Rounds: &sm.Rounds{N: 100, Tool: "echo", Arguments: raw(`{"text":"{{n}}"}`)}}
}

// ran counts the calls that ran well.
func (r *rig) ran() (n int) {
	r.t.Helper()
	for _, rec := range r.records(journal.KindCall) {
		if rec.Outcome == journal.OK {
			n++
		}
	}
	return n
}

func TestTheRoundLimitWhereNobodyCanBeAsked(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{policy: consent.Policy{Calls: consent.Allow, Rounds: consent.Deny}, script: endless()})
	r.server("s")
	res := r.finish(r.send(Turn{Text: "go", MaxRounds: 4}))
	r.want(res, Stopped)
	if n := len(r.model.Requests()); n != 4 || res.Error != "the limit of 4 rounds for one turn was reached; send another message to go on" {
		t.Fatalf("the model was asked %d times: %q", n, res.Error)
	}
	if n := r.ran(); n != 3 {
		t.Fatalf("%d calls ran", n)
	}
}

func TestTheRoundLimitAsksAndTheTurnGoesOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{policy: allowAll(), script: endless()})
	r.server("s")
	run := r.send(Turn{Text: "go", MaxRounds: 3})
	item := r.waiting(1)[0]
	if item.Kind != consent.KindRounds || item.Conversation != run.Conversation() || *item.Rounds != (consent.Rounds{Made: 3, More: 3, Chat: "go"}) {
		t.Fatalf("%+v %+v", item, item.Rounds)
	}
	if n := r.ran(); n != 2 {
		t.Errorf("%d calls ran before the answer", n)
	}
	if err := r.gate.Waiting().Answer(item.ID, item.Hash, consent.Answer{Action: consent.Accept}); err == nil {
		t.Error("it took an answer that is none")
	}
	r.answer(item, consent.Answer{Action: consent.Allow})
	item = r.waiting(1)[0]
	if item.Rounds.Made != 6 || len(r.model.Requests()) != 6 {
		t.Fatalf("%+v after %d requests", item.Rounds, len(r.model.Requests()))
	}
	r.answer(item, consent.Answer{Action: consent.Deny})
	res := r.finish(run)
	r.want(res, Stopped)
	if n := r.ran(); n != 5 || !strings.Contains(res.Error, "6 rounds") {
		t.Errorf("%d calls ran; %q", n, res.Error)
	}
	m := r.messages(res.Conversation)
	if last := m[len(m)-1]; last.Text != "Not executed: the limit of rounds for one turn was reached." {
		t.Errorf("the last call was answered with %q", last.Text)
	}
}

func TestStopWhileTheTurnAsksWhetherItMayGoOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{policy: allowAll(), script: endless()})
	r.server("s")
	first := r.send(Turn{Text: "go", MaxRounds: 1})
	item := r.waiting(1)[0]
	first.Stop()
	res := r.finish(first)
	r.want(res, Stopped)
	if res.Error != "" {
		t.Errorf("it ended because %q", res.Error)
	}
	if err := r.gate.Waiting().Answer(item.ID, item.Hash, consent.Answer{Action: consent.Allow}); err == nil {
		t.Error("a question of a turn that is over took an answer")
	}
	if rec := r.records(journal.KindCall); len(rec) != 1 || rec[0].Outcome != journal.Cancelled || rec[0].Effect != journal.EffectNone {
		t.Errorf("recorded: %+v", rec)
	}
	if m := r.messages(res.Conversation); len(m) != 3 || !strings.HasPrefix(m[2].Text, "Not executed.") {
		t.Errorf("stored: %+v", m)
	}
}

func TestTheProgramsEndWhileTheTurnAsksWhetherItMayGoOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{policy: allowAll(), script: endless()})
	r.server("s")
	run := r.send(Turn{Text: "go", MaxRounds: 1})
	r.waiting(1)
	r.engine.Close()
	res, err := run.Wait(context.Background())
	if err != nil || res.State != Interrupted {
		t.Fatalf("%+v, %v", res, err)
	}
	if rec := r.records(journal.KindCall); len(rec) != 1 || rec[0].Effect != journal.EffectNone {
		t.Errorf("recorded: %+v", rec)
	}
}
