package app

import (
	"context"
	"encoding/json"
	"errors"

	"steward/app/chat"
	"steward/app/journal"
	"steward/storage"
)

// WholeResult gives the text of a call's result as its conversation keeps it, cleaned, where the
// record holds only its beginning ([journal.Detail.Cut]); "" where the record has all of it, and
// where the conversation has it no more, or never had, as of a call by hand.
func (r *Reader) WholeResult(ctx context.Context, d journal.Detail) (string, error) {
	if !d.Cut || d.Kind != journal.KindCall || d.Conversation == "" || len(d.Events) == 0 {
		return "", nil
	}
	var proposed struct {
		Detail struct{ Call, Edits string }
	}
	if err := json.Unmarshal(d.Events[0].Data, &proposed); err != nil {
		return "", nil // an event of another form; the record's own beginning is shown
	}
	m, err := r.db.Message(ctx, chat.ResultID(proposed.Detail.Call, proposed.Detail.Edits))
	switch {
	case errors.Is(err, storage.ErrNotFound), err == nil && m.Conversation != d.Conversation:
		return "", nil
	case err != nil:
		return "", err
	}
	return m.Text, nil
}
