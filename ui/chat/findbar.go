package chat

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"steward/ui/form"
	"steward/ui/text"
	"steward/ui/theme"
)

const (
	findWidth  float32 = 400
	findHeight float32 = 44
)

// findBar is what the person types into to find words in the conversation.
type findBar struct {
	widget.BaseWidget
	f     *finder
	entry *form.Entry
	count *fitted
	row   *fyne.Container
	body  *column
}

func newFindBar(f *finder) *findBar {
	b := &findBar{f: f, count: newFitted(theme.CaptionSize)}
	b.entry = form.NewEntry()
	b.entry.SetPlaceHolder(lang.X("chat.find", "Find in this chat"))
	b.entry.OnChanged = f.search
	b.entry.OnKey = b.key
	b.entry.OnShortcut = func(s fyne.Shortcut) bool { return f.p.d.Shortcut(s) }
	button := func(icon string, do func()) *chip {
		c := newChip(quiet, icon, "", do)
		c.onShort = f.p.d.Shortcut
		return c
	}
	b.row = newLine(theme.Step, nil, container.NewThemeOverride(b.entry, theme.Quiet()), b.count.box,
		button("chevron-up", func() { f.move(-1) }), button("chevron-down", func() { f.move(1) }), button("cross", f.close))
	b.body = newColumn(0, pad{}, container.New(layout.NewCustomPaddedLayout(1, 1, theme.Step, theme.Step), b.row))
	b.body.ground, b.body.stroke = theme.Card, theme.Line
	b.ExtendBaseWidget(b)
	b.Hide()
	return b
}

// key has the first look at a key.
func (b *findBar) key(e *fyne.KeyEvent) bool {
	switch e.Name {
	case fyne.KeyEscape:
		b.f.p.keyFromText(e)
	case fyne.KeyReturn, fyne.KeyEnter:
		by := 1
		if b.shift() {
			by = -1
		}
		b.f.move(by)
	case fyne.KeyDown:
		b.f.move(1)
	case fyne.KeyUp:
		b.f.move(-1)
	default:
		return false
	}
	return true
}

func (b *findBar) shift() bool {
	if b.entry.Modifiers != nil {
		return b.entry.Modifiers()&fyne.KeyModifierShift != 0
	}
	d, ok := fyne.CurrentApp().Driver().(desktop.Driver)
	return ok && d.CurrentKeyModifiers()&fyne.KeyModifierShift != 0
}

// say shows how many places there are, and which of them is the current one.
func (b *findBar) say() {
	words := ""
	switch n := len(b.f.hits); {
	case b.f.words == "":
	case n == 0:
		words = lang.X("chat.find_none", "Nothing found")
	default:
		words = lang.X("chat.find_count", "{{.at}} of {{.count}}", map[string]any{"at": b.f.at + 1, "count": n})
	}
	b.count.set(words, text.Run{Color: theme.Dim})
	b.row.Refresh()
}

// CreateRenderer is Fyne's.
func (b *findBar) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(b.body) }
