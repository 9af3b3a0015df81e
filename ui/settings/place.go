package settings

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"

	"steward/ui/form"
	"steward/ui/language"
	"steward/ui/place"
	"steward/ui/text"
	"steward/ui/theme"
)

// Sections, as Goto takes them.
const (
	Models      = "models"
	Permissions = "permissions"
	Limits      = "limits"
	Network     = "network"
	Privacy     = "privacy"
	Appearance  = "appearance"
	Secrets     = "secrets"
	Shortcuts   = "shortcuts"
	Data        = "data"
	About       = "about"
)

// section is one page of the settings.
type section struct {
	name, icon, title string
	build             func() []fyne.CanvasObject
}

// Place is the settings; see [place.Place].
type Place struct {
	d        place.Deps
	p        *presenter
	sections []section
	rows     []*navRow
	current  int
	form     *form.Form // of the limits, nil where it holds nothing that was typed
	network  *form.Form // of the network, likewise
	scroll   *container.Scroll
	root     fyne.CanvasObject
}

// New makes the place. Fyne's goroutine.
func New(d place.Deps) *Place {
	s := &Place{d: d}
	s.p = newPresenter(d, s.refill, s.failed)
	s.sections = []section{
		{Models, "model", lang.X("settings.models", "Models"), s.models},
		{Permissions, "lock", lang.X("settings.permissions", "Permissions"), s.permissions},
		{Limits, "clock", lang.X("settings.limits", "Limits"), s.limits},
		{Network, "globe", lang.X("settings.network", "Network"), s.reach},
		{Privacy, "eye-off", lang.X("settings.privacy", "Privacy"), s.privacy},
		{Appearance, "eye", lang.X("settings.appearance", "Appearance"), s.appearance},
		{Secrets, "key", lang.X("settings.secrets", "Keys and secrets"), s.secrets},
		{Shortcuts, "menu", lang.X("settings.shortcuts", "Shortcuts"), s.shortcuts},
		{Data, "folder", lang.X("settings.data_folder", "Data folder"), s.data},
		{About, "info", lang.X("settings.about", "About"), s.about},
	}
	nav := container.New(layout.NewCustomPaddedVBoxLayout(theme.Step / 2))
	for i, sec := range s.sections {
		row := newNavRow(sec.icon, sec.title, func() { s.choose(i) })
		row.move = func(by int) {
			next := (i + by + len(s.rows)) % len(s.rows)
			s.choose(next)
			s.d.Window().Canvas().Focus(s.rows[next])
		}
		s.rows = append(s.rows, row)
		nav.Add(row)
	}
	s.scroll = container.NewScroll(container.NewWithoutLayout())
	title := text.NewLabel(lang.X("settings.title", "Settings"), text.Run{Bold: true}, text.Whole)
	pad := 5 * theme.Step
	head := container.New(layout.NewCustomPaddedVBoxLayout(0), container.New(layout.NewCustomPaddedLayout(4*theme.Step, 4*theme.Step, pad, pad), title), newLine())
	left := container.New(layout.NewCustomPaddedLayout(pad, pad, 3*theme.Step, 2*theme.Step), &fyne.Container{Layout: fixedWidth{navWidth}, Objects: []fyne.CanvasObject{nav}})
	s.root = container.NewBorder(head, nil, left, nil, s.scroll)
	s.choose(0)
	return s
}

// choose shows a section.
func (s *Place) choose(i int) {
	if i != s.current {
		s.scroll.Offset = fyne.Position{}
	}
	s.current = i
	for n, row := range s.rows {
		row.change(&row.selected, n == i)
	}
	s.fill()
}

// fill builds the section that is shown from the present state.
func (s *Place) fill() {
	objects := []fyne.CanvasObject{note(lang.X("common.loading", "Loading…"))}
	sec := s.sections[s.current]
	if s.p.loaded {
		objects = sec.build()
	}
	objects = append([]fyne.CanvasObject{heading(sec.title)}, objects...)
	pad := 6 * theme.Step
	body := &fyne.Container{Layout: fixedWidth{wide}, Objects: []fyne.CanvasObject{container.New(layout.NewCustomPaddedVBoxLayout(2.5*theme.Step), objects...)}}
	s.scroll.Content = container.New(layout.NewCustomPaddedLayout(5*theme.Step, pad, pad, pad), container.NewHBox(body))
	s.scroll.Refresh()
}

// refill shows what has changed, but never takes away what somebody is typing.
func (s *Place) refill() {
	typed := map[string]*form.Form{Limits: s.form, Network: s.network}[s.sections[s.current].name]
	if typed != nil && typed.Touched() {
		return
	}
	s.fill()
}

func (s *Place) failed(err error) {
	s.d.Layer.Ask(lang.X("common.failed", "Failed"), language.Message(err), place.Button{Label: lang.X("common.close", "Close")})
}

func (s *Place) find(name string) int {
	return slices.IndexFunc(s.sections, func(sec section) bool { return sec.name == name })
}

// Canvas is [place.Place]'s.
func (s *Place) Canvas() fyne.CanvasObject { return s.root }

// Goto shows a section by its name.
func (s *Place) Goto(argument string) {
	if i := s.find(argument); i >= 0 {
		s.choose(i)
	}
}

// Shown is [place.Place]'s.
func (s *Place) Shown() { s.p.show() }

// Hidden is [place.Place]'s.
func (s *Place) Hidden() { s.p.shown = false }

// Close is [place.Place]'s.
func (s *Place) Close() { s.p.stop() }

// Commands is [place.Place]'s.
func (s *Place) Commands() []place.Command {
	return []place.Command{{ID: "settings.add_model", TitleKey: "settings.add_endpoint", Do: s.addMenuAtStart}}
}
