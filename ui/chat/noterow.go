package chat

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"steward/app"
	"steward/app/clean"
	"steward/ui/text"
	"steward/ui/theme"
)

// noteRow says that the model is given a summary instead of what stands above, and shows it.
type noteRow struct {
	*column
	p      *Place
	key    string
	note   string
	words  string
	open   bool
	head   *chip
	undo   *chip
	detail *text.Label
	body   *text.View
}

func newNoteRow(p *Place, r row) *noteRow {
	n := &noteRow{p: p, key: r.key, body: text.NewView(words())}
	p.messageView(n.body, func() string { return n.note })
	n.head = newChip(quiet, "chevron-right", " ", func() {
		n.open = !n.open
		p.opened[n.key] = n.open
		n.paint()
		p.changedRow(n.key)
	})
	n.undo = newChip(quiet, "undo", lang.X("chat.take_back", "Take back"), func() { p.takeBack(p.state.conversation, n.note) })
	for _, c := range []*chip{n.head, n.undo} {
		c.onShort = p.d.Shortcut
	}
	n.detail = caption("", theme.Dim, text.Cut)
	n.open = p.opened[n.key]
	card := newColumn(2*theme.Step, pad{theme.Step, 3 * theme.Step, theme.Step, 0.5 * theme.Step},
		newLine(theme.Step, []fyne.CanvasObject{n.head}, n.detail, n.undo), newColumn(0, pad{bottom: 2 * theme.Step, left: 2.5 * theme.Step}, n.body))
	card.ground, card.stroke = theme.CodeGround, theme.Line
	n.column = newColumn(0, pad{bottom: rowGap}, card)
	n.show(r)
	return n
}

func (n *noteRow) show(r row) bool {
	n.note, n.words = r.message.ID, clean.Clean(r.message.words())
	n.head.words = lang.X("chat.note", "{{.count}} messages above are summed up for the model", map[string]any{"count": r.message.Noted})
	n.detail.SetText(spentWords(r.message.ChatMessage), text.Run{Color: theme.Dim})
	n.undo.Hidden = n.p.state.working
	n.paint()
	return true
}

func (n *noteRow) paint() {
	n.head.icon = "chevron-right"
	n.body.Hidden = !n.open
	if n.open {
		n.head.icon = "chevron-down"
		n.body.SetText(n.words, text.Run{})
	}
	n.head.Refresh()
	n.column.Refresh()
}

// fullRow warns that the conversation comes near what the model can read.
type fullRow struct {
	*column
	p        *Place
	sentence *text.View
	compact  *chip
}

func newFullRow(p *Place, r row) *fullRow {
	f := &fullRow{p: p, sentence: text.NewView(words())}
	p.textView(f.sentence)
	f.compact = newChip(outlined, "archive", lang.X("chat.compact", "Sum up the older part"), p.compact)
	details := newChip(outlined, "info", lang.X("chat.context_details", "What fills it"), p.showContext)
	fresh := newChip(outlined, "plus", lang.X("chat.new", "New chat"), func() { p.d.Open("chat", "") })
	for _, c := range []*chip{f.compact, details, fresh} {
		c.small, c.onShort = true, p.d.Shortcut
	}
	card := newColumn(2*theme.Step, pad{2.5 * theme.Step, 3 * theme.Step, 2.5 * theme.Step, 3 * theme.Step},
		newBeside(widget.NewIcon(theme.IconIn("warning", theme.Waiting)), f.sentence), newFlow(2*theme.Step, f.compact, details, fresh))
	card.ground = theme.WaitingTint
	f.column = newColumn(0, pad{bottom: rowGap}, card)
	f.show(r)
	return f
}

func (f *fullRow) show(r row) bool {
	u := f.p.head.facts.use
	f.sentence.SetText(sentences(useWords(u), lang.X("chat.full", "When it is full, the model refuses, or forgets the beginning.")), text.Run{})
	f.compact.Hidden = !u.Compactable
	f.column.Refresh()
	return true
}

// waysOut offers what can be done about a request that was refused because it was too large.
func (p *Place) waysOut() (all []fyne.CanvasObject, show func(u app.ContextUse, last bool)) {
	shorten := newChip(outlined, "minus", lang.X("chat.shorten", "Shorten the largest results and send again"), p.shortenAndGoOn)
	var leave *chip
	leave = newChip(outlined, "cross", lang.X("chat.leave_result", "Leave a result out…"), func() { p.chooseResult(leave) })
	compact := newChip(outlined, "archive", lang.X("chat.compact_send", "Sum up the older part and send again"), p.compactAndGoOn)
	for _, c := range []*chip{shorten, leave, compact} {
		c.small, c.onShort = true, p.d.Shortcut
		all = append(all, c)
	}
	return all, func(u app.ContextUse, last bool) {
		refused := u.Refused && last
		shorten.Hidden, leave.Hidden, compact.Hidden = !refused || !u.Shortable, !refused || u.Results == 0, !refused || !u.Compactable
	}
}
