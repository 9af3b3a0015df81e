package chat

import (
	"strings"
	"testing"

	"steward/app"
	"steward/app/event"
	"steward/ui/language"
)

// What the core says in a chat is said in the person's language.
func TestTheCoreSpeaksThePersonsLanguage(t *testing.T) {
	if err := language.Load("zh-Hans"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := language.Load("en"); err != nil {
			t.Error(err)
		}
	}()
	p := newPresenter()
	p.load("c", nil, nil, false)
	p.apply(event.Notice{Conversation: "c", Kind: "secret", Message: "The message holds something that looks like a key or password; it goes to the model."})
	for what, got := range map[string]string{
		"a notice": p.notices[0].text,
		"an end":   endingWords(&message{ChatMessage: app.ChatMessage{State: stateStopped, Error: "the limit of 25 rounds for one turn was reached; send another message to go on"}}),
		"a reason": outcomeWords(&app.CallState{Reason: "nobody answered in time"}),
	} {
		if strings.Contains(got, "the ") || strings.Contains(got, "nobody") {
			t.Errorf("%s is %q", what, got)
		}
	}
}

// A running call says what its server says of it, and that a task goes on by itself.
func TestWordsOfARunningCall(t *testing.T) {
	const task = "A task at its server; it goes on by itself"
	for _, tc := range []struct {
		call app.CallState
		want string
	}{
		{app.CallState{}, "Running…"},
		{app.CallState{Progress: &event.Progress{Message: "half"}}, "half"},
		{app.CallState{Progress: &event.Progress{Task: true}}, task},
		{app.CallState{Progress: &event.Progress{Task: true, Message: "Gathering sources…"}}, "Gathering sources… · " + task},
		{app.CallState{Outcome: "running"}, task},
	} {
		if got := runningWords(&tc.call); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}
