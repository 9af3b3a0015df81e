package text

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"
)

// clickGap is how soon another press must follow at the same place to count as a double or triple click.
const clickGap = 400 * time.Millisecond

var (
	_ fyne.Widget            = (*View)(nil)
	_ fyne.Focusable         = (*View)(nil)
	_ fyne.Shortcutable      = (*View)(nil)
	_ fyne.Tappable          = (*View)(nil)
	_ fyne.SecondaryTappable = (*View)(nil)
	_ fyne.Draggable         = (*View)(nil)
	_ desktop.Mouseable      = (*View)(nil)
	_ desktop.Hoverable      = (*View)(nil)
	_ desktop.Cursorable     = (*View)(nil)
	_ desktop.Keyable        = (*View)(nil)
)

// OnMenu shows a menu for a view in place of the view's own, at a position of the window. link is the address there, or
// "". It reports whether it did.
type OnMenu func(at fyne.Position, link string) bool

// View shows blocks. What it shows can be chosen by pointer and keyboard, across all blocks, and copied.
//
// A text of any length may be given: beyond 600 lines it keeps objects only for the part that is seen. Its height
// follows its width: [View.HeightFor], or MinSize once it was given a width.
type View struct {
	widget.BaseWidget
	body
	words Words

	OnLink     func(url string)     // a link was tapped; url passes [Web]. Nothing else is ever opened
	OnHover    func(url string)     // the pointer is over a link, "" when it left; show the whole url
	OnShortcut func(fyne.Shortcut)  // shortcuts that are not for text, while the view has the focus
	OnKey      func(*fyne.KeyEvent) // keys likewise, Escape with nothing chosen among them
	OnRune     func(rune)           // typing likewise: a chat hands it to its composer
	OnFocus    func(focused bool)   // the keyboard came by Tab, or left again: show where it is
	OnMenu     OnMenu               // nil: the view shows a menu of its own
	Clipboard  func(string)         // nil: the app's clipboard
	Whole      func() string        // the source of everything, copied when everything is chosen; nil: of the blocks
	Now        func() time.Time     // nil: time.Now

	sel       selection
	find      finding
	shift     bool
	hover     string
	presses   int
	pressed   time.Time
	pressedAt fyne.Position
	dragged   bool
	pointing  bool        // the focus comes by the pointer
	reveal    func(place) // a pane brings the caret into sight
}

// NewView makes an empty view.
func NewView(words Words) *View {
	v := &View{}
	v.Init(v, words)
	return v
}

// Init prepares a view that is embedded in another widget, its host, which must not be used before.
func (v *View) Init(host fyne.Widget, words Words) {
	v.words, v.host = words, host
	v.remark = v.markAll
	v.ExtendBaseWidget(host)
}

// SetBlocks shows blocks in place of those shown before. A block that is passed again (the same pointer) costs nothing;
// one that replaces a block whose text only grew is worked out only where it grew. The selection stays where it was.
func (v *View) SetBlocks(blocks []*Block) {
	v.set(blocks)
	v.sel.from, v.sel.to, v.sel.caret = v.clamp(v.sel.from), v.clamp(v.sel.to), v.clamp(v.sel.caret)
	v.Changed()
}

// SetRuns shows one paragraph.
func (v *View) SetRuns(runs ...Run) { v.SetBlocks([]*Block{{Runs: runs}}) }

// SetText shows one paragraph in one style.
func (v *View) SetText(text string, look Run) {
	look.Text = text
	v.SetRuns(look)
}

// Changed lays out again after the size of a widget inside a block changed.
func (v *View) Changed() {
	if v.width > 0 {
		for _, p := range v.paras {
			if p.b.Head != nil || p.b.Foot != nil || p.b.Object != nil {
				p.width = 0
			}
		}
		v.arrange(v.width)
	}
	v.mark()
}

// HeightFor gives the height the view needs at a width, and lays it out for it.
func (v *View) HeightFor(width float32) float32 { return v.heightFor(max(width, narrow)) }

// Plain gives the whole text without marks.
func (v *View) Plain() string {
	if len(v.paras) == 0 {
		return ""
	}
	return v.plainOf(v.sheet.all())
}

// CreateRenderer is Fyne's.
func (v *View) CreateRenderer() fyne.WidgetRenderer {
	return &renderer{b: &v.body, fit: v.fitTo, min: v.minSize}
}

func (v *View) fitTo(s fyne.Size) {
	v.resize(s)
	if v.marking() {
		v.objects()
		v.mark()
	}
}

// mark brings the selection's rectangles up to date.
func (v *View) mark() {
	v.stale = true
	if len(v.marks) > 0 || v.marking() {
		v.objects() // the lines must be there for the rectangles to be put behind them
		v.markAll()
	}
	v.redraw()
}

func (v *View) placeOf(pos fyne.Position) place {
	return v.placeAt(pos.X+v.left, float64(pos.Y)+v.top)
}

// linkAt is the address under a point, "" when there is none that may be opened.
func (v *View) linkAt(pos fyne.Position) string {
	if len(v.paras) == 0 {
		return ""
	}
	x, y := pos.X+v.left, float64(pos.Y)+v.top
	p := v.paras[v.paraAt(y)]
	n := p.lineNear(x, y-p.y)
	if n < 0 || p.b.Object != nil {
		return ""
	}
	top := p.y + p.lineTop(n)
	if y < top || y > top+float64(p.lineHeight) {
		return ""
	}
	for _, pc := range p.pieces(&p.lines[n], nil) {
		if left := p.left + pc.x; x >= left && x <= left+pc.w {
			if link := p.spans[pc.span].run.Link; Web(link) {
				return link
			}
		}
	}
	return ""
}

// MouseDown begins a selection; with Shift it extends the one there is.
func (v *View) MouseDown(ev *desktop.MouseEvent) {
	if ev.Button != desktop.MouseButtonPrimary {
		return
	}
	if c := fyne.CurrentApp().Driver().CanvasForObject(v.host); c != nil {
		if f, ok := v.host.(fyne.Focusable); ok {
			v.pointing = true
			c.Focus(f)
			v.pointing = false
		}
	}
	now := v.now()
	d := ev.Position.Subtract(v.pressedAt)
	if now.Sub(v.pressed) < clickGap && d.X*d.X+d.Y*d.Y < 25 {
		v.presses++
	} else {
		v.presses = 1
	}
	v.pressed, v.pressedAt, v.dragged = now, ev.Position, false
	at := v.placeOf(ev.Position)
	if ev.Modifier&fyne.KeyModifierShift != 0 {
		v.sel.caret = at
		v.mark()
		return
	}
	v.sel.by = []grain{byChar, byWord, byLine}[(v.presses-1)%3]
	v.sel.from, v.sel.to = v.grainAt(at, v.sel.by)
	v.sel.caret = at
	v.mark()
}

func (v *View) now() time.Time {
	if v.Now != nil {
		return v.Now()
	}
	return time.Now()
}

// MouseUp is Fyne's.
func (v *View) MouseUp(*desktop.MouseEvent) {}

// Dragged extends the selection, over other blocks too.
func (v *View) Dragged(ev *fyne.DragEvent) {
	v.dragged = true
	v.sel.caret = v.placeOf(ev.Position)
	if v.reveal != nil {
		v.reveal(v.sel.caret)
	}
	v.mark()
}

// DragEnd is Fyne's.
func (v *View) DragEnd() {}

// Tapped opens a link, unless the pointer chose text.
func (v *View) Tapped(ev *fyne.PointEvent) {
	if v.dragged || v.presses > 1 {
		return
	}
	if link := v.linkAt(ev.Position); link != "" && v.OnLink != nil {
		v.OnLink(link)
	}
}

// TappedSecondary shows the context menu.
func (v *View) TappedSecondary(ev *fyne.PointEvent) {
	link := v.linkAt(ev.Position)
	if v.OnMenu != nil && v.OnMenu(ev.AbsolutePosition, link) {
		return
	}
	c := fyne.CurrentApp().Driver().CanvasForObject(v.host)
	menu := v.menu(link)
	if c == nil || len(menu.Items) == 0 {
		return
	}
	widget.ShowPopUpMenuAtPosition(menu, c, ev.AbsolutePosition)
}

func (v *View) menu(link string) *fyne.Menu {
	menu := fyne.NewMenu("")
	add := func(word func() string, do func()) {
		if label := Say(word); label != "" {
			menu.Items = append(menu.Items, fyne.NewMenuItem(label, do))
		}
	}
	if v.chosen() {
		add(v.words.Copy, v.Copy)
	}
	if link != "" {
		add(v.words.CopyLink, func() { v.copy(link) })
	}
	add(v.words.CopyAll, v.CopyAll)
	add(v.words.SelectAll, v.SelectAll)
	return menu
}

// MouseIn is Fyne's.
func (v *View) MouseIn(ev *desktop.MouseEvent) { v.MouseMoved(ev) }

// MouseMoved tells OnHover.
func (v *View) MouseMoved(ev *desktop.MouseEvent) { v.setHover(v.linkAt(ev.Position)) }

// MouseOut tells OnHover.
func (v *View) MouseOut() { v.setHover("") }

func (v *View) setHover(link string) {
	if link == v.hover {
		return
	}
	v.hover = link
	if v.OnHover != nil {
		v.OnHover(link)
	}
}

// Cursor is a hand over links, a text cursor elsewhere.
func (v *View) Cursor() desktop.Cursor {
	if v.hover != "" {
		return desktop.PointerCursor
	}
	return desktop.TextCursor
}

// Copy copies what is chosen; nothing chosen leaves the clipboard alone.
func (v *View) Copy() {
	if s := v.SelectedText(); s != "" {
		v.copy(s)
	}
}

// CopyAll copies the whole view, as Markdown where it has it.
func (v *View) CopyAll() {
	if len(v.paras) == 0 {
		return
	}
	v.copy(v.textOf(v.sheet.all()))
}

func (v *View) copy(s string) {
	if v.Clipboard != nil {
		v.Clipboard(s)
		return
	}
	fyne.CurrentApp().Clipboard().SetContent(s)
}

// SelectAll chooses everything.
func (v *View) SelectAll() {
	from, to := v.sheet.all()
	v.sel = selection{from: from, to: from, caret: to}
	v.mark()
}

// ClearSelection chooses nothing.
func (v *View) ClearSelection() {
	v.sel = selection{from: v.sel.caret, to: v.sel.caret, caret: v.sel.caret}
	v.mark()
}
