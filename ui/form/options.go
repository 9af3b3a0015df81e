package form

import (
	"bytes"
	"encoding/json"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"steward/ui/list"
	"steward/ui/theme"
)

const (
	fewOptions = 12 // more are shown as a list with a filter
	listHeight = 8 * 28
)

// options lets one or several of a field's choices be chosen. One tab stop: arrows go through them, Space chooses,
// Delete takes an answer back. A yes-or-no field has the two answers, so that "not answered" is neither.
type options struct {
	widget.BaseWidget

	field  *Field
	values []Option
	many   bool

	onChosen func()
	onFocus  func(bool)

	texts   TextFactory
	chosen  map[int]bool
	cursor  int
	focused bool

	rows []*optionRow // of few options

	filter *Entry // of many
	found  []int  // the options that match it
	list   *list.List
}

var (
	_ fyne.Focusable = (*options)(nil)
	_ fyne.Tappable  = (*options)(nil)
)

func newOptions(field *Field, texts TextFactory) *options {
	o := &options{field: field, values: field.Choices, many: field.Kind == Choices, texts: texts, chosen: map[int]bool{}}
	if field.Kind == Boolean {
		o.values = []Option{
			{Value: json.RawMessage("true"), Title: lang.X("common.yes", "Yes")},
			{Value: json.RawMessage("false"), Title: lang.X("common.no", "No")},
		}
	}
	o.ExtendBaseWidget(o)
	if len(o.values) > fewOptions {
		o.buildList()
		return o
	}
	for i := range o.values {
		o.rows = append(o.rows, newOptionRow(o, i))
	}
	return o
}

func (o *options) title(i int) string {
	if t := o.values[i].Title; t != "" {
		return t
	}
	var s string
	if json.Unmarshal(o.values[i].Value, &s) == nil {
		return s
	}
	return string(o.values[i].Value)
}

func (o *options) buildList() {
	o.filterTo("")
	o.list = list.New(list.Source{
		Len:   func() int { return len(o.found) },
		Build: func(i int) fyne.CanvasObject { return newOptionRow(o, o.found[i]) },
	})
	o.list.Selectable, o.list.OpenOnTap = true, true
	o.list.OnOpened = func(i int) { o.toggle(o.found[i]) }
	o.filter = NewEntry()
	o.filter.PlaceHolder = lang.X("form.filter", "Filter {{.count}} choices", map[string]any{"count": len(o.values)})
	o.filter.OnChanged = func(text string) {
		o.filterTo(text)
		o.list.Reset()
	}
	o.filter.OnKey = func(event *fyne.KeyEvent) bool {
		if event.Name != fyne.KeyDown {
			return false
		}
		if c := fyne.CurrentApp().Driver().CanvasForObject(o); c != nil && len(o.found) > 0 {
			o.list.Select(0)
			c.Focus(o.list)
		}
		return true
	}
	o.filter.OnSubmit = func(string) {
		if len(o.found) == 1 {
			o.toggle(o.found[0])
		}
	}
	o.filter.OnFocus = func(focused bool) { o.onFocus(focused) }
}

func (o *options) filterTo(text string) {
	text = strings.ToLower(strings.TrimSpace(text))
	o.found = o.found[:0]
	for i := range o.values {
		if text == "" || strings.Contains(strings.ToLower(o.title(i)), text) {
			o.found = append(o.found, i)
		}
	}
}

// text is the answer: the value, an array of values, or "" for none.
func (o *options) text() string {
	var chosen [][]byte
	for i := range o.values {
		if o.chosen[i] {
			chosen = append(chosen, o.values[i].Value)
		}
	}
	switch {
	case o.many:
		return "[" + string(bytes.Join(chosen, []byte(","))) + "]"
	case len(chosen) == 0:
		return ""
	}
	return string(chosen[0])
}

// set brings the marks to an answer.
func (o *options) set(text string) {
	clear(o.chosen)
	values := []json.RawMessage{json.RawMessage(text)}
	if o.many {
		values = nil
		if text != "" && json.Unmarshal([]byte(text), &values) != nil {
			values = nil
		}
	}
	for _, v := range values {
		for i := range o.values {
			if len(v) > 0 && sameJSON(o.values[i].Value, v) {
				o.chosen[i] = true
				o.cursor = i
				break
			}
		}
	}
	o.mark()
}

func (o *options) toggle(i int) {
	was := o.chosen[i]
	if !o.many {
		clear(o.chosen)
	}
	o.chosen[i] = !was
	if was && !o.many && o.field.Required {
		o.chosen[i] = true // there is nothing to go back to
	}
	o.cursor = i
	o.mark()
	o.onChosen()
}

func (o *options) mark() {
	for _, r := range o.rows {
		r.mark()
	}
	if o.list != nil {
		for i := range o.found {
			o.list.Touch(i, func(object fyne.CanvasObject) { object.(*optionRow).mark() })
		}
	}
}

// target is what the focus goes to.
func (o *options) target() fyne.Focusable {
	if o.filter != nil {
		return o.filter
	}
	return o
}

func (o *options) onShortcut(first func(fyne.Shortcut) bool) {
	if o.filter != nil {
		o.filter.OnShortcut = first
	}
}

// Tapped chooses what is under the pointer.
func (o *options) Tapped(event *fyne.PointEvent) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(o); c != nil && o.list == nil {
		c.Focus(o)
	}
	for i, r := range o.rows {
		at, size := r.Position(), r.Size()
		if event.Position.X >= at.X && event.Position.X < at.X+size.Width && event.Position.Y >= at.Y && event.Position.Y < at.Y+size.Height {
			o.toggle(i)
			return
		}
	}
}

// FocusGained shows where the keys go.
func (o *options) FocusGained() {
	o.focused = true
	o.mark()
	o.onFocus(true)
}

// FocusLost takes the sign away.
func (o *options) FocusLost() {
	o.focused = false
	o.mark()
	o.onFocus(false)
}

// TypedRune goes to the next choice that begins with the character.
func (o *options) TypedRune(r rune) {
	if r == ' ' {
		return
	}
	for step := 1; step <= len(o.rows); step++ {
		i := (o.cursor + step) % len(o.rows)
		if strings.HasPrefix(strings.ToLower(o.title(i)), strings.ToLower(string(r))) {
			o.cursor = i
			o.mark()
			return
		}
	}
}

// TypedKey goes through the choices and chooses.
func (o *options) TypedKey(event *fyne.KeyEvent) {
	if len(o.rows) == 0 {
		return
	}
	switch event.Name {
	case fyne.KeyUp, fyne.KeyLeft:
		o.cursor = max(0, o.cursor-1)
	case fyne.KeyDown, fyne.KeyRight:
		o.cursor = min(len(o.rows)-1, o.cursor+1)
	case fyne.KeyHome:
		o.cursor = 0
	case fyne.KeyEnd:
		o.cursor = len(o.rows) - 1
	case fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter:
		o.toggle(o.cursor)
		return
	case fyne.KeyDelete, fyne.KeyBackspace:
		if !o.field.Required || o.many {
			clear(o.chosen)
			o.mark()
			o.onChosen()
		}
		return
	default:
		return
	}
	o.mark()
}

// HeightFor is the height needed at a width.
func (o *options) HeightFor(width float32) float32 { return o.lay(width, false) }

func (o *options) lay(width float32, put bool) float32 {
	if o.list != nil {
		h := o.filter.MinSize().Height
		if put {
			o.filter.Resize(fyne.NewSize(width, h))
			o.list.Move(fyne.NewPos(0, h+inside))
			o.list.Resize(fyne.NewSize(width, listHeight))
		}
		return h + inside + listHeight
	}
	if o.field.Kind == Boolean {
		h := float32(0)
		half := min(width/2, 96)
		for i, r := range o.rows {
			h = max(h, r.HeightFor(half))
			if put {
				r.Move(fyne.NewPos(half*float32(i), 0))
				r.Resize(fyne.NewSize(half, r.HeightFor(half)))
			}
		}
		return h
	}
	y := float32(0)
	for _, r := range o.rows {
		h := r.HeightFor(width)
		if put {
			r.Move(fyne.NewPos(0, y))
			r.Resize(fyne.NewSize(width, h))
		}
		y += h
	}
	return y
}

// MinSize is the height at the present width.
func (o *options) MinSize() fyne.Size {
	width := o.Size().Width
	if width < narrowest {
		return fyne.NewSize(narrowest, 0)
	}
	return fyne.NewSize(narrowest, o.lay(width, false))
}

// CreateRenderer is Fyne's.
func (o *options) CreateRenderer() fyne.WidgetRenderer {
	var objects []fyne.CanvasObject
	if o.list != nil {
		objects = append(objects, o.filter, o.list)
	}
	for _, r := range o.rows {
		objects = append(objects, r)
	}
	return &optionsRenderer{options: o, objects: objects}
}

type optionsRenderer struct {
	options *options
	objects []fyne.CanvasObject
}

func (r *optionsRenderer) Destroy()                     {}
func (r *optionsRenderer) MinSize() fyne.Size           { return r.options.MinSize() }
func (r *optionsRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *optionsRenderer) Layout(size fyne.Size)        { r.options.lay(size.Width, true) }

func (r *optionsRenderer) Refresh() {
	for _, o := range r.objects {
		o.Refresh()
	}
	r.options.lay(r.options.Size().Width, true)
}

// optionRow is one choice: a mark (round for one of several, square for any number) and its text.
type optionRow struct {
	widget.BaseWidget
	options *options
	index   int

	ground *canvas.Rectangle // shows the focus
	frame  *canvas.Rectangle
	dot    *canvas.Rectangle // there when chosen
	text   fyne.CanvasObject
}

func newOptionRow(o *options, i int) *optionRow {
	r := &optionRow{options: o, index: i,
		ground: canvas.NewRectangle(nil), frame: canvas.NewRectangle(nil), dot: canvas.NewRectangle(nil),
		text: o.texts(o.title(i), Answer),
	}
	r.ExtendBaseWidget(r)
	r.mark()
	return r
}

const (
	markSize = 16
	dotSize  = 8
	textFrom = 8 + markSize + 8
)

func (r *optionRow) mark() {
	o := r.options
	r.ground.CornerRadius = theme.Radius / 2
	r.ground.StrokeWidth, r.ground.StrokeColor = 0, theme.Color(theme.Accent)
	r.ground.FillColor = theme.Color(theme.Clear)
	if o.focused && o.cursor == r.index {
		r.ground.StrokeWidth = 1
	}
	r.frame.StrokeWidth, r.frame.StrokeColor, r.frame.FillColor = 1.5, theme.Color(theme.Dim), theme.Color(theme.Card)
	r.frame.CornerRadius, r.dot.CornerRadius = markSize/2, dotSize/2
	if o.many {
		r.frame.CornerRadius, r.dot.CornerRadius = 4, 2
	}
	r.dot.FillColor = theme.Color(theme.Accent)
	r.dot.Hidden = !o.chosen[r.index]
	if o.chosen[r.index] {
		r.frame.StrokeColor = theme.Color(theme.Accent)
	}
	canvas.Refresh(r.ground)
	canvas.Refresh(r.frame)
	canvas.Refresh(r.dot)
}

// Cursor shows that a tap does something.
func (r *optionRow) Cursor() desktop.Cursor { return desktop.PointerCursor }

// HeightFor is the height needed at a width.
func (r *optionRow) HeightFor(width float32) float32 {
	return max(28, heightFor(r.text, max(1, width-textFrom-4))+8)
}

// MinSize is Fyne's.
func (r *optionRow) MinSize() fyne.Size { return fyne.NewSize(narrowest/2, 28) }

// CreateRenderer is Fyne's.
func (r *optionRow) CreateRenderer() fyne.WidgetRenderer {
	return &optionRowRenderer{row: r, objects: []fyne.CanvasObject{r.ground, r.frame, r.dot, r.text}}
}

type optionRowRenderer struct {
	row     *optionRow
	objects []fyne.CanvasObject
}

func (r *optionRowRenderer) Destroy()                     {}
func (r *optionRowRenderer) MinSize() fyne.Size           { return r.row.MinSize() }
func (r *optionRowRenderer) Objects() []fyne.CanvasObject { return r.objects }

func (r *optionRowRenderer) Layout(size fyne.Size) {
	row := r.row
	row.ground.Resize(size)
	const top = (28 - markSize) / 2
	row.frame.Move(fyne.NewPos(8, top))
	row.frame.Resize(fyne.NewSize(markSize, markSize))
	row.dot.Move(fyne.NewPos(8+(markSize-dotSize)/2, top+(markSize-dotSize)/2))
	row.dot.Resize(fyne.NewSize(dotSize, dotSize))
	width := max(1, size.Width-textFrom-4)
	h := heightFor(row.text, width)
	row.text.Resize(fyne.NewSize(width, h))
	row.text.Move(fyne.NewPos(textFrom, (max(28, h+8)-h)/2))
}

func (r *optionRowRenderer) Refresh() {
	r.row.mark()
	r.row.text.Refresh()
}
