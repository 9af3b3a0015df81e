package settings

import (
	"context"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"

	"steward/app"
	"steward/app/clean"
	"steward/ui/button"
	"steward/ui/place"
	"steward/ui/text"
	"steward/ui/theme"
)

// models shows the endpoints and which one is used.
func (s *Place) models() []fyne.CanvasObject {
	out := []fyne.CanvasObject{note(lang.X("settings.models_note", "Chats use the chosen model unless they name another. Keys are kept with your secrets and never shown again."))}
	for _, e := range s.p.state.endpoints {
		out = append(out, s.endpointCard(e))
	}
	var add *button.Button
	add = button.New(button.Strong, "plus", lang.X("settings.add_endpoint", "Connect a model"), func() { s.addMenu(add) })
	var find *button.Button
	find = button.New(button.Outlined, "search", lang.X("settings.find_local", "Find models on this computer"), func() { s.findLocal(find) })
	titles := []option{
		{place.TitlesFromModel, lang.X("settings.titles_model", "From the model: it is asked once, after the first answer")},
		{place.TitlesFromWords, lang.X("settings.titles_words", "The first words; nobody is asked")},
	}
	out = append(out, beside(add, find), labelled(lang.X("settings.titles", "Titles of chats"), choice(titles, s.p.state.titles, func(v string) {
		s.p.state.titles = v
		s.p.do(func(ctx context.Context) error { return s.d.App.SetPreference(ctx, place.PreferTitles, v) }, nil)
	})))
	return append(out, s.samplingRules()...)
}

func (s *Place) endpointCard(e app.ModelEndpoint) fyne.CanvasObject {
	name := text.NewLabel(endpointName(e), text.Run{Bold: true}, text.Whole)
	marks := beside(name)
	if e.Chosen {
		marks.Add(text.NewLabel("✓ "+lang.X("settings.in_use", "in use"), text.Run{Color: theme.Accent}, text.Whole))
	}
	if e.Demo {
		marks.Add(text.NewLabel(lang.X("settings.demo", "demo, offline"), text.Run{Color: theme.Dim}, text.Whole))
	}
	if e.HasKey {
		marks.Add(text.NewLabel(lang.X("settings.has_key", "key stored"), text.Run{Color: theme.Dim}, text.Whole))
	}
	about := clean.Reveal(e.BaseURL)
	if e.Model != "" {
		about = strings.TrimLeft(about+" · ", " ·") + clean.Line(e.Model, 120)
	}
	if e.Demo {
		about = lang.X("settings.demo_about", "Runs inside Steward, with invented answers; nothing leaves this computer.")
	}
	buttons := beside(layout.NewSpacer())
	if !e.Chosen && !e.Fixed {
		buttons.Add(button.New(button.Outlined, "", lang.X("settings.use", "Use"), func() {
			s.p.do(func(ctx context.Context) error { return s.d.App.ChooseEndpoint(ctx, e.ID, "") }, nil)
		}))
	}
	if !e.Demo && !e.Fixed {
		buttons.Add(button.New(button.Outlined, "edit", "", func() { s.edit(e, "") }))
		buttons.Add(button.New(button.Outlined, "trash", "", func() { s.deleteEndpoint(e) }))
	}
	return newCard(container.NewBorder(nil, nil, nil, buttons, middle(marks)), wrapped(about, text.Run{Color: theme.Dim}, inCard))
}

func endpointName(e app.ModelEndpoint) string {
	switch {
	case e.Demo:
		return lang.X("settings.demo_name", "Demo model")
	case e.Fixed:
		return lang.X("settings.fixed_name", "Given for this run")
	case e.Name == "":
		return clean.Reveal(e.BaseURL)
	}
	return clean.Line(e.Name, 100)
}

func (s *Place) deleteEndpoint(e app.ModelEndpoint) {
	s.d.Layer.Ask(lang.X("settings.delete_endpoint", "Remove “{{.name}}”?", map[string]any{"name": endpointName(e)}),
		lang.X("settings.delete_endpoint_text", "Its key is deleted too. Chats that used it use the chosen model from now on."),
		place.Button{Label: lang.X("common.cancel", "Cancel")},
		place.Button{Label: lang.X("common.remove", "Remove"), Look: place.Dangerous, Do: func() {
			s.p.do(func(ctx context.Context) error { return s.d.App.DeleteEndpoint(ctx, e.ID) }, nil)
		}})
}

// addMenu offers the well-known endpoints.
func (s *Place) addMenu(at fyne.CanvasObject) {
	pos := fyne.CurrentApp().Driver().AbsolutePositionForObject(at)
	s.d.Layer.Menu(s.presets(), pos.AddXY(0, at.Size().Height+theme.Step))
}

func (s *Place) addMenuAtStart() {
	s.Goto(Models)
	s.d.Layer.Menu(s.presets(), fyne.CurrentApp().Driver().AbsolutePositionForObject(s.scroll).AddXY(6*theme.Step, 6*theme.Step))
}

func (s *Place) presets() []place.MenuItem {
	var items []place.MenuItem
	for _, preset := range app.ModelPresets() {
		items = append(items, place.MenuItem{Label: preset.Name, Do: func() {
			s.edit(app.ModelEndpoint{Name: preset.Name, BaseURL: preset.BaseURL, Profile: preset.Profile}, preset.KeysURL)
		}})
	}
	return append(items, place.MenuItem{}, place.MenuItem{Label: lang.X("settings.other_endpoint", "Another address…"), Do: func() { s.edit(app.ModelEndpoint{}, "") }})
}

// findLocal looks for model programs on this computer and offers those that answer, below the button.
func (s *Place) findLocal(at *button.Button) {
	at.Disable()
	s.d.Go(func(ctx context.Context) {
		found, err := s.d.App.FindLocalModels(ctx)
		s.d.Do(func() {
			at.Enable()
			switch {
			case err != nil:
				s.failed(err)
			case len(found) == 0:
				s.d.Layer.Toast(lang.X("settings.none_local", "No model program answers on this computer at the usual ports."))
			default:
				var items []place.MenuItem
				for _, e := range found {
					items = append(items, place.MenuItem{Label: endpointName(e) + " · " + clean.Reveal(e.BaseURL), Do: func() { s.edit(e, "") }})
				}
				s.d.Layer.Menu(items, fyne.CurrentApp().Driver().AbsolutePositionForObject(at).AddXY(0, at.Size().Height+theme.Step))
			}
		})
	})
}
