package journal

import (
	"context"
	"fmt"

	"steward/storage"
)

// whatErased marks the single event that says that a conversation was erased.
const whatErased = "erased"

// Erase deletes a conversation for good: its messages and grants, and in the record its
// arguments, results and frames (storage.Tx.DeleteConversation). The same transaction
// records that it was done, so that Verify can tell an erasure from a text that
// somebody took out. storage.ErrNotFound where there is no such conversation. It
// returns when it is on the disk; when ctx ends before it was begun nothing is erased.
func (j *Journal) Erase(ctx context.Context, conversation string) error {
	err := j.erase(ctx, conversation)
	if err != nil {
		return fmt.Errorf("erasing a conversation: %w", err)
	}
	return nil
}

func (j *Journal) erase(ctx context.Context, conversation string) error {
	if _, err := j.store.Conversation(ctx, conversation); err != nil {
		return err
	}
	m := meta{Kind: KindSettings, What: whatErased, Outcome: OK, Effect: EffectDone}
	m.Conversation = j.short(conversation, &m)
	d, err := j.draft(0, string(KindSettings), m, nil)
	if err != nil {
		return err
	}
	it := &item{draft: d, done: make(chan error, 1), with: func(tx *storage.Tx) error { return tx.DeleteConversation(conversation) }}
	if _, err := j.pushFirst(it); err != nil {
		return err
	}
	return j.wait(ctx, it)
}
