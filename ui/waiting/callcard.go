package waiting

import (
	"context"
	"errors"
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/app/clean"
	"steward/app/consent"
	"steward/ui/code"
	"steward/ui/form"
	"steward/ui/sentence"
	"steward/ui/text"
	"steward/ui/theme"
)

const (
	foldTo     = 400    // characters of a long value that are shown while it is folded
	foldFrom   = 1200   // characters from which a question is folded
	foldLines  = 24     // and lines
	paneFrom   = 20_000 // bytes from which a text gets a frame of its own to scroll in
	paneHeight = 260
	maxPairs   = 60 // arguments that get widgets of their own; more stand in one frame

	maxViolations = 10 // that are shown
)

// callBody is a tool call that wants a yes.
type callBody struct {
	c *Card
	a *approval

	views               []*button
	count               *text.Label // how many arguments there are, and whether they fit the schema
	problems            *text.View  // how they do not
	fields, json, edit  *column
	copies              map[int][]span // what came from other servers, by row
	from                *column        // says so
	entry               *form.Entry
	sent                *text.View
	name                *form.Entry // to type where the tool asks for it
	nameRow             *column
	note                *noteRow
	scopes              *column
	why                 *text.Label // why Allow is not to be had
	deny, once, in, all *button
	more                *button
}

func newCallBody(c *Card) *callBody {
	b := &callBody{c: c}
	if kept, ok := c.d.Drafts[c.item.ID].(*approval); ok {
		b.a = kept
	} else {
		b.a = newApproval(c.item)
		if c.d.Drafts != nil {
			c.d.Drafts[c.item.ID] = b.a
		}
	}
	b.buildViews()
	b.buildAnswers()
	b.look(b.a.aspect)
	b.findCopies()
	return b
}

// findCopies looks, off Fyne's goroutine, for text of other servers in the arguments.
func (b *callBody) findCopies() {
	d, item := b.c.d, b.c.item
	if item.Conversation == "" {
		return
	}
	d.Go(func(ctx context.Context) {
		messages, err := d.App.Messages(ctx, item.Conversation, 0, maxMessages)
		if err != nil { // the chat cannot be read: nothing is marked, and the warning of what was read before still stands
			return
		}
		found := copies(item, outputs(item, messages))
		d.Do(func() { b.mark(found) })
	})
}

// mark shows what came from other servers.
func (b *callBody) mark(found map[int][]span) {
	if len(found) == 0 || b.c.closed {
		return
	}
	b.copies = found
	b.from.objects = nil
	for _, server := range origins(found) {
		names := map[string]any{"source": clean.Reveal(server), "server": b.c.item.Presentation.Server}
		v := b.c.view()
		v.SetRuns(text.Run{Text: "◆ " + lang.X("approval.came_from", "Highlighted text came from {{.source}} and would leave for {{.server}}.", names), Color: theme.Waiting})
		b.from.objects = append(b.from.objects, v)
	}
	b.from.Show()
	b.from.Refresh()
	if b.a.aspect == asFields {
		b.showFields()
	}
	b.c.changed()
}

func (b *callBody) title() []text.Run {
	p := b.c.item.Presentation
	return []text.Run{
		{Text: p.Server, Bold: true}, {Text: "  " + lang.X("approval.wants_to_run", "wants to run") + "  "}, {Text: p.Tool, Bold: true},
	}
}

func (b *callBody) buildViews() {
	c := b.c
	for i, caption := range []string{lang.X("approval.fields", "Fields"), lang.X("approval.json", "JSON"), lang.X("approval.edit", "Edit")} {
		b.views = append(b.views, newButton(c, segment, caption, "", func() { b.look(aspect(i)); c.changed(); b.focusEdit() }))
	}
	b.count = text.NewLabel("", text.Run{}, text.Whole)
	b.count.SetTextSize(theme.CaptionSize)
	b.problems = c.view()
	b.problems.Hide()
	b.from = newBox(theme.WaitingTint)
	b.from.Hide()
	b.fields = newBox(theme.CodeGround)
	b.json = newBox(theme.CodeGround)
	b.entry = c.entry(form.NewMultiLine(6))
	b.entry.EnterBreaks = true
	b.entry.TextStyle.Monospace = true
	if b.a.mayEdit() {
		b.entry.SetText(b.a.edited)
	}
	b.entry.OnChanged = b.typed
	b.sent = c.view()
	b.edit = newColumn(2*theme.Step, b.entry, newBox(theme.CodeGround, b.sent))
	b.edit.Hide()
}

func (b *callBody) buildAnswers() {
	c := b.c
	b.deny = newButton(c, refusing, lang.X("approval.deny", "Deny"), "Esc", func() { c.answer(b.a.deny("")) })
	b.note = newNoteRow(c, lang.X("approval.deny_with_reason", "Deny with a reason…"), lang.X("approval.reason_hint", "Why not? The model is told this."),
		lang.X("approval.deny", "Deny"), func(reason string) { c.answer(b.a.deny(reason)) })
	b.note.entry.SetText(b.a.reason)
	b.note.entry.OnChanged = func(s string) { b.a.reason = s }
	b.once = newButton(c, strong, lang.X("approval.allow_once", "Allow once"), keyHint(), func() { b.allow(consent.Once) })
	b.more = newButton(c, plain, lang.X("approval.allow_more", "Allow more")+" ▼", "", func() {
		if b.scopes.Visible() {
			b.scopes.Hide()
		} else {
			b.scopes.Show()
			defer c.d.focus(b.least()) // the keyboard goes on where the eyes do
		}
		c.changed()
	})
	names := map[string]any{"tool": c.item.Presentation.Tool, "server": c.item.Presentation.Server}
	b.in = newButton(c, plain, lang.X("approval.allow_in_chat", "Allow in this chat"), "", func() { b.allow(consent.InConversation) })
	b.all = newButton(c, plain, lang.X("approval.allow_always", "Always allow"), "", func() { b.allow(consent.Always) })
	b.in.enter, b.all.enter = false, false
	chat := newColumn(theme.Step, b.leading(b.in), c.caption(lang.X("approval.means_chat", "Runs this call now. From now on {{.tool}} on {{.server}} runs in this chat without asking, with any arguments, until its definition changes or you take it back in the settings.", names), theme.Dim))
	always := newColumn(theme.Step, b.leading(b.all), c.caption(lang.X("approval.means_always", "Runs this call now. From now on {{.tool}} on {{.server}} runs in every chat without asking, with any arguments, until its definition changes or you take it back in the settings.", names), theme.Dim))
	if c.item.Conversation == "" {
		chat.Hide()
	}
	if b.a.twice {
		b.more.Hide()
	}
	b.scopes = newBox(theme.WaitingTint, chat, always)
	b.scopes.Hide()
	b.name = c.entry(form.NewEntry())
	b.name.SetText(b.a.typed)
	b.name.OnChanged = func(s string) { b.a.typed = s; c.update() }
	b.nameRow = newColumn(theme.Step, c.caption(lang.X("approval.type_name", "Type {{.tool}} to be able to allow it.", names), theme.Waiting), b.name)
	if !b.a.twice {
		b.nameRow.Hide()
	}
	b.why = c.caption("", theme.Waiting)
	b.why.Hide()
}

// least is the answer of the narrowest scope that lets more happen than this call.
func (b *callBody) least() *button {
	if b.c.item.Conversation == "" {
		return b.all
	}
	return b.in
}

// leading keeps a button at its own width.
func (b *callBody) leading(o fyne.CanvasObject) fyne.CanvasObject {
	return newFlow(0, []fyne.CanvasObject{o}, nil)
}

// rows are what stands between the head and the answers.
func (b *callBody) rows() []fyne.CanvasObject {
	c, p := b.c, b.c.item.Presentation
	var out []fyne.CanvasObject
	out = append(out, c.about(p)...)
	var views []fyne.CanvasObject
	for _, v := range b.views {
		views = append(views, v)
	}
	out = append(out, newFlow(2*theme.Step, []fyne.CanvasObject{newJoined(0, views...), b.count}, nil), b.fields, b.json, b.edit, b.problems, b.from)
	if w := c.warnings(p.Warnings); w != nil {
		out = append(out, w)
	}
	return append(out, b.nameRow, b.note.row, b.scopes)
}

func (b *callBody) buttons() (left, right []fyne.CanvasObject) {
	return []fyne.CanvasObject{b.deny, b.note.open}, []fyne.CanvasObject{b.more, b.once}
}

// reason is why it is not allowed as it stands.
func (b *callBody) reason() fyne.CanvasObject { return b.why }

func (b *callBody) first() *button { return b.deny }

// escape denies, except from an input: there it leads to Deny, so that what was typed is not lost by one key.
func (b *callBody) escape() { b.c.answer(b.a.deny("")) }

func (b *callBody) submit() { b.allow(consent.Once) }

func (b *callBody) allow(scope string) {
	if why, err := b.a.barrier(); why != free || !b.c.ready() {
		if err != nil {
			b.c.complain(err)
		}
		b.c.update()
		return
	}
	answer, err := b.a.allow(scope)
	if err != nil {
		b.c.complain(err)
		return
	}
	b.c.answer(answer)
}

// look shows the arguments in another way.
func (b *callBody) look(as aspect) {
	if as == asEdit && !b.a.mayEdit() {
		as = asJSON
	}
	b.a.look(as)
	for i, box := range []*column{b.fields, b.json, b.edit} {
		box.Hide()
		b.views[i].set(i == int(asEdit) && !b.a.mayEdit(), i == int(as))
	}
	switch as {
	case asFields:
		b.showFields()
		b.fields.Show()
	case asJSON:
		b.showJSON()
		b.json.Show()
	case asEdit:
		b.showEdit()
		b.edit.Show()
	}
}

// focusEdit puts the keyboard into the input, where that is what was chosen.
func (b *callBody) focusEdit() {
	if b.a.aspect == asEdit {
		b.c.d.focus(b.entry)
	}
}

func (b *callBody) showFields() {
	rows := b.c.item.Presentation.Rows
	b.fields.objects = nil
	switch {
	case len(rows) == 0:
		b.fields.objects = []fyne.CanvasObject{b.c.caption(lang.X("approval.no_arguments", "No arguments"), theme.Dim)}
	case len(rows) > maxPairs:
		b.fields.objects = []fyne.CanvasObject{b.c.pane(b.everyRow())}
		b.a.whole = true
	default:
		for i, r := range rows {
			b.fields.objects = append(b.fields.objects, b.pair(i, r))
		}
	}
	b.fields.Refresh()
}

// everyRow is all arguments as one text.
func (b *callBody) everyRow() string {
	out := ""
	for _, r := range b.c.item.Presentation.Rows {
		out += r.Name + ": " + r.Text + "\n"
	}
	return out
}

func (b *callBody) pair(i int, r consent.Row) fyne.CanvasObject {
	name := text.NewLabel("", text.Run{}, text.Wrap)
	name.SetTextSize(theme.MonoSize)
	runs := marked(r.Name, text.Run{Mono: true, Color: theme.Dim})
	if len(runs) == 0 {
		runs = []text.Run{{Text: `""`, Mono: true, Color: theme.Dim}}
	}
	name.SetRuns(runs...)
	return newPair(name, b.value(i, r))
}

func (b *callBody) value(i int, r consent.Row) fyne.CanvasObject {
	if b.a.folded(i) {
		v := b.c.monoRuns(spanned(folded(r.Text, foldTo), b.copies[i]))
		open := newButton(b.c, quiet, lang.X("approval.open_value", "Show all {{.count}} characters", map[string]any{"count": strconv.Itoa(r.Length)}), "", func() {
			b.a.opened[i] = true
			b.showFields()
			b.c.changed()
		})
		return newColumn(theme.Step, v, b.leading(open))
	}
	if len(r.Text) > paneFrom {
		return b.c.pane(r.Text)
	}
	shown := r.Text
	if r.Kind == "string" && shown == "" {
		shown = `""`
	}
	return b.c.monoRuns(spanned(shown, b.copies[i]))
}

func (b *callBody) showJSON() {
	shown := b.c.item.Presentation.JSON
	if set := code.Pretty(shown); len(set) <= 2*paneFrom {
		shown = set
	}
	b.json.objects = []fyne.CanvasObject{b.c.text(shown)}
	b.json.Refresh()
}

// typed takes an edit in and shows what would be sent, or what is wrong.
func (b *callBody) typed(s string) {
	b.a.edited = s
	b.showEdit()
	b.c.changed()
}

func (b *callBody) showEdit() {
	if !b.a.changed() {
		b.sent.SetText(lang.X("approval.not_edited", "Not changed yet. What is sent stays as it is."), text.Run{Color: theme.Dim})
		return
	}
	_, shown, err := app.EditedArguments(b.c.item, b.a.edited)
	if err != nil {
		b.sent.SetText(said(err), text.Run{Color: theme.Refusal})
		return
	}
	runs := []text.Run{{Text: lang.X("approval.would_send", "Would be sent:") + " ", Color: theme.Dim}}
	b.sent.SetRuns(append(runs, marked(shown, text.Run{Mono: true})...)...)
}

// said is an error's sentence, safe to show.
func said(err error) string {
	var m *app.Message
	if errors.As(err, &m) {
		if detail, ok := m.Args["detail"]; ok {
			return clean.Clean(sentence.Worded(detail))
		}
	}
	return clean.Clean(sentence.Worded(err.Error()))
}

// showFit says whether the arguments, as they would be sent now, fit the tool's schema.
func (b *callBody) showFit() {
	p := b.c.item.Presentation
	words := lang.X("approval.arguments", "Arguments: {{.count}}", map[string]any{"count": len(p.Rows)})
	var found []consent.Violation
	fits := p.Fits
	if b.a.changed() {
		exact, _, err := app.EditedArguments(b.c.item, b.a.edited)
		fits = err == nil
		if fits {
			found = b.c.item.Violations(exact)
			fits = len(found) == 0
		}
	}
	runs := []text.Run{{Text: words + " · ", Color: theme.Dim}, {Text: lang.X("approval.schema_fits", "schema ✓"), Color: theme.Dim}}
	if !fits {
		runs[1] = text.Run{Text: lang.X("approval.schema_broken", "schema ✗"), Color: theme.Refusal}
	}
	b.count.SetRuns(runs...)
	lines := make([]text.Run, 0, len(found))
	for i, v := range found[:min(len(found), maxViolations)] {
		where := v.Path
		if where == "" {
			where = lang.X("approval.the_arguments", "the arguments")
		}
		end := "\n"
		if i == min(len(found), maxViolations)-1 {
			end = ""
		}
		lines = append(lines, text.Run{Text: "✗ " + clean.Line(where, 200) + ": " + clean.Line(sentence.Worded(v.Message), 400) + end, Color: theme.Refusal})
	}
	b.problems.SetRuns(lines...)
	if shows := len(lines) > 0; shows != b.problems.Visible() {
		if shows {
			b.problems.Show()
		} else {
			b.problems.Hide()
		}
		b.c.resized()
	}
}

func (b *callBody) update(now bool) {
	b.showFit()
	why, _ := b.a.barrier()
	off := why != free || !now
	for _, o := range []*button{b.once, b.in, b.all} {
		o.set(off, false)
	}
	b.once.say(lang.X("approval.allow_once", "Allow once"))
	if b.a.changed() {
		b.once.say(lang.X("approval.allow_edited", "Allow as edited"))
	}
	b.deny.set(b.c.busy, false)
	words := ""
	switch why {
	case unopened:
		words = lang.X("approval.first_open", "A long value is folded. Open it before you allow this.")
	case unfit:
		words = lang.X("approval.first_mend", "The edited arguments cannot be sent.")
	case untyped:
		words = lang.X("approval.first_type", "Type the tool's name before you allow this.")
	}
	if shows := words != ""; shows != b.why.Visible() {
		if shows {
			b.why.Show()
		} else {
			b.why.Hide()
		}
		defer b.c.resized()
	}
	b.why.SetText(words, text.Run{Color: theme.Waiting})
}
