package chat

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"steward/ui/place"
	"steward/ui/text"
	"steward/ui/theme"
)

// empty is what a conversation without messages shows: what to do next, and on the demo three things to try.
type empty struct {
	widget.BaseWidget
	p     *Place
	demo  bool
	known bool
	body  *column
}

func newEmpty(p *Place) *empty {
	e := &empty{p: p, body: newColumn(3*theme.Step, pad{})}
	e.ExtendBaseWidget(e)
	e.fill()
	return e
}

func (e *empty) show(demo bool) {
	if e.known && e.demo == demo {
		return
	}
	e.demo, e.known = demo, true
	e.fill()
	e.Refresh()
}

func (e *empty) fill() {
	title := text.NewLabel(lang.X("chat.empty_title", "What shall we do?"), text.Run{Bold: true}, text.Wrap)
	title.SetTextSize(20)
	if !e.demo {
		e.body.put(title, text.NewLabel(lang.X("chat.empty_plain", "Ask a question below. Before a tool runs, you see exactly what would be sent and say yes or no."), text.Run{Color: theme.Dim}, text.Wrap))
		return
	}
	mark := newPill("info", lang.X("shell.demo", "Demo"), false, nil)
	mark.colour = theme.Waiting
	about := text.NewLabel(lang.X("chat.demo_about", "A built-in offline model answers, with a built-in server of invented data. Nothing leaves this computer."), text.Run{Color: theme.Dim}, text.Wrap)
	try := func(icon, name, ask string) fyne.CanvasObject { return newSuggestion(e.p, icon, name, ask) }
	connect := newChip(outlined, "plus", lang.X("shell.connect_model", "Connect a model"), func() { e.p.d.Open(place.Settings, "models") })
	connect.onShort = e.p.d.Shortcut
	e.body.put(
		newLine(2.5*theme.Step, []fyne.CanvasObject{mark}, nil), title, about,
		try("check", lang.X("chat.try_approval", "An approval: you say yes before a tool runs"), lang.X("chat.try_approval_ask", "How many risks does the weekly report for 2025-03-17 mention?")),
		try("edit", lang.X("chat.try_form", "A form: a server asks you for what it needs"), lang.X("chat.try_form_ask", "Book a trip to Barcelona")),
		try("model", lang.X("chat.try_sampling", "A review: a server wants to ask the model"), lang.X("chat.try_sampling_ask", "Find the best flight from London to Paris on 2026-05-04")),
		newLine(0, []fyne.CanvasObject{connect}, nil))
}

// newSuggestion is a card that sends a question.
func newSuggestion(p *Place, icon, name, ask string) fyne.CanvasObject {
	said := text.NewLabel(ask, text.Run{Color: theme.Dim}, text.Wrap)
	inner := newColumn(theme.Step/2, pad{2.5 * theme.Step, 3 * theme.Step, 2.5 * theme.Step, 3 * theme.Step},
		newBeside(widget.NewIcon(theme.IconIn(icon, theme.Accent)), newColumn(theme.Step/2, pad{}, text.NewLabel(name, text.Run{Bold: true}, text.Wrap), said)))
	inner.ground, inner.stroke = theme.Card, theme.Line
	t := newTappable(inner, func() { p.composer.say(ask) })
	t.onShort = p.d.Shortcut
	return &suggestion{tappable: t, inner: inner}
}

// suggestion knows its height for a width.
type suggestion struct {
	*tappable
	inner *column
}

// HeightFor is the column's.
func (s *suggestion) HeightFor(width float32) float32 { return s.inner.HeightFor(width) }

// CreateRenderer is Fyne's.
func (e *empty) CreateRenderer() fyne.WidgetRenderer { return &emptyRenderer{e} }

type emptyRenderer struct{ e *empty }

func (r *emptyRenderer) Destroy()                     {}
func (r *emptyRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.e.body} }
func (r *emptyRenderer) MinSize() fyne.Size           { return fyne.NewSize(1, 1) }
func (r *emptyRenderer) Refresh() {
	r.Layout(r.e.Size())
	canvas.Refresh(r.e)
}

func (r *emptyRenderer) Layout(s fyne.Size) {
	w := min(float32(560), s.Width-8*theme.Step)
	if w < 100 {
		return
	}
	h := r.e.body.HeightFor(w)
	r.e.body.Move(fyne.NewPos((s.Width-w)/2, max((s.Height-h)/2, 2*theme.Step)))
	r.e.body.Resize(fyne.NewSize(w, h))
}
