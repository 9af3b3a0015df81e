package picture

import (
	"context"
	"fmt"
	"image"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"steward/ui/text"
	"steward/ui/theme"
)

const mostHigh float32 = 360 // units of a picture that is shown

// Reader decodes pictures, one at a time, for all the boxes it makes.
type Reader struct {
	do   func(func())
	run  func(func(ctx context.Context))
	busy chan struct{} // holds one
}

// NewReader makes a reader. do runs something on Fyne's goroutine and never blocks; run runs something in the
// background, with a context that ends when nothing more is to be shown.
func NewReader(do func(func()), run func(func(ctx context.Context))) *Reader {
	return &Reader{do: do, run: run, busy: make(chan struct{}, 1)}
}

// alone runs work in the background, one after the other: a decoded picture takes much room. Nothing is done any more
// once nothing is to be shown.
func (r *Reader) alone(work func()) {
	r.run(func(ctx context.Context) {
		select {
		case r.busy <- struct{}{}:
			defer func() { <-r.busy }()
		case <-ctx.Done():
			return
		}
		work()
	})
}

// Box is a picture with what is known of it below, as high as it needs at a width: see HeightFor. Fyne's goroutine.
type Box struct {
	widget.BaseWidget
	about string
	label *text.Label
	read  bool          // it was tried to decode it
	shown *canvas.Image // nil where that has not succeeded
	size  image.Point   // of what is shown, in pixels
	was   image.Point   // of the picture
}

// Box shows the bytes of a picture. About is said of it and safe to show. Changed is told on Fyne's goroutine when the
// picture has come or turned out to be none: the box needs another height then. Data is not changed, and kept no longer
// than it takes. Fyne's goroutine.
func (r *Reader) Box(about string, data []byte, changed func()) *Box {
	b := &Box{about: about, label: text.NewLabel("", text.Run{}, text.Wrap)}
	b.label.SetTextSize(theme.CaptionSize)
	b.say()
	b.ExtendBaseWidget(b)
	r.alone(func() {
		img, was, err := decode(data, mostPixels, keptEdge)
		r.do(func() {
			b.show(img, was, err)
			changed()
		})
	})
	return b
}

func (b *Box) say() { b.label.SetText(b.words(), text.Run{Color: theme.Dim}) }

func (b *Box) words() string {
	switch {
	case !b.read:
		return b.about + " · " + lang.X("common.loading", "Loading…")
	case b.shown == nil:
		return b.about + " · " + lang.X("common.no_picture", "cannot be shown as a picture")
	}
	return fmt.Sprintf("%s · %d × %d", b.about, b.was.X, b.was.Y)
}

func (b *Box) show(img image.Image, was image.Point, err error) {
	if b.read = true; err == nil {
		b.size, b.was = img.Bounds().Size(), was
		b.shown = canvas.NewImageFromImage(img)
		b.shown.FillMode, b.shown.ScaleMode = canvas.ImageFillContain, canvas.ImageScaleSmooth
	}
	b.say()
	b.Refresh()
}

// fit keeps a picture's shape, no wider than there is room and no higher than mostHigh.
func fit(pixels image.Point, width float32) fyne.Size {
	w, h := float32(pixels.X), float32(pixels.Y)
	by := min(1, width/w, mostHigh/h)
	return fyne.NewSize(max(w*by, 1), max(h*by, 1))
}

// HeightFor is the height at a width.
func (b *Box) HeightFor(width float32) float32 {
	h := b.label.HeightFor(width)
	if b.shown != nil {
		h += fit(b.size, width).Height + theme.Step
	}
	return h
}

// CreateRenderer is Fyne's.
func (b *Box) CreateRenderer() fyne.WidgetRenderer { return &boxRenderer{b} }

type boxRenderer struct{ b *Box }

func (r *boxRenderer) Destroy() {}

func (r *boxRenderer) Objects() []fyne.CanvasObject {
	if r.b.shown == nil {
		return []fyne.CanvasObject{r.b.label}
	}
	return []fyne.CanvasObject{r.b.shown, r.b.label}
}

// MinSize is that of the width it has.
func (r *boxRenderer) MinSize() fyne.Size {
	if w := r.b.Size().Width; w > 1 {
		return fyne.NewSize(16, r.b.HeightFor(w))
	}
	return fyne.NewSize(16, 1)
}

func (r *boxRenderer) Refresh() {
	r.Layout(r.b.Size())
	canvas.Refresh(r.b)
}

func (r *boxRenderer) Layout(s fyne.Size) {
	b, y := r.b, float32(0)
	if s.Width < 1 {
		return
	}
	if b.shown != nil {
		z := fit(b.size, s.Width)
		b.shown.Resize(z)
		y = z.Height + theme.Step
	}
	b.label.Move(fyne.NewPos(0, y))
	b.label.Resize(fyne.NewSize(s.Width, b.label.HeightFor(s.Width)))
}
