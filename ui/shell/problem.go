package shell

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"

	"steward/app"
	"steward/ui/button"
	"steward/ui/language"
	"steward/ui/text"
	"steward/ui/theme"
)

const problemWidth float32 = 560

// showProblem says in the window what kept the program from being opened, and what the person can do.
func (s *Shell) showProblem(err error) {
	title, hint := problemWords(app.Explain(err).Key)
	head := text.NewLabel(title, text.Run{Bold: true}, text.Wrap)
	head.SetTextSize(theme.TextSize + 4)
	what := text.NewView(words())
	what.SetText(language.Message(err), text.Run{})
	what.OnShortcut = func(k fyne.Shortcut) {
		if c, ok := s.window.Canvas().(fyne.Shortcutable); ok {
			c.TypedShortcut(k)
		}
	}
	what.OnKey = func(e *fyne.KeyEvent) { s.closeOn(e) }
	todo := text.NewLabel(hint, text.Run{Color: theme.Dim}, text.Wrap)
	ok := button.New(button.Strong, "", lang.X("common.close", "Close"), s.leave)
	column := &fyne.Container{Layout: columnLayout{gap: 4 * theme.Step}, Objects: []fyne.CanvasObject{head, what, todo}}
	content := container.New(layout.NewCustomPaddedLayout(6*theme.Step, 6*theme.Step, 6*theme.Step, 6*theme.Step),
		container.NewBorder(nil, container.NewHBox(layout.NewSpacer(), ok), nil, nil, column))
	s.window.SetContent(container.NewStack(canvas.NewRectangle(theme.Color(theme.Ground)), content))
	height := column.Layout.MinSize(column.Objects).Height + ok.MinSize().Height + 16*theme.Step
	s.window.Resize(fyne.NewSize(problemWidth, max(height, 220)))
	c := s.window.Canvas()
	c.SetOnTypedKey(s.closeOn)
	c.AddShortcut(keys(fyne.KeyQ, 0), func(fyne.Shortcut) { s.leave() })
	c.AddShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyW, Modifier: fyne.KeyModifierShortcutDefault}, func(fyne.Shortcut) { s.leave() })
}

func (s *Shell) closeOn(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyEscape, fyne.KeyReturn, fyne.KeyEnter:
		s.leave()
	}
}

// problemWords gives the heading and what to do, by the key of the message.
func problemWords(key string) (title, hint string) {
	switch key {
	case "folder_locked":
		return lang.X("shell.problem_locked", "Steward is open already"),
			lang.X("shell.problem_locked_hint", "Use the window that is open, or close it first. To work beside it, start Steward with another folder: steward --data FOLDER.")
	case "folder_newer":
		return lang.X("shell.problem_newer", "This folder belongs to a newer Steward"),
			lang.X("shell.problem_newer_hint", "Install the newer version, or start with another folder: steward --data FOLDER. Nothing in this folder was changed.")
	case "folder_damaged", "folder_foreign":
		return lang.X("shell.problem_damaged", "The data folder cannot be read"),
			lang.X("shell.problem_damaged_hint", "Nothing was changed. Copy the folder somewhere safe before anything else, then put a backup in its place, or start with another folder: steward --data FOLDER.")
	case "folder_read_only", "not_permitted":
		return lang.X("shell.problem_read_only", "The data folder cannot be written to"),
			lang.X("shell.problem_read_only_hint", "Give yourself the right to write there, or start with another folder: steward --data FOLDER.")
	case "disk_full":
		return lang.X("shell.problem_full", "The disk is full"),
			lang.X("shell.problem_full_hint", "Make room and start again. Steward runs nothing that it cannot record.")
	}
	return lang.X("shell.problem_other", "Steward could not start"),
		lang.X("shell.problem_other_hint", "Try again. If it stays like this, start with another folder: steward --data FOLDER, and tell us what stands above.")
}

// columnLayout stacks texts that wrap.
type columnLayout struct{ gap float32 }

type wraps interface{ HeightFor(width float32) float32 }

// MinSize is Fyne's: for the width of the window it is in.
func (l columnLayout) MinSize(objects []fyne.CanvasObject) fyne.Size {
	width := problemWidth - 12*theme.Step
	height := float32(0)
	for _, o := range objects {
		if w, ok := o.(wraps); ok {
			height += w.HeightFor(width) + l.gap
		}
	}
	return fyne.NewSize(width, height)
}

// Layout is Fyne's.
func (l columnLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	y := float32(0)
	for _, o := range objects {
		if w, ok := o.(wraps); ok {
			height := w.HeightFor(size.Width)
			o.Move(fyne.NewPos(0, y))
			o.Resize(fyne.NewSize(size.Width, height))
			y += height + l.gap
		}
	}
}
