package form

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"steward/ui/theme"
)

// optionRow is one choice: a mark (round for one of several, square for any number) and its text.
type optionRow struct {
	widget.BaseWidget
	options *options
	index   int

	ground *canvas.Rectangle // shows the focus
	frame  *canvas.Rectangle
	dot    *canvas.Rectangle // there when chosen
	text   fyne.CanvasObject
}

func newOptionRow(o *options, i int) *optionRow {
	r := &optionRow{options: o, index: i,
		ground: canvas.NewRectangle(nil), frame: canvas.NewRectangle(nil), dot: canvas.NewRectangle(nil),
		text: o.texts(o.title(i), Answer),
	}
	r.ExtendBaseWidget(r)
	r.mark()
	return r
}

const (
	markSize = 16
	dotSize  = 8
	textFrom = 8 + markSize + 8
)

func (r *optionRow) mark() {
	o := r.options
	r.ground.CornerRadius = theme.Radius / 2
	r.ground.StrokeWidth, r.ground.StrokeColor = 0, theme.Color(theme.Accent)
	r.ground.FillColor = theme.Color(theme.Clear)
	if o.focused && o.cursor == r.index {
		r.ground.StrokeWidth = 1
	}
	r.frame.StrokeWidth, r.frame.StrokeColor, r.frame.FillColor = 1.5, theme.Color(theme.Dim), theme.Color(theme.Card)
	r.frame.CornerRadius, r.dot.CornerRadius = markSize/2, dotSize/2
	if o.many {
		r.frame.CornerRadius, r.dot.CornerRadius = 4, 2
	}
	r.dot.FillColor = theme.Color(theme.Accent)
	r.dot.Hidden = !o.chosen[r.index]
	if o.chosen[r.index] {
		r.frame.StrokeColor = theme.Color(theme.Accent)
	}
	canvas.Refresh(r.ground)
	canvas.Refresh(r.frame)
	canvas.Refresh(r.dot)
}

// Cursor shows that a tap does something.
func (r *optionRow) Cursor() desktop.Cursor { return desktop.PointerCursor }

// HeightFor is the height needed at a width.
func (r *optionRow) HeightFor(width float32) float32 {
	return max(28, heightFor(r.text, max(1, width-textFrom-4))+8)
}

// MinSize is Fyne's.
func (r *optionRow) MinSize() fyne.Size { return fyne.NewSize(narrowest/2, 28) }

// CreateRenderer is Fyne's.
func (r *optionRow) CreateRenderer() fyne.WidgetRenderer {
	return &optionRowRenderer{row: r, objects: []fyne.CanvasObject{r.ground, r.frame, r.dot, r.text}}
}

type optionRowRenderer struct {
	row     *optionRow
	objects []fyne.CanvasObject
}

func (r *optionRowRenderer) Destroy()                     {}
func (r *optionRowRenderer) MinSize() fyne.Size           { return r.row.MinSize() }
func (r *optionRowRenderer) Objects() []fyne.CanvasObject { return r.objects }

func (r *optionRowRenderer) Layout(size fyne.Size) {
	row := r.row
	row.ground.Resize(size)
	const top = (28 - markSize) / 2
	row.frame.Move(fyne.NewPos(8, top))
	row.frame.Resize(fyne.NewSize(markSize, markSize))
	row.dot.Move(fyne.NewPos(8+(markSize-dotSize)/2, top+(markSize-dotSize)/2))
	row.dot.Resize(fyne.NewSize(dotSize, dotSize))
	width := max(1, size.Width-textFrom-4)
	h := heightFor(row.text, width)
	row.text.Resize(fyne.NewSize(width, h))
	row.text.Move(fyne.NewPos(textFrom, (max(28, h+8)-h)/2))
}

func (r *optionRowRenderer) Refresh() {
	r.row.mark()
	r.row.text.Refresh()
}
