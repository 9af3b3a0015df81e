package code

import (
	"reflect"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"steward/ui/text"
	"steward/ui/theme"
)

const (
	foldBeyond = 60       // lines
	openLines  = 30       // height of the viewer inside a message, in lines
	longSource = 64 << 10 // bytes; a shorter listing is folded by lines alone
)

// Config is what listings and viewers share.
type Config struct {
	Words     text.Words
	Pool      *Pool                   // nil: nothing is highlighted that is not already known
	Clipboard func(string)            // nil: the app's
	OnBeyond  func(*fyne.ScrollEvent) // the wheel at the end of a viewer inside something that scrolls
}

// Listing is a block of code in a view: a head with its language and a copy button, the code, and below a long one a
// button that opens all of it.
//
// Its block is made anew whenever its look changes; changed is told, and shows the new one.
type Listing struct {
	cfg     Config
	lang    string
	src     string
	growing bool
	changed func()
	block   *text.Block
	runs    []text.Run
	shape   text.Block // indent, bars, group: where the block stands
	copy    *button
	head    fyne.CanvasObject
	foot    *button
	open    bool
	viewer  *text.Pane
}

// NewListing makes a listing. shape gives Indent, Bars, Before, Group and Source of its block. When growing, the code is
// not highlighted yet.
func NewListing(lang, src string, growing bool, shape text.Block, cfg Config, changed func()) *Listing {
	l := &Listing{cfg: cfg, lang: strings.ToLower(strings.TrimSpace(lang)), changed: changed}
	l.copy = newButton("copy", text.Say(cfg.Words.Copy), l.copyAll)
	l.copy.left = func() { l.copy.show("copy", text.Say(cfg.Words.Copy)) }
	name := text.NewLabel(lang, text.Run{Color: theme.Dim}, text.Cut)
	name.SetTextSize(theme.CaptionSize)
	l.head = container.New(ends{theme.Step * 3, theme.Step}, name, l.copy)
	l.Update(src, growing, shape)
	return l
}

// Block is what to show now.
func (l *Listing) Block() *text.Block { return l.block }

// Update shows other code in the same listing.
func (l *Listing) Update(src string, growing bool, shape text.Block) {
	if l.block != nil && l.src == src && l.growing == growing && reflect.DeepEqual(l.shape, shape) {
		return
	}
	if l.src != src {
		l.runs = nil
	}
	l.src, l.shape, l.growing = src, shape, growing
	if !growing && l.runs == nil {
		l.runs = highlight(l.cfg.Pool, l.lang, src, func(runs []text.Run) {
			if l.src != src { // it went on meanwhile
				return
			}
			l.runs = runs
			l.build()
			l.changed()
		})
	}
	l.build()
}

func (l *Listing) copyAll() {
	if l.cfg.Clipboard != nil {
		l.cfg.Clipboard(l.src)
	} else {
		fyne.CurrentApp().Clipboard().SetContent(l.src)
	}
	l.copy.show("check", text.Say(l.cfg.Words.Copied))
}

func (l *Listing) build() {
	b := l.shape
	b.Code, b.Ground, b.Head = true, theme.CodeGround, l.head
	b.Runs = l.runs
	if b.Runs == nil {
		b.Runs = []text.Run{{Text: l.src}}
	}
	lines := strings.Count(l.src, "\n") + 1
	switch {
	case l.open:
		b.Object, b.ObjectSize = l.opened(), openLines*theme.MonoSize*1.5
	case lines > foldBeyond:
		b.Fold = foldBeyond
	case len(l.src) > longSource:
		b.Fold = 1
		b.Runs, b.Object = []text.Run{{Text: l.src}}, l.opened()
		b.ObjectSize = 10 * theme.MonoSize
	}
	l.foot = l.footOf(lines)
	if l.foot != nil {
		b.Foot = container.New(ends{theme.Step, theme.Step}, l.foot)
	}
	l.block = &b
}

func (l *Listing) footOf(lines int) *button {
	switch {
	case l.open:
		return newButton("", text.Say(l.cfg.Words.ShowLess), l.toggle)
	case lines > foldBeyond:
		return newButton("", l.cfg.Words.Lines(lines-foldBeyond), l.toggle)
	}
	return nil
}

func (l *Listing) toggle() {
	l.open = !l.open
	l.viewer = nil
	l.build()
	l.changed()
}

// opened is the viewer of the whole code, kept as long as the code is the same.
func (l *Listing) opened() *text.Pane {
	if l.viewer == nil {
		l.viewer = text.NewPane(l.cfg.Words)
		l.viewer.OnBeyond = l.cfg.OnBeyond
	}
	runs := l.runs
	if runs == nil {
		runs = []text.Run{{Text: l.src}}
	}
	l.viewer.View().Clipboard = l.cfg.Clipboard
	l.viewer.Replace([]*text.Block{{Runs: runs, Code: true, NoWrap: true, Number: true}})
	return l.viewer
}

// NewViewer makes a viewer for text of any length: unbroken lines with numbers, of which only those that are seen are
// made. Beyond 200 KB it has no colours.
func NewViewer(lang, src string, cfg Config) *text.Pane {
	p := text.NewPane(cfg.Words)
	p.OnBeyond = cfg.OnBeyond
	p.View().Clipboard = cfg.Clipboard
	show := func(runs []text.Run) {
		p.Replace([]*text.Block{{Runs: runs, Code: true, NoWrap: true, Number: true}})
	}
	show([]text.Run{{Text: src}})
	if runs := highlight(cfg.Pool, strings.ToLower(lang), src, show); runs != nil {
		show(runs)
	}
	return p
}

// ends lays out one or two objects at the left and right end of a row. Its fields are the room beside and above them.
type ends struct{ x, y float32 }

func (e ends) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var s fyne.Size
	for _, o := range objects {
		m := o.MinSize()
		s = fyne.NewSize(s.Width+m.Width, max(s.Height, m.Height))
	}
	return s.AddWidthHeight(2*e.x, 2*e.y)
}

func (e ends) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	right := size.Width - e.x
	if len(objects) > 1 {
		last := objects[len(objects)-1]
		m := last.MinSize()
		last.Resize(m)
		right -= m.Width
		last.Move(fyne.NewPos(right, (size.Height-m.Height)/2))
	}
	m := objects[0].MinSize()
	width := m.Width
	if len(objects) > 1 {
		width = max(right-e.x, 0)
	}
	objects[0].Resize(fyne.NewSize(width, m.Height))
	objects[0].Move(fyne.NewPos(e.x, (size.Height-m.Height)/2))
}
