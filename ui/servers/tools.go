package servers

import (
	"context"
	"encoding/json"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"steward/app"
	"steward/app/clean"
	"steward/app/consent"
	"steward/app/event"
	"steward/ui/code"
	"steward/ui/form"
	"steward/ui/language"
	"steward/ui/list"
	"steward/ui/place"
	"steward/ui/sentence"
	"steward/ui/text"
	"steward/ui/theme"
)

const toolHeight = 36

// toolsTab lists the tools of a server, and below them everything about the chosen one.
type toolsTab struct {
	s       *Place
	list    *list.List
	page    *page
	all     *fyne.Container
	filter  *form.Entry
	offered []app.ServerTool
	tools   []app.ServerTool // those that fit the filter
	server  string
	shape   string // what is shown of the tools, to see whether it changed
	chosen  string
	wanted  string                    // a tool to choose once it is there
	detail  string                    // what is shown of the chosen one
	top     string                    // the server and the tool that the page was scrolled to the top for
	benches map[string]*bench         // by tool and definition, so that a bench keeps what is filled in
	changes map[string]consent.Change // by the same: what changed since the review, once it was asked for
}

func newToolsTab(s *Place) *toolsTab {
	t := &toolsTab{s: s, page: newPage(), benches: map[string]*bench{}, changes: map[string]consent.Change{}}
	t.list = list.NewEqual(list.Source{
		Len:   func() int { return len(t.tools) },
		Key:   func(i int) string { return t.tools[i].Tool.Tool },
		Build: t.row,
	}, toolHeight)
	t.filter = filterEntry(s.k, t.refresh)
	t.list.Selectable, t.list.OpenOnTap = true, true
	t.list.SelectedColor, t.list.HoverColor, t.list.Radius = theme.AccentTint, theme.Hover, step
	t.list.OnSelected = t.select1
	t.list.OnOpened = t.select1
	head := container.New(toolRowLayout{}, text.NewLabel("", text.Run{}, text.Whole),
		caption(lang.X("servers.column_tool", "Tool"), theme.Dim, text.Cut), caption(lang.X("servers.column_says", "Says"), theme.Dim, text.Cut),
		left(caption(lang.X("servers.column_permission", "Permission"), theme.Dim, text.Whole)), caption(lang.X("servers.column_cost", "Cost"), theme.Dim, text.Cut))
	t.all = container.New(toolsLayout{t}, head, t.list, newPaint(theme.Line, "", 0), t.page.Container, t.filter)
	return t
}

// toolsLayout gives the list what it needs, up to a part of the height.
type toolsLayout struct{ t *toolsTab }

// MinSize is Fyne's.
func (toolsLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(200, 100) }

// Layout is Fyne's.
func (l toolsLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	const x, head = 5 * step, 26
	top := o[4].MinSize().Height + step
	rows := min(float32(len(l.t.tools))*toolHeight, max((size.Height-top)*0.4, 2*toolHeight))
	if len(l.t.tools) == 0 {
		rows = 0
	}
	at := func(i int, x, y, w, h float32) {
		o[i].Move(fyne.NewPos(x, y))
		o[i].Resize(fyne.NewSize(w, max(h, 0)))
	}
	at(4, x, 0, size.Width-2*x, top-step)
	at(0, x, top, size.Width-2*x, head)
	at(1, x, top+head, size.Width-2*x, rows)
	at(2, x, top+head+rows, size.Width-2*x, 1)
	at(3, 0, top+head+rows+1, size.Width, size.Height-top-head-rows-1)
}

// toolRowLayout is the columns: switch, name, what it says, permission, cost.
type toolRowLayout struct{}

// MinSize is Fyne's.
func (toolRowLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(200, toolHeight) }

// Layout is Fyne's.
func (toolRowLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	const box, permission, cost = 44, 150, 84
	name := max((size.Width-box-permission-cost)*0.42, 90)
	says := max(size.Width-box-permission-cost-name, 0)
	x := float32(0)
	for i, w := range []float32{box, name, says, permission, cost} {
		h := heightOf(o[i], max(w-2*step, 1))
		o[i].Move(fyne.NewPos(x, (size.Height-h)/2))
		o[i].Resize(fyne.NewSize(max(w-2*step, 1), h))
		x += w
	}
}

func (t *toolsTab) object() fyne.CanvasObject { return t.all }

func (t *toolsTab) row(i int) fyne.CanvasObject {
	tool := t.tools[i]
	on := widget.NewCheck("", nil)
	on.Checked = tool.SwitchedOn && !tool.AppOnly
	on.OnChanged = func(to bool) { t.switchTool(tool, to) }
	if tool.AppOnly { // nothing that a tick could change
		on.Disable()
	}
	name, says := text.Run{Bold: true}, oneLine(tool.Description)
	colour := theme.Dim
	switch {
	case tool.AppOnly:
		says = lang.X("servers.tool_app_only", "For its server’s app page alone; no model is offered it")
	case tool.State == consent.StateChanged:
		says, colour = lang.X("servers.tool_changed", "Changed since you reviewed it"), theme.Waiting
	case tool.State == consent.StateNew:
		says, colour = lang.X("servers.tool_new", "New, not reviewed yet"), theme.Waiting
	}
	if !tool.SwitchedOn || tool.AppOnly {
		name.Color = theme.Dim
	}
	cost := lang.X("servers.tokens", "{{.n}} tok", map[string]any{"n": tool.Tokens})
	return container.New(toolRowLayout{}, on, text.NewLabel(clean.Reveal(tool.Tool.Tool), name, text.Cut), caption(says, colour, text.Cut),
		left(t.permission(tool)), caption(cost, theme.Text, text.Cut))
}

// permission is the button that shows and changes what a tool may do.
func (t *toolsTab) permission(tool app.ServerTool) fyne.CanvasObject {
	var b fyne.CanvasObject
	b = code.NewButton("chevron-down", permissionWords(tool.Permission), func() {
		var items []place.MenuItem
		for _, p := range []string{app.PermissionAsk, app.PermissionAllow, app.PermissionDeny} {
			items = append(items, place.MenuItem{
				Label: permissionWords(p) + " — " + permissionMeaning(p), Checked: p == tool.Permission,
				Do: func() {
					t.change(func(ctx context.Context, a *app.App) error {
						return a.SetPermission(ctx, tool.Server, tool.Tool.Tool, p)
					})
				},
			})
		}
		at := fyne.CurrentApp().Driver().AbsolutePositionForObject(b)
		t.s.k.d.Layer.Menu(items, at.AddXY(0, b.Size().Height))
	})
	return b
}

func (t *toolsTab) switchTool(tool app.ServerTool, on bool) {
	t.change(func(ctx context.Context, a *app.App) error {
		return a.SetToolEnabled(ctx, tool.Server, tool.Tool.Tool, on)
	})
}

// change saves one of the person's choices and reads the server again: what is shown is what was kept.
func (t *toolsTab) change(f func(context.Context, *app.App) error) {
	d := t.s.k.d
	d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		err := f(ctx, d.App)
		d.Do(func() {
			if err != nil {
				d.Layer.Toast(language.Message(err))
				t.shape = ""
			}
			t.s.p.readDetail()
		})
	})
}

func (t *toolsTab) select1(i int) {
	if i >= 0 && i < len(t.tools) {
		t.chosen = t.tools[i].Tool.Tool
		t.showChosen()
	}
}

func (t *toolsTab) index(name string) int {
	for i, tool := range t.tools {
		if tool.Tool.Tool == name {
			return i
		}
	}
	return -1
}

// update shows the tools that a server has now. What did not change stays as it stands, with what is filled in.
func (t *toolsTab) update(d app.ServerDetail) {
	shape, err := json.Marshal([]any{d.Name, d.State, d.ServerTools})
	if err == nil && string(shape) == t.shape && t.wanted == "" {
		return
	}
	t.shape = string(shape)
	if d.Name != t.server {
		t.server, t.chosen, t.detail = d.Name, "", ""
	}
	t.offered = d.ServerTools
	if t.wanted != "" { // it is not hidden from who was sent to it
		t.filter.SetText("")
	}
	t.fit()
	named := t.wanted != "" && t.index(t.wanted) >= 0
	if named {
		t.chosen, t.wanted = t.wanted, ""
	}
	if t.index(t.chosen) < 0 {
		t.chosen = ""
		if len(t.tools) > 0 {
			t.chosen = t.tools[0].Tool.Tool
		}
	}
	t.show()
	if named {
		t.list.Reveal(t.index(t.chosen))
	}
}

// fit takes over the tools that fit the filter.
func (t *toolsTab) fit() {
	t.tools = nil
	for _, tool := range t.offered {
		if contains(t.filter.Text, tool.Tool.Tool, tool.Title, tool.Description) {
			t.tools = append(t.tools, tool)
		}
	}
}

// refresh follows the filter. The chosen tool stays chosen where it still is in the list, so that what is filled in for
// it is kept.
func (t *toolsTab) refresh() {
	t.fit()
	if t.index(t.chosen) < 0 && len(t.tools) > 0 {
		t.chosen = t.tools[0].Tool.Tool
	}
	t.show()
}

func (t *toolsTab) show() {
	t.list.Reset()
	for i := range t.tools {
		t.list.Changed(i)
	}
	t.list.Select(t.index(t.chosen))
	t.showChosen()
	t.all.Refresh()
}

// showChosen shows everything about the chosen tool.
func (t *toolsTab) showChosen() {
	i := t.index(t.chosen)
	if i < 0 {
		t.detail = ""
		t.page.set(text.NewLabel(t.nothing(), text.Run{Color: theme.Dim}, text.Wrap))
		return
	}
	tool := t.tools[i]
	key, err := json.Marshal([]any{t.server, tool})
	if err == nil && string(key) == t.detail {
		return
	}
	t.detail = string(key)
	if which := t.server + "\x00" + t.chosen; which != t.top { // another one is read from its name on
		t.top = which
		defer t.page.scrollTo(0)
	}
	objects := []fyne.CanvasObject{t.named(tool), t.s.k.telling(t.page, orNone(tool.Description))}
	if tool.State != consent.StateSame {
		objects = append(objects, note(lang.X("servers.tool_waits", "This definition was not reviewed as it is now. No model is offered it, and it cannot be run."), theme.Waiting, theme.WaitingTint,
			left(newButton(lang.X("servers.review", "Review"), t.s.detail.review.begin))))
	}
	if tool.State == consent.StateChanged {
		objects = append(objects, t.difference(tool)...)
	}
	if tool.State == consent.StateSame {
		objects = append(objects, t.bench(tool).object)
	}
	objects = append(objects, t.choices(tool)...)
	for _, claim := range tool.Claims {
		objects = append(objects, caption(sentence.Worded(claim), theme.Dim, text.Wrap))
	}
	objects = append(objects, caption(lang.X("servers.schema", "Schema of the arguments, as the server gives it"), theme.Dim, text.Wrap), t.s.k.listing(t.page, "json", clean.Clean(string(tool.InputSchema))))
	if len(tool.Output) > 0 {
		objects = append(objects, caption(lang.X("servers.output_schema", "Schema of the result"), theme.Dim, text.Wrap), t.s.k.listing(t.page, "json", clean.Clean(string(tool.Output))))
	}
	t.page.set(objects...)
}

// iconSide is the side of a tool's own picture.
const iconSide float32 = 32

// named is a tool's name, beside the picture that its server gives for it.
func (t *toolsTab) named(tool app.ServerTool) fyne.CanvasObject {
	name := strong(nameAndTitle(tool.Tool.Tool, tool.Title))
	if !tool.Icon {
		return name
	}
	k := t.s.k
	picture := k.pictures.Small(iconSide, func() []byte { return k.d.App.ToolIcon(tool.Server, tool.Tool.Tool) })
	return container.NewBorder(nil, nil, picture, nil, container.New(centred{}, name))
}

// choices are the permission in words and the person's other switches.
func (t *toolsTab) choices(tool app.ServerTool) []fyne.CanvasObject {
	check := func(word string, on bool, set func(ctx context.Context, a *app.App, to bool) error) fyne.CanvasObject {
		c := widget.NewCheck(word, nil)
		c.Checked = on
		c.OnChanged = func(to bool) {
			t.change(func(ctx context.Context, a *app.App) error { return set(ctx, a, to) })
		}
		return c
	}
	on := left(check(lang.X("servers.switched_on", "On: models may be offered it"), tool.SwitchedOn, func(ctx context.Context, a *app.App, to bool) error {
		return a.SetToolEnabled(ctx, tool.Server, tool.Tool.Tool, to)
	}))
	reads := left(check(lang.X("servers.read_only", "It only reads: offer it in read-only chats too"), tool.ReadOnly, func(ctx context.Context, a *app.App, to bool) error {
		return a.SetToolReadOnly(ctx, tool.Server, tool.Tool.Tool, to)
	}))
	twice := left(check(lang.X("servers.twice", "Ask twice: its name must be typed before it is allowed"), tool.Twice, func(ctx context.Context, a *app.App, to bool) error {
		return a.SetToolTwice(ctx, tool.Server, tool.Tool.Tool, to)
	}))
	may := column(0, left(t.permission(tool)), caption(permissionMeaning(tool.Permission), theme.Dim, text.Wrap))
	out := []fyne.CanvasObject{on, may, column(0, reads, twice)}
	if tool.AppOnly { // no model is offered it; what is left is about calls by hand
		out = []fyne.CanvasObject{may, twice}
	}
	for _, g := range tool.Grants {
		out = append(out, container.NewBorder(nil, nil, nil, newButton(lang.X("servers.revoke", "Take back"), func() {
			t.change(func(ctx context.Context, a *app.App) error { return a.Revoke(ctx, g.ID) })
		}), container.New(centred{}, caption(grantWords(g), theme.Dim, text.Wrap))))
	}
	return out
}

func toolKey(tool app.ServerTool) string {
	return strings.Join([]string{tool.Server, tool.Tool.Tool, tool.Definition}, "\x00")
}

// difference shows what of a definition changed since the person reviewed it. It is asked for once.
func (t *toolsTab) difference(tool app.ServerTool) []fyne.CanvasObject {
	key := toolKey(tool)
	c, known := t.changes[key]
	if known {
		return []fyne.CanvasObject{caption(lang.X("servers.difference", "What changed since you reviewed it"), theme.Dim, text.Wrap), code.NewDiff(c.Old, c.New, t.s.k.config())}
	}
	d := t.s.k.d
	d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		found, err := d.App.Review(ctx, tool.Server)
		d.Do(func() {
			if err != nil {
				return // the review, which the button opens, says why
			}
			for _, c := range found.Changes {
				if c.Kind == "tool" && c.State == consent.StateChanged && c.Name == clean.Reveal(tool.Tool.Tool) {
					t.changes[key] = c
					t.detail = ""
					t.showChosen()
				}
			}
		})
	})
	return nil
}

func (t *toolsTab) bench(tool app.ServerTool) *bench {
	key := toolKey(tool)
	b := t.benches[key]
	if b == nil {
		b = newBench(t.s.k, t.page, t.s.k.d.App.Call, tool)
		t.benches[key] = b
	}
	return b
}

// nothing says why there is no tool to show, and what to do.
func (t *toolsTab) nothing() string {
	switch d := t.s.p.detail; {
	case len(t.offered) > 0:
		return lang.X("servers.no_fit", "No tool fits the filter.")
	case d.State == "ready":
		return lang.X("servers.no_tools", "This server offers no tools.")
	case d.State == "starting":
		return lang.X("servers.is_starting", "It is starting. What it offers is known once it runs.")
	case d.State == app.ServerDisabled:
		return lang.X("servers.off_body", "This server is off. Switch it on to see what it offers.")
	default:
		return lang.X("servers.not_running", "What it offers is known once it runs. Start it above.")
	}
}

// heard tells the benches what happens to their calls.
func (t *toolsTab) heard(e event.Event) {
	for _, b := range t.benches {
		b.heard(e)
	}
}

// look has the benches say how long their calls have been running.
func (t *toolsTab) look() {
	for _, b := range t.benches {
		b.tell()
	}
}

func (t *toolsTab) close() {
	for _, b := range t.benches {
		if b.stop != nil {
			b.stop()
		}
	}
}

func nameAndTitle(name, title string) string {
	name, title = clean.Reveal(name), clean.Line(title, 200)
	if title == "" || title == name {
		return name
	}
	return name + " — " + title
}

func orNone(description string) string {
	if description == "" {
		return lang.X("servers.no_description", "It has no description.")
	}
	return description
}
