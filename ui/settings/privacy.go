package settings

import (
	"context"
	"net/url"
	"path/filepath"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"

	"steward/app"
	"steward/app/clean"
	"steward/ui/button"
	"steward/ui/form"
	"steward/ui/language"
	"steward/ui/list"
	"steward/ui/place"
	"steward/ui/text"
	"steward/ui/theme"
)

// privacy says what is stored where, what leaves this computer, how long things are kept, and what can be done.
func (s *Place) privacy() []fyne.CanvasObject {
	kept, _ := keptWords(s.p.state.secrets.Kind)
	switch {
	case !s.p.looked:
		kept = lang.X("common.loading", "Loading…")
	case s.p.closedFile():
		kept = lang.X("settings.kept_file_closed", "In an encrypted file that waits for its passphrase")
	}
	dir := s.d.App.DataDir()
	stored := newCard(
		fact(lang.X("settings.stored_chats", "Chats, record, settings"), filepath.Join(dir, "steward.db")),
		fact(lang.X("settings.stored_end", "End of the record"), filepath.Join(dir, "steward.anchor")),
		fact(lang.X("settings.stored_keys", "Keys and secrets"), kept),
	)
	leaves := []string{lang.X("settings.leaves_model", "What you write, what tools answered, and the tools' descriptions go to the model of the chat: {{.where}}.", map[string]any{"where": s.modelHost()}),
		lang.X("settings.leaves_servers", "The arguments of a call go to its server once it is allowed. What a server then does with them is its own affair."),
		lang.X("settings.leaves_nothing", "Nothing else is sent: no statistics, no search for updates.")}
	out := []fyne.CanvasObject{caption(lang.X("settings.stored_where", "What is stored, and where")), stored, caption(lang.X("settings.leaves", "What leaves this computer"))}
	for _, l := range leaves {
		out = append(out, note(l))
	}
	return append(out, caption(lang.X("settings.retention", "How long it is kept")),
		note(lang.X("settings.retention_chats", "Chats stay until you erase them. A temporary chat is erased when it is left.")),
		note(lang.X("settings.retention_record", "The record stays for good. When a chat is erased, the arguments, results and reasons of its calls go with it; that there was a call, when, of which server and tool, and how it was decided, stays, so that the chain still holds.")),
		note(lang.X("settings.retention_missing", "There is no limit by age or size yet: nothing is erased by itself.")),
		beside(button.New(button.Outlined, "download", lang.X("settings.export_chats", "Export all chats…"), s.exportChats),
			button.New(button.Outlined, "trash", lang.X("settings.erase_chat", "Erase a chat…"), func() { s.eraseChat() }),
			button.New(button.Outlined, "audit", lang.X("settings.to_record", "To the record"), func() { s.d.Open(place.Audit, "") })))
}

// fact is a name and what is to be known of it.
func fact(name, words string) fyne.CanvasObject {
	return container.NewBorder(nil, nil, &fyne.Container{Layout: fixedWidth{170}, Objects: []fyne.CanvasObject{text.NewLabel(name, text.Run{Color: theme.Dim}, text.Wrap)}}, nil,
		wrapped(clean.Reveal(words), text.Run{}, inCard-170-2*theme.Step))
}

// modelHost is where the chosen model answers.
func (s *Place) modelHost() string {
	i := slices.IndexFunc(s.p.state.endpoints, func(e app.ModelEndpoint) bool { return e.Chosen })
	if i < 0 || s.p.state.endpoints[i].Demo {
		return lang.X("settings.model_here", "the built-in demo on this computer")
	}
	e := s.p.state.endpoints[i]
	if u, err := url.Parse(e.BaseURL); err == nil && u.Host != "" {
		return endpointName(e) + " (" + clean.Reveal(u.Host) + ")"
	}
	return endpointName(e)
}

// exportChats asks for a folder and writes every chat into a new one in it.
func (s *Place) exportChats() {
	d := dialog.NewFolderOpen(func(folder fyne.ListableURI, err error) {
		switch {
		case err != nil:
			s.failed(err)
		case folder != nil:
			s.exportChatsTo(folder.Path())
		}
	}, s.d.Window())
	d.SetTitleText(lang.X("settings.export_where", "Where should the chats go?"))
	d.SetConfirmText(lang.X("settings.export_here", "Export here"))
	s.d.Layer.File(d)
}

func (s *Place) exportChatsTo(dir string) {
	s.d.Layer.Toast(lang.X("common.working", "Working…"))
	s.d.Go(func(ctx context.Context) {
		folder, n, err := s.d.App.ExportConversations(ctx, dir)
		s.d.Do(func() {
			if err != nil {
				s.failed(err)
				return
			}
			s.d.Layer.Toast(lang.X("settings.chats_exported", "{{.count}} chats were exported to {{.path}}", map[string]any{"count": n, "path": clean.Reveal(folder)}))
		})
	})
}

// mostFound is how many chats the dialog that erases one lists; searching finds the others.
const mostFound = 200

// eraser is the dialog in which the chat to be erased is chosen.
type eraser struct {
	s      *Place
	search *form.Entry
	found  []app.Conversation
	rows   *list.List
	status *text.Label
	round  int
	close  func()
}

func (s *Place) eraseChat() *eraser {
	e := &eraser{s: s, search: form.NewEntry(), status: text.NewLabel("", text.Run{Color: theme.Dim}, text.Cut)}
	e.search.SetPlaceHolder(lang.X("settings.erase_search", "Search chats"))
	e.search.OnChanged = func(string) { e.look() }
	e.search.OnShortcut = s.d.Shortcut
	e.search.OnKey = func(k *fyne.KeyEvent) bool {
		switch k.Name {
		case fyne.KeyEscape:
			e.close()
		case fyne.KeyDown:
			s.d.Window().Canvas().Focus(e.rows)
		default:
			return false
		}
		return true
	}
	e.rows = list.NewEqual(list.Source{Len: func() int { return len(e.found) }, Build: func(i int) fyne.CanvasObject {
		l := text.NewLabel("", text.Run{}, text.Cut)
		e.show(l, i)
		return l
	}, Update: func(o fyne.CanvasObject, i int) bool {
		e.show(o.(*text.Label), i)
		return true
	}}, rowHeight)
	e.rows.Selectable, e.rows.OpenOnTap, e.rows.Radius = true, true, theme.Radius
	e.rows.OnOpened = func(i int) { e.ask(e.found[i]) }
	e.close = s.d.Layer.Dialog(below(text.NewLabel(lang.X("settings.erase_title", "Which chat should be erased?"), text.Run{Bold: true}, text.Whole), room(asking),
		e.search, container.NewStack(tall(260), e.rows), e.status,
		container.NewHBox(layout.NewSpacer(), button.New(button.Outlined, "", lang.X("common.cancel", "Cancel"), func() { e.close() }))), nil)
	e.look()
	s.d.Window().Canvas().Focus(e.search)
	return e
}

func (e *eraser) show(l *text.Label, i int) {
	c := e.found[i]
	l.SetRuns(text.Run{Text: " " + chatTitle(c)}, text.Run{Text: "   " + c.Updated.Local().Format("2006-01-02 15:04"), Color: theme.Dim})
}

func chatTitle(c app.Conversation) string {
	if t := clean.Line(c.Title, 200); t != "" {
		return t
	}
	return lang.X("settings.untitled", "Untitled chat")
}

// look lists the chats that fit what was typed, also those in the archive.
func (e *eraser) look() {
	e.round++
	round, words := e.round, e.search.Text
	e.s.d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, enough)
		defer cancel()
		found, err := e.s.d.App.Conversations(ctx, app.Query{Search: words, Limit: mostFound})
		if err == nil {
			var more []app.Conversation
			more, err = e.s.d.App.Conversations(ctx, app.Query{Search: words, Limit: mostFound, Archived: true})
			found = append(found, more...)
		}
		e.s.d.Do(func() {
			if round != e.round {
				return
			}
			e.found = found
			words := ""
			switch {
			case err != nil:
				words = language.Message(err)
			case len(found) == 0:
				words = lang.X("settings.erase_none", "No chat fits.")
			}
			e.status.SetText(words, text.Run{Color: theme.Dim})
			e.rows.Reset()
		})
	})
}

// ask says what goes and what stays.
func (e *eraser) ask(c app.Conversation) {
	s := e.s
	s.ask(lang.X("settings.erase_sure", "Erase “{{.title}}”?", map[string]any{"title": chatTitle(c)}),
		lang.X("settings.erase_text", "Its messages are erased, and what its calls were given and answered. That there were calls stays in the record. For ten seconds it can be brought back."),
		lang.X("settings.erase_do", "Erase"), func() {
			e.close()
			s.erase(c)
		})
}

func (s *Place) erase(c app.Conversation) {
	s.d.Go(func(ctx context.Context) {
		undo, err := s.d.App.Delete(ctx, c.ID)
		s.d.Do(func() {
			if err != nil {
				s.failed(err)
				return
			}
			s.d.Layer.Offer(lang.X("settings.erased", "“{{.title}}” is being erased.", map[string]any{"title": chatTitle(c)}), lang.X("common.undo", "Undo"),
				func() { s.p.do(undo.Undo, nil) }, nil)
		})
	})
}
