package servers

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
)

// page scrolls a column whose height follows its width.
type page struct {
	*fyne.Container
	body   *fyne.Container
	scroll *container.Scroll
	tall   *tall
}

type tall struct {
	width float32
	page  *page
}

// MinSize is Fyne's.
func (t *tall) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(0, heightOf(o[0], t.width))
}

// Layout is Fyne's.
func (t *tall) Layout(o []fyne.CanvasObject, s fyne.Size) { o[0].Resize(s) }

type pageLayout struct{ p *page }

// MinSize is Fyne's.
func (pageLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(80, 40) }

// Layout is Fyne's.
func (l pageLayout) Layout(_ []fyne.CanvasObject, s fyne.Size) {
	l.p.tall.width = s.Width
	l.p.scroll.Resize(s)
	l.p.scroll.Refresh()
}

func newPage(objects ...fyne.CanvasObject) *page {
	p := &page{body: column(3*step, objects...)}
	p.tall = &tall{page: p}
	p.scroll = container.NewVScroll(container.New(p.tall, padded(5*step, 3*step, p.body)))
	p.Container = container.New(pageLayout{p}, p.scroll)
	return p
}

func (p *page) set(objects ...fyne.CanvasObject) {
	p.body.Objects = objects
	p.changed()
}

// changed lays the page out again after something in it got another height.
func (p *page) changed() {
	p.body.Refresh()
	p.scroll.Content.Refresh()
	p.scroll.Refresh()
}

// reveal scrolls to an object, if it stands on the page and out of sight. Whether it stands there shows in its moving
// along.
func (p *page) reveal(o fyne.CanvasObject) {
	d := fyne.CurrentApp().Driver()
	room := p.scroll.Content.Size().Height - p.scroll.Size().Height
	if room <= 0 || p.scroll.Size().Height <= 0 {
		return
	}
	was := p.scroll.Offset.Y
	before := d.AbsolutePositionForObject(o)
	by := float32(1)
	if was+by > room {
		by = -1
	}
	p.scrollTo(was + by)
	moved := before.Y - d.AbsolutePositionForObject(o).Y
	p.scrollTo(was)
	if moved == 0 {
		return
	}
	y := before.Y - d.AbsolutePositionForObject(p.scroll).Y
	bottom := y + min(o.Size().Height, p.scroll.Size().Height-2*step)
	switch {
	case y < step:
		p.scrollTo(was + y - 2*step)
	case bottom > p.scroll.Size().Height-step:
		p.scrollTo(was + bottom - p.scroll.Size().Height + 2*step)
	}
}

// turn goes on by most of what is seen.
func (p *page) turn(by float32) { p.scrollTo(p.scroll.Offset.Y + by*p.scroll.Size().Height*0.85) }

func (p *page) scrollTo(y float32) {
	room := p.scroll.Content.Size().Height - p.scroll.Size().Height
	p.scroll.ScrollToOffset(fyne.NewPos(0, min(max(y, 0), max(room, 0))))
}
