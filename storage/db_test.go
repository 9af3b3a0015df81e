package storage

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if childMain() {
		return
	}
	goleak.VerifyTestMain(m)
}

func childMain() bool { return false }

func openTest(t *testing.T, dir string) *DB {
	t.Helper()
	db, err := Open(context.Background(), Options{Dir: dir, Program: "steward test", OnError: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	db := openTest(t, t.TempDir())
	ctx := context.Background()
	now := time.Date(2026, 11, 30, 14, 1, 58, 123456789, time.UTC)
	start := time.Now()
	err := db.Write(ctx, func(tx *Tx) error {
		if err := tx.PutConversation(Conversation{ID: "c_1", Title: "部署方案", Created: now, Updated: now}); err != nil {
			return err
		}
		return tx.PutMessage(Message{ID: "m_1", Conversation: "c_1", Role: RoleUser, State: StateComplete, Text: "今天讨论了部署方案", Time: now})
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(time.Since(start))
	got, err := db.Messages(ctx, "c_1", 0, 0)
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	cs, err := db.Conversations(ctx, ConversationFilter{Search: "部署方案"})
	t.Log(cs, err)
}
