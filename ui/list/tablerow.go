package list

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"
	"github.com/rivo/uniseg"

	"steward/ui/theme"
)

// tableRow shows one row of a table at a time.
type tableRow struct {
	widget.BaseWidget
	table  *Table
	loaded bool
	cells  []Cell
	texts  []*canvas.Text
	bars   []*canvas.Rectangle // in place of the texts while the row is being fetched
	line   *canvas.Rectangle
}

func newTableRow(t *Table, i int) *tableRow {
	r := &tableRow{table: t, line: canvas.NewRectangle(nil)}
	for range t.columns {
		r.texts = append(r.texts, canvas.NewText("", nil))
		bar := canvas.NewRectangle(nil)
		bar.CornerRadius = 4
		r.bars = append(r.bars, bar)
	}
	r.ExtendBaseWidget(r)
	r.show(i)
	return r
}

func (r *tableRow) show(i int) {
	r.cells, r.loaded = r.table.source.Row(i)
	r.layout()
}

func (r *tableRow) layout() {
	size := r.Size()
	r.line.FillColor = theme.Color(theme.Line)
	r.line.Move(fyne.NewPos(-r.Position().X, size.Height-1))
	r.line.Resize(fyne.NewSize(size.Width, 1))
	x := -r.table.shift
	for i, w := range r.table.widths {
		text, bar := r.texts[i], r.bars[i]
		text.Hidden, bar.Hidden = !r.loaded, r.loaded
		// A cell out of sight costs nothing.
		if seen := x+w > 0 && x < size.Width; !seen {
			text.Hidden, bar.Hidden = true, true
		} else if r.loaded {
			r.write(i, w)
			putText(text, x, w, size.Height-1, r.table.columns[i].Right)
		} else {
			bar.FillColor = theme.Color(theme.Line)
			bar.Resize(fyne.NewSize(max(8, (w-2*cellPadding)*0.6), 8))
			bar.Move(fyne.NewPos(x+cellPadding, (size.Height-9)/2))
		}
		x += w
	}
}

// write puts a cell's text into its object, and has it drawn anew only if it is another one.
func (r *tableRow) write(i int, width float32) {
	var c Cell
	if i < len(r.cells) {
		c = r.cells[i]
	}
	if c.Color == "" {
		c.Color = theme.Text
	}
	style := fyne.TextStyle{Bold: c.Bold, Monospace: r.table.columns[i].Mono}
	size := theme.TextSize - 1
	if style.Monospace {
		size = theme.MonoSize - 1
	}
	text := r.texts[i]
	shown, color := fit(c.Text, size, style, width-2*cellPadding), theme.Color(c.Color)
	if text.Text == shown && text.Color == color && text.TextStyle == style && text.TextSize == size {
		return
	}
	text.Text, text.Color, text.TextStyle, text.TextSize = shown, color, style, size
	canvas.Refresh(text)
}

func putText(text *canvas.Text, x, width, height float32, right bool) {
	size := text.MinSize()
	at := x + cellPadding
	if right {
		at = x + width - cellPadding - size.Width
	}
	text.Resize(size)
	text.Move(fyne.NewPos(at, (height-size.Height)/2))
}

// MinSize is Fyne's.
func (r *tableRow) MinSize() fyne.Size { return fyne.NewSize(narrowest, rowHeight) }

// CreateRenderer is Fyne's.
func (r *tableRow) CreateRenderer() fyne.WidgetRenderer {
	objects := []fyne.CanvasObject{r.line}
	for i := range r.texts {
		objects = append(objects, r.texts[i], r.bars[i])
	}
	return &tableRowRenderer{row: r, objects: objects}
}

type tableRowRenderer struct {
	row     *tableRow
	objects []fyne.CanvasObject
}

func (r *tableRowRenderer) Destroy()                     {}
func (r *tableRowRenderer) MinSize() fyne.Size           { return r.row.MinSize() }
func (r *tableRowRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *tableRowRenderer) Layout(fyne.Size)             { r.row.layout() }

func (r *tableRowRenderer) Refresh() {
	r.row.layout()
	canvas.Refresh(r.row.line)
}

// How much of a cell's text is ever looked at.
const (
	longestCell = 400  // characters
	cellBytes   = 4096 // one character can be made of any number of code points
)

// fit is the first line of text, cut to a width with an ellipsis. Characters made of several code points stay whole.
func fit(text string, size float32, style fyne.TextStyle, width float32) string {
	if width <= 0 {
		return ""
	}
	cut := len(text) > cellBytes
	if cut {
		text = strings.ToValidUTF8(text[:cellBytes], "")
	}
	if at := strings.IndexAny(text, "\r\n"); at >= 0 {
		text, cut = text[:at], true
	}
	text = strings.ReplaceAll(text, "\t", " ")
	var ends []int // where characters end, in bytes
	for rest, state, at := text, -1, 0; rest != "" && len(ends) <= longestCell; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		at += len(cluster)
		ends = append(ends, at)
		cut = cut || (len(ends) > longestCell && rest != "")
	}
	measure := func(s string) float32 { return fyne.MeasureText(s, size, style).Width }
	n := min(len(ends), longestCell)
	if n == 0 {
		return ""
	}
	whole := measure(text[:ends[n-1]])
	if !cut && whole <= width {
		return text[:ends[n-1]]
	}
	// A good first guess spares measuring: every new string costs tens of microseconds.
	keep := min(n, int(float32(n)*width/max(whole, 1))+1)
	for ; keep > 0; keep-- {
		if s := text[:ends[keep-1]] + "…"; measure(s) <= width {
			break
		}
	}
	for keep < n && keep > 0 && measure(text[:ends[keep]]+"…") <= width {
		keep++
	}
	if keep == 0 {
		return "…"
	}
	return text[:ends[keep-1]] + "…"
}
