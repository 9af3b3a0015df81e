package settings

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"

	"steward/app"
	"steward/app/clean"
	"steward/ui/language"
	"steward/ui/list"
	"steward/ui/text"
	"steward/ui/theme"
)

const (
	choiceRow  float32 = 26
	choiceRows float32 = 5 // visible at once
)

// modelChoice lists an endpoint's models below the field that names one; what is typed there searches them.
type modelChoice struct {
	canvas *fyne.Container // hidden where there is nothing to choose
	none   *text.Label
	list   *list.List
	all    []app.ModelInfo
	shown  []app.ModelInfo
}

func newModelChoice(chosen func(model string)) *modelChoice {
	c := &modelChoice{none: text.NewLabel("", text.Run{Color: theme.Dim}, text.Wrap)}
	c.list = list.NewEqual(list.Source{Len: func() int { return len(c.shown) }, Build: c.row}, choiceRow)
	c.list.Selectable, c.list.Inset, c.list.Radius = true, theme.Step, theme.Radius
	c.list.OnSelected = func(i int) { chosen(c.shown[i].ID) }
	c.canvas = container.NewStack(tall(0), c.list, c.none)
	c.canvas.Hide()
	return c
}

func (c *modelChoice) row(i int) fyne.CanvasObject {
	m := c.shown[i]
	name := text.NewLabel(clean.Line(m.ID, 200), text.Run{}, text.Cut)
	note := text.NewLabel(language.CanDo(m), text.Run{Color: theme.Dim}, text.Whole)
	note.SetTextSize(theme.CaptionSize)
	return container.New(layout.NewCustomPaddedLayout(0, 0, 2*theme.Step, 2*theme.Step), container.NewBorder(nil, nil, nil, middle(note), middle(name)))
}

// set takes over what an endpoint offers; models that hold no conversations are no choice.
func (c *modelChoice) set(models []app.ModelInfo) {
	c.all = slices.DeleteFunc(slices.Clone(models), func(m app.ModelInfo) bool { return m.Chat == app.Unsupported })
	c.shown = c.all
	c.show()
}

func (c *modelChoice) first() string {
	if len(c.all) == 0 {
		return ""
	}
	return c.all[0].ID
}

// search shows those whose name holds every word of what is typed; all where it is one of them, or nothing.
func (c *modelChoice) search(typed string) {
	if slices.ContainsFunc(c.all, func(m app.ModelInfo) bool { return m.ID == strings.TrimSpace(typed) }) {
		return // it was chosen: the list stays as it was
	}
	c.shown = nil
	for _, m := range c.all {
		if holdsWords(m.ID+" "+m.Title, typed) {
			c.shown = append(c.shown, m)
		}
	}
	c.show()
}

func holdsWords(s, typed string) bool {
	s = strings.ToLower(s)
	return !slices.ContainsFunc(strings.Fields(strings.ToLower(typed)), func(w string) bool { return !strings.Contains(s, w) })
}

func (c *modelChoice) show() {
	c.none.SetText("", text.Run{Color: theme.Dim})
	if len(c.all) > 0 && len(c.shown) == 0 {
		c.none.SetText(lang.X("settings.no_such_model", "The endpoint lists no such model; it is asked for all the same."), text.Run{Color: theme.Dim})
	}
	c.list.Reset()
	c.canvas.Hidden = len(c.all) == 0
	c.canvas.Objects[0] = tall(choiceRow * min(float32(max(len(c.shown), 1)), choiceRows))
	c.canvas.Refresh()
}
