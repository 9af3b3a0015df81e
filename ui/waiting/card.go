package waiting

import (
	"image/color"
	"runtime"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"steward/app/clean"
	"steward/app/consent"
	"steward/app/event"
	"steward/ui/sentence"
	"steward/ui/text"
	"steward/ui/theme"
)

const (
	edgeWidth  = 4
	inset      = 4 * theme.Step
	leastWidth = 240
)

// Card shows one item and takes the person's answer. HeightFor is its height; it never takes the keyboard by itself.
// When the item leaves the waiting list, for whatever reason, the card becomes one line that says so. Close must be
// called when the card is let go of (list.Source.Released); what was typed into it stays in Deps.Drafts.
type Card struct {
	widget.BaseWidget
	item consent.Item
	d    Deps

	shown  time.Time // when it was first seen; zero: not yet
	busy   bool      // an answer is on its way
	end    ending
	body   body
	closed bool

	finished bool // it has become one line

	unlisten func()
	stopTick func()
	stopArm  func()
	armed    time.Time // the moment for which stopArm was asked

	ground, edge *canvas.Rectangle
	icon         *widget.Icon
	head, meta   *text.Label
	complaint    *column
	complaintIs  *text.View
	actions      *flow
	foot         *column // why an answer is not taken, and the actions
	rest         *column
	sight        *sight     // shows of rest what is seen, down to the actions
	line         *text.View // what is left at the end
}

// body is what differs between the kinds of cards.
type body interface {
	title() []text.Run
	rows() []fyne.CanvasObject
	buttons() (left, right []fyne.CanvasObject)
	first() *button  // the harmless answer
	escape()         // Escape anywhere in the card
	submit()         // Ctrl+Enter anywhere in the card
	update(now bool) // buttons follow the state; now: answers that let something happen are taken
}

// NewCard makes the card of an item.
func NewCard(item consent.Item, d Deps) *Card {
	c := &Card{item: item, d: d}
	c.ground, c.edge = canvas.NewRectangle(color.Transparent), canvas.NewRectangle(color.Transparent)
	c.icon = widget.NewIcon(nil)
	c.head = text.NewLabel("", text.Run{}, text.Wrap)
	c.meta = text.NewLabel("", text.Run{}, text.Whole)
	c.complaintIs = c.view()
	c.complaint = newBox(theme.RefusalTint, c.complaintIs)
	c.complaint.Hide()
	c.line = c.view()
	switch item.Kind {
	case consent.KindCall:
		c.body = newCallBody(c)
	case consent.KindElicitation:
		c.body = newFormBody(c)
	case consent.KindSignIn:
		c.body = newSignInBody(c)
	case consent.KindRounds:
		c.body = newRoundsBody(c)
	default:
		c.body = newSampleBody(c)
	}
	c.actions = newFlow(2.5*theme.Step, nil, nil)
	c.actions.left, c.actions.right = c.body.buttons()
	c.foot = newColumn(2*theme.Step, c.actions)
	if w, ok := c.body.(interface{ reason() fyne.CanvasObject }); ok {
		c.foot.objects = []fyne.CanvasObject{w.reason(), c.actions}
	}
	c.rest = newColumn(2.5*theme.Step, append(c.body.rows(), c.complaint)...)
	c.sight = newSight(c.rest)
	c.ExtendBaseWidget(c)
	c.listen()
	c.paint()
	c.update()
	return c
}

// view is a text of the card that can be selected and copied.
func (c *Card) view() *text.View {
	v := text.NewView(words())
	v.OnKey = c.key
	v.OnShortcut = c.shortcut
	return v
}

func (c *Card) listen() {
	c.unlisten = c.d.App.Listen(func(e event.Event) {
		switch e.(type) {
		case event.WaitingGone, event.Decision, event.ConversationChanged:
			c.d.Do(func() { c.learn(e) })
		}
	})
	if _, waits := c.d.App.Waiting().Get(c.item.ID); !waits { // it left before anybody listened
		c.end.over = true
	}
}

func (c *Card) learn(e event.Event) {
	if c.closed || !c.end.learn(c.item, e) {
		return
	}
	c.changed()
}

// Item is what the card shows.
func (c *Card) Item() consent.Item { return c.item }

// Waits reports whether the item still waits for an answer, as far as the card knows.
func (c *Card) Waits() bool { return !c.end.over }

// Enter puts the keyboard into the card, on the answer that lets nothing happen. A card that was not drawn yet gets it as
// soon as it was, unless the person has gone elsewhere by then.
func (c *Card) Enter() { c.enter(c.d.focused(), enterTries) }

const (
	enterTries = 40
	enterPause = 50 * time.Millisecond
)

func (c *Card) enter(before fyne.Focusable, tries int) {
	b := c.body.first()
	switch {
	case b == nil || c.closed || !c.Waits() || tries == 0 || c.d.focused() != before:
	case fyne.CurrentApp().Driver().CanvasForObject(b) != nil: // the toolkit finds only what it has drawn
		c.d.focus(b)
	default:
		c.d.after(enterPause, func() { c.enter(before, tries-1) })
	}
}

// Close gives back what the card holds.
func (c *Card) Close() {
	if c.closed {
		return
	}
	c.closed = true
	c.unlisten()
	for _, stop := range []func(){c.stopTick, c.stopArm} {
		if stop != nil {
			stop()
		}
	}
}

// seen starts the clock that keeps answers from being given by accident.
func (c *Card) seen() {
	if !c.shown.IsZero() || c.closed {
		return
	}
	c.shown = c.d.now()
	c.update()
	c.tick()
}

func (c *Card) tick() {
	if c.closed || !c.Waits() {
		return
	}
	c.update()
	c.stopTick = c.d.after(time.Second, c.tick)
}

// ready reports whether an answer that lets something happen is taken now. Whatever gives such an answer asks it at
// that moment, since the window may have come to the front since the buttons were last drawn.
func (c *Card) ready() bool {
	return c.Waits() && !c.busy && settled(c.d.now(), c.shown, c.d.front()) <= 0
}

// update brings the buttons and the clock up to date.
func (c *Card) update() {
	if !c.Waits() {
		return
	}
	rest := settled(c.d.now(), c.shown, c.d.front())
	c.body.update(rest <= 0 && !c.busy)
	c.words()
	if at := c.d.now().Add(rest); rest > 0 && !c.shown.IsZero() && !at.Equal(c.armed) && !c.closed {
		if c.stopArm != nil {
			c.stopArm()
		}
		c.armed = at
		c.stopArm = c.d.after(rest, c.update)
	}
}

// words writes the head.
func (c *Card) words() {
	c.head.SetRuns(c.body.title()...)
	meta := lang.X("approval.waiting_for", "waiting {{.time}}", map[string]any{"time": elapsed(c.d.now().Sub(c.item.Since))})
	if p := position(c.item.Presentation.Position); p != "" {
		meta = p + " · " + meta
	}
	if e := c.item.Expires; !e.IsZero() {
		meta += " · " + lang.X("waiting.expires", "ends in {{.time}}", map[string]any{"time": elapsed(e.Sub(c.d.now()))})
	}
	was := c.meta.MinSize().Width
	c.meta.SetText(meta, text.Run{Color: theme.Dim})
	if c.meta.MinSize().Width != was {
		c.Refresh()
	}
}

// answer gives an answer, once; what is wrong with it stands in the card, which then waits on.
func (c *Card) answer(a consent.Answer) {
	if c.busy || !c.Waits() || lets(a) && !c.ready() {
		return
	}
	c.busy, c.end.given = true, &a
	c.update()
	c.d.answer(c.item, a, func(err error) {
		c.busy, c.end.given = false, nil
		if err == nil {
			c.end.over, c.end.own = true, &a
			c.changed()
			return
		}
		if _, waits := c.d.App.Waiting().Get(c.item.ID); !waits {
			c.end.over = true
			if c.end.why == "" {
				c.end.reason = clean.Line(sentence.Worded(err.Error()), 300)
			}
		}
		c.complain(err)
	})
}

// complain shows what was wrong; nil takes it away.
func (c *Card) complain(err error) {
	if err == nil {
		c.complaint.Hide()
	} else {
		c.complaintIs.SetText(said(err), text.Run{Color: theme.Refusal})
		c.complaint.Show()
	}
	c.changed()
}

// changed draws the card anew after its height may have changed.
func (c *Card) changed() {
	if !c.Waits() {
		c.release()
		c.finish()
	}
	c.update()
	c.Refresh()
	if c.d.Resized != nil && !c.closed {
		c.d.Resized(c)
	}
}

// release takes the keyboard out of a card that has ended: what is typed would go into what is no longer seen.
func (c *Card) release() {
	if c.d.Window == nil || c.finished {
		return
	}
	c.finished = true
	w := c.d.Window()
	if w == nil {
		return
	}
	o, ok := w.Canvas().Focused().(fyne.CanvasObject)
	if !ok {
		return
	}
	driver := fyne.CurrentApp().Driver()
	at := driver.AbsolutePositionForObject(o).Subtract(driver.AbsolutePositionForObject(c))
	if size := c.Size(); at.X >= 0 && at.Y >= 0 && at.X < size.Width && at.Y < size.Height {
		w.Canvas().Unfocus()
	}
}

// finish leaves one line.
func (c *Card) finish() {
	delete(c.d.Drafts, c.item.ID) // it may hold secrets
	for _, stop := range []func(){c.stopTick, c.stopArm} {
		if stop != nil {
			stop()
		}
	}
	_, colour := c.end.look()
	p := c.item.Presentation
	var runs []text.Run
	if p.Server != "" {
		runs = append(runs, text.Run{Text: p.Server, Bold: true})
	}
	if p.Tool != "" {
		runs = append(runs, text.Run{Text: " · ", Color: theme.Dim}, text.Run{Text: p.Tool})
	}
	if runs != nil {
		runs = append(runs, text.Run{Text: " — ", Color: theme.Dim})
	}
	runs = append(runs, text.Run{Text: c.end.words(c.item), Color: colour})
	c.line.SetRuns(runs...)
}

// key is a key that nothing in the card had a use for.
func (c *Card) key(ev *fyne.KeyEvent) {
	if ev.Name == fyne.KeyEscape && c.Waits() {
		c.body.escape()
		return
	}
	if ev.Name == fyne.KeyEscape && c.d.Shortcut != nil {
		c.d.Shortcut(&desktop.CustomShortcut{KeyName: fyne.KeyEscape})
	}
}

// shortcut is one typed anywhere in the card; what the card does not know goes to the window.
func (c *Card) shortcut(s fyne.Shortcut) { c.taken(s) }

// taken is shortcut, and reports whether anybody had a use for it.
func (c *Card) taken(s fyne.Shortcut) bool {
	return c.own(s) || c.d.Shortcut != nil && c.d.Shortcut(s)
}

// own takes Ctrl+Enter, which gives the answer that lets the thing happen.
func (c *Card) own(s fyne.Shortcut) bool {
	k, ok := s.(*desktop.CustomShortcut)
	if !ok || k.Modifier != fyne.KeyModifierShortcutDefault || k.KeyName != fyne.KeyReturn && k.KeyName != fyne.KeyEnter {
		return false
	}
	if c.Waits() {
		c.body.submit()
	}
	return true
}

// keyHint is Ctrl+Enter as it is shown.
func keyHint() string {
	if runtime.GOOS == "darwin" {
		return "⌘ ↵"
	}
	return "Ctrl ↵"
}

// Tapped puts the keyboard into the card.
func (c *Card) Tapped(*fyne.PointEvent) { c.Enter() }

func (c *Card) paint() {
	c.ground.FillColor, c.ground.StrokeColor, c.ground.StrokeWidth = theme.Color(theme.Card), theme.Color(theme.Line), 1
	c.ground.CornerRadius = theme.Radius
	c.edge.FillColor = theme.Color(theme.Waiting)
	c.edge.TopLeftCornerRadius, c.edge.BottomLeftCornerRadius = theme.Radius, theme.Radius
	c.icon.SetResource(theme.IconIn("clock", theme.Waiting))
	if !c.Waits() {
		icon, colour := c.end.look()
		c.edge.FillColor = theme.Color(theme.Line)
		c.icon.SetResource(theme.IconIn(icon, colour))
	}
}

// Again says that the card was out of sight and is seen now: answers that let something happen are not taken right
// after it.
func (c *Card) Again() {
	if !c.shown.IsZero() && !c.closed {
		c.shown = c.d.now()
		c.update()
	}
}
