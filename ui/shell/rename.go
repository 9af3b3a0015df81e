package shell

import (
	"context"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"

	"steward/app"
	"steward/ui/button"
	"steward/ui/form"
	"steward/ui/text"
	"steward/ui/theme"
)

// rename asks for a conversation's new title.
func (b *sideBar) rename(c app.Conversation) {
	s := b.s
	entry := form.NewEntry()
	entry.SetText(c.Title)
	entry.SetPlaceHolder(titleOf(c))
	var done func()
	save := func(title string) {
		title = strings.TrimSpace(title)
		done()
		if title != "" && title != c.Title {
			s.background(func(ctx context.Context) error { return s.app.Rename(ctx, c.ID, title) }, nil)
		}
	}
	entry.OnSubmit = save
	entry.OnKey = func(e *fyne.KeyEvent) bool {
		if e.Name == fyne.KeyEscape {
			done()
			return true
		}
		return false
	}
	cancel := button.New(button.Outlined, "", lang.X("common.cancel", "Cancel"), func() { done() })
	ok := button.New(button.Strong, "", lang.X("shell.rename_do", "Rename"), func() { save(entry.Text) })
	wide := canvas.NewRectangle(theme.Color(theme.Clear))
	wide.SetMinSize(fyne.NewSize(380, 0))
	done = s.layer.Dialog(container.New(layout.NewCustomPaddedVBoxLayout(3*theme.Step),
		text.NewLabel(lang.X("shell.rename_title", "Rename the chat"), text.Run{Bold: true}, text.Whole), container.NewStack(wide, entry),
		container.NewHBox(layout.NewSpacer(), cancel, ok)), nil)
	s.window.Canvas().Focus(entry)
	entry.TypedShortcut(&fyne.ShortcutSelectAll{})
}
