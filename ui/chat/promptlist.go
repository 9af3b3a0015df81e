package chat

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"

	"steward/app/clean"
	"steward/ui/form"
	"steward/ui/language"
	"steward/ui/list"
	"steward/ui/text"
	"steward/ui/theme"
)

// promptRow is a line of the list of prompts.
type promptRow struct {
	pin  pinned
	note string
	own  *ownPrompt // nil: a server's
}

// promptList shows the person's own prompts and the servers', to be pinned, and their own to be changed.
type promptList struct {
	p    *Place
	rows []promptRow
	list *list.List
	done func()
}

// promptSettings opens the list of prompts.
func (p *Place) promptSettings() {
	l := &promptList{p: p}
	l.list = list.NewEqual(list.Source{Len: func() int { return len(l.rows) }, Build: func(i int) fyne.CanvasObject { return l.row(l.rows[i]) }}, popupRow)
	room := canvas.NewRectangle(theme.Color(theme.Clear))
	room.SetMinSize(fyne.NewSize(dialogWidth, 6*popupRow))
	title := text.NewLabel(lang.X("chat.own_prompts", "Your prompts"), text.Run{Bold: true}, text.Cut)
	about := text.NewLabel(lang.X("chat.own_prompts_about", "Pinned prompts stand above the composer and in the menu of a message. In a text of your own, {{.sign}} is asked for when it is used; {{.message}} is the message it is run over.",
		map[string]any{"sign": "{{name}}", "message": "{{message}}"}), text.Run{Color: theme.Dim}, text.Wrap)
	add := newChip(outlined, "plus", lang.X("chat.new_prompt", "New prompt"), func() { l.edit("", ownPrompt{}) })
	closing := newChip(outlined, "", lang.X("common.close", "Close"), func() { l.done() })
	for _, c := range []*chip{add, closing} {
		c.onShort = p.d.Shortcut
	}
	body := container.New(layout.NewCustomPaddedVBoxLayout(3*theme.Step), title, wrapped(about, dialogWidth), container.NewStack(room, l.list),
		newLine(2*theme.Step, []fyne.CanvasObject{add}, nil, closing))
	l.done = p.d.Layer.Dialog(body, p.focusComposer)
	l.fill()
	p.focus(add)
}

// wrapped gives a text that wraps a width of its own.
func wrapped(l *text.Label, width float32) fyne.CanvasObject {
	return &fyne.Container{Layout: measured{newColumn(0, pad{}, l), width}, Objects: []fyne.CanvasObject{l}}
}

func (l *promptList) fill() {
	l.rows = nil
	for i := range l.p.book.Own {
		o := l.p.book.Own[i]
		l.rows = append(l.rows, promptRow{pin: pinned{Name: o.Name}, note: o.Text, own: &o})
	}
	own := l.rows
	l.list.Reset()
	l.p.offers.get(func(o offered) {
		l.rows = own
		for _, pr := range o.prompts {
			l.rows = append(l.rows, promptRow{pin: pinned{pr.Server, pr.Name}, note: promptNote(pr)})
		}
		l.list.Reset()
	})
}

func (l *promptList) row(r promptRow) fyne.CanvasObject {
	name := newFitted(theme.TextSize)
	name.set(r.pin.label(), text.Run{Bold: true})
	note := caption(clean.Line(r.note, 300), theme.Dim, text.Cut)
	source := newFitted(theme.CaptionSize)
	source.set(lang.X("chat.prompt_yours", "yours"), text.Run{Color: theme.Dim})
	if r.pin.Server != "" {
		source.set(clean.Reveal(r.pin.Server), text.Run{Color: theme.Dim})
	}
	act := func(icon string, do func()) *chip {
		c := newChip(quiet, icon, "", do)
		c.onShort = l.p.d.Shortcut
		return c
	}
	pin := act("pin", func() {
		on := !l.p.book.isPinned(r.pin)
		l.change(func(b *book) error { b.pin(r.pin, on); return nil })
	})
	if l.p.book.isPinned(r.pin) {
		pin.look, pin.colour = chosen, theme.Accent
	}
	right := []fyne.CanvasObject{source.box}
	if r.own != nil {
		right = append(right, act("edit", func() { l.edit(r.own.Name, *r.own) }), act("trash", func() { l.remove(*r.own) }))
	}
	return newLine(2*theme.Step, []fyne.CanvasObject{name.box}, note, append(right, pin)...)
}

func (l *promptList) change(change func(b *book) error) {
	l.p.changeBook(change, func(err error) {
		if err != nil {
			l.p.fail(err)
			return
		}
		l.fill()
	})
}

func (l *promptList) remove(o ownPrompt) {
	l.change(func(b *book) error { b.remove(o.Name); return nil })
	l.p.d.Layer.Offer(lang.X("chat.deleted", "“{{.title}}” was deleted.", map[string]any{"title": clean.Line(o.Name, 60)}), lang.X("common.undo", "Undo"),
		func() { l.change(func(b *book) error { return b.put("", o) }) }, nil)
}

// edit opens the form of a prompt of the person's own; before is its name until now, "" for a new one.
func (l *promptList) edit(before string, o ownPrompt) {
	name, words := form.NewEntry(), form.NewMultiLine(8)
	name.SetText(o.Name)
	words.SetText(o.Text)
	words.EnterBreaks = true
	name.SetPlaceHolder(lang.X("chat.prompt_name", "Name, as it is typed after /"))
	words.SetPlaceHolder(lang.X("chat.prompt_text", "What you would write to the model"))
	wrong := text.NewLabel("", text.Run{Color: theme.Refusal}, text.Wrap)
	wrong.Hide()
	var done func()
	save := func() {
		next := ownPrompt{name.Text, words.Text}
		l.p.changeBook(func(b *book) error { return b.put(before, next) }, func(err error) {
			if err == nil {
				done()
				l.fill()
				return
			}
			wrong.SetText(language.Message(err), text.Run{Color: theme.Refusal})
			wrong.Show()
			l.p.resized()
		})
	}
	name.OnSubmit = func(string) { save() }
	cancel := newChip(outlined, "", lang.X("common.cancel", "Cancel"), func() { done() })
	keep := newChip(strong, "check", lang.X("common.save", "Save"), save)
	for _, c := range []*chip{cancel, keep} {
		c.onShort = l.p.d.Shortcut
	}
	for _, e := range []*form.Entry{name, words} {
		e.OnKey = func(k *fyne.KeyEvent) bool {
			if k.Name == fyne.KeyEscape {
				done()
				return true
			}
			return false
		}
	}
	title := text.NewLabel(lang.X("chat.new_prompt", "New prompt"), text.Run{Bold: true}, text.Cut)
	if before != "" {
		title.SetText(lang.X("chat.edit_prompt", "Change the prompt"), text.Run{Bold: true})
	}
	room := canvas.NewRectangle(theme.Color(theme.Clear))
	room.SetMinSize(fyne.NewSize(dialogWidth, 0))
	done = l.p.d.Layer.Dialog(container.NewStack(room, container.New(layout.NewCustomPaddedVBoxLayout(3*theme.Step),
		title, name, words, wrapped(wrong, dialogWidth), newLine(2*theme.Step, nil, nil, cancel, keep))), nil)
	l.p.focus(name)
}

// resized lays out again what lies over the chat.
func (p *Place) resized() {
	for _, o := range p.d.Window().Canvas().Overlays().List() {
		o.Refresh()
	}
}
