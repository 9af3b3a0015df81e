package chat

import (
	"strings"
	"unicode"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"steward/app"
	"steward/app/clean"
	"steward/ui/language"
	"steward/ui/list"
	"steward/ui/text"
	"steward/ui/theme"
)

const (
	popupRow   float32 = 44
	popupRows          = 7 // visible at once
	popupWidth float32 = 560
)

// choice is one line of the popup. Its texts are safe to show.
type choice struct {
	icon, title, note, server string
	use                       func()
	last                      bool // stands below all others until something is typed
}

// popup suggests prompts after "/" and resources after "@" while the person goes on typing: it never has the keyboard.
type popup struct {
	p       *Place
	c       *composer
	sign    string // "/" or "@"
	word    string // what stands behind it
	left    string // a text whose popup the person closed: it stays closed while they go on with it
	all     []choice
	shown   []choice
	note    string // in place of choices
	loading bool   // they are not known yet
	list    *list.List
	done    func()
	turn    int
}

func newPopup(p *Place, c *composer) *popup { return &popup{p: p, c: c} }

// signAt finds the sign that a text before the cursor ends in, and the word behind it: "/" only at the very beginning of
// the message, "@" at the beginning of any word. Paths and mail addresses are neither.
func signAt(whole, before string) (sign, word string) {
	if strings.HasPrefix(whole, "/") && before != "" && strings.HasPrefix(before, "/") && !strings.ContainsFunc(before, unicode.IsSpace) {
		if w := before[1:]; !strings.Contains(w, "/") {
			return "/", w
		}
		return "", ""
	}
	at := strings.LastIndex(before, "@")
	if at < 0 {
		return "", ""
	}
	if at > 0 {
		last := []rune(before[:at])
		if r := last[len(last)-1]; !unicode.IsSpace(r) && r < 0x2E80 { // Chinese is written without blanks
			return "", ""
		}
	}
	w := before[at+1:]
	if strings.ContainsFunc(w, unicode.IsSpace) || len(w) > 200 {
		return "", ""
	}
	return "@", w
}

// typed follows what the person types.
func (u *popup) typed(whole, before string) {
	sign, word := signAt(whole, before)
	if sign == "" {
		u.left = ""
		u.close()
		return
	}
	if u.left != "" && strings.HasPrefix(before, u.left) {
		return
	}
	u.left = ""
	opened := u.sign != sign
	u.sign, u.word = sign, word
	if !opened {
		u.match()
		return
	}
	u.turn++
	turn := u.turn
	u.all, u.note, u.loading = nil, lang.X("common.loading", "Loading…"), true
	u.match()
	u.p.offers.get(func(o offered) {
		if turn != u.turn || u.sign != sign {
			return
		}
		u.offer(o)
	})
}

// again suggests anew, after a server has started.
func (u *popup) again() {
	if w := u.p.d.Window(); w == nil || w.Canvas().Focused() != fyne.Focusable(u.c.entry) {
		return
	}
	if u.sign == "" {
		u.typed(u.c.entry.Text, u.c.before())
		return
	}
	turn := u.turn
	u.p.offers.get(func(o offered) {
		if turn == u.turn {
			u.offer(o)
		}
	})
}

// offer takes over what is offered; more may come from servers that are being started.
func (u *popup) offer(o offered) {
	u.fill(o)
	if u.loading = u.p.offers.waits(o.idle); u.loading {
		u.note = lang.X("common.loading", "Loading…")
	}
	u.match()
}

func (u *popup) fill(o offered) {
	u.all = nil
	u.note = lang.X("chat.no_prompts", "No running server offers prompts. Servers start when they are needed; see Servers.")
	if u.sign == "@" {
		u.note = lang.X("chat.no_resources", "No running server offers resources. Servers start when they are needed; see Servers.")
	}
	if o.problem != nil {
		u.note = language.Message(o.problem)
	}
	if u.sign == "/" {
		for _, own := range u.p.book.Own {
			u.all = append(u.all, choice{icon: "user", title: clean.Line(own.Name, 100), note: clean.Line(own.Text, 300), server: lang.X("chat.prompt_yours", "yours"), use: func() { u.p.useOwn(own, "") }})
		}
		for _, pr := range o.prompts {
			u.all = append(u.all, choice{icon: "slash", title: clean.Reveal(pr.Name), note: clean.Line(promptNote(pr), 300), server: clean.Reveal(pr.Server), use: func() { u.p.usePrompt(pr) }})
		}
		u.all = append(u.all, choice{icon: "settings", title: lang.X("chat.own_prompts", "Your prompts"), note: lang.X("chat.own_prompts_do", "Write, change and pin prompts"), last: true, use: u.p.promptSettings})
		return
	}
	for _, r := range o.resources {
		icon, where := "file", r.URI
		if r.URITemplate != "" {
			icon, where = "edit", r.URITemplate
		}
		title := r.Title
		if title == "" {
			title = r.Name
		}
		u.all = append(u.all, choice{icon: icon, title: clean.Line(clean.Reveal(title), 100), note: clean.Reveal(cut(where, 200)), server: clean.Reveal(r.Server), use: func() { u.p.useResource(r) }})
	}
}

func promptNote(pr app.Prompt) string {
	if pr.Description != "" {
		return pr.Description
	}
	return pr.Title
}

func (u *popup) match() {
	u.shown = nil
	word := strings.ToLower(u.word)
	for pass := range 2 { // names that begin with the word first
		for _, ch := range u.all {
			begins := strings.HasPrefix(strings.ToLower(ch.title), word)
			if ch.last {
				continue
			}
			if pass == 0 && begins || pass == 1 && !begins && strings.Contains(strings.ToLower(ch.title+" "+ch.note+" "+ch.server), word) {
				u.shown = append(u.shown, ch)
			}
		}
	}
	if len(u.all) > 0 && len(u.shown) == 0 && u.word != "" && !u.loading {
		u.close()
		return
	}
	for _, ch := range u.all {
		if ch.last && u.word == "" {
			if len(u.all) == 1 {
				ch.note = u.note
			}
			u.shown = append(u.shown, ch)
		}
	}
	u.show()
}

// show opens the popup above the composer, or brings it up to date.
func (u *popup) show() {
	if u.done != nil {
		done := u.done
		u.done = nil
		sign, word, turn := u.sign, u.word, u.turn
		done()
		u.sign, u.word, u.turn = sign, word, turn // what is being loaded is still wanted
	}
	width := min(popupWidth, u.c.Size().Width)
	var body fyne.CanvasObject
	height := popupRow
	if len(u.shown) == 0 {
		body = container.New(layout.NewCustomPaddedLayout(10, 10, 12, 12), text.NewLabel(u.note, text.Run{Color: theme.Dim}, text.Wrap))
	} else {
		u.list = list.NewEqual(list.Source{Len: func() int { return len(u.shown) }, Build: u.row}, popupRow)
		u.list.Selectable, u.list.OpenOnTap = true, true
		u.list.Inset, u.list.Radius = theme.Step, theme.Radius
		u.list.OnOpened = u.take
		body = u.list
		height = popupRow * float32(min(len(u.shown), popupRows))
	}
	room := canvas.NewRectangle(theme.Color(theme.Clear))
	room.SetMinSize(fyne.NewSize(width, height))
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(u.c)
	u.done = u.p.d.Layer.Popup(container.NewStack(room, body), at.AddXY(0, -height-8*theme.Step), u.closed)
	if u.list != nil && len(u.shown) > 0 {
		u.list.Select(0)
	}
}

func (u *popup) row(i int) fyne.CanvasObject {
	ch := u.shown[i]
	title := newFitted(theme.TextSize)
	title.set(ch.title, text.Run{Bold: true})
	note := caption(ch.note, theme.Dim, text.Cut)
	icon := sized(widget.NewIcon(theme.IconIn(ch.icon, theme.Accent)), theme.IconSize)
	server := newFitted(theme.CaptionSize)
	server.set(ch.server, text.Run{Color: theme.Dim})
	return container.New(layout.NewCustomPaddedLayout(0, 0, 12, 12), newLine(2.5*theme.Step, []fyne.CanvasObject{icon, title.box}, note, server.box))
}

// key has the first look at a key of the composer.
func (u *popup) key(e *fyne.KeyEvent) bool {
	if u.done == nil {
		return false
	}
	if e.Name == fyne.KeyEscape {
		u.left = u.c.before()
		u.close()
		return true
	}
	if len(u.shown) == 0 || u.list == nil {
		// Enter means a choice that is not there yet; it must not send the sign that asks for one.
		return u.loading && (e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter || e.Name == fyne.KeyTab)
	}
	at := u.list.Selected()
	switch e.Name {
	case fyne.KeyDown:
		at++
	case fyne.KeyUp:
		at--
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeyTab:
		u.take(at)
		return true
	default:
		return false
	}
	n := len(u.shown)
	at = (at + n) % n
	u.list.Select(at)
	u.list.Reveal(at)
	return true
}

func (u *popup) take(i int) {
	if i < 0 || i >= len(u.shown) {
		return
	}
	use, sign := u.shown[i].use, u.sign
	u.close()
	u.c.replace(sign, "")
	use()
}

func (u *popup) close() {
	if done := u.done; done != nil {
		done()
	}
	u.closed()
}

func (u *popup) closed() {
	u.done, u.list, u.sign = nil, nil, ""
	u.turn++
}
