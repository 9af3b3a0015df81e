package shell

import (
	"context"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"steward/app"
	"steward/app/clean"
	"steward/ui/form"
	"steward/ui/list"
	"steward/ui/place"
	"steward/ui/text"
	"steward/ui/theme"
)

const (
	paletteWidth  float32 = 620
	paletteHeight float32 = 420
	paletteRow    float32 = 36
	paletteChats          = 30 // found by one search
	palettePage           = 8  // rows that Page Up and Page Down move by
)

// found is one thing that the palette leads to. All its text is safe to show.
type found struct {
	icon, title, note string
	do                func()
}

// palette finds commands, conversations, servers, tools and prompts by their names.
type palette struct {
	s      *Shell
	entry  *form.Entry
	list   *list.List
	close  func()
	search string
	asked  string // what chats were found for

	commands, chats, offers []found // all commands and offers; chats as found for search
	shown                   []found
	unsearch                func()
	closed                  bool
	moved                   bool // the person chose a row since the last letter
}

func (s *Shell) showPalette() {
	p := &palette{s: s, entry: form.NewEntry(), unsearch: func() {}}
	p.entry.SetPlaceHolder(lang.X("shell.palette", "Find a command, chat, server, tool or prompt"))
	p.entry.SetIcon(theme.IconIn("search", theme.Dim))
	p.entry.OnChanged = p.typed
	p.entry.OnKey = p.key
	p.entry.OnSubmit = func(string) { p.take(p.list.Selected()) }
	p.list = list.NewEqual(list.Source{Len: func() int { return len(p.shown) }, Build: p.build}, paletteRow)
	p.list.Selectable, p.list.OpenOnTap = true, true
	p.list.Inset, p.list.Radius = 2*theme.Step, theme.Radius
	p.list.OnOpened = p.take
	size := canvas.NewRectangle(theme.Color(theme.Clear))
	size.SetMinSize(fyne.NewSize(paletteWidth, paletteHeight))
	head := container.New(layout.NewCustomPaddedLayout(3*theme.Step, 2*theme.Step, 3*theme.Step, 3*theme.Step), p.entry)
	foot := container.New(layout.NewCustomPaddedLayout(0, 2*theme.Step, 0, 0), canvas.NewRectangle(theme.Color(theme.Clear)))
	p.fill()
	p.close = s.layer.Palette(container.NewStack(size, container.NewBorder(head, foot, nil, nil, p.list)), func() {
		p.closed = true
		p.unsearch()
	})
	s.window.Canvas().Focus(p.entry)
	p.findChats()
	p.findOffers()
}

// fill gathers what is known without asking anybody.
func (p *palette) fill() {
	for _, c := range p.s.commands.offered() {
		note := ""
		if c.Shortcut != nil {
			note = place.KeysText(c.Shortcut)
		}
		p.commands = append(p.commands, found{icon: "chevron-right", title: lang.X(c.TitleKey, c.TitleKey), note: note, do: c.Do})
	}
	p.match()
}

// match shows what fits the search: commands, then chats, then what servers offer, and among these first what begins
// with it. What the person has moved to stays chosen while more is found.
func (p *palette) match() {
	var moved *found
	if at := p.list.Selected(); p.moved && at >= 0 && at < len(p.shown) {
		moved = &p.shown[at]
	}
	shown := []found{}
	for n, group := range [][]found{p.commands, p.chats, p.offers} {
		var begin, rest []found
		for _, f := range group {
			switch {
			case begins(f.title, p.search):
				begin = append(begin, f)
			case n == 1 && p.asked == p.search || fits(f.title+" "+f.note, p.search):
				rest = append(rest, f)
			}
		}
		shown = append(append(shown, begin...), rest...)
	}
	at := min(0, len(shown)-1)
	if moved != nil {
		at = max(at, slices.IndexFunc(shown, func(f found) bool { return f.icon == moved.icon && f.title == moved.title && f.note == moved.note }))
	}
	p.shown = shown
	p.list.Reset()
	p.list.Select(at)
	if at >= 0 {
		p.list.Reveal(at)
	}
}

// begins says whether a title begins with the search, whatever the case.
func begins(title, search string) bool {
	search = strings.TrimSpace(search)
	return len(search) <= len(title) && strings.EqualFold(title[:len(search)], search)
}

// fits says whether every word of a search is in a text, in any order, whatever the case.
func fits(s, search string) bool {
	s = strings.ToLower(s)
	for word := range strings.FieldsSeq(strings.ToLower(search)) {
		if !strings.Contains(s, word) {
			return false
		}
	}
	return true
}

func (p *palette) typed(search string) {
	p.search, p.moved = search, false
	p.match()
	p.unsearch()
	p.unsearch = p.s.after(typingPause, p.findChats)
}

// findChats searches the conversations. What they say counts too, so they are asked for rather than filtered.
func (p *palette) findChats() {
	search := p.search
	p.s.runner.Go(func(ctx context.Context) {
		chats, err := p.s.app.Conversations(ctx, app.Query{Search: search, Limit: paletteChats})
		p.s.dispatcher.Do(func() {
			if p.closed || search != p.search {
				return
			}
			if err != nil {
				p.s.fail(err)
				return
			}
			p.chats, p.asked = nil, search
			for _, c := range chats {
				if p.s.offers(place.Chat) {
					p.chats = append(p.chats, found{icon: "chat", title: titleOf(c), note: hitNote(c, search), do: func() { p.s.open(place.Chat, c.ID) }})
				}
			}
			p.match()
		})
	})
}

// hitNote shows where a search hit, so that the row fits the search even when its title does not.
func hitNote(c app.Conversation, search string) string {
	if c.Snippet != "" && search != "" {
		return c.Snippet
	}
	return ""
}

// findOffers gathers servers with their tools and prompts. Nothing is started for it.
func (p *palette) findOffers() {
	s := p.s
	s.runner.Go(func(ctx context.Context) {
		servers, err := s.app.Servers(ctx)
		if err != nil {
			s.dispatcher.Do(func() { s.fail(err) })
			return
		}
		for _, status := range servers {
			detail, err := s.app.Server(ctx, status.Name)
			if err != nil {
				continue // it was removed meanwhile
			}
			s.dispatcher.Do(func() {
				if !p.closed {
					p.offers = append(p.offers, p.ofServer(status, detail)...)
					p.match()
				}
			})
		}
	})
}

func (p *palette) ofServer(status app.ServerStatus, detail app.ServerDetail) []found {
	s := p.s
	name := clean.Reveal(status.Name)
	var out []found
	if s.offers(place.Servers) {
		out = append(out, found{icon: "servers", title: name, note: lang.X("shell.a_server", "server"), do: func() { s.open(place.Servers, status.Name) }})
		for _, t := range detail.ServerTools {
			out = append(out, found{icon: "tool", title: clean.Reveal(t.Tool.Tool), note: name, do: func() {
				s.open(place.Servers, status.Name)
				if shower, ok := s.places[place.Servers].(place.ToolShower); ok {
					shower.ShowTool(status.Name, t.Tool.Tool)
				}
			}})
		}
	}
	if s.offers(place.Chat) {
		for _, prompt := range detail.PromptList {
			out = append(out, found{icon: "slash", title: clean.Reveal(prompt.Name), note: name, do: func() {
				s.open(place.Chat, s.arguments[place.Chat])
				if user, ok := s.places[place.Chat].(place.PromptUser); ok {
					user.UsePrompt(status.Name, prompt.Name)
				}
			}})
		}
	}
	return out
}

func (p *palette) key(e *fyne.KeyEvent) bool {
	at := p.list.Selected()
	switch e.Name {
	case fyne.KeyEscape:
		p.close()
		return true
	case fyne.KeyDown:
		at++
	case fyne.KeyUp:
		at--
	case fyne.KeyPageDown:
		at += palettePage
	case fyne.KeyPageUp:
		at -= palettePage
	default:
		return false
	}
	if n := len(p.shown); n > 0 {
		at = min(max(at, 0), n-1)
		p.moved = true
		p.list.Select(at)
		p.list.Reveal(at)
	}
	return true
}

func (p *palette) take(i int) {
	if i < 0 || i >= len(p.shown) {
		return
	}
	do := p.shown[i].do
	p.close()
	do()
}

func (p *palette) build(i int) fyne.CanvasObject {
	f := p.shown[i]
	icon := container.NewCenter(container.NewGridWrap(fyne.NewSquareSize(theme.IconSize), widget.NewIcon(theme.IconIn(f.icon, theme.Dim))))
	title := text.NewLabel(f.title, text.Run{}, text.Whole)
	note := text.NewLabel(f.note, text.Run{Color: theme.Dim}, text.Cut)
	note.SetTextSize(theme.CaptionSize)
	row := container.NewBorder(nil, nil, container.New(layout.NewCustomPaddedHBoxLayout(2*theme.Step), icon, container.NewCenter(title)), nil,
		container.New(layout.NewCustomPaddedLayout(0, 0, 3*theme.Step, 0), &fyne.Container{Layout: centred{}, Objects: []fyne.CanvasObject{note}}))
	return container.New(layout.NewCustomPaddedLayout(0, 0, 4*theme.Step, 4*theme.Step), row)
}
