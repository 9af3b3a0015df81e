package waiting

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"steward/app/consent"
	"steward/ui/form"
	"steward/ui/text"
	"steward/ui/theme"
)

// sampleBody is a server's request to the model, or the model's answer before the server gets it.
type sampleBody struct {
	c     *Card
	start string      // what may be edited, as it came, with odd characters shown
	entry *form.Entry // nil where it is too long to be edited
	note  *noteRow

	send, deny *button
}

// sampleDraft is the text as it was edited so far.
type sampleDraft struct{ text string }

func newSampleBody(c *Card) *sampleBody {
	b := &sampleBody{c: c, start: revealLines(c.item.Sampling.System)}
	send := lang.X("sampling.send", "Send to the model")
	if b.answered() {
		b.start = revealLines(c.item.Sampling.Answer)
		send = lang.X("sampling.return", "Send to the server")
	}
	if len(b.start) <= form.MaxText {
		b.entry = c.entry(form.NewMultiLine(2))
		b.entry.EnterBreaks = true
		b.entry.SetText(b.start)
		if d, ok := c.d.Drafts[c.item.ID].(*sampleDraft); ok {
			b.entry.SetText(d.text)
		}
		b.entry.OnChanged = func(s string) {
			if c.d.Drafts != nil {
				c.d.Drafts[c.item.ID] = &sampleDraft{s}
			}
		}
	}
	b.send = newButton(c, strong, send, keyHint(), b.submit)
	b.deny = newButton(c, refusing, lang.X("approval.deny", "Deny"), "Esc", b.escape)
	b.note = newNoteRow(c, lang.X("approval.deny_with_reason", "Deny with a reason…"), lang.X("elicitation.note_hint", "A note for the record; it is not sent."),
		lang.X("approval.deny", "Deny"), func(note string) { c.answer(consent.Answer{Action: consent.Deny, Reason: note}) })
	return b
}

func (b *sampleBody) answered() bool { return b.c.item.Kind == consent.KindSamplingAnswer }

func (b *sampleBody) title() []text.Run {
	words := lang.X("sampling.asks", "asks your model")
	if b.answered() {
		words = lang.X("sampling.gets", "would get this answer")
	}
	return []text.Run{{Text: b.c.item.Presentation.Server, Bold: true}, {Text: "  " + words}}
}

func (b *sampleBody) rows() []fyne.CanvasObject {
	c, p, s := b.c, b.c.item.Presentation, b.c.item.Sampling
	out := []fyne.CanvasObject{c.caption(b.about(s), theme.Dim)}
	if b.answered() {
		out = append(out, b.part(lang.X("sampling.answer", "The model's answer, as it would be sent"), p.Answer))
	} else if s.System != "" || b.entry != nil {
		out = append(out, b.part(lang.X("sampling.system", "System prompt"), p.System))
	}
	for _, m := range p.Messages {
		out = append(out, b.message(m))
	}
	if w := c.warnings(p.Warnings); w != nil {
		out = append(out, w)
	}
	return append(out, b.note.row)
}

// about is which model would be asked, and for how much.
func (b *sampleBody) about(s *consent.Sampling) string {
	model := s.Model
	if model == "" {
		model = lang.X("sampling.some_model", "the model of the settings")
	}
	names := map[string]any{"model": model, "tokens": fmt.Sprint(s.MaxTokens), "tool": b.c.item.Presentation.Tool}
	out := lang.X("sampling.about", "Model {{.model}}, up to {{.tokens}} tokens", names)
	if b.c.item.Presentation.Tool != "" {
		out += " · " + lang.X("elicitation.during", "while running {{.tool}}", names)
	}
	return out
}

// part is a text with its heading, to be edited where it is short enough.
func (b *sampleBody) part(heading, shown string) fyne.CanvasObject {
	head := b.c.caption(heading, theme.Dim)
	if b.entry != nil {
		return newColumn(theme.Step, head, b.entry)
	}
	return newColumn(theme.Step, head, newBox(theme.CodeGround, b.c.text(shown)))
}

func (b *sampleBody) message(m consent.SamplingMessage) fyne.CanvasObject {
	role := m.Role
	switch role {
	case "user":
		role = lang.X("sampling.user", "User")
	case "assistant":
		role = lang.X("sampling.assistant", "Assistant")
	}
	out := newColumn(theme.Step, b.c.caption(role, theme.Dim))
	if m.Text != "" {
		out.objects = append(out.objects, newBox(theme.CodeGround, b.c.text(m.Text)))
	}
	if m.Note != "" {
		out.objects = append(out.objects, b.c.caption(m.Note, theme.Waiting))
	}
	return out
}

func (b *sampleBody) buttons() (left, right []fyne.CanvasObject) {
	return []fyne.CanvasObject{b.deny, b.note.open}, []fyne.CanvasObject{b.send}
}

func (b *sampleBody) first() *button { return b.deny }

func (b *sampleBody) escape() { b.c.answer(consent.Answer{Action: consent.Deny}) }

func (b *sampleBody) submit() {
	if !b.c.ready() {
		b.c.update()
		return
	}
	b.c.answer(b.answer())
}

// answer lets it be sent as it stands in the input.
func (b *sampleBody) answer() consent.Answer {
	a := consent.Answer{Action: consent.Send}
	if b.entry == nil || b.entry.Text == b.start {
		return a
	}
	edited := unrevealLines(b.entry.Text)
	if b.answered() {
		a.Text = &edited
	} else {
		a.System = &edited
	}
	return a
}

func (b *sampleBody) update(now bool) {
	b.send.set(!now, false)
	b.deny.set(b.c.busy, false)
}
