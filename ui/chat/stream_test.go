package chat

import (
	"strings"
	"testing"

	"steward/app"
	"steward/app/event"
)

// Whatever the order in which pieces and readings of an answer arrive, its text is shown once and whole.
func TestAnAnswerIsWholeWhereverItIsJoined(t *testing.T) {
	t.Parallel()
	whole := "one two three four five "
	pieces := func(from, to int) []event.Event {
		var out []event.Event
		for _, w := range strings.SplitAfter(whole, " ") {
			at := strings.Index(whole, w)
			if w != "" && at >= from && at < to {
				out = append(out, event.Text{Conversation: "c", Message: "m", Text: w, At: at})
			}
		}
		return out
	}
	read := func(n int) []app.ChatMessage {
		return []app.ChatMessage{user("u", "q"), {ID: "m", Role: roleAssistant, State: stateStreaming, Text: whole[:n]}}
	}
	for name, c := range map[string]struct {
		heard   []event.Event // before the reading arrives
		read    int           // how much it holds
		after   []event.Event
		missing bool // a piece before what was heard is missing until then
	}{
		"nothing heard before":      {nil, 8, pieces(8, 99), false},
		"the reading lags behind":   {pieces(0, 14), 4, pieces(14, 99), false},
		"the reading is ahead":      {pieces(0, 8), 19, pieces(8, 99), false},
		"opened in the middle":      {pieces(8, 14), 14, pieces(14, 99), true},
		"and the reading was early": {pieces(8, 19), 24, nil, true},
	} {
		p := newPresenter()
		p.load("c", nil, nil, true)
		asked := 0
		for _, e := range c.heard {
			if w := p.apply(e); w.message == "m" {
				asked++
			}
		}
		if got := asked == 1; got != c.missing {
			t.Errorf("%s: the message was asked for %d times", name, asked)
		}
		p.load("c", read(c.read), nil, true)
		for _, e := range c.after {
			p.apply(e)
		}
		p.flush()
		if got := p.last(roleAssistant).words(); got != whole {
			t.Errorf("%s: the answer is %q", name, got)
		}
		if got := keys(p); strings.Count(got, "answer:") != 1 {
			t.Errorf("%s: the rows are %s", name, got)
		}
	}
}

// An answer that began while the conversation was read is not lost with the reading; one that ended is not begun again.
func TestReadingsThatComeLate(t *testing.T) {
	t.Parallel()
	p := loaded(user("u", "q"))
	p.apply(event.TurnStart{Conversation: "c"})
	p.apply(event.MessageStarted{Conversation: "c", ID: "m"})
	p.apply(event.Text{Conversation: "c", Message: "m", Text: "so far"})
	p.load("c", []app.ChatMessage{user("u", "q")}, nil, true)
	p.flush()
	if got := keys(p); !strings.Contains(got, "answer:m") {
		t.Fatalf("the rows are %s", got)
	}
	p.store(app.ChatMessage{ID: "m", Role: roleAssistant, State: stateComplete, Text: "so far, all"})
	p.store(app.ChatMessage{ID: "m", Role: roleAssistant, State: stateStreaming, Text: "so"})
	if m := p.find("m"); m.words() != "so far, all" || m.streaming() {
		t.Errorf("after a late reading it is %q, %s", m.words(), m.State)
	}
	p.apply(event.Text{Conversation: "c", Message: "m", Text: "late", At: 2})
	if got := p.find("m").words(); got != "so far, all" {
		t.Errorf("after a late piece it is %q", got)
	}
}
