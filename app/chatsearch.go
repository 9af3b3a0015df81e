package app

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"steward/app/chat"
	"steward/app/clean"
	"steward/storage"
)

// Characters of a snippet before the hit, and in all.
const (
	snippetBefore = 40
	snippetLength = 160
)

// snippet finds the words that were searched for. A hit in the title needs none.
func (a *App) snippet(ctx context.Context, c *Conversation, search string) error {
	m, err := a.db.MessageHit(ctx, c.ID, search)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	c.Message, c.Snippet = m.ID, around(clean.Clean(a.secrets.Redactor().Redact(m.Text)), search)
	return nil
}

// around cuts the piece of text that the first of the searched words stands in.
func around(text, search string) string {
	text = clean.Line(text, utf8.RuneCountInString(text))
	at := len(text)
	lower := strings.ToLower(text)
	if len(lower) != len(text) {
		lower = text // other lengths would point at other places
	}
	for _, w := range strings.Fields(strings.ToLower(search)) {
		if i := strings.Index(lower, w); i >= 0 && i < at {
			at = i
		}
	}
	if at == len(text) {
		at = 0
	}
	head := []rune(text[:at])
	start := max(0, len(head)-snippetBefore)
	out := string(head[start:]) + text[at:]
	if start > 0 {
		out = "…" + out
	}
	return clean.Line(out, snippetLength)
}

// shownPath reads the branch of a conversation that is shown.
func (a *App) shownPath(ctx context.Context, c storage.Conversation) ([]storage.Message, error) {
	if err := a.db.Flush(ctx); err != nil {
		return nil, err
	}
	all, err := a.db.Messages(ctx, c.ID, 0, -1)
	if err != nil {
		return nil, err
	}
	tree := chat.NewTree(all)
	return tree.Path(tree.Leaf(chat.ReadMeta(c).Branch)), nil
}
