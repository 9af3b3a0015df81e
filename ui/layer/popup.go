package layer

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"steward/ui/theme"
)

// popup is content in a frame at a position.
type popup struct {
	layer   *Layer
	at      fyne.Position
	frame   *frame
	content fyne.CanvasObject
	onClose func()
}

// Popup shows content near a position without taking the focus.
func (l *Layer) Popup(content fyne.CanvasObject, at fyne.Position, onClose func()) (close func()) {
	if l.popup != nil {
		l.popup.close()
	}
	p := &popup{layer: l, at: at, content: content, onClose: onClose}
	p.frame = newFrame(container.New(layout.NewCustomPaddedLayout(theme.Step, theme.Step, theme.Step, theme.Step), content))
	if l.catcher == nil {
		l.catcher = newCatcher(func() {
			if l.popup != nil {
				l.popup.close()
			}
		})
	}
	l.popup = p
	l.root.Objects = append([]fyne.CanvasObject{l.catcher, p.frame}, l.root.Objects...)
	l.arrange()
	return p.close
}

func (p *popup) close() {
	if p.layer.popup != p {
		return
	}
	p.layer.popup = nil
	p.layer.remove(p.layer.catcher, p.frame)
	if p.onClose != nil {
		p.onClose()
	}
}

// arrange keeps the popup inside the window: it moves it first, and makes it smaller only where it does not fit at all.
func (p *popup) arrange(window fyne.Size) {
	size := p.frame.MinSize()
	size.Width = min(size.Width, max(window.Width-2*edge, 0))
	size.Height = min(size.Height, max(window.Height-2*edge, 0))
	at := fyne.NewPos(min(p.at.X, window.Width-edge-size.Width), min(p.at.Y, window.Height-edge-size.Height))
	p.frame.Move(fyne.NewPos(max(at.X, edge), max(at.Y, edge)))
	p.frame.Resize(size)
}

// remove takes objects out of the layer.
func (l *Layer) remove(objects ...fyne.CanvasObject) {
	kept := l.root.Objects[:0:0]
	for _, o := range l.root.Objects {
		gone := false
		for _, r := range objects {
			gone = gone || o == r
		}
		if !gone {
			kept = append(kept, o)
		}
	}
	l.root.Objects = kept
	l.arrange()
}

// catcher lies under a popup and ends it when something else is tapped.
type catcher struct {
	widget.BaseWidget
	tapped func()
}

func newCatcher(tapped func()) *catcher {
	c := &catcher{tapped: tapped}
	c.ExtendBaseWidget(c)
	return c
}

// Tapped is Fyne's.
func (c *catcher) Tapped(*fyne.PointEvent) { c.tapped() }

// TappedSecondary is Fyne's.
func (c *catcher) TappedSecondary(*fyne.PointEvent) { c.tapped() }

// Scrolled keeps the wheel from moving what lies below.
func (c *catcher) Scrolled(*fyne.ScrollEvent) {}

// CreateRenderer draws nothing.
func (c *catcher) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(canvas.NewRectangle(color.Transparent))
}

// frame is a card that lies over other things.
type frame struct {
	widget.BaseWidget
	content fyne.CanvasObject
	ground  *canvas.Rectangle
}

func newFrame(content fyne.CanvasObject) *frame {
	f := &frame{content: content, ground: canvas.NewRectangle(color.Transparent)}
	f.ground.CornerRadius = theme.Radius
	f.ground.StrokeWidth = 1
	f.ExtendBaseWidget(f)
	f.paint()
	return f
}

func (f *frame) paint() {
	f.ground.FillColor = theme.Color(theme.Card)
	f.ground.StrokeColor = theme.Color(theme.Line)
	f.ground.Shadow = canvas.Shadow{Color: color.NRGBA{A: 0x38}, BlurRadius: 16, Offset: fyne.NewPos(0, 4)}
}

// Tapped keeps a tap on the frame from being one elsewhere.
func (f *frame) Tapped(*fyne.PointEvent) {}

// CreateRenderer is Fyne's.
func (f *frame) CreateRenderer() fyne.WidgetRenderer {
	return &frameRenderer{WidgetRenderer: widget.NewSimpleRenderer(container.NewStack(f.ground, f.content)), frame: f}
}

type frameRenderer struct {
	fyne.WidgetRenderer
	frame *frame
}

// Refresh follows the theme.
func (r *frameRenderer) Refresh() {
	r.frame.paint()
	r.WidgetRenderer.Refresh()
}
