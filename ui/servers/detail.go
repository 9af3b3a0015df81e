package servers

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"steward/app"
	"steward/app/clean"
	"steward/ui/button"
	"steward/ui/code"
	"steward/ui/language"
	"steward/ui/place"
	"steward/ui/sentence"
	"steward/ui/text"
	"steward/ui/theme"
)

// The tabs, in their order.
const (
	tabTools = iota
	tabResources
	tabPrompts
	tabLog
	tabWire
	tabDoctor
)

// tab is what stands below the tabs.
type tab interface {
	object() fyne.CanvasObject
	update(d app.ServerDetail)
}

// detail is the chosen server.
type detail struct {
	s       *Place
	object  *fyne.Container
	head    *fyne.Container
	tabs    *segments
	under   *fyne.Container
	blank   *page
	all     []tab
	tools   *toolsTab
	res     *resourcesTab
	log     *logTab
	wire    *wireTab
	prompts *promptsTab
	doctor  *doctorTab
	review  *review
	server  string
	shape   string                    // what the head shows
	made    map[string]*button.Button // of the head, kept so that the keyboard stays on them
	on      *widget.Check
	wrote   *text.Label // what a server that is starting wrote last; nil for others
}

func newDetail(s *Place) *detail {
	d := &detail{s: s, blank: newPage(), head: container.NewStack(), made: map[string]*button.Button{}}
	d.tools, d.res, d.log, d.wire = newToolsTab(s), newResourcesTab(s), newLogTab(s), newWireTab(s)
	d.prompts, d.doctor = newPromptsTab(s), newDoctorTab(s)
	d.all = []tab{d.tools, d.res, d.prompts, d.log, d.wire, d.doctor}
	d.review = newReview(s)
	d.on = widget.NewCheck(lang.X("common.on", "On"), nil)
	d.tabs = newSegments(d.choose, d.titles(app.ServerDetail{ServerStatus: app.ServerStatus{Tools: -1, Resources: -1, Prompts: -1}})...)
	d.under = container.NewStack(d.all[0].object())
	d.object = container.NewStack(d.blank.Container)
	return d
}

func (d *detail) titles(s app.ServerDetail) []string {
	with := func(word string, n int) string {
		if n < 0 {
			return word
		}
		return word + " " + recordNumber(int64(n))
	}
	res := s.Resources
	if s.Templates > 0 {
		res = max(res, 0) + s.Templates
	}
	return []string{
		with(lang.X("servers.tools", "Tools"), s.Tools), with(lang.X("servers.resources", "Resources"), res), with(lang.X("servers.prompts", "Prompts"), s.Prompts),
		lang.X("servers.log", "Log"), lang.X("servers.wire", "Wire"), lang.X("servers.doctor", "Doctor"),
	}
}

// choose shows a tab.
func (d *detail) choose(i int) {
	d.tabs.show(i)
	d.under.Objects = []fyne.CanvasObject{d.all[i].object()}
	d.under.Refresh()
	if i == tabResources {
		d.res.seen()
	}
	d.look()
}

// unchosen is what a page shows while nothing is chosen on it: words, or why there is nothing to choose yet.
func (d *detail) unchosen(of app.ServerDetail, words string) fyne.CanvasObject {
	switch {
	case of.OfferError != "":
		words = of.OfferError
	case of.State != "ready":
		words = d.tools.nothing()
	case !of.Known:
		words = lang.X("common.loading", "Loading…")
	}
	return text.NewLabel(words, text.Run{Color: theme.Dim}, text.Wrap)
}

// page is the page that is seen of the server.
func (d *detail) page() *page {
	switch {
	case d.object.Objects[0] == d.blank.Container:
		return d.blank
	case d.reviewing():
		return d.review.page
	}
	return []*page{d.tools.page, d.res.page, d.prompts.page, d.log.page, d.wire.page, d.doctor.page}[d.tabs.chosen]
}

func (d *detail) reviewing() bool { return d.review.open || d.s.p.detail.State == app.ServerUnreviewed }

// update shows what the presenter knows of the chosen server.
func (d *detail) update() {
	p := d.s.p
	switch {
	case p.chosen == "":
		d.server = ""
		d.show(d.blank.Container)
		if p.loaded && len(p.list) == 0 {
			d.welcome()
		}
		return
	case p.detailErr != nil:
		d.blank.set(note(language.Message(p.detailErr), theme.Refusal, theme.RefusalTint, left(newButton(lang.X("common.retry", "Try again"), p.readDetail))))
		d.show(d.blank.Container)
		return
	case !p.detailed:
		d.blank.set(text.NewLabel(lang.X("common.loading", "Loading…"), text.Run{Color: theme.Dim}, text.Wrap))
		d.show(d.blank.Container)
		return
	}
	s := p.detail
	if d.server != s.Name {
		d.server = s.Name
		d.review.leave()
	}
	d.tabs.set(d.titles(s)...)
	d.drawHead(s)
	for _, t := range d.all {
		t.update(s)
	}
	d.review.update(s)
	d.show(container.New(detailLayout{}, d.head, d.below()))
}

// drawHead draws the head where it differs from before.
func (d *detail) drawHead(s app.ServerDetail) {
	status := s.ServerStatus
	status.Since, status.Latency = time.Time{}, 0 // not shown here
	shape, err := json.Marshal([]any{status, d.s.p.doing[s.Name], d.review.open})
	if err == nil && string(shape) == d.shape {
		return
	}
	d.shape = string(shape)
	d.head.Objects = []fyne.CanvasObject{d.top(s)}
	d.head.Refresh()
}

// below is the review where one is open or nothing else makes sense, else the tabs.
func (d *detail) below() fyne.CanvasObject {
	if d.reviewing() {
		return d.review.page.Container
	}
	return container.NewBorder(container.New(layout.NewCustomPaddedLayout(0, 2*step, 5*step, 5*step), left(segmentFrame(d.tabs))), nil, nil, nil, d.under)
}

func segmentFrame(s *segments) fyne.CanvasObject {
	return padded(1, 1, newPaint(theme.Ground, theme.Edge, 1.5*step), s.Container)
}

func (d *detail) show(o fyne.CanvasObject) {
	d.object.Objects = []fyne.CanvasObject{o}
	d.object.Refresh()
}

// detailLayout puts the head, as high as it needs to be, over the rest.
type detailLayout struct{}

// MinSize is Fyne's.
func (detailLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(200, 100) }

// Layout is Fyne's.
func (detailLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	inner := o[0].(*fyne.Container).Objects[0]
	h := heightOf(inner, size.Width)
	o[0].Resize(fyne.NewSize(size.Width, h))
	o[1].Move(fyne.NewPos(0, h))
	o[1].Resize(fyne.NewSize(size.Width, max(size.Height-h, 0)))
}

// top is the head of a server: its name, what it speaks, what can be done to it, and what is wrong.
func (d *detail) top(s app.ServerDetail) fyne.CanvasObject {
	look := text.Run{Bold: true}
	name, whole := text.NewLabel(clean.Reveal(s.Name), look, text.Cut), text.NewLabel(clean.Reveal(s.Name), look, text.Whole)
	name.SetTextSize(theme.TextSize + 2)
	whole.SetTextSize(theme.TextSize + 2)
	doing := d.s.p.doing[s.Name]
	state, colour := stateWords(s.ServerStatus, doing)
	chips := container.New(&rowLayout{2 * step}, caption("● "+state, colour, text.Whole), chip(s.Transport))
	if s.Protocol != "" {
		chips.Add(chip(lang.X("servers.protocol", "protocol {{.version}}", map[string]any{"version": clean.Line(s.Protocol, 20)})))
	}
	if s.BuiltIn {
		chips.Add(chip(lang.X("servers.built_in", "built-in demo")))
	}
	objects := []fyne.CanvasObject{container.New(topLayout{whole.MinSize().Width}, name, chips, d.buttons(s, doing != ""))}
	if what := clean.Clean(s.Title); what != "" {
		objects = append(objects, caption(what+" · "+s.Address, theme.Dim, text.Cut))
	} else {
		objects = append(objects, caption(s.Address, theme.Dim, text.Cut))
	}
	if in := d.signIn(s); in != nil {
		objects = append(objects, in)
	}
	if d.wrote = nil; s.State == "starting" {
		d.wrote = caption("", theme.Dim, text.Cut)
		d.readStart(s.Name)
		objects = append(objects, d.wrote)
	}
	if s.Error != "" && s.State != app.ServerUnusable && !s.SignIn.Needed {
		objects = append(objects, note(nonEmptyLines(clean.Line(sentence.Lines(s.Error), mostSaid), clean.Line(sentence.Lines(s.Hint), mostSaid)), theme.Refusal, theme.RefusalTint, d.more(s)...))
	}
	for i, problem := range s.Problems {
		if i == mostProblems {
			more := lang.X("servers.more_problems", "{{.n}} more of this kind stand under Doctor.", map[string]any{"n": len(s.Problems) - mostProblems})
			objects = append(objects, left(code.NewButton("", more, func() { d.review.leave(); d.choose(tabDoctor); d.update() })))
			break
		}
		objects = append(objects, caption("⚠ "+clean.Line(sentence.Worded(problem), mostSaid), theme.Waiting, text.Wrap))
	}
	if s.Pending > 0 && !d.review.open {
		words := counted(s.Pending, lang.X("servers.changed_one", "1 definition is new or has changed since you reviewed it. Until you trust it, no model is offered it."),
			lang.X("servers.changed_many", "{{.n}} definitions are new or have changed since you reviewed them. Until you trust them, no model is offered them.", map[string]any{"n": s.Pending}))
		objects = append(objects, note(words, theme.Waiting, theme.WaitingTint, left(newButton(lang.X("servers.review", "Review"), d.review.begin))))
	}
	return padded(5*step, 3*step, column(2*step, objects...))
}

func (d *detail) buttons(s app.ServerDetail, busy bool) *fyne.Container {
	row := container.New(&rowLayout{2 * step})
	add := func(id, icon, word string, do func(), ok bool) {
		b := d.made[id]
		if b == nil {
			b = newIconButton(icon, word, nil)
			d.made[id] = b
		}
		b.OnTapped = do
		if b.SetText(word); ok {
			b.Enable()
		} else {
			b.Disable()
		}
		row.Add(b)
	}
	if starts(d.s.p.doing[s.Name]) || s.State == "starting" {
		add("stop", "", lang.X("common.stop", "Stop"), d.stop, d.s.p.doing[s.Name] != "stop")
	} else if s.Enabled && s.Reviewed {
		if s.State == "ready" || s.State == "failed" {
			add("start", "", lang.X("servers.restart", "Restart"), d.restart, !busy)
		} else if s.State != app.ServerUnusable {
			add("start", "", lang.X("servers.start", "Start"), d.restart, !busy)
		}
	}
	add("edit", "", lang.X("common.edit", "Edit"), d.edit, s.Editable && !busy)
	if s.State != app.ServerUnusable {
		d.on.OnChanged = nil
		d.on.SetChecked(s.Enabled)
		d.on.OnChanged = func(to bool) {
			what := "disable"
			if to {
				what = "start"
			}
			d.act(what, func(ctx context.Context) error { return d.s.k.d.App.EnableServer(ctx, s.Name, to) })
		}
		if busy || !s.Editable {
			d.on.Disable()
		} else {
			d.on.Enable()
		}
		row.Add(d.on)
	}
	add("more", "more", "", func() {
		b := d.made["more"]
		at := fyne.CurrentApp().Driver().AbsolutePositionForObject(b)
		d.s.k.d.Layer.Menu(d.menu(s, busy), at.AddXY(0, b.Size().Height))
	}, true)
	return row
}

func (d *detail) menu(s app.ServerDetail, busy bool) []place.MenuItem {
	return []place.MenuItem{
		{Label: lang.X("servers.review_all", "Review everything it offers"), Icon: "eye", Disabled: busy || !s.Enabled || s.State == app.ServerUnusable, Do: d.review.begin},
		{Label: lang.X("servers.stop", "Stop the server"), Icon: "stop", Disabled: busy && !starts(d.s.p.doing[s.Name]) || !busy && !runs(s.ServerStatus), Do: d.stop},
		{Label: lang.X("servers.ask_again", "Ask it again what it offers"), Icon: "refresh", Disabled: busy || s.State != "ready", Do: d.refresh},
		{},
		{Label: lang.X("servers.remove", "Remove…"), Icon: "trash", Look: place.Dangerous, Disabled: busy || !s.Editable, Do: d.remove},
	}
}

// topLayout is the name, chips beside it, buttons at the right.
type topLayout struct{ name float32 }

// MinSize is Fyne's.
func (topLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(100, max(o[2].MinSize().Height, 34))
}

func (t topLayout) heightFor(o []fyne.CanvasObject, width float32) float32 {
	h := t.MinSize(o).Height
	if t.narrow(o, width) {
		h += o[1].MinSize().Height + step
	}
	return h
}

func (topLayout) narrow(o []fyne.CanvasObject, width float32) bool {
	return o[1].MinSize().Width+o[2].MinSize().Width+160 > width
}

// Layout is Fyne's.
func (t topLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	buttons, chips, h := o[2].MinSize(), o[1].MinSize(), t.MinSize(o).Height
	o[2].Move(fyne.NewPos(size.Width-buttons.Width, (h-buttons.Height)/2))
	o[2].Resize(buttons)
	room := size.Width - buttons.Width - 3*step
	if !t.narrow(o, size.Width) {
		room -= chips.Width + 3*step
	}
	n := heightOf(o[0], 4000)
	wide := min(t.name+1, room)
	o[0].Move(fyne.NewPos(0, (h-n)/2))
	o[0].Resize(fyne.NewSize(max(wide, 20), n))
	o[1].Resize(chips)
	if t.narrow(o, size.Width) {
		o[1].Move(fyne.NewPos(0, h+step))
	} else {
		o[1].Move(fyne.NewPos(wide+3*step, (h-chips.Height)/2))
	}
}

// mostProblems stand in the head, each and the error with no more than mostSaid characters: the head must leave room for
// the rest. All of them stand under Doctor.
const (
	mostProblems = 2
	mostSaid     = 500
)

// more is what a failed server wrote last, and what can be done.
func (d *detail) more(s app.ServerDetail) (out []fyne.CanvasObject) {
	if s.Output != "" {
		out = append(out, d.s.k.prose(lastLines(s.Output, 6), text.Run{Mono: true}))
	}
	row := left(newButton(lang.X("common.retry", "Try again"), d.restart), newButton(lang.X("servers.open_log", "Open its log"), func() { d.choose(tabLog) }))
	return append(out, row)
}

func lastLines(s string, n int) string {
	lines := strings.Split(s, "\n")
	return strings.Join(lines[max(len(lines)-n, 0):], "\n")
}

func nonEmptyLines(a, b string) string {
	if b == "" || a == b {
		return a
	}
	return a + "\n" + b
}

func (d *detail) act(what string, f func(context.Context) error) {
	name := d.s.p.chosen
	d.s.p.act(name, what, f, func(err error) {
		if err != nil && app.Explain(err).Key != "server_start" { // that stands in the head
			d.s.k.d.Layer.Toast(language.Message(err))
		}
	})
}

func (d *detail) restart() {
	name := d.s.p.chosen
	d.act("restart", func(ctx context.Context) error { return d.s.k.d.App.RestartServer(ctx, name) })
}

func (d *detail) stop() {
	name := d.s.p.chosen
	d.act("stop", func(ctx context.Context) error { return d.s.k.d.App.StopServer(ctx, name) })
}

// refresh has the server asked again for everything it offers.
func (d *detail) refresh() {
	name := d.s.p.chosen
	d.act("refresh", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 3*patience)
		defer cancel()
		return d.s.k.d.App.RefreshServer(ctx, name)
	})
}

// runs says whether there is something to stop.
func runs(s app.ServerStatus) bool { return s.State == "ready" || s.State == "starting" }

func (d *detail) edit() { d.s.showEdit(d.s.p.detail) }

// remove asks first: what was reviewed is forgotten with the server.
func (d *detail) remove() {
	name := d.s.p.chosen
	d.s.k.d.Layer.Ask(lang.X("servers.remove_title", "Remove {{.server}}?", map[string]any{"server": clean.Reveal(name)}),
		lang.X("servers.remove_body", "It is ended, and calls that wait for you are withdrawn. What you reviewed of it and your permissions for it are forgotten. Its records in the audit stay."),
		place.Button{Label: lang.X("common.cancel", "Cancel")},
		place.Button{Label: lang.X("common.remove", "Remove"), Look: place.Dangerous, Do: func() {
			d.act("remove", func(ctx context.Context) error { return d.s.k.d.App.RemoveServer(ctx, name) })
		}})
}

// welcome stands where there is no server at all.
func (d *detail) welcome() {
	d.blank.set(strong(lang.X("servers.welcome", "Servers give the model tools")),
		text.NewLabel(lang.X("servers.welcome_body", "Add a server by hand, paste what its manual says, or take over the servers of another program. Nothing starts before you have reviewed it."), text.Run{Color: theme.Dim}, text.Wrap),
		left(newButton(lang.X("servers.add", "Add server"), d.s.showAdd), newButton(lang.X("servers.import", "Import…"), d.s.showImport)))
}

// look reads again what no event tells of, where it is seen.
func (d *detail) look() {
	if d.s.p.chosen == "" || !d.s.shown.Load() {
		return
	}
	d.readStart(d.s.p.chosen)
	switch d.tabs.chosen {
	case tabTools:
		d.tools.look()
	case tabLog:
		d.log.read(d.s.p.chosen)
	case tabWire:
		d.wire.read(d.s.p.chosen)
	}
}

// readStart shows what a server that is starting writes: one that is run with npx or uvx may be downloading for minutes.
func (d *detail) readStart(name string) {
	if d.wrote == nil {
		return
	}
	words := lang.X("servers.starting_silent", "It has written nothing yet.")
	if line := lastLines(strings.TrimSpace(d.s.k.d.App.ServerStderr(name)), 1); line != "" {
		words = lang.X("servers.starting_wrote", "It last wrote: {{.line}}", map[string]any{"line": clean.Line(line, 200)})
	}
	d.wrote.SetText(words, text.Run{Color: theme.Dim})
}

func (d *detail) close() {
	d.tools.close()
	d.res.close()
}
