package chat

import (
	"context"
	"slices"

	"steward/app"
	"steward/app/event"
	"steward/ui/place"
)

// entitle has the model name a conversation after its first turn, whichever conversation is shown. A person's own title
// stays; where the model gives none, or the person wants none of it, so do the first words. The demo model knows no
// titles, and a temporary conversation is asked nothing more about.
func (p *Place) entitle(e event.Turn) {
	if e.State != "finished" || p.titled[e.Conversation] {
		return
	}
	p.titled[e.Conversation] = true
	p.d.Go(func(ctx context.Context) {
		if p.wantsTitle(ctx, e.Conversation) {
			_ = p.d.App.TitleFromModel(ctx, e.Conversation) // the record of the request says what went wrong; a title is not worth disturbing the person
		}
	})
}

// wantsTitle says whether a conversation has just had its first turn, with a real model. In the background.
func (p *Place) wantsTitle(ctx context.Context, id string) bool {
	if choice, err := p.d.App.Preference(ctx, place.PreferTitles); err != nil || choice == place.TitlesFromWords {
		return false
	}
	c, err := p.d.App.Conversation(ctx, id)
	if err != nil || c.Temporary {
		return false
	}
	messages, err := p.d.App.Messages(ctx, id, 0, 100)
	if err != nil {
		return false
	}
	said := 0
	for _, m := range messages {
		if m.Role == roleUser {
			said++
		}
	}
	points, err := p.d.App.Endpoints(ctx)
	settings, settingsErr := p.d.App.ConversationSettings(ctx, id)
	if said != 1 || err != nil || settingsErr != nil {
		return false
	}
	return !slices.ContainsFunc(points, func(e app.ModelEndpoint) bool {
		return e.Demo && (settings.Endpoint == e.ID && e.ID != "" || settings.Endpoint == "" && e.Chosen)
	})
}
