package layer

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"steward/ui/place"
	"steward/ui/text"
	"steward/ui/theme"
)

const (
	menuRow   = 8 * theme.Step
	menuWidth = 45 * theme.Step
)

// Menu shows a menu. It has the focus while it is shown, and gives it back.
func (l *Layer) Menu(items []place.MenuItem, at fyne.Position) {
	before := l.canvas.Focused()
	m := newMenu(items)
	done := l.Popup(m, at, func() {
		if l.canvas.Focused() == fyne.Focusable(m) {
			l.canvas.Unfocus()
			if before != nil {
				l.canvas.Focus(before)
			}
		}
	})
	m.choose = func(i int) {
		done()
		if items[i].Do != nil {
			items[i].Do()
		}
	}
	m.escape = done
	l.canvas.Focus(m)
}

// menu is a column of rows that takes the arrow keys.
type menu struct {
	widget.BaseWidget
	items  []place.MenuItem
	rows   []*menuLine
	at     int // the row that Enter takes, -1 for none
	choose func(i int)
	escape func()
}

func newMenu(items []place.MenuItem) *menu {
	m := &menu{items: items, at: -1}
	for i, item := range items {
		row := &menuLine{menu: m, item: item, index: i, ground: canvas.NewRectangle(color.Transparent)}
		row.ground.CornerRadius = theme.Radius - 2
		row.ExtendBaseWidget(row)
		m.rows = append(m.rows, row)
	}
	m.ExtendBaseWidget(m)
	return m
}

// FocusGained is Fyne's.
func (m *menu) FocusGained() {}

// FocusLost closes the menu: its keys would go elsewhere.
func (m *menu) FocusLost() {
	if m.escape != nil {
		m.escape()
	}
}

// TypedRune is Fyne's.
func (m *menu) TypedRune(rune) {}

// TypedKey is Fyne's.
func (m *menu) TypedKey(event *fyne.KeyEvent) {
	switch event.Name {
	case fyne.KeyEscape, fyne.KeyLeft:
		m.escape()
	case fyne.KeyDown:
		m.step(1)
	case fyne.KeyUp:
		m.step(-1)
	case fyne.KeyHome:
		m.at = -1
		m.step(1)
	case fyne.KeyEnd:
		m.at = 0
		m.step(-1)
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace:
		if m.at >= 0 {
			m.choose(m.at)
		}
	}
}

func (m *menu) step(by int) {
	n := len(m.items)
	i := m.at
	if i < 0 && by < 0 {
		i = 0
	}
	for range n {
		i = (i + by + n) % n
		if m.may(i) {
			m.mark(i)
			return
		}
	}
}

func (m *menu) may(i int) bool { return m.items[i].Label != "" && !m.items[i].Disabled }

func (m *menu) mark(i int) {
	m.at = i
	for n, row := range m.rows {
		row.paint(n == i)
	}
}

// CreateRenderer is Fyne's.
func (m *menu) CreateRenderer() fyne.WidgetRenderer {
	box := container.New(layout.NewCustomPaddedVBoxLayout(0))
	for _, row := range m.rows {
		box.Add(row)
	}
	return widget.NewSimpleRenderer(box)
}

// menuLine is one item, or a rule.
type menuLine struct {
	widget.BaseWidget
	menu   *menu
	item   place.MenuItem
	index  int
	ground *canvas.Rectangle
}

// Tapped is Fyne's.
func (r *menuLine) Tapped(*fyne.PointEvent) {
	if r.menu.may(r.index) {
		r.menu.choose(r.index)
	}
}

// MouseIn marks the row.
func (r *menuLine) MouseIn(*desktop.MouseEvent) {
	if r.menu.may(r.index) {
		r.menu.mark(r.index)
	}
}

// MouseMoved is Fyne's.
func (r *menuLine) MouseMoved(*desktop.MouseEvent) {}

// MouseOut leaves the mark: the keys go on from there.
func (r *menuLine) MouseOut() {}

func (r *menuLine) paint(marked bool) {
	r.ground.FillColor = color.Transparent
	if marked {
		r.ground.FillColor = theme.Color(theme.AccentTint)
	}
	r.ground.Refresh()
}

// CreateRenderer is Fyne's.
func (r *menuLine) CreateRenderer() fyne.WidgetRenderer {
	if r.item.Label == "" {
		line := canvas.NewRectangle(theme.Color(theme.Line))
		line.SetMinSize(fyne.NewSize(menuWidth, 1))
		return widget.NewSimpleRenderer(container.New(layout.NewCustomPaddedLayout(theme.Step, theme.Step, 0, 0), line))
	}
	colour := r.colour()
	label := text.NewLabel(r.item.Label, text.Run{Color: colour}, text.Whole)
	least := canvas.NewRectangle(color.Transparent)
	least.SetMinSize(fyne.NewSize(menuWidth, menuRow))
	var icon fyne.CanvasObject = canvas.NewRectangle(color.Transparent)
	name := r.item.Icon
	if r.item.Checked {
		name = "check"
	}
	if name != "" {
		icon = widget.NewIcon(theme.IconIn(name, colour))
	}
	parts := []fyne.CanvasObject{container.NewCenter(container.NewGridWrap(fyne.NewSquareSize(theme.IconSize), icon)), container.NewCenter(label), layout.NewSpacer()}
	if r.item.Shortcut != "" {
		keys := text.NewLabel(r.item.Shortcut, text.Run{Color: theme.Dim}, text.Whole)
		keys.SetTextSize(theme.CaptionSize)
		parts = append(parts, container.NewCenter(keys))
	}
	row := container.New(layout.NewCustomPaddedHBoxLayout(2*theme.Step), parts...)
	return widget.NewSimpleRenderer(container.NewStack(least, r.ground, container.New(layout.NewCustomPaddedLayout(0, 0, 2*theme.Step, 3*theme.Step), row)))
}

func (r *menuLine) colour() fyne.ThemeColorName {
	switch {
	case r.item.Disabled:
		return theme.Dim
	case r.item.Look == place.Dangerous:
		return theme.Refusal
	}
	return theme.Text
}
