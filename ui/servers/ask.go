package servers

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/app/clean"
	"steward/ui/code"
	"steward/ui/form"
	"steward/ui/text"
	"steward/ui/theme"
)

const (
	typingPause = 200 * time.Millisecond // after the last key, before a server is asked for suggestions
	mostHints   = 8
	hintLength  = 80 // characters
)

// asking is a form whose values a server may suggest: the arguments of a prompt, the variables of a template.
type asking struct {
	k      *kit
	page   *page
	form   *form.Form
	hints  *fyne.Container
	object fyne.CanvasObject
	wanted func(app.Completing) app.Completing // says of what the argument is
	field  string
	turn   atomic.Int64 // counts questions: only the newest is asked and shown
}

// ask makes the form. name puts into a question whose argument it is.
func (k *kit) ask(p *page, fields []form.Field, name func(app.Completing) app.Completing) *asking {
	q := &asking{k: k, page: p, wanted: name, form: form.New(fields, formTexts), hints: container.New(&flowLayout{gap: step})}
	q.form.OnResize, q.form.OnShortcut = p.changed, k.d.Shortcut
	q.form.OnChange = q.complete
	q.form.OnFocus = func(name string) {
		if name != q.field {
			q.field = name
			q.show(nil, "")
			q.complete()
		}
	}
	q.object = q.form
	q.hints.Hide()
	return q
}

// complete asks the server, a moment after the last key, what would fit. What it has filled in already goes along
// (MCP, completion context).
func (q *asking) complete() {
	turn := q.turn.Add(1)
	if q.field == "" {
		return
	}
	known := texts(q.form.Values())
	name, value := q.field, known[q.field]
	delete(known, name)
	c := q.wanted(app.Completing{Argument: name, Value: value, Known: known})
	d := q.k.d
	d.Go(func(ctx context.Context) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(typingPause):
		}
		if turn != q.turn.Load() {
			return
		}
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		found, err := d.App.CompleteArgument(ctx, c)
		d.Do(func() {
			if turn != q.turn.Load() {
				return
			}
			if err != nil { // a server without suggestions is no fault
				found.Values = nil
			}
			q.suggest(name, value, found)
		})
	})
}

// forget ends the asking: another form stands in its place. q may be nil.
func (q *asking) forget() {
	if q != nil {
		q.turn.Add(1)
	}
}

func (q *asking) suggest(name, value string, found app.Suggestions) {
	var hints []fyne.CanvasObject
	for _, v := range found.Values {
		if v == value || len(hints) == mostHints {
			continue
		}
		hints = append(hints, code.NewButton("", clean.Line(v, hintLength), func() {
			q.form.Set(map[string]json.RawMessage{name: quote(v)})
			q.form.FocusField(name)
		}))
	}
	more := ""
	if found.More || len(found.Values) > mostHints {
		more = lang.X("servers.more_suggestions", "and more: type on to see them")
	}
	q.show(hints, more)
}

// show puts suggestions below their field.
func (q *asking) show(hints []fyne.CanvasObject, more string) {
	if len(hints) == 0 && !q.hints.Visible() {
		return
	}
	q.hints.Objects = nil
	if len(hints) > 0 {
		q.hints.Objects = append([]fyne.CanvasObject{caption(lang.X("servers.suggested", "Suggested:"), theme.Dim, text.Whole)}, hints...)
		if more != "" {
			q.hints.Add(caption(more, theme.Dim, text.Whole))
		}
	}
	if q.hints.Hidden = len(hints) == 0; q.hints.Hidden {
		q.form.Below("", nil, nil)
	} else {
		q.form.Below(q.field, q.hints, func(width float32) float32 { return heightOf(q.hints, width) })
		q.hints.Refresh()
	}
	q.page.changed()
}

// flowLayout stands objects beside each other, in as many lines as they need.
type flowLayout struct{ gap float32 }

func (f *flowLayout) place(objects []fyne.CanvasObject, width float32, put bool) float32 {
	var x, y, line float32
	for _, o := range objects {
		line = max(line, o.MinSize().Height)
	}
	for _, o := range objects {
		if !o.Visible() {
			continue
		}
		m := o.MinSize()
		m.Width = min(m.Width, width)
		if x > 0 && x+m.Width > width {
			x, y = 0, y+line+f.gap
		}
		if put {
			o.Move(fyne.NewPos(x, y+(line-m.Height)/2))
			o.Resize(m)
		}
		x += m.Width + f.gap
	}
	return y + line
}

func (f *flowLayout) heightFor(objects []fyne.CanvasObject, width float32) float32 {
	return f.place(objects, width, false)
}

// MinSize is Fyne's. The height is that at a usual width: who needs the true one asks heightOf.
func (f *flowLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(80, 0) }

// Layout is Fyne's.
func (f *flowLayout) Layout(objects []fyne.CanvasObject, s fyne.Size) {
	f.place(objects, s.Width, true)
}
