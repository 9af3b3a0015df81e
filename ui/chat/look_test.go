package chat

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"steward/app/consent"
)

// A whole turn over the demo: asked, waited for, allowed, answered, opened, edited.
func TestTurn(t *testing.T) {
	for _, look := range []struct{ variant, tongue, ask string }{
		{"light", "en", "How many risks does the weekly report for 2025-03-17 mention?"},
		{"dark", "zh-Hans", "2025-03-17 的周报提到了几个风险？"},
	} {
		t.Run(look.variant+" "+look.tongue, func(t *testing.T) { turn(t, look.variant, look.tongue, look.ask) })
	}
}

func turn(t *testing.T, variant, tongue, ask string) {
	b := newBench(t, variant, tongue)
	name := variant + "-" + tongue
	b.until("the tools are known", func() bool { n, _, _ := b.head.facts.toolSum(); return n > 0 })
	b.settle()
	if !b.empty.Visible() || b.list.Visible() {
		t.Error("an empty conversation does not say what to do")
	}
	b.picture(name + "-empty")
	b.say(ask)
	b.item(consent.KindCall)
	b.until("the item has a row", func() bool { return strings.Contains(b.rowKeys(), "item") })
	b.settle()
	if got := b.rowKeys(); !strings.HasPrefix(got, "top user") || !strings.HasSuffix(got, "item") || strings.Contains(got, "call") {
		t.Errorf("while a call waits the rows are %s", got)
	}
	if b.composer.send.icon != "stop" {
		t.Error("while a turn runs, Send is not Stop")
	}
	b.picture(name + "-waits")
	b.answer(consent.KindCall, consent.Answer{Action: consent.Allow})
	b.until("the turn ends", func() bool { return !b.state.working && strings.HasSuffix(b.rowKeys(), "actions") })
	b.settle()
	if got := b.rowKeys(); !strings.Contains(got, "call(done ok) answer") {
		t.Errorf("afterwards the rows are %s", got)
	}
	for i, r := range b.state.rows {
		if r.kind == rowCall {
			b.list.Touch(i, func(o fyne.CanvasObject) { o.(*toolCard).toggle() })
		}
	}
	b.settle()
	b.picture(name + "-answered")
	for i, r := range b.state.rows {
		if r.kind == rowCall {
			b.list.Touch(i, func(o fyne.CanvasObject) { o.(*toolCard).body.choose(tabWire) })
		}
	}
	b.settle()
	b.picture(name + "-wire")
	b.editLast()
	if b.composer.edits == "" || b.composer.entry.Text != ask {
		t.Errorf("editing shows %q", b.composer.entry.Text)
	}
	b.composer.restore(draft{})
	b.composer.insert("/")
	b.until("prompts are suggested", func() bool { return len(b.composer.popup.shown) > 0 })
	b.picture(name + "-slash")
	b.composer.key(&fyne.KeyEvent{Name: fyne.KeyReturn})
	b.settle()
	b.picture(name + "-prompt")
	b.d.Shortcut(escape)
	b.composer.restore(draft{})
	b.composer.insert("@")
	b.until("resources are suggested", func() bool { return len(b.composer.popup.shown) > 0 })
	b.picture(name + "-at")
	b.composer.closePopup()
	b.composer.restore(draft{})
	b.toolSwitches()
	b.settle()
	b.picture(name + "-tools")
	b.d.Shortcut(escape)
}
