package shell

import (
	"image/color"
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"steward/ui/text"
	"steward/ui/theme"
)

const (
	sideRowHeight = 33
	sideInset     = 3 * theme.Step // of everything in the side bar
	rowPadding    = 2 * theme.Step
	badgeHeight   = 18
	dotSize       = 2 * theme.Step
)

// sideEntry is a row of the side bar that a person can use: a button, or a place. In the narrow side bar it is its icon
// alone.
type sideEntry struct {
	widget.BaseWidget
	tapped func()

	icon   string
	label  string
	trail  string              // small text at the end
	badge  int                 // count in amber; 0: none
	dot    fyne.ThemeColorName // mark at the end; "": none
	strong bool                // filled with the accent
	chosen bool
	narrow bool

	hovered, focused bool
	ground           *canvas.Rectangle
	picture          *widget.Icon
	words, after     *text.Label
	pill             *canvas.Rectangle
	count            *text.Label
	mark             *canvas.Circle
}

func newSideEntry(icon, label string, tapped func()) *sideEntry {
	e := &sideEntry{icon: icon, label: label, tapped: tapped}
	e.ground = canvas.NewRectangle(color.Transparent)
	e.ground.CornerRadius = theme.Radius
	e.picture = widget.NewIcon(nil)
	e.words = text.NewLabel(label, text.Run{}, text.Cut)
	e.after = text.NewLabel("", text.Run{}, text.Whole)
	e.after.SetTextSize(theme.CaptionSize)
	e.pill = canvas.NewRectangle(color.Transparent)
	e.pill.CornerRadius = badgeHeight / 2
	e.count = text.NewLabel("", text.Run{}, text.Whole)
	e.count.SetTextSize(theme.CaptionSize)
	e.mark = canvas.NewCircle(color.Transparent)
	e.ExtendBaseWidget(e)
	e.paint()
	return e
}

// set changes the entry and draws it anew.
func (e *sideEntry) set(change func()) {
	change()
	e.Refresh()
}

func (e *sideEntry) colour() fyne.ThemeColorName {
	if e.strong {
		return theme.OnAccent
	}
	return theme.Text
}

func (e *sideEntry) paint() {
	fill, stroke := color.Color(color.Transparent), color.Color(color.Transparent)
	switch {
	case e.strong:
		fill = theme.Color(theme.Accent)
	case e.chosen:
		fill = theme.Color(theme.AccentTint)
	case e.hovered:
		fill = theme.Color(theme.Hover)
	}
	if e.focused {
		stroke = theme.Color(theme.Accent)
		if e.strong {
			stroke = theme.Color(theme.Text)
		}
	}
	e.ground.FillColor, e.ground.StrokeColor, e.ground.StrokeWidth = fill, stroke, 1.5
	e.picture.SetResource(theme.IconIn(e.icon, e.colour()))
	e.words.SetText(e.label, text.Run{Color: e.colour()})
	trail := theme.Dim
	if e.strong {
		trail = theme.OnAccent
	}
	e.after.SetText(e.trail, text.Run{Color: trail})
	e.pill.FillColor, e.mark.FillColor = color.Transparent, color.Transparent
	e.count.SetText("", text.Run{})
	if e.badge > 0 {
		e.pill.FillColor = theme.Color(theme.Waiting)
		e.count.SetText(strconv.Itoa(e.badge), text.Run{Color: theme.OnWaiting, Bold: true})
	}
	if e.dot != "" {
		e.mark.FillColor = theme.Color(e.dot)
	}
}

// Tapped is Fyne's.
func (e *sideEntry) Tapped(*fyne.PointEvent) { e.tapped() }

// MouseIn is Fyne's.
func (e *sideEntry) MouseIn(*desktop.MouseEvent) { e.set(func() { e.hovered = true }) }

// MouseMoved is Fyne's.
func (e *sideEntry) MouseMoved(*desktop.MouseEvent) {}

// MouseOut is Fyne's.
func (e *sideEntry) MouseOut() { e.set(func() { e.hovered = false }) }

// FocusGained is Fyne's.
func (e *sideEntry) FocusGained() { e.set(func() { e.focused = true }) }

// FocusLost is Fyne's.
func (e *sideEntry) FocusLost() { e.set(func() { e.focused = false }) }

// TypedRune is Fyne's.
func (e *sideEntry) TypedRune(rune) {}

// TypedKey is Fyne's.
func (e *sideEntry) TypedKey(event *fyne.KeyEvent) {
	switch event.Name {
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace:
		e.tapped()
	}
}

// CreateRenderer is Fyne's.
func (e *sideEntry) CreateRenderer() fyne.WidgetRenderer { return &entryRenderer{e} }

type entryRenderer struct{ e *sideEntry }

func (r *entryRenderer) Destroy() {}

func (r *entryRenderer) Objects() []fyne.CanvasObject {
	e := r.e
	return []fyne.CanvasObject{e.ground, e.picture, e.words, e.after, e.pill, e.count, e.mark}
}

func (r *entryRenderer) MinSize() fyne.Size { return fyne.NewSize(sideRowHeight, sideRowHeight) }

func (r *entryRenderer) Refresh() {
	r.e.paint()
	r.Layout(r.e.Size())
	canvas.Refresh(r.e)
}

func (r *entryRenderer) Layout(size fyne.Size) {
	e := r.e
	e.ground.Resize(size)
	middle := func(o fyne.CanvasObject, x float32, s fyne.Size) {
		o.Resize(s)
		o.Move(fyne.NewPos(x, (size.Height-s.Height)/2))
	}
	icon := fyne.NewSquareSize(theme.IconSize)
	if e.narrow {
		middle(e.picture, (size.Width-icon.Width)/2, icon)
		e.words.Hide()
		e.after.Hide()
		r.corner(size)
		return
	}
	e.words.Show()
	e.count.Show()
	e.after.Show()
	middle(e.picture, rowPadding, icon)
	right := size.Width - rowPadding
	if e.badge > 0 {
		words := e.count.MinSize()
		pill := fyne.NewSize(max(words.Width+10, badgeHeight+3), badgeHeight)
		right -= pill.Width
		middle(e.pill, right, pill)
		middle(e.count, right+(pill.Width-words.Width)/2, words)
		right -= rowPadding
	}
	if e.dot != "" {
		right -= dotSize
		middle(e.mark, right, fyne.NewSquareSize(dotSize))
		right -= theme.Step
	}
	if e.trail != "" {
		words := e.after.MinSize()
		right -= words.Width
		middle(e.after, right, words)
		right -= theme.Step
	}
	left := rowPadding + icon.Width + 1.5*theme.Step
	middle(e.words, left, fyne.NewSize(max(right-left, 0), e.words.MinSize().Height))
}

// corner puts a mark on the icon in place of what there is no room for.
func (r *entryRenderer) corner(size fyne.Size) {
	e := r.e
	e.count.Hide()
	e.pill.Resize(fyne.Size{})
	at := fyne.NewPos(size.Width/2+theme.IconSize/2-2, size.Height/2-theme.IconSize/2-theme.Step/2)
	e.mark.Resize(fyne.NewSquareSize(dotSize))
	e.mark.Move(at)
	if e.badge > 0 {
		e.mark.FillColor = theme.Color(theme.Waiting)
	}
}
