package chat

import (
	"context"
	"slices"
	"strings"
	"testing"

	"steward/app"
)

func (b *bench) storedSettings() app.ConversationSettings {
	b.t.Helper()
	s, err := b.app.ConversationSettings(context.Background(), b.state.conversation)
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// A person who switches off one tool right after another has both off, whatever is read and stored between.
func TestSwitchesInARowAllHold(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	b.turn("hello")
	b.toolSwitches()
	rows := slices.DeleteFunc(slices.Clone(b.switches.rows), func(r switchRow) bool { return r.tool == nil || !r.on })
	if len(rows) < 3 {
		t.Fatalf("there are %d tools to switch off", len(rows))
	}
	for _, r := range rows {
		b.switchTo(r, false)
	}
	b.until("they are stored", func() bool { return len(b.saves) == 0 })
	b.settle()
	stored := b.storedSettings()
	for _, r := range rows {
		if on, ok := stored.Tools[r.server][r.tool.Tool.Tool]; !ok || on {
			t.Errorf("%s is still offered", r.tool.Tool.Tool)
		}
	}
	for _, r := range b.switches.rows {
		if r.tool != nil && r.on {
			t.Errorf("%s is shown as offered", r.tool.Tool.Tool)
		}
	}
}

// A message goes with the settings that are shown, also those that are being stored when it is sent.
func TestAMessageWaitsForTheSettingsShown(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	b.turn("hello")
	last := b.state.last(roleAssistant).ID
	under := &saving{}
	b.saves[b.state.conversation] = under
	b.say("hello again")
	b.settle()
	if b.state.working || b.state.last(roleAssistant).ID != last || len(under.then) != 1 {
		t.Fatalf("it was sent before the settings were stored: %s", b.rowKeys())
	}
	delete(b.saves, b.state.conversation)
	under.then[0](nil)
	b.until("it was sent then", func() bool { return b.state.last(roleAssistant).ID != last && b.ended() })
	again := &saving{}
	b.saves[b.state.conversation] = again
	b.regenerate()
	b.settle()
	if b.state.working || len(again.then) != 1 {
		t.Error("the model was asked again before the settings were stored")
	}
}

// What a new chat was to be it is, though the person has gone on to the next one before it had a name.
func TestANewChatBecomesWhatWasChosen(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	b.want.temporary = true
	b.head.lock.tapped()
	b.say("hello")
	b.open("") // before the queue has run, so before the chat has a name here
	var all []app.Conversation
	b.until("it is there", func() bool {
		var err error
		if all, err = b.app.Conversations(context.Background(), app.Query{}); err != nil {
			t.Fatal(err)
		}
		return len(all) == 1
	})
	if !all[0].Temporary {
		t.Error("the temporary chat is kept")
	}
	b.until("its turn has ended", func() bool {
		c, err := b.app.Conversation(context.Background(), all[0].ID)
		return err == nil && c.Model != "" && !c.Working
	})
	s, err := b.app.ConversationSettings(context.Background(), all[0].ID)
	if err != nil || !s.ReadOnly {
		t.Errorf("the read-only chat is none: %+v, %v", s, err)
	}
}

// A first message that cannot be sent comes back, and nothing is said to be worked on.
func TestAFirstMessageThatCannotBeSent(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	for range 3 {
		b.composer.add(app.Attachment{Kind: "file", Name: "large.txt", Text: strings.Repeat("x", 6<<20)})
	}
	b.say("hello")
	b.until("it came back", func() bool { return b.composer.entry.Text == "hello" && len(b.composer.attach) == 3 })
	b.settle()
	if b.state.working || b.composer.busy || strings.Contains(b.rowKeys(), "thinking") {
		t.Errorf("it is shown as being worked on: %s", b.rowKeys())
	}
}
