package waiting

import (
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"steward/app/consent"
	"steward/app/opener"
	"steward/ui/form"
	"steward/ui/text"
	"steward/ui/theme"
)

// modeURL is the mode of a question that asks for an address to be opened.
const modeURL = "url"

// formBody is a server's question: a form, or an address to open.
type formBody struct {
	c       *Card
	form    *form.Form // nil for an address
	problem error      // the question cannot be shown
	filled  *text.Label
	message *column
	opened  bool // a long message was unfolded
	unread  bool // a long message is folded
	note    *noteRow

	accept, decline, cancel *button
}

// formDraft is what a person has typed into a form so far. It may hold secrets.
type formDraft struct {
	state  form.State
	note   string
	opened bool // a long message was unfolded
}

func newFormBody(c *Card) *formBody {
	b := &formBody{c: c}
	e := c.item.Elicitation
	accept := lang.X("elicitation.accept", "Accept")
	switch e.Mode {
	case modeURL:
		accept = lang.X("elicitation.open", "Open this address")
		_, b.problem = opener.Check(e.URL)
	case consent.ModeDone:
		accept = lang.X("elicitation.done", "It is done: go on")
	default:
		b.buildForm()
	}
	b.accept = newButton(c, strong, accept, keyHint(), b.submit)
	b.decline = newButton(c, refusing, lang.X("elicitation.decline", "Decline"), "", func() { c.answer(consent.Answer{Action: consent.Decline}) })
	b.cancel = newButton(c, plain, lang.X("elicitation.cancel", "Cancel"), "Esc", b.escape)
	b.note = newNoteRow(c, lang.X("elicitation.decline_note", "Decline with a note…"), lang.X("elicitation.note_hint", "A note for the record; it is not sent."),
		lang.X("elicitation.decline", "Decline"), func(note string) {
			c.answer(consent.Answer{Action: consent.Decline, Reason: strings.TrimSpace(note)})
		})
	if d := b.draft(); d != nil {
		b.note.entry.SetText(d.note)
		b.opened = d.opened
	}
	b.note.entry.OnChanged = func(string) { b.keep() }
	b.filled = c.caption("", theme.Waiting)
	b.message = newBox(theme.Ground)
	b.showMessage()
	return b
}

func (b *formBody) buildForm() {
	c := b.c
	fields, err := questions(c.item)
	if err != nil {
		b.problem = err
		return
	}
	b.form = form.New(fields, c.formText)
	if d := b.draft(); d != nil {
		b.form.Restore(d.state)
	}
	b.form.OnChange = func() { b.keep(); c.update() }
	b.form.OnResize = c.resized
	b.form.OnShortcut = c.taken
	b.form.OnEscape = func() bool { c.Enter(); return true }
}

// draft is what was typed into this question before, on this card or another.
func (b *formBody) draft() *formDraft {
	d, _ := b.c.d.Drafts[b.c.item.ID].(*formDraft)
	return d
}

func (b *formBody) keep() {
	if b.c.d.Drafts == nil || b.note == nil {
		return
	}
	d := &formDraft{note: b.note.entry.Text, opened: b.opened}
	if b.form != nil {
		d.state = b.form.State()
	}
	b.c.d.Drafts[b.c.item.ID] = d
}

// formText draws what a server wrote into its form.
func (c *Card) formText(s string, role form.Role) fyne.CanvasObject {
	switch role {
	case form.Title:
		l := text.NewLabel("", text.Run{}, text.Wrap)
		l.SetText(s, text.Run{Bold: true})
		return l
	case form.Help:
		return c.caption(s, theme.Dim)
	case form.Complaint:
		return c.caption("✗ "+s, theme.Refusal)
	case form.Warning:
		return c.caption("◆ "+s, theme.Waiting)
	}
	return text.NewLabel(s, text.Run{}, text.Wrap)
}

func (b *formBody) title() []text.Run {
	words := lang.X("elicitation.asks", "asks you")
	switch b.c.item.Elicitation.Mode {
	case modeURL:
		words = lang.X("elicitation.asks_open", "asks you to open an address")
	case consent.ModeDone:
		words = lang.X("elicitation.waits_done", "waits until you are done in the browser")
	}
	return []text.Run{{Text: b.c.item.Presentation.Server, Bold: true}, {Text: "  " + words}}
}

func (b *formBody) rows() []fyne.CanvasObject {
	c, p := b.c, b.c.item.Presentation
	out := c.during()
	out = append(out, b.message)
	if w := c.warnings(p.Warnings); w != nil {
		out = append(out, w)
	}
	switch {
	case b.problem != nil:
		out = append(out, c.problem(b.problem))
	case b.form != nil:
		out = append(out, b.form)
	default:
		means := lang.X("elicitation.open_means", "It is opened in your browser, once, when you choose so. Nothing was opened yet.")
		if b.c.item.Elicitation.Mode == consent.ModeDone {
			means = lang.X("elicitation.done_means", "Finish there what the server wants, then go on: it is asked the same again. Some servers say by themselves when it is done; then this card goes.")
		}
		out = append(out, newBox(theme.CodeGround, b.c.address(b.c.item.Elicitation.URL)), c.caption(means, theme.Dim))
	}
	return append(out, b.note.row)
}

// showMessage shows what the server says; of a long message the beginning, until it is opened.
func (b *formBody) showMessage() {
	c, m := b.c, b.c.item.Presentation.Message
	count := utf8.RuneCountInString(m)
	b.unread = (count > foldFrom || strings.Count(m, "\n") > foldLines) && !b.opened
	switch {
	case b.unread:
		v := c.view()
		v.SetRuns(marked(folded(firstLines(m), foldTo), text.Run{})...)
		open := newButton(c, quiet, lang.X("approval.open_value", "Show all {{.count}} characters", map[string]any{"count": count}), "", func() {
			b.opened = true
			b.showMessage()
			b.keep()
			c.changed()
		})
		b.message.objects = []fyne.CanvasObject{v, newFlow(0, []fyne.CanvasObject{open}, nil)}
	case len(m) > paneFrom:
		p := c.paneOf(m)
		b.message.objects = []fyne.CanvasObject{p}
	default:
		v := c.view()
		v.SetText(m, text.Run{})
		b.message.objects = []fyne.CanvasObject{v}
	}
	b.message.Refresh()
}

// firstLines is the beginning of a message that has too many lines to be shown.
func firstLines(s string) string {
	for i, n := 0, 0; i < len(s); i++ {
		if s[i] == '\n' {
			if n++; n == foldLines/2 {
				return s[:i] + "…"
			}
		}
	}
	return s
}

// address is the whole address, its host emphasised, above all the part of it that somebody registered.
func (c *Card) address(url string) fyne.CanvasObject {
	v := c.view()
	shown, err := opener.Check(url)
	if err != nil {
		v.SetText(said(err), text.Run{Color: theme.Refusal})
		return v
	}
	dim := text.Run{Mono: true, Color: theme.Dim}
	with := func(r text.Run, s string) text.Run { r.Text = s; return r }
	before, after, ok := cutHost(shown.URL, shown.Host)
	if !ok { // an address that spells its host in another way: all of it equally
		v.SetRuns(with(text.Run{Mono: true}, shown.URL))
		return v
	}
	sub := strings.TrimSuffix(shown.Host, shown.Domain)
	v.SetRuns(with(dim, before), with(text.Run{Mono: true}, sub),
		text.Run{Text: shown.Domain, Mono: true, Bold: true, Color: theme.Accent, Underline: true}, with(dim, after))
	return v
}

// cutHost parts an address before and after its host (RFC 3986, section 3).
func cutHost(url, host string) (before, after string, ok bool) {
	scheme := strings.Index(url, "://")
	if scheme < 0 {
		return "", "", false
	}
	at := scheme + len("://")
	if strings.HasPrefix(url[at:], "[") { // of an IPv6 address
		at++
	}
	if !strings.HasPrefix(strings.ToLower(url[at:]), host) {
		return "", "", false
	}
	return url[:at], url[at+len(host):], true
}

func (b *formBody) buttons() (left, right []fyne.CanvasObject) {
	if b.c.item.Elicitation.Mode == consent.ModeDone {
		return []fyne.CanvasObject{b.cancel}, []fyne.CanvasObject{b.accept}
	}
	return []fyne.CanvasObject{b.cancel, b.decline, b.note.open}, []fyne.CanvasObject{b.accept}
}

// reason is why it is not accepted as it stands.
func (b *formBody) reason() fyne.CanvasObject { return b.filled }

func (b *formBody) first() *button { return b.cancel }

func (b *formBody) escape() { b.c.answer(consent.Answer{Action: consent.Cancel}) }

func (b *formBody) submit() {
	if !b.c.ready() || b.problem != nil || b.unread {
		b.c.update()
		return
	}
	a := consent.Answer{Action: consent.Accept}
	if b.form != nil {
		if !b.form.Check() {
			b.c.resized()
			return
		}
		var err error
		if a.Content, err = content(b.c.item, b.form.Values()); err != nil {
			b.c.complain(err)
			return
		}
	}
	b.c.answer(a)
}

func (b *formBody) update(now bool) {
	words, invalid := "", false
	if b.form != nil {
		if n := len(b.form.Problems()); n > 0 {
			invalid = true
			words = lang.X("elicitation.missing", "Answers missing or to be mended: {{.count}}", map[string]any{"count": n})
		}
	}
	if b.unread && words == "" {
		words = lang.X("elicitation.first_open", "The message is folded. Open it before you accept.")
	}
	b.accept.set(!now || b.problem != nil || invalid || b.unread, false)
	b.cancel.set(b.c.busy, false)
	b.decline.set(b.c.busy, false)
	if shows := words != ""; shows != b.filled.Visible() {
		if shows {
			b.filled.Show()
		} else {
			b.filled.Hide()
		}
		defer b.c.resized()
	}
	b.filled.SetText(words, text.Run{Color: theme.Waiting})
}
