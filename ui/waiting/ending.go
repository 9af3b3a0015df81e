package waiting

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"steward/app/clean"
	"steward/app/consent"
	"steward/app/event"
	"steward/ui/sentence"
	"steward/ui/theme"
)

// ending is how an item left the waiting list, as far as its card knows. What is told about one ending comes in pieces
// and in no certain order: the card's own answer, the list's word, the decision with its reason, the chat's end.
type ending struct {
	over     bool
	own      *consent.Answer // this card's answer, taken
	given    *consent.Answer // this card's answer, of which nothing is known yet
	why      string          // the list's word
	decision string          // the record's word, of a call
	reason   string          // a sentence, clean
	deleted  bool            // the chat was deleted
}

// learn takes one event in and reports whether the ending reads differently now.
func (e *ending) learn(item consent.Item, ev event.Event) bool {
	switch ev := ev.(type) {
	case event.WaitingGone:
		if ev.ID != item.ID {
			return false
		}
		e.over, e.why = true, ev.Why
		if ev.Reason != "" {
			e.reason = clean.Line(sentence.Worded(ev.Reason), 300)
		}
	case event.Decision:
		if ev.Call != item.ID || item.Kind != consent.KindCall {
			return false
		}
		e.over, e.decision = true, ev.Decision
		if ev.By != "person" {
			e.reason = clean.Line(sentence.Worded(ev.Reason), 300)
		}
	case event.ConversationChanged:
		if item.Conversation == "" || ev.Conversation != item.Conversation || ev.What != "deleted" {
			return false
		}
		e.deleted = true
	default:
		return false
	}
	return true
}

// mine is this card's own answer, where that ended it. The list can say that it was answered before the card knows that
// it was its own answer that was taken.
func (e *ending) mine() *consent.Answer {
	if e.own == nil && e.why == "answered" {
		return e.given
	}
	return e.own
}

// look is the mark and colour of the one line that is left.
func (e *ending) look() (icon string, colour fyne.ThemeColorName) {
	mine := e.mine()
	switch {
	case mine != nil && lets(*mine), mine == nil && e.why == "answered" && e.decision == "allowed":
		return "check", theme.Good
	case mine != nil && (mine.Action == consent.Deny || mine.Action == consent.Decline), e.decision == "denied":
		return "cross", theme.Refusal
	}
	return "clock", theme.Dim
}

func lets(a consent.Answer) bool {
	return a.Action == consent.Allow || a.Action == consent.Accept || a.Action == consent.Send
}

// words is the sentence that is left of a card.
func (e *ending) words(item consent.Item) string {
	if mine := e.mine(); mine != nil {
		return ownWords(item, *mine)
	}
	if in := item.SignIn; in != nil && in.Phase == consent.SignInBrowser {
		if e.reason != "" {
			return e.reason
		}
		return lang.X("signin.browser_over", "The browser is not waited for any more. Servers says whether you are signed in.")
	}
	if e.deleted {
		return lang.X("waiting.ended_deleted", "The chat was deleted; nothing was done.")
	}
	switch e.why {
	case "answered":
		switch e.decision {
		case "allowed":
			return lang.X("waiting.ended_allowed", "Allowed elsewhere.")
		case "denied":
			return lang.X("waiting.ended_denied", "Denied elsewhere; nothing was done.")
		}
		if e.reason != "" {
			return lang.X("waiting.ended_because", "Over: {{.reason}}.", map[string]any{"reason": e.reason})
		}
		return lang.X("waiting.ended_answered", "Answered elsewhere.")
	case "expired":
		return lang.X("waiting.ended_expired", "Nobody answered in time; nothing was done.")
	case "cancelled":
		return lang.X("waiting.ended_cancelled", "What it belonged to was stopped; nothing was done.")
	case "withdrawn":
		if e.reason != "" {
			return lang.X("waiting.ended_withdrawn_because", "Withdrawn, nothing was done: {{.reason}}", map[string]any{"reason": e.reason})
		}
		return lang.X("waiting.ended_withdrawn", "Withdrawn: what was shown is no longer current. Nothing was done.")
	}
	return lang.X("waiting.ended", "This no longer waits for an answer.")
}

func ownWords(item consent.Item, a consent.Answer) string {
	if item.SignIn != nil {
		return signInWords(item.SignIn.Phase, a)
	}
	if item.Rounds != nil {
		return roundsWords(a)
	}
	switch a.Action {
	case consent.Allow:
		switch {
		case a.Scope == consent.InConversation:
			return lang.X("waiting.you_allowed_chat", "You allowed it in this chat.")
		case a.Scope == consent.Always:
			return lang.X("waiting.you_allowed_always", "You allowed it always.")
		case a.Arguments != "":
			return lang.X("waiting.you_allowed_edited", "You allowed it once, with your changes.")
		}
		return lang.X("waiting.you_allowed", "You allowed it once.")
	case consent.Deny:
		if item.Kind != consent.KindCall {
			return lang.X("waiting.you_refused", "You denied it; nothing was sent.")
		}
		if a.Reason != "" {
			return lang.X("waiting.you_denied_reason", "You denied it; the model is told: {{.reason}}", map[string]any{"reason": clean.Line(a.Reason, 200)})
		}
		return lang.X("waiting.you_denied", "You denied it; nothing was done.")
	case consent.Accept:
		switch {
		case item.Elicitation != nil && item.Elicitation.Mode == modeURL:
			return lang.X("waiting.you_opened", "You let the address be opened.")
		case item.Elicitation != nil && item.Elicitation.Mode == consent.ModeDone:
			return lang.X("waiting.you_finished", "You said that it is done; the server is asked again.")
		}
		return lang.X("waiting.you_accepted", "You accepted; your answer was sent.")
	case consent.Decline:
		return lang.X("waiting.you_declined", "You declined; nothing was sent.")
	case consent.Cancel:
		return lang.X("waiting.you_cancelled", "You cancelled; nothing was sent.")
	case consent.Send:
		return lang.X("waiting.you_sent", "You let it be sent.")
	}
	return lang.X("waiting.ended", "This no longer waits for an answer.")
}
