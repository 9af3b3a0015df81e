package chat

import (
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"steward/app"
	"steward/app/clean"
	"steward/ui/text"
	"steward/ui/theme"
)

// toolCard is one call: a line, and what was sent and came back once it is opened.
type toolCard struct {
	*column
	p    *Place
	key  string
	call app.CallState

	card   *column
	head   *tappable
	mark   *widget.Icon
	tool   *fitted
	server *fitted
	what   *text.Label
	facts  *fitted
	arrow  *widget.Icon
	bar    *progress
	said   *text.Label
	stop   *chip
	run    *fyne.Container
	why    *text.View
	body   *toolBody
}

func newToolCard(p *Place, r row) *toolCard {
	t := &toolCard{p: p, key: r.key}
	t.mark, t.arrow = widget.NewIcon(nil), widget.NewIcon(nil)
	t.tool, t.server, t.facts = newFitted(theme.MonoSize), newFitted(theme.MonoSize), newFitted(theme.MonoSize)
	t.what = text.NewLabel("", text.Run{}, text.Cut)
	t.what.SetTextSize(theme.MonoSize)
	t.head = newTappable(newLine(2.5*theme.Step, []fyne.CanvasObject{sized(t.mark, 14), t.tool.box, t.server.box}, t.what, t.facts.box, sized(t.arrow, 12)), t.toggle)
	t.head.onShort = p.d.Shortcut
	t.said = caption("", theme.Dim, text.Cut)
	t.bar = newProgress()
	t.stop = newChip(outlined, "stop", lang.X("common.stop", "Stop"), func() { p.stopCall(t.call.ID) })
	t.stop.small = true
	t.run = newLine(2*theme.Step, nil, t.said, t.stop)
	t.why = text.NewView(words())
	p.textView(t.why)
	t.card = newColumn(2*theme.Step, pad{2 * theme.Step, 3 * theme.Step, 2 * theme.Step, 3 * theme.Step}, t.head, t.bar, t.run, t.why)
	t.card.ground, t.card.stroke = theme.Card, theme.Line
	t.column = newColumn(0, pad{bottom: rowGap}, t.card)
	t.show(r)
	if p.opened[t.key] {
		t.unfold()
	}
	return t
}

func (t *toolCard) show(r row) bool {
	before := t.call
	t.call = *r.call
	c := &t.call
	t.paintMark()
	t.tool.set(clean.Reveal(c.Tool), text.Run{Bold: true})
	t.server.set(clean.Reveal(c.Server), text.Run{Color: theme.Dim})
	name, value := mainArgument(c.Arguments)
	if name == "" {
		t.what.SetText("", text.Run{})
	} else {
		t.what.SetText(name+": "+value, text.Run{Mono: true})
	}
	t.facts.set(t.factsLine(), text.Run{Color: theme.Dim})
	t.running()
	reason := ""
	if c.State == callDone && !succeeded(c) {
		reason = outcomeWords(c)
	}
	t.why.Hidden = reason == ""
	t.why.SetText(clean.Clean(reason), text.Run{Color: theme.Dim})
	if t.body != nil && (before.State != c.State || before.Record != c.Record) {
		t.body.load(*c)
	}
	t.head.Refresh()
	t.card.Refresh()
	t.column.Refresh()
	return true
}

func (t *toolCard) paintMark() {
	icon, colour := "clock", theme.Accent
	switch c := &t.call; {
	case c.State == callWaiting:
		colour = theme.Waiting
	case c.State == callRunning:
		icon = "play"
	case succeeded(c):
		icon, colour = "check", theme.Good
	case c.Effect == "unknown":
		icon, colour = "question", theme.Waiting
	default:
		icon, colour = "cross", theme.Refusal
	}
	t.mark.SetResource(theme.IconIn(icon, colour))
	arrow := "chevron-right"
	if t.p.opened[t.key] {
		arrow = "chevron-down"
	}
	t.arrow.SetResource(theme.IconIn(arrow, theme.Dim))
}

// factsLine says how the call was allowed, how long it took, and its record.
func (t *toolCard) factsLine() string {
	var out []string
	if w := how(&t.call); w != "" {
		out = append(out, w)
	}
	switch t.call.State {
	case callRunning:
		out = append(out, elapsed(t.p.now().Sub(t.p.since(&t.call))))
	case callDone:
		if t.call.Decision == "allowed" && t.call.Seconds > 0 {
			out = append(out, seconds(t.call.Seconds))
		}
	}
	if t.call.Record != 0 {
		out = append(out, "#"+strconv.FormatInt(t.call.Record, 10))
	}
	return strings.Join(out, " · ")
}

// tick counts the time of a call that runs.
func (t *toolCard) tick() {
	t.facts.set(t.factsLine(), text.Run{Color: theme.Dim})
	t.bar.step()
	t.head.Refresh()
}

func (t *toolCard) running() {
	on := t.call.State == callRunning
	t.bar.Hidden, t.run.Hidden = !on, !on
	if !on {
		return
	}
	t.bar.share = -1
	if r := t.call.Progress; r != nil && r.Total > 0 {
		t.bar.share = float32(min(max(r.Progress/r.Total, 0), 1))
	}
	t.said.SetText(runningWords(&t.call), text.Run{Color: theme.Dim})
	t.bar.Refresh()
}

// runningWords are what the server says of a call that runs, and that it goes on by itself where it is a task.
func runningWords(c *app.CallState) string {
	said := ""
	// One that is left over from an earlier run, and not followed yet, has no progress.
	task := c.Progress == nil && c.Outcome == "running"
	if r := c.Progress; r != nil {
		said, task = clean.Line(r.Message, 300), r.Task
	}
	if task {
		goesOn := lang.X("chat.call_task", "A task at its server; it goes on by itself")
		said = strings.TrimPrefix(said+" · "+goesOn, " · ")
	}
	if said == "" {
		said = lang.X("chat.call_runs", "Running…")
	}
	return said
}

func (t *toolCard) toggle() {
	open := !t.p.opened[t.key]
	t.p.opened[t.key] = open
	if open {
		t.unfold()
	} else {
		t.body = nil
		t.card.put(t.head, t.bar, t.run, t.why)
	}
	t.paintMark()
	t.column.Refresh()
	t.p.changedRow(t.key)
}

func (t *toolCard) unfold() {
	t.body = newToolBody(t.p, func() { t.card.Refresh(); t.p.changedRow(t.key) })
	t.body.load(t.call)
	t.card.put(t.head, t.bar, t.run, t.why, t.body.column)
	t.paintMark()
}

// fitted is a label that wants to be as wide as its words, and cuts them where there is less room.
type fitted struct {
	label   *text.Label
	box     *fyne.Container
	size    float32
	natural float32
}

func newFitted(size float32) *fitted {
	f := &fitted{label: text.NewLabel("", text.Run{}, text.Cut), size: size}
	f.label.SetTextSize(size)
	f.box = &fyne.Container{Layout: f, Objects: []fyne.CanvasObject{f.label}}
	return f
}

func (f *fitted) set(words string, look text.Run) {
	f.label.SetText(words, look)
	f.natural = textWidth(cut(words, 200), f.size, look.Bold) + 1
}

// MinSize is Fyne's.
func (f *fitted) MinSize([]fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(f.natural, f.label.MinSize().Height)
}

// Layout is Fyne's.
func (f *fitted) Layout(_ []fyne.CanvasObject, s fyne.Size) { f.label.Resize(s) }

// tappable is an area that a tap, or Enter with the focus, uses.
type tappable struct {
	widget.BaseWidget
	content fyne.CanvasObject
	tapped  func()
	onShort func(fyne.Shortcut) bool
	ring    *canvas.Rectangle
}

func newTappable(content fyne.CanvasObject, tapped func()) *tappable {
	t := &tappable{content: content, tapped: tapped, ring: canvas.NewRectangle(theme.Color(theme.Clear))}
	t.ring.CornerRadius = theme.Step
	t.ExtendBaseWidget(t)
	return t
}

// Tapped is Fyne's.
func (t *tappable) Tapped(*fyne.PointEvent) { t.tapped() }

// FocusGained is Fyne's.
func (t *tappable) FocusGained() {
	t.ring.StrokeWidth, t.ring.StrokeColor = 1.5, theme.Color(theme.Accent)
	t.ring.Refresh()
}

// FocusLost is Fyne's.
func (t *tappable) FocusLost() { t.ring.StrokeWidth = 0; t.ring.Refresh() }

// TypedRune is Fyne's.
func (t *tappable) TypedRune(rune) {}

// TypedKey is Fyne's.
func (t *tappable) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace:
		t.tapped()
	case fyne.KeyEscape:
		t.TypedShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyEscape})
	}
}

// TypedShortcut hands on what is not known here.
func (t *tappable) TypedShortcut(s fyne.Shortcut) {
	if t.onShort != nil {
		t.onShort(s)
	}
}

// CreateRenderer is Fyne's.
func (t *tappable) CreateRenderer() fyne.WidgetRenderer {
	return &tappableRenderer{t}
}

type tappableRenderer struct{ t *tappable }

func (r *tappableRenderer) Destroy() {}
func (r *tappableRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.t.ring, r.t.content}
}
func (r *tappableRenderer) MinSize() fyne.Size { return r.t.content.MinSize() }
func (r *tappableRenderer) Refresh() {
	r.Layout(r.t.Size())
	canvas.Refresh(r.t)
}
func (r *tappableRenderer) Layout(s fyne.Size) {
	r.t.ring.Move(fyne.NewPos(-4, -4))
	r.t.ring.Resize(s.AddWidthHeight(8, 8))
	r.t.content.Resize(s)
	if c, ok := r.t.content.(*fyne.Container); ok {
		c.Layout.Layout(c.Objects, s)
	}
}

// progress is a thin bar. Without a known end a piece of it moves.
type progress struct {
	widget.BaseWidget
	share float32 // -1: unknown
	phase float32
	track *canvas.Rectangle
	done  *canvas.Rectangle
}

func newProgress() *progress {
	b := &progress{share: -1, track: canvas.NewRectangle(theme.Color(theme.Clear)), done: canvas.NewRectangle(theme.Color(theme.Clear))}
	b.track.CornerRadius, b.done.CornerRadius = 1.5, 1.5
	b.ExtendBaseWidget(b)
	return b
}

func (b *progress) step() {
	b.phase += 0.12
	if b.phase > 1 {
		b.phase = 0
	}
	b.Refresh()
}

// HeightFor is the column's.
func (b *progress) HeightFor(float32) float32 { return 3 }

// CreateRenderer is Fyne's.
func (b *progress) CreateRenderer() fyne.WidgetRenderer { return &progressRenderer{b} }

type progressRenderer struct{ b *progress }

func (r *progressRenderer) Destroy() {}
func (r *progressRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.b.track, r.b.done}
}
func (r *progressRenderer) MinSize() fyne.Size { return fyne.NewSize(1, 3) }
func (r *progressRenderer) Refresh() {
	r.Layout(r.b.Size())
	canvas.Refresh(r.b)
}
func (r *progressRenderer) Layout(s fyne.Size) {
	b := r.b
	b.track.FillColor, b.done.FillColor = theme.Color(theme.CodeGround), theme.Color(theme.Accent)
	b.track.Resize(s)
	x, w := float32(0), s.Width*b.share
	if b.share < 0 {
		w = s.Width / 4
		x = (s.Width - w) * b.phase
	}
	b.done.Move(fyne.NewPos(x, 0))
	b.done.Resize(fyne.NewSize(w, s.Height))
}

// since is when a call began to run: as it was read, or when it was first seen to.
func (p *Place) since(c *app.CallState) time.Time {
	if t, ok := p.runs[c.ID]; ok {
		return t
	}
	t := p.now().Add(-time.Duration(c.Seconds * float64(time.Second)))
	p.runs[c.ID] = t
	return t
}
