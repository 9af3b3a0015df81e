package chat

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"steward/app"
	"steward/app/clean"
	"steward/ui/list"
	"steward/ui/text"
	"steward/ui/theme"
)

const (
	panelWidth float32 = 460
	panelRow   float32 = 34
	panelRows          = 7 // of parts seen at once
)

// contextPanel shows how the next request fills what the model can read, and what it consists of. It outlives what it
// was built from: it is told of what changes.
type contextPanel struct {
	p       *Place
	use     app.ContextUse
	parts   []app.ContextPart
	reading int

	bar     *meter
	legend  *flowBox
	sum     *text.Label
	about   *text.Label
	cost    *text.Label
	compact *chip
	figures *chip
	auto    *widget.Check
	list    *list.List
	body    *fyne.Container
}

// showContext opens the panel below the head's mark.
func (p *Place) showContext() {
	w := &contextPanel{p: p, bar: newMeter(), legend: newFlow(3 * theme.Step)}
	wrap := func() *text.Label {
		l := text.NewLabel("", text.Run{Color: theme.Dim}, text.Wrap)
		l.SetTextSize(theme.CaptionSize)
		return l
	}
	w.sum, w.about, w.cost = text.NewLabel("", text.Run{}, text.Wrap), wrap(), wrap()
	w.compact = newChip(outlined, "archive", lang.X("chat.compact", "Sum up the older part"), p.compact)
	w.figures = newChip(outlined, "edit", lang.X("chat.figures", "Window and price…"), p.editFigures)
	for _, c := range []*chip{w.compact, w.figures} {
		c.small, c.onShort = true, p.d.Shortcut
	}
	w.auto = widget.NewCheck(lang.X("chat.compact_auto", "Sum up by itself near the limit, in every chat"), nil)
	w.list = list.NewEqual(list.Source{Len: func() int { return len(w.parts) }, Build: func(i int) fyne.CanvasObject { return w.row(w.parts[i]) }}, panelRow)
	title := text.NewLabel(lang.X("chat.context_title", "What goes to the model next"), text.Run{Bold: true}, text.Cut)
	room := canvas.NewRectangle(theme.Color(theme.Clear))
	room.SetMinSize(fyne.NewSize(panelWidth, panelRow*panelRows))
	inner := panelWidth - 6*theme.Step
	w.body = container.New(layout.NewCustomPaddedVBoxLayout(2*theme.Step), title, w.bar, wide(w.legend, inner), wide(w.sum, inner), wide(w.about, inner), wide(w.cost, inner),
		newLine(2*theme.Step, []fyne.CanvasObject{w.compact, w.figures}, nil), wide(w.auto, inner))
	top := container.New(layout.NewCustomPaddedLayout(2*theme.Step, theme.Step, 3*theme.Step, 3*theme.Step), w.body)
	w.show(p.head.facts.use)
	w.read()
	p.panel = w
	at := below(p.head.context).AddXY(p.head.context.Size().Width-panelWidth, 0)
	p.d.Layer.Popup(container.NewBorder(top, nil, nil, nil, container.NewStack(room, w.list)), at, func() {
		if p.panel == w {
			p.panel = nil
		}
	})
	p.learnWindow()
}

// show brings the sums up to date.
func (w *contextPanel) show(u app.ContextUse) {
	w.use = u
	w.bar.set(u)
	w.legend.objects = nil
	for _, s := range shares(u) {
		mark := canvas.NewRectangle(theme.Color(s.colour))
		mark.CornerRadius = 2
		if s.colour == theme.Clear {
			mark.StrokeColor, mark.StrokeWidth = theme.Color(theme.Edge), 1
		}
		w.legend.objects = append(w.legend.objects, container.New(layout.NewCustomPaddedHBoxLayout(theme.Step), container.NewCenter(sized(mark, 10)), caption(s.words+" "+count(s.tokens), theme.Text, text.Whole)))
	}
	w.sum.SetText(useWords(u), text.Run{})
	w.about.SetText(aboutWords(u), text.Run{Color: theme.Dim})
	w.cost.SetText(costWords(u), text.Run{Color: theme.Dim})
	w.cost.Hidden = len(u.Costs) == 0
	w.compact.Hidden = !u.Compactable || w.p.state.working
	w.figures.Hidden = u.Model == ""
	w.auto.OnChanged = nil
	w.auto.SetChecked(w.p.d.App.AutoCompact())
	w.auto.OnChanged = func(on bool) {
		w.p.background(func(ctx context.Context) error { return w.p.d.App.SetAutoCompact(ctx, on) }, nil)
	}
	w.legend.Refresh()
	w.body.Refresh()
}

// read reads the parts.
func (w *contextPanel) read() {
	id := w.p.state.conversation
	w.reading++
	reading := w.reading
	fetch(w.p, func(ctx context.Context) ([]app.ContextPart, error) { return w.p.d.App.ContextParts(ctx, id) }, func(parts []app.ContextPart) {
		if w.p.panel != w || reading != w.reading {
			return
		}
		w.parts = parts
		w.list.Reset()
	})
}

// refresh is told of new facts.
func (w *contextPanel) refresh(u app.ContextUse) {
	w.show(u)
	w.read()
}

func (w *contextPanel) row(part app.ContextPart) fyne.CanvasObject {
	icon, colour := "chat", theme.Dim
	name := newFitted(theme.CaptionSize)
	look := text.Run{}
	words := clean.Reveal(part.Text)
	var act *chip
	switch part.Kind {
	case app.PartSystem:
		icon, words = "settings", lang.X("chat.part_system", "Instructions of the program, yours and the servers'")
	case app.PartTool:
		icon, words, look = "tool", clean.Reveal(part.Tool)+" · "+clean.Reveal(part.Server), text.Run{}
		act = newChip(quiet, "cross", lang.X("chat.turn_off", "Turn off"), func() { w.p.switchTool(part.Server, part.Tool, false) })
	case app.PartUser:
		icon = "user"
	case app.PartAnswer:
		icon = "model"
	case app.PartNote:
		icon = "archive"
	case app.PartResult:
		icon, words = "wire", lang.X("chat.part_result", "Result of {{.tool}} · {{.server}}", map[string]any{"tool": clean.Reveal(part.Tool), "server": clean.Reveal(part.Server)})
		act = newChip(quiet, "minus", lang.X("chat.leave_out", "Leave out"), func() { w.p.leaveOut(part.Call, true, false) })
		if part.Out {
			act.icon, act.words = "plus", lang.X("chat.take_in", "Take in again")
			act.tapped = func() { w.p.leaveOut(part.Call, false, false) }
		}
	}
	name.set(words, look)
	tokens := caption(count(part.Tokens), theme.Dim, text.Whole)
	right := []fyne.CanvasObject{tokens}
	if act != nil {
		act.onShort = w.p.d.Shortcut
		right = []fyne.CanvasObject{tokens, act}
	}
	mark := sized(widget.NewIcon(theme.IconIn(icon, colour)), 14)
	return container.New(layout.NewCustomPaddedLayout(0, 0, 3*theme.Step, 2*theme.Step), newLine(2*theme.Step, []fyne.CanvasObject{mark}, name.box, right...))
}

// wide gives an object that wraps its width.
func wide(o fyne.CanvasObject, width float32) fyne.CanvasObject {
	return container.New(&wideLayout{width}, o)
}

type wideLayout struct{ width float32 }

// MinSize is Fyne's.
func (l *wideLayout) MinSize(objects []fyne.CanvasObject) fyne.Size {
	if !objects[0].Visible() {
		return fyne.NewSize(l.width, 0)
	}
	return fyne.NewSize(l.width, heightOf(objects[0], l.width))
}

// Layout is Fyne's.
func (l *wideLayout) Layout(objects []fyne.CanvasObject, s fyne.Size) { objects[0].Resize(s) }
