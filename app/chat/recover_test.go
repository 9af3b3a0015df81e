package chat

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"steward/app/consent"
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

// TestTheFolderOfAProgramThatWasKilled copies a folder while one call runs and
// another waits, which is what a killed program leaves, and goes on with it.
func TestTheFolderOfAProgramThatWasKilled(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{script: strict(sm.Step{Calls: []sm.Call{
		{Tool: "never", ID: "c1"}, {Tool: "echo", ID: "c2", Arguments: raw(`{"text":"x"}`)},
	}})})
	file := filepath.Join(t.TempDir(), "received")
	r.server("s", "--record", file)
	run := r.send(Turn{Text: "go"})
	r.answer(r.waiting(2)[0], consent.Answer{Action: consent.Allow})
	for received := ""; !strings.Contains(received, "tools/call"); time.Sleep(time.Millisecond) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		received = string(data)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(r.dir)); err != nil {
		t.Fatal(err)
	}
	run.Stop()
	r.finish(run)

	r = newRig(t, rigOptions{dir: dir, script: strict(sm.Say("ok"))})
	rec := r.recorded(journal.KindCall, 2)
	if rec[0].Outcome != "unknown" || rec[1].Outcome != "withdrawn" || rec[1].Effect != "none" {
		t.Fatalf("recorded: %+v", rec)
	}
	r.want(r.finish(r.send(Turn{Conversation: run.Conversation(), Text: "and now?"})), Finished)
	got := r.tools(1)
	if len(got) != 2 || !strings.Contains(got[0], "may or may not") || !strings.HasPrefix(got[1], "Not executed.") {
		t.Fatalf("the model got %q", got)
	}
	if v, err := r.journal.Verify(context.Background()); err != nil || !v.OK {
		t.Fatalf("%+v, %v", v, err)
	}
}
