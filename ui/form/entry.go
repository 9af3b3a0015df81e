package form

import (
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"
)

// MaxText is how many bytes an entry takes by pasting. Fyne lays the whole text out anew with every key: at 100 kB
// a key takes a second.
const MaxText = 20_000

// Entry is a text input, of one line or several.
//
// Enter tells OnSubmit and Shift+Enter breaks the line; EnterBreaks swaps them. A key held down submits once. While an
// input method composes, the keys that steer it do nothing here: on X11 they arrive although the input method used them.
// Tab leaves the entry.
type Entry struct {
	widget.Entry

	EnterBreaks bool

	OnSubmit   func(text string)
	OnKey      func(event *fyne.KeyEvent) bool   // first look at keys that no input method holds; true: done with
	OnShortcut func(shortcut fyne.Shortcut) bool // first look at shortcuts; true: done with
	OnBigPaste func(text string)                 // a paste that would make the text longer than MaxText; nothing was put in
	OnFocus    func(focused bool)                // it came or went
	Modifiers  func() fyne.KeyModifier           // keys held now; nil asks the driver

	window    fyne.Shortcutable // gets what an entry does not know; nil: the canvas, which in a headless test takes none
	composing int               // printable keys pressed whose characters have not come
	enterDown bool              // Enter is held,
	submitted bool              // and has submitted already
}

// NewEntry makes an input of one line.
func NewEntry() *Entry {
	e := &Entry{}
	e.Scroll = fyne.ScrollHorizontalOnly
	e.ExtendBaseWidget(e)
	return e
}

// NewMultiLine makes an input that shows rows lines at least and wraps long ones.
func NewMultiLine(rows int) *Entry {
	e := &Entry{}
	e.MultiLine = true
	e.Wrapping = fyne.TextWrapWord
	e.SetMinRowsVisible(rows)
	e.ExtendBaseWidget(e)
	return e
}

// NewSecret makes an input of one line that shows dots.
func NewSecret() *Entry {
	e := NewEntry()
	e.Password = true
	return e
}

// Composing reports whether an input method seems to hold keys.
func (e *Entry) Composing() bool { return e.composing > 0 }

// AcceptsTab is false: Tab goes to the next control, also from several lines.
func (e *Entry) AcceptsTab() bool { return false }

// FocusGained forgets keys that were pressed elsewhere.
func (e *Entry) FocusGained() {
	e.forgetKeys()
	e.Entry.FocusGained()
	if e.OnFocus != nil {
		e.OnFocus(true)
	}
}

// FocusLost forgets keys that will be let go elsewhere.
func (e *Entry) FocusLost() {
	e.forgetKeys()
	e.Entry.FocusLost()
	if e.OnFocus != nil {
		e.OnFocus(false)
	}
}

func (e *Entry) forgetKeys() {
	e.composing, e.enterDown, e.submitted = 0, false, false
}

// KeyDown counts the keys that should bring a character.
func (e *Entry) KeyDown(event *fyne.KeyEvent) {
	switch {
	case isEnter(event.Name):
		e.enterDown, e.submitted = true, false
	case printable(event.Name) && e.modifiers()&(fyne.KeyModifierControl|fyne.KeyModifierAlt|fyne.KeyModifierSuper) == 0:
		e.composing++
	}
	e.Entry.KeyDown(event)
}

// KeyUp ends a held Enter.
func (e *Entry) KeyUp(event *fyne.KeyEvent) {
	if isEnter(event.Name) {
		e.enterDown, e.submitted = false, false
	}
	e.Entry.KeyUp(event)
}

// TypedRune puts a character in; it shows that no input method holds keys any more.
func (e *Entry) TypedRune(r rune) {
	e.composing = 0
	e.Entry.TypedRune(r)
}

// TypedKey acts on a key, unless it steers an input method.
func (e *Entry) TypedKey(event *fyne.KeyEvent) {
	if e.composing > 0 && e.steers(event.Name) {
		return
	}
	if e.OnKey != nil && e.OnKey(event) {
		return
	}
	switch {
	case isEnter(event.Name):
		e.enter()
	case event.Name == fyne.KeyEscape: // Fyne's would end here
		handKey(e, event)
	default:
		e.Entry.TypedKey(event)
	}
}

// steers says whether a key steers an input method that holds keys, and keeps the count.
func (e *Entry) steers(name fyne.KeyName) bool {
	switch name {
	case fyne.KeyBackspace:
		e.composing--
	case fyne.KeyEscape:
		e.composing = 0
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeyDelete, fyne.KeyTab, fyne.KeyHome, fyne.KeyEnd, fyne.KeyPageUp,
		fyne.KeyPageDown, fyne.KeyLeft, fyne.KeyRight, fyne.KeyUp, fyne.KeyDown:
	default:
		return false
	}
	return true
}

func (e *Entry) enter() {
	shift := e.modifiers()&fyne.KeyModifierShift != 0
	if e.MultiLine && shift != e.EnterBreaks {
		e.Entry.TypedRune('\n')
		return
	}
	if e.Disabled() || e.OnSubmit == nil || e.submitted {
		return
	}
	e.submitted = e.enterDown
	e.OnSubmit(e.Text)
}

// TypedShortcut pastes with a limit, and hands on what an input does not know: Fyne would let it end here.
func (e *Entry) TypedShortcut(shortcut fyne.Shortcut) {
	if e.OnShortcut != nil && e.OnShortcut(shortcut) {
		return
	}
	switch s := shortcut.(type) {
	case *fyne.ShortcutPaste:
		if e.tooBig(s.Clipboard) {
			return
		}
	case *desktop.CustomShortcut:
		if !editing(s.KeyName) {
			e.handOn(shortcut)
			return
		}
	}
	e.Entry.TypedShortcut(shortcut)
}

func (e *Entry) tooBig(clipboard fyne.Clipboard) bool {
	if clipboard == nil {
		return true
	}
	text := clipboard.Content()
	if len(text)+len(e.Text)-len(e.SelectedText()) <= MaxText {
		return false
	}
	if e.OnBigPaste != nil && !e.Disabled() {
		e.OnBigPaste(text)
	}
	return true
}

func (e *Entry) handOn(shortcut fyne.Shortcut) {
	if e.window != nil {
		e.window.TypedShortcut(shortcut)
		return
	}
	handShortcut(e, shortcut)
}

func (e *Entry) modifiers() fyne.KeyModifier {
	if e.Modifiers != nil {
		return e.Modifiers()
	}
	if d, ok := fyne.CurrentApp().Driver().(desktop.Driver); ok {
		return d.CurrentKeyModifiers()
	}
	return 0
}

func isEnter(name fyne.KeyName) bool { return name == fyne.KeyReturn || name == fyne.KeyEnter }

// printable says whether a key brings a character by itself. Fyne names those keys by the character.
func printable(name fyne.KeyName) bool {
	return name == fyne.KeySpace || utf8.RuneCountInString(string(name)) == 1
}

// editing says whether a shortcut with this key moves or deletes in a text.
func editing(name fyne.KeyName) bool {
	switch name {
	case fyne.KeyLeft, fyne.KeyRight, fyne.KeyBackspace, fyne.KeyDelete:
		return true
	}
	return false
}
