package chat

import (
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/ui/form"
	"steward/ui/text"
	"steward/ui/theme"
)

// excerpt shows a text attachment with a choice of its lines; only those that are shown would be attached.
type excerpt struct {
	p        *Place
	whole    app.Attachment
	lines    []string
	from, to *form.Entry
	pane     *text.Pane
	facts    *text.Label
	wrong    *text.Label
	resized  func()
}

// newExcerpt gives nil for what has no lines to choose from.
func newExcerpt(p *Place, a app.Attachment, submit, resized func()) *excerpt {
	lines := strings.Split(strings.TrimSuffix(a.Text, "\n"), "\n")
	if a.Kind != "resource" || len(lines) < 2 {
		return nil
	}
	e := &excerpt{p: p, whole: a, lines: lines, from: form.NewEntry(), to: form.NewEntry(), resized: resized}
	e.from.SetText("1")
	e.to.SetText(strconv.Itoa(len(lines)))
	for _, f := range []*form.Entry{e.from, e.to} {
		f.OnChanged = func(string) { e.show() }
		f.OnSubmit = func(string) { submit() }
		f.OnKey = func(k *fyne.KeyEvent) bool {
			p.keyFromText(k)
			return k.Name == fyne.KeyEscape
		}
	}
	e.facts = caption("", theme.Dim, text.Wrap)
	e.wrong = caption("", theme.Refusal, text.Wrap)
	e.wrong.Hide()
	e.pane = p.newReader(a.Text)
	e.say(a)
	return e
}

// chosen are the lines, from 1, both included.
func (e *excerpt) chosen() (from, to int, ok bool) {
	from, err := strconv.Atoi(strings.TrimSpace(e.from.Text))
	to, errTo := strconv.Atoi(strings.TrimSpace(e.to.Text))
	return from, to, err == nil && errTo == nil && from >= 1 && from <= to && to <= len(e.lines)
}

// attachment is what would be attached; false where no lines are named.
func (e *excerpt) attachment() (app.Attachment, bool) {
	from, to, ok := e.chosen()
	a := e.whole
	if !ok || from == 1 && to == len(e.lines) {
		return a, ok
	}
	a.Text = strings.Join(e.lines[from-1:to], "\n")
	a.Name = lang.X("chat.lines_of", "{{.name}}, lines {{.from}}–{{.to}}", map[string]any{"name": attachmentWords(a), "from": from, "to": to})
	return a, true
}

// show shows the lines that are named.
func (e *excerpt) show() {
	a, ok := e.attachment()
	from, _, _ := e.chosen()
	was := e.wrong.Hidden
	if e.wrong.Hidden = ok; !ok {
		e.wrong.SetText(lang.X("chat.lines_wrong", "Name two lines from 1 to {{.count}}.", map[string]any{"count": len(e.lines)}), text.Run{Color: theme.Refusal})
	} else {
		e.say(a)
		e.pane.SetBlocks(readerBlocks(a.Text, from))
	}
	if was != e.wrong.Hidden {
		e.resized()
	}
}

func (e *excerpt) say(a app.Attachment) {
	e.facts.SetText(attachmentFacts(a), text.Run{Color: theme.Dim})
}

// views are what a preview shows.
func (e *excerpt) views() []fyne.CanvasObject {
	field := func(f *form.Entry) fyne.CanvasObject {
		room := canvas.NewRectangle(theme.Color(theme.Clear))
		room.SetMinSize(fyne.NewSize(76, 0))
		return container.NewStack(room, f)
	}
	word := func(words string) fyne.CanvasObject { return caption(words, theme.Dim, text.Whole) }
	line := newLine(2*theme.Step, []fyne.CanvasObject{
		word(lang.X("chat.lines_from", "Lines")), field(e.from), word(lang.X("chat.lines_to", "to")), field(e.to),
		word(lang.X("chat.lines_all", "of {{.count}}", map[string]any{"count": len(e.lines)})),
	}, nil)
	out := []fyne.CanvasObject{e.facts}
	out = append(out, e.p.warningOf(e.whole)...)
	return append(out, line, e.wrong, e.pane)
}

// wrapUpTo is the length in bytes up to which a text is broken into lines that fit; a longer one is only laid out where it
// is seen.
const wrapUpTo = 64 << 10

// newReader shows a text of any length, with every odd character visible.
func (p *Place) newReader(s string) *text.Pane {
	r := text.NewPane(words())
	r.SetLeast(fyne.NewSize(dialogWidth, 240))
	r.SetBlocks(readerBlocks(s, 1))
	v := r.View()
	scroll := v.OnKey
	v.OnKey = func(e *fyne.KeyEvent) {
		p.keyFromText(e)
		scroll(e)
	}
	v.OnShortcut = func(s fyne.Shortcut) { p.d.Shortcut(s) }
	return r
}

func readerBlocks(s string, first int) []*text.Block {
	return []*text.Block{{Runs: []text.Run{{Text: revealLines(s)}}, Code: true, NoWrap: len(s) > wrapUpTo, Number: true, First: first}}
}
