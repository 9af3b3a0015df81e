package app

import (
	"testing"

	"steward/app/consent"
)

// A form that is left open in one conversation holds up no question of the same server in another.
func TestAnOpenQuestionHoldsUpNoOtherConversation(t *testing.T) {
	t.Parallel()
	demo := self(t, "demo")
	demo["sampling"] = true
	r := newRig(t, map[string]any{"d": demo},
		calls("book_trip", `{"destination":"Paris","start_date":"2027-05-04","end_date":"2027-05-08"}`),
		calls("find_best_flight", `{"from":"London","to":"Paris","date":"2027-05-04","preference":"cheap"}`))
	waits := func(kind string) (item consent.Item, found bool) {
		for _, i := range r.app.Waiting().List() {
			if i.Kind == kind {
				return i, true
			}
		}
		return item, false
	}
	r.send(Draft{Text: "book"})
	r.answer(consent.Answer{Action: consent.Allow})
	r.until("the form waits", func() bool { _, ok := waits(consent.KindElicitation); return ok })
	r.send(Draft{Text: "flight"})
	r.until("the call waits", func() bool { _, ok := waits(consent.KindCall); return ok })
	call, _ := waits(consent.KindCall)
	check(t, r.app.Waiting().Answer(call.ID, call.Hash, consent.Answer{Action: consent.Allow}))
	r.until("the request to the model is shown beside the form", func() bool {
		_, form := waits(consent.KindElicitation)
		_, sampling := waits(consent.KindSampling)
		return form && sampling
	})
}
