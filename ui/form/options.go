package form

import (
	"bytes"
	"encoding/json"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"
)

const fewOptions = 12 // more are shown as a list with a filter

// options are a field's choices, of which one or several are chosen. A yes-or-no field has the two answers, so that
// "not answered" is neither.
type options struct {
	field  *Field
	values []Option
	many   bool
	texts  TextFactory

	chosen  map[int]bool
	cursor  int  // the option that keys act on
	focused bool // it is shown

	onChosen   func()
	onFocus    func(bool)
	onShortcut func(fyne.Shortcut) bool
	onKey      func(*fyne.KeyEvent) bool // a key that it has no use for
	mark       func()                    // shows the state again
}

// chooser is the control that shows options.
type chooser interface {
	fyne.CanvasObject
	target() fyne.Focusable // where the keys go
}

func newOptions(field *Field, texts TextFactory) (*options, chooser) {
	o := &options{field: field, values: field.Choices, many: field.Kind == Choices, texts: texts, chosen: map[int]bool{}}
	if field.Kind == Boolean {
		o.values = []Option{
			{Value: json.RawMessage("true"), Title: lang.X("common.yes", "Yes")},
			{Value: json.RawMessage("false"), Title: lang.X("common.no", "No")},
		}
	}
	if len(o.values) > fewOptions {
		return o, newOptionList(o)
	}
	return o, newOptionGroup(o)
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
