package form

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"steward/ui/list"
)

const listHeight = 8 * 28

// optionList shows many options as a list, of which only the visible ones are built, below a filter. Down goes from
// the filter to the list; Enter in the filter chooses the only one left.
type optionList struct {
	widget.BaseWidget
	*options

	filter *Entry
	found  []int // the options that match it
	list   *list.List
}

func newOptionList(o *options) *optionList {
	l := &optionList{options: o}
	o.mark = func() {
		for i := range l.found {
			l.list.Touch(i, func(object fyne.CanvasObject) { object.(*optionRow).mark() })
		}
	}
	l.filterTo("")
	l.list = list.New(list.Source{
		Len:   func() int { return len(l.found) },
		Build: func(i int) fyne.CanvasObject { return newOptionRow(o, l.found[i]) },
	})
	l.list.Selectable, l.list.OpenOnTap = true, true
	l.list.OnKey = func(_ int, event *fyne.KeyEvent) bool {
		if event.Name != fyne.KeyEscape {
			return false
		}
		if !o.onKey(event) {
			handKey(l, event)
		}
		return true
	}
	l.list.OnOpened = func(i int) { o.toggle(l.found[i]) }
	l.filter = NewEntry()
	l.filter.PlaceHolder = lang.X("form.filter", "Filter {{.count}} choices", map[string]any{"count": len(o.values)})
	l.filter.OnChanged = func(text string) {
		l.filterTo(text)
		l.list.Reset()
	}
	l.filter.OnKey = l.leaveFilter
	l.filter.OnSubmit = func(string) {
		if len(l.found) == 1 {
			o.toggle(l.found[0])
		}
	}
	l.filter.OnFocus = func(focused bool) { o.onFocus(focused) }
	l.filter.OnShortcut = func(s fyne.Shortcut) bool { return o.onShortcut(s) }
	l.ExtendBaseWidget(l)
	return l
}

func (l *optionList) target() fyne.Focusable { return l.filter }

func (l *optionList) leaveFilter(event *fyne.KeyEvent) bool {
	if event.Name != fyne.KeyDown {
		return l.onKey(event)
	}
	if c := fyne.CurrentApp().Driver().CanvasForObject(l); c != nil && len(l.found) > 0 {
		l.list.Select(0)
		c.Focus(l.list)
	}
	return true
}

func (l *optionList) filterTo(text string) {
	text = strings.ToLower(strings.TrimSpace(text))
	l.found = l.found[:0]
	for i := range l.values {
		if text == "" || strings.Contains(strings.ToLower(l.title(i)), text) {
			l.found = append(l.found, i)
		}
	}
}

// HeightFor is the same at every width.
func (l *optionList) HeightFor(float32) float32 {
	return l.filter.MinSize().Height + inside + listHeight
}

// MinSize is Fyne's.
func (l *optionList) MinSize() fyne.Size { return fyne.NewSize(narrowest, l.HeightFor(0)) }

// CreateRenderer is Fyne's.
func (l *optionList) CreateRenderer() fyne.WidgetRenderer {
	return &optionListRenderer{list: l, objects: []fyne.CanvasObject{l.filter, l.list}}
}

type optionListRenderer struct {
	list    *optionList
	objects []fyne.CanvasObject
}

func (r *optionListRenderer) Destroy()                     {}
func (r *optionListRenderer) MinSize() fyne.Size           { return r.list.MinSize() }
func (r *optionListRenderer) Objects() []fyne.CanvasObject { return r.objects }

func (r *optionListRenderer) Layout(size fyne.Size) {
	l := r.list
	h := l.filter.MinSize().Height
	l.filter.Resize(fyne.NewSize(size.Width, h))
	l.list.Move(fyne.NewPos(0, h+inside))
	l.list.Resize(fyne.NewSize(size.Width, listHeight))
}

func (r *optionListRenderer) Refresh() {
	for _, o := range r.objects {
		o.Refresh()
	}
}
