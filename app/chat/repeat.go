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

// repeat is one call with its arguments, made again and again.
type repeat struct {
	times  int               // in a row with this result
	result [sha256.Size]byte // of what the model was told
}

// repeated counts a call whose result is known, and says what the model is told beside it, mostly
// nothing. A call whose result differs from the time before, as that of one which waits for
// something, begins anew.
func (t *turn) repeated(p *pending) string {
	key := p.stored.Name + "\x00" + p.stored.Arguments + "\x00" + p.stored.Raw
	result := sha256.Sum256([]byte(t.resultRow(p).Text))
	r := t.made[key]
	if r == nil || r.result != result {
		t.made[key] = &repeat{times: 1, result: result}
		return ""
	}
	r.times++
	if r.times == tellPerson {
		t.tellRepeats(p, r.times)
	}
	if r.times < tellModel {
		return ""
	}
	return fmt.Sprintf("This is the same call as before with the same result, %d times in this turn by now. Do something else, or tell the person what keeps you from going on.", r.times)
}

func (t *turn) tellRepeats(p *pending, times int) {
	name := p.stored.Tool
	if name == "" {
		name = p.stored.Name
	}
	t.e.notice(t.conv.ID, "repeated_call", p.stored.Server, fmt.Sprintf("The model has made the same call of %s %d times in this turn.", clean.Reveal(name), times))
}
