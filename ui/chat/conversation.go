package chat

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/ui/place"
)

// named does something with the conversation; one that has no name yet gets one first.
func (p *Place) named(do func(ctx context.Context, id string) error, then func()) {
	id, turn, want := p.state.conversation, p.loading, p.want
	p.background(func(ctx context.Context) error {
		if id == "" {
			var err error
			if id, err = p.begin(ctx, turn, want); err != nil {
				return err
			}
			p.d.Do(func() { p.state.working = p.isWorking(p.state.conversation); p.soon() })
		}
		return do(ctx, id)
	}, then)
}

// readHead reads what the head shows.
func (p *Place) readHead() {
	id, turn, want, chosen := p.state.conversation, p.loading, p.want, p.chosen
	p.d.Go(func(ctx context.Context) {
		h := p.gather(ctx, id, want)
		nothing := p.emptiness(ctx, h)
		if ctx.Err() != nil {
			return
		}
		p.d.Do(func() {
			if turn != p.loading {
				return
			}
			if chosen == p.chosen && p.saves[id] == nil { // else what the person has chosen since is newer
				p.settings = h.settings
			}
			if h.known.ID != "" {
				p.known = h.known
			}
			before := p.head.facts.can.Images
			p.head.show(h)
			if before != h.can.Images {
				p.composer.rebuild() // another model may not take what is attached
			}
			p.composer.showFolders(p.settings.Roots)
			p.empty.show(nothing)
		})
	})
}

func (p *Place) stop() {
	if p.state.conversation != "" {
		p.d.App.Stop(p.state.conversation)
	}
}

func (p *Place) stopCall(id string) {
	p.d.Go(func(context.Context) { p.d.App.StopCall(id) })
}

func (p *Place) regenerate() { p.answerAgain(p.d.App.Regenerate) }

// tryAgain goes on where a turn ended before its end.
func (p *Place) tryAgain() { p.answerAgain(p.d.App.TryAgain) }

func (p *Place) answerAgain(do func(ctx context.Context, id string) (*app.Turn, error)) {
	id := p.state.conversation
	if id == "" {
		return
	}
	p.list.SetFollow(true)
	p.stored(id, func(err error) {
		if err != nil {
			p.fail(err)
			return
		}
		p.background(func(ctx context.Context) error {
			_, err := do(ctx, id)
			return err
		}, p.read)
	})
}

// editMessage puts a sent message into the composer: sending it begins a branch.
func (p *Place) editMessage(id string) {
	m := p.state.find(id)
	if m == nil || m.Role != roleUser {
		return
	}
	p.composer.edit(id, m.words(), m.Attachments)
	p.focusComposer()
}

func (p *Place) editLast() {
	if m := p.state.last(roleUser); m != nil {
		p.editMessage(m.ID)
	}
}

func (p *Place) switchBranch(message string) {
	p.named(func(ctx context.Context, id string) error { return p.d.App.SwitchBranch(ctx, id, message) }, p.read)
}

func (p *Place) copyText(s string) {
	fyne.CurrentApp().Clipboard().SetContent(s)
	p.d.Layer.Toast(lang.X("common.copied", "Copied"))
}

func (p *Place) copyMessage(id string) {
	if m := p.state.find(id); m != nil {
		p.copyText(m.words())
	}
}

func (p *Place) copyConversation() {
	id := p.state.conversation
	if id == "" {
		return
	}
	fetch(p, func(ctx context.Context) (string, error) { return p.d.App.ExportConversation(ctx, id) }, p.copyText)
}

// keyFromText uses Escape that a text had no use for.
func (p *Place) keyFromText(e *fyne.KeyEvent) {
	if e.Name == fyne.KeyEscape {
		p.d.Shortcut(&desktop.CustomShortcut{KeyName: fyne.KeyEscape})
	}
}

// escapable says whether Escape has something to end here. The window has closed what lies over the places before, and a
// card that has the keyboard keeps Escape for itself.
func (p *Place) escapable() bool { return p.finder.open() || p.composer.edits != "" || p.state.working }

// escape ends what was opened last, and at last the turn.
func (p *Place) escape() {
	switch {
	case p.finder.open():
		p.finder.close()
	case p.composer.edits != "":
		p.composer.giveUp()
	case p.state.working:
		p.stop()
	}
}

// remove deletes the conversation, which can be taken back for a few seconds.
func (p *Place) remove() {
	id, title := p.state.conversation, titleOf(p.known)
	if id == "" {
		return
	}
	fetch(p, func(ctx context.Context) (app.Undo, error) { return p.d.App.Delete(ctx, id) }, func(undo app.Undo) {
		p.d.Layer.Offer(lang.X("chat.deleted", "“{{.title}}” was deleted.", map[string]any{"title": title}), lang.X("common.undo", "Undo"),
			func() { p.background(undo.Undo, func() { p.d.Open(place.Chat, id) }) }, nil)
		if p.state.conversation == id {
			p.d.Open(place.Chat, "")
		}
	})
}

// Commands are what the keyboard and the palette offer here.
func (p *Place) Commands() []place.Command {
	some := func() bool { return p.state.conversation != "" }
	ctrl := func(k fyne.KeyName) fyne.Shortcut {
		return &desktop.CustomShortcut{KeyName: k, Modifier: fyne.KeyModifierShortcutDefault}
	}
	return []place.Command{
		{ID: "chat.composer", TitleKey: "chat.to_composer", Shortcut: ctrl(fyne.KeyL), Do: p.focusComposer},
		{ID: "chat.enter_card", TitleKey: "waiting.enter", Shortcut: ctrl(fyne.KeyJ), Enabled: func() bool { return len(p.state.items) > 0 }, Do: p.enterCard},
		{ID: "chat.escape", Shortcut: &desktop.CustomShortcut{KeyName: fyne.KeyEscape}, Enabled: p.escapable, Do: p.escape},
		{ID: "chat.find", TitleKey: "chat.find", Shortcut: ctrl(fyne.KeyF), Enabled: some, Do: p.finder.show},
		{ID: "chat.stop", TitleKey: "chat.stop_turn", Enabled: func() bool { return p.state.working }, Do: p.stop},
		{ID: "chat.regenerate", TitleKey: "chat.regenerate", Enabled: func() bool { return some() && !p.state.working }, Do: p.regenerate},
		{ID: "chat.edit", TitleKey: "chat.edit_and_branch", Enabled: func() bool { return p.state.last(roleUser) != nil }, Do: p.editLast},
		{ID: "chat.copy", TitleKey: "chat.copy_answer", Enabled: func() bool { return p.state.last(roleAssistant) != nil }, Do: func() { p.copyText(p.state.last(roleAssistant).words()) }},
		{ID: "chat.copy_all", TitleKey: "chat.copy_conversation", Enabled: some, Do: p.copyConversation},
		{ID: "chat.export", TitleKey: "chat.export", Enabled: some, Do: p.export},
		{ID: "chat.compact", TitleKey: "chat.compact", Enabled: func() bool { return some() && !p.state.working && p.head.facts.use.Compactable }, Do: p.compact},
		{ID: "chat.context", TitleKey: "chat.context_title", Enabled: some, Do: p.showContext},
		{ID: "chat.rename", TitleKey: "chat.rename", Enabled: some, Do: func() { p.head.rename() }},
		{ID: "chat.tools", TitleKey: "chat.tools_here", Do: func() { p.toolSwitches() }},
		{ID: "chat.model", TitleKey: "chat.choose_model", Do: func() { p.modelMenu() }},
		{ID: "chat.parameters", TitleKey: "chat.parameters", Do: func() { p.modelSettings() }},
		{ID: "chat.attach", TitleKey: "chat.attach", Do: p.attachFile},
		{ID: "chat.folder", TitleKey: "chat.share_folder", Do: p.shareFolder},
		{ID: "chat.prompts", TitleKey: "chat.own_prompts", Do: p.promptSettings},
		{ID: "chat.end", TitleKey: "chat.to_end", Do: func() { p.list.SetFollow(true); p.list.ScrollToEnd() }},
	}
}

// UsePrompt puts a server's prompt to use: its form, if it has arguments, then its preview.
func (p *Place) UsePrompt(server, name string) {
	p.offers.get(func(o offered) {
		for _, pr := range o.prompts {
			if pr.Server == server && pr.Name == name {
				p.usePrompt(pr)
				return
			}
		}
	})
}

var (
	_ place.Place      = (*Place)(nil)
	_ place.PromptUser = (*Place)(nil)
)
