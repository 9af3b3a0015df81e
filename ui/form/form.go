package form

import (
	"encoding/json"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"

	"steward/ui/theme"
)

// Role says what a text in a form is for.
type Role int

// The roles of texts.
const (
	Title     Role = iota // of a field; strong
	Help                  // what a field means; dim
	Complaint             // what is wrong with an answer; in the colour of refusal, with a mark
	Warning               // that something may be a secret; in the colour of waiting, with a mark
	Answer                // a choice
)

// TextFactory makes the object that draws a text which is not ours: wrapped to the width it gets, with its height from
// HeightFor(width) or, after Resize, from MinSize. It must never read markup.
type TextFactory func(text string, role Role) fyne.CanvasObject

// Form shows fields below each other: title, control, help, and what is wrong with the answer as soon as the person
// went on from it. Its height depends on its width, see HeightFor.
type Form struct {
	widget.BaseWidget

	OnChange func()            // an answer changed
	OnSubmit func()            // Enter in a field of one line; nil goes to the next field
	OnResize func()            // the height changed at the same width: lists want to be told
	OnFocus  func(name string) // the person is in a field now

	// OnKey has the first look at keys typed in the entry of a field; true: done with.
	OnKey func(name string, event *fyne.KeyEvent) bool

	// OnEscape is Escape typed in a control that has no use for it; true: done with. Otherwise the window gets it
	// (fyne.Canvas.OnTypedKey).
	OnEscape func() bool

	// OnShortcut has the first look at shortcuts typed in entries; true: done with.
	OnShortcut func(shortcut fyne.Shortcut) bool

	text   TextFactory
	rows   []*row
	below  fyne.CanvasObject // see Below
	tall   func(width float32) float32
	host   *row // that it stands below
	width  float32
	height float32
}

// New makes a form of fields with their defaults filled in.
func New(fields []Field, text TextFactory) *Form {
	f := &Form{text: text}
	f.ExtendBaseWidget(f)
	for i := range fields {
		field := fields[i]
		r := &row{form: f, answer: answer{field: &field}}
		r.answer.reset()
		r.build()
		f.rows = append(f.rows, r)
	}
	return f
}

// Below puts an object below a field, such as what may be answered there, in place of the one that stood below
// another; nil takes it away. height is what it needs at a width. Tab leads to it behind all fields. Call Below again
// after it has changed.
func (f *Form) Below(name string, object fyne.CanvasObject, height func(width float32) float32) {
	f.below, f.tall, f.host = object, height, f.row(name)
	f.resettle()
}

func (f *Form) row(name string) *row {
	for _, r := range f.rows {
		if r.answer.field.Name == name {
			return r
		}
	}
	return nil
}

// Values are the answers given so far, as JSON. Left out are optional fields without an answer and answers that
// Problems complains about.
func (f *Form) Values() map[string]json.RawMessage {
	values := map[string]json.RawMessage{}
	for _, r := range f.rows {
		if value, present, _ := r.answer.value(); present { // the error is what Problems tells
			values[r.answer.field.Name] = value
		}
	}
	return values
}

// Problems says what keeps the answers from being sent, in the order of the fields; nil where nothing does.
func (f *Form) Problems() []Problem {
	var found []Problem
	for _, r := range f.rows {
		_, _, err := r.answer.value()
		switch {
		case err != nil:
			found = append(found, Problem{Name: r.answer.field.Name, Text: err.Error()})
		case r.answer.outside != "":
			found = append(found, Problem{Name: r.answer.field.Name, Text: r.answer.outside})
		}
	}
	return found
}

// Check shows what is wrong with every field and puts the person into the first of them. It reports whether the
// answers may be sent.
func (f *Form) Check() bool {
	for _, r := range f.rows {
		r.answer.left = true
		r.showComplaint()
	}
	f.resettle()
	problems := f.Problems()
	if len(problems) > 0 {
		f.FocusField(problems[0].Name)
	}
	return len(problems) == 0
}

// Complain shows a complaint that comes from elsewhere beside a field, until its answer changes.
func (f *Form) Complain(name, sentence string) {
	if r := f.row(name); r != nil {
		r.answer.outside = sentence
		r.showComplaint()
		f.resettle()
	}
}

// Set fills answers in, as a person would have. It returns the names of those that are no value of their field, or of
// no field at all; they change nothing.
func (f *Form) Set(values map[string]json.RawMessage) (refused []string) {
	for name, value := range values {
		r := f.row(name)
		if r == nil || !r.answer.put(value) {
			refused = append(refused, name)
			continue
		}
		r.answer.touched = true
		r.show()
	}
	f.resettle()
	f.changed()
	return refused
}

// Replace is Set for all answers: fields that values lack are emptied.
func (f *Form) Replace(values map[string]json.RawMessage) (refused []string) {
	for _, r := range f.rows {
		if _, given := values[r.answer.field.Name]; !given {
			r.answer = answer{field: r.answer.field, touched: true}
			r.show()
		}
	}
	return f.Set(values)
}

// State is the form as it stands, for Restore on another form with the same fields.
func (f *Form) State() State {
	state := State{}
	for _, r := range f.rows {
		if a := &r.answer; a.touched || a.left {
			state[a.field.Name] = Draft{Text: a.text, Kept: a.kept, Touched: a.touched, Left: a.left}
		}
	}
	return state
}

// Restore brings a form back to where State was taken. Fields that state lacks keep what they have.
func (f *Form) Restore(state State) {
	for _, r := range f.rows {
		if d, ok := state[r.answer.field.Name]; ok {
			if d.Touched {
				r.answer.text, r.answer.kept = d.Text, d.Kept
			}
			r.answer.touched, r.answer.left, r.answer.outside = d.Touched, d.Left, ""
			r.show()
		}
	}
	f.resettle()
}

// Touched reports whether the person changed anything.
func (f *Form) Touched() bool {
	for _, r := range f.rows {
		if r.answer.touched {
			return true
		}
	}
	return false
}

// FocusField puts the person into a field; false where there is none, or it is not in a window.
func (f *Form) FocusField(name string) bool {
	r := f.row(name)
	if r == nil || r.target() == nil {
		return false
	}
	c := canvasOf(r.target().(fyne.CanvasObject), f)
	if c == nil {
		return false
	}
	c.Focus(r.target())
	return c.Focused() == r.target()
}

// canvasOf is where one of some objects is shown. The toolkit knows that only of what it has drawn: a form that was just
// put into the only window is in that.
func canvasOf(objects ...fyne.CanvasObject) fyne.Canvas {
	driver := fyne.CurrentApp().Driver()
	for _, o := range objects {
		if c := driver.CanvasForObject(o); c != nil {
			return c
		}
	}
	if windows := driver.AllWindows(); len(windows) == 1 {
		return windows[0].Canvas()
	}
	return nil
}

func (f *Form) changed() {
	if f.OnChange != nil {
		f.OnChange()
	}
}

// submitFrom is Enter in a row.
func (f *Form) submitFrom(r *row) {
	if f.OnSubmit != nil {
		f.OnSubmit()
		return
	}
	for i, other := range f.rows {
		if other == r && i+1 < len(f.rows) {
			f.FocusField(f.rows[i+1].answer.field.Name)
		}
	}
}

const (
	narrowest = 100            // below this width nothing is laid out
	between   = 4 * theme.Step // fields
	inside    = theme.Step     // the parts of one
	inset     = 2              // room for the focus
)

// HeightFor is the height that the form needs at a width.
func (f *Form) HeightFor(width float32) float32 { return f.lay(width, false) }

// lay computes where everything is at a width, and puts it there.
func (f *Form) lay(width float32, put bool) float32 {
	y := float32(inset)
	for i, r := range f.rows {
		if i > 0 {
			y += between
		}
		for k, part := range r.parts() {
			if k > 0 {
				y += inside
			}
			h := heightFor(part, width-2*inset)
			if put {
				part.Resize(fyne.NewSize(width-2*inset, h))
				part.Move(fyne.NewPos(inset, y))
			}
			y += h
		}
		if f.below != nil && f.host == r {
			y += inside
			h := f.tall(width - 2*inset)
			if put {
				f.below.Resize(fyne.NewSize(width-2*inset, h))
				f.below.Move(fyne.NewPos(inset, y))
			}
			y += h
		}
	}
	return y + inset
}

func heightFor(object fyne.CanvasObject, width float32) float32 {
	if m, ok := object.(interface{ HeightFor(float32) float32 }); ok {
		return m.HeightFor(width)
	}
	object.Resize(fyne.NewSize(width, object.MinSize().Height))
	return object.MinSize().Height
}

// resettle lays the form out again after a part came, went or grew.
func (f *Form) resettle() {
	if f.width < narrowest {
		return
	}
	before := f.height
	f.height = f.lay(f.width, true)
	canvas.Refresh(f)
	if before != f.height && f.OnResize != nil {
		f.OnResize()
	}
}

// MinSize is the height at the present width.
func (f *Form) MinSize() fyne.Size { return fyne.NewSize(narrowest, f.height) }

// CreateRenderer is Fyne's.
func (f *Form) CreateRenderer() fyne.WidgetRenderer { return &renderer{form: f} }

// The renderer holds nothing of its own: Fyne throws renderers away that were out of sight for a minute.
type renderer struct{ form *Form }

func (r *renderer) Destroy()           {}
func (r *renderer) MinSize() fyne.Size { return r.form.MinSize() }

func (r *renderer) Objects() []fyne.CanvasObject {
	var all []fyne.CanvasObject
	for _, row := range r.form.rows {
		all = append(all, row.parts()...)
	}
	if r.form.below != nil && r.form.host != nil {
		all = append(all, r.form.below)
	}
	return all
}

func (r *renderer) Layout(size fyne.Size) {
	if size.Width < narrowest {
		return
	}
	r.form.width = size.Width
	r.form.height = r.form.lay(size.Width, true)
}

func (r *renderer) Refresh() {
	for _, o := range r.Objects() {
		o.Refresh()
	}
	r.form.resettle()
}
