package chat

import (
	"cmp"
	"fmt"

	"steward/app/consent"
)

// perGo is how often the model may be asked before a person is, and again after each yes.
func (t *turn) perGo() int { return max(cmp.Or(t.in.MaxRounds, DefaultMaxRounds), 1) }

// atLimit asks the person whether the turn may go on where the model has been asked as often as
// it may be. None of the calls has begun, and they wait with it. Where the turn may not go on
// they are refused, and why is the turn's last sentence. A turn that is stopped meanwhile goes
// on to its calls, which then end as stopped each for itself.
func (t *turn) atLimit(calls []*pending) (why string) {
	if t.rounds < t.limit || t.ctx.Err() != nil {
		return ""
	}
	yes := t.e.o.Gate.GoOn(t.ctx, t.conv.ID, consent.Rounds{Made: t.rounds, More: t.perGo(), Chat: t.conv.Title})
	switch {
	case t.ctx.Err() != nil:
		return ""
	case yes:
		t.limit = t.rounds + t.perGo()
		return ""
	}
	for _, p := range calls {
		p.refusal = "Not executed: the limit of rounds for one turn was reached."
	}
	return fmt.Sprintf("the limit of %s for one turn was reached; send another message to go on", rounds(t.rounds))
}

func rounds(n int) string {
	if n == 1 {
		return "1 round"
	}
	return fmt.Sprintf("%d rounds", n)
}
