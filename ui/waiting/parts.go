package waiting

import (
	"errors"
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"steward/app/consent"
	"steward/ui/form"
	"steward/ui/sentence"
	"steward/ui/text"
	"steward/ui/theme"
)

// resized lays the card out anew and tells the list around it.
func (c *Card) resized() {
	c.Refresh()
	if c.d.Resized != nil && !c.closed {
		c.d.Resized(c)
	}
}

// caption is a small sentence.
func (c *Card) caption(words string, colour fyne.ThemeColorName) *text.Label {
	l := text.NewLabel(words, text.Run{Color: colour}, text.Wrap)
	l.SetTextSize(theme.CaptionSize)
	return l
}

// during says which tool was running when the server asked, where one was.
func (c *Card) during() (rows []fyne.CanvasObject) {
	if tool := c.item.Presentation.Tool; tool != "" {
		rows = append(rows, c.caption(lang.X("elicitation.during", "while running {{.tool}}", map[string]any{"tool": tool}), theme.Dim))
	}
	return rows
}

// problem is why a question cannot be answered.
func (c *Card) problem(err error) fyne.CanvasObject {
	v := c.view()
	v.SetText(said(err), text.Run{Color: theme.Refusal})
	return newBox(theme.RefusalTint, v)
}

// quote is a server's own sentence, shown as such.
func (c *Card) quote(s string) fyne.CanvasObject {
	if len(s) > paneFrom {
		return c.pane(s)
	}
	v := c.view()
	v.SetBlocks([]*text.Block{{Runs: []text.Run{{Text: "“" + s + "”", Color: theme.Dim}}, Size: theme.CaptionSize}})
	return v
}

// mono is a revealed text, complete, that wraps.
func (c *Card) mono(s string) *text.View { return c.monoRuns(marked(s, text.Run{Mono: true})) }

func (c *Card) monoRuns(runs []text.Run) *text.View {
	v := c.view()
	v.SetBlocks([]*text.Block{{Runs: runs, Size: theme.MonoSize}})
	return v
}

// text is a revealed text, in a frame of its own where it is long.
func (c *Card) text(s string) fyne.CanvasObject {
	if len(s) > paneFrom {
		return c.pane(s)
	}
	return c.mono(s)
}

// wrapUpTo is how many bytes are broken into lines that fit; of longer texts only the lines that are seen are made.
const wrapUpTo = 200_000

// whole is a small sentence in one line, as wide as it is.
func (c *Card) whole(words string) *text.Label {
	l := text.NewLabel(words, text.Run{Color: theme.Dim}, text.Whole)
	l.SetTextSize(theme.CaptionSize)
	return l
}

// pane shows a text of any length, complete.
func (c *Card) pane(s string) fyne.CanvasObject { return c.paneOf(s) }

func (c *Card) paneOf(s string) *text.Pane {
	p := text.NewPane(words())
	p.View().OnKey = c.key
	p.View().OnShortcut = c.shortcut
	p.SetBlocks([]*text.Block{{Runs: marked(s, text.Run{Mono: true}), Size: theme.MonoSize, Code: true, NoWrap: len(s) > wrapUpTo}})
	p.SetLeast(fyne.NewSize(leastWidth/2, paneHeight))
	return p
}

// shortText is how wide a description may be to share its line with the claims.
const shortText = 380

// about is what a server says of its tool: the description as a quotation, and its claims, each in a frame and all of
// them worded as the server's.
func (c *Card) about(p consent.Presentation) []fyne.CanvasObject {
	var pills []fyne.CanvasObject
	if len(p.Claims) > 0 {
		pills = append(pills, c.whole(lang.X("approval.server_says", "server says:")))
	}
	var long []fyne.CanvasObject
	for _, s := range p.Claims {
		if words := claimed(s); utf8.RuneCountInString(words) <= longPill {
			pills = append(pills, newPill(words))
		} else {
			long = append(long, c.caption(words, theme.Dim))
		}
	}
	return append(c.described(p.Description, pills), long...)
}

// longPill is how many characters a claim may have to stand in a frame.
const longPill = 60

// described is a tool's description as a quotation, with the claims beside it where there is room.
func (c *Card) described(description string, pills []fyne.CanvasObject) []fyne.CanvasObject {
	if description == "" {
		if len(pills) == 0 {
			return nil
		}
		return []fyne.CanvasObject{newFlow(1.5*theme.Step, pills, nil)}
	}
	quote := c.quote(description)
	if len(pills) == 0 {
		return []fyne.CanvasObject{quote}
	}
	if len(description) < shortText/2 && !strings.Contains(description, "\n") {
		if width := c.whole("“"+description+"”").MinSize().Width + theme.Step; width < shortText {
			return []fyne.CanvasObject{newFlow(1.5*theme.Step, append([]fyne.CanvasObject{newSized(width, quote)}, pills...), nil)}
		}
	}
	return []fyne.CanvasObject{quote, newFlow(1.5*theme.Step, pills, nil)}
}

// claimed is a claim of the server in two words.
func claimed(claim string) string {
	switch claim {
	case "The server claims that it changes nothing; nobody has checked that.":
		return lang.X("approval.claim_reads", "changes nothing")
	case "The server claims that it changes something; nobody has checked that.":
		return lang.X("approval.claim_changes", "changes things")
	case "The server claims that it may delete or overwrite; nobody has checked that.":
		return lang.X("approval.claim_destroys", "may delete or overwrite")
	case "The server claims that it only adds and never deletes or overwrites; nobody has checked that.":
		return lang.X("approval.claim_adds", "only adds")
	case "The server claims that it has no further effect when repeated; nobody has checked that.":
		return lang.X("approval.claim_repeats", "may be repeated")
	case "The server claims that it reaches systems outside of it, such as the internet; nobody has checked that.":
		return lang.X("approval.claim_open", "open world")
	case "The server claims that it reaches nothing outside of it; nobody has checked that.":
		return lang.X("approval.claim_closed", "closed world")
	case "It has an app page of its own, which Steward does not draw; the text of its result is shown.":
		return lang.X("approval.claim_app", "its app page is not drawn")
	}
	if rest, ok := strings.CutPrefix(claim, "The server calls it “"); ok {
		return lang.X("approval.claim_title", "called “{{.title}}”", map[string]any{"title": strings.TrimSuffix(rest, "”.")})
	}
	return sentence.Worded(claim)
}

// warnings are in amber, with a mark.
func (c *Card) warnings(list []string) fyne.CanvasObject {
	if len(list) == 0 {
		return nil
	}
	var rows []fyne.CanvasObject
	for _, s := range list {
		s = sentence.Worded(s)
		v := c.view()
		v.SetRuns(append([]text.Run{{Text: "◆ ", Color: theme.Waiting}}, marked(s, text.Run{Color: theme.Waiting})...)...)
		rows = append(rows, v)
	}
	return newBox(theme.WaitingTint, rows...)
}

// entry makes an input part of the card: Escape leads to the harmless answer, shortcuts go the card's way.
func (c *Card) entry(e *form.Entry) *form.Entry {
	e.OnKey = func(ev *fyne.KeyEvent) bool {
		if ev.Name == fyne.KeyEscape {
			c.Enter()
			return true
		}
		return false
	}
	e.OnShortcut = c.taken
	e.OnBigPaste = func(string) {
		c.complain(errors.New(lang.X("waiting.big_paste", "That is too much to paste here.")))
	}
	return e
}

// newJoined stands objects beside each other that no line end parts.
func newJoined(gap float32, objects ...fyne.CanvasObject) *joined {
	j := &joined{}
	j.left = objects
	j.gap = gap
	j.ExtendBaseWidget(j)
	return j
}

// joined is a flow that is as wide as what it holds, so that it can stand in another flow.
type joined struct{ flow }

// CreateRenderer is Fyne's.
func (j *joined) CreateRenderer() fyne.WidgetRenderer {
	return &joinedRenderer{flowRenderer{&j.flow}}
}

type joinedRenderer struct{ flowRenderer }

func (r *joinedRenderer) MinSize() fyne.Size {
	var s fyne.Size
	for _, o := range r.f.left {
		m := o.MinSize()
		s.Width += m.Width + r.f.gap
		s.Height = max(s.Height, m.Height)
	}
	s.Width = max(0, s.Width-r.f.gap)
	return s
}

// sized gives an object a width of its own, so that it can stand in a flow.
type sized struct {
	widget.BaseWidget
	width float32
	of    fyne.CanvasObject
}

func newSized(width float32, of fyne.CanvasObject) *sized {
	s := &sized{width: width, of: of}
	s.ExtendBaseWidget(s)
	return s
}

// CreateRenderer is Fyne's.
func (s *sized) CreateRenderer() fyne.WidgetRenderer { return &sizedRenderer{s} }

type sizedRenderer struct{ s *sized }

func (r *sizedRenderer) Destroy()                     {}
func (r *sizedRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.s.of} }
func (r *sizedRenderer) Layout(size fyne.Size)        { r.s.of.Resize(size) }
func (r *sizedRenderer) Refresh()                     { r.s.of.Refresh() }

func (r *sizedRenderer) MinSize() fyne.Size {
	return fyne.NewSize(r.s.width, r.s.of.MinSize().Height)
}

// noteRow is a button that opens an input for a reason or note, and the answer that goes with it.
type noteRow struct {
	open  *button
	row   *column
	entry *form.Entry
}

func newNoteRow(c *Card, caption, hint, send string, answer func(note string)) *noteRow {
	n := &noteRow{entry: c.entry(form.NewEntry())}
	n.entry.SetPlaceHolder(hint)
	n.entry.OnSubmit = func(s string) { answer(s) }
	done := newButton(c, refusing, send, "↵", func() { answer(n.entry.Text) })
	n.row = newColumn(1.5*theme.Step, n.entry, newFlow(0, nil, []fyne.CanvasObject{done}))
	n.row.Hide()
	n.open = newButton(c, plain, caption, "", func() {
		if n.row.Visible() {
			n.row.Hide()
			c.resized()
			return
		}
		n.row.Show()
		c.resized()
		c.d.focus(n.entry)
	})
	return n
}
