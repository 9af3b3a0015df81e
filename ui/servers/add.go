package servers

import (
	"context"
	"errors"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"steward/app"
	"steward/app/clean"
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
	save   *widget.Button
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

func (s *Place) edit(before app.ServerEntry, name string) *editor {
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
		e.forms[i].OnChange = e.look
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
	e.save = widget.NewButton(lang.X("common.save", "Save"), e.keep)
	e.save.Importance = widget.HighImportance
	e.draw()
	s.show(e.page.Container)
	return e
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
	}
	e.page.changed()
}

func (e *editor) draw() {
	title := lang.X("servers.add_title", "Add a server")
	if e.name != "" {
		title = lang.X("servers.edit_title", "Edit {{.server}}", map[string]any{"server": clean.Reveal(e.name)})
	}
	e.page.set(strong(title), left(segmentFrame(e.mode)), e.form(), e.status,
		caption(lang.X("servers.save_means", "Saving starts nothing. What would be started differently must be reviewed first."), theme.Dim, text.Wrap),
		left(widget.NewButton(lang.X("common.cancel", "Cancel"), e.s.back), e.save))
	e.look()
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
	e.s.landed(name)
}

// landed shows a server that was just written.
func (s *Place) landed(name string) {
	s.back()
	s.wanted = name
	s.p.readList()
	s.p.readDetail()
	s.k.d.Showing(place.Servers, name)
}

// importer is the page on which servers are taken over from a text or another program's file.
type importer struct {
	s       *Place
	page    *page
	text    *form.Entry
	long    string // a text that was too long for the input
	places  []app.ImportPlace
	found   *app.Import
	problem error
	chosen  map[int]bool
	kept    []string // sentences about what was added
	busy    bool
}

// showImport opens the page and looks for files of other programs.
func (s *Place) showImport() { s.newImporter() }

func (s *Place) newImporter() *importer {
	m := &importer{s: s, page: newPage(), chosen: map[int]bool{}}
	m.text = form.NewMultiLine(8)
	m.text.EnterBreaks = true
	m.text.TextStyle = fyne.TextStyle{Monospace: true}
	m.text.SetPlaceHolder(lang.X("servers.import_example", "{\"mcpServers\": {\"files\": {\"command\": \"npx\", \"args\": [\"-y\", \"…\"]}}}"))
	m.text.OnChanged = func(string) { m.long = "" }
	m.text.OnShortcut = s.k.d.Shortcut
	m.text.OnBigPaste = func(whole string) {
		m.long = whole
		m.parse()
	}
	m.draw()
	s.show(m.page.Container)
	s.k.d.Go(func(context.Context) {
		places := app.ImportPlaces()
		s.k.d.Do(func() {
			m.places = places
			m.draw()
		})
	})
	return m
}

func (m *importer) parse() {
	data := m.text.Text
	if m.long != "" {
		data = m.long
	}
	if strings.TrimSpace(data) == "" {
		return
	}
	m.load(func() (app.Import, error) { return app.ParseImport([]byte(data)) })
}

// load reads servers in the background. Nothing of them is kept or started.
func (m *importer) load(f func() (app.Import, error)) {
	d := m.s.k.d
	d.Go(func(context.Context) {
		found, err := f()
		d.Do(func() {
			m.problem, m.found, m.kept = err, nil, nil
			clear(m.chosen)
			if err == nil {
				m.found = &found
				for i, e := range found.Servers {
					usable, _ := app.CheckServer(e)
					m.chosen[i] = usable && m.s.p.find(e.Name) < 0
				}
			}
			m.draw()
		})
	})
}

func (m *importer) draw() {
	out := []fyne.CanvasObject{strong(lang.X("servers.import_title", "Take over servers")),
		text.NewLabel(lang.X("servers.import_body", "Paste what a server's manual says, or the file of another program: mcpServers, VS Code's servers, or a single entry. You see each server before it is added, and nothing starts before you have reviewed it."), text.Run{Color: theme.Dim}, text.Wrap)}
	for _, p := range m.places {
		out = append(out, left(widget.NewButton(lang.X("servers.read_file", "Read"), func() {
			m.load(func() (app.Import, error) { return app.ReadImport(p.Path) })
		}), centredLabel(text.NewLabel(p.Program+"  "+clean.Reveal(p.Path), text.Run{}, text.Whole))))
	}
	show := widget.NewButton(lang.X("servers.show_found", "Show what it holds"), m.parse)
	show.Importance = widget.HighImportance
	out = append(out, m.text, left(widget.NewButton(lang.X("common.cancel", "Cancel"), m.s.back), show))
	if m.problem != nil {
		out = append(out, note(language.Message(m.problem), theme.Refusal, theme.RefusalTint))
	}
	for _, k := range m.kept {
		out = append(out, note(k, theme.Refusal, theme.RefusalTint))
	}
	if m.found != nil {
		out = append(out, m.foundObjects()...)
	}
	m.page.set(out...)
}

func centredLabel(l *text.Label) fyne.CanvasObject { return padded(2*step, 2*step, l) }

func (m *importer) foundObjects() []fyne.CanvasObject {
	var out []fyne.CanvasObject
	for _, p := range m.found.Problems {
		out = append(out, caption("⚠ "+p, theme.Waiting, text.Wrap))
	}
	if len(m.found.Servers) == 0 {
		return append(out, text.NewLabel(lang.X("servers.import_none", "No server stands in it."), text.Run{Color: theme.Dim}, text.Wrap))
	}
	for i, e := range m.found.Servers {
		usable, _ := app.CheckServer(e)
		word := lang.X("servers.import_this", "Add it")
		taken := m.s.p.find(e.Name) >= 0
		if taken {
			word = lang.X("servers.import_taken", "There is a server of this name")
		}
		on := widget.NewCheck(word, nil)
		on.Checked = m.chosen[i]
		on.OnChanged = func(to bool) { m.chosen[i] = to }
		if !usable || taken {
			on.Disable()
		}
		out = append(out, column(step, strong(clean.Reveal(e.Name)), left(on), m.s.k.entryCard(m.page, e)))
	}
	b := widget.NewButton(lang.X("servers.import_add", "Add the chosen ones"), m.add)
	b.Importance = widget.HighImportance
	if m.busy {
		b.Disable()
	}
	return append(out, left(b))
}

// add writes the chosen servers. They wait for their review.
func (m *importer) add() {
	if m.busy || m.found == nil {
		return
	}
	var entries []app.ServerEntry
	for i, e := range m.found.Servers {
		if m.chosen[i] {
			entries = append(entries, e)
		}
	}
	if len(entries) == 0 {
		return
	}
	m.busy = true
	d := m.s.k.d
	d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, 6*patience)
		defer cancel()
		var failed []string
		first := ""
		for _, e := range entries {
			if err := d.App.AddServer(ctx, e); err != nil {
				failed = append(failed, language.Message(err))
			} else if first == "" {
				first = e.Name
			}
		}
		d.Do(func() {
			m.busy, m.kept = false, failed
			m.s.p.readList()
			if len(failed) == 0 {
				m.s.landed(first)
				return
			}
			m.found = nil
			m.draw()
		})
	})
}

// grantWords say what a standing yes covers.
func grantWords(g app.Grant) string {
	words := lang.X("servers.grant_always", "Allowed by you in every chat")
	if g.Conversation != "" {
		words = lang.X("servers.grant_chat", "Allowed by you in the chat “{{.title}}”", map[string]any{"title": clean.Line(g.Title, 80)})
	}
	if g.Suspended {
		words += " · " + lang.X("servers.grant_suspended", "suspended, because the definition changed")
	}
	return words
}
