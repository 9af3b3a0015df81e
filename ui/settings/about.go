package settings

import (
	"runtime"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"

	"steward/app/clean"
	"steward/assets"
	"steward/ui/button"
	"steward/ui/text"
	"steward/ui/theme"
)

// about shows what the program is, and under which terms.
func (s *Place) about() []fyne.CanvasObject {
	version := lang.X("common.app", "Steward") + " " + clean.Line(s.d.App.Version(), 60)
	system := runtime.GOOS + "/" + runtime.GOARCH + ", " + runtime.Version()
	copied := button.New(button.Outlined, "copy", lang.X("settings.copy_version", "Copy the version"), func() {
		fyne.CurrentApp().Clipboard().SetContent(version + " (" + system + ")")
		s.d.Layer.Toast(lang.X("common.copied", "Copied"))
	})
	licences := button.New(button.Outlined, "file", lang.X("settings.licences", "Licences…"), s.licences)
	return []fyne.CanvasObject{
		newCard(text.NewLabel(version, text.Run{Bold: true}, text.Whole), text.NewLabel(system, text.Run{Color: theme.Dim}, text.Whole)),
		note(lang.X("settings.about_note", "A host for MCP servers that shows what would be sent before it is sent. MIT licence, © 2026 the Steward authors.")),
		note(lang.X("settings.about_licences", "It is made with libraries and fonts of others; their terms go with the program.")),
		beside(licences, copied),
	}
}

// licences shows the terms of everything of others that is part of the program.
func (s *Place) licences() {
	all := lang.X("settings.fonts", "Fonts") + "\n\n" + assets.FontLicense() + "\n\n" + lang.X("settings.libraries", "Libraries") + "\n\n" + assets.Licenses()
	pane := text.NewPane(views())
	pane.View().OnShortcut = func(k fyne.Shortcut) { s.d.Shortcut(k) }
	size := s.d.Window().Canvas().Size()
	pane.SetLeast(fyne.NewSize(min(760, size.Width-30*theme.Step), min(520, size.Height-50*theme.Step)))
	pane.SetBlocks(paragraphs(all))
	var shut func()
	closing := button.New(button.Outlined, "", lang.X("common.close", "Close"), func() { shut() })
	shut = s.d.Layer.Dialog(below(text.NewLabel(lang.X("settings.licences_title", "Licences"), text.Run{Bold: true}, text.Whole), pane,
		container.NewHBox(layout.NewSpacer(), closing)), nil)
	s.d.Window().Canvas().Focus(closing)
}

// paragraphs cuts a long text where it has empty lines, so that only what is seen is laid out.
func paragraphs(all string) (out []*text.Block) {
	for part := range strings.SplitSeq(strings.ReplaceAll(all, "\r\n", "\n"), "\n\n") {
		if part = strings.Trim(part, "\n"); part != "" {
			out = append(out, &text.Block{Runs: []text.Run{{Text: part}}, Code: true, Size: theme.CaptionSize, Before: 2 * theme.Step})
		}
	}
	return out
}
