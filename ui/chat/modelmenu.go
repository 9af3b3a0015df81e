package chat

import (
	"context"
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"steward/app"
	"steward/app/clean"
	"steward/ui/form"
	"steward/ui/language"
	"steward/ui/list"
	"steward/ui/place"
	"steward/ui/text"
	"steward/ui/theme"
)

const (
	modelMenuWidth float32 = 480
	modelMenuRow   float32 = 30
	modelMenuRows          = 12 // visible at once
)

// modelMenu is the open menu of models. It belongs to Fyne's goroutine.
type modelMenu struct {
	p      *Place
	of     menuOf
	lines  []modelLine
	search *form.Entry
	list   *list.List
	close  func()
	turn   int // of reading
}

// modelMenu opens the menu of models: favourites, then the endpoints with their models, as they were listed last.
func (p *Place) modelMenu() {
	if p.models != nil {
		p.models.close()
	}
	m := &modelMenu{p: p, search: form.NewEntry()}
	m.search.SetPlaceHolder(lang.X("chat.search_models", "Search models"))
	m.search.OnChanged = func(string) { m.match() }
	m.search.OnKey = m.key
	m.search.OnShortcut = p.d.Shortcut
	m.list = list.NewEqual(list.Source{Len: func() int { return len(m.lines) }, Build: m.row, Key: m.rowKey}, modelMenuRow)
	m.list.Selectable, m.list.OpenOnTap = true, true
	m.list.Inset, m.list.Radius = theme.Step, theme.Radius
	m.list.OnOpened = m.take
	room := canvas.NewRectangle(theme.Color(theme.Clear))
	room.SetMinSize(fyne.NewSize(modelMenuWidth, modelMenuRow*modelMenuRows))
	act := func(icon, words string, do func()) *chip {
		c := newChip(quiet, icon, words, do)
		c.onShort = p.d.Shortcut
		return c
	}
	leave := func(do func()) func() { return func() { m.close(); do() } }
	refresh := act("refresh", lang.X("common.refresh", "Refresh"), func() { m.ask(true) })
	own := act("settings", lang.X("chat.parameters", "Settings of the model"), leave(func() { p.modelSettings() }))
	connect := act("plus", lang.X("shell.connect_model", "Connect a model"), leave(func() { p.d.Open(place.Settings, "models") }))
	pad := func(o fyne.CanvasObject) fyne.CanvasObject {
		return container.New(layout.NewCustomPaddedLayout(theme.Step, theme.Step, 2*theme.Step, 2*theme.Step), o)
	}
	body := container.NewBorder(pad(m.search), pad(newLine(theme.Step, []fyne.CanvasObject{own, connect}, nil, refresh)), nil, nil, container.NewStack(room, m.list))
	p.models = m
	m.read()
	at := below(p.head.model).AddXY(p.head.model.Size().Width-modelMenuWidth, 0)
	m.close = p.d.Layer.Popup(body, at, func() {
		if p.models == m {
			p.models = nil
		}
		m.turn++
		if w := p.d.Window(); w != nil && w.Canvas().Focused() == fyne.Focusable(m.search) {
			p.focusComposer()
		}
	})
	p.focus(m.search)
}

// read shows what is kept, and asks the endpoints that have never been asked.
func (m *modelMenu) read() {
	m.facts()
	m.turn++
	turn := m.turn
	points := m.of.points
	m.p.d.Go(func(ctx context.Context) {
		lists := make([]app.ModelList, len(points))
		for i, p := range points {
			lists[i] = m.p.d.App.KeptModels(ctx, p.ID)
		}
		favourites, err := m.p.d.App.Favourites(ctx)
		m.p.d.Do(func() {
			if turn != m.turn {
				return
			}
			m.p.fail(err)
			for i := range m.of.points {
				m.of.points[i].list = lists[i]
			}
			m.of.favourites = favourites
			m.match()
			m.ask(false)
		})
	})
}

// facts takes over what the head knows.
func (m *modelMenu) facts() {
	f := m.p.head.facts
	now, model := f.model()
	before := m.of
	m.of = menuOf{typed: m.search.Text, now: app.ModelChoice{Endpoint: now.ID, Model: model}, own: f.settings.Endpoint != "" || f.settings.Model != "",
		favourite: lang.X("chat.favourites", "Favourites"), favourites: before.favourites, words: map[string]string{}}
	for _, e := range f.points {
		p := point{ModelEndpoint: e}
		for _, old := range before.points {
			if old.ID == e.ID {
				p.list, p.asking, p.problem = old.list, old.asking, old.problem
			}
		}
		if e.Demo {
			m.of.words[e.ID] = lang.X("settings.demo_name", "Demo model")
		}
		m.of.points = append(m.of.points, p)
	}
	m.match()
}

// ask asks the endpoints for their models, each by itself: all, or those of which nothing is kept.
func (m *modelMenu) ask(all bool) {
	for i := range m.of.points {
		p := &m.of.points[i]
		if p.asking || !all && (!p.list.Read.IsZero() || p.problem != "") {
			continue
		}
		p.asking, p.problem = true, ""
		id := p.ID
		m.p.d.Go(func(ctx context.Context) {
			got, err := m.p.d.App.ModelList(ctx, id, true)
			if gone(ctx, err) {
				return
			}
			m.p.d.Do(func() { m.answered(id, got, err) })
		})
	}
	m.match()
}

func (m *modelMenu) answered(id string, got app.ModelList, err error) {
	for i := range m.of.points {
		p := &m.of.points[i]
		if p.ID != id {
			continue
		}
		p.list, p.asking = got, false
		if err != nil {
			p.problem = language.Message(err)
		}
	}
	m.match()
}

// match shows what fits what was typed.
func (m *modelMenu) match() {
	searched := m.of.typed != m.search.Text
	m.of.typed = m.search.Text
	m.lines = m.of.lines()
	m.list.Reset()
	if at := m.list.Selected(); searched || at < 0 || at >= len(m.lines) {
		m.first()
	}
}

// first marks what Enter takes: the model in use, or the first that was found.
func (m *modelMenu) first() {
	at := -1
	for i, l := range m.lines {
		if l.kind == rowModel && (at < 0 || l.used && m.of.typed == "") || at < 0 && l.kind == rowTypedModel {
			if at = i; l.used {
				break
			}
		}
	}
	m.list.Select(at)
	if at >= 0 {
		m.list.Reveal(at)
	}
}

// key has the first look at keys of the search.
func (m *modelMenu) key(e *fyne.KeyEvent) bool {
	step := 0
	switch e.Name {
	case fyne.KeyEscape:
		m.close()
		m.p.focusComposer()
		return true
	case fyne.KeyReturn, fyne.KeyEnter:
		m.take(m.list.Selected())
		return true
	case fyne.KeyDown:
		step = 1
	case fyne.KeyUp:
		step = -1
	default:
		return false
	}
	n := len(m.lines)
	at := m.list.Selected()
	for range n {
		if at = (at + step + n) % n; m.lines[at].may() {
			m.list.Select(at)
			m.list.Reveal(at)
			break
		}
	}
	return true
}

// take uses a line.
func (m *modelMenu) take(i int) {
	if i < 0 || i >= len(m.lines) || !m.lines[i].may() {
		return
	}
	l := m.lines[i]
	if l.kind == rowTrouble {
		m.p.d.Layer.Toast(l.title)
		return
	}
	m.close()
	m.p.focusComposer()
	m.p.change(func(s *app.ConversationSettings) { s.Endpoint, s.Model = l.choice.Endpoint, l.choice.Model })
}

func (m *modelMenu) rowKey(i int) string {
	l := m.lines[i]
	return strconv.Itoa(int(l.kind)) + "\x00" + l.choice.Endpoint + "\x00" + l.choice.Model + "\x00" + l.endpoint
}

// row draws a line.
func (m *modelMenu) row(i int) fyne.CanvasObject {
	l := m.lines[i]
	name, note := newFitted(theme.TextSize), newFitted(theme.CaptionSize)
	left, right := []fyne.CanvasObject{}, []fyne.CanvasObject{}
	indent := 3 * theme.Step
	switch l.kind {
	case rowGroup:
		name.set(clean.Line(l.title, 80), text.Run{Bold: true, Color: theme.Dim})
		words := strconv.Itoa(l.count)
		if l.asking {
			words = lang.X("common.loading", "Loading…")
		}
		note.set(words, text.Run{Color: theme.Dim})
	case rowTrouble:
		name.set("✗ "+clean.Line(l.title, 300), text.Run{Color: theme.Refusal})
	case rowUsualModel:
		name.set(lang.X("chat.usual_model", "As in Settings"), text.Run{})
		left = append(left, sized(widget.NewIcon(theme.IconIn("undo", theme.Dim)), 14))
	case rowTypedModel:
		name.set(lang.X("chat.typed_model", "Ask {{.endpoint}} for “{{.model}}”", map[string]any{"endpoint": clean.Line(l.title, 60), "model": clean.Line(l.choice.Model, 100)}), text.Run{})
		left = append(left, sized(widget.NewIcon(theme.IconIn("model", theme.Dim)), 14))
	default:
		mark := theme.IconIn("check", theme.Clear)
		if l.used {
			mark = theme.IconIn("check", theme.Accent)
		}
		left = append(left, sized(widget.NewIcon(mark), 14))
		name.set(clean.Line(l.info.ID, 200), text.Run{Bold: l.used})
		words := language.CanDo(l.info)
		if l.endpoint != "" {
			words = clean.Line(l.endpoint, 40)
		}
		note.set(words, text.Run{Color: theme.Dim})
		if name.natural+note.natural > modelMenuWidth-26*theme.Step { // the name is what it is chosen by
			note.set("", text.Run{})
		}
		right = append(right, note.box, m.star(l))
		return container.New(layout.NewCustomPaddedLayout(0, 0, indent, 2*theme.Step), newLine(2*theme.Step, left, name.box, right...))
	}
	return container.New(layout.NewCustomPaddedLayout(0, 0, indent, 3*theme.Step), newLine(2*theme.Step, left, name.box, note.box))
}

// star keeps a model at hand, or no longer.
func (m *modelMenu) star(l modelLine) *chip {
	s := newChip(quiet, "star", "", func() {
		m.p.background(func(ctx context.Context) error { return m.p.d.App.SetFavourite(ctx, l.choice, !l.favourite) }, func() {
			if m.p.models == m {
				m.read()
			}
		})
	})
	if l.favourite {
		s.icon, s.colour = "star-filled", theme.Accent
	}
	s.onShort = m.p.d.Shortcut
	return s
}
