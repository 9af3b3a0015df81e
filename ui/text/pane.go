package text

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"

	"steward/ui/theme"
)

const (
	barWidth = 2 * theme.Step
	minThumb = 6 * theme.Step
	wheel    = 1.0 // of what the driver reports
)

var (
	_ fyne.Widget     = (*Pane)(nil)
	_ fyne.Scrollable = (*Pane)(nil)
)

// Pane shows blocks of any length in a frame of a given size, with a scroll bar of its own. Lines of a NoWrap block are
// made only when they are seen, so opening costs one pass over the text.
type Pane struct {
	widget.BaseWidget

	// OnBeyond gets the wheel when the pane is already at its end, so a list around it goes on.
	OnBeyond func(*fyne.ScrollEvent)

	view  *View
	thumb *thumb
	least fyne.Size
}

// NewPane makes a pane with nothing in it.
func NewPane(words Words) *Pane {
	p := &Pane{view: NewView(words), least: fyne.NewSize(narrow, 4*theme.TextSize)}
	p.view.scrolled = true
	p.view.reveal = p.reveal
	p.view.OnKey = p.key
	p.thumb = &thumb{pane: p}
	p.thumb.ExtendBaseWidget(p.thumb)
	p.ExtendBaseWidget(p)
	return p
}

// View is what the pane shows: for its callbacks, its selection and its text.
func (p *Pane) View() *View { return p.view }

// SetBlocks shows blocks from their top.
func (p *Pane) SetBlocks(blocks []*Block) {
	p.view.left, p.view.top = 0, 0
	p.view.SetBlocks(blocks)
	p.fit(p.Size())
}

// Replace shows blocks and stays where the pane is scrolled to: the same text with other colours, or more of it.
func (p *Pane) Replace(blocks []*Block) {
	p.view.SetBlocks(blocks)
	p.fit(p.Size())
}

// SetLeast sets the least size.
func (p *Pane) SetLeast(s fyne.Size) { p.least = s }

// Top is how far the pane is scrolled, in pixels from the top of the text.
func (p *Pane) Top() float64 { return p.view.top }

// Height is that of the whole text.
func (p *Pane) Height() float64 { return p.view.height }

// ScrollTo puts the text at left and top, as far as it reaches.
func (p *Pane) ScrollTo(left float32, top float64) {
	v := p.view
	v.left = max(min(left, v.reach()-v.Size().Width+4*theme.Step), 0)
	v.top = max(min(top, v.height-float64(v.Size().Height)), 0)
	v.mark()
	p.thumb.place()
}

// ScrollToLine brings a line of the source, from 0, into sight.
func (p *Pane) ScrollToLine(n int) {
	for _, para := range p.view.paras {
		if n >= len(para.hard) {
			n -= len(para.hard)
			continue
		}
		i := para.lineWith(para.hard[max(n, 0)].start)
		if i < len(para.lines) {
			p.ScrollTo(0, para.y+para.lineTop(i)-float64(p.view.Size().Height)/3)
		}
		return
	}
}

// reach is how wide the lines drawn until now are.
func (v *View) reach() float32 {
	var widest float32
	for _, p := range v.paras {
		widest = max(widest, p.left+p.widest)
	}
	return widest
}

// Scrolled is Fyne's.
func (p *Pane) Scrolled(ev *fyne.ScrollEvent) {
	left, top := p.view.left, p.view.top
	p.ScrollTo(left-ev.Scrolled.DX*wheel, top-float64(ev.Scrolled.DY*wheel))
	if left == p.view.left && top == p.view.top && p.OnBeyond != nil {
		p.OnBeyond(ev)
	}
}

func (p *Pane) key(ev *fyne.KeyEvent) {
	page := float64(p.Size().Height) * 0.9
	v := p.view
	switch ev.Name {
	case fyne.KeyPageDown:
		p.ScrollTo(v.left, v.top+page)
	case fyne.KeyPageUp:
		p.ScrollTo(v.left, v.top-page)
	case fyne.KeyHome:
		p.ScrollTo(0, 0)
	case fyne.KeyEnd:
		p.ScrollTo(0, v.height)
	case fyne.KeyDown:
		p.ScrollTo(v.left, v.top+float64(theme.TextSize*leading))
	case fyne.KeyUp:
		p.ScrollTo(v.left, v.top-float64(theme.TextSize*leading))
	case fyne.KeyRight:
		p.ScrollTo(v.left+10*theme.Step, v.top)
	case fyne.KeyLeft:
		p.ScrollTo(v.left-10*theme.Step, v.top)
	}
}

// reveal scrolls as little as brings a place into sight.
func (p *Pane) reveal(at place) {
	v := p.view
	para := v.paras[at.para]
	if len(para.lines) == 0 {
		return
	}
	n := para.lineWith(at.offset)
	y, x := para.y+para.lineTop(n), para.left+para.xAt(&para.lines[n], at.offset)
	left, top := v.left, v.top
	if y < top {
		top = y
	} else if bottom := y + float64(para.lineHeight); bottom > top+float64(v.Size().Height) {
		top = bottom - float64(v.Size().Height)
	}
	if x < left {
		left = x
	} else if x > left+v.Size().Width {
		left = x - v.Size().Width + 4*theme.Step
	}
	if left != v.left || top != v.top {
		p.ScrollTo(left, top)
	}
}

func (p *Pane) fit(s fyne.Size) {
	if s.Width <= narrow {
		return
	}
	v := p.view
	v.Resize(fyne.NewSize(s.Width-barWidth, s.Height))
	if v.width != s.Width-barWidth {
		v.arrange(s.Width - barWidth)
	}
	p.ScrollTo(v.left, v.top)
}

// MinSize is Fyne's.
func (p *Pane) MinSize() fyne.Size { return p.least }

// CreateRenderer is Fyne's.
func (p *Pane) CreateRenderer() fyne.WidgetRenderer {
	return &paneRenderer{p, []fyne.CanvasObject{p.view, p.thumb}}
}

type paneRenderer struct {
	p       *Pane
	objects []fyne.CanvasObject
}

// IsClip has Fyne cut off what reaches beyond the pane.
func (r *paneRenderer) IsClip() {}

func (r *paneRenderer) Layout(s fyne.Size)           { r.p.fit(s) }
func (r *paneRenderer) MinSize() fyne.Size           { return r.p.least }
func (r *paneRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *paneRenderer) Destroy()                     {}
func (r *paneRenderer) Refresh() {
	r.p.view.Refresh()
	r.p.thumb.Refresh()
}

// thumb is the handle of the scroll bar.
type thumb struct {
	widget.BaseWidget
	pane *Pane
	box  *canvas.Rectangle
}

func (t *thumb) CreateRenderer() fyne.WidgetRenderer {
	t.box = canvas.NewRectangle(theme.Color(theme.Line))
	t.box.CornerRadius = barWidth / 2
	return widget.NewSimpleRenderer(t.box)
}

func (t *thumb) Refresh() {
	if t.box != nil {
		t.box.FillColor = theme.Color(theme.Line)
	}
	t.BaseWidget.Refresh()
}

func (t *thumb) place() {
	p := t.pane
	seen, all := float64(p.Size().Height), p.view.height
	if all <= seen || seen < float64(minThumb) {
		t.Hide()
		return
	}
	t.Show()
	length := max(seen*seen/all, float64(minThumb))
	y := (seen - length) * p.view.top / (all - seen)
	t.Move(fyne.NewPos(p.Size().Width-barWidth, float32(y)))
	t.Resize(fyne.NewSize(barWidth, float32(length)))
}

// Dragged is Fyne's.
func (t *thumb) Dragged(ev *fyne.DragEvent) {
	p := t.pane
	room := float64(p.Size().Height - t.Size().Height)
	if room <= 0 {
		return
	}
	p.ScrollTo(p.view.left, p.view.top+float64(ev.Dragged.DY)*(p.view.height-float64(p.Size().Height))/room)
}

// DragEnd is Fyne's.
func (t *thumb) DragEnd() {}
