package list

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"steward/ui/theme"
)

// Column is a column of a table.
type Column struct {
	Title string
	Width float32 // of the column, or the least width where Flex is set
	Flex  float32 // its share of the width that is left over; 0 for a column of fixed width
	Right bool    // texts end at the right side
	Mono  bool
}

// Cell is one cell. Its text is drawn as it is, cut to one line: whoever makes it has made it safe to show.
type Cell struct {
	Text  string
	Color fyne.ThemeColorName // theme.Text if empty
	Bold  bool
}

// TableSource is what a table shows.
type TableSource struct {
	Len func() int
	// Row is the cells of row i. loaded is false while it is being fetched: a grey bar stands for each cell until
	// Table.Changed says that it is there.
	Row func(i int) (cells []Cell, loaded bool)
}

const (
	headHeight  = 30
	rowHeight   = 31
	cellPadding = 10
	narrowColum = 32
	handleReach = 5 // of the border between two columns, to each side
)

// Table is a list of equally high rows with a head and columns. It scrolls horizontally when its columns need more
// width than there is. The person may change the width of a column by dragging its right border in the head.
type Table struct {
	widget.BaseWidget

	// List holds the rows: choice, scrolling and what is visible are its.
	List *List

	// OnHead is a tap on a column's head.
	OnHead func(column int)

	columns []Column
	source  TableSource
	head    *tableHead
	widths  []float32
	wide    float32 // all widths together
	shift   float32 // how far the columns are scrolled to the left
	size    fyne.Size
}

// NewTable makes a table.
func NewTable(columns []Column, source TableSource) *Table {
	t := &Table{columns: append([]Column(nil), columns...), source: source}
	t.List = NewEqual(Source{
		Len:   source.Len,
		Build: func(i int) fyne.CanvasObject { return newTableRow(t, i) },
		Update: func(object fyne.CanvasObject, i int) bool {
			object.(*tableRow).show(i)
			return true
		},
	}, rowHeight)
	t.List.Selectable, t.List.beside = true, gutter // the marks end where the rows' lines do
	t.List.OnSideways = func(_ fyne.Position, dx float32) bool {
		t.shiftBy(-dx)
		return true
	}
	t.head = newTableHead(t)
	t.ExtendBaseWidget(t)
	return t
}

// Changed says that count rows from row from on are there now, or show something else.
func (t *Table) Changed(from, count int) {
	l := t.List
	for _, b := range l.rows.built {
		if b.index >= from && b.index < from+count {
			b.stale = true
		}
	}
	l.arrange()
}

// Reset says that all rows may be other ones; the table goes to its top.
func (t *Table) Reset() { t.List.Reset() }

// SetTitle changes a column's head, to show how the table is sorted.
func (t *Table) SetTitle(column int, title string) {
	t.columns[column].Title = title
	t.head.layout()
}

func (t *Table) layout(size fyne.Size) {
	t.size = size
	t.share()
	t.head.Move(fyne.NewPos(0, 0))
	t.head.Resize(fyne.NewSize(size.Width, headHeight))
	t.List.Move(fyne.NewPos(0, headHeight))
	t.List.Resize(fyne.NewSize(size.Width, max(0, size.Height-headHeight)))
	t.columnsMoved()
}

// share gives every column its width.
func (t *Table) share() {
	left, shares := t.size.Width-gutter, float32(0)
	for _, c := range t.columns {
		left -= c.Width
		shares += c.Flex
	}
	t.widths, t.wide = t.widths[:0], 0
	for _, c := range t.columns {
		w := max(c.Width, narrowColum)
		if c.Flex > 0 && left > 0 {
			w += left * c.Flex / shares
		}
		t.widths = append(t.widths, w)
		t.wide += w
	}
	t.shift = min(max(t.shift, 0), max(0, t.wide-(t.size.Width-gutter)))
}

// shiftBy scrolls the columns.
func (t *Table) shiftBy(dx float32) {
	before := t.shift
	t.shift += dx
	t.share()
	if t.shift != before {
		t.columnsMoved()
	}
}

func (t *Table) columnsMoved() {
	t.head.layout()
	for _, b := range t.List.rows.built {
		b.object.(*tableRow).layout()
	}
}

// SetWidth changes a column's least width, where what it shows has become longer.
func (t *Table) SetWidth(column int, width float32) {
	if t.columns[column].Width == width {
		return
	}
	t.columns[column].Width = width
	t.share()
	t.columnsMoved()
}

// resizeColumn gives a column a fixed width.
func (t *Table) resizeColumn(column int, width float32) {
	t.columns[column].Width, t.columns[column].Flex = max(width, narrowColum), 0
	t.share()
	t.columnsMoved()
}

// MinSize lets the table be as small as its surroundings want.
func (t *Table) MinSize() fyne.Size { return fyne.NewSize(narrowest, headHeight+2*rowHeight) }

// CreateRenderer is Fyne's.
func (t *Table) CreateRenderer() fyne.WidgetRenderer {
	return &tableRenderer{table: t, objects: []fyne.CanvasObject{t.head, t.List}}
}

type tableRenderer struct {
	table   *Table
	objects []fyne.CanvasObject
}

func (r *tableRenderer) Destroy()                     {}
func (r *tableRenderer) MinSize() fyne.Size           { return r.table.MinSize() }
func (r *tableRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *tableRenderer) Layout(size fyne.Size)        { r.table.layout(size) }

func (r *tableRenderer) Refresh() {
	for _, o := range r.objects {
		o.Refresh()
	}
}

// tableHead shows the titles.
type tableHead struct {
	widget.BaseWidget
	table  *Table
	titles []*canvas.Text
	line   *canvas.Rectangle
	field  *fyne.Container
	clip   *container.Clip

	pulled int // the column whose border is dragged, -1 for none
	grab   float32
	over   bool // a border
}

var (
	_ fyne.Draggable     = (*tableHead)(nil)
	_ fyne.Tappable      = (*tableHead)(nil)
	_ desktop.Cursorable = (*tableHead)(nil)
	_ desktop.Hoverable  = (*tableHead)(nil)
)

func newTableHead(t *Table) *tableHead {
	h := &tableHead{table: t, pulled: -1, line: canvas.NewRectangle(nil)}
	h.field = container.New(freeLayout{})
	for range t.columns {
		text := canvas.NewText("", nil)
		h.titles = append(h.titles, text)
		h.field.Objects = append(h.field.Objects, text)
	}
	h.clip = container.NewClip(h.field)
	h.ExtendBaseWidget(h)
	h.recolor()
	return h
}

// freeLayout leaves its objects where they are.
type freeLayout struct{}

func (freeLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.Size{} }
func (freeLayout) Layout([]fyne.CanvasObject, fyne.Size) {}

func (h *tableHead) recolor() {
	h.line.FillColor = theme.Color(theme.Line)
	for _, text := range h.titles {
		text.Color, text.TextSize = theme.Color(theme.Dim), theme.CaptionSize
	}
}

func (h *tableHead) layout() {
	t := h.table
	size := h.Size()
	h.clip.Resize(fyne.NewSize(size.Width, size.Height-1))
	h.line.Move(fyne.NewPos(0, size.Height-1))
	h.line.Resize(fyne.NewSize(size.Width, 1))
	x := -t.shift
	for i, w := range t.widths {
		h.titles[i].Text = fit(t.columns[i].Title, theme.CaptionSize, fyne.TextStyle{}, w-2*cellPadding)
		putText(h.titles[i], x, w, size.Height-1, t.columns[i].Right)
		x += w
	}
	canvas.Refresh(h.line)
}

// border is the column whose right border is at x, -1 for none.
func (h *tableHead) border(x float32) int {
	edge := -h.table.shift
	for i, w := range h.table.widths {
		if edge += w; x >= edge-handleReach && x <= edge+handleReach {
			return i
		}
	}
	return -1
}

// Tapped tells OnHead.
func (h *tableHead) Tapped(event *fyne.PointEvent) {
	edge := -h.table.shift
	for i, w := range h.table.widths {
		if event.Position.X >= edge && event.Position.X < edge+w && h.table.OnHead != nil && h.border(event.Position.X) < 0 {
			h.table.OnHead(i)
			return
		}
		edge += w
	}
}

// Dragged changes the width of the column whose border is held.
func (h *tableHead) Dragged(event *fyne.DragEvent) {
	if h.pulled < 0 {
		from := event.Position.X - event.Dragged.DX
		if h.pulled = h.border(from); h.pulled < 0 {
			return
		}
		h.grab = h.table.widths[h.pulled] - from
	}
	h.table.resizeColumn(h.pulled, event.Position.X+h.grab)
}

// DragEnd lets go of the border.
func (h *tableHead) DragEnd() { h.pulled = -1 }

// Cursor shows where a border can be held.
func (h *tableHead) Cursor() desktop.Cursor {
	if h.over || h.pulled >= 0 {
		return desktop.HResizeCursor
	}
	return desktop.DefaultCursor
}

// MouseIn looks for a border.
func (h *tableHead) MouseIn(event *desktop.MouseEvent) { h.MouseMoved(event) }

// MouseMoved looks for a border.
func (h *tableHead) MouseMoved(event *desktop.MouseEvent) { h.over = h.border(event.Position.X) >= 0 }

// MouseOut forgets it.
func (h *tableHead) MouseOut() { h.over = false }

// MinSize is Fyne's.
func (h *tableHead) MinSize() fyne.Size { return fyne.NewSize(narrowest, headHeight) }

// CreateRenderer is Fyne's.
func (h *tableHead) CreateRenderer() fyne.WidgetRenderer {
	return &headRenderer{head: h, objects: []fyne.CanvasObject{h.clip, h.line}}
}

type headRenderer struct {
	head    *tableHead
	objects []fyne.CanvasObject
}

func (r *headRenderer) Destroy()                     {}
func (r *headRenderer) MinSize() fyne.Size           { return r.head.MinSize() }
func (r *headRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *headRenderer) Layout(fyne.Size)             { r.head.layout() }

func (r *headRenderer) Refresh() {
	r.head.recolor()
	for _, text := range r.head.titles {
		canvas.Refresh(text)
	}
	r.head.layout()
}
