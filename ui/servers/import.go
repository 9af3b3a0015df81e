package servers

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"steward/app"
	"steward/app/clean"
	"steward/ui/button"
	"steward/ui/form"
	"steward/ui/language"
	"steward/ui/text"
	"steward/ui/theme"
)

// importer is the page on which servers are taken over from a text or another program's file. Nothing of them is kept
// before the person has seen it, and nothing is started.
type importer struct {
	s       *Place
	page    *page
	text    *form.Entry
	long    string // a text that was too long for the input
	places  []app.ImportPlace
	source  string // the text that was read, "" for a file: problems name its lines
	read    bool   // something was read without an error
	offered []*offered
	notes   []string // what is odd about what was read
	problem error
	failed  []string // sentences about what could not be added
	busy    bool

	cancelIt, showIt, addIt *button.Button // made once, so that the keyboard stays on them
}

// offered is one server that was found.
type offered struct {
	entry  app.ServerEntry
	usable bool
	on     bool            // the person wants it
	secret map[string]bool // variables and headers that the person wants in the keyring beside what looks like a secret
}

// showImport opens the page and looks for files of other programs.
func (s *Place) showImport() {
	if m := s.taking; m != nil {
		s.show(m.page)
		s.focus(m.text)
		return
	}
	s.newImporter()
}

func (s *Place) newImporter() *importer {
	m := &importer{s: s, page: newPage()}
	m.cancelIt = newButton(lang.X("common.cancel", "Cancel"), m.cancel)
	m.showIt = strongButton(lang.X("servers.show_found", "Show what it holds"), m.parse)
	m.addIt = strongButton(lang.X("servers.import_add", "Add the chosen ones"), m.add)
	m.text = form.NewMultiLine(8)
	m.text.EnterBreaks = true
	m.text.TextStyle = fyne.TextStyle{Monospace: true}
	m.text.SetPlaceHolder(lang.X("servers.import_example", "{\"mcpServers\": {\"files\": {\"command\": \"npx\", \"args\": [\"-y\", \"…\"]}}}"))
	m.text.OnChanged = func(string) { m.long = "" }
	m.text.OnShortcut = s.k.d.Shortcut
	m.text.OnKey = func(e *fyne.KeyEvent) bool {
		if e.Name == fyne.KeyEscape {
			s.back()
			return true
		}
		return false
	}
	m.text.OnBigPaste = func(whole string) {
		m.long = whole
		m.parse()
	}
	s.taking = m
	m.draw()
	s.show(m.page)
	s.focus(m.text)
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
	m.load(data, func() (app.Import, error) { return app.ParseImport([]byte(data)) })
}

// load reads servers in the background.
func (m *importer) load(source string, f func() (app.Import, error)) {
	d := m.s.k.d
	d.Go(func(context.Context) {
		found, err := f()
		d.Do(func() {
			m.source, m.problem, m.read, m.failed, m.offered, m.notes = source, err, err == nil, nil, nil, found.Problems
			for _, e := range found.Servers {
				usable, _ := app.CheckServer(e)
				m.offered = append(m.offered, &offered{entry: e, usable: usable, on: usable && m.s.p.find(e.Name) < 0, secret: map[string]bool{}})
			}
			m.draw()
		})
	})
}

func (m *importer) draw() {
	out := []fyne.CanvasObject{strong(lang.X("servers.import_title", "Take over servers")),
		text.NewLabel(lang.X("servers.import_body", "Paste what a server's manual says, or the file of another program: mcpServers, VS Code's servers, or a single entry. You see each server before it is added, and nothing starts before you have reviewed it."), text.Run{Color: theme.Dim}, text.Wrap)}
	for _, p := range m.places {
		read := newButton(lang.X("servers.read_file", "Read"), func() {
			m.load("", func() (app.Import, error) { return app.ReadImport(p.Path) })
		})
		label := text.NewLabel("", text.Run{}, text.Cut)
		label.SetRuns(text.Run{Text: p.Program + "  ", Bold: true}, text.Run{Text: clean.Reveal(p.Path), Color: theme.Dim})
		out = append(out, besides(read, label))
	}
	out = append(out, m.text, left(m.cancelIt, m.showIt))
	if m.problem != nil {
		words := language.Message(m.problem)
		out = append(out, note(words, theme.Refusal, theme.RefusalTint, m.lineOf(words)...))
	}
	for _, n := range m.notes {
		out = append(out, column(0, append([]fyne.CanvasObject{caption("⚠ "+n, theme.Waiting, text.Wrap)}, m.lineOf(n)...)...))
	}
	for _, k := range m.failed {
		out = append(out, note(k, theme.Refusal, theme.RefusalTint))
	}
	if m.read {
		out = append(out, m.foundObjects()...)
	}
	m.page.set(out...)
}

var (
	lineNumber   = regexp.MustCompile(`\bline (\d+)\b`)
	columnNumber = regexp.MustCompile(`\bcolumn (\d+)\b`)
)

const aroundColumn = 40 // characters before and after the place that a problem names

// lineOf is the line of the pasted text that a problem names, as it stands there; of a long one, the part around the
// column.
func (m *importer) lineOf(problem string) []fyne.CanvasObject {
	n, lines := numberIn(lineNumber, problem), strings.Split(m.source, "\n")
	if m.source == "" || n < 1 || n > len(lines) {
		return nil
	}
	line := []rune(strings.TrimRight(lines[n-1], "\r"))
	before, after := "", ""
	if column := numberIn(columnNumber, problem); len(line) > 2*aroundColumn && column > 0 {
		from := min(max(column-1-aroundColumn, 0), len(line))
		to := min(column-1+aroundColumn, len(line))
		if from > 0 {
			before = "…"
		}
		if to < len(line) {
			after = "…"
		}
		line = line[from:max(to, from)]
	}
	l := text.NewLabel(fmt.Sprintf("%d │ %s", n, before+clean.Line(clean.Reveal(string(line)), 200)+after), text.Run{Mono: true, Color: theme.Dim}, text.Cut)
	l.SetTextSize(theme.CaptionSize)
	return []fyne.CanvasObject{l}
}

// numberIn is the number that a text names; 0 for none.
func numberIn(what *regexp.Regexp, s string) int {
	found := what.FindStringSubmatch(s)
	if found == nil {
		return 0
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		return 0
	}
	return n
}

// besides is a button with a line of text at its right.
func besides(b *button.Button, l *text.Label) fyne.CanvasObject {
	return container.NewBorder(nil, nil, b, nil, container.New(centred{}, l))
}

func (m *importer) foundObjects() []fyne.CanvasObject {
	if len(m.offered) == 0 {
		return []fyne.CanvasObject{text.NewLabel(lang.X("servers.import_none", "No server stands in it."), text.Run{Color: theme.Dim}, text.Wrap)}
	}
	var out []fyne.CanvasObject
	for _, o := range m.offered {
		word := lang.X("servers.import_this", "Add it")
		taken := m.s.p.find(o.entry.Name) >= 0
		if taken {
			word = lang.X("servers.import_taken", "There is a server of this name")
		}
		on := widget.NewCheck(word, nil)
		on.Checked = o.on
		on.OnChanged = func(to bool) { o.on = to }
		if !o.usable || taken {
			on.Disable()
		}
		shown, moved := app.HideSecrets(o.entry)
		objects := []fyne.CanvasObject{strong(clean.Reveal(o.entry.Name)), left(on), m.s.k.entryCard(m.page, shown)}
		if len(moved) > 0 {
			objects = append(objects, keptWords(moved))
		}
		out = append(out, column(step, append(objects, o.choices(shown)...)...))
	}
	m.addIt.Enable()
	if m.busy {
		m.addIt.Disable()
	}
	return append(out, left(m.addIt))
}

// keptWords say which values go to the keyring, and under which names.
func keptWords(names []string) fyne.CanvasObject {
	return caption(lang.X("servers.goes_to_keyring", "Kept as secrets, not in the file: {{.names}}", map[string]any{"names": strings.Join(placeholders(names), ", ")}), theme.Good, text.Wrap)
}

func placeholders(names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, "${secret:"+clean.Reveal(n)+"}")
	}
	return out
}

// choices offer the keyring for what does not look like a secret by itself.
func (o *offered) choices(shown app.ServerEntry) []fyne.CanvasObject {
	var out []fyne.CanvasObject
	for _, m := range []map[string]string{shown.Env, shown.Headers} {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if m[name] == "" || strings.Contains(m[name], "${") {
				continue
			}
			c := widget.NewCheck(lang.X("servers.keep_secret", "Keep the value of {{.name}} as a secret, too", map[string]any{"name": clean.Reveal(name)}), nil)
			c.Checked = o.secret[name]
			c.OnChanged = func(to bool) { o.secret[name] = to }
			out = append(out, left(c))
		}
	}
	return out
}

// add writes the chosen servers. They wait for their review.
func (m *importer) add() {
	if m.busy {
		return
	}
	type wish struct {
		entry  app.ServerEntry
		secret []string
	}
	var wishes []wish
	for _, o := range m.offered {
		if o.on && o.usable && m.s.p.find(o.entry.Name) < 0 {
			var names []string
			for name, on := range o.secret {
				if on {
					names = append(names, name)
				}
			}
			wishes = append(wishes, wish{o.entry, names})
		}
	}
	if len(wishes) == 0 {
		return
	}
	m.busy = true
	m.draw()
	d := m.s.k.d
	d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, 6*patience)
		defer cancel()
		var failed, added []string
		for _, w := range wishes {
			e, err := d.App.KeepInSecrets(ctx, w.entry, w.secret)
			if err == nil {
				err = d.App.AddServer(ctx, e)
			}
			if err != nil {
				failed = append(failed, language.Message(err))
			} else {
				added = append(added, e.Name)
			}
		}
		d.Do(func() { m.added(added, failed) })
	})
}

// added shows what became of it: the first new server where all went well, else what failed, with the rest still to be
// chosen.
func (m *importer) added(added, failed []string) {
	m.busy, m.failed = false, failed
	m.offered = slices.DeleteFunc(m.offered, func(o *offered) bool { return slices.Contains(added, o.entry.Name) })
	if len(failed) == 0 && len(added) > 0 {
		m.s.taking = nil
		m.s.landed(added[0])
		return
	}
	m.s.p.readList()
	m.draw()
}

// cancel forgets what was pasted.
func (m *importer) cancel() {
	m.s.taking = nil
	m.s.back()
}
