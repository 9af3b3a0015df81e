package waiting

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"

	"steward/ui/text"
	"steward/ui/theme"
)

// pill is a few words in a frame.
type pill struct {
	widget.BaseWidget
	frame *canvas.Rectangle
	label *text.Label
}

func newPill(words string) *pill {
	p := &pill{frame: canvas.NewRectangle(color.Transparent), label: text.NewLabel(words, text.Run{Color: theme.Dim}, text.Whole)}
	p.label.SetTextSize(theme.CaptionSize)
	p.frame.StrokeWidth = 1
	p.paint()
	p.ExtendBaseWidget(p)
	return p
}

func (p *pill) paint() { p.frame.StrokeColor = theme.Color(theme.Edge) }

// CreateRenderer is Fyne's.
func (p *pill) CreateRenderer() fyne.WidgetRenderer { return &pillRenderer{p} }

type pillRenderer struct{ p *pill }

func (r *pillRenderer) Destroy() {}
func (r *pillRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.p.frame, r.p.label}
}

func (r *pillRenderer) MinSize() fyne.Size {
	s := r.p.label.MinSize()
	return fyne.NewSize(s.Width+5*theme.Step, s.Height+1.25*theme.Step)
}

func (r *pillRenderer) Layout(size fyne.Size) {
	r.p.frame.CornerRadius = size.Height / 2
	r.p.frame.Resize(size)
	s := r.p.label.MinSize()
	r.p.label.Move(fyne.NewPos(2.5*theme.Step, (size.Height-s.Height)/2))
	r.p.label.Resize(fyne.NewSize(max(0, size.Width-5*theme.Step), s.Height))
}

func (r *pillRenderer) Refresh() {
	r.p.paint()
	r.p.frame.Refresh()
	r.p.label.Refresh()
}
