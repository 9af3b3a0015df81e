package list

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"steward/ui/theme"
)

// Source is what a list shows. The list calls it on Fyne's goroutine and only for rows it is about to show.
type Source struct {
	// Len is the number of rows.
	Len func() int

	// Build makes the object of a row. Its height is what HeightFor says (see [Measured]), else its MinSize after it
	// got the row's width. A row that changes its height by itself calls List.Changed.
	Build func(i int) fyne.CanvasObject

	// Update shows row i's present state in an object that Build made, for the same row or (equal heights) for another.
	// It may report false to have the row built anew. Without Update, changed rows are built anew.
	Update func(object fyne.CanvasObject, i int) bool

	// Released is told when the list lets go of an object for good. Optional.
	Released func(object fyne.CanvasObject)

	// Key is a row's lasting name, by which Reset finds the row at the top and the chosen one again. Optional.
	Key func(i int) string

	// Estimate is a guess at a row's height at a width, asked once when the row comes. Optional: without it the guess
	// is the mean of the rows measured so far. Lists of equal height do not ask.
	Estimate func(i int, width float32) float32
}

// Measured is a row object that knows its height for a width without being laid out at it first.
type Measured interface {
	HeightFor(width float32) float32
}

// Sideways is a row object, or a part of one, that scrolls horizontally. It gets the horizontal part of a wheel's
// movement over it; at is relative to the row. It must not be fyne.Scrollable itself: Fyne would then give it the
// vertical movement too, and the list would stand still under the pointer.
type Sideways interface {
	ScrolledSideways(at fyne.Position, dx float32)
}

// Seen is a row object that keeps a part of it in sight, such as its buttons. It is told where the viewport begins and
// ends, in pixels below its own top, whenever it is placed; from is negative where the row begins within the viewport.
type Seen interface {
	SeenPart(from, to float32)
}

// Place is where a list is scrolled to: a row and how far its top is above the top of the viewport, in pixels.
type Place struct {
	Row   int
	Above float32
	End   bool // at the end, and following it
}

// List is a virtual list. Its exported fields are set before it is first shown. It does no work while it is hidden,
// or narrower than 100 pixels: a window lays its content out at the smallest size first.
type List struct {
	widget.BaseWidget

	// MaxWidth limits the width of rows, which then stand in the middle. 0 is no limit.
	MaxWidth float32

	// Selectable lets rows be chosen by pointer and keys, and marks the one under the pointer. In other lists the keys
	// scroll.
	Selectable bool

	// OpenOnTap makes a tap open the row, not only choose it.
	OpenOnTap bool

	// SelectedColor and HoverColor are the grounds of the chosen row and of the one under the pointer, Inset the
	// distance of those grounds from the list's sides, Radius their corners'.
	SelectedColor, HoverColor fyne.ThemeColorName
	Inset, Radius             float32

	OnSelected  func(i int)                             // another row was chosen by the person
	OnOpened    func(i int)                             // Enter on a row, a second tap on it, or a tap with OpenOnTap
	OnSecondary func(i int, event *fyne.PointEvent)     // the menu button on a row
	OnFollow    func(following bool)                    // following the end began or stopped
	OnBelow     func()                                  // something came or changed below the viewport while not following
	OnScrolled  func()                                  // the place changed
	OnVisible   func(first, last int)                   // other rows are visible now; not called for an empty list
	OnKey       func(i int, event *fyne.KeyEvent) bool  // first look at keys; i is the chosen row or -1; true: done with
	OnSideways  func(at fyne.Position, dx float32) bool // first look at horizontal movement; true: done with

	source Source
	rows   rows
	at     offsets
	equal  bool

	// The place: row pin begins at pinY of the viewport. Where it is followed, the end is the place instead.
	pin  int
	pinY float64

	tail, following bool

	size    fyne.Size
	width   float32 // of rows, at the last arrangement
	offset  float64 // of the viewport, at the last arrangement
	busy    bool
	beside  float32 // kept free by the marks at the right
	visible struct{ first, last int }

	selected, cursor, hovered int
	focused, byPointer        bool
	lastTap                   tapped

	clip                       *container.Clip
	field                      *fyne.Container
	selectedMark, hoverMark    *canvas.Rectangle
	focusRing                  *canvas.Rectangle
	paper                      *canvas.Rectangle // see repaint
	bar                        *bar
	measuredSum, measuredCount float64
}

// New makes a list of rows with different heights; it asks source for its length at once.
func New(source Source) *List {
	return newList(source, &tree{})
}

// NewEqual makes a list whose rows are all height pixels high; any number of rows costs the same.
func NewEqual(source Source, height float32) *List {
	l := newList(source, &equal{h: exact(float64(height))})
	l.equal = true
	return l
}

func newList(source Source, at offsets) *List {
	l := &List{
		source: source, at: at, selected: -1, hovered: -1, cursor: -1,
		SelectedColor: theme.AccentTint, HoverColor: theme.Hover,
	}
	l.visible.first, l.visible.last = -1, -1
	l.rows.init(&l.source)
	l.selectedMark, l.hoverMark = canvas.NewRectangle(nil), canvas.NewRectangle(nil)
	l.focusRing = canvas.NewRectangle(nil)
	l.paper = canvas.NewRectangle(theme.Color(theme.Clear))
	l.paper.Resize(fyne.NewSize(1, 1))
	l.field = container.New(fieldLayout{l})
	l.clip = container.NewClip(l.field)
	l.bar = newBar(l)
	l.ExtendBaseWidget(l)
	l.at.Insert(0, max(0, source.Len()), l.estimate)
	return l
}

// Len is the number of rows that the list knows of.
func (l *List) Len() int { return l.at.Len() }

// Changed says that row i shows something else now, and may have another height.
func (l *List) Changed(i int) {
	if i < 0 || i >= l.at.Len() {
		return
	}
	l.rows.stale(i)
	l.arrange()
	l.tellBelow(i)
}

// Touch calls do with the object of row i if it is built, for small changes that leave its height alone.
func (l *List) Touch(i int, do func(object fyne.CanvasObject)) {
	if b := l.rows.built[i]; b != nil && !b.stale {
		do(b.object)
	}
}

// Inserted says that n rows were put in before what was row i.
func (l *List) Inserted(i, n int) {
	if n <= 0 || i < 0 || i > l.at.Len() {
		return
	}
	l.at.Insert(i, n, l.estimate)
	l.rows.shift(i, n)
	l.selected, l.cursor, l.hovered = shifted(l.selected, i, n), shifted(l.cursor, i, n), shifted(l.hovered, i, n)
	// At the very top the new first row is shown, elsewhere the place is kept.
	if l.pin >= i && !(i == 0 && l.offset <= 0) {
		l.pin += n
	}
	l.arrange()
	l.tellBelow(i + n - 1)
}

// Removed says that the n rows from row i on are gone. A chosen row among them is no longer chosen.
func (l *List) Removed(i, n int) {
	if n <= 0 || i < 0 || i+n > l.at.Len() {
		return
	}
	l.at.Remove(i, n)
	l.rows.drop(i, n)
	l.selected, l.hovered = without(l.selected, i, n), without(l.hovered, i, n)
	if c := without(l.cursor, i, n); c >= 0 || l.cursor < 0 {
		l.cursor = c
	} else {
		l.cursor = min(i, l.at.Len()-1)
	}
	switch {
	case l.pin >= i+n:
		l.pin -= n
	case l.pin >= i:
		l.pin, l.pinY = i, min(l.pinY, 0)
		if l.pin > 0 || l.pinY < 0 {
			l.pinY = 0
		}
	}
	l.arrange()
}

func shifted(row, i, n int) int {
	if row >= i {
		return row + n
	}
	return row
}

func without(row, i, n int) int {
	switch {
	case row >= i+n:
		return row - n
	case row >= i:
		return -1
	}
	return row
}

// Reset says that all rows may be other ones. With Source.Key the row at the top of the viewport and the chosen one
// are found again and the objects of rows that stayed are updated; without it the list starts at the top, unless it
// follows the end.
func (l *List) Reset() {
	top, chosen := l.rows.key(l.pin), l.rows.key(l.selected)
	l.at.Remove(0, l.at.Len())
	n := l.source.Len()
	l.at.Insert(0, n, l.estimate)
	index := map[string]int{}
	if l.source.Key != nil {
		for i := range n {
			index[l.source.Key(i)] = i
		}
	}
	l.rows.rename(index)
	find := func(key string) int {
		if i, ok := index[key]; ok && key != "" {
			return i
		}
		return -1
	}
	l.selected, l.hovered = find(chosen), -1
	l.cursor = l.selected
	if l.pin = find(top); l.pin < 0 {
		l.pin, l.pinY = 0, 0
	}
	l.arrange()
}

// SetFollow makes the list go to its end and stay there as it grows. Scrolling up stops that, and coming back to the
// end by scrolling begins it again; OnFollow tells both. False stops it for good.
func (l *List) SetFollow(follow bool) {
	l.tail = follow
	l.setFollowing(follow)
	l.arrange()
}

// Following reports whether the list stays at its end now.
func (l *List) Following() bool { return l.following }

// Place is where the list is scrolled to, for SetPlace.
func (l *List) Place() Place {
	return Place{Row: l.pin, Above: float32(-l.pinY), End: l.following}
}

// SetPlace scrolls to where Place was taken.
func (l *List) SetPlace(p Place) {
	l.setFollowing(l.tail && p.End)
	l.pin, l.pinY = p.Row, -float64(p.Above)
	l.arrange()
}

// ScrollTo brings the top of row i to the top of the viewport, or as near as the end allows, and stops following.
func (l *List) ScrollTo(i int) {
	l.setFollowing(false)
	l.pin, l.pinY = i, 0
	l.arrange()
}

// ScrollToEnd goes to the end, and follows it where SetFollow allowed that.
func (l *List) ScrollToEnd() {
	if l.tail {
		l.setFollowing(true)
	} else {
		l.pin, l.pinY = l.at.Len(), float64(l.size.Height)
	}
	l.arrange()
}

// Reveal scrolls as little as needed to show row i.
func (l *List) Reveal(i int) { l.RevealPart(i, 0, -1) }

// RevealPart scrolls as little as needed to show the part of row i that begins at top of it and is height high; all of
// the row with a height below 0.
func (l *List) RevealPart(i int, top, height float32) {
	if i < 0 || i >= l.at.Len() {
		return
	}
	if l.ready() {
		l.fresh(i)
	}
	part, high := float64(top), float64(height)
	if height < 0 {
		part, high = 0, l.at.Height(i)
	}
	at, view := l.at.Top(i)+part-l.offset, float64(l.size.Height)
	switch {
	case at < 0 || high > view:
		l.setFollowing(false)
		l.pin, l.pinY = i, -part
	case at+high > view:
		l.setFollowing(false)
		l.pin, l.pinY = i, view-high-part
	}
	l.arrange()
}

// Select chooses row i, -1 for none, without telling OnSelected or scrolling.
func (l *List) Select(i int) {
	if i < 0 || i >= l.at.Len() {
		i = -1
	}
	l.selected, l.cursor = i, i
	l.arrange()
}

// Selected is the chosen row, or -1.
func (l *List) Selected() int { return l.selected }

// VisibleRows are the first and last row that show at least in part; both -1 when none does.
func (l *List) VisibleRows() (first, last int) { return l.visible.first, l.visible.last }

// Offset is how far the list is scrolled, the height of all rows, and that of the viewport, in pixels. The height is
// an estimate as long as rows have not been measured.
func (l *List) Offset() (offset, total, view float64) {
	return l.offset, l.at.Total(), float64(l.size.Height)
}

// Show makes the list visible and brings it up to date.
func (l *List) Show() {
	l.BaseWidget.Show()
	l.arrange()
}

// MinSize lets the list be as small as its surroundings want.
func (l *List) MinSize() fyne.Size { return fyne.NewSize(48, 48) }

// CreateRenderer is Fyne's.
func (l *List) CreateRenderer() fyne.WidgetRenderer {
	l.recolor()
	return &renderer{list: l, objects: []fyne.CanvasObject{l.paper, l.clip, l.bar, l.focusRing}}
}

// The renderer holds nothing of its own: Fyne throws renderers away that were out of sight for a minute.
type renderer struct {
	list    *List
	objects []fyne.CanvasObject
}

func (r *renderer) Destroy()                     {}
func (r *renderer) MinSize() fyne.Size           { return r.list.MinSize() }
func (r *renderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *renderer) Layout(size fyne.Size)        { r.list.resized(size) }

// Refresh comes when the theme changed or the list is shown: fonts may have other sizes now.
func (r *renderer) Refresh() {
	r.list.recolor()
	r.list.rows.repaintAll()
	r.list.arrange()
	r.list.repaint()
}
