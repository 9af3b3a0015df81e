package audit

import (
	"strconv"

	"fyne.io/fyne/v2/lang"

	"steward/app/clean"
	"steward/ui/language"
	"steward/ui/list"
	"steward/ui/text"
	"steward/ui/theme"
)

// Width of the column of numbers: for four digits, and for each more.
const (
	numberWidth = 56
	digitWidth  = 8
)

func (a *Place) newTable() *list.Table {
	columns := []list.Column{
		{Title: lang.X("audit.number", "#"), Width: numberWidth},
		{Title: lang.X("audit.time", "Time"), Width: 92},
		{Title: lang.X("audit.server", "Server"), Width: 76, Flex: 2},
		{Title: lang.X("audit.tool", "Tool"), Width: 150, Flex: 4},
		{Title: lang.X("audit.outcome", "Outcome"), Width: 84, Flex: 1},
		{Title: lang.X("audit.decided_by", "Decided by"), Width: 86, Flex: 2},
		{Title: lang.X("audit.took", "Took"), Width: 74},
	}
	t := list.NewTable(columns, list.TableSource{Len: func() int { return a.p.pages.Len() }, Row: a.row})
	t.List.OnVisible = func(first, last int) { a.p.see(first, last) }
	t.List.OnSelected = a.selected
	t.List.OnOpened = a.selected
	return t
}

func (a *Place) row(i int) (cells []list.Cell, loaded bool) {
	r, ok := a.p.pages.at(i)
	if !ok {
		return nil, false
	}
	outcome, color := outcomeWords(r.Outcome)
	server := clean.Line(r.Server, 100)
	if server == "" {
		server = nothing
	}
	by := a.p.names.by(r.By)
	tool := list.Cell{Text: what(r)}
	if r.Parent != 0 {
		tool.Color = theme.Dim
	}
	return []list.Cell{
		{Text: strconv.FormatInt(r.Record, 10)}, {Text: clock(r.Time, a.p.now())}, {Text: server}, tool,
		{Text: outcome, Color: color}, {Text: by}, {Text: took(r)},
	}, true
}

func (a *Place) selected(i int) {
	n := a.p.pages.number(i) // the row need not have been read yet
	if n == 0 || n == a.p.chosen && a.p.record != nil {
		return
	}
	a.p.choose(n)
	a.d.Showing("audit", strconv.FormatInt(n, 10))
}

// What follows is the presenter's screen.

func (a *Place) reset() {
	a.table.Reset()
	a.point()
}

func (a *Place) grown(more int) {
	n := a.p.pages.Len()
	switch {
	case more > 0:
		a.table.List.Inserted(n-more, more)
	case more < 0:
		a.table.List.Removed(n, -more)
	}
	a.point()
	if a.leading && a.p.chosen != 0 {
		a.lead(a.p.chosen)
	}
}

func (a *Place) inserted(n int) { a.table.List.Inserted(0, n); a.point() }

func (a *Place) changed() {
	digits := len(strconv.FormatInt(a.p.pages.newest(), 10))
	a.table.SetWidth(0, float32(numberWidth+digitWidth*max(0, digits-4)))
	a.table.Changed(0, a.p.pages.Len())
}

func (a *Place) status() {
	a.chips()
	switch {
	case a.p.problem != nil:
		a.problem.SetText(language.Message(a.p.problem), text.Run{Color: theme.Refusal})
	case len(a.p.faults) > 0:
		a.problem.SetText(faultWords(a.p.faults[0]), text.Run{Color: theme.Waiting})
	}
	a.problem.Hidden = a.p.problem == nil && len(a.p.faults) == 0
	a.problem.Refresh()
	words := ""
	if a.p.pages.ended {
		words = lang.X("audit.amount", "{{.count}} records", map[string]any{"count": count(int64(a.p.pages.Len()))})
	}
	a.amount.SetText(words, text.Run{Color: theme.Dim})
	empty, filtered := a.p.empty()
	a.empty.Hidden = !empty
	switch {
	case filtered:
		a.empty.SetText(lang.X("audit.nothing", "No record fits what is looked for."), text.Run{Color: theme.Dim})
	case empty:
		a.empty.SetText(lang.X("audit.empty", "Nothing has been called yet. Every call is recorded here."), text.Run{Color: theme.Dim})
	}
	if a.root != nil {
		a.empty.Refresh()
		a.root.Refresh()
	}
}
