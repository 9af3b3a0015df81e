package shell

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"steward/ui/place"
)

// open shows a place. It is made when it is first shown.
func (s *Shell) open(name, argument string) {
	m, ok := s.maker(name)
	if !ok || s.dispatcher.isClosed() {
		return
	}
	p := s.made(m)
	before := s.places[s.current]
	s.arguments[name] = argument
	same := s.current == name
	s.current = name
	p.Goto(argument)
	if !same {
		s.releaseKeys()
		if before != nil {
			before.Hidden()
		}
		s.frame.show(p.Canvas())
		p.Shown()
	}
	s.moved()
}

// releaseKeys takes the keyboard out of the place, which is about to be hidden: what is typed must not reach, or answer,
// what is no longer seen. In the side bar it may stay.
func (s *Shell) releaseKeys() {
	o, ok := s.window.Canvas().Focused().(fyne.CanvasObject)
	if !ok {
		return
	}
	driver := fyne.CurrentApp().Driver()
	beside := driver.AbsolutePositionForObject(o).X - driver.AbsolutePositionForObject(s.side).X
	if driver.CanvasForObject(o) == nil || beside < 0 || beside >= s.side.Size().Width {
		s.window.Canvas().Unfocus()
	}
}

// dropped gives files that were dropped on the window to the place that is shown, or else to the chat.
func (s *Shell) dropped(uris []fyne.URI) {
	var paths []string
	for _, u := range uris {
		if u != nil && u.Scheme() == "file" {
			paths = append(paths, u.Path())
		}
	}
	if len(paths) == 0 || s.hub == nil || s.dispatcher.isClosed() || s.layer.Modal() {
		return
	}
	if _, ok := s.places[s.current].(place.FileTaker); !ok {
		s.open(place.Chat, s.arguments[place.Chat])
	}
	if taker, ok := s.places[s.current].(place.FileTaker); ok {
		taker.Dropped(paths)
	}
}

// made is a place, which is made when it is first asked for.
func (s *Shell) made(m maker) place.Place {
	if s.places[m.name] == nil {
		s.places[m.name] = m.make(s.deps())
	}
	return s.places[m.name]
}

// everyCommand lists the window's commands and those of every place, shown or not.
func (s *Shell) everyCommand() []place.Command {
	out := append([]place.Command(nil), s.commands.own...)
	for _, m := range s.makers {
		out = append(out, s.made(m).Commands()...)
	}
	return out
}

// showing takes note of what a place shows now.
func (s *Shell) showing(name, argument string) {
	if s.arguments[name] == argument {
		return
	}
	s.arguments[name] = argument
	s.moved()
}

// moved brings everything around the place up to date.
func (s *Shell) moved() {
	if p := s.places[s.current]; p != nil {
		s.commands.shown = p.Commands()
	}
	s.register()
	s.side.marked(s.current, s.arguments[s.current])
	s.around(topicWaiting)
	if s.current != "" {
		s.remember(preferPlace, s.current+"/"+s.arguments[s.current])
	}
}

// conversation is the one that is shown, or "".
func (s *Shell) conversation() string {
	if s.current == place.Chat {
		return s.arguments[place.Chat]
	}
	return ""
}

// start opens what was open last, or the first place.
func (s *Shell) start(last string) {
	name, argument, _ := strings.Cut(last, "/")
	if s.offers(name) {
		s.open(name, argument)
		return
	}
	if len(s.makers) > 0 {
		s.open(s.makers[0].name, "")
		return
	}
	s.moved()
}

// shortcut runs a command by its keys. Escape first closes what lies over the places.
func (s *Shell) shortcut(keys fyne.Shortcut) bool {
	if s.hub == nil || s.dispatcher.isClosed() {
		return false
	}
	if c, ok := keys.(*desktop.CustomShortcut); ok && c.KeyName == fyne.KeyEscape && c.Modifier == 0 && s.layer.Escape() {
		return true
	}
	return s.commands.run(keys)
}

// register lets the canvas hand on every shortcut that some command has.
func (s *Shell) register() {
	for _, keys := range s.commands.shortcuts() {
		if s.known[keys.ShortcutName()] {
			continue
		}
		s.known[keys.ShortcutName()] = true
		s.window.Canvas().AddShortcut(keys, func(pressed fyne.Shortcut) { s.shortcut(pressed) })
	}
}

// typedKey takes keys without modifiers that nothing on the screen wanted.
func (s *Shell) typedKey(event *fyne.KeyEvent) {
	s.shortcut(&desktop.CustomShortcut{KeyName: event.Name})
}

// keys is a shortcut with the system's main modifier, and perhaps more.
func keys(name fyne.KeyName, more fyne.KeyModifier) fyne.Shortcut {
	return &desktop.CustomShortcut{KeyName: name, Modifier: fyne.KeyModifierShortcutDefault | more}
}

// own are the window's commands. Those that lead to a place this build does not have are left out.
func (s *Shell) own() []place.Command {
	goTo := func(name string) func() { return func() { s.open(name, "") } }
	all := []struct {
		place string // that must be there
		place.Command
	}{
		{place.Chat, place.Command{ID: "shell.new", TitleKey: "shell.new_chat", Shortcut: keys(fyne.KeyN, 0), Do: goTo(place.Chat)}},
		{"", place.Command{ID: "shell.palette", Shortcut: keys(fyne.KeyK, 0), Do: s.showPalette}},
		{"", place.Command{ID: "shell.search", TitleKey: "shell.search_chats", Shortcut: keys(fyne.KeyF, fyne.KeyModifierShift), Do: s.side.search}},
		{"", place.Command{ID: "shell.stop_all", TitleKey: "shell.stop_all", Shortcut: keys(fyne.KeyPeriod, fyne.KeyModifierShift), Do: s.stopAll}},
		{place.Waiting, place.Command{ID: "shell.waiting", TitleKey: "shell.waiting", Shortcut: keys(fyne.KeyJ, 0), Do: s.answer}},
		{place.Servers, place.Command{ID: "shell.servers", TitleKey: "shell.servers", Do: goTo(place.Servers)}},
		{place.Audit, place.Command{ID: "shell.audit", TitleKey: "shell.audit", Do: goTo(place.Audit)}},
		{place.Settings, place.Command{ID: "shell.settings", TitleKey: "shell.settings", Shortcut: keys(fyne.KeyComma, 0), Do: goTo(place.Settings)}},
		{"", place.Command{ID: "shell.side_bar", TitleKey: "shell.side_bar", Shortcut: keys(fyne.KeyB, 0), Do: s.toggleSide}},
		{"", place.Command{ID: "shell.quit", TitleKey: "shell.quit", Shortcut: keys(fyne.KeyQ, 0), Do: s.askToLeave}},
	}
	var out []place.Command
	for _, c := range all {
		if c.place == "" || s.offers(c.place) {
			out = append(out, c.Command)
		}
	}
	return out
}

// answer leads to what waits, and into its first card where the place offers that under the same keys.
func (s *Shell) answer() {
	s.open(place.Waiting, "")
	s.after(settle, func() { // when the cards are there
		if s.current == place.Waiting {
			s.commands.runOf(s.commands.shown, keys(fyne.KeyJ, 0))
		}
	})
}

// alwaysRuns names what works even while a dialog has the keyboard.
func alwaysRuns(id string) bool { return id == "shell.stop_all" || id == "shell.quit" }

// commandKeys is the shortcut of one of the window's own commands as it is shown.
func (s *Shell) commandKeys(id string) string {
	for _, c := range s.commands.own {
		if c.ID == id && c.Shortcut != nil {
			return place.KeysText(c.Shortcut)
		}
	}
	return ""
}
