package text

import (
	"fyne.io/fyne/v2"

	"steward/ui/theme"
)

func fontFor(r rune, s theme.Style) fyne.Resource {
	font, _ := theme.FontFor(r, s)
	return font
}
