package waiting

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"steward/app/clean"
	"steward/app/consent"
	"steward/ui/text"
	"steward/ui/theme"
)

// roundsBody is a turn that has asked the model as often as it may.
type roundsBody struct {
	c        *Card
	on, stop *button
}

func newRoundsBody(c *Card) *roundsBody {
	b := &roundsBody{c: c}
	b.on = newButton(c, strong, lang.X("rounds.go_on", "Go on for {{.count}} more", map[string]any{"count": c.item.Rounds.More}), keyHint(), b.submit)
	b.stop = newButton(c, plain, lang.X("rounds.stop", "Stop here"), "Esc", b.escape)
	return b
}

func (b *roundsBody) title() []text.Run {
	return []text.Run{{Text: lang.X("rounds.title", "The model wants to go on"), Bold: true}}
}

func (b *roundsBody) rows() []fyne.CanvasObject {
	r := b.c.item.Rounds
	v := b.c.view()
	words := lang.X("rounds.means", "It has been asked {{.count}} times for this one message, which is the limit. What it wants to do next waits; stopping leaves it undone.", map[string]any{"count": r.Made})
	if r.Made == 1 {
		words = lang.X("rounds.means_one", "It has been asked once for this one message, which is the limit. What it wants to do next waits; stopping leaves it undone.")
	}
	v.SetText(words, text.Run{})
	out := []fyne.CanvasObject{v}
	if r.Chat != "" {
		out = append(out, b.c.caption(lang.X("rounds.chat", "Chat: {{.title}}", map[string]any{"title": clean.Line(r.Chat, 100)}), theme.Dim))
	}
	return out
}

func (b *roundsBody) buttons() (left, right []fyne.CanvasObject) {
	return []fyne.CanvasObject{b.stop}, []fyne.CanvasObject{b.on}
}

func (b *roundsBody) first() *button { return b.stop }
func (b *roundsBody) escape()        { b.c.answer(consent.Answer{Action: consent.Deny}) }

func (b *roundsBody) submit() {
	if !b.c.ready() {
		b.c.update()
		return
	}
	b.c.answer(consent.Answer{Action: consent.Allow})
}

func (b *roundsBody) update(now bool) {
	b.on.set(!now, false)
	b.stop.set(b.c.busy, false)
}

// roundsWords is what is left of the card after the person's answer.
func roundsWords(a consent.Answer) string {
	if a.Action == consent.Allow {
		return lang.X("rounds.you_went_on", "You let it go on.")
	}
	return lang.X("rounds.you_stopped", "You stopped it here.")
}
