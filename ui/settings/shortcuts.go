package settings

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/lang"

	"steward/ui/place"
	"steward/ui/text"
)

// paletteID is the one command of the window that has keys and, being the list of all others, no title of its own.
const paletteID = "shell.palette"

// shortcuts lists the keys: what Enter does, those of the commands there are, and those that belong to what has the
// keyboard.
func (s *Place) shortcuts() []fyne.CanvasObject {
	enter := []option{
		{place.EnterSends, lang.X("settings.enter_sends", "Enter sends, Shift+Enter breaks the line")},
		{place.EnterBreaks, lang.X("settings.enter_breaks", "Enter breaks the line, Shift+Enter sends")},
	}
	out := []fyne.CanvasObject{
		labelled(lang.X("settings.enter", "Message field"), choice(enter, s.p.state.enter, func(v string) {
			s.p.state.enter = v
			s.p.do(func(ctx context.Context) error { return s.d.App.SetPreference(ctx, place.PreferEnter, v) }, nil)
		})),
		caption(lang.X("settings.keys_commands", "Commands")),
	}
	for _, k := range s.commandKeys() {
		out = append(out, keyLine(k[0], k[1]))
	}
	out = append(out, caption(lang.X("settings.keys_controls", "In what has the keyboard")))
	for _, k := range [][2]string{
		{"Ctrl Enter", lang.X("settings.key_allow", "Allow the focused card")},
		{"Esc", lang.X("settings.key_escape", "Close what is open, else stop the turn; on a card: deny")},
		{"Tab", lang.X("settings.key_tab", "To the next control")},
		{"Shift Tab", lang.X("settings.key_back_tab", "To the control before")},
		{"↑ ↓  Page Up  Page Down  Home  End", lang.X("settings.key_rows", "Through lists and tables")},
	} {
		out = append(out, keyLine(k[0], k[1]))
	}
	return out
}

// commandKeys are the commands that have keys, as they are registered now.
func (s *Place) commandKeys() (out [][2]string) {
	if s.d.Commands == nil {
		return nil
	}
	seen := map[string]bool{}
	for _, c := range s.d.Commands() {
		title := ""
		switch {
		case c.TitleKey != "":
			title = lang.X(c.TitleKey, c.TitleKey)
		case c.ID == paletteID:
			title = lang.X("settings.key_palette", "Commands, chats, servers, tools, prompts")
		}
		keys := place.KeysText(c.Shortcut)
		if k, ok := c.Shortcut.(*desktop.CustomShortcut); ok && k.Modifier == 0 || keys == "" || title == "" || seen[keys+title] {
			continue // a key without a modifier belongs to what has the keyboard
		}
		seen[keys+title] = true
		out = append(out, [2]string{keys, title})
	}
	return out
}

func keyLine(keys, does string) fyne.CanvasObject {
	return container.NewBorder(nil, nil, &fyne.Container{Layout: fixedWidth{keysWidth}, Objects: []fyne.CanvasObject{text.NewLabel(keys, text.Run{Mono: true}, text.Wrap)}}, nil,
		text.NewLabel(does, text.Run{}, text.Cut))
}
