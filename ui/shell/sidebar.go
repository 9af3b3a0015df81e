package shell

import (
	"context"
	"strconv"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"steward/app"
	"steward/ui/form"
	"steward/ui/language"
	"steward/ui/list"
	"steward/ui/place"
	"steward/ui/theme"
)

// typingPause is how long the search waits for the next key.
const typingPause = 200 * time.Millisecond

// sideBar is the left part of the window: a new chat, the search, the conversations, and the ways to the places.
type sideBar struct {
	widget.BaseWidget
	s *Shell

	newChat *sideEntry
	find    *form.Entry
	icon    *sideEntry // in place of the search in the narrow side bar
	chats   *list.List
	stop    *sideEntry
	foot    []*sideEntry
	names   []string // of the foot's places
	rule    *canvas.Rectangle

	rows     []sideRow
	chosen   string // conversation that is shown
	narrow   bool
	unsearch func()
	first    bool // the first chat is to be opened as soon as those that were searched for are there
}

func newSideBar(s *Shell) *sideBar {
	b := &sideBar{s: s, unsearch: func() {}}
	b.ExtendBaseWidget(b)
	return b
}

// complete makes the parts, once the commands are known.
func (b *sideBar) complete() {
	s := b.s
	b.newChat = newSideEntry("plus", lang.X("shell.new_chat", "New chat"), func() { s.open(place.Chat, "") })
	b.newChat.strong, b.newChat.trail = true, s.commandKeys("shell.new")
	b.newChat.Refresh()
	b.find = form.NewEntry()
	b.find.SetPlaceHolder(lang.X("shell.search_chats", "Search chats"))
	b.find.SetIcon(theme.IconIn("search", theme.Dim))
	b.find.OnChanged = b.typed
	b.find.OnKey = b.searchKey
	b.find.OnSubmit = func(string) { b.openFirst() }
	b.icon = newSideEntry("search", "", s.showPalette)
	b.icon.narrow = true
	b.chats = list.New(list.Source{Len: func() int { return len(b.rows) }, Build: b.build, Update: b.redraw, Key: b.key})
	b.chats.Selectable, b.chats.OpenOnTap = true, true
	b.chats.Inset, b.chats.Radius = sideInset, theme.Radius
	b.chats.OnOpened = b.openRow
	b.chats.OnSecondary = func(i int, e *fyne.PointEvent) { b.menu(i, e.AbsolutePosition) }
	b.chats.OnKey = b.listKey
	b.chats.OnVisible = func(_, last int) {
		if last >= len(b.rows)-5 {
			s.hub.further()
		}
	}
	b.stop = newSideEntry("stop", lang.X("shell.stop_all", "Stop everything"), s.stopAll)
	b.stop.Hide()
	for _, m := range s.makers {
		if m.name == place.Chat {
			continue
		}
		b.names = append(b.names, m.name)
		b.foot = append(b.foot, newSideEntry(m.icon, lang.X(m.titleKey, m.name), func() { s.open(m.name, "") }))
	}
	if !s.offers(place.Chat) {
		b.newChat.Hide()
	}
	b.rule = canvas.NewRectangle(theme.Color(theme.Line))
}

// entries are the rows at the foot, from the top.
func (b *sideBar) entries() []*sideEntry { return append([]*sideEntry{b.stop}, b.foot...) }

func (b *sideBar) setNarrow(narrow bool) {
	if b.narrow == narrow {
		return
	}
	b.narrow = narrow
	for _, e := range append([]*sideEntry{b.newChat}, b.entries()...) {
		e.set(func() { e.narrow = narrow })
	}
	b.Refresh()
}

// marked shows which place and conversation the window shows.
func (b *sideBar) marked(name, argument string) {
	for i, e := range b.foot {
		if chosen := b.names[i] == name; chosen != e.chosen {
			e.set(func() { e.chosen = chosen })
		}
	}
	b.chosen = ""
	if name == place.Chat {
		b.chosen = argument
	}
	b.markChosen()
}

func (b *sideBar) markChosen() {
	at := -1
	for i, r := range b.rows {
		if r.chat != nil && r.chat.ID == b.chosen && b.chosen != "" {
			at = i
		}
	}
	b.chats.Select(at)
}

// update shows what the hub knows of a topic.
func (b *sideBar) update(t topic) {
	h := b.s.hub
	switch t {
	case topicChats:
		defer b.openFound()
		b.rows = b.arrange(h)
		b.chats.Reset()
		b.markChosen()
		canvas.Refresh(b.s.frame.sideGround) // has the window painted: rows that come do not do that by themselves
		if busy := len(h.working) > 0; busy != b.stop.Visible() {
			if busy {
				b.stop.Show()
			} else {
				b.stop.Hide()
			}
			b.Refresh()
		}
	case topicWaiting:
		b.entry(place.Waiting, func(e *sideEntry) { e.badge = len(h.waiting) })
	case topicServers:
		b.entry(place.Servers, func(e *sideEntry) { e.trail, e.dot = serversWords(h.servers) })
	case topicRecords:
		b.entry(place.Audit, func(e *sideEntry) { e.trail = "" })
		if h.records > 0 {
			b.entry(place.Audit, func(e *sideEntry) { e.trail = grouped(h.records) })
		}
	}
}

func (b *sideBar) entry(name string, change func(e *sideEntry)) {
	for i, e := range b.foot {
		if b.names[i] == name {
			e.set(func() { change(e) })
		}
	}
}

// serversWords sums the servers up: how many, how many of them cannot be used, and the mark for it.
func serversWords(h health) (trail string, dot fyne.ThemeColorName) {
	switch {
	case h.unread:
		return lang.X("shell.servers_unread", "unreadable"), theme.Refusal
	case !h.known || h.servers == 0:
		return "", ""
	}
	trail = strconv.Itoa(h.servers)
	switch {
	case h.failed > 0:
		return trail + " · " + lang.X("shell.failed_count", "{{.count}} failed", map[string]any{"count": h.failed}), theme.Refusal
	case h.signIn > 0:
		return trail + " · " + lang.X("shell.signin_count", "{{.count}} to sign in", map[string]any{"count": h.signIn}), theme.Waiting
	case h.pending > 0:
		return trail + " · " + lang.X("shell.review_count", "{{.count}} to review", map[string]any{"count": h.pending}), theme.Waiting
	}
	return trail, theme.Good
}

// grouped writes a count with its thousands apart.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// arrange makes the list's rows of what the hub knows.
func (b *sideBar) arrange(h *hub) []sideRow {
	if h.problem != nil {
		return []sideRow{{problem: h.problem}}
	}
	rows := group(h.chats, time.Now())
	if len(h.chats) == 0 && (h.search != "" || h.archived) {
		rows = append(rows, sideRow{nothing: true})
	}
	if h.archived || h.search == "" && len(h.chats) > 0 {
		rows = append(rows, sideRow{archive: true})
	}
	return rows
}

// typed searches once the person pauses.
func (b *sideBar) typed(search string) {
	b.unsearch()
	b.first = false
	b.unsearch = b.s.after(typingPause, func() { b.s.hub.find(search, false) })
}

// search puts the keyboard into the search.
func (b *sideBar) search() {
	if b.narrow {
		b.s.showPalette()
		return
	}
	b.s.window.Canvas().Focus(b.find)
}

func (b *sideBar) searchKey(e *fyne.KeyEvent) bool {
	switch e.Name {
	case fyne.KeyEscape:
		b.find.SetText("")
		b.s.window.Canvas().Unfocus()
	case fyne.KeyDown:
		b.s.window.Canvas().Focus(b.chats)
	default:
		return false
	}
	return true
}

// openFirst opens the first chat that fits what stands in the search, also where that was typed too fast to have been
// searched for yet.
func (b *sideBar) openFirst() {
	b.unsearch()
	b.first = true
	b.s.hub.find(b.find.Text, b.s.hub.archived && b.find.Text == "")
	b.openFound()
}

func (b *sideBar) openFound() {
	h := b.s.hub
	if !b.first || h.busy[topicChats] || h.search != b.find.Text {
		return
	}
	b.first = false
	for i, r := range b.rows {
		if r.chat != nil {
			b.openRow(i)
			return
		}
	}
}

func (b *sideBar) openRow(i int) {
	if i < 0 || i >= len(b.rows) {
		return
	}
	switch r := b.rows[i]; {
	case r.chat != nil:
		b.s.open(place.Chat, r.chat.ID)
	case r.archive:
		b.s.hub.find("", !b.s.hub.archived)
	case r.problem != nil:
		b.s.hub.read(topicChats)
	}
	b.markChosen()
}

// listKey gives rows their keys: the menu, renaming and deleting.
func (b *sideBar) listKey(i int, e *fyne.KeyEvent) bool {
	if i < 0 || i >= len(b.rows) || b.rows[i].chat == nil {
		return false
	}
	c := *b.rows[i].chat
	switch e.Name {
	case fyne.KeyF2:
		b.rename(c)
	case fyne.KeyDelete:
		b.remove(c)
	case fyne.KeyF10, "Menu":
		at := fyne.CurrentApp().Driver().AbsolutePositionForObject(b.chats)
		b.menu(i, at.AddXY(sideInset*2, sideRowHeight))
	default:
		return false
	}
	return true
}

// menu shows what can be done with a conversation.
func (b *sideBar) menu(i int, at fyne.Position) {
	if i < 0 || i >= len(b.rows) || b.rows[i].chat == nil {
		return
	}
	c := *b.rows[i].chat
	a := b.s.app
	pin, archive := lang.X("shell.pin", "Pin"), lang.X("shell.archive", "Archive")
	if c.Pinned {
		pin = lang.X("shell.unpin", "Unpin")
	}
	if c.Archived {
		archive = lang.X("shell.unarchive", "Take out of the archive")
	}
	b.s.layer.Menu([]place.MenuItem{
		{Label: lang.X("shell.rename", "Rename…"), Icon: "edit", Shortcut: "F2", Do: func() { b.rename(c) }},
		{Label: pin, Icon: "pin", Do: func() {
			b.s.background(func(ctx context.Context) error { return a.Pin(ctx, c.ID, !c.Pinned) }, nil)
		}},
		{Label: archive, Icon: "archive", Do: func() {
			b.s.background(func(ctx context.Context) error { return a.Archive(ctx, c.ID, !c.Archived) }, nil)
		}},
		{},
		{Label: lang.X("common.delete", "Delete"), Icon: "trash", Shortcut: lang.X("shell.key_delete", "Del"), Look: place.Dangerous, Do: func() { b.remove(c) }},
	}, at)
}

// remove deletes a conversation, and offers to bring it back.
func (b *sideBar) remove(c app.Conversation) {
	s := b.s
	s.runner.Go(func(ctx context.Context) {
		undo, err := s.app.Delete(ctx, c.ID)
		s.dispatcher.Do(func() {
			if err != nil {
				s.fail(err)
				return
			}
			if s.conversation() == c.ID {
				s.open(place.Chat, "")
			}
			s.layer.Offer(lang.X("shell.deleted", "“{{.title}}” was deleted.", map[string]any{"title": titleOf(c)}), lang.X("common.undo", "Undo"),
				func() { s.background(undo.Undo, nil) }, nil)
		})
	})
}

// titleOf is a conversation's title, or what stands in its place.
func titleOf(c app.Conversation) string {
	if c.Title == "" {
		return lang.X("shell.untitled", "New chat")
	}
	return c.Title
}

// problemText is what the list says when it could not be read.
func problemText(err error) string { return language.Message(err) }
