package waiting

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"steward/app/consent"
	"steward/ui/sentence"
	"steward/ui/text"
	"steward/ui/theme"
)

// sampleBody is a server's request to the model, or the model's answer before the server gets it.
type sampleBody struct {
	c *Card
	d *sampleDraft

	text     *samplePart   // the system prompt or the answer
	messages []*samplePart // of a request
	where    *sampleTarget // of a request
	limits   *sampleLimits // of a request
	why      *text.Label
	note     *noteRow

	send, deny, more *button
}

// sampleDraft is what the person made of the request so far.
type sampleDraft struct {
	text     *partDraft
	messages []*partDraft
	model    string // "" as shown
	tokens   string // as typed
	remember bool   // the model is kept for the server's first hint
	limits   [4]string
	open     bool // the limits are looked at
	note     string
}

func newSampleBody(c *Card) *sampleBody {
	b := &sampleBody{c: c}
	b.d = b.draft()
	heading, start, send := lang.X("sampling.system", "System prompt"), revealLines(c.item.Sampling.System), lang.X("sampling.send", "Send to the model")
	if b.answered() {
		heading, start = lang.X("sampling.answer", "The model's answer, as it would be sent"), revealLines(c.item.Sampling.Answer)
		send = lang.X("sampling.return", "Send to the server")
	}
	b.text = newSamplePart(c, heading, start, "", false, b.d.text, b.changed)
	if !b.answered() {
		b.buildRequest()
	}
	b.send = newButton(c, strong, send, keyHint(), b.submit)
	b.deny = newButton(c, refusing, lang.X("approval.deny", "Deny"), "Esc", b.escape)
	b.why = c.caption("", theme.Waiting)
	b.why.Hide()
	b.note = newNoteRow(c, lang.X("approval.deny_with_reason", "Deny with a reason…"), lang.X("elicitation.note_hint", "A note for the record; it is not sent."),
		lang.X("approval.deny", "Deny"), func(note string) {
			c.answer(b.stated(consent.Answer{Action: consent.Deny, Reason: strings.TrimSpace(note)}))
		})
	b.note.entry.SetText(b.d.note)
	b.note.entry.OnChanged = func(s string) { b.d.note = s }
	return b
}

// draft is what was done about this item before, on this card or another.
func (b *sampleBody) draft() *sampleDraft {
	c := b.c
	if d, ok := c.d.Drafts[c.item.ID].(*sampleDraft); ok {
		return d
	}
	s := c.item.Sampling
	d := &sampleDraft{text: &partDraft{text: revealLines(s.System)}, tokens: digits(s.MaxTokens)}
	if b.answered() {
		d.text.text = revealLines(s.Answer)
	}
	for _, m := range s.Messages {
		d.messages = append(d.messages, &partDraft{text: revealLines(m.Text)})
	}
	d.limits = limitTexts(s.Limits)
	if c.d.Drafts != nil {
		c.d.Drafts[c.item.ID] = d
	}
	return d
}

func (b *sampleBody) buildRequest() {
	c := b.c
	b.where = newSampleTarget(c, b.d)
	b.limits = newSampleLimits(c, b.d)
	b.more = newButton(c, plain, lang.X("sampling.limits", "Limits and trust")+" ▼", "", func() {
		b.d.open = !b.d.open
		b.limits.show(b.d.open)
		c.changed()
	})
	raw, shown := c.item.Sampling.Messages, c.item.Presentation.Messages
	for i, m := range raw {
		b.messages = append(b.messages, newSamplePart(c, role(m.Role), revealLines(m.Text), noteWords(shown[i].Note), len(raw) > 1, b.d.messages[i], b.changed).withTools(shown[i].Tools))
	}
}

func (b *sampleBody) answered() bool { return b.c.item.Kind == consent.KindSamplingAnswer }

// changed is told by the parts; the card's buttons follow.
func (b *sampleBody) changed() {
	if b.send != nil {
		b.c.update()
	}
}

func (b *sampleBody) title() []text.Run {
	words := lang.X("sampling.asks", "asks your model")
	if b.answered() {
		words = lang.X("sampling.gets", "would get this answer")
	}
	return []text.Run{{Text: b.c.item.Presentation.Server, Bold: true}, {Text: "  " + words}}
}

func (b *sampleBody) rows() []fyne.CanvasObject {
	c, p := b.c, b.c.item.Presentation
	out := []fyne.CanvasObject{c.caption(b.about(), theme.Dim)}
	if b.where != nil {
		out = append(out, b.where.box)
	}
	out = append(out, b.text.box)
	for _, m := range b.messages {
		out = append(out, m.box)
	}
	if b.answered() {
		out = append(out, c.tools(lang.X("sampling.calls", "Calls of the server's tools that the model asks it for"), p.Calls)...)
		out = append(out, b.asked()...)
	}
	out = append(out, c.tools(lang.X("sampling.tools", "Tools of the server that the model may ask for. The server runs them itself, without asking you."), p.Tools)...)
	if w := c.warnings(p.Warnings); w != nil {
		out = append(out, w)
	}
	out = append(out, b.note.row)
	if b.limits != nil {
		out = append(out, b.limits.box)
	}
	return out
}

// asked is the request that was answered, to be read alone.
func (b *sampleBody) asked() []fyne.CanvasObject {
	c, p := b.c, b.c.item.Presentation
	var out []fyne.CanvasObject
	if p.System != "" {
		out = append(out, newColumn(theme.Step, c.caption(lang.X("sampling.system", "System prompt"), theme.Dim), newBox(theme.CodeGround, c.text(p.System))))
	}
	for _, m := range p.Messages {
		col := newColumn(theme.Step, c.caption(role(m.Role), theme.Dim))
		if m.Text != "" {
			col.objects = append(col.objects, newBox(theme.CodeGround, c.text(m.Text)))
		}
		if m.Note != "" {
			col.objects = append(col.objects, c.caption(noteWords(m.Note), theme.Waiting))
		}
		col.objects = append(col.objects, c.boxed(m.Tools)...)
		out = append(out, col)
	}
	return out
}

// noteWords are what of a message is no text, in the person's language.
func noteWords(note string) string {
	parts := strings.Split(note, consent.NoteBreak)
	for i := range parts {
		parts[i] = sentence.Worded(parts[i])
	}
	return strings.Join(parts, consent.NoteBreak)
}

// tools lists a server's own tools, or calls of them, whole.
func (c *Card) tools(heading string, tools []consent.SamplingTool) []fyne.CanvasObject {
	if len(tools) == 0 {
		return nil
	}
	col := newColumn(theme.Step, c.caption(heading, theme.Dim))
	for _, t := range tools {
		words := t.Name + "  " + t.Schema
		if t.Description != "" {
			words = t.Name + "\n" + t.Description + "\n" + t.Schema
		}
		col.objects = append(col.objects, newBox(theme.CodeGround, c.text(words)))
	}
	return []fyne.CanvasObject{col}
}

// about is what the request belongs to, and who answered.
func (b *sampleBody) about() string {
	p := b.c.item.Presentation
	var parts []string
	if p.Tool != "" {
		parts = append(parts, lang.X("elicitation.during", "while running {{.tool}}", map[string]any{"tool": p.Tool}))
	}
	if b.answered() {
		parts = append(parts, lang.X("sampling.answered_by", "answered by {{.model}}", map[string]any{"model": p.Model}))
	} else {
		parts = append(parts, lang.X("sampling.used", "Requests in the last hour: {{.count}} of {{.limit}}", map[string]any{"count": b.c.item.Sampling.Used, "limit": b.c.item.Sampling.Limits.PerHour}))
	}
	return strings.Join(parts, " · ")
}

func role(r string) string {
	switch r {
	case "user":
		return lang.X("sampling.user", "User")
	case "assistant":
		return lang.X("sampling.assistant", "Assistant")
	}
	return r
}

func (b *sampleBody) buttons() (left, right []fyne.CanvasObject) {
	left = []fyne.CanvasObject{b.deny, b.note.open}
	if b.more != nil {
		right = append(right, b.more)
	}
	return left, append(right, b.send)
}

// reason is why it is not sent as it stands.
func (b *sampleBody) reason() fyne.CanvasObject { return b.why }

func (b *sampleBody) first() *button { return b.deny }

func (b *sampleBody) escape() { b.c.answer(consent.Answer{Action: consent.Deny}) }

func (b *sampleBody) submit() {
	if !b.c.ready() || b.unfit() != "" {
		b.c.update()
		return
	}
	b.c.answer(b.answer())
}

// unfit says why it cannot be sent as it stands, "" where it can.
func (b *sampleBody) unfit() string {
	if b.answered() {
		return ""
	}
	if _, ok := count(b.d.tokens, maxTokens); !ok {
		return lang.X("sampling.tokens_unfit", "The token limit has to be a number between 1 and {{.most}}.", map[string]any{"most": maxTokens})
	}
	if b.limits.unfit() {
		return lang.X("sampling.limits_unfit", "The limits have to be numbers; trust needs requests and tokens.")
	}
	for _, m := range b.d.messages {
		if !m.out {
			return ""
		}
	}
	return lang.X("sampling.nothing_left", "No message is left to be sent.")
}

// answer lets it be sent as it stands on the card.
func (b *sampleBody) answer() consent.Answer {
	a := consent.Answer{Action: consent.Send}
	if b.answered() {
		a.Text = b.text.sent()
		return a
	}
	a.System = b.text.sent()
	e := consent.SamplingEdit{Model: b.d.model}
	e.MaxTokens, _ = count(b.d.tokens, maxTokens)
	for _, m := range b.messages {
		e.Messages = append(e.Messages, consent.MessageEdit{Text: m.sent(), Bare: m.d.bare, Out: m.d.out})
	}
	if hints := b.c.item.Sampling.Hints; b.d.remember && len(hints) > 0 {
		e.Map = hints[0]
	}
	a.Edit = &e
	return b.stated(a)
}

// stated adds the limits that the person states, where they differ from those in force.
func (b *sampleBody) stated(a consent.Answer) consent.Answer {
	if b.limits != nil {
		a.Limits = b.limits.stated()
	}
	return a
}

func (b *sampleBody) update(now bool) {
	why := b.unfit()
	b.send.set(!now || why != "", false)
	b.deny.set(b.c.busy, false)
	if shows := why != ""; shows != b.why.Visible() {
		if shows {
			b.why.Show()
		} else {
			b.why.Hide()
		}
		defer b.c.resized()
	}
	b.why.SetText(why, text.Run{Color: theme.Waiting})
}
