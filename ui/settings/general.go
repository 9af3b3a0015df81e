package settings

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"steward/app"
	"steward/app/clean"
	"steward/assets"
	"steward/ui/button"
	"steward/ui/form"
	"steward/ui/language"
	"steward/ui/place"
	"steward/ui/text"
	"steward/ui/theme"
)

// Fields of the limits.
const (
	fieldRounds = "rounds"
	fieldTool   = "tool"
	fieldStart  = "start"
	fieldExpiry = "expiry"
	fieldSystem = "system"
)

// limits shows how long and how often things may go on.
func (s *Place) limits() []fyne.CanvasObject {
	now := s.p.state.settings
	number := func(name, title, help string, value int, most string) form.Field {
		return form.Field{Name: name, Title: title, Description: help, Kind: form.Integer, Required: true, Min: "1", Max: most, Default: json.RawMessage(fmt.Sprint(value))}
	}
	system, err := json.Marshal(now.System)
	if err != nil {
		system = nil
	}
	f := form.New([]form.Field{
		number(fieldRounds, lang.X("settings.rounds", "Model requests in one turn"), "", now.MaxRounds, "1000"),
		number(fieldTool, lang.X("settings.tool_timeout", "Seconds for a tool call"), lang.X("settings.tool_timeout_help", "Progress reports of the server prolong it."), int(now.ToolTimeout/time.Second), "86400"),
		number(fieldStart, lang.X("settings.start_timeout", "Seconds for a server to start"), "", int(now.StartTimeout/time.Second), "86400"),
		number(fieldExpiry, lang.X("settings.expiry", "Seconds until a question that nobody answers is over"), "", int(now.Expiry/time.Second), "86400"),
		{Name: fieldSystem, Title: lang.X("settings.system", "Instructions for every chat"), Kind: form.Text, Default: system},
	}, labels)
	f.OnShortcut = s.d.Shortcut
	if s.form != nil && s.form.Touched() { // somebody looked at another section meanwhile
		f.Restore(s.form.State())
	}
	s.form = f
	save := button.New(button.Strong, "", lang.X("common.save", "Save"), func() { s.saveLimits(f) })
	return []fyne.CanvasObject{&fyne.Container{Layout: fixedWidth{wide}, Objects: []fyne.CanvasObject{f}}, beside(save)}
}

func (s *Place) saveLimits(f *form.Form) {
	if !f.Check() {
		return
	}
	next, err := limited(s.p.state.settings, f.Values())
	if err != nil {
		s.failed(err)
		return
	}
	s.p.do(func(ctx context.Context) error { return s.d.App.SaveSettings(ctx, next) }, func() {
		s.form = nil
		s.d.Layer.Toast(lang.X("settings.saved", "Saved"))
	})
}

// limited puts a form's values into settings.
func limited(s app.Settings, values map[string]json.RawMessage) (app.Settings, error) {
	seconds := map[string]*time.Duration{fieldTool: &s.ToolTimeout, fieldStart: &s.StartTimeout, fieldExpiry: &s.Expiry}
	for name, into := range seconds {
		var n int64
		if err := json.Unmarshal(values[name], &n); err != nil {
			return s, fmt.Errorf("the value of %s cannot be used: %w", name, err)
		}
		*into = time.Duration(n) * time.Second
	}
	if err := json.Unmarshal(values[fieldRounds], &s.MaxRounds); err != nil {
		return s, fmt.Errorf("the value of %s cannot be used: %w", fieldRounds, err)
	}
	s.System = ""
	if raw := values[fieldSystem]; raw != nil {
		if err := json.Unmarshal(raw, &s.System); err != nil {
			return s, fmt.Errorf("the value of %s cannot be used: %w", fieldSystem, err)
		}
	}
	return s, nil
}

// option is a choice with its word in the person's language.
type option struct{ value, words string }

// choice is a control over options. Its words are Steward's own.
func choice(options []option, now string, on func(value string)) *widget.Select {
	var words []string
	for _, o := range options {
		words = append(words, o.words)
	}
	sel := widget.NewSelect(words, nil)
	for i, o := range options {
		if o.value == now || now == "" && i == 0 {
			sel.SetSelectedIndex(i)
			break
		}
	}
	sel.OnChanged = func(string) {
		if i := sel.SelectedIndex(); i >= 0 {
			on(options[i].value)
		}
	}
	return sel
}

// appearance shows theme, language and size.
func (s *Place) appearance() []fyne.CanvasObject {
	themes := []option{
		{theme.FollowSystem, lang.X("settings.theme_system", "Like the system")}, {theme.AlwaysLight, lang.X("settings.theme_light", "Light")},
		{theme.AlwaysDark, lang.X("settings.theme_dark", "Dark")},
	}
	tongues := []option{{language.FollowSystem, lang.X("settings.language_system", "Like the system")}}
	for _, code := range assets.Languages() {
		name := code
		if texts, err := assets.Texts(code); err == nil {
			name = texts["language.name"]
		}
		tongues = append(tongues, option{code, name})
	}
	scales := []option{{"", lang.X("settings.scale_system", "Like the system")}}
	for _, v := range []string{"0.85", "1", "1.25", "1.5", "2"} {
		scales = append(scales, option{v, percent(v)})
	}
	restart := func() { s.d.Layer.Toast(lang.X("settings.restart_needed", "This takes effect at the next start.")) } // SetLanguage says so itself
	return []fyne.CanvasObject{
		labelled(lang.X("settings.theme", "Theme"), choice(themes, s.p.state.theme, func(v string) { s.p.state.theme = v; s.d.SetTheme(v) })),
		labelled(lang.X("settings.language", "Language"), choice(tongues, s.p.state.language, func(v string) { s.p.state.language = v; s.d.SetLanguage(v) })),
		labelled(lang.X("settings.scale", "Size"), choice(scales, s.p.state.scale, func(v string) {
			s.p.state.scale = v
			s.p.do(func(ctx context.Context) error { return s.d.App.SetPreference(ctx, place.PreferScale, v) }, restart)
		})),
		note(lang.X("settings.language_note", "Language and size take effect at the next start.")),
	}
}

func percent(scale string) string {
	var v float64
	if _, err := fmt.Sscan(scale, &v); err != nil {
		return scale
	}
	return fmt.Sprintf("%.0f %%", v*100)
}

// data shows where everything is kept.
func (s *Place) data() []fyne.CanvasObject {
	dir := s.d.App.DataDir()
	path := text.NewView(views())
	path.SetText(clean.Reveal(dir), text.Run{Mono: true})
	copied := button.New(button.Outlined, "copy", lang.X("common.copy", "Copy"), func() {
		fyne.CurrentApp().Clipboard().SetContent(dir)
		s.d.Layer.Toast(lang.X("common.copied", "Copied"))
	})
	show := button.New(button.Outlined, "folder", lang.X("settings.open_folder", "Open the folder"), func() { s.p.do(s.d.App.OpenDataDir, nil) })
	return []fyne.CanvasObject{
		note(lang.X("settings.data_note", "Chats, the record and these settings are kept in one folder. Only one Steward writes to it at a time.")),
		newCard(&fyne.Container{Layout: fixedWidth{inCard}, Objects: []fyne.CanvasObject{path}}), beside(show, copied),
		note(lang.X("settings.data_copy", "To keep a copy or to move to another computer, copy the whole folder while Steward is not running. Keys in the system's keyring are not in it.")),
	}
}
