package servers

import (
	"image/color"
	"strings"
	"sync/atomic"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"steward/app/clean"
	"steward/ui/button"
	"steward/ui/code"
	"steward/ui/form"
	"steward/ui/list"
	"steward/ui/picture"
	"steward/ui/place"
	"steward/ui/text"
	"steward/ui/theme"
)

const step = theme.Step

// tallLayout is a layout whose height follows its width.
type tallLayout interface {
	heightFor(objects []fyne.CanvasObject, width float32) float32
}

// heightOf is the height that an object needs at a width.
func heightOf(o fyne.CanvasObject, width float32) float32 {
	if !o.Visible() {
		return 0
	}
	if m, ok := o.(list.Measured); ok {
		return m.HeightFor(width)
	}
	if c, ok := o.(*fyne.Container); ok {
		if l, ok := c.Layout.(tallLayout); ok {
			return l.heightFor(c.Objects, width)
		}
	}
	return o.MinSize().Height
}

// columnLayout stands objects below each other, each as wide as the column.
type columnLayout struct{ gap float32 }

func column(gap float32, objects ...fyne.CanvasObject) *fyne.Container {
	return container.New(&columnLayout{gap}, objects...)
}

func (c *columnLayout) heightFor(objects []fyne.CanvasObject, width float32) float32 {
	var h float32
	for _, o := range objects {
		if o.Visible() {
			h += heightOf(o, width) + c.gap
		}
	}
	return max(h-c.gap, 0)
}

// MinSize is Fyne's. The height is that at a usual width: who needs the true one asks heightOf.
func (c *columnLayout) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var wide float32
	for _, o := range objects {
		if _, measured := o.(list.Measured); !measured && o.Visible() {
			wide = max(wide, o.MinSize().Width)
		}
	}
	return fyne.NewSize(wide, 0)
}

// Layout is Fyne's.
func (c *columnLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	var y float32
	for _, o := range objects {
		if !o.Visible() {
			continue
		}
		h := heightOf(o, size.Width)
		o.Move(fyne.NewPos(0, y))
		o.Resize(fyne.NewSize(size.Width, h))
		y += h + c.gap
	}
}

// padLayout puts its last object into a frame; those before it lie under the whole frame.
type padLayout struct{ x, y float32 }

func (p *padLayout) heightFor(objects []fyne.CanvasObject, width float32) float32 {
	return heightOf(objects[len(objects)-1], width-2*p.x) + 2*p.y
}

// MinSize is Fyne's.
func (p *padLayout) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return objects[len(objects)-1].MinSize().AddWidthHeight(2*p.x, 2*p.y)
}

// Layout is Fyne's.
func (p *padLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objects[:len(objects)-1] {
		o.Resize(size)
	}
	last := objects[len(objects)-1]
	last.Move(fyne.NewPos(p.x, p.y))
	last.Resize(size.SubtractWidthHeight(2*p.x, 2*p.y))
}

func padded(x, y float32, objects ...fyne.CanvasObject) *fyne.Container {
	return container.New(&padLayout{x, y}, objects...)
}

// paint is a rectangle in colours of the theme, which it looks up with every refresh.
type paint struct {
	widget.BaseWidget
	fill, line fyne.ThemeColorName
	bar        bool // a bar in the line's colour at the left side alone
	radius     float32
}

func newPaint(fill, line fyne.ThemeColorName, radius float32) *paint {
	p := &paint{fill: fill, line: line, radius: radius}
	p.ExtendBaseWidget(p)
	return p
}

// MinSize is Fyne's.
func (p *paint) MinSize() fyne.Size { return fyne.Size{} }

// CreateRenderer is Fyne's.
func (p *paint) CreateRenderer() fyne.WidgetRenderer {
	r := &paintRenderer{p: p, ground: canvas.NewRectangle(color.Transparent), bar: canvas.NewRectangle(color.Transparent)}
	r.Refresh()
	return r
}

type paintRenderer struct {
	p           *paint
	ground, bar *canvas.Rectangle
}

func (r *paintRenderer) Destroy()           {}
func (r *paintRenderer) MinSize() fyne.Size { return fyne.Size{} }
func (r *paintRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.ground, r.bar}
}
func (r *paintRenderer) Layout(s fyne.Size) {
	r.ground.Resize(s)
	r.bar.Resize(fyne.NewSize(4, s.Height))
}
func (r *paintRenderer) Refresh() {
	r.ground.FillColor = theme.Color(r.p.fill)
	r.ground.CornerRadius, r.bar.CornerRadius = r.p.radius, r.p.radius/4
	r.ground.StrokeWidth = 0
	r.bar.FillColor = color.Transparent
	if r.p.bar {
		r.bar.FillColor = theme.Color(r.p.line)
		r.ground.StrokeWidth, r.ground.StrokeColor = 1, theme.Color(theme.Line)
	} else if r.p.line != "" {
		r.ground.StrokeWidth, r.ground.StrokeColor = 1, theme.Color(r.p.line)
	}
	r.ground.Refresh()
	r.bar.Refresh()
}

// kit makes the parts of the place with what they share.
type kit struct {
	d        place.Deps
	pool     *code.Pool
	pictures *picture.Reader
	running  atomic.Int32 // calls of benches
	seen     func() *page // the page that is seen
}

func (k *kit) words() text.Words {
	return text.Words{
		Copy:      func() string { return lang.X("common.copy", "Copy") },
		CopyAll:   func() string { return lang.X("common.copy_all", "Copy all") },
		SelectAll: func() string { return lang.X("common.select_all", "Select all") },
		Copied:    func() string { return lang.X("common.copied", "Copied") },
		ShowAll: func(lines int) string {
			return lang.X("common.show_more_lines", "Show {{.count}} more lines", map[string]any{"count": lines})
		},
		ShowLess: func() string { return lang.X("common.show_less", "Show less") },
	}
}

// key scrolls the page from a text on it, which has no use for these keys.
func (k *kit) key(e *fyne.KeyEvent) {
	p := k.seen()
	switch e.Name {
	case fyne.KeyPageDown, fyne.KeySpace:
		p.turn(1)
	case fyne.KeyPageUp:
		p.turn(-1)
	case fyne.KeyDown:
		p.scrollTo(p.scroll.Offset.Y + 10*step)
	case fyne.KeyUp:
		p.scrollTo(p.scroll.Offset.Y - 10*step)
	case fyne.KeyHome:
		p.scrollTo(0)
	case fyne.KeyEnd:
		p.scrollTo(p.scroll.Content.Size().Height)
	case fyne.KeyEscape:
		k.d.Shortcut(&desktop.CustomShortcut{KeyName: fyne.KeyEscape})
	}
}

func (k *kit) config() code.Config { return code.Config{Words: k.words(), Pool: k.pool} }

// prose is text to read, choose and copy.
func (k *kit) prose(s string, look text.Run) *text.View {
	v := text.NewView(k.words())
	v.OnShortcut, v.OnKey = func(s fyne.Shortcut) { k.d.Shortcut(s) }, k.key
	v.SetText(s, look)
	return v
}

// telling is what a server says of itself, whole; a very long text folds.
func (k *kit) telling(p *page, s string) fyne.CanvasObject {
	if len(s) > 8<<10 {
		return k.listing(p, "", s)
	}
	return k.prose(s, text.Run{})
}

// listing is code that folds when it is long; p is the page it stands on.
func (k *kit) listing(p *page, language, src string) fyne.CanvasObject {
	v := text.NewView(k.words())
	v.OnShortcut, v.OnKey = func(s fyne.Shortcut) { k.d.Shortcut(s) }, k.key
	if language == "json" {
		src = code.Pretty(src)
	}
	var l *code.Listing
	l = code.NewListing(language, src, false, text.Block{}, k.config(), func() {
		v.SetBlocks([]*text.Block{l.Block()})
		p.changed()
	})
	v.SetBlocks([]*text.Block{l.Block()})
	return v
}

// picture shows the bytes of a picture that a server sent.
func (k *kit) picture(p *page, kind string, data []byte) fyne.CanvasObject {
	return k.pictures.Box(strings.Join(nonEmpty(clean.Line(kind, 80), size(int64(len(data)))), " · "), data, p.changed)
}

func caption(s string, colour fyne.ThemeColorName, fit text.Fitting) *text.Label {
	l := text.NewLabel(s, text.Run{Color: colour}, fit)
	l.SetTextSize(theme.CaptionSize)
	return l
}

func strong(s string) *text.Label { return text.NewLabel(s, text.Run{Bold: true}, text.Wrap) }

// chip is a word in a frame.
func chip(s string) *fyne.Container {
	return padded(2*step, step, newPaint(theme.Card, theme.Edge, 3*step), caption(s, theme.Dim, text.Whole))
}

// note is a sentence on a tint: amber for what waits, red for what failed.
func note(s string, colour, tint fyne.ThemeColorName, more ...fyne.CanvasObject) *fyne.Container {
	p := newPaint(tint, colour, theme.Radius)
	p.bar = true
	objects := append([]fyne.CanvasObject{text.NewLabel(s, text.Run{Color: colour}, text.Wrap)}, more...)
	return padded(4*step, 2*step, p, column(2*step, objects...))
}

func card(objects ...fyne.CanvasObject) *fyne.Container {
	p := newPaint(theme.Card, theme.Accent, theme.Radius)
	p.bar = true
	return padded(5*step, 3*step, p, column(3*step, objects...))
}

// left keeps an object as wide as it needs to be, at the left.
func left(objects ...fyne.CanvasObject) *fyne.Container { return container.NewHBox(objects...) }

// newButton is an outlined button, strongButton the one that does what the person came for.
func newButton(word string, do func()) *button.Button { return newIconButton("", word, do) }

func strongButton(word string, do func()) *button.Button {
	b := newButton(word, do)
	b.SetLook(button.Strong)
	return b
}

// newIconButton has an icon ("" for none) before its word. The window's shortcuts work while it has the keyboard.
func newIconButton(icon, word string, do func()) *button.Button {
	b := button.New(button.Outlined, icon, word, do)
	b.OnShortcut = func(s fyne.Shortcut) {
		if c, ok := fyne.CurrentApp().Driver().CanvasForObject(b).(fyne.Shortcutable); ok {
			c.TypedShortcut(s)
		}
	}
	return b
}

// formTexts draws the texts of a form.
func formTexts(s string, role form.Role) fyne.CanvasObject {
	switch role {
	case form.Title:
		return text.NewLabel(s, text.Run{Bold: true}, text.Wrap)
	case form.Help:
		return caption(s, theme.Dim, text.Wrap)
	case form.Complaint:
		return caption(s, theme.Refusal, text.Wrap)
	case form.Warning:
		return caption(s, theme.Waiting, text.Wrap)
	default:
		return text.NewLabel(s, text.Run{}, text.Wrap)
	}
}
