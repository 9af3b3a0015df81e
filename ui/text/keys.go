package text

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"steward/ui/theme"
)

// FocusGained tells OnFocus, unless the pointer gave the focus: then the person knows where it is.
func (v *View) FocusGained() {
	if v.OnFocus != nil && !v.pointing {
		v.OnFocus(true)
	}
}

// FocusLost is Fyne's. What is chosen stays: it can still be copied from the menu.
func (v *View) FocusLost() {
	v.shift = false
	if v.OnFocus != nil {
		v.OnFocus(false)
	}
}

// KeyDown follows the Shift key.
func (v *View) KeyDown(ev *fyne.KeyEvent) {
	if ev.Name == desktop.KeyShiftLeft || ev.Name == desktop.KeyShiftRight {
		v.shift = true
	}
}

// KeyUp follows the Shift key.
func (v *View) KeyUp(ev *fyne.KeyEvent) {
	if ev.Name == desktop.KeyShiftLeft || ev.Name == desktop.KeyShiftRight {
		v.shift = false
	}
}

// TypedRune hands typing on.
func (v *View) TypedRune(r rune) {
	if v.OnRune != nil {
		v.OnRune(r)
	}
}

// TypedShortcut copies and chooses all, and hands on every other shortcut. Where the driver sends Shift with a moving
// key as a shortcut, it moves the caret too.
func (v *View) TypedShortcut(s fyne.Shortcut) {
	switch s := s.(type) {
	case *fyne.ShortcutCopy:
		v.Copy()
		return
	case *fyne.ShortcutSelectAll:
		v.SelectAll()
		return
	case *desktop.CustomShortcut:
		if s.Modifier == fyne.KeyModifierShift && v.move(s.KeyName, true) {
			return
		}
	}
	if v.OnShortcut != nil {
		v.OnShortcut(s)
	}
}

// TypedKey extends the selection with Shift and a moving key, opens the link under the caret with Return, lets go of the
// selection with Escape, and hands on every other key.
func (v *View) TypedKey(ev *fyne.KeyEvent) {
	switch ev.Name {
	case fyne.KeyEscape:
		if v.chosen() {
			v.ClearSelection()
			return
		}
	case fyne.KeyReturn, fyne.KeyEnter:
		if link := v.linkAtCaret(); link != "" && v.OnLink != nil {
			v.OnLink(link)
			return
		}
	case fyne.KeyF10, keyMenu:
		if v.OnMenu != nil && v.OnMenu(fyne.CurrentApp().Driver().AbsolutePositionForObject(v.host).AddXY(theme.Step, v.lineOfCaret()), v.linkAtCaret()) {
			return
		}
	default:
		if v.shift && v.move(ev.Name, true) {
			return
		}
	}
	if v.OnKey != nil {
		v.OnKey(ev)
	}
}

// keyMenu is the key for menus, which the toolkit has no name for.
const keyMenu fyne.KeyName = "Menu"

// lineOfCaret is the height below the line that the caret is in.
func (v *View) lineOfCaret() float32 {
	if len(v.paras) == 0 || !v.chosen() {
		return theme.TextSize * leading
	}
	p := v.paras[v.clamp(v.sel.caret).para]
	return float32(p.y-v.top+p.lineTop(p.lineWith(v.clamp(v.sel.caret).offset))) + p.lineHeight
}

func (v *View) linkAtCaret() string {
	if !v.chosen() {
		return ""
	}
	at, _ := v.bounds()
	p := v.paras[at.para]
	if i := spanAt(p.spans, at.offset); i < len(p.spans) && Web(p.spans[i].run.Link) {
		return p.spans[i].run.Link
	}
	return ""
}

// move takes the caret somewhere; extend keeps the other end of the selection. It tells whether the key is one of its.
func (v *View) move(key fyne.KeyName, extend bool) bool {
	if len(v.paras) == 0 {
		return false
	}
	at := v.clamp(v.sel.caret)
	if v.sel.by != byChar { // a chosen word or line becomes an ordinary selection
		from, to := v.bounds()
		v.sel = selection{from: from, to: from, caret: to}
		at = to
	}
	switch key {
	case fyne.KeyLeft:
		at = v.left1(at)
	case fyne.KeyRight:
		at = v.right1(at)
	case fyne.KeyUp:
		at = v.vertical(at, -1)
	case fyne.KeyDown:
		at = v.vertical(at, 1)
	case fyne.KeyHome, fyne.KeyEnd:
		p := v.paras[at.para]
		if len(p.lines) == 0 {
			return true
		}
		l := p.lines[p.lineWith(at.offset)]
		at.offset = int(l.start)
		if key == fyne.KeyEnd {
			at.offset = int(l.end)
			if s := p.plain[l.start:l.end]; at.offset < len(p.plain) && strings.HasSuffix(s, " ") {
				at.offset-- // the end of a broken line, not the start of the next
			}
		}
	default:
		return false
	}
	v.sel.caret = at
	if !extend {
		v.sel.from, v.sel.to = at, at
	}
	if v.reveal != nil {
		v.reveal(at)
	}
	v.mark()
	return true
}

func (v *View) left1(at place) place {
	if at.offset > 0 {
		at.offset -= lastChar(v.paras[at.para].plain[:at.offset])
		return at
	}
	if at.para > 0 {
		return place{at.para - 1, len(v.paras[at.para-1].plain)}
	}
	return at
}

func (v *View) right1(at place) place {
	if rest := v.paras[at.para].plain[at.offset:]; rest != "" {
		at.offset += firstChar(rest)
		return at
	}
	if at.para+1 < len(v.paras) {
		return place{at.para + 1, 0}
	}
	return at
}

// vertical goes to the line above or below, keeping the place across.
func (v *View) vertical(at place, by int) place {
	p := v.paras[at.para]
	if len(p.lines) == 0 {
		return v.neighbour(at, 0, by)
	}
	n := p.lineWith(at.offset)
	x := p.left + p.xAt(&p.lines[n], at.offset)
	if n+by < 0 || n+by >= len(p.lines) {
		return v.neighbour(at, x, by)
	}
	return place{at.para, p.offsetAt(&p.lines[n+by], x-p.left)}
}

func (v *View) neighbour(at place, x float32, by int) place {
	i := at.para + by
	switch {
	case i < 0:
		return place{0, 0}
	case i >= len(v.paras):
		return place{at.para, len(v.paras[at.para].plain)}
	}
	p := v.paras[i]
	if len(p.lines) == 0 {
		return place{i, 0}
	}
	n := 0
	if by < 0 {
		n = len(p.lines) - 1
	}
	return place{i, p.offsetAt(&p.lines[n], x-p.left)}
}
