package chat

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"

	"steward/ui/theme"
)

const (
	headHeight    float32 = 52
	composerWidth float32 = 760
	barWidth      float32 = 10 // of the list's scroll bar, beside which its rows stand in the middle
)

// frame puts the parts of the place where they belong.
type frame struct {
	widget.BaseWidget
	p      *Place
	ground *canvas.Rectangle
	rule   *canvas.Rectangle
}

func newFrame(p *Place) *frame {
	f := &frame{p: p, ground: canvas.NewRectangle(color.Transparent), rule: canvas.NewRectangle(color.Transparent)}
	f.ExtendBaseWidget(f)
	return f
}

// CreateRenderer is Fyne's.
func (f *frame) CreateRenderer() fyne.WidgetRenderer { return &frameRenderer{f} }

type frameRenderer struct{ f *frame }

func (r *frameRenderer) Destroy() {}

func (r *frameRenderer) Objects() []fyne.CanvasObject {
	p := r.f.p
	return []fyne.CanvasObject{r.f.ground, p.head, r.f.rule, p.list, p.empty, p.composer, p.pins, p.fresh, p.finder.bar}
}

func (r *frameRenderer) MinSize() fyne.Size { return fyne.NewSize(320, 200) }

func (r *frameRenderer) Refresh() {
	r.Layout(r.f.Size())
	canvas.Refresh(r.f)
}

func (r *frameRenderer) Layout(s fyne.Size) {
	f, p := r.f, r.f.p
	f.ground.FillColor, f.rule.FillColor = theme.Color(theme.Ground), theme.Color(theme.Line)
	f.ground.Resize(s)
	p.head.Resize(fyne.NewSize(s.Width, headHeight-1))
	f.rule.Move(fyne.NewPos(0, headHeight-1))
	f.rule.Resize(fyne.NewSize(s.Width, 1))
	if s.Width < 100 || s.Height < 150 {
		return
	}
	margin := 4 * theme.Step
	w := min(composerWidth, s.Width-2*margin)
	h := min(p.composer.HeightFor(w), s.Height*0.6)
	top := s.Height - h - margin
	p.composer.Move(fyne.NewPos((s.Width-w-barWidth)/2, top))
	p.composer.Resize(fyne.NewSize(w, h))
	if p.pins.Visible() {
		high := min(p.pins.HeightFor(w), 2*24+1.5*theme.Step)
		top -= high + 2*theme.Step
		p.pins.Move(fyne.NewPos((s.Width-w-barWidth)/2, top))
		p.pins.Resize(fyne.NewSize(w, high))
	}
	side := float32(0)
	if s.Width < columnWidth+2*margin {
		side = margin
	}
	y := headHeight
	find := min(findWidth, s.Width-2*margin)
	p.finder.bar.Resize(fyne.NewSize(find, findHeight))
	p.finder.bar.Move(fyne.NewPos(s.Width-find-margin, y+2*theme.Step))
	if p.finder.open() { // never over what was found
		y += findHeight + 4*theme.Step
	}
	none := len(p.state.rows) == 0
	body := fyne.NewSize(s.Width-2*side, max(top-y-2*theme.Step, 0))
	p.list.Move(fyne.NewPos(side, y))
	p.list.Resize(body)
	p.empty.Move(fyne.NewPos(side, y))
	p.empty.Resize(body.SubtractWidthHeight(barWidth, 0))
	if p.empty.Hidden = !none; none == p.list.Visible() {
		if none {
			p.list.Hide()
		} else {
			p.list.Show() // it did no work while it was hidden
		}
	}
	z := p.fresh.MinSize()
	p.fresh.Move(fyne.NewPos((s.Width-z.Width)/2, top-z.Height-3*theme.Step))
	p.fresh.Resize(z)
}
