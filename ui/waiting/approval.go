package waiting

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf16"

	"steward/app"
	"steward/app/clean"
	"steward/app/consent"
	"steward/ui/code"
	"steward/ui/form"
)

// settle is how long a card must have been seen, and the window been in front, before anything may be let happen: a
// click or key under way was meant for what stood there before.
const settle = 600 * time.Millisecond

// settled tells how long it still takes until an answer that lets something happen is taken; 0 and less is now.
func settled(now, shown, front time.Time) time.Duration {
	if shown.IsZero() {
		return settle
	}
	last := shown
	if front.After(last) {
		last = front
	}
	return settle - now.Sub(last)
}

// aspect is how a card shows the arguments.
type aspect uint8

const (
	asFields aspect = iota
	asJSON
	asEdit
)

// barrier is why a call cannot be allowed yet.
type barrier uint8

const (
	free     barrier = iota
	unopened         // a long value was not opened
	unfit            // the edited arguments are none
	untyped          // the tool's name was not typed
	unsettled
)

// approval is what a person has done so far about a call that wants a yes. It is the draft that outlives the card.
type approval struct {
	item   consent.Item
	aspect aspect
	opened map[int]bool // rows that were unfolded
	whole  bool         // the JSON, which is complete, was looked at
	start  string       // what the edit began with
	edited string       // as typed
	twice  bool         // the tool's name must be typed
	typed  string
	reason string
}

func newApproval(item consent.Item) *approval {
	a := &approval{item: item, twice: item.Twice, opened: map[int]bool{}}
	if a.start = item.Call.Arguments(); a.mayEdit() {
		a.start = editable(a.start)
	}
	a.edited = a.start
	return a
}

// look changes how the arguments are shown.
func (a *approval) look(as aspect) {
	a.aspect = as
	if as != asFields {
		a.whole = true
	}
}

// mayEdit tells whether the arguments are short enough to be edited in an input.
func (a *approval) mayEdit() bool { return len(a.start) <= form.MaxText }

// changed tells whether the person has edited the arguments.
func (a *approval) changed() bool { return a.edited != a.start }

// folded tells whether row i is shown in part.
func (a *approval) folded(i int) bool {
	return a.item.Presentation.Rows[i].Long && !a.opened[i]
}

// barrier is what keeps the call from being allowed, besides time and what is under way.
func (a *approval) barrier() (barrier, error) {
	if a.changed() {
		exact, _, err := app.EditedArguments(a.item, a.edited)
		if err != nil {
			return unfit, err
		}
		if len(a.item.Violations(exact)) > 0 {
			return unfit, nil
		}
	}
	if !a.whole {
		for i := range a.item.Presentation.Rows {
			if a.folded(i) {
				return unopened, nil
			}
		}
	}
	if a.twice && strings.TrimSpace(a.typed) != a.item.Call.Tool() {
		return untyped, nil
	}
	return free, nil
}

// allow is the answer that allows the call as it is shown now.
func (a *approval) allow(scope string) (consent.Answer, error) {
	out := consent.Answer{Action: consent.Allow, Scope: scope}
	if a.twice {
		out.Typed = strings.TrimSpace(a.typed)
	}
	if !a.changed() {
		return out, nil
	}
	exact, _, err := app.EditedArguments(a.item, a.edited)
	if err != nil {
		return consent.Answer{}, err
	}
	out.Arguments = exact
	return out, nil
}

// deny is the answer that refuses the call.
func (a *approval) deny(reason string) consent.Answer {
	return consent.Answer{Action: consent.Deny, Reason: strings.TrimSpace(reason)}
}

// editable sets exact arguments out for an input: every odd character is written as its JSON escape, which means the
// same and can be seen (RFC 8259, section 7).
func editable(arguments string) string {
	var b strings.Builder
	for _, r := range pretty(arguments) {
		switch {
		case r == '\n' || r >= ' ' && r < 0x7f || !odd(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// odd tells whether a character would be marked when it stands between letters.
func odd(r rune) bool { return strings.Contains(clean.Reveal("a"+string(r)+"a"), "⟨") }

// pretty sets JSON out; what is none, or would grow out of bounds, stays as it is.
func pretty(arguments string) string {
	if len(arguments) > form.MaxText {
		return arguments
	}
	if out := code.Pretty(arguments); len(out) <= form.MaxText {
		return out
	}
	return arguments
}
