package chat

import (
	"context"
	"testing"

	"steward/app"
)

// A message that is edited shows what is attached to it; what is added or taken away goes, and what the person had begun
// to write comes back, whether it is sent or given up.
func TestEditingKeepsAttachmentsAndWhatWasBegun(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	b.composer.add(app.Attachment{Kind: "file", Name: "first.txt", Text: "the first file"})
	b.turn("hello")
	b.composer.entry.SetText("something else, begun")
	b.editLast()
	if b.composer.entry.Text != "hello" || len(b.composer.attach) != 1 {
		t.Fatalf("edited is %+v", b.composer.draft())
	}
	b.escape()
	if d := b.composer.draft(); d.text != "something else, begun" || d.edits != "" || len(d.attach) != 0 {
		t.Errorf("after it was given up there is %+v", d)
	}
	b.editLast()
	b.composer.add(app.Attachment{Kind: "file", Name: "second.txt", Text: "the second file"})
	b.turn("hello, changed")
	b.until("it is shown", func() bool { return b.state.last(roleUser).words() == "hello, changed" })
	m := b.state.last(roleUser)
	if len(m.Attachments) != 2 || m.Attachments[1].Text != "the second file" {
		t.Errorf("sent were %q and %d attachments", m.words(), len(m.Attachments))
	}
	if d := b.composer.draft(); d.text != "something else, begun" || d.edits != "" || d.aside != nil {
		t.Errorf("after it was sent there is %+v", d)
	}
}

// An edited message that cannot be sent comes back as that, and what was begun behind it.
func TestEditingThatFailsComesBack(t *testing.T) {
	d := draft{text: "changed", edits: "m_1", aside: &draft{text: "begun"}}
	got := d.with(draft{text: "begun, and more"})
	if got.text != "changed" || got.edits != "m_1" || got.aside == nil || got.aside.text != "begun, and more" {
		t.Errorf("what comes back is %+v", got)
	}
}

// A title typed for one conversation is never given to another one that is opened meanwhile.
func TestATitleGoesToItsConversation(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	b.turn("hello")
	first := b.state.conversation
	b.Goto("")
	b.turn("good morning")
	second := b.state.conversation
	b.head.rename()
	b.until("the title has the keyboard", func() bool { return b.window.Canvas().Focused() == b.head.edit })
	b.head.edit.SetText("Mornings")
	b.Goto(first)
	b.settle()
	title := func(id string) string {
		c, err := b.app.Conversation(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		return c.Title
	}
	if title(first) != "hello" || title(second) != "Mornings" || b.head.edit.Visible() {
		t.Errorf("the titles are %q and %q; still editing: %v", title(first), title(second), b.head.edit.Visible())
	}
}
