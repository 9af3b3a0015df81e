package settings

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"steward/app"
	"steward/ui/button"
	"steward/ui/form"
	"steward/ui/language"
	"steward/ui/text"
	"steward/ui/theme"
)

// addressForm shows how an address looks; it is the same in every language.
const addressForm = "https://…/v1"

// editor is the dialog in which an endpoint is described and tested.
type editor struct {
	s        *Place
	endpoint app.ModelEndpoint
	name     *form.Entry
	address  *form.Entry
	model    *form.Entry
	key      *form.Entry
	clear    *widget.Check // the key may travel in clear text
	status   *text.Label
	test     *button.Button
	save     *button.Button
	models   *modelChoice
	reach    *reachFields
	fields   *fyne.Container
	scroll   *container.Scroll
	laid     [2]float32 // heights that the dialog was laid out for
	busy     bool
	close    func()
}

// edit opens the dialog for an endpoint, stored or new. keys is where a person gets a key, "" where none is needed.
func (s *Place) edit(e app.ModelEndpoint, keys string) *editor {
	d := &editor{s: s, endpoint: e, name: form.NewEntry(), address: form.NewEntry(), model: form.NewEntry(), key: form.NewSecret(), reach: newReachFields(e.Reach)}
	for entry, value := range map[*form.Entry]string{d.name: e.Name, d.address: e.BaseURL, d.model: e.Model} {
		entry.SetText(value)
	}
	for _, entry := range append([]*form.Entry{d.name, d.address, d.model, d.key}, d.reach.entries()...) {
		entry.OnKey = d.keyed
		entry.OnShortcut = s.d.Shortcut
	}
	d.address.SetPlaceHolder(addressForm)
	if e.HasKey {
		d.key.SetPlaceHolder(lang.X("settings.key_kept", "stored; type to replace it"))
	}
	d.clear = widget.NewCheck(lang.X("settings.allow_http", "The key may travel unencrypted (http)"), nil)
	d.clear.Checked = e.AllowHTTP
	d.status = text.NewLabel("", text.Run{}, text.Wrap)
	d.test = button.New(button.Outlined, "", lang.X("settings.test_connection", "Test connection"), d.try)
	d.save = button.New(button.Strong, "", lang.X("common.save", "Save"), d.store)
	d.address.OnChanged = func(string) { d.check() }
	d.models = newModelChoice(func(m string) { d.model.SetText(m) })
	d.model.OnChanged = func(typed string) { d.models.search(typed); d.arrange() }
	d.fields = d.column(keys)
	d.scroll = container.NewVScroll(container.New(layout.NewCustomPaddedLayout(0, 0, 0, 2*theme.Step), d.fields)) // the bar beside the fields
	title := text.NewLabel(lang.X("settings.edit_endpoint", "Model endpoint"), text.Run{Bold: true}, text.Whole)
	body := below(title, room(asking), d.scroll,
		&fyne.Container{Layout: fixedWidth{asking}, Objects: []fyne.CanvasObject{d.status}},
		container.NewHBox(d.test, layout.NewSpacer(), button.New(button.Outlined, "", lang.X("common.cancel", "Cancel"), func() { d.close() }), d.save))
	d.check() // what is hidden takes no room
	d.close = s.d.Layer.Dialog(body, nil)
	if w := s.d.Window(); w != nil {
		w.Canvas().Focus(d.first())
	}
	return d
}

// column are the fields, those that few need folded away.
func (d *editor) column(keys string) *fyne.Container {
	out := below(labelled(lang.X("settings.name", "Name"), d.name), labelled(lang.X("settings.address", "Address"), d.address),
		labelled(lang.X("settings.key", "Key"), d.key))
	if keys != "" {
		out.Add(labelled("", wrapped(lang.X("settings.keys_at", "Keys are made at {{.url}}", map[string]any{"url": keys}), text.Run{Color: theme.Dim}, asking-150-2*theme.Step)))
	}
	out.Add(labelled(lang.X("settings.model", "Model"), d.model))
	out.Add(d.models.canvas)
	out.Add(d.clear)
	out.Add(d.compatibilityButton())
	var more *button.Button
	more = button.New(button.Quiet, "chevron-right", lang.X("settings.more_reach", "Proxy, certificates, headers, waiting"), func() {
		d.reach.canvas.Hidden = !d.reach.canvas.Hidden
		icon := "chevron-down"
		if d.reach.canvas.Hidden {
			icon = "chevron-right"
		}
		more.SetIcon(icon)
		d.arrange()
	})
	more.OnKey = d.keyed
	d.reach.canvas.Hidden = true
	out.Add(beside(more))
	out.Add(d.reach.canvas)
	return out
}

// arrange makes the fields as high as they are, and lets them scroll where the window is too low for them.
func (d *editor) arrange() {
	if d.scroll == nil {
		return
	}
	height := d.scroll.Content.MinSize().Height
	if w := d.s.d.Window(); w != nil {
		height = min(height, max(w.Canvas().Size().Height-d.chrome(), 120))
	}
	if height == d.scroll.MinSize().Height && !d.moved() {
		return // with each key, the whole dialog would be laid out
	}
	d.scroll.SetMinSize(fyne.NewSize(asking, height))
	d.scroll.Content.Refresh()
	d.scroll.Refresh()
	if w := d.s.d.Window(); w != nil && d.close != nil {
		for _, o := range w.Canvas().Overlays().List() {
			o.Refresh() // the dialog is as high as what is in it
		}
	}
}

// moved says whether something in the dialog is higher or lower than it was laid out for.
func (d *editor) moved() bool {
	words, content := d.status.HeightFor(asking), d.scroll.Content.MinSize().Height
	same := words == d.laid[0] && content == d.laid[1]
	d.laid = [2]float32{words, content}
	return !same
}

// chrome is what of the dialog is not the fields.
func (d *editor) chrome() float32 {
	return 130 + max(d.status.HeightFor(asking), 20)
}

// first is where the person most likely has something to type.
func (d *editor) first() fyne.Focusable {
	if d.address.Text == "" {
		return d.address
	}
	return d.key
}

func (d *editor) keyed(e *fyne.KeyEvent) bool {
	if e.Name == fyne.KeyEscape {
		d.close()
		return true
	}
	return false
}

// check shows the choice about clear text only where it means something, and keeps what is impossible from being tried.
func (d *editor) check() {
	address := strings.TrimSpace(d.address.Text)
	d.clear.Hidden = !strings.HasPrefix(strings.ToLower(address), "http://")
	d.arrange()
	if address == "" || d.busy {
		d.test.Disable()
		d.save.Disable()
	} else {
		d.test.Enable()
		d.save.Enable()
	}
}

// described is the endpoint as it stands in the fields; the error says which of them cannot be read.
func (d *editor) described() (app.ModelEndpoint, error) {
	e := d.endpoint
	e.Name, e.BaseURL, e.Model = strings.TrimSpace(d.name.Text), strings.TrimSpace(d.address.Text), strings.TrimSpace(d.model.Text)
	e.AllowHTTP = d.clear.Checked && !d.clear.Hidden
	var err error
	e.Reach, err = d.reach.reach()
	return e, err
}

func (d *editor) say(words string, look text.Run) {
	d.status.SetText(words, look)
	d.arrange()
}

func (d *editor) working(busy bool) {
	d.busy = busy
	if busy {
		d.say(lang.X("common.working", "Working…"), text.Run{Color: theme.Dim})
	}
	d.check()
}

// try asks the endpoint for its models.
func (d *editor) try() {
	e, err := d.described()
	if err != nil {
		d.say("✗ "+language.Message(err), text.Run{Color: theme.Refusal})
		return
	}
	d.working(true)
	d.s.p.test(e, d.key.Text, func(models []app.ModelInfo, err error) {
		d.working(false)
		if err != nil {
			d.say("✗ "+language.Message(err), text.Run{Color: theme.Refusal})
			return
		}
		d.models.set(models)
		if d.model.Text == "" {
			d.model.SetText(d.models.first())
		}
		d.say("✓ "+lang.X("settings.works", "It works and offers {{.count}} models.", map[string]any{"count": len(models)}), text.Run{Color: theme.Good})
	})
}

// store keeps the dialog open until everything is stored.
func (d *editor) store() {
	if strings.TrimSpace(d.model.Text) == "" {
		d.say(lang.X("settings.model_missing", "Name a model, or test the connection to choose one."), text.Run{Color: theme.Waiting})
		return
	}
	e, err := d.described()
	if err != nil {
		d.say("✗ "+language.Message(err), text.Run{Color: theme.Refusal})
		return
	}
	d.working(true)
	d.s.p.save(e, d.key.Text, func(err error) {
		d.working(false)
		if err != nil {
			d.say("✗ "+language.Message(err), text.Run{Color: theme.Refusal})
			return
		}
		d.key.SetText("")
		d.close()
	})
}
