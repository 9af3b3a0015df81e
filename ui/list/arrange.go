package list

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"steward/ui/theme"
)

const (
	narrowest = 100 // below this width nothing is built
	gutter    = 10  // kept free for the scroll bar
	guess     = 60  // the height of a row before any was measured
)

// fieldLayout stands between Fyne and the rows: Fyne asks for a new layout when a row's smallest size changed.
type fieldLayout struct{ list *List }

func (fieldLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.Size{} }

func (f fieldLayout) Layout([]fyne.CanvasObject, fyne.Size) {
	if l := f.list; !l.busy && !l.equal && l.ready() {
		for i := l.visible.first; i >= 0 && i <= l.visible.last; i++ {
			if b := l.rows.built[i]; b != nil {
				b.width = 0
			}
		}
		l.arrange()
	}
}

func (l *List) ready() bool {
	return l.Visible() && l.size.Width >= narrowest && l.size.Height > 0
}

func (l *List) resized(size fyne.Size) {
	l.size = size
	l.clip.Move(fyne.NewPos(0, 0))
	l.busy = true // the field's size is no news from a row
	l.clip.Resize(size)
	l.busy = false
	l.bar.Move(fyne.NewPos(size.Width-gutter, 0))
	l.bar.Resize(fyne.NewSize(gutter, size.Height))
	l.focusRing.Resize(size)
	l.arrange()
}

// rowWidth is the width that rows get now, and where they begin.
func (l *List) rowWidth() (width, x float32) {
	room := l.size.Width - gutter
	width = room
	if l.MaxWidth > 0 && width > l.MaxWidth {
		width = l.MaxWidth
	}
	return width, (room - width) / 2
}

func (l *List) estimate(i int) float64 {
	if l.source.Estimate != nil && l.width > 0 {
		return exact(float64(l.source.Estimate(i, l.width)))
	}
	if l.measuredCount > 0 {
		return exact(l.measuredSum / l.measuredCount)
	}
	return guess
}

// arrange builds and measures what is visible and puts it in its place.
func (l *List) arrange() {
	if l.busy || !l.ready() {
		return
	}
	l.busy = true
	before := l.offset
	l.matchLength()
	if width, _ := l.rowWidth(); width != l.width {
		l.changeWidth(width)
	}
	for !l.equal {
		// Ends: each round measures a row that was not measured since arrange began.
		i := l.nextToMeasure(l.settle())
		if i < 0 {
			break
		}
		l.fresh(i)
	}
	l.offset = l.settle()
	l.repin()
	news := l.place()
	first, last := l.visible.first, l.visible.last
	l.busy = false

	if before != l.offset && l.OnScrolled != nil {
		l.OnScrolled()
	}
	if news && first >= 0 && l.OnVisible != nil {
		l.OnVisible(first, last)
	}
}

// matchLength makes good for rows the source has or lacks without having said so: calling it for a row that it does
// not have would be worse than a misplaced one.
func (l *List) matchLength() {
	have, want := l.at.Len(), max(0, l.source.Len())
	switch {
	case want > have:
		l.at.Insert(have, want-have, l.estimate)
	case want < have:
		l.at.Remove(want, have-want)
		l.rows.drop(want, have-want)
		l.selected, l.cursor = without(l.selected, want, have-want), without(l.cursor, want, have-want)
		l.hovered = without(l.hovered, want, have-want)
	}
}

// changeWidth keeps the row at the top of the viewport there, at the same part of it.
func (l *List) changeWidth(width float32) {
	l.width = width
	if l.equal || l.at.Len() == 0 {
		return
	}
	if l.source.Estimate != nil {
		for i := range l.at.Len() {
			l.at.Set(i, l.estimate(i))
		}
	}
	if l.following || l.pin >= l.at.Len() || l.pinY >= 0 {
		return
	}
	part := l.pinY / l.at.Height(l.pin)
	l.fresh(l.pin)
	l.pinY = max(part, -1) * l.at.Height(l.pin)
}

// settle computes the offset from the place, within what the heights known now allow.
func (l *List) settle() float64 {
	end := max(0, l.at.Total()-float64(l.size.Height))
	if l.following {
		return end
	}
	l.pin = min(max(l.pin, 0), l.at.Len())
	return min(max(l.at.Top(l.pin)-l.pinY, 0), end)
}

// repin makes the row at the top of the viewport the one that stays in its place.
func (l *List) repin() {
	l.pin = max(0, l.at.At(l.offset))
	l.pinY = l.at.Top(l.pin) - l.offset
}

// nextToMeasure finds, among the rows visible at an offset, the one nearest to the place that is not measured at the
// present width; -1 when all are. Near ones first, because each may push the others out of sight.
func (l *List) nextToMeasure(offset float64) int {
	pin := l.pin
	if l.following {
		pin = l.at.Len()
	}
	best := -1
	bottom := offset + float64(l.size.Height)
	for i, y := l.at.At(offset), 0.0; i >= 0 && i < l.at.Len(); i++ {
		if y = l.at.Top(i); y >= bottom {
			break
		}
		if b := l.rows.built[i]; b != nil && b.width == l.width && !b.stale {
			continue
		}
		if best < 0 || distance(i, pin) < distance(best, pin) {
			best = i
		}
	}
	return best
}

func distance(a, b int) int { return max(a-b, b-a) }

// fresh builds row i and measures it at the present width.
func (l *List) fresh(i int) *row {
	b := l.rows.get(i, l.equal)
	if b.width == l.width {
		return b
	}
	b.width = l.width
	if l.equal {
		return b
	}
	h := exact(float64(measure(b.object, l.width)))
	l.at.Set(i, h)
	l.measuredSum += h
	l.measuredCount++
	return b
}

func measure(object fyne.CanvasObject, width float32) float32 {
	if m, ok := object.(Measured); ok {
		return m.HeightFor(width)
	}
	// Fyne's own widgets know their height only after they were given the width.
	object.Resize(fyne.NewSize(width, object.MinSize().Height))
	return object.MinSize().Height
}

// place puts the visible rows on the field. It reports whether they are others than before.
func (l *List) place() (news bool) {
	width, x := l.rowWidth()
	first, last := l.at.At(l.offset), -1
	objects := append(l.field.Objects[:0:0], l.selectedMark, l.hoverMark)
	bottom := l.offset + float64(l.size.Height)
	for i := first; i >= 0 && i < l.at.Len(); i++ {
		top := l.at.Top(i)
		if top >= bottom {
			break
		}
		last = i
		object := l.fresh(i).object
		object.Resize(fyne.NewSize(width, float32(l.at.Height(i))))
		object.Move(fyne.NewPos(x, float32(top-l.offset)))
		if s, ok := object.(Seen); ok {
			s.SeenPart(float32(l.offset-top), float32(bottom-top))
		}
		objects = append(objects, object)
	}
	if last < 0 {
		first = -1
	}
	news = l.visible.first != first || l.visible.last != last
	l.visible.first, l.visible.last = first, last
	l.rows.trim(max(keep, last-first+1+keep/4), l.equal)
	l.field.Objects = objects
	l.placeMarks()
	l.bar.update()
	l.repaint() // a new row does not do that by being moved
	return news
}

// repaint marks the window for painting. It goes through an object that is always drawn: Fyne forgets the window of one
// that has been hidden for a while, such as the mark of a list in which nothing is chosen, and then paints nothing. The
// rows themselves are not refreshed, which would make their textures anew.
func (l *List) repaint() { canvas.Refresh(l.paper) }

func (l *List) placeMarks() {
	mark := func(m *canvas.Rectangle, i int) {
		if !l.Selectable || i < l.visible.first || i > l.visible.last || i < 0 {
			m.Hide()
			return
		}
		m.Move(fyne.NewPos(l.Inset, float32(l.at.Top(i)-l.offset)))
		m.Resize(fyne.NewSize(l.size.Width-2*l.Inset-l.beside, float32(l.at.Height(i))))
		m.Show()
	}
	mark(l.selectedMark, l.selected)
	hovered := l.hovered
	if hovered == l.selected {
		hovered = -1
	}
	mark(l.hoverMark, hovered)
}

func (l *List) recolor() {
	l.selectedMark.FillColor = theme.Color(l.SelectedColor)
	l.hoverMark.FillColor = theme.Color(l.HoverColor)
	l.selectedMark.CornerRadius, l.hoverMark.CornerRadius = l.Radius, l.Radius
	l.colorFocus()
	l.bar.recolor()
}

func (l *List) tellBelow(i int) {
	if l.OnBelow == nil || !l.tail || l.following || !l.ready() {
		return
	}
	if l.at.Top(i)+l.at.Height(i) > l.offset+float64(l.size.Height) {
		l.OnBelow()
	}
}

func (l *List) setFollowing(following bool) {
	if following == l.following {
		return
	}
	l.following = following
	if l.OnFollow != nil {
		l.OnFollow(following)
	}
}

// scrollBy moves the view by dy pixels as the person asked, down when positive.
func (l *List) scrollBy(dy float64) {
	if dy == 0 || !l.ready() {
		return
	}
	if dy < 0 && l.offset > 0 {
		l.setFollowing(false)
	}
	l.pinY -= dy
	l.arrange()
	l.followAtEnd(dy > 0)
}

// scrollTo goes to an offset, as the scroll bar does.
func (l *List) scrollTo(offset float64) {
	if !l.ready() {
		return
	}
	down := offset > l.offset
	if offset < l.offset {
		l.setFollowing(false)
	}
	l.pin = max(0, l.at.At(max(0, offset)))
	l.pinY = l.at.Top(l.pin) - offset
	l.arrange()
	l.followAtEnd(down)
}

// followAtEnd begins to follow when the person came down to the end. Going up never does: the smallest movement of a
// touchpad must not be taken back.
func (l *List) followAtEnd(down bool) {
	if down && l.tail && !l.following && l.offset >= l.at.Total()-float64(l.size.Height)-1 {
		l.setFollowing(true)
	}
}
