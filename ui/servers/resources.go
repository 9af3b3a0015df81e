package servers

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"steward/app"
	"steward/app/clean"
	"steward/ui/code"
	"steward/ui/form"
	"steward/ui/language"
	"steward/ui/list"
	"steward/ui/text"
	"steward/ui/theme"
)

// node is one line of the tree of resources: a folder, a resource or a template.
type node struct {
	folder   string // its address up to and with the last slash; a folder has no resource
	open     bool
	resource *app.Resource
	depth    int
}

// tree orders resources by address, below the folders they stand in; closed holds the folders that are folded. With a
// filter every folder is open and only what fits is there.
func tree(resources, templates []app.Resource, filter string, closed map[string]bool) []node {
	filter = strings.ToLower(strings.TrimSpace(filter))
	fits := func(r app.Resource) bool {
		return filter == "" || strings.Contains(strings.ToLower(strings.Join([]string{address(r), r.Name, r.Title, r.Description}, "\n")), filter)
	}
	all := make([]app.Resource, 0, len(resources)+len(templates))
	for _, r := range slices.Concat(templates, resources) {
		if fits(r) {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b app.Resource) int {
		return cmp.Or(strings.Compare(folderOf(a), folderOf(b)), strings.Compare(address(a), address(b)))
	})
	var out []node
	last := "\x00"
	for i := range all {
		r := &all[i]
		folder := folderOf(*r)
		open := filter != "" || !closed[folder]
		if folder != last {
			out = append(out, node{folder: folder, open: open})
			last = folder
		}
		if open {
			out = append(out, node{resource: r, depth: 1})
		}
	}
	return out
}

func address(r app.Resource) string {
	if r.URITemplate != "" {
		return r.URITemplate
	}
	return r.URI
}

// folderOf is the address up to its last slash; that of a template ends before its first variable.
func folderOf(r app.Resource) string {
	a := address(r)
	if r.URITemplate != "" {
		a, _, _ = strings.Cut(a, "{")
	}
	if i := strings.LastIndexByte(a, '/'); i >= 0 {
		return a[:i+1]
	}
	if i := strings.IndexByte(a, ':'); i >= 0 {
		return a[:i+1]
	}
	return a
}

// resourcesTab is the tree of what a server offers to read, and a preview of the chosen one.
type resourcesTab struct {
	s         *Place
	filter    *form.Entry
	list      *list.List
	page      *page
	all       fyne.CanvasObject
	nodes     []node
	closed    map[string]bool
	from      app.ServerDetail
	chosen    string               // address
	following map[string]*followed // by server and address
	asks      *asking              // for the variables of the chosen template
	closing   bool
	turn      int // counts previews: only the newest is shown
}

// readPause is how long changes of a resource are gathered before it is read again: a server may report thousands a second.
const readPause = 250 * time.Millisecond

// followed is a resource whose changes the server reports.
type followed struct {
	end     func()
	changed time.Time // when the server last said so; zero: never
	unseen  bool      // it was not shown since
}

func newResourcesTab(s *Place) *resourcesTab {
	t := &resourcesTab{s: s, page: newPage(), closed: map[string]bool{}, following: map[string]*followed{}}
	t.filter = filterEntry(s.k, t.refresh)
	t.list = list.NewEqual(list.Source{Len: func() int { return len(t.nodes) }, Build: t.row, Key: func(i int) string {
		if r := t.nodes[i].resource; r != nil {
			return "r" + address(*r)
		}
		return "f" + t.nodes[i].folder
	}}, lineHeight)
	t.list.Selectable, t.list.OpenOnTap = true, true
	t.list.SelectedColor, t.list.HoverColor, t.list.Radius = theme.AccentTint, theme.Hover, step
	t.list.OnOpened = t.open
	t.all = halves(t.filter, t.list, t.page, func() float32 { return float32(len(t.nodes)) * lineHeight })
	return t
}

const lineHeight = 30

// filterEntry is an input that tells of each change.
func filterEntry(k *kit, changed func()) *form.Entry {
	e := form.NewEntry()
	e.SetPlaceHolder(lang.X("servers.filter", "Filter"))
	e.OnChanged = func(string) { changed() }
	e.OnShortcut = k.d.Shortcut
	return e
}

// halves is a filter over a list, and a page below both. The list gets the height that it wants, up to a part of what
// there is.
func halves(filter, list fyne.CanvasObject, p *page, wants func() float32) fyne.CanvasObject {
	return container.New(halvesLayout{wants}, filter, list, newPaint(theme.Line, "", 0), p.Container)
}

type halvesLayout struct{ wants func() float32 }

// MinSize is Fyne's.
func (halvesLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(200, 120) }

// Layout is Fyne's.
func (l halvesLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	const x = 5 * step
	h := o[0].MinSize().Height
	o[0].Move(fyne.NewPos(x, 0))
	o[0].Resize(fyne.NewSize(max(size.Width-2*x, 0), h))
	top := h + 2*step
	mid := min(max((size.Height-top)*0.45, 0), max(l.wants(), 60)+step)
	o[1].Move(fyne.NewPos(x, top))
	o[1].Resize(fyne.NewSize(max(size.Width-2*x, 0), mid))
	o[2].Move(fyne.NewPos(x, top+mid))
	o[2].Resize(fyne.NewSize(max(size.Width-2*x, 0), 1))
	o[3].Move(fyne.NewPos(0, top+mid+1))
	o[3].Resize(fyne.NewSize(size.Width, max(size.Height-top-mid-1, 0)))
}

func (t *resourcesTab) object() fyne.CanvasObject { return t.all }

func (t *resourcesTab) update(d app.ServerDetail) {
	if d.Name != t.from.Name {
		t.chosen = ""
		t.turn++
		t.page.set()
	}
	t.from = d
	t.refresh()
	if t.chosen == "" {
		words := lang.X("servers.no_resources", "This server offers nothing to read.")
		if len(t.nodes) > 0 {
			words = lang.X("servers.choose_resource", "Choose one above to read it.")
		}
		t.page.set(t.s.detail.unchosen(d, words))
	}
}

func (t *resourcesTab) refresh() {
	t.nodes = tree(t.from.ResourceList, t.from.TemplateList, t.filter.Text, t.closed)
	t.list.Reset()
	for i := range t.nodes {
		t.list.Changed(i)
	}
	t.all.Refresh()
}

func (t *resourcesTab) row(i int) fyne.CanvasObject {
	n := t.nodes[i]
	if n.resource == nil {
		icon := "chevron-right"
		if n.open {
			icon = "chevron-down"
		}
		return container.New(lineLayout{}, widget.NewIcon(theme.IconIn(icon, theme.Dim)), caption(clean.Reveal(n.folder), theme.Dim, text.Cut), caption("", theme.Dim, text.Whole))
	}
	r := *n.resource
	icon := "file"
	about := clean.Line(r.MIMEType, 60)
	if r.Size != nil {
		about = strings.Join(nonEmpty(about, size(*r.Size)), " · ")
	}
	if r.URITemplate != "" {
		icon, about = "edit", lang.X("servers.template", "template")
	}
	colour := theme.Dim
	if f := t.following[followKey(t.from.Name, r)]; f != nil && f.unseen {
		about, colour = "● "+lang.X("servers.changed_at", "changed {{.time}}", map[string]any{"time": clockShort(f.changed)}), theme.Waiting
	} else if f != nil {
		about = lang.X("servers.followed", "followed") + " · " + about
	}
	words := strings.TrimPrefix(address(r), folderOf(r))
	if name := clean.Line(r.Name, 200); name != "" && name != words {
		words = clean.Reveal(words) + "   " + name
	} else {
		words = clean.Reveal(words)
	}
	o := container.New(lineLayout{}, widget.NewIcon(theme.IconIn(icon, theme.Dim)), text.NewLabel(words, text.Run{}, text.Cut), caption(about, colour, text.Whole))
	o.Layout = lineLayout{indent: 4 * step}
	return o
}

// lineLayout is an icon, words, and more at the right.
type lineLayout struct{ indent float32 }

// MinSize is Fyne's.
func (lineLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(100, 30) }

// Layout is Fyne's.
func (l lineLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	const icon = theme.IconSize
	more := o[2].MinSize()
	o[0].Move(fyne.NewPos(l.indent+step, (size.Height-icon)/2))
	o[0].Resize(fyne.NewSquareSize(icon))
	x := l.indent + icon + 3*step
	h := heightOf(o[1], 4000)
	o[1].Move(fyne.NewPos(x, (size.Height-h)/2))
	o[1].Resize(fyne.NewSize(max(size.Width-x-more.Width-3*step, 20), h))
	o[2].Move(fyne.NewPos(size.Width-more.Width-step, (size.Height-more.Height)/2))
	o[2].Resize(more)
}

// open folds a folder, or shows a resource.
func (t *resourcesTab) open(i int) {
	if i < 0 || i >= len(t.nodes) {
		return
	}
	n := t.nodes[i]
	if n.resource == nil {
		t.closed[n.folder] = !t.closed[n.folder]
		t.refresh()
		return
	}
	t.chosen = address(*n.resource)
	defer t.page.scrollTo(0) // another one is read from its name on
	if n.resource.URITemplate != "" {
		t.showTemplate(*n.resource)
		return
	}
	t.read(*n.resource, nil)
}

// read fetches a resource and shows it, below what stands over it.
func (t *resourcesTab) read(r app.Resource, above []fyne.CanvasObject) {
	if above == nil {
		if f := t.following[followKey(t.from.Name, r)]; f != nil && f.unseen {
			f.unseen = false
			t.refresh()
		}
		above = t.about(r)
	}
	t.turn++
	turn, d, server := t.turn, t.s.k.d, t.from.Name
	t.page.set(append(slices.Clone(above), text.NewLabel(lang.X("common.loading", "Loading…"), text.Run{Color: theme.Dim}, text.Wrap))...)
	d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, 3*patience)
		defer cancel()
		a, err := d.App.ReadResource(ctx, "", server, r.URI)
		d.Do(func() {
			if turn == t.turn {
				t.page.set(append(slices.Clone(above), t.s.k.attachment(t.page, a, err)...)...)
			}
		})
	})
}

// attachment shows what was read, or why it could not be.
func (k *kit) attachment(p *page, a app.Attachment, err error) []fyne.CanvasObject {
	if err != nil {
		return []fyne.CanvasObject{note(language.Message(err), theme.Refusal, theme.RefusalTint)}
	}
	var out []fyne.CanvasObject
	if a.Text != "" {
		lang := ""
		if strings.Contains(a.MIMEType, "json") {
			lang = "json"
		}
		out = append(out, k.listing(p, lang, clean.Clean(a.Text)))
	}
	switch {
	case strings.HasPrefix(a.MIMEType, "image/") && len(a.Data) > 0:
		out = append(out, k.picture(p, a.MIMEType, a.Data))
	case len(a.Data) > 0:
		out = append(out, caption(strings.Join(nonEmpty(clean.Line(a.MIMEType, 80), size(int64(len(a.Data)))), " · "), theme.Dim, text.Wrap))
	}
	if out == nil {
		out = append(out, text.NewLabel(lang.X("servers.empty_content", "It is empty."), text.Run{Color: theme.Dim}, text.Wrap))
	}
	return out
}

func (t *resourcesTab) about(r app.Resource) []fyne.CanvasObject {
	out := []fyne.CanvasObject{strong(nameAndTitle(r.Name, r.Title)), t.s.k.prose(clean.Reveal(address(r)), text.Run{Mono: true, Color: theme.Dim})}
	if r.Description != "" {
		out = append(out, t.s.k.telling(t.page, clean.Clean(r.Description)))
	}
	if r.URI == "" {
		return out
	}
	key := followKey(t.from.Name, r)
	f := t.following[key]
	on := widget.NewCheck(lang.X("servers.follow", "Follow it: read again when the server says that it changed"), nil)
	on.Checked = f != nil
	on.OnChanged = func(to bool) { t.follow(key, t.from.Name, r, to) }
	out = append(out, left(on, code.NewButton("refresh", lang.X("common.refresh", "Refresh"), func() { t.read(r, nil) })))
	if f != nil && !f.changed.IsZero() {
		out = append(out, caption("● "+lang.X("servers.changed_and_read", "Changed at {{.time}} and read again", map[string]any{"time": clockShort(f.changed)}), theme.Waiting, text.Wrap))
	}
	return out
}

func followKey(server string, r app.Resource) string { return server + "\x00" + r.URI }

func (t *resourcesTab) follow(key, server string, r app.Resource, on bool) {
	d := t.s.k.d
	if !on {
		if f := t.following[key]; f != nil {
			delete(t.following, key)
			d.Go(func(context.Context) { f.end() })
		}
		t.refresh()
		return
	}
	changed := t.s.k.gathered(func() { t.updated(key, server, r) })
	d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		end, err := d.App.Subscribe(ctx, server, r.URI, changed)
		d.Do(func() {
			if err != nil {
				d.Layer.Toast(language.Message(err))
				if t.from.Name == server && t.chosen == r.URI {
					t.read(r, nil)
				}
				return
			}
			if before := t.following[key]; before != nil || t.closing {
				d.Go(func(context.Context) { end() })
				return
			}
			t.following[key] = &followed{end: end}
			t.refresh()
		})
	})
}

// gathered gives a function that may be called from any goroutine and as often as a server likes: do is called on Fyne's
// goroutine a moment later, once for all calls until then.
func (k *kit) gathered(do func()) func() {
	var due atomic.Bool
	return func() {
		if !due.CompareAndSwap(false, true) {
			return
		}
		k.d.Go(func(ctx context.Context) {
			select {
			case <-ctx.Done():
			case <-time.After(readPause):
				due.Store(false)
				k.d.Do(do)
			}
		})
	}
}

// updated is told that a followed resource changed: it is read again where it is shown, else marked.
func (t *resourcesTab) updated(key, server string, r app.Resource) {
	f := t.following[key]
	if f == nil {
		return
	}
	shown := t.from.Name == server && t.chosen == r.URI && t.s.shown.Load() && t.s.detail.tabs.chosen == tabResources
	f.changed, f.unseen = time.Now(), !shown
	if shown {
		t.read(r, nil)
	}
	t.refresh()
}

// showTemplate asks for the variables of a template.
func (t *resourcesTab) showTemplate(r app.Resource) {
	t.turn++
	above := t.about(r)
	names, err := app.TemplateVariables(r.URITemplate)
	if err != nil {
		t.page.set(append(above, note(language.Message(err), theme.Refusal, theme.RefusalTint))...)
		return
	}
	var fields []form.Field
	for _, n := range names {
		fields = append(fields, form.Field{Name: n, Title: clean.Reveal(n), Kind: form.String})
	}
	server := t.from.Name
	q := t.s.k.ask(t.page, fields, func(c app.Completing) app.Completing {
		c.Server, c.Template = server, r.URITemplate
		return c
	})
	t.asks.forget()
	t.asks = q
	var whole []fyne.CanvasObject
	read := func() {
		uri, err := app.ExpandTemplate(r.URITemplate, texts(q.form.Values()))
		if err != nil {
			t.page.set(append(slices.Clone(whole), note(language.Message(err), theme.Refusal, theme.RefusalTint))...)
			return
		}
		t.read(app.Resource{URI: uri}, append(slices.Clone(whole), t.s.k.prose(clean.Reveal(uri), text.Run{Mono: true})))
	}
	q.form.OnSubmit = read
	whole = append(above, card(q.object, left(strongButton(lang.X("servers.read", "Read"), read))))
	t.page.set(whole...)
}

// seen reads what is chosen again where it changed while nobody looked.
func (t *resourcesTab) seen() {
	for _, r := range t.from.ResourceList {
		if f := t.following[followKey(t.from.Name, r)]; r.URI == t.chosen && f != nil && f.unseen {
			t.read(r, nil)
		}
	}
}

func (t *resourcesTab) close() {
	t.closing = true
	for _, f := range t.following {
		t.s.k.d.Go(func(context.Context) { f.end() }) // where the window closes already, the program's end ends it
	}
}
