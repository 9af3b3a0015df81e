package app

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"steward/app/chat"
	"steward/app/journal"
	"steward/llm"
)

// noteTest records that an endpoint was tested and how that ended; what the record cannot
// take keeps nobody from testing, and is told. It is to be deferred, with when the test began.
func (a *App) noteTest(ctx context.Context, e ModelEndpoint, begun time.Time, failed *error) {
	summary, err := json.Marshal(map[string]string{"purpose": chat.ForTest, "endpoint": llm.PlainAddress(e.BaseURL)})
	if err == nil {
		o := journal.Outcome{Outcome: journal.OK, Effect: journal.EffectDone, Seconds: a.clock().Sub(begun).Seconds()}
		switch {
		case *failed == nil:
		case errors.Is(context.Cause(ctx), context.Canceled):
			o.Outcome, o.Effect, o.Reason = journal.Cancelled, journal.EffectUnknown, "stopped by the person"
		default:
			o.Outcome, o.Effect, o.Reason = journal.ProtocolError, journal.EffectUnknown, a.line((*failed).Error())
		}
		_, err = a.journal.Note(context.WithoutCancel(ctx), journal.Proposal{Kind: journal.KindModel, Model: e.Model, Arguments: string(summary)}, o)
	}
	if err != nil {
		a.notice("journal", "", "The test of the model endpoint could not be recorded: "+a.line(err.Error()))
	}
}
