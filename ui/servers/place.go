package servers

import (
	"context"
	"image/color"
	"sync"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"

	"steward/app/clean"
	"steward/app/event"
	"steward/ui/button"
	"steward/ui/code"
	"steward/ui/language"
	"steward/ui/list"
	"steward/ui/picture"
	"steward/ui/place"
	"steward/ui/text"
	"steward/ui/theme"
)

const (
	listWidth  = 330
	headHeight = 52
	rowHeight  = 54
)

// Place is the servers' place.
type Place struct {
	k       *kit
	p       *presenter
	list    *list.List
	empty   *page
	detail  *detail
	side    *fyne.Container // list or what stands in its place
	right   *fyne.Container
	canvas  fyne.CanvasObject
	cancel  func() // of the events
	resting chan struct{}
	rest    sync.Once
	shown   atomic.Bool        // read by the ticker, too
	over    *page              // what stands in the place of the chosen server, if anything does
	last    fyne.Focusable     // where the keyboard was when the place last looked
	drafts  map[string]*editor // forms that somebody began to fill in, by the server they are for
	taking  *importer          // likewise
	wanted  string             // a server that Goto named before the list was read
}

var (
	_ place.Place      = (*Place)(nil)
	_ place.ToolShower = (*Place)(nil)
)

// New makes the place. It listens to the program's events from now on, until Close.
func New(d place.Deps) *Place {
	s := &Place{k: &kit{d: d, pool: code.NewPool(d.Do), pictures: picture.NewReader(d.Do, d.Go)}, resting: make(chan struct{}), drafts: map[string]*editor{}}
	s.k.seen = s.page
	s.p = newPresenter(d.App, d.Do, d.Go)
	s.p.onList, s.p.onShown = s.listChanged, s.detailChanged
	s.list = list.NewEqual(list.Source{
		Len:   func() int { return len(s.p.list) },
		Key:   func(i int) string { return s.p.list[i].Name },
		Build: s.row,
	}, rowHeight)
	s.list.Selectable, s.list.OpenOnTap = true, true
	s.list.SelectedColor, s.list.HoverColor = theme.AccentTint, theme.Hover
	s.list.Inset, s.list.Radius = 3*step, 1.5*step
	s.list.OnSelected = func(i int) { s.select1(i) }
	s.list.OnOpened = func(i int) { s.select1(i) }
	s.empty = newPage()
	s.detail = newDetail(s)
	s.side = container.NewStack(s.list)
	s.right = container.NewStack(s.detail.object)
	s.canvas = s.assemble()
	s.cancel = d.App.Listen(s.heard)
	s.p.readList()
	d.Go(s.tick)
	return s
}

func (s *Place) assemble() fyne.CanvasObject {
	title := text.NewLabel(lang.X("servers.title", "Servers"), text.Run{Bold: true}, text.Whole)
	imports := newButton(lang.X("servers.import", "Import…"), s.showImport)
	add := newIconButton("plus", lang.X("servers.add", "Add server"), s.showAdd)
	add.SetLook(button.Strong)
	row := container.NewHBox(container.NewCenter(title), layout.NewSpacer(), container.NewCenter(imports), container.NewCenter(add))
	head := container.New(layout.NewCustomPaddedLayout(0, 0, 5*step, 5*step), row)
	return container.New(frameLayout{}, head, newPaint(theme.Line, "", 0), s.side, newPaint(theme.Line, "", 0), s.right)
}

// frameLayout is the head, a rule, the list, a rule, and the chosen server.
type frameLayout struct{}

// MinSize is Fyne's.
func (frameLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(480, 240) }

// Layout is Fyne's.
func (frameLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	at := func(i int, x, y, w, h float32) {
		o[i].Move(fyne.NewPos(x, y))
		o[i].Resize(fyne.NewSize(max(w, 0), max(h, 0)))
	}
	wide := min(float32(listWidth), max(size.Width*0.32, 180))
	below := size.Height - headHeight
	at(0, 0, 0, size.Width, headHeight-1)
	at(1, 0, headHeight-1, size.Width, 1)
	at(2, 0, headHeight+2*step, wide, below-2*step)
	at(3, wide, headHeight, 1, below)
	at(4, wide+1, headHeight, size.Width-wide-1, below)
}

// row is one server in the list.
func (s *Place) row(i int) fyne.CanvasObject {
	st := s.p.list[i]
	doing := s.p.doing[st.Name]
	_, mark := stateWords(st, doing)
	dot := canvas.NewCircle(theme.Color(mark))
	look := text.Run{Bold: true}
	if !st.Enabled {
		look.Color = theme.Dim
	}
	name := text.NewLabel(clean.Reveal(st.Name), look, text.Cut)
	words, colour := secondLine(st, doing, time.Now())
	var badge fyne.CanvasObject = canvas.NewRectangle(color.Transparent)
	if st.Protocol != "" {
		badge = chip(clean.Line(st.Protocol, 20))
	}
	return container.New(serverRowLayout{}, dot, name, badge, caption(words, colour, text.Cut))
}

type serverRowLayout struct{}

// MinSize is Fyne's.
func (serverRowLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(120, rowHeight) }

// Layout is Fyne's.
func (serverRowLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	const dot, x = 8, 5 * step
	badge := o[2].MinSize()
	o[0].Move(fyne.NewPos(x, 14))
	o[0].Resize(fyne.NewSize(dot, dot))
	o[2].Move(fyne.NewPos(size.Width-x-badge.Width, 5))
	o[2].Resize(badge)
	h := heightOf(o[1], 400)
	o[1].Move(fyne.NewPos(x+dot+10, 18-h/2))
	o[1].Resize(fyne.NewSize(max(size.Width-2*x-dot-14-badge.Width, 20), h))
	o[3].Move(fyne.NewPos(x, 32))
	o[3].Resize(fyne.NewSize(size.Width-2*x, heightOf(o[3], 400)))
}

func (s *Place) select1(i int) {
	if i < 0 || i >= len(s.p.list) {
		return
	}
	s.back()
	s.p.choose(s.p.list[i].Name)
	s.k.d.Showing(place.Servers, s.p.chosen)
}

// heard is told every event of the program, from any goroutine.
func (s *Place) heard(e event.Event) {
	s.p.heard(e)
	switch e.(type) {
	case event.Call, event.Decision, event.Progress:
		if s.k.running.Load() > 0 {
			s.k.d.Do(func() { s.detail.tools.heard(e) })
		}
	}
}

func (s *Place) listChanged() {
	if s.wanted != "" && s.p.find(s.wanted) >= 0 {
		name := s.wanted
		s.wanted = ""
		s.p.choose(name)
	}
	var over fyne.CanvasObject = s.list
	switch {
	case s.p.listErr != nil:
		s.empty.set(note(language.Message(s.p.listErr), theme.Refusal, theme.RefusalTint,
			left(newButton(lang.X("common.retry", "Try again"), s.p.readList))))
		over = s.empty.Container
	case s.p.loaded && len(s.p.list) == 0:
		s.empty.set(text.NewLabel(lang.X("servers.empty", "No servers yet. Add one to give the model tools."), text.Run{Color: theme.Dim}, text.Wrap))
		over = s.empty.Container
	}
	if s.side.Objects[0] != over {
		s.side.Objects = []fyne.CanvasObject{over}
		s.side.Refresh()
	}
	s.list.Reset()
	for i := range s.p.list {
		s.list.Changed(i)
	}
	s.list.Select(s.p.find(s.p.chosen))
}

func (s *Place) detailChanged() { s.detail.update() }

// show puts a page in the place of the chosen server; back takes it away.
func (s *Place) show(p *page) {
	s.over = p
	s.right.Objects = []fyne.CanvasObject{p.Container}
	s.right.Refresh()
}

func (s *Place) back() {
	if s.over != nil {
		s.over = nil
		s.right.Objects = []fyne.CanvasObject{s.detail.object}
		s.right.Refresh()
	}
}

func (s *Place) focused() fyne.Focusable { return s.k.d.Window().Canvas().Focused() }

func (s *Place) focus(o fyne.Focusable) { s.k.d.Window().Canvas().Focus(o) }

// page is the page that is seen.
func (s *Place) page() *page {
	if s.over != nil {
		return s.over
	}
	return s.detail.page()
}

// follow scrolls the page to where the keyboard went.
func (s *Place) follow() {
	f := s.focused()
	if f == s.last {
		return
	}
	s.last = f
	if o, ok := f.(fyne.CanvasObject); ok {
		s.page().reveal(o)
	}
}

// tick reads again, while the place is seen, what no event tells of: latency, up-time, log and wire.
func (s *Place) tick(ctx context.Context) {
	t := time.NewTicker(followEvery)
	defer t.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-s.resting:
			return
		case <-t.C:
			if !s.shown.Load() {
				continue // a window at rest is left alone
			}
			s.k.d.Do(func() { s.look(time.Duration(n) * followEvery) })
		}
	}
}

func (s *Place) look(since time.Duration) {
	if !s.shown.Load() {
		return
	}
	s.follow()
	if since%time.Second == 0 {
		s.detail.look()
	}
	if since%readEvery == 0 {
		s.p.readList()
	}
}

// Canvas is what the window shows.
func (s *Place) Canvas() fyne.CanvasObject { return s.canvas }

// Goto shows a server by its name.
func (s *Place) Goto(name string) {
	if name == "" {
		return
	}
	s.back()
	if s.p.find(name) >= 0 {
		s.p.choose(name)
		return
	}
	s.wanted = name
	s.p.readList()
}

// ShowTool shows one tool of a server.
func (s *Place) ShowTool(server, tool string) {
	s.detail.tools.wanted = tool
	s.detail.choose(tabTools)
	s.Goto(server)
	s.detail.update()
}

// Shown reads everything again.
func (s *Place) Shown() {
	s.shown.Store(true)
	s.p.readList()
	s.p.readDetail()
}

// Hidden stops reading what is only looked at.
func (s *Place) Hidden() { s.shown.Store(false) }

// Commands are those of the place.
func (s *Place) Commands() []place.Command {
	chosen := func() bool { return s.p.chosen != "" && s.p.detailed }
	return []place.Command{
		{ID: "servers.add", TitleKey: "servers.add", Do: s.showAdd},
		{ID: "servers.import", TitleKey: "servers.import", Do: s.showImport},
		{ID: "servers.restart", TitleKey: "servers.restart_command", Enabled: chosen, Do: s.detail.restart,
			Shortcut: &desktop.CustomShortcut{KeyName: fyne.KeyR, Modifier: fyne.KeyModifierShortcutDefault | fyne.KeyModifierShift}},
		{ID: "servers.start", TitleKey: "servers.start_command", Enabled: func() bool { return chosen() && s.p.detail.Enabled && !runs(s.p.detail.ServerStatus) }, Do: s.detail.restart},
		{ID: "servers.stop", TitleKey: "servers.stop", Enabled: func() bool { return chosen() && runs(s.p.detail.ServerStatus) }, Do: s.stopChosen},
		{ID: "servers.refresh", TitleKey: "servers.ask_again", Enabled: func() bool { return chosen() && s.p.detail.State == "ready" }, Do: s.detail.refresh},
		{ID: "servers.review", TitleKey: "servers.review_all", Enabled: func() bool { return chosen() && s.p.detail.Enabled }, Do: s.detail.review.begin},
		{ID: "servers.remove", TitleKey: "servers.remove_command", Enabled: func() bool { return chosen() && s.p.detail.Editable }, Do: s.detail.remove},
		{ID: "servers.close_form", Enabled: func() bool { return s.over != nil }, Do: s.back, Shortcut: &desktop.CustomShortcut{KeyName: fyne.KeyEscape}},
		{ID: "servers.page_down", Do: func() { s.page().turn(1) }, Shortcut: &desktop.CustomShortcut{KeyName: fyne.KeyPageDown, Modifier: fyne.KeyModifierShortcutDefault}},
		{ID: "servers.page_up", Do: func() { s.page().turn(-1) }, Shortcut: &desktop.CustomShortcut{KeyName: fyne.KeyPageUp, Modifier: fyne.KeyModifierShortcutDefault}},
		{ID: "servers.edit", TitleKey: "servers.edit_command", Enabled: func() bool { return chosen() && s.p.detail.Editable }, Do: s.detail.edit},
	}
}

func (s *Place) stopChosen() { s.detail.stop() }

// Close ends listening, the ticker, the subscriptions and the calls of the benches.
func (s *Place) Close() {
	s.cancel()
	s.rest.Do(func() { close(s.resting) })
	s.detail.close()
	go s.k.pool.Close() // it waits for colouring that has begun, which must not hold up the window
}
