package form

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"
)

// row is a field with its parts.
type row struct {
	form   *Form
	answer answer

	title, help, warning fyne.CanvasObject
	control              fyne.CanvasObject
	focus                fyne.Focusable
	entry                *Entry    // of typed kinds
	options              *options  // of chosen kinds
	items                *itemList // of lists
	complaint            fyne.CanvasObject
	complaintText        string
	note                 string // about the control, such as a paste that was too big
	filling              bool   // the form, not the person, changes the control
}

func (r *row) parts() []fyne.CanvasObject {
	parts := make([]fyne.CanvasObject, 0, 5)
	for _, p := range []fyne.CanvasObject{r.title, r.control, r.help, r.warning, r.complaint} {
		if p != nil {
			parts = append(parts, p)
		}
	}
	return parts
}

func (r *row) build() {
	field := r.answer.field
	title := field.Title
	if title == "" {
		title = field.Name
	}
	if field.Required && !field.Nullable {
		title += " *"
	}
	r.title = r.form.text(title, Title)
	if field.Description != "" {
		r.help = r.form.text(field.Description, Help)
	}
	if !field.Own && (field.LooksSecret || field.Kind == Secret) {
		r.warning = r.form.text(lang.X("form.secret", "This may ask for a password or key. Whoever asks gets to read what you type."), Warning)
	}
	r.buildControl()
	r.show()
}

func (r *row) buildControl() {
	field := r.answer.field
	if field.Kind == List {
		r.buildList()
		return
	}
	if !field.typed() {
		var c chooser
		r.options, c = newOptions(field, r.form.text)
		r.options.onChosen = func() { r.typed(r.options.text()) }
		r.options.onFocus = r.focused
		r.options.onShortcut = r.shortcut
		r.options.onKey = r.key
		r.control, r.focus = c, c.target()
		return
	}
	e := r.newEntry()
	e.OnChanged = func(text string) {
		if !r.filling {
			r.typed(text)
		}
	}
	e.OnSubmit = func(string) { r.form.submitFrom(r) }
	e.OnFocus = r.focused
	e.OnShortcut = r.shortcut
	e.OnBigPaste = r.bigPaste
	r.entry, r.control, r.focus = e, e, e
}

func (r *row) buildList() {
	l := newItemList(r.answer.field)
	l.onTyped = func() { r.typed(l.text()) }
	l.onGrown = func() { r.form.resettle() }
	l.onFocus = r.focused
	l.onKey = r.key
	l.shortcut = r.shortcut
	l.onPaste = r.bigPaste
	r.items, r.control = l, l
}

// target is where the keyboard goes in this row; nil where there is nothing.
func (r *row) target() fyne.Focusable {
	if r.items != nil {
		return r.items.target()
	}
	return r.focus
}

// key is one that a control has no use for.
func (r *row) key(ev *fyne.KeyEvent) bool {
	return ev.Name == fyne.KeyEscape && r.form.OnEscape != nil && r.form.OnEscape()
}

func (r *row) bigPaste(string) {
	r.note = lang.X("form.paste", "This paste is too long: at most {{.max}} bytes fit into this field.", map[string]any{"max": MaxText})
	r.showComplaint()
	r.form.resettle()
}

func (r *row) newEntry() *Entry {
	field := r.answer.field
	var e *Entry
	switch field.Kind {
	case Secret:
		e = NewSecret()
	case Text, JSON:
		e = NewMultiLine(4)
		e.EnterBreaks = true
		if field.Kind == JSON {
			e.TextStyle.Monospace = true
		}
	default:
		e = NewEntry()
	}
	switch e.PlaceHolder = field.Placeholder; {
	case field.Placeholder != "":
	case field.Kind == Date:
		e.PlaceHolder = lang.X("form.date_shape", "YYYY-MM-DD")
	case field.Kind == DateTime:
		e.PlaceHolder = lang.X("form.datetime_shape", "YYYY-MM-DD HH:MM")
	}
	e.OnKey = func(event *fyne.KeyEvent) bool {
		return r.form.OnKey != nil && r.form.OnKey(field.Name, event) || r.key(event) || field.Kind == Date && stepDay(e, event.Name)
	}
	return e
}

func (r *row) shortcut(s fyne.Shortcut) bool { return r.form.OnShortcut != nil && r.form.OnShortcut(s) }

// show brings the control to the answer.
func (r *row) show() {
	if r.options != nil {
		r.options.set(r.answer.text)
	}
	if r.items != nil {
		r.items.set(r.answer.text)
	}
	if r.entry != nil {
		r.filling = true
		r.entry.SetText(r.answer.text)
		r.filling = false
	}
	r.note = ""
	if r.answer.kept != nil {
		r.note = lang.X("form.kept", "The value given is {{.bytes}} bytes long and is sent as it is, unless you type another one.",
			map[string]any{"bytes": len(r.answer.kept)})
	}
	r.showComplaint()
}

// typed takes a change made by the person.
func (r *row) typed(text string) {
	a := &r.answer
	a.text, a.kept, a.touched, a.outside = text, nil, true, ""
	r.note = ""
	if !a.field.typed() {
		a.left = true // a choice is complete at once
	}
	if r.showComplaint() {
		r.form.resettle()
	}
	r.form.changed()
}

func (r *row) focused(focused bool) {
	if focused {
		if r.form.OnFocus != nil {
			r.form.OnFocus(r.answer.field.Name)
		}
		return
	}
	if r.answer.touched {
		r.answer.left = true
	}
	if r.showComplaint() {
		r.form.resettle()
	}
}

// showComplaint shows what is wrong now. It reports whether that changed.
func (r *row) showComplaint() bool {
	text, role := r.answer.complaint(), Complaint
	if text == "" {
		text, role = r.note, Warning
	}
	if text == r.complaintText {
		return false
	}
	r.complaintText, r.complaint = text, nil
	if text != "" {
		r.complaint = r.form.text(text, role)
	}
	return true
}
