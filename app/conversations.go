package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"steward/app/chat"
	"steward/app/clean"
	"steward/app/event"
	"steward/storage"
)

// maxTitle is the length of a title in characters.
const maxTitle = 200

// Query chooses conversations. The zero value gives the newest 50 that are not archived.
type Query struct {
	// Search looks in titles and messages; each conversation then comes with a Snippet.
	Search string
	// Archived gives those in the archive instead of the others.
	Archived bool
	// Limit is how many at most; 0 is 50.
	Limit int
	// Before pages: only conversations updated earlier than this.
	Before time.Time
}

// Conversation is one chat as a list shows it. Title and Snippet are safe to show.
type Conversation struct {
	ID        string
	Title     string // may be empty
	Model     string // the last one that answered; empty before the first turn
	Created   time.Time
	Updated   time.Time
	Pinned    bool
	Archived  bool
	Temporary bool   // leaves nothing behind but its journal
	Working   bool   // a turn runs
	Waiting   int    // how many things wait for the person in it
	Snippet   string // of a search: the words around the hit, in one line
	// Message is the message the snippet is from; empty where it is the title.
	Message string
}

// UndoTime is how long a deleted conversation can be brought back.
const UndoTime = 10 * time.Second

// Undo brings back what was deleted.
type Undo struct {
	a  *App
	id string
	// Until is when the conversation is erased.
	Until time.Time
}

// Conversations lists conversations, the pinned ones first (on the first page alone), then
// the last updated first. Those in the bin are not among them. It only reads what is
// stored.
func (a *App) Conversations(ctx context.Context, q Query) ([]Conversation, error) {
	var rows []storage.Conversation
	pinnedToo := q.Search == ""
	if pinnedToo && q.Before.IsZero() {
		pinned, err := a.db.Pinned(ctx, q.Archived)
		if err != nil {
			return nil, err
		}
		rows = pinned
	}
	others, err := a.db.Conversations(ctx, storage.ConversationFilter{Search: q.Search, Archived: q.Archived, Limit: q.Limit, Before: q.Before})
	if err != nil {
		return nil, err
	}
	for _, c := range others {
		if !c.Pinned || !pinnedToo {
			rows = append(rows, c)
		}
	}
	out := make([]Conversation, 0, len(rows))
	waiting := a.waitingCount()
	for _, c := range rows {
		shown := a.shownConversation(c, waiting)
		if q.Search != "" {
			if err := a.snippet(ctx, &shown, q.Search); err != nil {
				return nil, err
			}
		}
		out = append(out, shown)
	}
	return out, nil
}

func (a *App) waitingCount() map[string]int {
	n := map[string]int{}
	for _, i := range a.gate.Waiting().List() {
		n[i.Conversation]++
	}
	return n
}

func (a *App) shownConversation(c storage.Conversation, waiting map[string]int) Conversation {
	return Conversation{
		ID: c.ID, Title: clean.Line(c.Title, maxTitle), Model: clean.Line(c.Model, 200), Created: c.Created, Updated: c.Updated,
		Pinned: c.Pinned, Archived: c.Archived, Temporary: c.Temporary,
		Working: a.engine.Running(c.ID) != nil, Waiting: waiting[c.ID],
	}
}

// Conversation gives one conversation.
func (a *App) Conversation(ctx context.Context, id string) (Conversation, error) {
	c, err := a.stored(ctx, id)
	if err != nil {
		return Conversation{}, err
	}
	return a.shownConversation(c, a.waitingCount()), nil
}

// stored reads a conversation that is not in the bin.
func (a *App) stored(ctx context.Context, id string) (storage.Conversation, error) {
	c, err := a.db.Conversation(ctx, id)
	if err == nil && !c.Deleted.IsZero() {
		err = storage.ErrNotFound
	}
	if errors.Is(err, storage.ErrNotFound) {
		return c, &Message{Key: "no_conversation", Args: args("conversation", reveal(id), "detail", "There is no conversation with the id "+reveal(id)+"."), Err: err}
	}
	return c, err
}

// NewConversation stores an empty conversation. A temporary one is erased, apart from its
// journal, when it is deleted, when the program ends, or at the next start after a crash.
func (a *App) NewConversation(ctx context.Context, temporary bool) (Conversation, error) {
	now := a.clock()
	c := storage.Conversation{ID: chat.NewConversationID(), Created: now, Updated: now, Temporary: temporary}
	if err := a.db.Write(ctx, func(tx *storage.Tx) error { return tx.PutConversation(c) }); err != nil {
		return Conversation{}, fmt.Errorf("the conversation could not be stored: %w", err)
	}
	a.conversationChanged(c.ID, "created")
	return a.shownConversation(c, nil), nil
}

func (a *App) clock() time.Time {
	if a.o.Now != nil {
		return a.o.Now().UTC()
	}
	return time.Now().UTC()
}

func (a *App) conversationChanged(id, what string) {
	a.bus.Publish(event.ConversationChanged{Conversation: id, What: what})
}

// change changes a conversation that is not in the bin, and tells.
func (a *App) change(ctx context.Context, id, what string, change func(*storage.Conversation, *chat.Meta)) error {
	if _, err := a.stored(ctx, id); err != nil {
		return err
	}
	if err := a.db.Write(ctx, func(tx *storage.Tx) error { return chat.Change(tx, id, change) }); err != nil {
		return fmt.Errorf("the conversation could not be changed: %w", err)
	}
	a.conversationChanged(id, what)
	return nil
}

// Rename gives a conversation a title; it is stored in one line of at most 200 characters.
// Empty gives it none of its own, so that it gets one again.
func (a *App) Rename(ctx context.Context, id, title string) error {
	title = clean.Line(title, maxTitle)
	return a.change(ctx, id, "title", func(c *storage.Conversation, m *chat.Meta) { c.Title, m.Named = title, title != "" })
}

// Pin keeps a conversation at the top of the list, or no longer.
func (a *App) Pin(ctx context.Context, id string, on bool) error {
	return a.change(ctx, id, "pinned", func(c *storage.Conversation, _ *chat.Meta) { c.Pinned = on })
}

// Archive puts a conversation into the archive, or takes it out.
func (a *App) Archive(ctx context.Context, id string, on bool) error {
	return a.change(ctx, id, "archived", func(c *storage.Conversation, _ *chat.Meta) { c.Archived = on })
}

// Duplicate copies the branch that is shown, with its settings, into a conversation of its
// own. The calls in it stay those of the journal; nothing is called again.
func (a *App) Duplicate(ctx context.Context, id string) (Conversation, error) {
	c, err := a.stored(ctx, id)
	if err != nil {
		return Conversation{}, err
	}
	path, err := a.shownPath(ctx, c)
	if err != nil {
		return Conversation{}, err
	}
	now := a.clock()
	settings := chat.ReadMeta(c).Settings
	c.ID, c.Created, c.Updated, c.Pinned, c.Archived, c.Meta = chat.NewConversationID(), now, now, false, false, nil
	if err := chat.SetMeta(&c, chat.Meta{Settings: settings}); err != nil {
		return Conversation{}, err
	}
	copies := chat.Copy(path, c.ID)
	err = a.db.Write(ctx, func(tx *storage.Tx) error {
		if err := tx.PutConversation(c); err != nil {
			return err
		}
		for _, m := range copies {
			if err := tx.PutMessage(m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Conversation{}, fmt.Errorf("the copy of the conversation could not be stored: %w", err)
	}
	a.conversationChanged(c.ID, "created")
	return a.shownConversation(c, nil), nil
}

// Delete stops what runs in a conversation, withdraws what waits in it, and puts it into
// the bin. It is erased after [UndoTime], or when the program ends, with every text that
// belongs to it; of a temporary one the journal keeps its texts.
func (a *App) Delete(ctx context.Context, id string) (Undo, error) {
	now := a.clock()
	err := a.change(ctx, id, "deleted", func(c *storage.Conversation, _ *chat.Meta) { c.Deleted = now })
	if err != nil {
		return Undo{}, err
	}
	a.Stop(id)
	a.stopTasks(id)
	a.desk.mu.Lock()
	defer a.desk.mu.Unlock()
	if !a.desk.gone { // else Close erases it
		a.desk.bin[id] = time.AfterFunc(UndoTime, func() { a.spawn(func(ctx context.Context) { a.eraseLater(ctx, id) }) })
	}
	return Undo{a: a, id: id, Until: now.Add(UndoTime)}, nil
}

// eraseLater erases a conversation when the time to bring it back is over.
func (a *App) eraseLater(ctx context.Context, id string) {
	a.desk.mu.Lock()
	_, due := a.desk.bin[id]
	delete(a.desk.bin, id)
	delete(a.desk.chats, id)
	a.desk.mu.Unlock()
	if !due {
		return // it was brought back
	}
	if r := a.engine.Running(id); r != nil {
		_, _ = r.Wait(ctx) // it was stopped; the program's end ends the waiting
	}
	c, err := a.db.Conversation(ctx, id)
	if err == nil {
		err = a.erase(ctx, c)
	}
	if err != nil {
		a.bus.Publish(event.Notice{Conversation: id, Kind: "storage", Message: err.Error()})
		return
	}
	a.conversationChanged(id, "erased")
	a.dropUnusedRoots(ctx)
}

// Undo brings the conversation back. The error says that it was erased already.
func (u Undo) Undo(ctx context.Context) error {
	if u.a == nil {
		return &Message{Key: "erased", Args: args("detail", "There is nothing to bring back.")}
	}
	u.a.desk.mu.Lock()
	timer, ok := u.a.desk.bin[u.id]
	delete(u.a.desk.bin, u.id)
	u.a.desk.mu.Unlock()
	if !ok {
		return &Message{Key: "erased", Args: args("detail", "The conversation has been erased already.")}
	}
	timer.Stop()
	err := u.a.db.Write(ctx, func(tx *storage.Tx) error {
		return chat.Change(tx, u.id, func(c *storage.Conversation, _ *chat.Meta) { c.Deleted = time.Time{} })
	})
	if err != nil {
		return fmt.Errorf("the conversation could not be brought back; it is erased when Steward ends: %w", err)
	}
	u.a.conversationChanged(u.id, "restored")
	return nil
}
