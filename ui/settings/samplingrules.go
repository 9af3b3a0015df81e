package settings

import (
	"context"
	"errors"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"

	"steward/app"
	"steward/app/clean"
	"steward/app/consent"
	"steward/ui/button"
	"steward/ui/form"
	"steward/ui/language"
	"steward/ui/text"
	"steward/ui/theme"
)

// likeName is the choice of the dialog that asks for a part of a name; the others are what servers prefer.
const likeName = "name"

// samplingRules is the table of the models that servers' requests go to.
func (s *Place) samplingRules() []fyne.CanvasObject {
	out := []fyne.CanvasObject{
		caption(lang.X("settings.sampling_rules", "When servers ask for a model")),
		note(lang.X("settings.sampling_rules_note", "A request of a server goes to the chat's model, unless a line here fits what the server asks for. The first that fits counts, names before preferences. What a server wishes chooses nothing else.")),
	}
	for _, r := range s.p.state.sampling {
		out = append(out, s.samplingRuleCard(r))
	}
	return append(out, beside(button.New(button.Outlined, "plus", lang.X("settings.add_sampling_rule", "Add a line"), func() { s.addSamplingRule() })))
}

func (s *Place) samplingRuleCard(r app.SamplingRule) fyne.CanvasObject {
	remove := button.New(button.Outlined, "trash", "", func() {
		s.p.do(func(ctx context.Context) error { return s.d.App.DeleteSamplingRule(ctx, r) }, nil)
	})
	use := lang.X("settings.sampling_use", "use {{.model}}", map[string]any{"model": clean.Line(clean.Reveal(r.Model), 120)})
	if r.Endpoint != "" {
		use = lang.X("settings.sampling_use_at", "use {{.model}} at {{.endpoint}}", map[string]any{"model": clean.Line(clean.Reveal(r.Model), 120), "endpoint": s.endpointNamed(r.Endpoint)})
	}
	return newCard(container.NewBorder(nil, nil, nil, remove, middle(text.NewLabel(samplingRuleWords(r), text.Run{Bold: true}, text.Cut))),
		wrapped("→ "+use, text.Run{Color: theme.Dim}, inCard))
}

// samplingRuleWords say when a line fits.
func samplingRuleWords(r app.SamplingRule) string {
	name := map[string]any{"name": clean.Line(clean.Reveal(r.Like), 120)}
	switch {
	case r.Exact:
		return lang.X("settings.sampling_exact", "A server asks for “{{.name}}”", name)
	case r.Like != "":
		return lang.X("settings.sampling_like", "A server asks for a model named like “{{.name}}”", name)
	}
	return lang.X("settings.sampling_prefers", "A server prefers {{.what}}", map[string]any{"what": preferenceWords(r.Prefers)})
}

func preferenceWords(what string) string {
	switch what {
	case consent.PreferCost:
		return lang.X("settings.prefer_cost", "a cheap model")
	case consent.PreferSpeed:
		return lang.X("settings.prefer_speed", "a fast model")
	}
	return lang.X("settings.prefer_intelligence", "a capable model")
}

func (s *Place) endpointNamed(id string) string {
	for _, e := range s.p.state.endpoints {
		if e.ID == id {
			return endpointName(e)
		}
	}
	return lang.X("settings.endpoint_gone", "an endpoint that is not there")
}

// samplingRuleEditor is the dialog in which a line of the table is made.
type samplingRuleEditor struct {
	s           *Place
	when, where string
	like, model *form.Entry
	name        fyne.CanvasObject // asks for like
	status      *text.Label
	keep        *button.Button // once: two taps make no two lines
	close       func()
}

func (s *Place) addSamplingRule() *samplingRuleEditor {
	r := &samplingRuleEditor{s: s, when: likeName, like: form.NewEntry(), model: form.NewEntry(), status: text.NewLabel("", text.Run{}, text.Wrap)}
	for _, e := range []*form.Entry{r.like, r.model} {
		e.OnKey = func(ev *fyne.KeyEvent) bool {
			if ev.Name == fyne.KeyEscape {
				r.close()
			}
			return ev.Name == fyne.KeyEscape
		}
		e.OnShortcut = s.d.Shortcut
		e.OnSubmit = func(string) { r.save() }
	}
	r.like.SetPlaceHolder(lang.X("settings.sampling_like_hint", "part of the name, such as haiku"))
	r.name = labelled(lang.X("settings.sampling_name", "Named like"), r.like)
	whens := []option{{likeName, lang.X("settings.sampling_when_name", "asks for a model by name")}}
	for _, what := range []string{consent.PreferCost, consent.PreferSpeed, consent.PreferIntelligence} {
		whens = append(whens, option{what, lang.X("settings.sampling_when_prefers", "prefers {{.what}}", map[string]any{"what": preferenceWords(what)})})
	}
	places := []option{{"", lang.X("settings.sampling_own_endpoint", "The chat's endpoint")}}
	for _, e := range s.p.state.endpoints {
		if !e.Demo && !e.Fixed {
			places = append(places, option{e.ID, endpointName(e)})
		}
	}
	r.keep = button.New(button.Strong, "", lang.X("common.save", "Save"), r.save)
	r.close = s.d.Layer.Dialog(below(text.NewLabel(lang.X("settings.new_sampling_rule", "Which model servers get"), text.Run{Bold: true}, text.Whole), room(asking),
		labelled(lang.X("settings.sampling_when", "When a server"), choice(whens, r.when, r.choose)), r.name,
		labelled(lang.X("settings.sampling_where", "Use"), choice(places, r.where, func(v string) { r.where = v })),
		labelled(lang.X("settings.model", "Model"), r.model),
		&fyne.Container{Layout: fixedWidth{asking}, Objects: []fyne.CanvasObject{r.status}},
		container.NewHBox(layout.NewSpacer(), button.New(button.Outlined, "", lang.X("common.cancel", "Cancel"), func() { r.close() }), r.keep)), nil)
	if w := s.d.Window(); w != nil {
		w.Canvas().Focus(r.like)
	}
	return r
}

func (r *samplingRuleEditor) choose(when string) {
	r.when = when
	if when == likeName {
		r.name.Show()
	} else {
		r.name.Hide()
	}
}

// rule is what the dialog describes.
func (r *samplingRuleEditor) rule() (app.SamplingRule, error) {
	out := app.SamplingRule{Endpoint: r.where, Model: strings.TrimSpace(r.model.Text)}
	if r.when != likeName {
		out.Prefers = r.when
		return out, nil
	}
	if out.Like = strings.TrimSpace(r.like.Text); out.Like == "" {
		return out, errors.New(lang.X("settings.sampling_name_missing", "Say which part of the name servers ask for."))
	}
	return out, nil
}

func (r *samplingRuleEditor) save() {
	if r.keep.Disabled() {
		return
	}
	refuse := func(err error) { r.status.SetText("✗ "+language.Message(err), text.Run{Color: theme.Refusal}) }
	rule, err := r.rule()
	if err != nil {
		refuse(err)
		return
	}
	r.keep.Disable()
	s := r.s
	s.d.Go(func(ctx context.Context) {
		err := s.d.App.AddSamplingRule(ctx, rule)
		s.d.Do(func() {
			r.keep.Enable()
			if err != nil {
				refuse(err)
				return
			}
			r.close()
			s.p.happened()
		})
	})
}
