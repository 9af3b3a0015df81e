package waiting

import (
	"errors"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"steward/ui/form"
	"steward/ui/text"
	"steward/ui/theme"
)

// masked stands in place of what a person does not want to be sent.
const masked = "[masked]"

// samplePart is one text of a request to the model, or the model's answer: shown whole, to be edited, masked in parts
// and, where it is a message, left out.
type samplePart struct {
	c     *Card
	d     *partDraft
	start string // as it came, with odd characters shown

	heading string
	note    string              // what of it is no text, "" where nothing
	tools   []fyne.CanvasObject // what of that is about tools, whole

	box        *column
	view       *text.View
	shown      fyne.CanvasObject // holds view
	entry      *form.Entry       // nil until it is edited
	edit, mask *button
	out, bare  *button // nil where it cannot be left out
	gone       *text.Label
	rest       *text.Label
	changed    func()
}

// partDraft is what the person made of a part so far.
type partDraft struct {
	text    string // with odd characters shown
	editing bool
	out     bool // the message is not sent
	bare    bool // what of it is no text is not sent
}

func newSamplePart(c *Card, heading, start, note string, optional bool, d *partDraft, changed func()) *samplePart {
	p := &samplePart{c: c, d: d, start: start, heading: heading, note: note, changed: changed}
	p.edit = newButton(c, quiet, "", "", p.toggleEdit)
	p.mask = newButton(c, quiet, lang.X("sampling.mask", "Mask what is selected"), "", p.maskSelected)
	if optional {
		p.out = newButton(c, quiet, "", "", func() { d.out = !d.out; p.draw() })
	}
	if note != "" {
		p.bare = newButton(c, quiet, "", "", func() { d.bare = !d.bare; p.draw() })
		p.rest = c.whole("")
	}
	p.gone = c.caption(lang.X("sampling.left_out", "This is not sent."), theme.Refusal)
	p.box = newColumn(theme.Step)
	p.build()
	return p
}

// withTools adds the uses and the results of tools in the part, whole.
func (p *samplePart) withTools(tools []string) *samplePart {
	if p.tools = p.c.boxed(tools); len(p.tools) > 0 {
		p.words()
	}
	return p
}

// boxed shows texts that were made safe, each in a box.
func (c *Card) boxed(texts []string) (out []fyne.CanvasObject) {
	for _, t := range texts {
		out = append(out, newBox(theme.CodeGround, c.text(t)))
	}
	return out
}

func (p *samplePart) longer() bool { return len(p.d.text) > form.MaxText }

// build makes what shows the part as it stands.
func (p *samplePart) build() {
	d := p.d
	p.entry, p.view, p.shown = nil, nil, nil
	switch {
	case d.editing:
		p.entry = p.c.entry(form.NewMultiLine(min(max(strings.Count(d.text, "\n")+2, 3), 12)))
		p.entry.EnterBreaks = true
		p.entry.SetText(d.text)
		p.entry.OnChanged = func(s string) { d.text = s; p.changed() }
		p.shown = p.entry
	case len(d.text) > paneFrom:
		pane := p.c.paneOf(d.text)
		p.view, p.shown = pane.View(), newBox(theme.CodeGround, pane)
	default:
		p.view = p.c.mono(d.text)
		p.shown = newBox(theme.CodeGround, p.view)
	}
	p.words()
}

func (p *samplePart) words() {
	d := p.d
	words := lang.X("approval.edit", "Edit")
	if d.editing {
		words = lang.X("sampling.edited_done", "Done")
	}
	p.edit.say(words)
	heading := p.heading
	if d.text != p.start {
		heading += " · " + lang.X("sampling.changed", "changed by you")
	}
	right := []fyne.CanvasObject{}
	if !d.out {
		if !p.longer() && (d.text != "" || p.note == "") {
			right = append(right, p.edit)
		}
		if d.text != "" {
			right = append(right, p.mask)
		}
	}
	if p.out != nil {
		p.out.say(lang.X("sampling.leave_out", "Leave out"))
		if d.out {
			p.out.say(lang.X("sampling.put_back", "Send it after all"))
		}
		right = append(right, p.out)
	}
	head := newFlow(3*theme.Step, []fyne.CanvasObject{p.c.whole(heading)}, right)
	p.box.objects = []fyne.CanvasObject{head}
	if d.out {
		p.box.objects = append(p.box.objects, p.gone)
		return
	}
	if d.text != "" || d.editing || p.note == "" {
		p.box.objects = append(p.box.objects, p.shown)
	}
	if p.note == "" {
		return
	}
	if !d.bare {
		defer func() { p.box.objects = append(p.box.objects, p.tools...) }()
	}
	if d.text == "" && p.start == "" { // nothing else is in it: the message can be left out
		p.rest.SetText(p.note, text.Run{Color: theme.Waiting})
		p.box.objects = append(p.box.objects, p.rest)
		return
	}
	p.rest.SetText(p.note, text.Run{Color: theme.Waiting})
	p.bare.say(lang.X("sampling.leave_out", "Leave out"))
	if d.bare {
		p.rest.SetText(p.note+" — "+lang.X("sampling.left_out", "This is not sent."), text.Run{Color: theme.Refusal})
		p.bare.say(lang.X("sampling.put_back", "Send it after all"))
	}
	p.box.objects = append(p.box.objects, newFlow(3*theme.Step, []fyne.CanvasObject{p.rest}, []fyne.CanvasObject{p.bare}))
}

// draw shows the part anew after it changed in another way than by typing.
func (p *samplePart) draw() {
	p.build()
	p.box.Refresh()
	p.changed()
	p.c.changed()
}

func (p *samplePart) toggleEdit() {
	p.d.editing = !p.d.editing
	p.draw()
	if p.entry != nil {
		p.c.d.focus(p.entry)
	}
}

// maskSelected puts the mask in place of the selected words, wherever they stand in this part.
func (p *samplePart) maskSelected() {
	words := ""
	switch {
	case p.entry != nil:
		words = p.entry.SelectedText()
	case p.view != nil:
		words = p.view.SelectedText()
	}
	if strings.TrimSpace(words) == "" {
		p.c.complain(errors.New(lang.X("sampling.select_first", "Select the words that are to be masked first.")))
		return
	}
	p.c.complaint.Hide()
	p.d.text = strings.ReplaceAll(p.d.text, words, masked)
	p.draw()
}

// sent is the text that goes instead, nil where it goes as it came.
func (p *samplePart) sent() *string {
	if p.d.text == p.start {
		return nil
	}
	s := unrevealLines(p.d.text)
	return &s
}
