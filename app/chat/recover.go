package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"steward/app/consent"
	"steward/app/journal"
	"steward/storage"
)

// Recover puts right what a crash left open: answers that were still growing are
// interrupted, and every call without an answer gets one that tells the model, if
// the conversation goes on, what the journal knows of it. It never runs anything.
// It is to be called once, before the first Send.
func (e *Engine) Recover(ctx context.Context, r journal.Recovery) error {
	if _, err := e.o.Store.InterruptStreaming(ctx); err != nil {
		return fmt.Errorf("answers that a crash broke off could not be marked: %w", err)
	}
	records := map[string][]journal.Record{}
	for _, list := range [][]journal.Record{r.Unknown, r.Withdrawn} {
		for _, rec := range list {
			if rec.Kind == journal.KindCall && rec.Conversation != "" {
				records[rec.Conversation] = append(records[rec.Conversation], rec)
			}
		}
	}
	tasks := map[string]journal.OpenTask{} // by the id of the call that the model made
	for _, t := range r.Tasks {
		if t.Conversation != "" {
			if _, ok := records[t.Conversation]; !ok {
				records[t.Conversation] = nil // looked through as well
			}
			tasks[cmp.Or(t.Edits, t.Call)] = t
		}
	}
	for conversation, list := range records {
		if err := e.recoverConversation(ctx, conversation, list, tasks); err != nil && !errors.Is(err, storage.ErrNotFound) {
			return fmt.Errorf("calls that a crash left open in the conversation %s could not be answered: %w", conversation, err)
		}
	}
	return nil
}

func (e *Engine) recoverConversation(ctx context.Context, conversation string, records []journal.Record, tasks map[string]journal.OpenTask) error {
	messages, err := e.o.Store.Messages(ctx, conversation, 0, 500)
	if err != nil {
		return err
	}
	answered := map[string]bool{}
	for _, m := range messages {
		if m.Role == storage.RoleTool {
			answered[m.CallID] = true
		}
	}
	var rows []storage.Message
	for _, m := range messages {
		for _, c := range readCalls(m) {
			if answered[c.ID] {
				continue
			}
			row := storage.Message{
				ID: ResultID(c.ID, ""), Conversation: conversation, Role: storage.RoleTool, State: storage.StateComplete, CallID: c.ID,
				Time: e.o.Now().UTC(), Text: "Not executed. Steward was closed before the call was sent.",
			}
			meta := storedMeta{Server: c.Server, Tool: c.Tool, Outcome: journal.Withdrawn, Effect: journal.EffectNone}
			if t, ok := tasks[c.ID]; ok {
				row.Text = consent.TextRunning
				meta.Record, meta.Outcome, meta.Effect = t.Record.Record, t.Outcome, t.Effect
			} else if rec, ok := take(&records, c); ok && rec.Outcome == journal.Unknown {
				row.Text = "Steward ended while this call ran. It may or may not have had an effect; do not repeat it without asking the person."
				meta.Record, meta.Outcome, meta.Effect = rec.Record, rec.Outcome, rec.Effect
			} else if ok {
				meta.Record = rec.Record
			}
			if row.Meta, err = encode(meta); err != nil {
				return err
			}
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return e.o.Store.Write(ctx, func(tx *storage.Tx) error {
		for _, row := range rows {
			if err := tx.PutMessage(row); err != nil {
				return err
			}
		}
		return nil
	})
}

// Answered stores how a call ended that had been left open, in place of what stands
// for its answer in its conversation. A call by hand has none there.
func (e *Engine) Answered(ctx context.Context, t journal.OpenTask, o consent.Outcome) error {
	id := cmp.Or(t.Edits, t.Call)
	if err := e.o.Store.Flush(ctx); err != nil {
		return err
	}
	stored, err := e.o.Store.Message(ctx, ResultID(t.Call, t.Edits))
	if errors.Is(err, storage.ErrNotFound) || err == nil && stored.Conversation != t.Conversation {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the answer to record %d cannot be stored in its conversation: %w", t.Record.Record, err)
	}
	in := &turn{e: e, conv: storage.Conversation{ID: t.Conversation}}
	p := &pending{stored: storedCall{ID: id, Server: t.Server, Tool: t.Tool}, outcome: o}
	if meta := readMeta(stored); meta.Edited != "" || t.Edits != "" {
		p.edited = cmp.Or(meta.Edited, t.Arguments)
	}
	row := in.resultRow(p)
	row.Parent = stored.Parent
	err = e.o.Store.Write(ctx, func(tx *storage.Tx) error { return tx.PutMessage(row) })
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return fmt.Errorf("the answer to record %d cannot be stored in its conversation: %w", t.Record.Record, err)
	}
	in.stored(row)
	return nil
}

// take finds the record of a call: the one with its arguments, else (secrets in
// recorded arguments are replaced) the first one of the same tool.
func take(records *[]journal.Record, c storedCall) (journal.Record, bool) {
	found := -1
	for i, r := range *records {
		if r.Server != c.Server || r.Tool != c.Tool {
			continue
		}
		if r.Arguments == c.Arguments {
			found = i
			break
		}
		if found < 0 {
			found = i
		}
	}
	if found < 0 {
		return journal.Record{}, false
	}
	r := (*records)[found]
	*records = append((*records)[:found], (*records)[found+1:]...)
	return r, true
}
