package list

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	fynetheme "fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"steward/ui/theme"
)

const (
	thumbShortest = 28
	thumbThin     = 4
	thumbThick    = 8
)

// bar is a list's scroll bar: the thumb is dragged, a click beside it turns a page.
type bar struct {
	widget.BaseWidget
	list  *List
	thumb *canvas.Rectangle

	hovered, dragging bool
	grab              float32 // where in the thumb it is held
}

var (
	_ fyne.Draggable    = (*bar)(nil)
	_ fyne.Tappable     = (*bar)(nil)
	_ desktop.Hoverable = (*bar)(nil)
)

func newBar(l *List) *bar {
	b := &bar{list: l, thumb: canvas.NewRectangle(nil)}
	b.thumb.Hide()
	b.ExtendBaseWidget(b)
	return b
}

// span is where the thumb is and how long, and how far it can go.
func (b *bar) span() (top, length, travel float32) {
	offset, total, view := b.list.Offset()
	track := b.Size().Height
	if total <= view || track <= 0 {
		return 0, 0, 0
	}
	length = min(track, max(thumbShortest, float32(float64(track)*view/total)))
	travel = track - length
	return float32(float64(travel) * offset / (total - view)), length, travel
}

func (b *bar) update() {
	top, length, _ := b.span()
	if length == 0 {
		if b.thumb.Visible() {
			b.thumb.Hide()
		}
		return
	}
	thick := float32(thumbThin)
	if b.hovered || b.dragging {
		thick = thumbThick
	}
	b.thumb.CornerRadius = thick / 2
	b.thumb.Resize(fyne.NewSize(thick, length))
	b.thumb.Move(fyne.NewPos(b.Size().Width-thick-1, top))
	if !b.thumb.Visible() {
		b.thumb.Show()
	}
}

func (b *bar) recolor() {
	b.thumb.FillColor = theme.Color(fynetheme.ColorNameScrollBar)
	canvas.Refresh(b.thumb)
}

// Dragged moves the view so that the thumb stays where it was taken hold of.
func (b *bar) Dragged(event *fyne.DragEvent) {
	top, length, travel := b.span()
	if travel <= 0 {
		return
	}
	if !b.dragging {
		b.dragging = true
		b.grab = event.Position.Y - event.Dragged.DY - top
		if b.grab < 0 || b.grab > length {
			b.grab = length / 2
		}
	}
	part := min(max((event.Position.Y-b.grab)/travel, 0), 1)
	_, total, view := b.list.Offset()
	b.list.scrollTo(float64(part) * (total - view))
}

// DragEnd lets go of the thumb.
func (b *bar) DragEnd() {
	b.dragging = false
	b.update()
}

// Tapped turns a page towards the pointer.
func (b *bar) Tapped(event *fyne.PointEvent) {
	top, length, travel := b.span()
	if travel <= 0 {
		return
	}
	page := max(lineStep, float64(b.list.size.Height)-lineStep)
	switch {
	case event.Position.Y < top:
		b.list.scrollBy(-page)
	case event.Position.Y > top+length:
		b.list.scrollBy(page)
	}
}

// MouseIn makes the thumb easier to hit.
func (b *bar) MouseIn(*desktop.MouseEvent) {
	b.hovered = true
	b.update()
}

// MouseMoved does nothing.
func (b *bar) MouseMoved(*desktop.MouseEvent) {}

// MouseOut makes the thumb thin again.
func (b *bar) MouseOut() {
	b.hovered = false
	b.update()
}

// MinSize is Fyne's.
func (b *bar) MinSize() fyne.Size { return fyne.NewSize(gutter, 0) }

// CreateRenderer is Fyne's.
func (b *bar) CreateRenderer() fyne.WidgetRenderer {
	return &barRenderer{bar: b, objects: []fyne.CanvasObject{b.thumb}}
}

type barRenderer struct {
	bar     *bar
	objects []fyne.CanvasObject
}

func (r *barRenderer) Destroy()                     {}
func (r *barRenderer) MinSize() fyne.Size           { return r.bar.MinSize() }
func (r *barRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *barRenderer) Layout(fyne.Size)             { r.bar.update() }
func (r *barRenderer) Refresh()                     { r.bar.recolor() }
