package chat

import (
	"context"
	"slices"
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"steward/app"
	"steward/app/clean"
	"steward/ui/form"
	"steward/ui/place"
	"steward/ui/text"
	"steward/ui/theme"
)

const headGap = 2.5 * theme.Step

// headFacts is what the head shows, as it was read.
type headFacts struct {
	known    app.Conversation
	settings app.ConversationSettings
	tools    []app.OfferedTool
	points   []app.ModelEndpoint
	use      app.ContextUse
	demo     bool
	can      app.ModelInfo // what is known of the model that answers next
	limit    int           // as many tools the endpoint takes; 0 is none known
	sure     bool          // it refuses more
}

// gather reads them; what cannot be read stays empty, since whatever needs it fails with a sentence of its own.
func (p *Place) gather(ctx context.Context, id string, want wants) headFacts {
	var h headFacts
	a := p.d.App
	if id != "" {
		if c, err := a.Conversation(ctx, id); err == nil {
			h.known = c
		}
	}
	h.use, _ = a.ContextUse(ctx, id)
	h.settings, _ = a.ConversationSettings(ctx, id)
	if id == "" && want.settings != nil {
		h.settings = *want.settings
	}
	h.tools, _ = a.ConversationTools(ctx, id)
	h.points, _ = a.Endpoints(ctx)
	h.can = a.CanDo(ctx, h.settings)
	readLimit(&h, a)
	h.demo = slices.ContainsFunc(h.points, func(e app.ModelEndpoint) bool { return e.Demo && e.Chosen })
	return h
}

// model is the model that answers next, and its endpoint.
func (h headFacts) model() (app.ModelEndpoint, string) {
	for _, e := range h.points {
		if h.settings.Endpoint == e.ID && e.ID != "" || h.settings.Endpoint == "" && e.Chosen {
			if h.settings.Model != "" {
				return e, h.settings.Model
			}
			return e, e.Model
		}
	}
	return app.ModelEndpoint{}, h.settings.Model
}

// toolSum counts what the model is offered.
func (h headFacts) toolSum() (tools, servers, tokens int) {
	seen := map[string]bool{}
	for _, t := range h.tools {
		if t.Offered {
			tools++
			tokens += t.Tokens
			seen[t.Server] = true
		}
	}
	return tools, len(seen), tokens
}

// head is the line above the conversation.
type head struct {
	widget.BaseWidget
	p     *Place
	facts headFacts

	title   *fitted
	tap     *tappable
	edit    *form.Entry
	renames string // the conversation that edit gives a title
	demo    *chip
	passing *chip // marks a temporary conversation
	lock    *chip
	model   *chip
	own     *chip // says which parameters the person has set here
	tools   *chip
	context *chip
	more    *chip
	row     *fyne.Container
}

func newHead(p *Place) *head {
	h := &head{p: p}
	h.title = newFitted(theme.TextSize)
	h.tap = newTappable(h.title.box, h.rename)
	h.tap.onShort = p.d.Shortcut
	h.edit = form.NewEntry()
	h.edit.OnSubmit = h.renamed
	h.edit.OnFocus = func(on bool) {
		if !on && h.edit.Visible() {
			h.renamed(h.edit.Text)
		}
	}
	h.edit.OnKey = func(e *fyne.KeyEvent) bool {
		if e.Name != fyne.KeyEscape {
			return false
		}
		h.endRename()
		p.focusComposer()
		return true
	}
	h.edit.Hide()
	h.demo = newPill("info", lang.X("shell.demo", "Demo"), false, func() { p.d.Open(place.Settings, "models") })
	h.passing = newPill("eye-off", lang.X("chat.temporary", "Temporary chat"), false, nil)
	h.passing.colour = theme.Waiting
	h.lock = newPill("unlock", lang.X("chat.read_only", "Read-only"), false, func() {
		p.change(func(s *app.ConversationSettings) { s.ReadOnly = !s.ReadOnly })
	})
	h.model = newPill("model", "…", true, p.modelMenu)
	h.model.most = 220
	h.own = newPill("settings", "", false, func() { p.modelSettings() })
	h.own.colour, h.own.most = theme.Accent, 200
	h.tools = newPill("tool", "…", true, p.toolSwitches)
	h.context = newPill("", "…", true, p.showContext)
	h.more = newChip(quiet, "more", "", func() { p.conversationMenu(h.more) })
	for _, c := range []*chip{h.demo, h.lock, h.model, h.own, h.tools, h.context, h.more} {
		c.onShort = p.d.Shortcut
	}
	h.demo.Hide()
	h.context.Hide()
	h.row = newLine(headGap, []fyne.CanvasObject{h.tap}, h.edit, h.demo, h.passing, h.lock, h.model, h.own, h.tools, h.context, h.more)
	h.ExtendBaseWidget(h)
	return h
}

func (h *head) show(f headFacts) {
	h.facts = f
	h.demo.Hidden = !f.demo
	h.Refresh()
	if w := h.p.switches; w != nil {
		w.refresh()
	}
	if w := h.p.panel; w != nil {
		w.refresh(f.use)
	}
	if h.p.state.fills(f.use.Full(), f.use.Refused) {
		h.p.soon()
	}
	if m := h.p.models; m != nil {
		m.facts()
	}
}

// Steps in which the head says less where there is less room.
const (
	headWhole = iota
	headLock  // the read-only switch is an icon
	headSums  // sums are numbers alone
	headIcons // the model's name is short, the demo's mark an icon
	headLeast // the model is an icon as well, and how full the context is has no room
	headSteps
)

// leastTitle is as much of a title as stays readable; the head says less before it takes that away.
const leastTitle float32 = 180

// say words everything beside the title for a step.
func (h *head) say(step int) {
	_, model := h.facts.model()
	switch {
	case model == "" && h.facts.demo:
		model = lang.X("chat.demo_model", "Demo model")
	case model == "":
		model = lang.X("chat.no_model", "No model")
	}
	n, servers, tokens := h.facts.toolSum()
	h.demo.words, h.lock.words = lang.X("shell.demo", "Demo"), lang.X("chat.read_only", "Read-only")
	h.model.words, h.model.most = clean.Line(model, 60), 220
	h.tools.words, h.context.words = toolWords(n, servers, tokens), contextMark(h.facts.use, false)
	if h.tools.colour = theme.Dim; h.facts.beyond() > 0 {
		h.tools.colour = theme.Waiting
		h.tools.words, _ = h.facts.limitWords()
	}
	if n > 0 && h.facts.can.Tools == app.Unsupported {
		h.tools.words, h.tools.colour = lang.X("chat.tools_not_taken", "The model takes no tools"), theme.Waiting
	}
	h.own.words, h.own.Hidden = changedWords(h.p.settings.Parameters), h.p.settings.Changed() == 0
	h.passing.words = lang.X("chat.temporary", "Temporary chat")
	h.passing.Hidden = !h.p.known.Temporary && (h.p.state.conversation != "" || !h.p.want.temporary)
	if step >= headLock {
		h.lock.words, h.passing.words = "", ""
		h.own.words = strconv.Itoa(h.p.settings.Changed())
	}
	if step >= headSums {
		h.tools.words, h.context.words = strconv.Itoa(n), contextMark(h.facts.use, true)
	}
	if step >= headIcons {
		h.demo.words, h.model.most = "", 120
	}
	if step >= headLeast {
		h.model.words = ""
	}
	h.context.Hidden = h.facts.use.Messages == 0 || step >= headLeast && !h.facts.use.Full()
	h.context.icon, h.context.colour = "", theme.Dim
	if h.facts.use.Full() {
		h.context.icon, h.context.colour = "warning", theme.Waiting
	}
}

// fit says as much as leaves the title its room.
func (h *head) fit(width float32) {
	chips := []*chip{h.demo, h.passing, h.lock, h.model, h.own, h.tools, h.context, h.more}
	for step := range headSteps {
		h.say(step)
		room := width
		for _, c := range chips {
			c.Refresh()
			if c.Visible() {
				room -= c.MinSize().Width + headGap
			}
		}
		if room >= min(h.title.natural, leastTitle) {
			return
		}
	}
}

// toolWords sums up what the model is offered.
func toolWords(tools, servers, tokens int) string {
	data := map[string]any{"tools": tools, "servers": servers, "tokens": count(tokens)}
	switch {
	case tools == 0:
		return lang.X("chat.tools_none", "No tools")
	case servers == 1:
		return lang.X("chat.tools_one", "{{.tools}} tools · 1 server · {{.tokens}} tok", data)
	}
	return lang.X("chat.tools_sum", "{{.tools}} tools · {{.servers}} servers · {{.tokens}} tok", data)
}

func (h *head) rename() {
	if h.p.state.conversation == "" {
		return
	}
	h.renames = h.p.state.conversation
	h.edit.SetText(h.p.known.Title)
	h.tap.Hide()
	h.edit.Show()
	h.Refresh()
	h.p.focus(h.edit)
	h.edit.TypedShortcut(&fyne.ShortcutSelectAll{})
}

func (h *head) endRename() {
	h.edit.Hide()
	h.tap.Show()
	h.Refresh()
}

// renamed ends renaming, and stores the title: of the conversation it was typed for, whichever is shown by now.
func (h *head) renamed(title string) {
	if !h.edit.Visible() {
		return
	}
	id, before := h.renames, h.p.known
	h.endRename()
	if before.ID != id || title == before.Title || title == "" {
		return
	}
	h.p.known.Title = clean.Line(title, 200)
	h.Refresh()
	h.p.background(func(ctx context.Context) error { return h.p.d.App.Rename(ctx, id, title) }, h.p.readHead)
	h.p.focusComposer()
}

func (h *head) paint() {
	words := lang.X("chat.new", "New chat")
	if h.p.state.conversation != "" {
		words = titleOf(h.p.known)
	}
	h.title.set(words, text.Run{Bold: true})
	h.lock.look, h.lock.icon, h.lock.colour = outlined, "unlock", theme.Dim
	h.tools.icon = "tool"
	if h.facts.can.Tools == app.Unsupported {
		h.tools.icon = "warning"
	}
	if h.p.settings.ReadOnly {
		h.lock.look, h.lock.icon, h.lock.colour = chosen, "lock", theme.Accent
	}
}

// CreateRenderer is Fyne's.
func (h *head) CreateRenderer() fyne.WidgetRenderer { h.paint(); return &headRenderer{h} }

type headRenderer struct{ h *head }

func (r *headRenderer) Destroy()                     {}
func (r *headRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.h.row} }
func (r *headRenderer) MinSize() fyne.Size           { return fyne.NewSize(200, headHeight-1) }
func (r *headRenderer) Refresh() {
	r.h.paint()
	r.Layout(r.h.Size())
	canvas.Refresh(r.h)
}

func (r *headRenderer) Layout(s fyne.Size) {
	h := r.h
	h.fit(s.Width - 9*theme.Step)
	h.row.Move(fyne.NewPos(5*theme.Step, 0))
	h.row.Resize(fyne.NewSize(s.Width-9*theme.Step, s.Height))
	h.row.Layout.Layout(h.row.Objects, h.row.Size())
}

// conversationMenu offers what can be done with the conversation.
func (p *Place) conversationMenu(at fyne.CanvasObject) {
	none := p.state.conversation == ""
	c := p.known
	pin, archive := lang.X("chat.pin", "Pin"), lang.X("chat.archive", "Archive")
	if c.Pinned {
		pin = lang.X("chat.unpin", "Unpin")
	}
	if c.Archived {
		archive = lang.X("chat.unarchive", "Take out of the archive")
	}
	do := func(work func(ctx context.Context, id string) error) func() {
		return func() { p.named(work, p.readHead) }
	}
	items := []place.MenuItem{
		{Label: lang.X("chat.rename", "Rename"), Icon: "edit", Disabled: none, Do: p.head.rename},
		{Label: pin, Icon: "pin", Disabled: none, Do: do(func(ctx context.Context, id string) error { return p.d.App.Pin(ctx, id, !c.Pinned) })},
		{Label: archive, Icon: "archive", Disabled: none, Do: do(func(ctx context.Context, id string) error { return p.d.App.Archive(ctx, id, !c.Archived) })},
		{Label: lang.X("chat.duplicate", "Duplicate"), Icon: "copy", Disabled: none, Do: p.duplicate},
		{Label: lang.X("chat.compact", "Sum up the older part"), Icon: "archive", Disabled: none || p.state.working || !p.head.facts.use.Compactable, Do: p.compact},
		{Label: lang.X("chat.parameters", "Settings of the model"), Icon: "settings", Do: func() { p.modelSettings() }},
		{Label: lang.X("chat.copy_conversation", "Copy the conversation as Markdown"), Icon: "copy", Disabled: none, Do: p.copyConversation},
	}
	items = append(items, place.MenuItem{Label: lang.X("chat.export", "Export…"), Icon: "download", Disabled: none, Do: p.export})
	if none {
		items = append(items, place.MenuItem{Label: lang.X("chat.temporary", "Temporary chat"), Icon: "eye-off", Checked: p.want.temporary, Do: func() {
			p.want.temporary = !p.want.temporary
			p.head.Refresh()
		}})
	}
	items = append(items, place.MenuItem{}, place.MenuItem{Label: lang.X("chat.delete", "Delete"), Icon: "trash", Look: place.Dangerous, Disabled: none, Do: p.remove})
	p.d.Layer.Menu(items, below(at))
}

func (p *Place) duplicate() {
	id := p.state.conversation
	fetch(p, func(ctx context.Context) (app.Conversation, error) { return p.d.App.Duplicate(ctx, id) }, func(c app.Conversation) {
		p.d.Open(place.Chat, c.ID)
	})
}
