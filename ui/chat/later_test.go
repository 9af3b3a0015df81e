package chat

import (
	"context"
	"testing"

	"steward/app"
	"steward/app/consent"
)

const risks = "How many risks does the weekly report for 2025-03-17 mention?"

// waitingToSend is a chat whose turn waits for the person, with a message that waits for its end.
func waitingToSend(t *testing.T, more ...string) (b *bench, before consent.Item) {
	t.Helper()
	b = newBench(t, "light", "en")
	b.ready()
	b.say(risks)
	before = b.item(consent.KindCall)
	b.until("it is shown as work", func() bool { return b.composer.busy })
	for _, words := range append([]string{"hello"}, more...) {
		b.composer.entry.SetText(words)
		b.composer.submit()
	}
	b.settle()
	return b, before
}

// What waits for the person is not withdrawn because they go on writing: their message is sent when the turn has ended.
func TestAMessageWaitsForTheEndOfTheTurn(t *testing.T) {
	b, before := waitingToSend(t)
	if d := b.later[b.state.conversation]; b.composer.entry.Text != "" || !b.composer.later.Visible() || d.text != "hello" {
		t.Errorf("the composer holds %q, and %q waits", b.composer.entry.Text, d.text)
	}
	if now := b.item(consent.KindCall); now.ID != before.ID {
		t.Error("another call waits now")
	}
	b.picture("later")
	b.answer(consent.KindCall, consent.Answer{Action: consent.Deny})
	b.until("it was sent, and answered", func() bool {
		return b.state.last(roleUser).words() == "hello" && b.ended() && !b.composer.busy && b.state.messages[len(b.state.messages)-1].Role == roleAssistant
	})
	if b.composer.later.Visible() || len(b.later) != 0 {
		t.Error("it still waits")
	}
}

// It does so also where another chat is shown by then.
func TestAMessageThatWaitsIsSentBehindThePersonsBack(t *testing.T) {
	b, _ := waitingToSend(t, "and again")
	first := b.state.conversation
	b.Goto("")
	if b.composer.later.Visible() {
		t.Error("it is shown in another chat")
	}
	b.answer(consent.KindCall, consent.Answer{Action: consent.Deny})
	b.until("it was sent, and answered", func() bool {
		m, err := b.app.Messages(context.Background(), first, 0, 100)
		return err == nil && len(m) > 3 && m[len(m)-2].Text == "hello\nand again" && m[len(m)-1].State == stateComplete && !b.isWorking(first)
	})
}

// After a stop it is not sent, and stands where it was typed, before what was begun since.
func TestAMessageThatWaitsComesBackAfterAStop(t *testing.T) {
	b, _ := waitingToSend(t)
	b.composer.entry.SetText("something begun")
	b.stop()
	b.until("the turn has ended", func() bool { return b.ended() && !b.composer.busy })
	b.settle()
	if b.composer.entry.Text != "hello\nsomething begun" || b.composer.later.Visible() {
		t.Errorf("the composer holds %q", b.composer.entry.Text)
	}
	if b.state.last(roleUser).words() != risks {
		t.Error("it was sent")
	}
}

func TestAMessageThatWaitsCanBeTakenBackOrSentAtOnce(t *testing.T) {
	b, before := waitingToSend(t)
	b.takeUp()
	if b.composer.entry.Text != "hello" || b.composer.later.Visible() {
		t.Errorf("the composer holds %q", b.composer.entry.Text)
	}
	b.composer.submit()
	b.sendNow()
	b.until("it was sent, and answered", func() bool { return b.state.last(roleUser).words() == "hello" && b.ended() && !b.composer.busy })
	if _, waits := b.app.Waiting().Get(before.ID); waits {
		t.Error("what the first turn asked for still waits")
	}
}

// A message that is edited is not mixed up with one that comes back.
func TestAMessageThatComesBackLeavesAnEditAlone(t *testing.T) {
	file := app.Attachment{Name: "a.txt"}
	got := draft{text: "late", attach: []app.Attachment{file}}.before(draft{text: "changed", edits: "m_1", aside: &draft{text: "begun"}})
	if got.text != "changed" || got.edits != "m_1" || got.aside == nil || got.aside.text != "late\nbegun" || len(got.aside.attach) != 1 {
		t.Errorf("%+v", got)
	}
	if got := (draft{text: "late"}).before(draft{text: "begun"}); got.text != "late\nbegun" {
		t.Errorf("%+v", got)
	}
}
