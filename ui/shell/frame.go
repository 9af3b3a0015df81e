package shell

import (
	"fmt"
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"steward/ui/text"
	"steward/ui/theme"
)

const (
	sideWidth   float32 = 248
	iconsWidth  float32 = 56
	wideEnough  float32 = 900 // narrower windows show the side bar as icons
	leastWidth  float32 = 560
	leastHeight float32 = 400
	mostSide    float32 = 16000
)

var startSize = fyne.NewSize(1280, 800)

// frame is the window's content: the side bar, a rule, and the place under its banner.
type frame struct {
	widget.BaseWidget
	side   *sideBar
	banner *banner
	body   *fyne.Container
	icons  bool // the person wants the side bar as icons

	ground, sideGround, rule *canvas.Rectangle
	size                     fyne.Size
}

func newFrame(side *sideBar, b *banner) *frame {
	f := &frame{side: side, banner: b, body: container.NewStack()}
	f.ground, f.sideGround, f.rule = canvas.NewRectangle(color.Transparent), canvas.NewRectangle(color.Transparent), canvas.NewRectangle(color.Transparent)
	f.ExtendBaseWidget(f)
	f.paint()
	return f
}

func (f *frame) paint() {
	f.ground.FillColor = theme.Color(theme.Ground)
	f.sideGround.FillColor = theme.Color(theme.Side)
	f.rule.FillColor = theme.Color(theme.Line)
}

// show puts a place into the frame.
func (f *frame) show(content fyne.CanvasObject) {
	f.body.Objects = []fyne.CanvasObject{content}
	f.body.Refresh()
}

// remembered is the window's size for the next start.
func (f *frame) remembered() string {
	if f.size.IsZero() {
		return ""
	}
	return fmt.Sprintf("%.0fx%.0f", f.size.Width, f.size.Height)
}

// parseSize reads a remembered size; what makes no sense is the usual size.
func parseSize(s string) fyne.Size {
	var size fyne.Size
	if n, err := fmt.Sscanf(s, "%fx%f", &size.Width, &size.Height); n != 2 || err != nil ||
		!(size.Width >= leastWidth && size.Width <= mostSide && size.Height >= leastHeight && size.Height <= mostSide) {
		return startSize
	}
	return size
}

// CreateRenderer is Fyne's.
func (f *frame) CreateRenderer() fyne.WidgetRenderer { return &frameRenderer{f} }

type frameRenderer struct{ f *frame }

func (r *frameRenderer) Destroy() {}

func (r *frameRenderer) MinSize() fyne.Size { return fyne.NewSize(leastWidth, leastHeight) }

func (r *frameRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.f.ground, r.f.sideGround, r.f.side, r.f.rule, r.f.body, r.f.banner}
}

func (r *frameRenderer) Refresh() {
	r.f.paint()
	r.Layout(r.f.Size())
	canvas.Refresh(r.f)
}

func (r *frameRenderer) Layout(size fyne.Size) {
	f := r.f
	f.size = size
	width := sideWidth
	narrow := f.icons || size.Width < wideEnough
	if narrow {
		width = iconsWidth
	}
	f.side.setNarrow(narrow)
	f.ground.Resize(size)
	f.sideGround.Resize(fyne.NewSize(width, size.Height))
	f.side.Resize(fyne.NewSize(width-1, size.Height))
	f.rule.Resize(fyne.NewSize(1, size.Height))
	f.rule.Move(fyne.NewPos(width-1, 0))
	top := float32(0)
	if f.banner.Visible() {
		top = f.banner.MinSize().Height
		f.banner.Move(fyne.NewPos(width, 0))
		f.banner.Resize(fyne.NewSize(size.Width-width, top))
	}
	f.body.Move(fyne.NewPos(width, top))
	f.body.Resize(fyne.NewSize(size.Width-width, size.Height-top))
}

// page is a sentence in the middle of an otherwise empty window.
func page(sentence string) fyne.CanvasObject {
	ground := canvas.NewRectangle(theme.Color(theme.Ground))
	return container.NewStack(ground, container.NewCenter(text.NewLabel(sentence, text.Run{Color: theme.Dim}, text.Whole)))
}
