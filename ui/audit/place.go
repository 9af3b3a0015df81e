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

	"steward/ui/button"
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
	amount  *text.Label // of the rows
	banner  *banner
	bar     *fyne.Container // search and filters
	search  *form.Entry
	problem *text.Label // below the search field
	server  *chip
	tool    *chip
	outcome *chip
	more    *chip
	period  *chip
	verify  *chip
	export  *button.Button
	table   *list.Table
	empty   *text.Label
	pane    *pane
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
	a.tool = newChip("", a.toolMenu)
	a.outcome = newChip("", a.outcomeMenu)
	a.more = newChip("", a.moreMenu)
	a.period = newChip("", a.periodMenu)
	a.table = a.newTable()
	a.empty = text.NewLabel("", text.Run{Color: theme.Dim}, text.Wrap)
	chips := container.New(layout.NewCustomPaddedHBoxLayout(2*theme.Step), middle(a.server), middle(a.tool), middle(a.outcome), middle(a.more), middle(a.period))
	a.bar = container.New(barLayout{}, a.search, chips)
	rows := container.NewStack(a.table, container.New(layout.NewCustomPaddedLayout(14*theme.Step, 0, 2.5*theme.Step, edge), a.empty))
	split := container.NewHSplit(container.New(layout.NewCustomPaddedLayout(0, 0, 0, 4*theme.Step), rows), a.pane.object)
	split.Offset = 0.71
	below := container.NewBorder(container.New(layout.NewCustomPaddedLayout(3.5*theme.Step, 2*theme.Step, 0, edge), container.NewVBox(a.bar, a.problem)), nil, nil, nil, split)
	a.banner = newBanner(a)
	whole := container.NewBorder(container.New(layout.NewCustomPaddedLayout(0, 0, 0, 0), a.banner.object), nil, nil, nil, below)
	return container.NewBorder(a.head(), nil, nil, nil, container.New(layout.NewCustomPaddedLayout(0, 0, edge, 0), whole))
}

// head is the bar with the title, the proof and the export.
func (a *Place) head() fyne.CanvasObject {
	title := text.NewLabel(lang.X("audit.title", "Audit"), text.Run{Bold: true}, text.Whole)
	a.verify = newChip("", a.verifyTapped)
	a.export = button.New(button.Outlined, "download", lang.X("audit.export", "Export"), a.exportMenu)
	a.amount = text.NewLabel("", text.Run{}, text.Whole)
	a.amount.SetTextSize(theme.CaptionSize)
	row := container.New(layout.NewCustomPaddedHBoxLayout(2.5*theme.Step), middle(title), middle(a.amount), layout.NewSpacer(), middle(a.verify), middle(a.export))
	line := newRule()
	return container.New(layout.NewCustomPaddedVBoxLayout(0), container.New(layout.NewCustomPaddedLayout(2*theme.Step, 2*theme.Step, edge, edge), row), line)
}

// middle keeps an object at its own height, in the middle.
func middle(o fyne.CanvasObject) fyne.CanvasObject {
	return container.New(layout.NewCustomPaddedVBoxLayout(0), layout.NewSpacer(), o, layout.NewSpacer())
}

// barLayout puts the filters beside the search field, or below it where that would leave it no room.
type barLayout struct{}

const searchLeast = 240

func (barLayout) split(objects []fyne.CanvasObject, width float32) (search, chips fyne.Size, beside bool) {
	search, chips = objects[0].MinSize(), objects[1].MinSize()
	return search, chips, width == 0 || width >= searchLeast+2*theme.Step+chips.Width
}

// MinSize is Fyne's. The height is that of the width the bar has now.
func (b barLayout) MinSize(objects []fyne.CanvasObject) fyne.Size {
	width := max(objects[0].Size().Width, objects[1].Position().X+objects[1].Size().Width)
	search, chips, beside := b.split(objects, width)
	if beside {
		return fyne.NewSize(searchLeast, max(search.Height, chips.Height))
	}
	return fyne.NewSize(searchLeast, search.Height+2*theme.Step+chips.Height)
}

// Layout is Fyne's.
func (b barLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	search, chips, beside := b.split(objects, size.Width)
	if beside {
		objects[0].Resize(fyne.NewSize(size.Width-chips.Width-2*theme.Step, size.Height))
		objects[1].Resize(fyne.NewSize(chips.Width, size.Height))
		objects[1].Move(fyne.NewPos(size.Width-chips.Width, 0))
		return
	}
	objects[0].Resize(fyne.NewSize(size.Width, search.Height))
	objects[1].Resize(fyne.NewSize(size.Width, chips.Height))
	objects[1].Move(fyne.NewPos(0, search.Height+2*theme.Step))
}

// ground is a filled rectangle that follows the theme.
type ground struct {
	widget.BaseWidget
	color fyne.ThemeColorName
	shape *canvas.Rectangle
}

func newGround(color fyne.ThemeColorName, radius float32) *ground {
	g := &ground{color: color, shape: canvas.NewRectangle(theme.Color(color))}
	g.shape.CornerRadius = radius
	g.ExtendBaseWidget(g)
	return g
}

// newRule is a line.
func newRule() *ground {
	g := newGround(theme.Line, 0)
	g.shape.SetMinSize(fyne.NewSize(1, 1))
	return g
}

// Refresh is Fyne's.
func (g *ground) Refresh() {
	g.shape.FillColor = theme.Color(g.color)
	canvas.Refresh(g.shape)
}

// CreateRenderer is Fyne's.
func (g *ground) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(g.shape) }

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
		{ID: "audit.export", TitleKey: "audit.export", Do: a.exportMenu, Enabled: func() bool { return !a.p.writing.running }},
		{ID: "audit.again", TitleKey: "audit.run_again", Do: a.runAgain, Enabled: func() bool { return a.p.record != nil && a.p.record.again() }},
	}
}

// told and failedTo are the presenter's.
func (a *Place) told(sentence string) { a.d.Layer.Toast(sentence) }
func (a *Place) failedTo(err error) {
	a.d.Layer.Ask(lang.X("common.failed", "Failed"), language.Message(err), place.Button{Label: lang.X("common.close", "Close")})
}
