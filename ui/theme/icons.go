package theme

import (
	"path"
	"sync"

	"fyne.io/fyne/v2"
	fynetheme "fyne.io/fyne/v2/theme"

	"steward/assets"
)

// controls are the parts of Fyne's check boxes and radio buttons.
var controls = []string{"controls/box", "controls/box-fill", "controls/box-checked", "controls/box-partial", "controls/ring"}

// drawings holds each icon once, so that Fyne's caches know it again.
var drawings = sync.OnceValue(func() map[string]*fynetheme.ThemedResource {
	all := make(map[string]*fynetheme.ThemedResource)
	for _, name := range append(assets.IconNames(), controls...) {
		if svg, ok := assets.Icon(name); ok {
			all[name] = fynetheme.NewThemedResource(fyne.NewStaticResource("steward-"+path.Base(name)+".svg", svg))
		}
	}
	return all
})

// Icon gives the icon of that name in the text colour; assets.IconNames lists them. A name that is unknown gives the
// question mark, so that a slip is seen and harms nothing.
func Icon(name string) fyne.Resource {
	if icon, ok := drawings()[name]; ok {
		return icon
	}
	return drawings()["question"]
}

type tinted struct {
	name   string
	colour fyne.ThemeColorName
}

var tintedIcons sync.Map // of tinted to *fynetheme.ThemedResource

// IconIn gives the icon in one of the theme's colours, for example Dim, Waiting or OnAccent.
func IconIn(name string, colour fyne.ThemeColorName) fyne.Resource {
	key := tinted{name, colour}
	if icon, ok := tintedIcons.Load(key); ok {
		return icon.(fyne.Resource)
	}
	icon := fynetheme.NewColoredResource(Icon(name), colour)
	kept, _ := tintedIcons.LoadOrStore(key, icon)
	return kept.(fyne.Resource)
}

// replaced says which of our icons Fyne's own widgets and dialogs show.
var replaced = map[fyne.ThemeIconName]string{
	fynetheme.IconNameCancel:         "cross",
	fynetheme.IconNameConfirm:        "check",
	fynetheme.IconNameDelete:         "trash",
	fynetheme.IconNameSearch:         "search",
	fynetheme.IconNameMenu:           "menu",
	fynetheme.IconNameMenuExpand:     "chevron-right",
	fynetheme.IconNameContentAdd:     "plus",
	fynetheme.IconNameContentRemove:  "minus",
	fynetheme.IconNameContentCopy:    "copy",
	fynetheme.IconNameContentClear:   "cross",
	fynetheme.IconNameContentUndo:    "undo",
	fynetheme.IconNameInfo:           "info",
	fynetheme.IconNameQuestion:       "question",
	fynetheme.IconNameWarning:        "warning",
	fynetheme.IconNameError:          "warning",
	fynetheme.IconNameFile:           "file",
	fynetheme.IconNameDocument:       "file",
	fynetheme.IconNameFolder:         "folder",
	fynetheme.IconNameFolderOpen:     "folder",
	fynetheme.IconNameMailAttachment: "attach",
	fynetheme.IconNameMailSend:       "send",
	fynetheme.IconNameMediaPlay:      "play",
	fynetheme.IconNameMediaStop:      "stop",
	fynetheme.IconNameMoreHorizontal: "more",
	fynetheme.IconNameMoveDown:       "chevron-down",
	fynetheme.IconNameMoveUp:         "chevron-up",
	fynetheme.IconNameNavigateBack:   "chevron-left",
	fynetheme.IconNameNavigateNext:   "chevron-right",
	fynetheme.IconNameArrowDropDown:  "chevron-down",
	fynetheme.IconNameArrowDropUp:    "chevron-up",
	fynetheme.IconNameSettings:       "settings",
	fynetheme.IconNameHistory:        "clock",
	fynetheme.IconNameViewRefresh:    "refresh",
	fynetheme.IconNameVisibility:     "eye",
	fynetheme.IconNameVisibilityOff:  "eye-off",
	fynetheme.IconNameDownload:       "download",
	fynetheme.IconNameUpload:         "upload",
	fynetheme.IconNameAccount:        "user",
	fynetheme.IconNameComputer:       "servers",

	fynetheme.IconNameCheckButton:        "controls/box",
	fynetheme.IconNameCheckButtonFill:    "controls/box-fill",
	fynetheme.IconNameCheckButtonChecked: "controls/box-checked",
	fynetheme.IconNameCheckButtonPartial: "controls/box-partial",
	fynetheme.IconNameRadioButton:        "controls/ring",
}

func (s *steward) Icon(name fyne.ThemeIconName) fyne.Resource {
	if ours, ok := replaced[name]; ok {
		return Icon(ours)
	}
	return fynetheme.DefaultTheme().Icon(name)
}
