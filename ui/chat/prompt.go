package chat

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"steward/app"
	"steward/app/clean"
	"steward/ui/form"
	"steward/ui/language"
	"steward/ui/sentence"
	"steward/ui/text"
	"steward/ui/theme"
)

// asking is a form for the arguments of a prompt or of a resource template, with the server's suggestions, and then a
// preview of what would be attached. Nothing is attached before the person has seen it.
type asking struct {
	p          *Place
	title      string
	about      string // foreign, one paragraph
	fields     []form.Field
	completing func(name, value string, known map[string]string) app.Completing
	fetch      func(ctx context.Context, values map[string]string) (app.Attachment, error)
	finish     func(values map[string]string) // in place of fetch and preview
	attach     func(got app.Attachment)       // nil: the composer

	form   *form.Form
	hints  *flowBox // a caption, and what is suggested
	hinted string   // the field that is for
	body   *column
	done   func()
	next   *chip
	field  string
	turn   int
	shut   bool
}

const dialogWidth float32 = 560

// formText draws other people's words in forms.
func formText(words string, role form.Role) fyne.CanvasObject {
	look, size := text.Run{}, theme.TextSize
	switch role {
	case form.Title:
		look.Bold = true
	case form.Help:
		look.Color, size = theme.Dim, theme.CaptionSize
	case form.Complaint:
		look.Color, size = theme.Refusal, theme.CaptionSize
	case form.Warning:
		look.Color, size = theme.Waiting, theme.CaptionSize
	}
	l := text.NewLabel(clean.Clean(words), look, text.Wrap)
	l.SetTextSize(size)
	return l
}

// usePrompt asks for a prompt's arguments, if it has any.
func (p *Place) usePrompt(pr app.Prompt) {
	a := &asking{p: p, title: "/" + clean.Reveal(pr.Name) + " · " + clean.Reveal(pr.Server), about: promptNote(pr)}
	for _, arg := range pr.Arguments {
		a.fields = append(a.fields, form.Field{Name: arg.Name, Title: clean.Line(arg.Title, 200), Description: clean.Clean(arg.Description), Kind: form.String, Required: arg.Required})
	}
	a.completing = func(name, value string, known map[string]string) app.Completing {
		return app.Completing{Server: pr.Server, Prompt: pr.Name, Argument: name, Value: value, Known: known}
	}
	id := p.state.conversation
	a.fetch = func(ctx context.Context, values map[string]string) (app.Attachment, error) {
		return p.d.App.FillPrompt(ctx, id, pr.Server, pr.Name, values)
	}
	a.open()
}

// useResource reads a resource, or asks for what a template needs first.
func (p *Place) useResource(r app.Resource) {
	id := p.state.conversation
	name := r.Title
	if name == "" {
		name = r.Name
	}
	a := &asking{p: p, title: "@" + clean.Line(clean.Reveal(name), 120) + " · " + clean.Reveal(r.Server), about: r.Description}
	a.fetch = func(ctx context.Context, values map[string]string) (app.Attachment, error) {
		uri := r.URI
		if r.URITemplate != "" {
			var err error
			if uri, err = app.ExpandTemplate(r.URITemplate, values); err != nil {
				return app.Attachment{}, err
			}
		}
		return p.d.App.ReadResource(ctx, id, r.Server, uri)
	}
	if r.URITemplate != "" {
		names, err := app.TemplateVariables(r.URITemplate)
		if err != nil {
			p.fail(err)
			return
		}
		for _, n := range names {
			a.fields = append(a.fields, fieldOf(n))
		}
		a.completing = func(name, value string, known map[string]string) app.Completing {
			return app.Completing{Server: r.Server, Template: r.URITemplate, Argument: name, Value: value, Known: known}
		}
	}
	a.open()
}

func (a *asking) open() {
	a.body = newColumn(3*theme.Step, pad{})
	room := canvas.NewRectangle(theme.Color(theme.Clear))
	room.SetMinSize(fyne.NewSize(dialogWidth, 0))
	a.done = a.p.d.Layer.Dialog(container.NewStack(room, &fyne.Container{Layout: measured{a.body, dialogWidth}, Objects: []fyne.CanvasObject{a.body}}), func() {
		a.shut = true
		a.p.focusComposer()
	})
	if len(a.fields) == 0 {
		a.go1(nil)
		return
	}
	a.ask()
}

// measured gives a column the height it needs at a width.
type measured struct {
	c     *column
	width float32
}

func (m measured) MinSize([]fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(m.width, m.c.HeightFor(m.width))
}
func (m measured) Layout(_ []fyne.CanvasObject, s fyne.Size) { m.c.Resize(s) }

func (a *asking) heading() []fyne.CanvasObject {
	out := []fyne.CanvasObject{text.NewLabel(a.title, text.Run{Bold: true}, text.Wrap)}
	if a.about != "" {
		out = append(out, text.NewLabel(clean.Clean(cut(a.about, 2000)), text.Run{Color: theme.Dim}, text.Wrap))
	}
	return out
}

func (a *asking) buttons(more ...fyne.CanvasObject) fyne.CanvasObject {
	cancel := newChip(outlined, "", lang.X("common.cancel", "Cancel"), func() { a.done() })
	all := append([]fyne.CanvasObject{cancel}, more...)
	for _, o := range all {
		if c, ok := o.(*chip); ok {
			c.onShort = a.p.d.Shortcut // Escape closes what lies over the chat
		}
	}
	return newLine(2*theme.Step, nil, nil, all...)
}

// ask shows the form.
func (a *asking) ask() {
	a.form = form.New(a.fields, formText)
	a.hints = newFlow(1.5 * theme.Step)
	a.form.OnFocus = func(name string) { a.field = name; a.complete() }
	a.form.OnChange = a.complete
	a.form.OnResize = a.resize
	a.form.OnSubmit = a.submit
	a.form.OnShortcut = a.p.d.Shortcut
	a.form.OnKey = a.toHints
	a.form.OnEscape = func() bool { a.done(); return true }
	a.next = newChip(strong, "", lang.X("chat.preview", "Preview"), a.submit)
	if a.finish != nil {
		a.next.words = lang.X("chat.use_prompt", "Use")
	}
	a.body.put(append(a.heading(), a.form, a.buttons(a.next))...)
	a.resize()
	a.p.lead(a.form, func() { a.form.FocusField(a.fields[0].Name) })
}

func (a *asking) resize() {
	a.body.Refresh()
	a.p.resized()
}

// fieldOf is a field for a value that is not known any better.
func fieldOf(name string) form.Field {
	return form.Field{Name: name, Kind: form.String, Required: true}
}

func (a *asking) values() map[string]string {
	out := map[string]string{}
	for name, raw := range a.form.Values() {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			out[name] = s
		}
	}
	return out
}

// complete asks the server for suggestions, a moment after the last key.
func (a *asking) complete() {
	if a.completing == nil || a.field == "" {
		return
	}
	a.turn++
	turn, name := a.turn, a.field
	known := a.values()
	value := known[name]
	delete(known, name)
	a.p.d.Go(func(ctx context.Context) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(150 * time.Millisecond):
		}
		got, err := a.p.d.App.CompleteArgument(ctx, a.completing(name, value, known))
		a.p.d.Do(func() {
			if turn != a.turn || a.shut {
				return
			}
			a.hints.objects = nil
			if err == nil { // a server without suggestions is no fault
				a.suggest(name, value, got.Values)
			}
			if a.hints.objects == nil {
				a.form.Below(name, nil, nil)
			} else {
				a.form.Below(name, a.hints, a.hints.HeightFor)
			}
			a.resize()
		})
	})
}

// toHints leads from a field down into what is suggested for it.
func (a *asking) toHints(name string, e *fyne.KeyEvent) bool {
	if e.Name != fyne.KeyDown || a.hinted != name || len(a.hints.objects) < 2 {
		return false
	}
	if first, ok := a.hints.objects[1].(*chip); ok {
		a.p.focus(first)
	}
	return true
}

// hintKey moves between suggestions, and back to their field.
func (a *asking) hintKey(at int, e *fyne.KeyEvent) bool {
	switch e.Name {
	case fyne.KeyRight, fyne.KeyDown:
		at++
	case fyne.KeyLeft:
		at--
	case fyne.KeyUp:
		at = 0
	default:
		return false
	}
	if at < 1 {
		a.form.FocusField(a.hinted)
	} else if at < len(a.hints.objects) {
		if c, ok := a.hints.objects[at].(*chip); ok {
			a.p.focus(c)
		}
	}
	return true
}

// suggest shows what a server suggests for a field, under the field's name.
func (a *asking) suggest(name, value string, values []string) {
	title := name
	for _, f := range a.fields {
		if f.Name == name && f.Title != "" {
			title = f.Title
		}
	}
	a.hinted = name
	high := canvas.NewRectangle(theme.Color(theme.Clear))
	high.SetMinSize(fyne.NewSize(0, 24)) // as high as what stands beside it
	a.hints.objects = append(a.hints.objects, container.NewStack(high, container.NewCenter(caption(lang.X("chat.suggested", "For {{.name}} ↓", map[string]any{"name": clean.Line(title, 60)}), theme.Dim, text.Whole))))
	for i, v := range values {
		if i == 8 {
			break
		}
		if v == value {
			continue
		}
		raw, err := json.Marshal(v)
		if err != nil {
			continue
		}
		c := newPill("", clean.Reveal(cut(v, 80)), false, func() {
			a.form.Set(map[string]json.RawMessage{name: raw})
			a.form.FocusField(name)
		})
		c.onShort = a.p.d.Shortcut
		at := len(a.hints.objects)
		c.onKey = func(e *fyne.KeyEvent) bool { return a.hintKey(at, e) }
		a.hints.objects = append(a.hints.objects, c)
	}
	if len(a.hints.objects) < 2 {
		a.hints.objects = nil
	}
	a.hints.Refresh()
}

func (a *asking) submit() {
	if !a.form.Check() {
		return
	}
	if a.finish != nil {
		values := a.values()
		a.done()
		a.finish(values)
		return
	}
	a.go1(a.values())
}

// go1 fetches what would be attached and shows it.
func (a *asking) go1(values map[string]string) {
	a.turn++
	turn := a.turn
	wait := text.NewLabel(lang.X("common.loading", "Loading…"), text.Run{Color: theme.Dim}, text.Wrap)
	a.body.put(append(a.heading(), wait, a.buttons())...)
	a.resize()
	a.p.d.Go(func(ctx context.Context) {
		got, err := a.fetch(ctx, values)
		if gone(ctx, err) {
			return
		}
		a.p.d.Do(func() {
			if turn != a.turn || a.shut {
				return
			}
			if err != nil {
				a.failed(err)
				return
			}
			a.preview(got)
		})
	})
}

func (a *asking) failed(err error) {
	objects := append(a.heading(), newBeside(widget.NewIcon(theme.IconIn("warning", theme.Refusal)), text.NewLabel(language.Message(err), text.Run{}, text.Wrap)))
	var more []fyne.CanvasObject
	if a.form != nil {
		more = append(more, newChip(outlined, "", lang.X("common.back", "Back"), func() {
			state := a.form.State()
			a.ask()
			a.form.Restore(state)
		}))
	}
	a.body.put(append(objects, a.buttons(more...))...)
	a.resize()
}

// preview shows exactly what would go to the model.
func (a *asking) preview(got app.Attachment) {
	var part *excerpt
	submit := func() {
		if part != nil {
			chosen, ok := part.attachment()
			if !ok {
				return
			}
			got = chosen
		}
		a.done()
		if a.attach != nil {
			a.attach(got)
		} else {
			a.p.composer.add(got)
		}
	}
	add := newChip(strong, "check", lang.X("chat.attach_this", "Attach"), submit)
	views := a.p.attachmentViews(got)
	if part = newExcerpt(a.p, got, submit, a.resize); part != nil {
		views = part.views()
	}
	a.body.put(append(append(a.heading(), views...), a.buttons(add))...)
	a.resize()
	a.p.focus(add)
}

// attachmentFacts says what an attachment is, and how much.
func attachmentFacts(a app.Attachment) string {
	facts := attachmentWords(a)
	if a.MIMEType != "" {
		facts += " · " + clean.Line(a.MIMEType, 80)
	}
	return facts + " · " + size(int64(len(a.Text)+len(a.Data)))
}

// warningOf says what should be known before it is sent.
func (p *Place) warningOf(a app.Attachment) []fyne.CanvasObject {
	w := a.Warning()
	if w == "" {
		return nil
	}
	return []fyne.CanvasObject{newBeside(widget.NewIcon(theme.IconIn("warning", theme.Waiting)), text.NewLabel(clean.Clean(sentence.Worded(w)), text.Run{Color: theme.Waiting}, text.Wrap))}
}

// attachmentViews show what an attachment gives to the model.
func (p *Place) attachmentViews(a app.Attachment) []fyne.CanvasObject {
	if len(a.Data) > 0 {
		return []fyne.CanvasObject{p.pictures.Box(attachmentFacts(a), a.Data, p.resized)}
	}
	out := append([]fyne.CanvasObject{caption(attachmentFacts(a), theme.Dim, text.Wrap)}, p.warningOf(a)...)
	if a.Text != "" {
		out = append(out, p.newReader(a.Text))
	}
	return out
}

// previewAttachment shows an attachment over everything.
func (p *Place) previewAttachment(a app.Attachment) {
	var done func()
	closing := newChip(outlined, "", lang.X("common.close", "Close"), func() { done() })
	closing.onShort = p.d.Shortcut
	copied := newChip(outlined, "copy", lang.X("common.copy", "Copy"), func() { p.copyText(a.Text) })
	copied.onShort = p.d.Shortcut
	left := []fyne.CanvasObject{copied}
	if a.Text == "" {
		left = nil
	}
	body := newColumn(3*theme.Step, pad{}, slices.Concat([]fyne.CanvasObject{text.NewLabel(attachmentWords(a), text.Run{Bold: true}, text.Wrap)}, p.attachmentViews(a),
		[]fyne.CanvasObject{newLine(2*theme.Step, left, nil, closing)})...)
	room := canvas.NewRectangle(theme.Color(theme.Clear))
	room.SetMinSize(fyne.NewSize(dialogWidth, 0))
	before := p.d.Window().Canvas().Focused()
	done = p.d.Layer.Dialog(container.NewStack(room, &fyne.Container{Layout: measured{body, dialogWidth}, Objects: []fyne.CanvasObject{body}}), func() {
		if before != nil {
			p.focus(before)
		}
	})
	p.focus(closing)
}
