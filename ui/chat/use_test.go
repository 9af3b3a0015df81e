package chat

import (
	"context"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"steward/app"
	"steward/app/consent"
)

func (b *bench) ready() {
	b.t.Helper()
	b.until("the tools are known", func() bool { n, _, _ := b.head.facts.toolSum(); return n > 0 })
}

func (b *bench) ended() bool {
	return !b.state.working && (strings.HasSuffix(b.rowKeys(), "actions") || strings.Contains(b.rowKeys(), "ending"))
}

// A prompt is filled in, seen, and attached; nothing is attached before.
func TestPromptAndResourceAreSeenBeforeTheyAreAttached(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	b.composer.insert("/")
	if !b.composer.key(&fyne.KeyEvent{Name: fyne.KeyReturn}) {
		t.Error("Enter sent the sign instead of waiting for what can be chosen")
	}
	b.until("prompts are suggested", func() bool { return len(b.composer.popup.shown) > 0 })
	for _, r := range "weekly" {
		b.composer.entry.TypedRune(r)
	}
	if got := b.composer.popup.shown; len(got) != 1 || got[0].title != "weekly-report" {
		t.Fatalf("typing on suggests %+v", got)
	}
	if b.window.Canvas().Focused() != b.composer.entry {
		t.Error("the popup took the keyboard")
	}
	b.composer.key(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if b.composer.popup.done != nil || b.composer.entry.Text != "/weekly" {
		t.Error("Escape did not just close the popup")
	}
	b.composer.restore(draft{})
	var got app.Attachment
	b.offers.get(func(o offered) {
		for _, r := range o.resources {
			if r.URI == "travel://trips/current" {
				b.useResource(r)
			}
		}
	})
	b.settle()
	if len(b.composer.attach) != 0 {
		t.Fatal("it was attached unasked")
	}
	b.picture("preview")
	add, ok := b.window.Canvas().Focused().(*chip)
	if !ok {
		t.Fatalf("the preview's button does not have the keyboard: %T", b.window.Canvas().Focused())
	}
	add.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	b.settle()
	if len(b.composer.attach) == 1 {
		got = b.composer.attach[0]
	}
	if got.URI != "travel://trips/current" || len(b.composer.chips.objects) != 1 {
		t.Errorf("attached is %+v", got)
	}
	b.picture("attached")
}

// Stopping ends the turn and says so; trying again asks anew.
func TestStopAndTryAgain(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	b.say("How many risks does the weekly report for 2025-03-17 mention?")
	b.item(consent.KindCall)
	b.until("the turn is seen to run", func() bool { return b.composer.busy })
	b.composer.sendOrStop()
	b.until("the turn has ended", b.ended)
	b.settle()
	if got := b.rowKeys(); !strings.Contains(got, "ending") || strings.Contains(got, "item") {
		t.Errorf("after stopping the rows are %s", got)
	}
	b.picture("stopped")
	b.regenerate()
	b.answer(consent.KindCall, consent.Answer{Action: consent.Deny, Reason: "not today"})
	b.until("the turn has ended", func() bool { return b.ended() && strings.Contains(b.rowKeys(), "call(done denied)") })
	b.settle()
	b.picture("denied")
}

// What was typed is kept when sending fails, and stays with its conversation.
func TestDraftsAreKept(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	b.say("What is the weather in Paris?")
	b.answer(consent.KindCall, consent.Answer{Action: consent.Allow})
	b.until("the turn has ended", b.ended)
	first := b.state.conversation
	b.composer.entry.SetText("half a thought")
	b.Goto("")
	if b.composer.entry.Text != "" || len(b.state.rows) != 0 {
		t.Errorf("a new conversation shows %q and %s", b.composer.entry.Text, b.rowKeys())
	}
	b.Goto(first)
	b.until("the conversation is back", func() bool { return strings.Contains(b.rowKeys(), "answer") })
	if b.composer.entry.Text != "half a thought" {
		t.Errorf("the draft is %q", b.composer.entry.Text)
	}
	undo, err := b.app.Delete(context.Background(), first)
	if err != nil {
		t.Fatal(err)
	}
	b.composer.submit()
	b.settle()
	if err := undo.Undo(context.Background()); err != nil {
		t.Fatal(err)
	}
	b.Goto(first)
	if b.composer.entry.Text != "half a thought" {
		t.Errorf("after a failure the draft is %q", b.composer.entry.Text)
	}
}

// What is typed while a message is on its way is another message, and stays.
func TestTypingGoesOnWhileAMessageIsSent(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	b.say("Hello")
	if b.composer.entry.Text != "" {
		t.Fatalf("the composer still holds %q", b.composer.entry.Text)
	}
	for _, r := range "and then" {
		b.composer.entry.TypedRune(r)
	}
	b.until("the turn has ended", b.ended)
	if b.composer.entry.Text != "and then" {
		t.Errorf("of what was typed meanwhile there is %q", b.composer.entry.Text)
	}
	d := draft{text: "one", attach: []app.Attachment{{Name: "a"}}}.with(draft{text: "two", attach: []app.Attachment{{Name: "b"}}})
	if d.text != "one\ntwo" || len(d.attach) != 2 {
		t.Errorf("together they are %+v", d)
	}
}
