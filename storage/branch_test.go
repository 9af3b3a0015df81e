package storage

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestOutlineAndSingleMessages(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := openTest(t, t.TempDir())
	write(t, db, func(tx *Tx) error {
		child := message("b", "c_1", "second words")
		child.Parent, child.CallID = "a", "k_1"
		return errors.Join(tx.PutConversation(conversation("c_1", "")), tx.PutConversation(conversation("c_2", "")),
			tx.PutMessage(message("a", "c_1", "first words")), tx.PutMessage(message("x", "c_2", "words")), tx.PutMessage(child), tx.PutMessage(message("c", "c_1", "third")))
	})
	outline, err := db.Outline(ctx, "c_1")
	if err != nil || ids(outline) != "a b c" || outline[1].Parent != "a" || outline[1].CallID != "k_1" || outline[0].Text != "" {
		t.Errorf("outline %+v, %v", outline, err)
	}
	some, err := db.MessagesBetween(ctx, "c_1", outline[0].Seq, outline[1].Seq)
	if err != nil || ids(some) != "a b" || some[1].Text != "second words" {
		t.Errorf("between %+v, %v", some, err)
	}
	if m, err := db.Message(ctx, "c"); err != nil || m.Text != "third" {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := db.Message(ctx, "none"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if m, err := db.MessageHit(ctx, "c_1", "words"); err != nil || m.ID != "b" {
		t.Errorf("the newest hit is %+v, %v", m, err)
	}
	for _, none := range []string{"elsewhere", ""} {
		if _, err := db.MessageHit(ctx, "c_1", none); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v", none, err)
		}
	}
}

func TestPinnedAndLeaving(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := openTest(t, t.TempDir())
	put := func(id string, change func(*Conversation)) {
		c := conversation(id, "title of "+id)
		change(&c)
		write(t, db, func(tx *Tx) error { return tx.PutConversation(c) })
	}
	put("plain", func(*Conversation) {})
	put("pinned", func(c *Conversation) { c.Pinned = true })
	put("stored", func(c *Conversation) { c.Pinned, c.Archived = true, true })
	put("bin", func(c *Conversation) { c.Pinned, c.Deleted = true, time.Unix(9, 0) })
	put("brief", func(c *Conversation) { c.Temporary = true })
	names := func(list []Conversation, err error) (out string) {
		if err != nil {
			t.Error(err)
		}
		for _, c := range list {
			out += c.ID + " "
		}
		return out
	}
	if got := names(db.Pinned(ctx, false)); got != "pinned " {
		t.Error(got)
	}
	if got := names(db.Leaving(ctx)); got != "brief bin " && got != "bin brief " {
		t.Error(got)
	}
	write(t, db, func(tx *Tx) error {
		c, err := tx.Conversation("plain")
		if err != nil || c.Title != "title of plain" {
			t.Errorf("%+v, %v", c, err)
		}
		_, err = tx.Conversation("none")
		if !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
		return nil
	})
}

// What was never meant to be kept leaves the file, and its records stay whole.
func TestForgettingKeepsTheJournal(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := openTest(t, t.TempDir())
	write(t, db, func(tx *Tx) error {
		return errors.Join(tx.PutConversation(conversation("c_1", "a title")), tx.PutMessage(message("a", "c_1", "words")),
			tx.PutRecord(Record{N: 1, Kind: "call", Conversation: "c_1", Arguments: `{"a":1}`, Outcome: "ok"}), tx.IndexRecord(1, "findable"),
			tx.PutGrant(Grant{ID: "g", Conversation: "c_1"}), tx.PutSetting("k", []byte("1")))
	})
	write(t, db, func(tx *Tx) error { return errors.Join(tx.ForgetConversation("c_1"), tx.DeleteSetting("k")) })
	if _, err := db.Conversation(ctx, "c_1"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if _, err := db.Message(ctx, "a"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if g, err := db.Grants(ctx); err != nil || len(g) != 0 {
		t.Error(g, err)
	}
	if _, err := db.Setting(ctx, "k"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	err := db.Read(ctx, func(s *Snapshot) error {
		r, err := s.Record(1)
		if err != nil || r.Arguments != `{"a":1}` {
			t.Errorf("the record is %+v, %v", r, err)
		}
		found, err := s.Records(RecordFilter{Search: "findable"})
		if err != nil || len(found) != 1 {
			t.Errorf("%v, %v", found, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := db.Write(ctx, func(tx *Tx) error { return tx.ForgetConversation("none") }); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}
