package settings

import (
	"context"
	"errors"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"

	"steward/app/clean"
	"steward/app/secrets"
	"steward/ui/button"
	"steward/ui/form"
	"steward/ui/language"
	"steward/ui/sentence"
	"steward/ui/text"
	"steward/ui/theme"
)

func keptWords(kind string) (string, fyne.ThemeColorName) {
	switch kind {
	case secrets.KindKeyring:
		return "✓ " + lang.X("settings.kept_keyring", "In the system's keyring"), theme.Good
	case secrets.KindLocked:
		return "! " + lang.X("settings.kept_locked", "Locked: waits for its password"), theme.Waiting
	case secrets.KindFile:
		return "✓ " + lang.X("settings.kept_file", "In an encrypted file of the data folder"), theme.Good
	case secrets.KindMemory:
		return "! " + lang.X("settings.kept_memory", "In memory, until the program ends"), theme.Waiting
	case secrets.KindAbsent:
		return "✗ " + lang.X("settings.kept_absent", "There is no keyring on this computer"), theme.Refusal
	}
	return "✗ " + lang.X("settings.kept_error", "The keyring does not work"), theme.Refusal
}

// secrets shows where keys are kept, whether they can be read, and what can be done about it.
func (s *Place) secrets() []fyne.CanvasObject {
	if !s.p.looked {
		return []fyne.CanvasObject{note(lang.X("common.loading", "Loading…"))}
	}
	state := s.p.state.secrets
	words, color := keptWords(state.Kind)
	closed := s.p.closedFile()
	if closed {
		words = "! " + lang.X("settings.kept_file_closed", "In an encrypted file that waits for its passphrase")
		state.Message = lang.X("settings.kept_file_closed_text", "Until it is opened, models and servers that need a key cannot be used.")
	}
	head := []fyne.CanvasObject{text.NewLabel(words, text.Run{Bold: true, Color: color}, text.Whole)}
	if state.Message != "" {
		head = append(head, wrapped(clean.Clean(sentence.Worded(state.Message)), text.Run{Color: theme.Dim}, inCard))
	}
	out := []fyne.CanvasObject{
		note(lang.X("settings.secrets_note", "Keys and tokens are never written in clear text. Nothing else is chosen for you where the keyring does not work.")),
		newCard(head...),
	}
	buttons := beside()
	if state.Kind == secrets.KindLocked {
		unlock := button.New(button.Outlined, "unlock", lang.X("settings.unlock", "Unlock"), func() {
			if closed {
				s.passphrase()
			} else {
				s.unlock()
			}
		})
		unlock.SetLook(button.Strong)
		buttons.Add(unlock)
	}
	if state.Kind != secrets.KindFile && !closed {
		buttons.Add(button.New(button.Outlined, "refresh", lang.X("common.retry", "Try again"), s.retry))
		buttons.Add(button.New(button.Outlined, "", lang.X("settings.use_file", "Encrypted file…"), func() { s.passphrase() }))
	}
	if state.Kind != secrets.KindMemory && state.Kind != secrets.KindKeyring && state.Kind != secrets.KindFile {
		buttons.Add(button.New(button.Outlined, "", lang.X("settings.use_memory", "Only until the end"), s.memory))
	}
	out = append(out, buttons, caption(lang.X("settings.secret_names", "Stored")))
	for _, name := range s.p.state.names {
		remove := button.New(button.Outlined, "trash", "", func() { s.deleteSecret(name) })
		out = append(out, newCard(container.NewBorder(nil, nil, nil, remove, middle(text.NewLabel(clean.Reveal(name), text.Run{Mono: true}, text.Cut)))))
	}
	if len(s.p.state.names) == 0 {
		out = append(out, note(lang.X("settings.no_secrets", "No secret is stored, or none can be listed now.")))
	}
	return out
}

func (s *Place) deleteSecret(name string) {
	s.ask(lang.X("settings.delete_secret", "Delete the secret “{{.name}}”?", map[string]any{"name": clean.Reveal(name)}),
		lang.X("settings.delete_secret_text", "What uses it will ask for it again. It cannot be brought back."), lang.X("common.delete", "Delete"), func() {
			s.p.do(func(ctx context.Context) error { return s.d.App.DeleteSecret(ctx, name) }, nil)
		})
}

// unlock lets the keyring ask for its password.
func (s *Place) unlock() {
	s.p.do(func(ctx context.Context) error {
		if after := s.d.App.UnlockSecrets(ctx); after.Kind == secrets.KindLocked {
			return errors.New(after.Message)
		}
		return nil
	}, nil)
}

func (s *Place) retry() {
	s.p.do(func(ctx context.Context) error { s.d.App.RetrySecrets(ctx); return nil }, nil)
}

func (s *Place) memory() {
	s.ask(lang.X("settings.memory_title", "Keep secrets only until the end?"), lang.X("settings.memory_text", "They are lost when Steward is closed; you type them again at the next start."),
		lang.X("settings.use_memory", "Only until the end"), func() {
			s.p.do(func(context.Context) error { s.d.App.UseSecretsMemory(); return nil }, nil)
		})
}

// phrase is the dialog that asks for the encrypted file's passphrase: twice where the file is made, since nothing can
// bring it back, and once where it is there and tells a wrong one.
type phrase struct {
	s             *Place
	once          bool
	first, second *form.Entry
	status        *text.Label
	do            *button.Button
	close         func()
}

func (s *Place) passphrase() *phrase { return s.askPassphrase(s.p.state.file) }

// OpenSecrets asks for the passphrase of the encrypted file, over whatever place is shown.
func (s *Place) OpenSecrets() { s.askPassphrase(true) }

// askPassphrase asks once where the file is there, else twice.
func (s *Place) askPassphrase(there bool) *phrase {
	p := &phrase{s: s, once: there, first: form.NewSecret(), second: form.NewSecret(), status: text.NewLabel("", text.Run{}, text.Wrap)}
	p.do = button.New(button.Strong, "", lang.X("settings.use_file_do", "Use the file"), p.use)
	for _, e := range []*form.Entry{p.first, p.second} {
		e.OnChanged = func(string) { p.check() }
		e.OnSubmit = func(string) { p.use() }
		e.OnShortcut = s.d.Shortcut
		e.OnKey = func(ev *fyne.KeyEvent) bool {
			if ev.Name == fyne.KeyEscape {
				p.close()
				return true
			}
			return false
		}
	}
	title, about := lang.X("settings.file_title", "Keep secrets in an encrypted file"),
		lang.X("settings.file_text", "The passphrase is asked for at every start; it has at least 8 bytes. Without it the secrets are lost.")
	if p.once {
		title, about = lang.X("settings.file_open_title", "Open the encrypted file"), lang.X("settings.file_open_text", "The secrets of this data folder are in a file that its passphrase opens.")
		p.do.SetText(lang.X("settings.file_open_do", "Open"))
	}
	body := below(text.NewLabel(title, text.Run{Bold: true}, text.Whole), wrapped(about, text.Run{Color: theme.Dim}, asking),
		labelled(lang.X("settings.passphrase", "Passphrase"), p.first))
	if !p.once {
		body.Add(labelled(lang.X("settings.passphrase_again", "Once more"), p.second))
	}
	body.Add(&fyne.Container{Layout: fixedWidth{asking}, Objects: []fyne.CanvasObject{p.status}})
	body.Add(container.NewHBox(layout.NewSpacer(), button.New(button.Outlined, "", lang.X("common.cancel", "Cancel"), func() { p.close() }), p.do))
	p.close = s.d.Layer.Dialog(body, nil)
	p.check()
	if w := s.d.Window(); w != nil {
		w.Canvas().Focus(p.first)
	}
	return p
}

func (p *phrase) check() {
	switch {
	case p.first.Text == "":
		p.status.SetText("", text.Run{})
		p.do.Disable()
	case !p.once && p.first.Text != p.second.Text:
		if p.second.Text != "" {
			p.status.SetText(lang.X("settings.passphrase_differs", "The two differ."), text.Run{Color: theme.Waiting})
		}
		p.do.Disable()
	default:
		p.status.SetText("", text.Run{})
		p.do.Enable()
	}
}

func (p *phrase) use() {
	if p.do.Disabled() {
		return
	}
	p.do.Disable()
	words, s := p.first.Text, p.s
	p.status.SetText(lang.X("common.working", "Working…"), text.Run{Color: theme.Dim})
	s.d.Go(func(ctx context.Context) {
		err := s.d.App.UseSecretsFile(ctx, words)
		s.d.Do(func() {
			if err != nil {
				p.do.Enable()
				p.status.SetText("✗ "+language.Message(err), text.Run{Color: theme.Refusal})
				return
			}
			p.first.SetText("")
			p.second.SetText("")
			p.close()
			s.p.happened()
		})
	})
}
