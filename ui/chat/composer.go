package chat

import (
	"context"
	"image/color"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"steward/app"
	"steward/app/clean"
	"steward/ui/form"
	"steward/ui/text"
	"steward/ui/theme"
)

// draft is what a person has put together but not sent.
type draft struct {
	text   string
	attach []app.Attachment
	edits  string // the message it takes the place of; "" for a new one
	aside  *draft // what it took the composer from, where it takes a message's place; it comes back
}

// noteHeight is the height of a line above what is typed.
const noteHeight float32 = 28

// composer is where a person writes.
type composer struct {
	widget.BaseWidget
	p     *Place
	entry *form.Entry
	quiet *container.ThemeOverride

	attach     []app.Attachment
	mentioned  []app.Resource  // that what is typed names
	suggesting int             // counts looking for them, so that an old finding is not shown
	dismissed  map[string]bool // of these, what the person does not want
	edits      string
	aside      *draft
	busy       bool // a turn runs
	ending     bool // what was typed is being sent

	ground  *canvas.Rectangle
	chips   *flowBox
	editing *text.Label
	undo    *chip
	note    *fyne.Container // that a message is edited
	later   *laterLine      // what waits to be sent
	send    *chip
	bar     *fyne.Container
	folders *flowBox
	popup   *popup
}

func newComposer(p *Place) *composer {
	c := &composer{p: p, ground: canvas.NewRectangle(color.Transparent)}
	c.entry = form.NewMultiLine(1)
	c.entry.Wrapping = fyne.TextWrapWord
	c.entry.SetPlaceHolder(lang.X("chat.composer", "Ask anything — / for prompts, @ for resources, + to attach"))
	c.entry.OnSubmit = func(string) { c.submit() }
	c.entry.OnChanged = func(string) { c.changed() }
	c.entry.OnKey = c.key
	c.entry.OnShortcut = func(s fyne.Shortcut) bool { return p.d.Shortcut(s) }
	c.entry.OnBigPaste = c.bigPaste
	c.entry.OnFocus = func(bool) { c.paint() }
	c.quiet = container.NewThemeOverride(c.entry, theme.Quiet())
	c.chips = newFlow(1.5 * theme.Step)
	c.folders = newFlow(1.5 * theme.Step)
	c.editing = caption(lang.X("chat.editing", "Editing a sent message: this begins a new branch, the old one stays."), theme.Dim, text.Cut)
	c.undo = newChip(quiet, "cross", "", c.giveUp)
	c.note = newLine(theme.Step, nil, c.editing, c.undo)
	c.note.Hide()
	c.later = newLaterLine(p)
	attach := newChip(quiet, "plus", "", p.attachMenu)
	slash := newChip(quiet, "slash", "", func() { c.insert("/") })
	at := newChip(quiet, "at", "", func() { c.insert("@") })
	c.send = newChip(strong, "send", lang.X("chat.send", "Send"), c.sendOrStop)
	for _, b := range []*chip{attach, slash, at, c.send} {
		b.onShort = p.d.Shortcut
	}
	c.bar = newLine(theme.Step, []fyne.CanvasObject{attach, slash, at}, c.folders, c.send)
	c.popup = newPopup(p, c)
	c.ExtendBaseWidget(c)
	c.paint()
	return c
}

func (c *composer) draft() draft { return draft{c.entry.Text, c.attach, c.edits, c.aside} }

func (c *composer) restore(d draft) {
	c.attach, c.edits, c.aside = d.attach, d.edits, d.aside
	c.mentioned, c.dismissed = nil, nil
	c.entry.SetText(d.text)
	c.entry.Entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyPageDown}) // to its end
	c.rebuild()
}

// edit puts a sent message into the composer, to be sent in a changed form. What stood there comes back afterwards.
func (c *composer) edit(id, words string, attached []app.Attachment) {
	before := c.aside
	if c.edits == "" {
		d := c.draft()
		before = &d
	}
	c.restore(draft{text: words, attach: slices.Clone(attached), edits: id, aside: before})
}

// giveUp empties the composer, or brings back what a message that was edited took the place of.
func (c *composer) giveUp() {
	if c.aside != nil {
		c.restore(*c.aside)
		return
	}
	c.restore(draft{})
}

// rebuild shows what is attached.
func (c *composer) rebuild() {
	c.p.watchAttached(c.attach)
	c.chips.objects = nil
	for i, a := range c.attach {
		c.chips.objects = append(c.chips.objects, c.chipOf(i, a))
	}
	for _, ch := range c.mentionChips() {
		c.chips.objects = append(c.chips.objects, ch)
	}
	c.note.Hidden = c.edits == ""
	c.resized()
	c.chips.Refresh() // in the same room there may be others now
}

// chipOf shows the i-th of what is attached.
func (c *composer) chipOf(i int, a app.Attachment) *chip {
	words := attachmentWords(a)
	if n := len(a.Text) + len(a.Data); n > 0 {
		words += " · " + size(int64(n))
	}
	ch := newPill(attachmentIcon(a), words, false, func() { c.p.previewAttachment(a) })
	ch.most = 320
	if c.p.changedSince(a) {
		ch.icon, ch.colour = "refresh", theme.Waiting
		ch.words += " · " + lang.X("chat.changed", "changed")
		ch.tapped = func() { c.p.readAgain(a) }
	}
	if a.Kind == "image" && c.p.head.facts.can.Images == app.Unsupported {
		ch.icon, ch.colour = "warning", theme.Waiting
		ch.words += " · " + lang.X("chat.picture_unsent", "not sent: the model takes no pictures")
		ch.most = 520
	}
	ch.onShort = c.p.d.Shortcut
	ch.removed = func() {
		c.attach = append(c.attach[:i:i], c.attach[i+1:]...)
		c.rebuild()
	}
	return ch
}

// exchange puts one attachment in the place of another.
func (c *composer) exchange(old, with app.Attachment) {
	c.attach = slices.Clone(c.attach)
	for i, a := range c.attach {
		if a.Server == old.Server && a.URI == old.URI && a.Name == old.Name {
			c.attach[i] = with
		}
	}
	c.rebuild()
	c.p.focusComposer()
}

// add attaches something.
func (c *composer) add(a app.Attachment) {
	c.attach = append(c.attach[:len(c.attach):len(c.attach)], a)
	c.rebuild()
	c.suggest()
	c.p.focusComposer()
}

func (c *composer) bigPaste(s string) {
	c.add(app.Attachment{Kind: "file", Name: lang.X("chat.pasted", "Pasted text") + ".txt", MIMEType: "text/plain", Text: s})
}

// showFolders shows the folders that the conversation shares.
func (c *composer) showFolders(roots []string) {
	c.folders.objects = nil
	for _, r := range roots {
		ch := newPill("folder", clean.Reveal(shortPath(r)), false, func() { c.p.d.Layer.Toast(clean.Reveal(r)) })
		ch.most = 220
		ch.removed = func() { c.p.unshare(r) }
		c.folders.objects = append(c.folders.objects, ch)
	}
	c.resized()
	c.folders.Refresh()
}

func (c *composer) changed() {
	c.popup.typed(c.entry.Text, c.before())
	c.suggest()
	c.resized()
}

// before is the text left of the cursor, from the last line break on.
func (c *composer) before() string {
	all := c.entry.Text
	end := len(all)
	n := c.entry.CursorTextOffset() // in characters; rows count the lines that a long one is broken into
	for i := range all {
		if n == 0 {
			end = i
			break
		}
		n--
	}
	return all[strings.LastIndexByte(all[:end], '\n')+1 : end]
}

func (c *composer) resized() {
	if c.p.frame != nil {
		c.p.frame.Refresh()
	}
	c.Refresh()
}

// key has the first look at a key.
func (c *composer) key(e *fyne.KeyEvent) bool {
	if c.popup.key(e) {
		return true
	}
	if e.Name == fyne.KeyEscape {
		c.p.d.Shortcut(&desktop.CustomShortcut{KeyName: fyne.KeyEscape})
		return true
	}
	if e.Name == fyne.KeyUp && c.entry.Text == "" && len(c.attach) == 0 {
		c.p.editLast()
		return true
	}
	return false
}

// typeInto takes what was typed where nothing can be typed.
func (c *composer) typeInto(r rune) {
	c.p.focusComposer()
	c.entry.TypedRune(r)
}

// write puts words where the cursor is, so that the person sees them before they are sent.
func (c *composer) write(words string) {
	if len(c.entry.Text)+len(words) > form.MaxText {
		c.bigPaste(words)
		return
	}
	c.p.focusComposer()
	c.entry.Entry.TypedShortcut(&fyne.ShortcutPaste{Clipboard: oneTime(words)})
}

// oneTime is a clipboard with a text of its own: pasting it is the one way to put a long text in at the cursor at once.
type oneTime string

// Content is the text.
func (o oneTime) Content() string { return string(o) }

// SetContent does nothing.
func (oneTime) SetContent(string) {}

// insert types a character for the person, behind a blank where one is needed.
func (c *composer) insert(s string) {
	c.p.focusComposer()
	if b := c.before(); b != "" && !strings.HasSuffix(b, " ") {
		c.entry.TypedRune(' ')
	}
	for _, r := range s {
		c.entry.TypedRune(r)
	}
}

// replace puts words in the place of what stands from a sign to the cursor.
func (c *composer) replace(sign string, words string) {
	b := c.before()
	at := strings.LastIndex(b, sign)
	if at < 0 {
		return
	}
	for range []rune(b[at:]) {
		c.entry.Entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyBackspace})
	}
	for _, r := range words {
		c.entry.Entry.TypedRune(r)
	}
}

func (c *composer) closePopup() { c.popup.close() }

func (c *composer) sendOrStop() {
	if c.busy && strings.TrimSpace(c.entry.Text) == "" && len(c.attach) == 0 {
		c.p.stop()
		return
	}
	c.submit()
}

// submit sends what was typed. The composer is free at once: what the person types from then on is another message.
// Where the message could not be stored, it comes back.
func (c *composer) submit() {
	d := c.draft()
	d.text = strings.TrimSpace(d.text)
	if c.ending || d.text == "" && len(d.attach) == 0 {
		return
	}
	if c.p.state.working && c.p.isWorking(c.p.state.conversation) { // a new message would end the turn, and withdraw what waits in it
		if d.edits != "" {
			c.p.d.Layer.Toast(lang.X("chat.still_working", "This chat is still working. Stop it first, or wait for its end; your text stays here."))
			return
		}
		c.closePopup()
		c.giveUp()
		c.p.sendLater(d)
		return
	}
	c.ending = true
	c.closePopup()
	c.giveUp()
	id, turn := c.p.state.conversation, c.p.loading
	c.p.sendDraft(d, func(err error) {
		c.ending = false
		switch {
		case err == nil:
		case turn == c.p.loading:
			c.p.fail(err)
			c.restore(d.with(c.draft()))
		default:
			c.p.fail(err)
			c.p.drafts[id] = d.with(c.p.drafts[id])
		}
	})
}

// say sends something else than what stands in the composer, which stays.
func (c *composer) say(words string) {
	before := c.draft()
	c.restore(draft{text: words})
	c.submit()
	c.restore(before)
}

// working shows whether a turn runs.
func (c *composer) working(on bool) {
	if c.busy != on {
		c.busy = on
		c.Refresh()
	}
}

func (c *composer) paint() {
	c.ground.FillColor, c.ground.StrokeColor, c.ground.StrokeWidth = theme.Color(theme.Card), theme.Color(theme.Line), 1
	c.ground.CornerRadius = 10
	c.send.look, c.send.icon, c.send.words = strong, "send", lang.X("chat.send", "Send")
	if c.busy && c.entry.Text == "" && len(c.attach) == 0 {
		c.send.look, c.send.icon, c.send.words = outlined, "stop", lang.X("chat.stop", "Stop")
	}
}

// HeightFor is the height at a width: the text's, up to a limit, and the bars'.
func (c *composer) HeightFor(width float32) float32 {
	inner := width - 6*theme.Step
	h := c.entryHeight(inner) + 2*theme.Step + 35 + 2.5*theme.Step
	if len(c.chips.objects) > 0 {
		h += c.chips.HeightFor(inner) + 2*theme.Step
	}
	for _, o := range []fyne.CanvasObject{c.later, c.note} {
		if o.Visible() {
			h += noteHeight
		}
	}
	return h
}

func (c *composer) entryHeight(width float32) float32 {
	rows := 1
	for l := range strings.SplitSeq(c.entry.Text, "\n") {
		n := 1
		if len(l) > 40 && width > 80 {
			n += int(textWidth(cut(l, 2000), theme.TextSize, false) / (width - 24))
		}
		if rows += n; rows > 12 {
			break
		}
	}
	rows = min(max(rows-1, 1), 10)
	return float32(rows)*21 + 18
}

// CreateRenderer is Fyne's.
func (c *composer) CreateRenderer() fyne.WidgetRenderer { return &composerRenderer{c} }

type composerRenderer struct{ c *composer }

func (r *composerRenderer) Destroy() {}

func (r *composerRenderer) Objects() []fyne.CanvasObject {
	c := r.c
	return []fyne.CanvasObject{c.ground, c.later.Container, c.note, c.chips, c.quiet, c.bar}
}

func (r *composerRenderer) MinSize() fyne.Size { return fyne.NewSize(200, 90) }

func (r *composerRenderer) Refresh() {
	r.c.paint()
	r.c.send.Refresh()
	r.Layout(r.c.Size())
	canvas.Refresh(r.c)
}

func (r *composerRenderer) Layout(s fyne.Size) {
	c := r.c
	c.ground.Resize(s)
	inner := s.Width - 6*theme.Step
	if inner < 80 {
		return
	}
	y := 1.5 * theme.Step
	for _, o := range []fyne.CanvasObject{c.later.Container, c.note} {
		if o.Visible() {
			o.Move(fyne.NewPos(3*theme.Step, y))
			o.Resize(fyne.NewSize(inner, noteHeight))
			y += noteHeight
		}
	}
	if len(c.chips.objects) > 0 {
		h := c.chips.HeightFor(inner)
		c.chips.Move(fyne.NewPos(3*theme.Step, y+theme.Step))
		c.chips.Resize(fyne.NewSize(inner, h))
		y += h + 2*theme.Step
	}
	bottom := s.Height - 35 - 2.5*theme.Step
	c.quiet.Move(fyne.NewPos(1*theme.Step, y))
	c.quiet.Resize(fyne.NewSize(s.Width-2*theme.Step, max(bottom-y, 20)))
	c.bar.Move(fyne.NewPos(2*theme.Step, bottom))
	c.bar.Resize(fyne.NewSize(s.Width-5*theme.Step, 35))
	c.bar.Layout.Layout(c.bar.Objects, c.bar.Size())
}

// sendDraft sends a message, or a changed version of one, and says how that went.
func (p *Place) sendDraft(d draft, done func(error)) {
	id, turn, want := p.state.conversation, p.loading, p.want
	after := func(err error) {
		done(err)
		switch {
		case turn != p.loading:
		case err != nil: // nothing came of it: what was shown as work in a new conversation is none
			p.state.working, p.state.moved = p.isWorking(p.state.conversation), true
			p.soon()
		default:
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
			err := p.dispatch(ctx, id, turn, want, d)
			p.d.Do(func() { after(err) })
		})
	})
}

// dispatch begins the turn. It runs in the background.
func (p *Place) dispatch(ctx context.Context, id string, turn int, want wants, d draft) error {
	if d.edits != "" {
		_, err := p.d.App.EditAndBranch(ctx, id, d.edits, d.text, d.attach)
		return err
	}
	if id == "" {
		c, err := p.begin(ctx, turn, want)
		if err != nil {
			return err
		}
		id = c
	}
	_, err := p.d.App.Send(ctx, app.Draft{Conversation: id, Text: d.text, Attach: d.attach})
	return err
}
