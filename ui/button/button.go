// Package button is the one button of the window's places and cards.
//
// Fyne's own looks different (bold, filled, no line), takes every key, and answers Enter where a decision must not be
// made by it. Its caption may be foreign text; it is drawn plain and in one line. Everything must be called on Fyne's
// goroutine.
package button

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"steward/ui/text"
	"steward/ui/theme"
)

// Look is how a button draws the eye.
type Look uint8

const (
	Outlined Look = iota // the rule
	Strong               // filled with the accent: the one thing to do next
	Refusing             // outlined in the colour of refusal
	Quiet                // an icon or words alone, small
	Segment              // one of several views, small; see SetChosen
)

const (
	height      = 34
	smallHeight = 24
	iconSize    = 16
)

var (
	_ fyne.Tappable      = (*Button)(nil)
	_ fyne.Focusable     = (*Button)(nil)
	_ fyne.Disableable   = (*Button)(nil)
	_ desktop.Hoverable  = (*Button)(nil)
	_ desktop.Cursorable = (*Button)(nil)
)

// Button is an icon, a caption and a hint (its keys), any of which may be missing. Space and Enter press it.
type Button struct {
	widget.DisableableWidget
	// OnTapped is what it does; it may be nil.
	OnTapped func()
	// OnKey sees every key before the button and reports whether it was used. It may be nil.
	OnKey func(*fyne.KeyEvent) bool
	// OnShortcut gets the shortcuts typed while it has the keyboard; with nil the window does.
	OnShortcut func(fyne.Shortcut)
	// EnterOff leaves Enter alone, where it must not decide.
	EnterOff bool

	look              Look
	icon, words, hint string
	chosen            bool
	hovered, focused  bool
	ground            *canvas.Rectangle
	picture           *widget.Icon
	label, key        *text.Label
	shownIcon         string // what the picture was made of
	shownIn           fyne.ThemeColorName
}

// New makes a button. icon is a name of theme.Icon, "" for none; the caption is translated or the person's own.
func New(look Look, icon, caption string, tapped func()) *Button {
	b := &Button{OnTapped: tapped, look: look, icon: icon, words: caption}
	b.ground = canvas.NewRectangle(color.Transparent)
	b.ground.CornerRadius = theme.Radius - 2
	b.picture = widget.NewIcon(nil)
	b.label = text.NewLabel("", text.Run{}, text.Whole)
	b.key = text.NewLabel("", text.Run{}, text.Whole)
	b.key.SetTextSize(theme.CaptionSize)
	if b.small() {
		b.label.SetTextSize(theme.CaptionSize)
	}
	b.ExtendBaseWidget(b)
	b.paint()
	return b
}

// SetText changes the caption.
func (b *Button) SetText(caption string) {
	if b.words != caption {
		b.words = caption
		b.Refresh()
	}
}

// Text is the caption.
func (b *Button) Text() string { return b.words }

// SetIcon changes the icon.
func (b *Button) SetIcon(icon string) {
	if b.icon != icon {
		b.icon = icon
		b.Refresh()
	}
}

// SetHint shows the keys that do the same.
func (b *Button) SetHint(hint string) {
	if b.hint != hint {
		b.hint = hint
		b.Refresh()
	}
}

// SetLook changes how it draws the eye; the size stays that of its first look.
func (b *Button) SetLook(look Look) {
	if b.look != look {
		b.look = look
		b.Refresh()
	}
}

// SetChosen marks the segment whose view is shown.
func (b *Button) SetChosen(on bool) {
	if b.chosen != on {
		b.chosen = on
		b.Refresh()
	}
}

func (b *Button) small() bool { return b.look == Segment || b.look == Quiet }

// colours are those of its ground, its line, its words and its hint.
func (b *Button) colours() (fill, line color.Color, words, hint fyne.ThemeColorName) {
	fill, line, words, hint = color.Transparent, color.Transparent, theme.Text, theme.Dim
	switch b.look {
	case Outlined:
		fill, line = theme.Color(theme.Card), theme.Color(theme.Edge)
	case Strong:
		fill, words, hint = theme.Color(theme.Accent), theme.OnAccent, theme.OnAccent
	case Refusing:
		fill, line, words = theme.Color(theme.Card), theme.Color(theme.Refusal), theme.Refusal
	case Quiet:
		words = theme.Dim
	case Segment:
		line, words = theme.Color(theme.Edge), theme.Dim
		if b.chosen {
			fill, words = theme.Color(theme.AccentTint), theme.Text
		}
	}
	switch {
	case b.Disabled():
		words, hint = theme.Dim, theme.Dim
		line = theme.Color(theme.Edge)
		if b.look == Strong {
			fill = theme.Color(theme.Side)
		}
		if b.look == Quiet {
			line = color.Transparent
		}
	case b.hovered && b.look == Strong:
		line = theme.Color(theme.Text)
	case b.hovered:
		fill = theme.Color(theme.Hover)
	}
	return fill, line, words, hint
}

func (b *Button) paint() {
	fill, line, words, hint := b.colours()
	b.ground.StrokeWidth = 1
	if b.focused {
		b.ground.StrokeWidth, line = 2, theme.Color(theme.Accent)
		if b.look == Strong && !b.Disabled() {
			line = theme.Color(theme.Text)
		}
	}
	b.ground.FillColor, b.ground.StrokeColor = fill, line
	b.label.SetText(b.words, text.Run{Color: words, Bold: b.look == Segment && b.chosen})
	b.key.SetText(b.hint, text.Run{Color: hint})
	if b.icon != "" && (b.shownIcon != b.icon || b.shownIn != words) {
		b.picture.SetResource(theme.IconIn(b.icon, words))
		b.shownIcon, b.shownIn = b.icon, words
	}
}

func (b *Button) press() {
	if !b.Disabled() && b.OnTapped != nil {
		b.OnTapped()
	}
}

func (b *Button) draw(change func()) {
	change()
	b.paint()
	b.ground.Refresh()
}

// Tapped is Fyne's.
func (b *Button) Tapped(*fyne.PointEvent) { b.press() }

// Cursor is Fyne's.
func (b *Button) Cursor() desktop.Cursor {
	if b.Disabled() {
		return desktop.DefaultCursor
	}
	return desktop.PointerCursor
}

// MouseIn is Fyne's.
func (b *Button) MouseIn(*desktop.MouseEvent) { b.draw(func() { b.hovered = true }) }

// MouseMoved is Fyne's.
func (b *Button) MouseMoved(*desktop.MouseEvent) {}

// MouseOut is Fyne's.
func (b *Button) MouseOut() { b.draw(func() { b.hovered = false }) }

// FocusGained is Fyne's.
func (b *Button) FocusGained() { b.draw(func() { b.focused = true }) }

// FocusLost is Fyne's.
func (b *Button) FocusLost() { b.draw(func() { b.focused = false }) }

// TypedRune is Fyne's.
func (b *Button) TypedRune(rune) {}

// TypedKey is Fyne's. What the button does not use goes on to the window.
func (b *Button) TypedKey(e *fyne.KeyEvent) {
	if b.OnKey != nil && b.OnKey(e) {
		return
	}
	switch e.Name {
	case fyne.KeySpace:
		b.press()
		return
	case fyne.KeyReturn, fyne.KeyEnter:
		if !b.EnterOff {
			b.press()
			return
		}
	}
	if c := fyne.CurrentApp().Driver().CanvasForObject(b); c != nil && c.OnTypedKey() != nil {
		c.OnTypedKey()(e)
	}
}

// TypedShortcut hands on every shortcut: Fyne would let it end here.
func (b *Button) TypedShortcut(s fyne.Shortcut) {
	if b.OnShortcut != nil {
		b.OnShortcut(s)
		return
	}
	if c, ok := fyne.CurrentApp().Driver().CanvasForObject(b).(fyne.Shortcutable); ok {
		c.TypedShortcut(s)
	}
}

// CreateRenderer is Fyne's.
func (b *Button) CreateRenderer() fyne.WidgetRenderer {
	if b.small() {
		return &renderer{b: b, padding: 2 * theme.Step, height: smallHeight}
	}
	return &renderer{b: b, padding: 3 * theme.Step, height: height}
}

type renderer struct {
	b               *Button
	padding, height float32
}

func (r *renderer) Destroy() {}

func (r *renderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.b.ground, r.b.picture, r.b.label, r.b.key}
}

// parts are what stands in a row, and how wide each is.
func (r *renderer) parts() (list []fyne.CanvasObject, sizes []fyne.Size) {
	if r.b.icon != "" {
		list, sizes = append(list, r.b.picture), append(sizes, fyne.NewSquareSize(iconSize))
	}
	if r.b.words != "" {
		list, sizes = append(list, r.b.label), append(sizes, r.b.label.MinSize())
	}
	if r.b.hint != "" {
		list, sizes = append(list, r.b.key), append(sizes, r.b.key.MinSize())
	}
	return list, sizes
}

const gap = 1.5 * theme.Step

func (r *renderer) width() float32 {
	_, sizes := r.parts()
	w := gap * float32(max(0, len(sizes)-1))
	for _, s := range sizes {
		w += s.Width
	}
	return w
}

func (r *renderer) MinSize() fyne.Size {
	w := r.width() + 2*r.padding
	return fyne.NewSize(max(w, r.height), r.height)
}

func (r *renderer) Layout(size fyne.Size) {
	r.b.ground.Resize(size)
	r.b.picture.Hidden = r.b.icon == ""
	list, sizes := r.parts()
	x := max(r.padding, (size.Width-r.width())/2)
	for i, o := range list {
		o.Resize(sizes[i])
		o.Move(fyne.NewPos(x, (size.Height-sizes[i].Height)/2))
		x += sizes[i].Width + gap
	}
}

func (r *renderer) Refresh() {
	r.b.paint()
	r.Layout(r.b.Size())
	canvas.Refresh(r.b)
}
