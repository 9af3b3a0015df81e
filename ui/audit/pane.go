package audit

import (
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"

	"steward/app/clean"
	"steward/app/journal"
	"steward/ui/button"
	"steward/ui/language"
	"steward/ui/place"
	"steward/ui/text"
	"steward/ui/theme"
)

// Tabs of the details.
const (
	tabCall = iota
	tabResult
	tabWire
	tabRecord
)

// pane shows what is kept of one record.
type pane struct {
	a      *Place
	object fyne.CanvasObject

	title *text.Label
	about *text.Label
	tabs  *tabs
	body  *text.Pane
	chat  *button.Button
	again *button.Button
	copy  *button.Button
	inner *fyne.Container
	hint  *text.Label
	shows int64 // the record whose details stand in body
	tab   int
}

func newPane(a *Place) *pane {
	p := &pane{a: a}
	p.title = text.NewLabel("", text.Run{Bold: true}, text.Cut)
	p.about = text.NewLabel("", text.Run{Color: theme.Dim}, text.Cut)
	p.about.SetTextSize(theme.TextSize - 1)
	p.body = text.NewPane(views())
	p.body.View().OnShortcut = func(s fyne.Shortcut) { a.d.Shortcut(s) }
	p.tabs = newTabs([]string{
		lang.X("audit.call", "Call"), lang.X("audit.result", "Result"), lang.X("audit.wire", "Wire"), lang.X("audit.record", "Record"),
	}, func(int) { p.fill() })
	p.again = button.New(button.Outlined, "", lang.X("audit.run_again", "Run again with changes…"), a.runAgain)
	p.chat = button.New(button.Outlined, "", lang.X("audit.open_chat", "Open chat"), func() {
		if r := a.p.record; r != nil {
			a.d.Open(place.Chat, r.Conversation)
		}
	})
	p.copy = button.New(button.Outlined, "copy", "", p.copyAll)
	row := container.New(layout.NewCustomPaddedHBoxLayout(0))
	for _, c := range p.tabs.chips {
		row.Add(c)
	}
	top := container.New(layout.NewCustomPaddedVBoxLayout(theme.Step), p.title, p.about, container.New(layout.NewCustomPaddedLayout(theme.Step, 2*theme.Step, 0, 0), row))
	foot := container.New(layout.NewCustomPaddedLayout(2*theme.Step, 4*theme.Step, 0, 0), container.NewHBox(p.again, p.chat, layout.NewSpacer(), p.copy))
	p.inner = container.NewBorder(top, foot, nil, nil, p.body)
	p.hint = text.NewLabel(lang.X("audit.choose", "Choose a record to see what was shown, decided, sent and answered."), text.Run{Color: theme.Dim}, text.Wrap)
	p.object = container.New(layout.NewCustomPaddedLayout(2*theme.Step, 0, 4*theme.Step, 4*theme.Step), container.NewStack(p.hint, p.inner))
	p.inner.Hide()
	return p
}

// detail is the presenter's: another record, or more of it.
func (a *Place) detail() { a.pane.update() }

func (p *pane) update() {
	s := p.a.p
	p.inner.Hidden, p.hint.Hidden = s.chosen == 0, s.chosen != 0
	number := "#" + strconv.FormatInt(s.chosen, 10)
	p.again.Hide()
	p.chat.Hide()
	p.copy.Hide()
	switch r := s.record; {
	case s.failed != nil:
		p.title.SetText(number, text.Run{Bold: true})
		p.about.SetText("", text.Run{})
	case r == nil:
		p.title.SetText(number, text.Run{Bold: true})
		p.about.SetText(lang.X("common.loading", "Loading…"), text.Run{Color: theme.Dim})
	default:
		p.title.SetRuns(text.Run{Text: number + " " + what(r.Record), Bold: true}, text.Run{Text: "  " + clean.Line(r.Server, 100), Color: theme.Dim})
		p.about.SetText(aboutWords(r, s.names), text.Run{Color: theme.Dim})
		p.again.Hidden, p.chat.Hidden, p.copy.Hidden = !r.again(), r.chat == "", false
	}
	p.fill()
	p.object.Refresh()
}

// aboutWords says where a record belongs and who decided.
func aboutWords(r *detail, names namer) string {
	outcome, _ := outcomeWords(r.Outcome)
	words := outcome
	if r.Decision != "" {
		words, _ = decisionWords(r.Decision, names.by(r.By), "")
		if r.Decision == journal.Allowed {
			words += " · " + outcome
		}
	}
	if after := waited(r.Events); after >= 1 {
		words += " " + lang.X("audit.after", "after {{.time}}", map[string]any{"time": seconds(after)})
	}
	if r.chat != "" {
		words = r.chat + " ▸ " + words
	}
	return words
}

// waited is how many seconds the person had something before them.
func waited(events []journal.Event) float64 {
	var shown, decided float64
	for _, e := range events {
		at := float64(e.Time.UnixMilli()) / 1000
		switch {
		case e.Event == "shown" && shown == 0:
			shown = at
		case e.Event == "decided" && decided == 0:
			decided = at
		}
	}
	if shown == 0 || decided <= shown {
		return 0
	}
	return decided - shown
}

// fill shows the chosen tab.
func (p *pane) fill() {
	s := p.a.p
	if s.failed != nil {
		p.body.SetBlocks([]*text.Block{plain(language.Message(s.failed), theme.Refusal)})
		return
	}
	r := s.record
	if r == nil {
		p.body.SetBlocks(nil)
		return
	}
	var blocks []*text.Block
	switch p.tabs.chosen {
	case tabCall:
		blocks = callBlocks(r, s.names)
	case tabResult:
		blocks = r.result
	case tabWire:
		blocks = r.wire
	default:
		blocks = r.whole
	}
	if p.shows == r.Record.Record && p.tab == p.tabs.chosen {
		p.body.Replace(blocks) // the same record with more of it: stay where the person reads
		return
	}
	p.shows, p.tab = r.Record.Record, p.tabs.chosen
	p.body.SetBlocks(blocks)
}

// callBlocks shows what was asked for and what happened.
func callBlocks(r *detail, names namer) []*text.Block {
	blocks := append([]*text.Block(nil), r.arguments...)
	if r.Erased && len(blocks) == 0 {
		blocks = append(blocks, plain(lang.X("audit.erased", "The texts were erased with their conversation. The record itself stays."), theme.Dim))
	}
	blocks = append(blocks, &text.Block{Runs: []text.Run{{Text: lang.X("audit.what_happened", "What happened"), Color: theme.Dim}}, Size: theme.CaptionSize, Before: 3 * theme.Step})
	for _, st := range r.steps {
		runs := []text.Run{{Text: st.at.Local().Format("15:04:05") + "  ", Color: theme.Dim}, {Text: st.words, Color: st.color}}
		if st.note != "" {
			runs = append(runs, text.Run{Text: ": “" + st.note + "”"})
		}
		blocks = append(blocks, &text.Block{Runs: runs, Size: theme.TextSize - 1, Before: theme.Step / 2})
	}
	return blocks
}

func (p *pane) copyAll() {
	if r := p.a.p.record; r != nil {
		fyne.CurrentApp().Clipboard().SetContent(r.json)
		p.a.told(lang.X("common.copied", "Copied"))
	}
}
