package chat

import (
	"context"
	"errors"

	"steward/app"
	"steward/ui/place"
)

// wants are what a conversation without a name is to become when it gets one.
type wants struct {
	temporary bool
	settings  *app.ConversationSettings // nil: the usual ones; never changed, only replaced
}

// saving is a storing of a conversation's settings under way. One goes after the other, so that the last one chosen is
// the last one stored.
type saving struct {
	next *app.ConversationSettings // chosen meanwhile
	then []func(error)             // told when nothing is left to be stored
}

// change changes the settings of the conversation. They are shown at once, so that a second change builds on the first
// one, and stored in the background.
func (p *Place) change(change func(s *app.ConversationSettings)) {
	s := p.settings
	change(&s)
	p.settings = s
	p.chosen++
	p.composer.showFolders(s.Roots)
	p.head.Refresh()
	if p.state.conversation == "" {
		p.want.settings = &s
		p.readHead()
		return
	}
	p.save(p.state.conversation, s)
}

// save stores the settings of a conversation, and reads what follows from them.
func (p *Place) save(id string, s app.ConversationSettings) {
	w := p.saves[id]
	if w != nil {
		w.next = &s
		return
	}
	w = &saving{}
	p.saves[id] = w
	p.store(id, s, w)
}

func (p *Place) store(id string, s app.ConversationSettings, w *saving) {
	p.d.Go(func(ctx context.Context) {
		err := p.d.App.SetConversationSettings(ctx, id, s)
		if gone(ctx, err) {
			return
		}
		p.d.Do(func() {
			if len(w.then) == 0 { // else who waits for it tells of it
				p.fail(err)
			}
			if next := w.next; next != nil {
				w.next = nil
				p.store(id, *next, w)
				return
			}
			delete(p.saves, id)
			for _, then := range w.then {
				then(err)
			}
			if id == p.state.conversation {
				p.chosen++ // what was read meanwhile may be older
				p.readHead()
			}
		})
	})
}

// stored runs then when the settings chosen for a conversation are stored, or could not be: a message must not go with
// others than those that are shown.
func (p *Place) stored(id string, then func(error)) {
	if w := p.saves[id]; w != nil {
		w.then = append(w.then, then)
		return
	}
	then(nil)
}

// begin makes the conversation that the place shows without a name a real one. It runs in the background.
func (p *Place) begin(ctx context.Context, turn int, want wants) (string, error) {
	c, err := p.d.App.NewConversation(ctx, want.temporary)
	if err != nil {
		return "", err
	}
	if want.settings != nil {
		if err := p.d.App.SetConversationSettings(ctx, c.ID, *want.settings); err != nil {
			_, again := p.d.App.Delete(ctx, c.ID) // else each try would leave an empty one
			return "", errors.Join(err, again)
		}
	}
	p.d.Do(func() {
		if turn != p.loading || p.state.conversation != "" {
			return
		}
		p.state.load(c.ID, nil, nil, true)
		p.known = c
		if now := p.want.settings; now != nil && now != want.settings { // chosen while it began
			p.save(c.ID, *now)
		}
		p.d.Showing(place.Chat, c.ID)
		p.soon()
		p.head.Refresh()
	})
	return c.ID, nil
}
