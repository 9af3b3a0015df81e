package chat

import (
	"fmt"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"steward/app/consent"
	"steward/app/event"
)

// The composer has the keyboard as soon as the place is shown, though nothing was drawn yet, and after "New chat" too.
func TestTheComposerHasTheKeyboard(t *testing.T) {
	b := newBench(t, "light", "en")
	focused := func() bool { return b.window.Canvas().Focused() == b.composer.entry }
	if !focused() {
		t.Error("not when the place is first shown")
	}
	b.window.Canvas().Unfocus()
	b.Goto("")
	if !focused() {
		t.Error("not after a new chat was asked for in a new chat")
	}
	b.Hidden()
	b.window.Canvas().Unfocus()
	b.Goto("")
	if focused() {
		t.Error("a place that is not shown takes the keyboard")
	}
}

// Stop belongs to the conversation that is shown, and its tools are known without anything being asked for twice.
func TestStopBelongsToWhatIsShown(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	b.say("How many risks does the weekly report for 2025-03-17 mention?")
	b.item(consent.KindCall)
	b.until("Send is Stop", func() bool { return b.composer.busy && b.composer.send.icon == "stop" })
	first := b.state.conversation
	b.Goto("")
	if b.composer.busy || b.composer.send.icon != "send" {
		t.Error("a new chat offers to stop what another one does")
	}
	b.settle()
	if b.composer.busy {
		t.Error("and begins to a moment later")
	}
	b.Goto(first)
	if b.composer.send.icon != "stop" {
		t.Error("back in the chat that works, Send is not Stop")
	}
	b.stop()
	b.until("the turn has ended", b.ended)
}

// A person who reads further up is never pulled down by what streams; a button says that there is more, and leads there.
func TestReadingIsNotDisturbedByWhatStreams(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	b.state.load("c_long", nil, nil, true)
	b.known.ID = "c_long"
	at := 0
	say := func(n int) {
		for range n {
			words := fmt.Sprintf("Paragraph after %d bytes, which is long enough to take more than one line of the column that messages are shown in, and a half.\n\n", at)
			b.apply(event.Text{Conversation: "c_long", Message: "m", Text: words, At: at})
			at += len(words)
		}
		b.settle()
	}
	say(60)
	if !b.list.Following() || b.fresh.Visible() {
		t.Fatal("the list does not follow what streams")
	}
	b.list.Scrolled(wheel(400))
	where, _, _ := b.list.Offset()
	for range 5 {
		say(10)
		if now, _, _ := b.list.Offset(); now != where {
			t.Fatalf("the view was moved from %v to %v", where, now)
		}
	}
	if !b.fresh.Visible() {
		t.Error("nothing says that there is new text")
	}
	b.picture("new-text")
	b.fresh.tapped()
	say(1)
	offset, total, view := b.list.Offset()
	if !b.list.Following() || b.fresh.Visible() || offset < total-view-1 {
		t.Errorf("the button does not lead to the end: %v of %v", offset+view, total)
	}
	if !strings.Contains(b.rowKeys(), "answer") {
		t.Errorf("the rows are %s", b.rowKeys())
	}
}

// The narrower the head, the less stands beside the title, which stays readable.
func TestHeadLeavesTheTitleRoom(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	b.turn("A question with a title that is rather long, longer than a narrow head has room for")
	for _, width := range []float32{1032, 800, 660, 504} {
		b.window.Resize(fyne.NewSize(width, 700))
		b.settle()
		if got := b.head.tap.Size().Width; got < leastTitle {
			t.Errorf("%v wide, the title has %v", width, got)
		}
		for _, c := range []*chip{b.head.model, b.head.tools, b.head.context, b.head.more} {
			if c.Visible() && (c.Size().Width < c.MinSize().Width-0.5 || c.Position().X < b.head.tap.Size().Width) {
				t.Errorf("%v wide, %q has %v of %v at %v", width, c.words, c.Size().Width, c.MinSize().Width, c.Position().X)
			}
		}
		b.picture(fmt.Sprintf("narrow-%v", width))
	}
}

// A conversation that is there no more is not shown any longer: one that was deleted elsewhere, and one that was open when
// the program ended and has gone with that.
func TestAConversationThatIsGone(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	b.turn("hello")
	id := b.state.conversation
	b.composer.entry.SetText("begun")
	undo, err := b.app.Delete(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	b.until("it is not shown", func() bool { return b.state.conversation == "" && len(b.state.rows) == 0 })
	if err := undo.Undo(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.Goto(id)
	b.until("it is back", func() bool { return len(b.state.messages) == 2 && b.composer.entry.Text == "begun" })
	b.Hidden()
	b.Goto("c_none")
	b.Shown()
	b.until("a new one is shown", func() bool { return b.state.conversation == "" })
	b.settle()
	if b.working() {
		t.Error("the new one works")
	}
}

func (b *bench) working() bool { return b.state.working || b.composer.busy }

func wheel(dy float32) *fyne.ScrollEvent {
	return &fyne.ScrollEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(300, 300)}, Scrolled: fyne.NewDelta(0, dy)}
}
