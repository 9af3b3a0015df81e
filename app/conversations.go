package app

import (
	"context"
	"time"
)

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

// Conversations lists conversations, the pinned ones first, then the last updated first.
// Those in the bin are not among them. It only reads what is stored.
func (a *App) Conversations(ctx context.Context, q Query) ([]Conversation, error) {
	return nil, errNotYet
}

// Conversation gives one conversation.
func (a *App) Conversation(ctx context.Context, id string) (Conversation, error) {
	return Conversation{}, errNotYet
}

// NewConversation stores an empty conversation. A temporary one is erased, apart from its
// journal, when it is deleted, when the program ends, or at the next start after a crash.
func (a *App) NewConversation(ctx context.Context, temporary bool) (Conversation, error) {
	return Conversation{}, errNotYet
}

// Rename gives a conversation a title; it is stored in one line of at most 200 characters.
func (a *App) Rename(ctx context.Context, id, title string) error { return errNotYet }

// Pin keeps a conversation at the top of the list, or no longer.
func (a *App) Pin(ctx context.Context, id string, on bool) error { return errNotYet }

// Archive puts a conversation into the archive, or takes it out.
func (a *App) Archive(ctx context.Context, id string, on bool) error { return errNotYet }

// Duplicate copies the branch that is shown, with its settings, into a conversation of its
// own. The calls in it stay those of the journal; nothing is called again.
func (a *App) Duplicate(ctx context.Context, id string) (Conversation, error) {
	return Conversation{}, errNotYet
}

// Delete stops what runs in a conversation, withdraws what waits in it, and puts it into
// the bin. It is erased after [UndoTime], or when the program ends, with every text that
// belongs to it; of a temporary one the journal keeps its texts.
func (a *App) Delete(ctx context.Context, id string) (Undo, error) { return Undo{}, errNotYet }

// Undo brings the conversation back. The error says that it was erased already.
func (u Undo) Undo(ctx context.Context) error { return errNotYet }

// TitleFromModel asks the conversation's model for a short title and stores it, unless a
// person has named the conversation. The request is recorded.
func (a *App) TitleFromModel(ctx context.Context, id string) error { return errNotYet }

// ExportConversation gives the branch that is shown as Markdown, with each call, its
// decision and its record number.
func (a *App) ExportConversation(ctx context.Context, id string) (string, error) {
	return "", errNotYet
}
