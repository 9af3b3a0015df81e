package chat

import (
	"slices"
	"testing"

	"steward/app"
	"steward/app/consent"
	"steward/app/event"
)

// While a turn asks whether it may go on, what the model wants to do next waits, and no clock runs for it.
func TestCallsWaitWhileTheirTurnAsksWhetherItMayGoOn(t *testing.T) {
	t.Parallel()
	p := newPresenter()
	answer := app.ChatMessage{ID: "a", Role: roleAssistant, State: stateComplete, Calls: []app.CallState{{ID: "k_1", Tool: "echo", State: callRunning}}}
	p.load("c", []app.ChatMessage{user("u", "go"), answer}, nil, true)
	p.flush()
	if len(p.runningCalls()) != 1 {
		t.Fatal("the call does not run")
	}
	item := consent.Item{ID: "r_1", Kind: consent.KindRounds, Conversation: "c", Rounds: &consent.Rounds{Made: 2, More: 2}}
	if w := p.apply(event.Waiting{Conversation: "c", ID: "r_1", Kind: item.Kind}); !w.items {
		t.Fatalf("%+v", w)
	}
	p.waits([]consent.Item{item})
	changed := p.flush()
	i := slices.IndexFunc(p.rows, func(r row) bool { return r.kind == rowCall })
	if p.rows[i].call.State != callWaiting || len(p.runningCalls()) != 0 || !slices.Contains(changed.touched, i) {
		t.Errorf("%+v, changed %+v", p.rows[i].call, changed)
	}
	if last := p.rows[len(p.rows)-1]; last.kind != rowItem || last.item.ID != "r_1" {
		t.Errorf("the question does not stand last: %s", keys(p))
	}
	p.waits(nil)
	changed = p.flush()
	if p.rows[i].call.State != callRunning || !changed.reset && !slices.Contains(changed.touched, i) {
		t.Errorf("%+v, changed %+v", p.rows[i].call, changed)
	}
}
