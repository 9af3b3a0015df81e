package chat

import (
	"context"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/app/clean"
	"steward/app/event"
	"steward/ui/text"
	"steward/ui/theme"
)

// laterLine shows, above what is typed, the message that is sent when the answer which comes now has ended.
type laterLine struct {
	*fyne.Container
	words *text.Label
}

func newLaterLine(p *Place) *laterLine {
	l := &laterLine{words: caption("", theme.Dim, text.Cut)}
	now := newChip(quiet, "send", lang.X("chat.send_now", "Send now"), p.sendNow)
	back := newChip(quiet, "cross", "", p.takeUp)
	for _, c := range []*chip{now, back} {
		c.small, c.onShort = true, p.d.Shortcut
	}
	l.Container = newLine(theme.Step, nil, l.words, now, back)
	l.Hide()
	return l
}

// showLater shows what waits in the conversation that is shown.
func (p *Place) showLater() {
	d, waits := p.later[p.state.conversation]
	line := p.composer.later
	line.Hidden = !waits
	if waits {
		said := d.text
		for _, a := range d.attach {
			said += " @" + attachmentWords(a)
		}
		line.words.SetText(lang.X("chat.sent_later", "Sent when this answer has ended: {{.text}}", map[string]any{"text": clean.Line(said, 300)}), text.Run{Color: theme.Dim})
	}
	p.composer.resized()
}

// sendLater keeps a message until the answer that comes now has ended: what waits for the person in the turn is not
// withdrawn by it. Further ones are put behind the first.
func (p *Place) sendLater(d draft) {
	id := p.state.conversation
	if first, waits := p.later[id]; waits {
		d = first.with(d)
	}
	p.later[id] = d
	p.showLater()
}

// takeLater is what waits in a conversation, which it then does no more.
func (p *Place) takeLater(id string) (d draft, waits bool) {
	d, waits = p.later[id]
	delete(p.later, id)
	if waits && id == p.state.conversation {
		p.showLater()
	}
	return d, waits
}

// sendNow does not wait for the end of the answer: it is ended, and what waits in its turn is withdrawn.
func (p *Place) sendNow() {
	id := p.state.conversation
	if d, waits := p.takeLater(id); waits {
		p.sendWaiting(id, d)
	}
}

func (p *Place) takeUp() {
	id := p.state.conversation
	if d, waits := p.takeLater(id); waits {
		p.giveBack(id, d)
		p.focusComposer()
	}
}

// turnEnded sends what waited for the end of a turn, whatever is shown. Where the turn was stopped or failed, the person
// may think better of it: it goes back to where it was typed.
func (p *Place) turnEnded(e event.Turn) {
	d, waits := p.takeLater(e.Conversation)
	switch {
	case !waits:
	case e.State == "finished":
		p.sendWaiting(e.Conversation, d)
	default:
		p.giveBack(e.Conversation, d)
	}
}

func (p *Place) sendWaiting(id string, d draft) {
	after := func(err error) {
		switch {
		case err != nil:
			p.fail(err)
			p.giveBack(id, d)
		case id == p.state.conversation:
			p.list.SetFollow(true)
			p.read()
		}
	}
	p.stored(id, func(err error) {
		if err != nil {
			after(err)
			return
		}
		p.d.Go(func(ctx context.Context) {
			_, err := p.d.App.Send(ctx, app.Draft{Conversation: id, Text: d.text, Attach: d.attach})
			p.d.Do(func() { after(err) })
		})
	})
}

// giveBack puts a message before what was typed since.
func (p *Place) giveBack(id string, d draft) {
	if id != p.state.conversation {
		p.drafts[id] = d.before(p.drafts[id])
		return
	}
	p.composer.restore(d.before(p.composer.draft()))
}

// before is what was begun since, with this draft before it. Of a message that is edited meanwhile nothing is mixed up
// with it: it comes back when that is over.
func (d draft) before(next draft) draft {
	if next.edits == "" {
		return d.with(next)
	}
	if next.aside != nil {
		d = d.with(*next.aside)
	}
	next.aside = &d
	return next
}

// with is a draft with what was begun behind it.
func (d draft) with(next draft) draft {
	if d.edits != "" {
		d.aside = &next
		return d
	}
	if next.text != "" {
		d.text = strings.TrimSpace(d.text + "\n" + next.text)
	}
	d.attach = append(d.attach[:len(d.attach):len(d.attach)], next.attach...)
	return d
}
