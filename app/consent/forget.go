package consent

import (
	"context"
	"fmt"

	"steward/app/journal"
	"steward/storage"
)

// Forget forgets everything that was reviewed of a server, when it is removed. A server
// that later has the same name is new.
func (g *Gate) Forget(ctx context.Context, server string) error {
	_, err := g.o.Journal.NoteNow(ctx, journal.Proposal{Kind: journal.KindDefinition, Server: server, Detail: map[string]any{"forgotten": true}},
		journal.Outcome{Outcome: journal.OK, Effect: journal.EffectDone, Reason: "The server was removed; what was reviewed of it is forgotten."})
	if err != nil {
		return fmt.Errorf("that the review of the server %s is forgotten could not be recorded: %w", server, err)
	}
	if err := g.o.Store.Write(ctx, func(tx *storage.Tx) error { return tx.DeletePins(server) }); err != nil {
		return fmt.Errorf("the review of the server %s could not be forgotten: %w", server, err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.reviews++
	delete(g.pins, server)
	return nil
}
