package servers

import (
	"context"
	"errors"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/app/clean"
	"steward/ui/button"
	"steward/ui/form"
	"steward/ui/language"
	"steward/ui/place"
	"steward/ui/text"
	"steward/ui/theme"
)

// editor is the page on which a server is described by a form.
type editor struct {
	s      *Place
	page   *page
	before app.ServerEntry
	name   string // of the server that is edited; "" for a new one
	mode   *segments
	forms  [2]*form.Form // a program, an address
	status *fyne.Container
	save   *button.Button
	stop   *button.Button // cancels
	busy   bool
}

// showAdd opens an empty form.
func (s *Place) showAdd() { s.edit(app.ServerEntry{Transport: stdio}, "") }

// showEdit opens the form of a server that there is.
func (s *Place) showEdit(d app.ServerDetail) {
	if d.Editable {
		s.edit(d.Entry, d.Name)
	}
}

// edit opens a form; one that was begun for the same entry goes on.
func (s *Place) edit(before app.ServerEntry, name string) *editor {
	if e := s.drafts[name]; e != nil && slices.Equal(entryLines(e.before), entryLines(before)) && (e.forms[0].Touched() || e.forms[1].Touched()) {
		s.show(e.page)
		e.begin()
		return e
	}
	e := &editor{s: s, page: newPage(), before: before, name: name, status: column(step)}
	for i, transport := range []string{stdio, http} {
		fields := entryFields(transport, before)
		for n := range fields {
			switch fields[n].Name {
			case "env":
				fields[n].Check = lineCheck("=")
			case "headers":
				fields[n].Check = lineCheck(":")
			}
		}
		e.forms[i] = form.New(fields, formTexts)
		e.forms[i].OnResize, e.forms[i].OnShortcut = e.page.changed, s.k.d.Shortcut
		e.forms[i].OnChange, e.forms[i].OnEscape = e.look, func() bool { s.back(); return true }
	}
	words := []string{lang.X("servers.a_program", "A program on this computer"), lang.X("servers.an_address", "An address")}
	if name == "" {
		words = append(words, lang.X("servers.paste", "Paste JSON"))
	}
	e.mode = newSegments(func(i int) {
		if i == 2 {
			s.showImport()
			return
		}
		e.draw()
	}, words...)
	if before.URL != "" {
		e.mode.show(1)
	}
	e.stop = newButton(lang.X("common.cancel", "Cancel"), e.cancel)
	e.save = newButton(lang.X("common.save", "Save"), e.keep)
	e.save.SetLook(button.Strong)
	s.drafts[name] = e
	e.draw()
	s.show(e.page)
	e.begin()
	return e
}

// begin puts the person into the first field; a moment later where the form was not drawn yet.
func (e *editor) begin() {
	if !e.form().FocusField("name") {
		e.s.k.d.Do(func() { e.form().FocusField("name") })
	}
}

func lineCheck(between string) func(string) error {
	return func(s string) error {
		if line := badLine(s, between); line != "" {
			return errors.New(lang.X("servers.bad_line", "“{{.line}}” has no name or no {{.sign}}.", map[string]any{"line": clean.Line(line, 40), "sign": between}))
		}
		return nil
	}
}

func (e *editor) form() *form.Form { return e.forms[min(e.mode.chosen, 1)] }

func (e *editor) entry() app.ServerEntry {
	return entryFrom([]string{stdio, http}[min(e.mode.chosen, 1)], e.before, e.form().Values())
}

// look says at once what is odd about the entry as it stands.
func (e *editor) look() {
	e.status.Objects = nil
	if e.form().Problems() == nil {
		usable, problems := app.CheckServer(e.entry())
		for _, p := range problems {
			colour := theme.Waiting
			if !usable {
				colour = theme.Refusal
			}
			e.status.Objects = append(e.status.Objects, caption("⚠ "+p, colour, text.Wrap))
		}
		if _, moved := app.HideSecrets(e.entry()); len(moved) > 0 {
			e.status.Objects = append(e.status.Objects, keptWords(moved))
		}
	}
	e.page.changed()
}

func (e *editor) draw() {
	title := lang.X("servers.add_title", "Add a server")
	if e.name != "" {
		title = lang.X("servers.edit_title", "Edit {{.server}}", map[string]any{"server": clean.Reveal(e.name)})
	}
	e.page.set(strong(title), left(segmentFrame(e.mode)), e.form(), e.status,
		caption(e.meaning(), theme.Dim, text.Wrap),
		left(e.stop, e.save))
	e.look()
}

// meaning says what saving does.
func (e *editor) meaning() string {
	s := lang.X("servers.save_means", "Saving starts nothing. What would be started differently must be reviewed first.")
	if e.name != "" {
		s += " " + lang.X("servers.save_ends", "The server is ended if it runs: calls that wait for you are withdrawn, and one that is running ends with an unknown outcome.")
	}
	return s
}

func (e *editor) keep() {
	if e.busy || !e.form().Check() {
		return
	}
	entry := e.entry()
	e.busy = true
	e.save.Disable()
	d := e.s.k.d
	d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, 3*patience)
		defer cancel()
		var err error
		if e.name == "" {
			err = d.App.AddServer(ctx, entry)
		} else {
			err = d.App.EditServer(ctx, e.name, entry)
		}
		d.Do(func() { e.kept(entry.Name, err) })
	})
}

func (e *editor) kept(name string, err error) {
	e.busy = false
	e.save.Enable()
	if err != nil {
		e.status.Objects = []fyne.CanvasObject{note(language.Message(err), theme.Refusal, theme.RefusalTint)}
		e.page.changed()
		return
	}
	delete(e.s.drafts, e.name)
	e.s.landed(name)
}

// cancel forgets what was filled in.
func (e *editor) cancel() {
	delete(e.s.drafts, e.name)
	e.s.back()
}

// landed shows a server that was just written.
func (s *Place) landed(name string) {
	s.back()
	s.wanted = name
	s.p.readList()
	s.p.readDetail()
	s.k.d.Showing(place.Servers, name)
}
