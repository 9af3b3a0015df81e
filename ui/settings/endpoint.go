package settings

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"steward/app"
	"steward/app/clean"
	"steward/ui/button"
	"steward/ui/form"
	"steward/ui/language"
	"steward/ui/list"
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
	models   []string
	choice   *list.List
	holder   *fyne.Container
	busy     bool
	close    func()
}

// edit opens the dialog for an endpoint, stored or new. keys is where a person gets a key, "" where none is needed.
func (s *Place) edit(e app.ModelEndpoint, keys string) *editor {
	d := &editor{s: s, endpoint: e, name: form.NewEntry(), address: form.NewEntry(), model: form.NewEntry(), key: form.NewSecret()}
	for entry, value := range map[*form.Entry]string{d.name: e.Name, d.address: e.BaseURL, d.model: e.Model} {
		entry.SetText(value)
	}
	for _, entry := range []*form.Entry{d.name, d.address, d.model, d.key} {
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
	d.choice = list.NewEqual(list.Source{
		Len: func() int { return len(d.models) },
		Build: func(i int) fyne.CanvasObject {
			return text.NewLabel("  "+clean.Line(d.models[i], 200), text.Run{}, text.Cut)
		},
		Update: func(o fyne.CanvasObject, i int) bool {
			o.(*text.Label).SetText("  "+clean.Line(d.models[i], 200), text.Run{})
			return true
		},
	}, 26)
	d.choice.Selectable = true
	d.choice.OnSelected = func(i int) { d.model.SetText(d.models[i]) }
	height := room(0)
	d.holder = container.NewStack(height, d.choice)
	d.holder.Hide()
	title := lang.X("settings.edit_endpoint", "Model endpoint")
	body := below(text.NewLabel(title, text.Run{Bold: true}, text.Whole), room(asking),
		labelled(lang.X("settings.name", "Name"), d.name), labelled(lang.X("settings.address", "Address"), d.address),
		labelled(lang.X("settings.key", "Key"), d.key))
	if keys != "" {
		body.Add(labelled("", wrapped(lang.X("settings.keys_at", "Keys are made at {{.url}}", map[string]any{"url": keys}), text.Run{Color: theme.Dim}, asking-150)))
	}
	for _, o := range []fyne.CanvasObject{
		labelled(lang.X("settings.model", "Model"), d.model), d.holder, d.clear, d.compatibilityButton(),
		&fyne.Container{Layout: fixedWidth{asking}, Objects: []fyne.CanvasObject{d.status}},
		container.NewHBox(d.test, layout.NewSpacer(), button.New(button.Outlined, "", lang.X("common.cancel", "Cancel"), func() { d.close() }), d.save),
	} {
		body.Add(o)
	}
	d.check() // what is hidden takes no room
	d.close = s.d.Layer.Dialog(body, nil)
	if w := s.d.Window(); w != nil {
		w.Canvas().Focus(d.first())
	}
	return d
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
	if address == "" || d.busy {
		d.test.Disable()
		d.save.Disable()
	} else {
		d.test.Enable()
		d.save.Enable()
	}
}

func (d *editor) described() app.ModelEndpoint {
	e := d.endpoint
	e.Name, e.BaseURL, e.Model = strings.TrimSpace(d.name.Text), strings.TrimSpace(d.address.Text), strings.TrimSpace(d.model.Text)
	e.AllowHTTP = d.clear.Checked && !d.clear.Hidden
	return e
}

func (d *editor) working(busy bool) {
	d.busy = busy
	if busy {
		d.status.SetText(lang.X("common.working", "Working…"), text.Run{Color: theme.Dim})
	}
	d.check()
}

// try asks the endpoint for its models.
func (d *editor) try() {
	d.working(true)
	d.s.p.test(d.described(), d.key.Text, func(models []string, err error) {
		d.working(false)
		if err != nil {
			d.status.SetText("✗ "+language.Message(err), text.Run{Color: theme.Refusal})
			return
		}
		d.status.SetText("✓ "+lang.X("settings.works", "It works and offers {{.count}} models.", map[string]any{"count": len(models)}), text.Run{Color: theme.Good})
		d.models = models
		d.choice.Reset()
		d.holder.Hidden = len(models) == 0
		if d.model.Text == "" && len(models) > 0 {
			d.model.SetText(models[0])
		}
		d.holder.Objects[0] = tall(min(130, float32(26*len(models))))
		d.holder.Refresh()
	})
}

// store keeps the dialog open until everything is stored.
func (d *editor) store() {
	if strings.TrimSpace(d.model.Text) == "" {
		d.status.SetText(lang.X("settings.model_missing", "Name a model, or test the connection to choose one."), text.Run{Color: theme.Waiting})
		return
	}
	d.working(true)
	d.s.p.save(d.described(), d.key.Text, func(err error) {
		d.working(false)
		if err != nil {
			d.status.SetText("✗ "+language.Message(err), text.Run{Color: theme.Refusal})
			return
		}
		d.key.SetText("")
		d.close()
	})
}
