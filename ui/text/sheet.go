package text

import (
	"sort"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"

	"steward/ui/theme"
)

const (
	eagerLines = 600 // a longer text has objects only for the part that is seen
	margin     = 400 // drawn above and below what is seen, and the step in which that moves
)

// sheet is blocks below each other, laid out for one width.
type sheet struct {
	paras  []*para
	width  float32
	height float64
	lines  int
}

// set shows blocks; those that were shown before keep everything that was worked out for them.
func (s *sheet) set(blocks []*Block) {
	same := 0
	for same < len(blocks) && same < len(s.paras) && s.paras[same].b == blocks[same] {
		same++
	}
	rest := s.paras[same:]
	known := make(map[*Block]*para, len(rest))
	for _, p := range rest {
		known[p.b] = p
	}
	paras := append(make([]*para, 0, len(blocks)), s.paras[:same]...)
	for i, b := range blocks[same:] {
		p := known[b]
		if p == nil {
			var old *para
			if i < len(rest) {
				old = rest[i]
			}
			p = newPara(b, old)
		}
		delete(known, b) // the same block twice is two paras
		paras = append(paras, p)
	}
	s.paras = paras
	if s.width > 0 {
		s.arrange(s.width)
	}
}

// arrange lays all out for a width.
func (s *sheet) arrange(width float32) {
	s.width = width
	y, lines := 0.0, 0
	for i, p := range s.paras {
		p.layout(width)
		p.above = nil
		if i > 0 {
			p.above = s.paras[i-1].b
			y += float64(p.b.Before)
		}
		p.y = y
		y += float64(p.height())
		lines += len(p.lines)
	}
	s.height, s.lines = y, lines
}

// heightFor gives the height at a width without changing what is shown at another.
func (s *sheet) heightFor(width float32) float32 {
	if width != s.width {
		s.arrange(width)
	}
	return float32(s.height)
}

func (s *sheet) natural() float32 {
	var widest float32
	for _, p := range s.paras {
		if p.b.Table == nil && p.b.Object == nil {
			widest = max(widest, p.natural()+p.b.Indent+2*p.pad())
		}
	}
	return widest
}

// paraAt is the para at a height, or the nearest.
func (s *sheet) paraAt(y float64) int {
	i := sort.Search(len(s.paras), func(i int) bool { return s.paras[i].y > y }) - 1
	return max(i, 0)
}

// body is what the views have in common: a sheet and its objects.
type body struct {
	sheet
	host     fyne.Widget
	scrolled bool // the host shows the part of the sheet at left, top
	left     float32
	top      float64
	marks    []fyne.CanvasObject
	all      []fyne.CanvasObject
	stale    bool
	looking  bool
	remark   func() // makes the marks anew for the lines that are drawn now; nil: there are none
}

// sight is the part of the sheet that needs objects.
func (b *body) sight() (from, to float64) {
	size := b.host.Size()
	switch {
	case b.scrolled:
		return b.top, b.top + float64(size.Height)
	case b.lines <= eagerLines:
		return 0, b.height
	}
	c := fyne.CurrentApp().Driver().CanvasForObject(b.host)
	if c == nil {
		return 0, 4 * margin
	}
	above := -float64(fyne.CurrentApp().Driver().AbsolutePositionForObject(b.host).Y)
	step := float64(int(above/margin)) * margin
	return step - margin, step + float64(c.Size().Height) + 2*margin
}

func (b *body) scale() float32 {
	if c := fyne.CurrentApp().Driver().CanvasForObject(b.host); c != nil {
		return c.Scale()
	}
	return 1
}

// objects gives what is drawn, made anew where needed. The painter asks for them each time it draws, which is when a
// long text learns which part of it is seen.
func (b *body) objects() []fyne.CanvasObject {
	if b.looking || !b.stale && (b.scrolled || b.lines <= eagerLines) {
		return b.all
	}
	b.looking = true // finding one's own position walks the tree, and comes by here
	defer func() { b.looking = false }()
	from, to := b.sight()
	changed := b.stale
	b.stale = false
	scale := b.scale()
	for _, p := range b.paras {
		if p.y > to || p.y+float64(p.height()) < from {
			if p.drawing.ready {
				p.drawing.reset()
				changed = true
			}
			continue
		}
		if p.draw(-b.left, p.y-b.top, from-p.y, to-p.y, scale) {
			changed = true
		}
	}
	if changed {
		if b.remark != nil {
			b.remark()
		}
		b.collect()
	}
	return b.all
}

// collect puts the objects in the order of drawing: grounds, the selection, texts, the widgets of others.
func (b *body) collect() {
	b.all = b.all[:0:0]
	for _, p := range b.paras {
		b.all = append(b.all, p.drawing.grounds...)
	}
	b.all = append(b.all, b.marks...)
	for _, p := range b.paras {
		b.all = append(b.all, p.drawing.texts...)
	}
	for _, p := range b.paras {
		if !p.drawing.ready {
			continue
		}
		y := float32(p.y - b.top)
		b.all = attach(b.all, p.b.Head, p.b.Indent, y, p.width-p.b.Indent, p.head)
		b.all = attach(b.all, p.b.Object, p.b.Indent, y+p.top(), p.width-p.b.Indent, p.body)
		b.all = attach(b.all, p.b.Foot, p.b.Indent, y+p.top()+p.body, p.width-p.b.Indent, p.foot)
	}
}

func attach(all []fyne.CanvasObject, o fyne.CanvasObject, x, y, w, h float32) []fyne.CanvasObject {
	if o == nil {
		return all
	}
	o.Move(fyne.NewPos(x, y))
	o.Resize(fyne.NewSize(w, h))
	return append(all, o)
}

// redraw has the host painted again, with its objects brought up to date.
func (b *body) redraw() {
	b.stale = true
	canvas.Refresh(b.host)
}

// recolour makes all objects anew: the theme may have changed.
func (b *body) recolour() {
	for _, p := range b.paras {
		p.drawing.reset()
	}
	b.redraw()
}

// renderer draws any of the views.
type renderer struct {
	b   *body
	fit func(fyne.Size)
	min func() fyne.Size
}

var _ fyne.WidgetRenderer = (*renderer)(nil)

func (r *renderer) Layout(s fyne.Size)           { r.fit(s) }
func (r *renderer) MinSize() fyne.Size           { return r.min() }
func (r *renderer) Refresh()                     { r.b.recolour() }
func (r *renderer) Objects() []fyne.CanvasObject { return r.b.objects() }
func (r *renderer) Destroy()                     {}

// narrow is the least width a text asks for: layouts measure at their least width first, and lines of single letters
// take long to make and are never seen.
const narrow = 25 * theme.Step

func (b *body) resize(s fyne.Size) {
	if !b.scrolled && s.Width > narrow && s.Width != b.width {
		b.arrange(s.Width)
	}
	b.stale = true
}

func (b *body) minSize() fyne.Size {
	if b.width == 0 {
		return fyne.NewSize(narrow, theme.TextSize*leading)
	}
	return fyne.NewSize(narrow, float32(b.height))
}

var _ fyne.Widget = (*Label)(nil)

// Fitting says what a Label does with text that is wider than it.
type Fitting uint8

// Ways of fitting.
const (
	Cut   Fitting = iota // one line that ends in "…" when it is too long; newlines show as spaces
	Whole                // never broken: the label is as wide as its text
	Wrap                 // broken into lines
)

// Label is text from outside that is only looked at: it takes no pointer and no key, so a row or a button below it does.
type Label struct {
	widget.BaseWidget
	body
	fitting Fitting
	size    float32
	runs    []Run
	one     *para // the whole text on one line, for Cut
}

// NewLabel makes a label in the style of look, whose Text is ignored.
func NewLabel(text string, look Run, fitting Fitting) *Label {
	l := &Label{fitting: fitting}
	l.host = l
	l.ExtendBaseWidget(l)
	l.SetText(text, look)
	return l
}

// SetText shows another text.
func (l *Label) SetText(text string, look Run) {
	look.Text = text
	l.SetRuns(look)
}

// SetRuns shows another text in several styles.
func (l *Label) SetRuns(runs ...Run) {
	if l.fitting == Cut {
		runs = oneLine(runs)
	}
	l.runs = runs
	l.prepare()
}

// SetTextSize sets the size; 0 is theme.TextSize.
func (l *Label) SetTextSize(size float32) {
	l.size = size
	l.prepare()
}

func (l *Label) prepare() {
	l.one = nil
	b := &Block{Runs: l.runs, Size: l.size, NoWrap: l.fitting != Wrap}
	l.set([]*Block{b})
	if l.fitting == Cut {
		l.one = newPara(b, nil)
		l.one.layout(unlimited)
	}
	l.fitTo(l.Size())
	l.redraw()
}

func (l *Label) fitTo(s fyne.Size) {
	switch l.fitting {
	case Whole:
		l.arrange(unlimited)
	case Cut:
		l.set([]*Block{l.cutTo(s.Width)})
		l.arrange(unlimited)
	default:
		l.resize(s)
	}
	l.stale = true
}

// cutTo gives the part of the one line that fits.
func (l *Label) cutTo(width float32) *Block {
	whole := l.one.b
	if len(l.one.lines) == 0 || len(l.one.lines) == 1 && l.one.lineWidth(&l.one.lines[0]) <= width {
		return whole
	}
	first := &l.one.lines[0]
	room := width - l.one.baseFace().width("…")
	end := l.one.offsetAt(first, room)
	for end > 0 && l.one.xAt(first, end) > room {
		end -= lastChar(l.one.plain[:end])
	}
	b := &Block{Size: whole.Size, NoWrap: true}
	for _, r := range whole.Runs {
		if end <= 0 {
			break
		}
		r.Text = r.Text[:min(end, len(r.Text))]
		end -= len(r.Text)
		b.Runs = append(b.Runs, r)
	}
	rest := Run{}
	if n := len(b.Runs); n > 0 {
		rest = b.Runs[n-1]
	}
	rest.Text = "…"
	b.Runs = append(b.Runs, rest)
	return b
}

// CreateRenderer is Fyne's.
func (l *Label) CreateRenderer() fyne.WidgetRenderer {
	return &renderer{b: &l.body, fit: l.fitTo, min: l.min}
}

func (l *Label) min() fyne.Size {
	switch l.fitting {
	case Whole:
		return fyne.NewSize(l.natural(), float32(l.height))
	case Cut:
		return fyne.NewSize(min(l.one.natural(), 8*theme.Step), l.one.lineHeight)
	}
	return l.minSize()
}

// HeightFor gives the height the label needs at a width.
func (l *Label) HeightFor(width float32) float32 {
	if l.fitting != Wrap {
		return l.min().Height
	}
	return l.heightFor(width)
}
