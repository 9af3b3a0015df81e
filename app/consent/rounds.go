package consent

import (
	"context"
	"errors"
	"fmt"
)

// KindRounds is a turn that has asked the model as often as it may, and whose model wants to
// go on.
const KindRounds = "rounds"

// Rounds says what a turn at its limit asks for.
type Rounds struct {
	Made int    // requests to the model so far in this turn
	More int    // that a yes adds to them
	Chat string // the conversation's title, as it is stored
}

// GoOn asks the person whether a turn may go on beyond its limit, and waits for the answer; no
// answer in time is a no. With the context's end the question is withdrawn. Nothing is sent by
// it, so it has no record of its own: each call and each request that follows has one.
func (g *Gate) GoOn(ctx context.Context, conversation string, r Rounds) bool {
	if g.o.Policy.Rounds == Deny { // nobody is there to ask
		return false
	}
	item := Item{
		ID: newID("r_"), Kind: KindRounds, Hash: hashOf("rounds", conversation, fmt.Sprint(r.Made), fmt.Sprint(r.More)),
		Conversation: conversation, Since: g.o.Now(), Rounds: &r,
		Presentation: Presentation{Title: "The model wants to go on"},
	}
	a, d := g.wait(ctx, origin{over: overWithTurn}, &item, func(a Answer) error {
		if a.Action == Allow || a.Action == Deny {
			return nil
		}
		return fmt.Errorf("a turn can be let go on or stopped, not %q", a.Action)
	})
	return d.word == "" && a.Action == Allow
}

// overWithTurn says why the question is withdrawn whose turn has ended.
func overWithTurn(ctx context.Context) (decision, string) {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, ErrClosed):
		return decision{word: Withdrawn, by: byClosed, reason: "Steward was closed before it was decided"}, goneWithdrawn
	case errors.Is(cause, ErrAbandoned):
		return decision{word: Withdrawn, by: byPerson, reason: "the person went on without deciding"}, goneCancelled
	}
	return decision{word: Withdrawn, by: byPerson, reason: "the person stopped the turn"}, goneCancelled
}
