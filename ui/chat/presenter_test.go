package chat

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"steward/app"
	"steward/app/consent"
	"steward/app/event"
)

func keys(p *presenter) string {
	var out []string
	for _, r := range p.rows {
		out = append(out, r.key)
	}
	return strings.Join(out, " ")
}

func loaded(messages ...app.ChatMessage) *presenter {
	p := newPresenter()
	p.load("c", messages, nil, false)
	p.flush()
	return p
}

func user(id, words string) app.ChatMessage {
	return app.ChatMessage{ID: id, Role: roleUser, State: stateComplete, Text: words}
}

func TestStreamingTouchesOnlyTheGrowingAnswer(t *testing.T) {
	t.Parallel()
	var old []app.ChatMessage
	for i := range 200 {
		old = append(old, user(fmt.Sprint("u", i), "q"), app.ChatMessage{ID: fmt.Sprint("a", i), Role: roleAssistant, State: stateComplete, Text: "x"})
	}
	p := loaded(old...)
	p.apply(event.TurnStart{Conversation: "c"})
	p.apply(event.MessageStarted{Conversation: "c", ID: "m"})
	p.apply(event.Text{Conversation: "c", Message: "m", Text: "one "})
	p.flush()
	at := len(p.rows) - 1
	if p.rows[at].key != "answer:m" {
		t.Fatalf("the last row is %s", p.rows[at].key)
	}
	for i := range 50 {
		p.apply(event.Text{Conversation: "c", Message: "m", At: 4 + 10*i, Text: "two "})
		p.apply(event.Text{Conversation: "c", Message: "m", At: 8 + 10*i, Text: "three "})
		c := p.flush()
		if c.reset || c.added != 0 || !slices.Equal(c.touched, []int{at}) {
			t.Fatalf("two pieces changed %+v", c)
		}
	}
	if got := p.rows[at].message.words(); got != "one "+strings.Repeat("two three ", 50) {
		t.Errorf("the answer is %q", got)
	}
	if c := p.flush(); c.reset || c.added != 0 || len(c.touched) != 0 {
		t.Errorf("nothing happened, and changed %+v", c)
	}
}

func TestOtherConversationsChangeNothing(t *testing.T) {
	t.Parallel()
	p := loaded(user("u", "q"))
	before := keys(p)
	for _, e := range []event.Event{
		event.TurnStart{Conversation: "d"}, event.MessageStarted{Conversation: "d", ID: "m"}, event.Text{Conversation: "d", Text: "x"},
		event.Call{Conversation: "d", ID: "k"}, event.Turn{Conversation: "d", State: stateFailed, Error: "no"}, event.Notice{Conversation: "d", Message: "x"},
	} {
		if w := p.apply(e); w != (want{}) {
			t.Errorf("%T of another conversation asks for %+v", e, w)
		}
	}
	if p.flush(); keys(p) != before || p.working {
		t.Errorf("the rows are %s", keys(p))
	}
}

func TestCallsFromProposalToResult(t *testing.T) {
	t.Parallel()
	p := loaded(user("u", "q"))
	p.apply(event.TurnStart{Conversation: "c"})
	p.apply(event.Call{Conversation: "c", ID: "k", Record: 7, Server: "s", Tool: "t", Arguments: `{"a":1}`})
	p.flush()
	if !strings.Contains(keys(p), "call:k") {
		t.Fatalf("the rows are %s", keys(p))
	}
	// The answer that proposed it is stored under its own name only now, and read while the call runs already.
	p.apply(event.Decision{Conversation: "c", Call: "k", Decision: consent.Allowed, By: "person"})
	p.store(app.ChatMessage{ID: "m", Role: roleAssistant, State: stateComplete, Calls: []app.CallState{{ID: "k", State: callWaiting, Tool: "t"}}})
	p.flush()
	if got := keys(p); strings.Count(got, "call:k") != 1 {
		t.Fatalf("the rows are %s", got)
	}
	if c := p.messages[1].call("k"); c == nil || c.State != callRunning || c.By != "person" {
		t.Fatalf("a reading that lags behind put the call back: %+v", c)
	}
	p.apply(event.Progress{Call: "k", Progress: 1, Total: 2, Message: "half"})
	p.flush()
	if len(p.runningCalls()) != 1 || p.silent() {
		t.Error("a running call does not show that the turn goes on")
	}
	p.apply(event.Result{Conversation: "c", Call: "k", Record: 7, Outcome: "ok", Effect: "done", Seconds: 0.2})
	p.flush()
	if c := p.messages[1].call("k"); !succeeded(c) || c.Progress != nil {
		t.Errorf("at the end the call is %+v", c)
	}
	if !p.silent() {
		t.Error("nothing shows that the model works on")
	}
}

func TestWhatWaitsStandsInThePlaceOfItsCall(t *testing.T) {
	t.Parallel()
	call, err := consent.NewCall(consent.CallSpec{Conversation: "c", Server: "s", Tool: "t", Arguments: "{}"})
	if err != nil {
		t.Fatal(err)
	}
	p := newPresenter()
	items := []consent.Item{
		{ID: "other", Conversation: "d"},
		{ID: "form", Conversation: "c", Running: []string{"k1"}},
		{ID: call.ID(), Conversation: "c", Call: &call},
		{ID: "loose", Conversation: "c"},
	}
	p.load("c", []app.ChatMessage{user("u", "q"), {ID: "m", Role: roleAssistant, State: stateComplete, Calls: []app.CallState{
		{ID: "k1", State: callRunning}, {ID: call.ID(), State: callWaiting}, {ID: "k3", State: callWaiting},
	}}}, items, true)
	p.flush()
	want := "top: user:u call:k1 item:form item:" + call.ID() + " call:k3 item:loose"
	if got := keys(p); got != want {
		t.Errorf("the rows are\n%s, wanted\n%s", got, want)
	}
}

func TestEndings(t *testing.T) {
	t.Parallel()
	for state, rowWanted := range map[string]bool{"finished": false, stateFailed: true, stateStopped: true, stateInterrupted: true} {
		for _, begun := range []bool{false, true} {
			p := loaded(user("u", "q"))
			p.apply(event.TurnStart{Conversation: "c"})
			if begun {
				p.apply(event.MessageStarted{Conversation: "c", ID: "m"})
				p.apply(event.Text{Conversation: "c", Message: "m", Text: "so far"})
			}
			w := p.apply(event.Turn{Conversation: "c", State: state, Error: "why"})
			if !w.all || p.working {
				t.Errorf("%s: the end asks for %+v, working %v", state, w, p.working)
			}
			p.flush()
			if got := strings.Contains(keys(p), "ending:"); rowWanted && !got {
				t.Errorf("%s, begun %v: the rows are %s", state, begun, keys(p))
			}
			if begun && !strings.Contains(keys(p), "answer:m") {
				t.Errorf("%s: what had come is gone: %s", state, keys(p))
			}
		}
	}
}

func TestEarlierMessagesComeOnTop(t *testing.T) {
	t.Parallel()
	p := newPresenter()
	p.load("c", []app.ChatMessage{{ID: "b", Seq: 5, Role: roleUser}, {ID: "d", Seq: 9, Role: roleUser}}, nil, false)
	p.flush()
	p.earlier([]app.ChatMessage{{ID: "a", Seq: 1, Role: roleUser}, {ID: "b", Seq: 5, Role: roleUser}})
	p.store(app.ChatMessage{ID: "c", Seq: 7, Role: roleUser})
	if c := p.flush(); !c.reset {
		t.Errorf("rows came in the middle: %+v", c)
	}
	if got := keys(p); got != "top: user:a user:b user:c user:d" {
		t.Errorf("the rows are %s", got)
	}
	if p.oldest() != 1 {
		t.Errorf("the oldest is %d", p.oldest())
	}
}

func TestSignBeforeTheCursor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ whole, before, sign, word string }{
		{"/", "/", "/", ""}, {"/pla", "/pla", "/", "pla"}, {"/plan a", "/plan a", "", ""}, {"see /etc", "see /etc", "", ""}, {"/usr/lib", "/usr/lib", "", ""},
		{"@", "@", "@", ""}, {"read @cal", "read @cal", "@", "cal"}, {"me@example.com", "me@example.com", "", ""}, {"看@日", "看@日", "@", "日"}, {"a @b c", "a @b c", "", ""},
		{"", "", "", ""},
	} {
		if s, w := signAt(c.whole, c.before); s != c.sign || w != c.word {
			t.Errorf("%q gives %q %q", c.before, s, w)
		}
	}
}

func TestMainArgument(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"date":"2025-03-17"}`: "date 2025-03-17", `{"a":null,"b":"","n":1.50}`: "n 1.50", `{}`: " ", `[1]`: " ", `{"a":`: " ", ``: " ",
		`{"o":{"x":[1,2]}}`: `o {"x":[1,2]}`, "{\"p\":\"a\u202eb\"}": "p a⟨U+202E⟩b",
	} {
		name, value := mainArgument(in)
		if strings.Contains(in, "\u202e") {
			if strings.Contains(value, "\u202e") {
				t.Errorf("a character that turns text around is shown as it is: %q", value)
			}
			continue
		}
		if got := name + " " + value; got != want {
			t.Errorf("%s gives %q", in, got)
		}
	}
	if _, v := mainArgument(`{"a":"` + strings.Repeat("长", 100000) + `"}`); len(v) > 1000 {
		t.Errorf("one line holds %d bytes", len(v))
	}
}

func TestLinesStayLinesWhenTheyAreRevealed(t *testing.T) {
	t.Parallel()
	if got := revealLines("a\n\u202eb\n"); strings.Count(got, "\n") != 2 || strings.Contains(got, "\u202e") || strings.Contains(got, "\\n") {
		t.Errorf("shown is %q", got)
	}
	if got := revealJSON(`{"a": {"b": "x  y"}}`); !strings.Contains(got, "\n  \"a\": {\n    \"b\"") {
		t.Errorf("JSON is shown as %q", got)
	}
	if got := revealJSON("{\"a\":\"\u202e\"}"); strings.Contains(got, "\u202e") {
		t.Errorf("hidden in JSON: %q", got)
	}
}

// Only the end of all there is can be tried again: trying again asks for the last answer.
func TestOnlyTheLastEndingIsTriedAgain(t *testing.T) {
	t.Parallel()
	p := loaded(user("u", "q"), app.ChatMessage{ID: "m", Role: roleAssistant, State: stateStopped, Text: "x"})
	p.flush()
	at := slices.IndexFunc(p.rows, func(r row) bool { return r.kind == rowEnding })
	if at < 0 || !p.rows[at].last {
		t.Fatalf("the rows are %s", keys(p))
	}
	p.apply(event.TurnStart{Conversation: "c"})
	p.store(user("v", "q"))
	if c := p.flush(); p.rows[at].last || !c.reset && !slices.Contains(c.touched, at) {
		t.Errorf("an ending that is not the last any more: %+v, changed %+v", p.rows[at], c)
	}
}
