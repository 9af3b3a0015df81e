package chat

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"steward/app"
	"steward/app/clean"
	"steward/ui/markdown"
	"steward/ui/place"
	"steward/ui/text"
	"steward/ui/theme"
)

const (
	columnWidth float32 = 720 // of messages
	bubbleWidth float32 = 560 // of what the person said, at most
	rowGap              = 3 * theme.Step
	bubblePad           = 3.5 * theme.Step
)

// view is the object of a row that can show the row's later states.
type view interface {
	fyne.CanvasObject
	HeightFor(width float32) float32
	show(r row) bool // false: it must be built anew
}

func (p *Place) build(i int) fyne.CanvasObject {
	r := p.state.rows[i]
	switch r.kind {
	case rowUser:
		return newUserRow(p, r)
	case rowReasoning:
		return newReasoningRow(p, r)
	case rowAnswer:
		return newAnswerRow(p, r)
	case rowCall:
		return newToolCard(p, r)
	case rowItem:
		return p.itemRow(r)
	case rowEnding:
		return newEndingRow(p, r)
	case rowActions:
		return newActionsRow(p, r)
	case rowNotice:
		return newNoticeRow(r)
	case rowNote:
		return newNoteRow(p, r)
	case rowFull:
		return newFullRow(p, r)
	case rowTop:
		return newColumn(0, pad{top: 4 * theme.Step})
	}
	return newThinkingRow()
}

func (p *Place) update(o fyne.CanvasObject, i int) bool {
	v, ok := o.(view)
	return ok && v.show(p.state.rows[i])
}

func (p *Place) textView(v *text.View) {
	v.OnLink = p.openLink
	v.OnShortcut = func(s fyne.Shortcut) { p.d.Shortcut(s) }
	v.OnKey = func(e *fyne.KeyEvent) { p.keyFromText(e) }
	v.OnRune = p.composer.typeInto
}

// messageView is a text of a message, which has the message's menu.
func (p *Place) messageView(v *text.View, id func() string) {
	p.textView(v)
	v.OnMenu = func(at fyne.Position, link string) bool {
		p.messageMenu(id(), v, link, at)
		return true
	}
}

// userRow is what the person said: a bubble at the right side.
type userRow struct {
	widget.BaseWidget
	p        *Place
	id       string
	words    string
	natural  float32
	body     *text.View
	chips    *flowBox
	ground   *canvas.Rectangle
	actions  *fyne.Container
	versions *versions
	lit      bool // the keyboard is here
}

func newUserRow(p *Place, r row) *userRow {
	u := &userRow{p: p, ground: canvas.NewRectangle(color.Transparent), body: text.NewView(words())}
	u.ground.CornerRadius = 10
	p.messageView(u.body, func() string { return u.id })
	u.body.OnFocus = func(on bool) { u.lit = on; u.Refresh() }
	u.chips = newFlow(theme.Step)
	u.chips.right = true
	edit := newChip(quiet, "edit", "", func() { p.editMessage(u.id) })
	copied := newChip(quiet, "copy", "", func() { p.copyText(u.words) })
	u.actions = newLine(0, nil, nil, edit, copied)
	u.actions.Hide()
	u.versions = newVersions(p)
	u.ExtendBaseWidget(u)
	u.show(r)
	return u
}

func (u *userRow) show(r row) bool {
	m := r.message
	u.id, u.words = m.ID, m.words()
	shown := clean.Clean(u.words)
	u.body.SetText(shown, text.Run{})
	u.p.finder.mark(u.body, u.id)
	u.natural = bubbleWidth
	if len(shown) < 120 {
		if w := naturalWidth(shown) + 2*bubblePad; w < bubbleWidth {
			u.natural = w
		}
	}
	u.chips.objects = nil
	for _, a := range m.Attachments {
		c := newPill(attachmentIcon(a), attachmentWords(a), false, func() { u.p.previewAttachment(a) })
		c.most = bubbleWidth
		u.chips.objects = append(u.chips.objects, c)
	}
	u.versions.show(m)
	u.Refresh()
	return true
}

// naturalWidth is the width of the widest line of a short text.
func naturalWidth(s string) float32 {
	widest, from := float32(0), 0
	for i := 0; i <= len(s); i++ {
		if i == len(s) || s[i] == '\n' {
			widest = max(widest, textWidth(s[from:i], theme.TextSize, false))
			from = i + 1
		}
	}
	return widest + 1
}

func (u *userRow) bubble(width float32) (w, h float32) {
	w = min(u.natural, width)
	return w, u.body.HeightFor(w-2*bubblePad) + 2*2.25*theme.Step
}

// HeightFor is the list's.
func (u *userRow) HeightFor(width float32) float32 {
	_, h := u.bubble(width)
	if len(u.chips.objects) > 0 {
		h += u.chips.HeightFor(width) + theme.Step
	}
	if u.versions.Visible() {
		h += u.versions.MinSize().Height
	}
	return h + rowGap
}

// MouseIn is Fyne's.
func (u *userRow) MouseIn(*desktop.MouseEvent) { u.actions.Show(); u.Refresh() }

// MouseMoved is Fyne's.
func (u *userRow) MouseMoved(*desktop.MouseEvent) {}

// MouseOut is Fyne's.
func (u *userRow) MouseOut() { u.actions.Hide() }

// CreateRenderer is Fyne's.
func (u *userRow) CreateRenderer() fyne.WidgetRenderer { return &userRenderer{u} }

type userRenderer struct{ u *userRow }

func (r *userRenderer) Destroy() {}

func (r *userRenderer) Objects() []fyne.CanvasObject {
	u := r.u
	return []fyne.CanvasObject{u.ground, u.body, u.actions, u.chips, u.versions}
}

func (r *userRenderer) MinSize() fyne.Size { return fyne.NewSize(1, 1) }

func (r *userRenderer) Refresh() {
	r.Layout(r.u.Size())
	canvas.Refresh(r.u)
}

func (r *userRenderer) Layout(s fyne.Size) {
	u := r.u
	if s.Width < 1 {
		return
	}
	u.ground.FillColor = theme.Color(theme.AccentTint)
	u.ground.StrokeWidth = 0
	if u.lit {
		u.ground.StrokeColor, u.ground.StrokeWidth = theme.Color(theme.Accent), 1.5
	}
	w, h := u.bubble(s.Width)
	x, y := s.Width-w, float32(0)
	if len(u.chips.objects) > 0 {
		ch := u.chips.HeightFor(s.Width)
		u.chips.Resize(fyne.NewSize(s.Width, ch))
		y = ch + theme.Step
	}
	u.ground.Move(fyne.NewPos(x, y))
	u.ground.Resize(fyne.NewSize(w, h))
	u.body.Move(fyne.NewPos(x+bubblePad, y+2.25*theme.Step))
	u.body.Resize(fyne.NewSize(w-2*bubblePad, h-2*2.25*theme.Step))
	u.actions.Move(fyne.NewPos(max(x-64, 0), y+(h-28)/2))
	u.actions.Resize(fyne.NewSize(60, 28))
	if u.versions.Visible() {
		z := u.versions.MinSize()
		u.versions.Move(fyne.NewPos(s.Width-z.Width, y+h))
		u.versions.Resize(z)
	}
}

// answerRow is what the model said.
type answerRow struct {
	*column
	p    *Place
	id   string
	body *markdown.View
}

func newAnswerRow(p *Place, r row) *answerRow {
	a := &answerRow{p: p}
	var me *column
	a.body = markdown.NewView(markdown.Config{
		Words: words(), Pool: p.pool, OnLink: p.openLink,
		OnBeyond: func(e *fyne.ScrollEvent) { p.list.Scrolled(e) },
		OnHeight: func() { p.rowResized(me) },
	})
	p.messageView(&a.body.View, func() string { return a.id })
	a.body.View.OnFocus = func(on bool) {
		a.edge = ""
		if on {
			a.edge = theme.Accent
		}
		a.column.Refresh()
	}
	a.column = newColumn(0, pad{bottom: rowGap}, a.body)
	a.hang = 3 * theme.Step
	me = a.column
	p.objects[me] = r.key
	a.show(r)
	return a
}

func (a *answerRow) show(r row) bool {
	a.id = r.message.ID
	a.body.SetSource(clean.Clean(r.message.words()), !r.message.streaming())
	a.p.finder.mark(&a.body.View, a.id)
	return true
}

// reasoningRow is what the model thought, folded.
type reasoningRow struct {
	*column
	p     *Place
	open  bool
	head  *chip
	body  *text.View
	words string

	message *message
}

func newReasoningRow(p *Place, r row) *reasoningRow {
	v := &reasoningRow{p: p, body: text.NewView(words())}
	v.head = newChip(quiet, "chevron-right", "", nil)
	v.head.tapped = func() {
		v.open = !v.open
		p.opened[r.key] = v.open
		v.paint()
		p.changedRow(r.key)
	}
	p.textView(v.body)
	v.open = p.opened[r.key]
	v.column = newColumn(theme.Step, pad{bottom: 2 * theme.Step}, newColumn(0, pad{left: -2.5 * theme.Step}, newLine(0, []fyne.CanvasObject{v.head}, nil)), v.body)
	v.show(r)
	return v
}

func (v *reasoningRow) show(r row) bool {
	v.words = clean.Clean(r.message.thoughts())
	v.message = r.message
	v.head.words = v.heading()
	v.paint()
	return true
}

// heading says that the model reasons and for how long, or for how long it did.
func (v *reasoningRow) heading() string {
	m := v.message
	if !m.streaming() || m.Thinking.IsZero() && m.words() != "" {
		return thoughtWords(m.Thought)
	}
	if m.Thinking.IsZero() {
		return lang.X("chat.thinking", "Thinking…")
	}
	return lang.X("chat.thinking_for", "Thinking… {{.time}}", map[string]any{"time": elapsed(m.Thought + v.p.now().Sub(m.Thinking))})
}

// tick counts the time of a model that reasons.
func (v *reasoningRow) tick() { v.head.say(v.heading()) }

func (v *reasoningRow) paint() {
	v.head.icon = "chevron-right"
	v.body.Hidden = !v.open
	if v.open {
		v.head.icon = "chevron-down"
		v.body.SetText(v.words, text.Run{Color: theme.Dim})
	}
	v.head.Refresh()
	v.column.Refresh()
}

// endingRow says that an answer did not come to its end, and offers the next step.
type endingRow struct {
	*column
	p        *Place
	remedy   *chip
	buttons  *flowBox
	sentence *text.View
	mark     *widget.Icon
	retry    *chip
	models   *chip
	waysOut  func(u app.ContextUse, last bool)
}

func newEndingRow(p *Place, r row) *endingRow {
	e := &endingRow{p: p, remedy: newChip(strong, "", "", nil), sentence: text.NewView(words()), mark: widget.NewIcon(nil)}
	p.textView(e.sentence)
	e.retry = newChip(outlined, "retry", lang.X("common.retry", "Try again"), p.tryAgain)
	e.models = newChip(outlined, "model", lang.X("chat.model_settings", "Model settings"), func() { p.d.Open(place.Settings, "models") })
	copied := newChip(quiet, "copy", lang.X("common.copy", "Copy"), func() { p.copyText(e.sentence.Plain()) })
	for _, c := range []*chip{e.remedy, e.retry, e.models, copied} {
		c.small, c.onShort = true, p.d.Shortcut
	}
	ways, waysOut := p.waysOut()
	e.waysOut = waysOut
	e.buttons = newFlow(2*theme.Step, append(ways, e.remedy, e.retry, e.models, copied)...)
	card := newColumn(2*theme.Step, pad{2.5 * theme.Step, 3 * theme.Step, 2.5 * theme.Step, 4 * theme.Step}, newBeside(e.mark, e.sentence), e.buttons)
	card.ground, card.edge = theme.RefusalTint, theme.Refusal
	if r.message.State == stateStopped {
		card.ground, card.edge = theme.CodeGround, theme.Line
	}
	e.column = newColumn(0, pad{bottom: rowGap}, card)
	e.show(r)
	return e
}

func (e *endingRow) show(r row) bool {
	icon, colour := "warning", theme.Refusal
	if r.message.State == stateStopped {
		icon, colour = "stop", theme.Dim
	}
	e.mark.SetResource(theme.IconIn(icon, colour))
	e.sentence.SetText(clean.Clean(endingWords(r.message)), text.Run{})
	e.p.remedyChip(e.remedy, r.message)
	e.remedy.Hidden = e.remedy.Hidden || !r.last
	e.remedy.Refresh()
	u := e.p.head.facts.use
	tooLarge := r.last && e.p.state.refused && r.message.State == stateFailed && (u.Results > 0 || u.Compactable)
	e.retry.Hidden, e.models.Hidden = !r.last || tooLarge, !r.last || r.message.State != stateFailed
	e.waysOut(u, tooLarge)
	e.buttons.Refresh()
	e.column.Refresh()
	return true
}

// noticeRow tells something that ends nothing.
type noticeRow struct {
	*column
	sentence *text.View
}

func newNoticeRow(r row) *noticeRow {
	n := &noticeRow{sentence: text.NewView(words())}
	card := newColumn(0, pad{2 * theme.Step, 3 * theme.Step, 2 * theme.Step, 3 * theme.Step}, newBeside(widget.NewIcon(theme.IconIn("info", theme.Waiting)), n.sentence))
	card.ground = theme.WaitingTint
	n.column = newColumn(0, pad{bottom: rowGap}, card)
	n.show(r)
	return n
}

func (n *noticeRow) show(r row) bool {
	n.sentence.SetText(r.text, text.Run{})
	return true
}

// thinkingRow shows that the turn goes on while nothing has come yet.
type thinkingRow struct{ *column }

func newThinkingRow() *thinkingRow {
	return &thinkingRow{newColumn(0, pad{top: theme.Step, bottom: rowGap}, newLine(1.5*theme.Step,
		[]fyne.CanvasObject{sized(widget.NewIcon(theme.IconIn("clock", theme.Accent)), 14), caption(lang.X("chat.working_on_it", "Working on it…"), theme.Dim, text.Whole)}, nil))}
}

func (t *thinkingRow) show(r row) bool { return r.kind == rowThinking }
