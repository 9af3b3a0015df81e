package chat

import (
	"context"
	"strings"
	"testing"
	"time"

	"steward/app/journal"
	"steward/storage"
	sm "steward/testdata/scriptedmodel"
)

func TestAfterACrashTheModelIsToldTheTruth(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{script: strict(sm.Say("ok"))})
	ctx := context.Background()
	now := time.Now().UTC()
	calls := callsRow(t, "", call("k_1", "c1", `{"a":1}`), call("k_2", "c2", `{"a":2}`), call("k_3", "c3", `{}`))
	rows := []storage.Message{userRow("go"), calls, toolRow("k_3", "done"), {Role: storage.RoleAssistant, State: storage.StateStreaming, Text: "half"}}
	err := r.store.Write(ctx, func(tx *storage.Tx) error {
		if err := tx.PutConversation(storage.Conversation{ID: "c_1", Title: "t", Created: now, Updated: now}); err != nil {
			return err
		}
		for i, row := range rows {
			row.ID, row.Conversation, row.Time = "m_"+string(rune('a'+i)), "c_1", now
			if err := tx.PutMessage(row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	recovery := journal.Recovery{
		Unknown:   []journal.Record{{Record: 7, Kind: journal.KindCall, Conversation: "c_1", Server: "s", Tool: "t", Arguments: `{"a":2}`, Outcome: "unknown", Effect: "unknown"}},
		Withdrawn: []journal.Record{{Record: 6, Kind: journal.KindCall, Conversation: "c_1", Server: "s", Tool: "t", Arguments: `{"a":1}`, Outcome: "withdrawn", Effect: "none"}, {Record: 9, Kind: journal.KindCall, Conversation: "c_gone", Server: "s", Tool: "t"}},
	}
	for range 2 { // as after a crash during the recovery
		if err := r.engine.Recover(ctx, recovery); err != nil {
			t.Fatal(err)
		}
	}
	if m := r.messages("c_1"); len(m) != 6 || m[3].State != storage.StateInterrupted {
		t.Fatalf("stored: %+v", m)
	}
	r.want(r.finish(r.send(Turn{Conversation: "c_1", Text: "and now?"})), Finished)
	got := r.tools(1)
	if len(got) != 3 || !strings.HasPrefix(got[0], "Not executed.") || !strings.Contains(got[1], "may or may not") || got[2] != "done" {
		t.Fatalf("the model got %q", got)
	}
	if len(r.records(journal.KindCall)) != 0 {
		t.Fatal("something ran")
	}
}
