package chat

import (
	"crypto/sha256"
	"fmt"

	"steward/app/clean"
)

// How often in a turn one call may have one result before the model is told that it goes in a
// circle, and before the person is.
const (
	tellModel  = 3
	tellPerson = 10
)

// repeated counts a call whose result is known, and says what the model is told beside it, mostly
// nothing. A call with another result, as that of one which waits for something, is another one.
func (t *turn) repeated(p *pending) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", p.stored.Name, p.stored.Arguments, p.stored.Raw, t.resultRow(p).Text))
	t.made[string(sum[:])]++
	times := t.made[string(sum[:])]
	if times == tellPerson {
		t.tellRepeats(p, times)
	}
	if times < tellModel {
		return ""
	}
	return fmt.Sprintf("This is the same call as before with the same result, %d times in this turn by now. Do something else, or tell the person what keeps you from going on.", times)
}

func (t *turn) tellRepeats(p *pending, times int) {
	name := p.stored.Tool
	if name == "" {
		name = p.stored.Name
	}
	t.e.notice(t.conv.ID, "repeated_call", p.stored.Server, fmt.Sprintf("The model has made the same call of %s %d times in this turn.", clean.Reveal(name), times))
}
