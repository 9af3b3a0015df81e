package shell

import (
	"fyne.io/fyne/v2"

	"steward/ui/place"
)

// registry holds every command there is now: the window's own, and those of the place that is shown. It belongs to
// Fyne's goroutine.
type registry struct {
	own   []place.Command
	shown []place.Command
	// blocked says that something holds the keyboard, a dialog: only commands that it lets through run.
	blocked func(c place.Command) bool
}

// run runs the command with a shortcut. The place's come first, so that it can give a key a meaning of its own.
func (r *registry) run(s fyne.Shortcut) bool {
	return r.runOf(r.shown, s) || r.runOf(r.own, s)
}

func (r *registry) runOf(list []place.Command, s fyne.Shortcut) bool {
	for _, c := range list {
		if c.Shortcut != nil && c.Shortcut.ShortcutName() == s.ShortcutName() && r.may(c) {
			c.Do()
			return true
		}
	}
	return false
}

func (r *registry) may(c place.Command) bool {
	return (r.blocked == nil || !r.blocked(c)) && (c.Enabled == nil || c.Enabled())
}

// offered are the commands that may run now and have a title.
func (r *registry) offered() []place.Command {
	var out []place.Command
	for _, list := range [][]place.Command{r.shown, r.own} {
		for _, c := range list {
			if c.TitleKey != "" && (c.Enabled == nil || c.Enabled()) {
				out = append(out, c)
			}
		}
	}
	return out
}

// shortcuts are those of all commands.
func (r *registry) shortcuts() []fyne.Shortcut {
	var out []fyne.Shortcut
	for _, list := range [][]place.Command{r.shown, r.own} {
		for _, c := range list {
			if c.Shortcut != nil {
				out = append(out, c.Shortcut)
			}
		}
	}
	return out
}
