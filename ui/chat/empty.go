package chat

import (
	"context"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"steward/app"
	"steward/app/clean"
	"steward/ui/place"
	"steward/ui/text"
	"steward/ui/theme"
)

// empty is what a conversation without messages shows: what to do next, and on the demo model things to try, as far as
// the tools for them are offered.
type empty struct {
	widget.BaseWidget
	p     *Place
	state emptyState
	body  *column
}

// emptyState is what it depends on.
type emptyState struct {
	demo    bool   // the built-in model answers
	builtIn bool   // the built-in server is there
	tools   string // for which there is a suggestion, as offered: names between blanks
	waits   int    // servers that nobody has reviewed
	server  string // one of those
}

// suggested are the questions that the demo model knows an answer to with a tool, in the order they are shown.
var suggested = []string{"get_weekly_report", "book_trip", "find_best_flight"}

// emptiness reads it of what the head knows.
func (p *Place) emptiness(ctx context.Context, h headFacts) emptyState {
	e := emptyState{demo: h.demo}
	servers, err := p.d.App.Servers(ctx)
	if err != nil {
		return e // the place of the servers says why
	}
	for _, s := range servers {
		e.builtIn = e.builtIn || s.BuiltIn && s.Enabled
		if s.State == app.ServerUnreviewed {
			e.waits++
			e.server = s.Name
		}
	}
	for _, name := range suggested {
		known := false // false while the built-in server starts
		for _, t := range h.tools {
			if t.Tool.Tool == name {
				known = true
				if t.Offered {
					e.tools += " " + name + " "
					break
				}
			}
		}
		if !known && e.builtIn && len(h.tools) == 0 {
			e.tools += " " + name + " "
		}
	}
	return e
}

func newEmpty(p *Place) *empty {
	e := &empty{p: p, body: newColumn(3*theme.Step, pad{})}
	e.ExtendBaseWidget(e)
	e.fill()
	return e
}

func (e *empty) show(state emptyState) {
	if e.state == state {
		return
	}
	e.state = state
	e.fill()
	e.Refresh()
}

func (e *empty) fill() {
	title := text.NewLabel(lang.X("chat.empty_title", "What shall we do?"), text.Run{Bold: true}, text.Wrap)
	title.SetTextSize(20)
	plain := text.NewLabel(lang.X("chat.empty_plain", "Ask a question below. Before a tool runs, you see exactly what would be sent and say yes or no."), text.Run{Color: theme.Dim}, text.Wrap)
	if !e.state.demo {
		e.body.put(append([]fyne.CanvasObject{title, plain}, e.reviews()...)...)
		return
	}
	mark := newPill("info", lang.X("shell.demo", "Demo"), false, nil)
	mark.colour = theme.Waiting
	about := lang.X("chat.demo_about", "A built-in offline model answers, with a built-in server of invented data. Nothing leaves this computer.")
	if !e.state.builtIn {
		about = lang.X("chat.demo_about_own", "A built-in offline model answers until you connect one; it knows only a few questions. A tool of your servers gets what you let it have.")
	}
	objects := []fyne.CanvasObject{newLine(2.5*theme.Step, []fyne.CanvasObject{mark}, nil), title, text.NewLabel(about, text.Run{Color: theme.Dim}, text.Wrap)}
	try := func(tool, icon, name, ask string) {
		if strings.Contains(e.state.tools, " "+tool+" ") {
			objects = append(objects, newSuggestion(e.p, icon, name, ask))
		}
	}
	try(suggested[0], "check", lang.X("chat.try_approval", "An approval: you say yes before a tool runs"), lang.X("chat.try_approval_ask", "How many risks does the weekly report for 2025-03-17 mention?"))
	try(suggested[1], "edit", lang.X("chat.try_form", "A form: a server asks you for what it needs"), lang.X("chat.try_form_ask", "Book a trip to Barcelona"))
	try(suggested[2], "model", lang.X("chat.try_sampling", "A review: a server wants to ask the model"), lang.X("chat.try_sampling_ask", "Find the best flight from London to Paris on 2026-05-04"))
	connect := newChip(outlined, "plus", lang.X("shell.connect_model", "Connect a model"), func() { e.p.d.Open(place.Settings, "models") })
	connect.onShort = e.p.d.Shortcut
	objects = append(objects, e.reviews()...)
	e.body.put(append(objects, newLine(0, []fyne.CanvasObject{connect}, nil))...)
}

// reviews says that servers wait to be reviewed, with the way there.
func (e *empty) reviews() []fyne.CanvasObject {
	if e.state.waits == 0 {
		return nil
	}
	said := lang.X("chat.review_one", "The server {{.server}} waits for your review. Until then the model is not offered its tools.", map[string]any{"server": clean.Reveal(e.state.server)})
	if e.state.waits > 1 {
		said = lang.X("chat.review_many", "{{.count}} servers wait for your review. Until then the model is not offered their tools.", map[string]any{"count": e.state.waits})
	}
	server := ""
	if e.state.waits == 1 {
		server = e.state.server
	}
	open := newChip(outlined, "servers", lang.X("chat.manage_servers", "Servers"), func() { e.p.d.Open(place.Servers, server) })
	open.onShort = e.p.d.Shortcut
	card := newColumn(2*theme.Step, pad{2.5 * theme.Step, 3 * theme.Step, 2.5 * theme.Step, 3 * theme.Step},
		text.NewLabel(said, text.Run{Color: theme.Waiting}, text.Wrap), newLine(0, []fyne.CanvasObject{open}, nil))
	card.ground = theme.WaitingTint
	return []fyne.CanvasObject{card}
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
