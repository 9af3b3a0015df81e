package chat

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"

	"steward/app"
	"steward/app/clean"
	"steward/ui/form"
	"steward/ui/language"
	"steward/ui/place"
	"steward/ui/text"
	"steward/ui/theme"
)

// learnWindow asks the endpoint in the background how much its model can read, where that is not known.
func (p *Place) learnWindow() {
	id, u := p.state.conversation, p.head.facts.use
	if id == "" || u.Model == "" || u.Source == app.WindowByPerson || u.Source == app.WindowByEndpoint {
		return
	}
	p.d.Go(func(ctx context.Context) {
		_ = p.d.App.LearnWindow(ctx, id) // it stays unknown, which is said
	})
}

// compact has the model sum up the older part of the conversation.
func (p *Place) compact() {
	id := p.state.conversation
	if id == "" || p.state.working {
		return
	}
	p.stored(id, func(err error) {
		if err != nil {
			p.fail(err)
			return
		}
		fetch(p, func(ctx context.Context) (string, error) { return p.d.App.Compact(ctx, id) }, func(note string) {
			p.d.Layer.Offer(lang.X("chat.compacted", "The older part is summed up; the messages are kept."), lang.X("common.undo", "Undo"), func() { p.takeBack(id, note) }, nil)
		})
	})
}

func (p *Place) takeBack(id, note string) {
	p.background(func(ctx context.Context) error { return p.d.App.TakeBackNote(ctx, id, note) }, nil)
}

// switchTool offers a tool in this conversation, or no longer.
func (p *Place) switchTool(server, tool string, on bool) {
	p.change(func(s *app.ConversationSettings) { s.Tools = switched(s.Tools, server, tool, on) })
	if !on {
		p.d.Layer.Offer(lang.X("chat.tool_off", "{{.tool}} is not offered in this chat any more.", map[string]any{"tool": clean.Reveal(tool)}), lang.X("common.undo", "Undo"),
			func() { p.switchTool(server, tool, true) }, nil)
	}
}

// leaveOut leaves the result of a call out of what goes to the model, or takes it in again; goOn sends the request that
// was refused once more.
func (p *Place) leaveOut(call string, out, goOn bool) {
	id := p.state.conversation
	p.background(func(ctx context.Context) error {
		err := p.d.App.LeaveOutResults(ctx, id, []string{call}, out)
		if err == nil && goOn {
			_, err = p.d.App.GoOn(ctx, id)
		}
		return err
	}, p.readHead)
}

// shortenAndGoOn cuts the largest results and sends the refused request again.
func (p *Place) shortenAndGoOn() {
	id := p.state.conversation
	p.list.SetFollow(true)
	p.background(func(ctx context.Context) error { _, err := p.d.App.ShortenAndGoOn(ctx, id); return err }, p.readHead)
}

// compactAndGoOn sums the older part up and sends the refused request again.
func (p *Place) compactAndGoOn() {
	id := p.state.conversation
	p.list.SetFollow(true)
	p.background(func(ctx context.Context) error {
		_, err := p.d.App.Compact(ctx, id)
		if err == nil {
			_, err = p.d.App.GoOn(ctx, id)
		}
		return err
	}, p.readHead)
}

// chooseResult lists the largest results to leave one out.
func (p *Place) chooseResult(at fyne.CanvasObject) {
	id := p.state.conversation
	fetch(p, func(ctx context.Context) ([]app.ContextPart, error) { return p.d.App.LargestResults(ctx, id, 8) }, func(parts []app.ContextPart) {
		var items []place.MenuItem
		for _, part := range parts {
			label := clean.Reveal(part.Tool) + " · " + clean.Reveal(part.Server) + " · " + size(int64(part.Bytes))
			items = append(items, place.MenuItem{Label: label, Icon: "minus", Do: func() { p.leaveOut(part.Call, true, true) }})
		}
		if len(items) > 0 {
			p.d.Layer.Menu(items, below(at))
		}
	})
}

// editFigures asks what the person knows of the model: how much it can read, and what it costs.
func (p *Place) editFigures() {
	id := p.state.conversation
	p.d.Go(func(ctx context.Context) {
		known, ok := p.d.App.FiguresOf(ctx, id)
		p.d.Do(func() {
			if ok {
				p.askFigures(id, known)
			}
		})
	})
}

func (p *Place) askFigures(id string, known app.ModelFigures) {
	given := func(s string) json.RawMessage {
		if s == "" {
			return nil
		}
		raw, err := json.Marshal(s)
		if err != nil { // a string always can be
			return nil
		}
		return raw
	}
	window := ""
	if known.Window > 0 {
		window = strconv.Itoa(known.Window)
	}
	perMillion := lang.X("chat.per_million", "for a million tokens")
	f := form.New([]form.Field{
		{Name: "window", Title: lang.X("chat.figure_window", "Context window, in tokens"), Kind: form.String, Own: true, Default: given(window), Placeholder: "128000",
			Description: lang.X("chat.figure_window_about", "How much the model can read at once. Empty: what the endpoint says, or its maker publishes.")},
		{Name: "input", Title: lang.X("chat.figure_input", "Price of what goes in"), Kind: form.String, Own: true, Default: given(known.Price.Input), Description: perMillion},
		{Name: "cached", Title: lang.X("chat.figure_cached", "Price of what goes in and was kept by the endpoint"), Kind: form.String, Own: true, Default: given(known.Price.Cached),
			Description: lang.X("chat.figure_cached_about", "for a million tokens; empty: as what goes in")},
		{Name: "output", Title: lang.X("chat.figure_output", "Price of what comes out"), Kind: form.String, Own: true, Default: given(known.Price.Output), Description: perMillion},
		{Name: "currency", Title: lang.X("chat.figure_currency", "Currency"), Kind: form.String, Own: true, Default: given(known.Price.Currency), Placeholder: "USD", MaxLength: 12},
	}, formText)
	var done func()
	save := func() {
		if !f.Check() {
			return
		}
		next, problem := figuresOf(f.Values())
		if problem != "" {
			f.Complain("window", problem)
			return
		}
		p.d.Go(func(ctx context.Context) {
			err := p.d.App.SetFigures(ctx, id, next)
			p.d.Do(func() {
				if err != nil {
					f.Complain("currency", language.Message(err))
					p.resized()
					return
				}
				done()
				p.readHead()
				p.read()
			})
		})
	}
	f.OnSubmit = save
	f.OnResize = p.resized
	f.OnShortcut = p.d.Shortcut
	cancel := newChip(outlined, "", lang.X("common.cancel", "Cancel"), func() { done() })
	keep := newChip(strong, "check", lang.X("common.save", "Save"), save)
	for _, c := range []*chip{cancel, keep} {
		c.onShort = p.d.Shortcut
	}
	f.OnEscape = func() bool { done(); return true }
	_, model := p.head.facts.model()
	title := text.NewLabel(lang.X("chat.figures_of", "What you know of {{.model}}", map[string]any{"model": clean.Line(model, 60)}), text.Run{Bold: true}, text.Cut)
	about := caption(lang.X("chat.figures_about", "Costs are worked out from what the endpoint reports, by these prices. Without them none is shown."), theme.Dim, text.Wrap)
	room := canvas.NewRectangle(theme.Color(theme.Clear))
	room.SetMinSize(fyne.NewSize(dialogWidth, 0))
	done = p.d.Layer.Dialog(container.NewStack(room, container.New(layout.NewCustomPaddedVBoxLayout(3*theme.Step),
		title, wide(about, dialogWidth), wide(f, dialogWidth), newLine(2*theme.Step, nil, nil, cancel, keep))), nil)
	f.FocusField("window")
}

// figuresOf reads the form; the sentence says why the window cannot be used.
func figuresOf(values map[string]json.RawMessage) (app.ModelFigures, string) {
	word := func(name string) string {
		var s string
		if json.Unmarshal(values[name], &s) != nil {
			return "" // no answer
		}
		return strings.TrimSpace(s)
	}
	f := app.ModelFigures{Price: app.Price{Input: word("input"), Cached: word("cached"), Output: word("output"), Currency: word("currency")}}
	if w := strings.NewReplacer(",", "", ".", "", " ", "", "_", "").Replace(word("window")); w != "" {
		n, err := strconv.Atoi(w)
		if err != nil || n <= 0 {
			return f, lang.X("chat.figure_window_wrong", "A number of tokens, such as 128000.")
		}
		f.Window = n
	}
	return f, ""
}
