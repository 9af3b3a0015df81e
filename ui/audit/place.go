package audit

import (
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"steward/ui/form"
	"steward/ui/language"
	"steward/ui/list"
	"steward/ui/place"
	"steward/ui/text"
	"steward/ui/theme"
)

const edge = 5 * theme.Step

// Place is the place over the record; see [place.Place].
type Place struct {
	d place.Deps
	p *presenter

	root    fyne.CanvasObject
	top     *fyne.Container
	search  *form.Entry
	problem *text.Label // below the search field
	server  *chip
	outcome *chip
	period  *chip
	verify  *chip
	export  *widget.Button
	table   *list.Table
	empty   *text.Label
	pane    *pane
	writing bool // an export is being written
	leading bool // the chosen record's row is to be shown once it is there
}

// New makes the place. Fyne's goroutine.
func New(d place.Deps) *Place {
	a := &Place{d: d}
	a.p = newPresenter(d)
	a.p.on = a
	a.pane = newPane(a)
	a.root = a.build()
	a.status()
	a.checked()
	return a
}

func (a *Place) build() fyne.CanvasObject {
	a.search = form.NewEntry()
	a.search.Icon = theme.IconIn("search", theme.Dim)
	a.search.SetPlaceHolder(lang.X("audit.search_hint", "server:mail-server  outcome:denied  “invoice”"))
	a.search.OnChanged = a.p.typing
	a.search.OnSubmit = func(s string) { a.p.look(s, a.p.period) }
	a.search.OnKey = a.searchKey
	a.search.OnShortcut = a.d.Shortcut
	a.problem = text.NewLabel("", text.Run{}, text.Cut)
	a.problem.SetTextSize(theme.CaptionSize)
	a.server = newChip("", a.serverMenu)
	a.outcome = newChip("", a.outcomeMenu)
	a.period = newChip("", a.periodMenu)
	a.table = a.newTable()
	a.empty = text.NewLabel("", text.Run{Color: theme.Dim}, text.Wrap)
	chips := container.New(layout.NewCustomPaddedHBoxLayout(2.5*theme.Step), middle(a.server), middle(a.outcome), middle(a.period))
	bar := container.NewBorder(nil, nil, nil, container.New(layout.NewCustomPaddedLayout(0, 0, 2.5*theme.Step, 0), chips), a.search)
	rows := container.NewStack(a.table, container.New(layout.NewCustomPaddedLayout(14*theme.Step, 0, 2.5*theme.Step, edge), a.empty))
	split := container.NewHSplit(container.New(layout.NewCustomPaddedLayout(0, 0, 0, 4*theme.Step), rows), a.pane.object)
	split.Offset = 0.71
	below := container.NewBorder(container.New(layout.NewCustomPaddedLayout(3.5*theme.Step, 2*theme.Step, 0, edge), container.NewVBox(bar, a.problem)), nil, nil, nil, split)
	return container.NewBorder(a.head(), nil, nil, nil, container.New(layout.NewCustomPaddedLayout(0, 0, edge, 0), below))
}

// head is the bar with the title, the proof and the export.
func (a *Place) head() fyne.CanvasObject {
	title := text.NewLabel(lang.X("audit.title", "Audit"), text.Run{Bold: true}, text.Whole)
	a.verify = newChip("", a.verifyTapped)
	a.export = widget.NewButtonWithIcon(lang.X("audit.export", "Export"), theme.Icon("download"), a.exportMenu)
	row := container.New(layout.NewCustomPaddedHBoxLayout(2.5*theme.Step), middle(title), layout.NewSpacer(), middle(a.verify), middle(a.export))
	a.top = row
	line := newRule()
	return container.New(layout.NewCustomPaddedVBoxLayout(0), container.New(layout.NewCustomPaddedLayout(2*theme.Step, 2*theme.Step, edge, edge), row), line)
}

// middle keeps an object at its own height, in the middle.
func middle(o fyne.CanvasObject) fyne.CanvasObject {
	return container.New(layout.NewCustomPaddedVBoxLayout(0), layout.NewSpacer(), o, layout.NewSpacer())
}

// rule is a line that follows the theme.
type rule struct {
	widget.BaseWidget
	line *canvas.Rectangle
}

func newRule() *rule {
	r := &rule{line: canvas.NewRectangle(theme.Color(theme.Line))}
	r.line.SetMinSize(fyne.NewSize(1, 1))
	r.ExtendBaseWidget(r)
	return r
}

// Refresh is Fyne's.
func (r *rule) Refresh() {
	r.line.FillColor = theme.Color(theme.Line)
	canvas.Refresh(r.line)
}

// CreateRenderer is Fyne's.
func (r *rule) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(r.line) }

// searchKey leaves the field for the table with Down, and empties it with Escape.
func (a *Place) searchKey(e *fyne.KeyEvent) bool {
	switch e.Name {
	case fyne.KeyDown:
		a.focus(a.table.List)
		return true
	case fyne.KeyEscape:
		if a.search.Text == "" {
			return a.d.Shortcut(&desktop.CustomShortcut{KeyName: fyne.KeyEscape})
		}
		a.set("")
		return true
	}
	return false
}

// set shows a query in the field and in the table.
func (a *Place) set(query string) {
	a.p.look(query, a.p.period)
	a.search.SetText(query)
}

func (a *Place) focus(f fyne.Focusable) {
	if w := a.d.Window(); w != nil {
		w.Canvas().Focus(f)
	}
}

// Canvas is [place.Place]'s.
func (a *Place) Canvas() fyne.CanvasObject { return a.root }

// Goto shows a record by its number.
func (a *Place) Goto(argument string) {
	n, err := strconv.ParseInt(argument, 10, 64)
	if err != nil || n < 1 {
		return
	}
	a.lead(n)
}

// lead shows a record's details, and its row where the table has it. Rows that are still being looked for are led to
// when they are there.
func (a *Place) lead(record int64) {
	a.p.choose(record)
	a.leading = !a.p.pages.ended && a.p.pages.find(record) < 0
	a.point()
	if i := a.table.List.Selected(); i >= 0 {
		a.table.List.Reveal(i)
	}
}

// point marks the chosen record's row.
func (a *Place) point() {
	i := -1
	if a.p.chosen != 0 {
		i = a.p.pages.find(a.p.chosen)
	}
	a.table.List.Select(i)
}

// Shown is [place.Place]'s.
func (a *Place) Shown() { a.p.show() }

// Hidden is [place.Place]'s.
func (a *Place) Hidden() { a.p.hide() }

// Close is [place.Place]'s.
func (a *Place) Close() { a.p.close() }

// Commands is [place.Place]'s.
func (a *Place) Commands() []place.Command {
	find := &desktop.CustomShortcut{KeyName: fyne.KeyF, Modifier: fyne.KeyModifierShortcutDefault}
	return []place.Command{
		{ID: "audit.find", TitleKey: "audit.search", Shortcut: find, Do: func() { a.focus(a.search) }},
		{ID: "audit.verify", TitleKey: "audit.verify", Do: a.p.verify, Enabled: func() bool { return a.p.check.state != checking }},
		{ID: "audit.export", TitleKey: "audit.export", Do: a.exportMenu, Enabled: func() bool { return !a.writing }},
		{ID: "audit.again", TitleKey: "audit.run_again", Do: a.runAgain, Enabled: func() bool { return a.p.record != nil && a.p.record.again() }},
	}
}

// told and failedTo are the presenter's.
func (a *Place) told(sentence string) { a.d.Layer.Toast(sentence) }
func (a *Place) failedTo(err error) {
	a.d.Layer.Ask(lang.X("common.failed", "Failed"), language.Message(err), place.Button{Label: lang.X("common.close", "Close")})
}
