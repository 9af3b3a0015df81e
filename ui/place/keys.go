package place

import (
	"runtime"

	"fyne.io/fyne/v2"
)

// keyNames are keys that people know by another word than Fyne.
var keyNames = map[fyne.KeyName]string{
	fyne.KeyReturn: "Enter", fyne.KeyEnter: "Enter", fyne.KeyEscape: "Esc", fyne.KeyPageUp: "Page Up", fyne.KeyPageDown: "Page Down",
}

// KeysText is a shortcut as a person reads it, "" for one without keys.
func KeysText(s fyne.Shortcut) string {
	k, ok := s.(fyne.KeyboardShortcut)
	if !ok {
		return ""
	}
	out := ""
	for _, m := range []struct {
		mod       fyne.KeyModifier
		word, mac string
	}{
		{fyne.KeyModifierControl, "Ctrl ", "⌃"}, {fyne.KeyModifierAlt, "Alt ", "⌥"}, {fyne.KeyModifierShift, "Shift ", "⇧"}, {fyne.KeyModifierSuper, "Super ", "⌘"},
	} {
		if k.Mod()&m.mod == 0 {
			continue
		}
		if runtime.GOOS == "darwin" {
			out += m.mac
		} else {
			out += m.word
		}
	}
	if name, ok := keyNames[k.Key()]; ok {
		return out + name
	}
	return out + string(k.Key())
}
