package shell

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"steward/app/consent"
	"steward/ui/button"
	"steward/ui/text"
	"steward/ui/theme"
)

// banner says, over a place, that something waits elsewhere.
type banner struct {
	widget.BaseWidget
	show   func(i consent.Item)
	first  consent.Item
	ground *canvas.Rectangle
	rule   *canvas.Rectangle
	icon   *widget.Icon
	words  *text.Label
	button *button.Button
}

func newBanner(show func(consent.Item)) *banner {
	b := &banner{show: show, ground: canvas.NewRectangle(color.Transparent), rule: canvas.NewRectangle(color.Transparent)}
	b.rule.SetMinSize(fyne.NewSize(1, 1))
	b.icon = widget.NewIcon(nil)
	b.words = text.NewLabel("", text.Run{}, text.Cut)
	b.button = button.New(button.Outlined, "", lang.X("common.show", "Show"), func() { b.show(b.first) })
	b.ExtendBaseWidget(b)
	b.paint()
	b.Hide()
	return b
}

// set shows what waits; nothing hides the banner.
func (b *banner) set(items []consent.Item) (changed bool) {
	was := b.Visible()
	if len(items) == 0 {
		b.Hide()
		return was
	}
	b.first = items[0]
	words := wants(items[0])
	if n := len(items) - 1; n > 0 {
		words += " " + lang.X("shell.and_more", "· and {{.count}} more", map[string]any{"count": n})
	}
	b.words.SetText(words, text.Run{Color: theme.Waiting})
	b.Show()
	return !was
}

// wants says what an item waits for. Names in it are revealed already.
func wants(i consent.Item) string {
	names := map[string]any{"server": i.Presentation.Server, "tool": i.Presentation.Tool}
	switch i.Kind {
	case consent.KindCall:
		return lang.X("shell.wants_call", "{{.server}} waits for your yes to run {{.tool}}", names)
	case consent.KindSignIn:
		if i.SignIn.Phase == consent.SignInBrowser {
			return lang.X("shell.waits_browser", "Waiting until you have signed in to {{.server}} in the browser", names)
		}
		return lang.X("shell.wants_signin", "{{.server}} wants you to sign in", names)
	case consent.KindRounds:
		return lang.X("shell.wants_rounds", "A chat has reached its limit and waits for your yes to go on")
	case consent.KindElicitation:
		return lang.X("shell.wants_answer", "{{.server}} asks you something", names)
	}
	return lang.X("shell.wants_model", "{{.server}} wants to ask the model", names)
}

func (b *banner) paint() {
	b.ground.FillColor = theme.Color(theme.WaitingTint)
	b.rule.FillColor = theme.Color(theme.Line)
	b.icon.SetResource(theme.IconIn("clock", theme.Waiting))
}

// Refresh follows the theme.
func (b *banner) Refresh() {
	b.paint()
	b.BaseWidget.Refresh()
}

// CreateRenderer is Fyne's.
func (b *banner) CreateRenderer() fyne.WidgetRenderer {
	icon := container.NewCenter(container.NewGridWrap(fyne.NewSquareSize(theme.IconSize), b.icon))
	words := container.New(layout.NewCustomPaddedLayout(0, 0, 2*theme.Step, 2*theme.Step), &fyne.Container{Layout: centred{}, Objects: []fyne.CanvasObject{b.words}})
	row := container.NewBorder(nil, nil, icon, b.button, words)
	padded := container.New(layout.NewCustomPaddedLayout(theme.Step, theme.Step, 5*theme.Step, 3*theme.Step), row)
	return widget.NewSimpleRenderer(container.NewStack(b.ground, container.NewBorder(nil, b.rule, nil, nil, padded)))
}

// centred gives its object the whole width and its own height, in the middle.
type centred struct{}

// MinSize is Fyne's.
func (centred) MinSize(o []fyne.CanvasObject) fyne.Size { return o[0].MinSize() }

// Layout is Fyne's.
func (centred) Layout(o []fyne.CanvasObject, size fyne.Size) {
	height := o[0].MinSize().Height
	o[0].Resize(fyne.NewSize(size.Width, height))
	o[0].Move(fyne.NewPos(0, (size.Height-height)/2))
}
