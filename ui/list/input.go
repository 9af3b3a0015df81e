package list

import (
	"math"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"steward/ui/theme"
)

var (
	_ fyne.Scrollable        = (*List)(nil)
	_ fyne.Focusable         = (*List)(nil)
	_ fyne.Tappable          = (*List)(nil)
	_ fyne.SecondaryTappable = (*List)(nil)
	_ desktop.Hoverable      = (*List)(nil)
	_ desktop.Mouseable      = (*List)(nil)
)

const (
	lineStep  = 40                     // an arrow key in a list without choice
	doubleTap = 400 * time.Millisecond // between the two taps that open a row
)

type tapped struct {
	row int
	at  time.Time
}

// Scrolled moves the view; the horizontal part goes to the row under the pointer.
func (l *List) Scrolled(event *fyne.ScrollEvent) {
	dx, dy := event.Scrolled.DX, event.Scrolled.DY
	if math.Abs(float64(dx)) > math.Abs(float64(dy)) {
		l.sideways(event.Position, dx)
		return
	}
	l.scrollBy(float64(-dy))
}

func (l *List) sideways(at fyne.Position, dx float32) {
	if l.OnSideways != nil && l.OnSideways(at, dx) {
		return
	}
	i := l.RowAt(at.Y)
	if i < 0 || l.rows.built[i] == nil {
		return
	}
	object := l.rows.built[i].object
	if s, ok := object.(Sideways); ok {
		s.ScrolledSideways(at.Subtract(object.Position()), dx)
	}
}

// RowAt is the row shown at y of the list, -1 for none.
func (l *List) RowAt(y float32) int {
	at := l.offset + float64(y)
	if y < 0 || y >= l.size.Height || at >= l.at.Total() {
		return -1
	}
	return l.at.At(at)
}

// Tapped chooses, and perhaps opens, the row under the pointer.
func (l *List) Tapped(event *fyne.PointEvent) {
	l.takeFocus()
	i := l.RowAt(event.Position.Y)
	if !l.Selectable || i < 0 {
		return
	}
	l.choose(i)
	again := l.lastTap.row == i && time.Since(l.lastTap.at) < doubleTap
	l.lastTap = tapped{row: i, at: time.Now()}
	if l.OpenOnTap || again {
		l.lastTap.row = -1
		l.open(i)
	}
}

// TappedSecondary tells OnSecondary.
func (l *List) TappedSecondary(event *fyne.PointEvent) {
	i := l.RowAt(event.Position.Y)
	if i < 0 || l.OnSecondary == nil {
		return
	}
	l.takeFocus()
	l.OnSecondary(i, event)
}

func (l *List) takeFocus() {
	c := fyne.CurrentApp().Driver().CanvasForObject(l)
	if c == nil || c.Focused() == fyne.Focusable(l) {
		return
	}
	l.byPointer = true
	c.Focus(l)
}

// MouseDown and MouseUp only let Fyne know that the pointer is ours.
func (l *List) MouseDown(*desktop.MouseEvent) {}

// MouseUp is the other half of MouseDown.
func (l *List) MouseUp(*desktop.MouseEvent) {}

// MouseIn marks the row under the pointer.
func (l *List) MouseIn(event *desktop.MouseEvent) { l.hover(l.RowAt(event.Position.Y)) }

// MouseMoved marks the row under the pointer.
func (l *List) MouseMoved(event *desktop.MouseEvent) { l.hover(l.RowAt(event.Position.Y)) }

// MouseOut takes the mark away.
func (l *List) MouseOut() { l.hover(-1) }

func (l *List) hover(i int) {
	if i == l.hovered || !l.Selectable {
		return
	}
	l.hovered = i
	l.placeMarks()
	l.repaint()
}

// FocusGained shows that keys go to the list.
func (l *List) FocusGained() {
	l.focused = true
	l.showFocus()
}

// FocusLost takes the sign away.
func (l *List) FocusLost() {
	l.focused, l.byPointer = false, false
	l.showFocus()
}

func (l *List) showFocus() {
	l.colorFocus()
	l.repaint()
}

// colorFocus draws the focus around the chosen row, or around the list where none is chosen. Who clicked knows
// where the keys go; only who came by Tab is shown it.
func (l *List) colorFocus() {
	ring := theme.Color(theme.Accent)
	shown := l.focused && !l.byPointer
	l.selectedMark.StrokeWidth, l.focusRing.StrokeWidth = 0, 0
	l.selectedMark.StrokeColor, l.focusRing.StrokeColor = ring, ring
	l.focusRing.Hidden = true
	switch {
	case shown && l.Selectable && l.selected >= 0:
		l.selectedMark.StrokeWidth = 1
	case shown:
		l.focusRing.StrokeWidth, l.focusRing.CornerRadius, l.focusRing.Hidden = 1, 4, false
	}
}

// TypedRune does nothing.
func (l *List) TypedRune(rune) {}

// TypedKey moves the choice, or scrolls where there is none.
func (l *List) TypedKey(event *fyne.KeyEvent) {
	if l.OnKey != nil && l.OnKey(l.selected, event) {
		return
	}
	if l.byPointer {
		l.byPointer = false // from here on the keyboard is in use
		l.showFocus()
	}
	if l.Selectable {
		l.chooseByKey(event.Name)
		return
	}
	page := max(lineStep, float64(l.size.Height)-lineStep)
	switch event.Name {
	case fyne.KeyUp:
		l.scrollBy(-lineStep)
	case fyne.KeyDown:
		l.scrollBy(lineStep)
	case fyne.KeyPageUp:
		l.scrollBy(-page)
	case fyne.KeyPageDown, fyne.KeySpace:
		l.scrollBy(page)
	case fyne.KeyHome:
		l.scrollTo(0)
	case fyne.KeyEnd:
		l.ScrollToEnd()
	}
}

func (l *List) chooseByKey(name fyne.KeyName) {
	n := l.at.Len()
	if n == 0 {
		return
	}
	to := l.cursor
	page := max(1, l.visible.last-l.visible.first-1)
	switch name {
	case fyne.KeyUp:
		to--
	case fyne.KeyDown:
		to++
	case fyne.KeyPageUp:
		to -= page
	case fyne.KeyPageDown:
		to += page
	case fyne.KeyHome:
		to = 0
	case fyne.KeyEnd:
		to = n - 1
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace:
		if l.selected >= 0 {
			l.open(l.selected)
		}
		return
	default:
		return
	}
	to = min(max(to, 0), n-1)
	l.choose(to)
	l.Reveal(to)
}

func (l *List) choose(i int) {
	news := i != l.selected
	l.selected, l.cursor = i, i
	l.placeMarks()
	l.showFocus()
	if news && l.OnSelected != nil {
		l.OnSelected(i)
	}
}

func (l *List) open(i int) {
	if l.OnOpened != nil {
		l.OnOpened(i)
	}
}
