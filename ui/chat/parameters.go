package chat

import (
	"errors"
	"slices"
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
	"steward/ui/text"
	"steward/ui/theme"
)

const (
	parameterNames float32 = 150
	parameterGap           = 3 * theme.Step
)

// changedWords says which parameters are set in a chat, in as few words as tell them apart.
func changedWords(p app.Parameters) string {
	var out []string
	if p.Temperature != nil {
		out = append(out, lang.X("chat.set_temperature", "temp. {{.n}}", map[string]any{"n": decimal(*p.Temperature)}))
	}
	if p.Effort != "" {
		out = append(out, effortWord(p.Effort))
	}
	if p.MaxTokens > 0 {
		out = append(out, lang.X("chat.set_tokens", "≤ {{.n}} tok", map[string]any{"n": count(p.MaxTokens)}))
	}
	if p.System != "" {
		out = append(out, lang.X("chat.set_system", "instructions"))
	}
	return strings.Join(out, " · ")
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func effortWord(word string) string {
	switch word {
	case "none":
		return lang.X("chat.effort_none", "no reasoning")
	case "minimal":
		return lang.X("chat.effort_minimal", "minimal reasoning")
	case "low":
		return lang.X("chat.effort_low", "low reasoning")
	case "medium":
		return lang.X("chat.effort_medium", "medium reasoning")
	case "high":
		return lang.X("chat.effort_high", "high reasoning")
	case "xhigh":
		return lang.X("chat.effort_xhigh", "extra high reasoning")
	}
	return clean.Line(word, 30)
}

// parameterForm is the dialog for what goes with the requests of a chat beside its messages.
type parameterForm struct {
	p           *Place
	temperature *form.Entry
	tokens      *form.Entry
	system      *form.Entry
	effort      string
	efforts     *flowBox
	wrong       *text.Label
	fields      *column
	scroll      *container.Scroll
	close       func()
}

// modelSettings opens the parameters of this chat.
func (p *Place) modelSettings() *parameterForm {
	now := p.settings.Parameters
	f := &parameterForm{p: p, temperature: form.NewEntry(), tokens: form.NewEntry(), system: form.NewMultiLine(3), effort: now.Effort, efforts: newFlow(1.5 * theme.Step)}
	usual := lang.X("chat.as_endpoint", "as the endpoint does")
	f.temperature.SetPlaceHolder(usual)
	f.tokens.SetPlaceHolder(usual)
	f.system.SetPlaceHolder(lang.X("chat.system_hint", "Besides those that every chat begins with"))
	f.system.EnterBreaks = true
	for _, e := range []*form.Entry{f.temperature, f.tokens, f.system} {
		e.OnShortcut = p.d.Shortcut
		e.OnSubmit = func(string) { f.save() }
		e.OnKey = func(k *fyne.KeyEvent) bool {
			if k.Name == fyne.KeyEscape {
				f.close()
			}
			return k.Name == fyne.KeyEscape
		}
	}
	f.wrong = text.NewLabel("", text.Run{Color: theme.Refusal}, text.Wrap)
	f.show(now)
	f.fields = newColumn(parameterGap, pad{}, f.rows()...)
	f.scroll = container.NewVScroll(&fyne.Container{Layout: measured{f.fields, dialogWidth - 2*theme.Step}, Objects: []fyne.CanvasObject{f.fields}})
	title := text.NewLabel(lang.X("chat.parameters_here", "Settings of the model in this chat"), text.Run{Bold: true}, text.Cut)
	button := func(l look, icon, words string, do func()) *chip {
		c := newChip(l, icon, words, do)
		c.onShort = p.d.Shortcut
		return c
	}
	reset := button(quiet, "undo", lang.X("chat.reset_all", "Reset all"), func() { f.show(app.Parameters{}) })
	cancel := button(outlined, "", lang.X("common.cancel", "Cancel"), func() { f.close() })
	keep := button(strong, "check", lang.X("common.save", "Save"), f.save)
	room := canvas.NewRectangle(theme.Color(theme.Clear))
	room.SetMinSize(fyne.NewSize(dialogWidth, 0))
	f.arrange()
	f.close = p.d.Layer.Dialog(container.NewStack(room, container.New(layout.NewCustomPaddedVBoxLayout(parameterGap),
		title, f.scroll, newLine(2*theme.Step, []fyne.CanvasObject{reset}, nil, cancel, keep))), p.focusComposer)
	p.focus(f.temperature)
	return f
}

// rows are a line for each parameter.
func (f *parameterForm) rows() []fyne.CanvasObject {
	named := func(words string, e *form.Entry) fyne.CanvasObject {
		name := wrapped(text.NewLabel(words, text.Run{}, text.Wrap), parameterNames)
		back := newChip(quiet, "undo", "", func() {
			e.SetText("")
			f.p.focus(e)
		})
		back.onShort = f.p.d.Shortcut
		line := newLine(2*theme.Step, []fyne.CanvasObject{name}, e, back)
		e.OnChanged = func(typed string) { // what is not set has nothing to be taken back
			if back.Hidden != (typed == "") {
				back.Hidden = typed == ""
				line.Refresh()
			}
		}
		e.OnChanged(e.Text)
		return line
	}
	out := []fyne.CanvasObject{
		text.NewLabel(lang.X("chat.parameters_about", "What is empty is as the endpoint does, or as Settings say. It holds from the next message on."), text.Run{Color: theme.Dim}, text.Wrap),
		named(lang.X("chat.temperature", "Temperature"), f.temperature),
		named(lang.X("chat.max_tokens", "Longest answer (tokens)"), f.tokens),
		text.NewLabel(lang.X("chat.effort", "Reasoning before an answer"), text.Run{}, text.Wrap), f.efforts,
	}
	if !f.p.d.App.TakesEffort(f.p.settings) {
		out = append(out, caption(lang.X("chat.effort_not_taken", "The endpoint is not known to take this; it is then not sent."), theme.Waiting, text.Wrap))
	}
	return append(out, named(lang.X("chat.system", "Instructions for this chat"), f.system), f.wrong)
}

// show fills the fields in.
func (f *parameterForm) show(p app.Parameters) {
	f.temperature.SetText("")
	if p.Temperature != nil {
		f.temperature.SetText(decimal(*p.Temperature))
	}
	f.tokens.SetText("")
	if p.MaxTokens > 0 {
		f.tokens.SetText(strconv.Itoa(p.MaxTokens))
	}
	f.system.SetText(p.System)
	f.effort = p.Effort
	f.offer()
	f.complain(nil)
}

// offer draws the words for how long the model is to reason.
func (f *parameterForm) offer() {
	all := append([]string{""}, app.Efforts()...)
	if !slices.Contains(all, f.effort) {
		all = append(all, f.effort)
	}
	f.efforts.objects = nil
	for _, word := range all {
		words := lang.X("chat.as_endpoint", "as the endpoint does")
		if word != "" {
			words = effortWord(word)
		}
		c := newPill("", words, false, func() {
			f.effort = word
			f.offer()
		})
		c.onShort = f.p.d.Shortcut
		if word == f.effort {
			c.look, c.colour, c.icon = chosen, theme.Accent, "check"
		}
		f.efforts.objects = append(f.efforts.objects, c)
	}
	f.efforts.Refresh()
}

// read makes parameters of what stands in the fields.
func (f *parameterForm) read() (out app.Parameters, err error) {
	out.Effort, out.System = f.effort, strings.TrimSpace(f.system.Text)
	if s := strings.TrimSpace(f.temperature.Text); s != "" {
		v, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", "."), 64)
		if err != nil {
			return out, errors.New(lang.X("chat.bad_temperature", "The temperature is a number from 0 to 2, such as 0.7."))
		}
		out.Temperature = &v
	}
	if s := strings.TrimSpace(f.tokens.Text); s != "" {
		if out.MaxTokens, err = strconv.Atoi(s); err != nil || out.MaxTokens < 1 {
			return out, errors.New(lang.X("chat.bad_tokens", "The longest answer is a whole number of tokens, such as 2000."))
		}
	}
	return out, out.Check()
}

// save keeps the dialog open until what stands in it can be used.
func (f *parameterForm) save() {
	next, err := f.read()
	if err != nil {
		f.complain(err)
		return
	}
	f.close()
	f.p.change(func(s *app.ConversationSettings) { s.Parameters = next })
}

func (f *parameterForm) complain(err error) {
	words := ""
	if err != nil {
		words = "✗ " + language.Message(err)
	}
	f.wrong.SetText(words, text.Run{Color: theme.Refusal})
	f.wrong.Hidden = err == nil
	if f.scroll != nil {
		f.arrange()
		f.p.resized()
		f.scroll.ScrollToBottom()
	}
}

// arrange lets the fields scroll where the window is too low for them.
func (f *parameterForm) arrange() {
	height := f.fields.HeightFor(dialogWidth - 2*theme.Step)
	if w := f.p.d.Window(); w != nil {
		height = min(height, max(w.Canvas().Size().Height-170, 120))
	}
	f.scroll.SetMinSize(fyne.NewSize(dialogWidth, height))
}
