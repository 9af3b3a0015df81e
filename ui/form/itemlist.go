package form

import (
	"encoding/json"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"steward/ui/theme"
)

// maxEntries bounds how many entries of a list get a control. A value with more is kept as it is.
const maxEntries = 200

// itemList is a list that is typed: an input for each entry with a button that removes it, and one that adds another.
// Enter in an entry adds the next.
type itemList struct {
	widget.BaseWidget
	field *Field
	rows  []*itemRow
	add   *listButton

	filling  bool // the form, not the person, changes the entries
	onTyped  func()
	onGrown  func() // its height changed
	onFocus  func(bool)
	onKey    func(*fyne.KeyEvent) bool
	shortcut func(fyne.Shortcut) bool
	onPaste  func(string)
}

// itemRow is one entry.
type itemRow struct {
	entry  *Entry
	remove *listButton
}

func newItemList(field *Field) *itemList {
	l := &itemList{field: field}
	l.add = newListButton(lang.X("form.add", "Add an entry"), "plus", func() { l.insert(len(l.rows), true) })
	l.add.onKey = func(ev *fyne.KeyEvent) bool { return l.onKey(ev) }
	l.add.shortcut = func(s fyne.Shortcut) bool { return l.shortcut(s) }
	l.ExtendBaseWidget(l)
	return l
}

func (l *itemList) newRow() *itemRow {
	r := &itemRow{entry: NewEntry()}
	r.entry.OnChanged = func(string) {
		if !l.filling {
			l.onTyped()
		}
	}
	r.entry.OnSubmit = func(string) { l.insert(l.at(r)+1, true) }
	r.entry.OnFocus = func(on bool) { l.onFocus(on) }
	r.entry.OnKey = func(ev *fyne.KeyEvent) bool { return l.onKey(ev) }
	r.entry.OnShortcut = func(s fyne.Shortcut) bool { return l.shortcut(s) }
	r.entry.OnBigPaste = func(s string) { l.onPaste(s) }
	r.remove = newListButton("", "cross", func() { l.drop(l.at(r)) })
	r.remove.onKey = l.add.onKey
	r.remove.shortcut = l.add.shortcut
	return r
}

func (l *itemList) at(r *itemRow) int {
	for i := range l.rows {
		if l.rows[i] == r {
			return i
		}
	}
	return -1
}

// insert puts an empty entry in and, where a person asked for it, the keyboard into it.
func (l *itemList) insert(i int, byPerson bool) {
	if len(l.rows) >= maxEntries || i < 0 {
		return
	}
	rest := append([]*itemRow{l.newRow()}, l.rows[i:]...)
	l.rows = append(l.rows[:i:i], rest...)
	l.changedRows(byPerson)
	if byPerson {
		l.focus(l.rows[i].entry)
	}
}

func (l *itemList) drop(i int) {
	if i < 0 {
		return
	}
	l.rows = append(l.rows[:i:i], l.rows[i+1:]...)
	l.changedRows(true)
	switch {
	case i < len(l.rows):
		l.focus(l.rows[i].entry)
	case i > 0:
		l.focus(l.rows[i-1].entry)
	default:
		l.focus(l.add)
	}
}

func (l *itemList) changedRows(byPerson bool) {
	l.add.Show()
	if len(l.rows) >= maxEntries || l.field.MaxItems > 0 && len(l.rows) >= l.field.MaxItems {
		l.add.Hide()
	}
	l.Refresh()
	if byPerson {
		l.onTyped()
		l.onGrown()
	}
}

func (l *itemList) focus(f fyne.Focusable) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(l); c != nil {
		c.Focus(f)
	}
}

func (l *itemList) target() fyne.Focusable {
	if len(l.rows) > 0 {
		return l.rows[0].entry
	}
	return l.add
}

// text is the answer: what was typed, as a JSON array of strings. Empty entries count: they are wrong or meant.
func (l *itemList) text() string {
	typed := make([]json.RawMessage, len(l.rows))
	for i, r := range l.rows {
		typed[i] = quote(r.entry.Text)
	}
	return joinJSON(typed)
}

// set brings the entries to an answer.
func (l *itemList) set(text string) {
	typed, _ := readTyped(text) // an answer is always one that text gave, or that put has read
	l.filling = true
	for len(l.rows) < len(typed) {
		l.rows = append(l.rows, l.newRow())
	}
	l.rows = l.rows[:len(typed)]
	for i, s := range typed {
		l.rows[i].entry.SetText(s)
	}
	l.filling = false
	l.changedRows(false)
}

// readTyped reads an answer of a list.
func readTyped(text string) ([]string, bool) {
	var typed []string
	if text == "" {
		return nil, true
	}
	return typed, json.Unmarshal([]byte(text), &typed) == nil
}

func joinJSON(values []json.RawMessage) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = string(v)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// entries gives a list's value: each entry as the field's kind of entry.
func (f *Field) entries(text string) (json.RawMessage, error) {
	typed, ok := readTyped(text)
	if !ok {
		return nil, complain("form.entries", "This is no list.")
	}
	if len(typed) < f.MinItems {
		return nil, complain("form.few_entries", "At least {{.min}} entries.", map[string]any{"min": f.MinItems})
	}
	if f.MaxItems > 0 && len(typed) > f.MaxItems {
		return nil, complain("form.many_entries", "At most {{.max}} entries.", map[string]any{"max": f.MaxItems})
	}
	one := Field{Kind: f.Entry}
	values := make([]json.RawMessage, len(typed))
	for i, s := range typed {
		v, err := one.convert(s)
		if err != nil {
			return nil, complain("form.entry", "Entry {{.number}}: {{.complaint}}", map[string]any{"number": i + 1, "complaint": err.Error()})
		}
		values[i] = v
	}
	return json.RawMessage(joinJSON(values)), nil
}

// shownEntries is the answer that stands for a list's value; false where the control cannot show it.
func (f *Field) shownEntries(value json.RawMessage) (string, bool) {
	var items []json.RawMessage
	if json.Unmarshal(value, &items) != nil || len(items) > maxEntries {
		return "", false
	}
	one := Field{Kind: f.Entry}
	typed := make([]json.RawMessage, len(items))
	for i, v := range items {
		s, ok := one.shown(v)
		if !ok || len(s) > MaxText {
			return "", false
		}
		typed[i] = quote(s)
	}
	return joinJSON(typed), true
}

// HeightFor is the same at every width.
func (l *itemList) HeightFor(float32) float32 {
	h := float32(0)
	for _, r := range l.rows {
		h += r.entry.MinSize().Height + inside
	}
	if l.add.Visible() {
		h += l.add.MinSize().Height
	}
	return h
}

// MinSize is Fyne's.
func (l *itemList) MinSize() fyne.Size { return fyne.NewSize(narrowest, l.HeightFor(0)) }

// CreateRenderer is Fyne's.
func (l *itemList) CreateRenderer() fyne.WidgetRenderer { return &itemListRenderer{l} }

type itemListRenderer struct{ l *itemList }

func (r *itemListRenderer) Destroy()           {}
func (r *itemListRenderer) MinSize() fyne.Size { return r.l.MinSize() }

func (r *itemListRenderer) Objects() []fyne.CanvasObject {
	var all []fyne.CanvasObject
	for _, row := range r.l.rows {
		all = append(all, row.entry, row.remove)
	}
	return append(all, r.l.add)
}

func (r *itemListRenderer) Layout(size fyne.Size) {
	y := float32(0)
	for _, row := range r.l.rows {
		h := row.entry.MinSize().Height
		side := row.remove.MinSize().Width
		row.entry.Move(fyne.NewPos(0, y))
		row.entry.Resize(fyne.NewSize(size.Width-side-inside, h))
		row.remove.Move(fyne.NewPos(size.Width-side, y))
		row.remove.Resize(fyne.NewSize(side, h))
		y += h + inside
	}
	r.l.add.Move(fyne.NewPos(0, y))
	r.l.add.Resize(r.l.add.MinSize())
}

func (r *itemListRenderer) Refresh() {
	for _, o := range r.Objects() {
		o.Refresh()
	}
	r.Layout(r.l.Size())
	canvas.Refresh(r.l)
}

// listButton is a button that hands on Escape, which Fyne's would keep.
type listButton struct {
	widget.Button
	onKey    func(*fyne.KeyEvent) bool
	shortcut func(fyne.Shortcut) bool
}

func newListButton(words, icon string, do func()) *listButton {
	b := &listButton{}
	b.Text, b.Icon, b.OnTapped = words, theme.Icon(icon), do
	b.Importance = widget.LowImportance
	b.ExtendBaseWidget(b)
	return b
}

// TypedKey is Fyne's.
func (b *listButton) TypedKey(ev *fyne.KeyEvent) {
	switch {
	case b.onKey != nil && b.onKey(ev):
	case ev.Name == fyne.KeyReturn || ev.Name == fyne.KeyEnter:
		b.OnTapped()
	case ev.Name == fyne.KeyEscape:
		handKey(b, ev)
	default:
		b.Button.TypedKey(ev)
	}
}

// TypedShortcut hands on every shortcut: first to the form's owner.
func (b *listButton) TypedShortcut(s fyne.Shortcut) {
	if b.shortcut == nil || !b.shortcut(s) {
		handShortcut(b, s)
	}
}

// handShortcut gives a shortcut that a control has no use for to the window.
func handShortcut(o fyne.CanvasObject, s fyne.Shortcut) {
	if c, ok := fyne.CurrentApp().Driver().CanvasForObject(o).(fyne.Shortcutable); ok {
		c.TypedShortcut(s)
	}
}

// handKey gives a key that a control has no use for to the window, as Fyne does where nothing has the keyboard.
func handKey(o fyne.CanvasObject, ev *fyne.KeyEvent) {
	c := fyne.CurrentApp().Driver().CanvasForObject(o)
	if c == nil {
		return
	}
	if typed := c.OnTypedKey(); typed != nil {
		typed(ev)
	}
}
