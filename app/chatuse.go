package app

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"steward/app/chat"
	"steward/mcphost"
	"steward/storage"
)

// ConversationSettings reads a conversation's settings; of an empty id the defaults. What
// is returned is the caller's.
func (a *App) ConversationSettings(ctx context.Context, id string) (ConversationSettings, error) {
	if id == "" {
		return ConversationSettings{}, nil
	}
	c, err := a.stored(ctx, id)
	if err != nil {
		return ConversationSettings{}, err
	}
	s, err := readChatSettings(c)
	if err != nil {
		return s, fmt.Errorf("the settings of the conversation cannot be read: %w", err)
	}
	return s, nil
}

// clone keeps what is held in memory apart from what callers have.
func (s ConversationSettings) clone() ConversationSettings {
	s.Servers, s.Tools, s.Roots = maps.Clone(s.Servers), deepCopy(s.Tools), slices.Clone(s.Roots)
	if s.Temperature != nil {
		s.Temperature = new(*s.Temperature)
	}
	return s
}

// SetConversationSettings stores them; they hold from the next request on. A folder that
// must not be shared is an error, see [App.CheckRoot]. Connections for folders that no
// conversation shares any more are ended.
func (a *App) SetConversationSettings(ctx context.Context, id string, s ConversationSettings) error {
	if err := s.Check(); err != nil {
		return err
	}
	before, err := a.ConversationSettings(ctx, id)
	if err != nil {
		before = ConversationSettings{} // what cannot be read is replaced
	}
	s = s.clone()
	for i, path := range s.Roots {
		if slices.Contains(before.Roots, path) {
			continue
		}
		if s.Roots[i], err = a.CheckRoot(ctx, path); err != nil {
			return err
		}
	}
	slices.Sort(s.Roots)
	s.Roots = slices.Compact(s.Roots)
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	a.desk.saving.Lock()
	defer a.desk.saving.Unlock()
	if err := a.change(ctx, id, "settings", func(_ *storage.Conversation, m *chat.Meta) { m.Settings = raw }); err != nil {
		return err
	}
	a.desk.mu.Lock()
	a.desk.chats[id] = s
	a.desk.mu.Unlock()
	if !slices.Equal(before.Roots, s.Roots) {
		a.spawn(func(ctx context.Context) { a.dropUnusedRoots(ctx) })
	}
	return nil
}

// dropUnusedRoots ends connections for folders that no conversation shares any more.
func (a *App) dropUnusedRoots(ctx context.Context) {
	a.desk.mu.Lock()
	used := map[string]bool{entryKey("", nil): true}
	for _, s := range a.desk.chats {
		used[entryKey("", s.Roots)] = true
	}
	a.desk.mu.Unlock()
	err := a.servers.drop(ctx, func(_ string, roots []string) bool { return !used[entryKey("", roots)] })
	if err != nil && ctx.Err() == nil {
		a.warn("server_stop")(err)
	}
}

// ConversationTools lists the tools of the servers that run, as the conversation offers
// them. It starts nothing and asks the servers nothing.
func (a *App) ConversationTools(ctx context.Context, id string) ([]OfferedTool, error) {
	settings, err := a.ConversationSettings(ctx, id)
	if err != nil {
		return nil, err
	}
	out := []OfferedTool{}
	for _, conn := range a.connectionsFor(settings.Roots) {
		reviewed, err := a.gate.Reviewed(ctx, conn)
		if err != nil {
			return nil, err
		}
		for _, t := range conn.Tools() {
			out = append(out, a.offeredIn(settings, conn.Server(), t, slices.ContainsFunc(reviewed, func(r mcphost.Tool) bool { return r.Name == t.Name })))
		}
	}
	return out, nil
}

// connectionsFor are the connections that serve a set of folders; for a server that has
// not been started for them, the one without.
func (a *App) connectionsFor(roots []string) []*mcphost.Connection {
	own := a.servers.readyWith(roots)
	if len(roots) == 0 {
		return own
	}
	for _, c := range a.servers.ready() {
		if !slices.ContainsFunc(own, func(o *mcphost.Connection) bool { return o.Server() == c.Server() }) {
			own = append(own, c)
		}
	}
	return own
}

func (a *App) offeredIn(s ConversationSettings, server string, t mcphost.Tool, reviewed bool) OfferedTool {
	o := OfferedTool{Tool: offeredTool(server, t, reviewed && !t.AppOnly), Why: a.whyNotOffered(s, server, t.Name, t.Definition)}
	switch {
	case t.AppOnly:
		o.Why = "app_only"
	case !reviewed:
		o.Why = "not_reviewed"
	}
	o.Offered = o.Why == ""
	o.ReadOnly = a.toolReads(server, t.Name, t.Definition)
	return o
}
