package shell

import (
	"context"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"

	"steward/app/consent"
	"steward/app/secrets"
	"steward/ui/place"
	"steward/ui/text"
)

// build puts the window together around the opened program. A conversation that was asked for is shown first.
func (s *Shell) build(conversation string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	was := memory{
		size:  preference(ctx, s.app, preferSize, ""),
		side:  preference(ctx, s.app, preferSide, ""),
		place: preference(ctx, s.app, preferPlace, ""),
	}
	if conversation != "" {
		was.place = place.Chat + "/" + conversation
	}
	s.keep = s.app.SetPreference
	s.assemble(fromApp{s.app}, was)
	s.hub.listen(s.app.Listen)
	s.first = func() { // a place cannot have the keyboard before the window has it
		s.start(was.place)
		s.openSecrets()
	}
	if s.running {
		s.began()
	}
}

// openSecrets asks for the passphrase of the encrypted secrets file where there is one and it is closed: what needs a
// secret would fail one after the other.
func (s *Shell) openSecrets() {
	m, ok := s.maker(place.Settings)
	if !ok || s.app == nil {
		return
	}
	s.runner.Go(func(ctx context.Context) {
		if !s.app.HasSecretsFile() {
			return
		}
		state := s.app.SecretState(ctx)
		s.dispatcher.Do(func() {
			if opener, can := s.made(m).(place.SecretOpener); can && state.Kind == secrets.KindLocked {
				opener.OpenSecrets()
			}
		})
	})
}

// began is told that the toolkit runs and the window is shown.
func (s *Shell) began() {
	s.running = true
	if s.first != nil {
		s.first()
		s.first = nil
	}
}

// memory is what the window remembers from the last time.
type memory struct{ size, side, place string }

// assemble makes the parts and fills the window, but for the place.
func (s *Shell) assemble(from source, was memory) {
	s.hub = newHub(from, s.dispatcher.Do, s.runner.Go, s.after, s.around, (&notices{s: s}).told)
	s.side = newSideBar(s)
	s.commands.own = s.own()
	s.side.complete()
	s.banner = newBanner(s.showItem)
	s.frame = newFrame(s.side, s.banner)
	s.frame.icons = was.side == "icons"
	s.notifier = &notifier{send: s.fyne.SendNotification, after: s.after, now: time.Now, front: true}
	if life := s.fyne.Lifecycle(); life != nil {
		life.SetOnEnteredForeground(func() {
			s.front = time.Now()
			s.notifier.inFront(true)
		})
		life.SetOnExitedForeground(func() { s.notifier.inFront(false) })
	}
	s.window.Canvas().SetOnTypedKey(s.typedKey)
	s.window.SetOnDropped(func(_ fyne.Position, uris []fyne.URI) { s.dropped(uris) })
	s.window.SetContent(container.NewStack(s.frame, s.layer.Object()))
	s.window.Resize(parseSize(was.size))
}

// around brings what lies around the places up to date with the hub.
func (s *Shell) around(t topic) {
	s.side.update(t)
	if t != topicWaiting {
		return
	}
	s.notifier.waits(calling(s.hub.waiting))
	elsewhere := s.hub.elsewhere(s.conversation())
	if s.current == place.Waiting {
		elsewhere = nil
	}
	if s.banner.set(elsewhere) {
		s.frame.Refresh()
	}
}

// showItem leads to where an item can be answered.
func (s *Shell) showItem(i consent.Item) {
	if i.Conversation != "" && s.offers(place.Chat) {
		s.open(place.Chat, i.Conversation)
		return
	}
	s.open(place.Waiting, i.ID)
}

// stopAll stops every turn, every call and every server.
func (s *Shell) stopAll() {
	s.background(s.app.StopAll, func() {
		s.layer.Toast(lang.X("shell.stopped_all", "Everything was stopped: all turns, all calls, all servers."))
	})
}

func (s *Shell) toggleSide() {
	s.frame.icons = !s.frame.icons
	value := ""
	if s.frame.icons {
		value = "icons"
	}
	s.frame.Refresh()
	s.remember(preferSide, value)
}

// words are the texts of a text view.
func words() text.Words {
	return text.Words{
		Copy:      func() string { return lang.X("common.copy", "Copy") },
		CopyAll:   func() string { return lang.X("common.copy_all", "Copy all") },
		SelectAll: func() string { return lang.X("common.select_all", "Select all") },
		Copied:    func() string { return lang.X("common.copied", "Copied") },
	}
}

var _ fyne.Widget = (*frame)(nil)
