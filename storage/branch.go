package storage

import (
	"context"
	"database/sql"
	"errors"
)

// Outline gives all messages of a conversation in order, without their texts: Seq,
// ID, Parent, Role, State and CallID alone. It is for finding one's way in
// branches.
func (db *DB) Outline(ctx context.Context, conversation string) ([]Message, error) {
	return list(ctx, db, "reading the order of messages", func(rows *sql.Rows) (m Message, err error) {
		m.Conversation = conversation
		err = rows.Scan(&m.Seq, &m.ID, &m.Parent, &m.Role, &m.State, &m.CallID)
		return m, err
	}, "SELECT seq, id, parent, role, state, call_id FROM message WHERE conversation = ? ORDER BY seq", conversation)
}

// MessagesBetween gives the messages of a conversation from one sequence number
// to another, both included, in order.
func (db *DB) MessagesBetween(ctx context.Context, conversation string, first, last int64) ([]Message, error) {
	return list(ctx, db, "reading messages", scanMessage,
		"SELECT "+messageColumns+" FROM message WHERE conversation = ? AND seq BETWEEN ? AND ? ORDER BY seq", conversation, first, last)
}

// Message gives one message; ErrNotFound.
func (db *DB) Message(ctx context.Context, id string) (Message, error) {
	found, err := list(ctx, db, "reading a message", scanMessage, "SELECT "+messageColumns+" FROM message WHERE id = ?", id)
	if err == nil && len(found) == 0 {
		return Message{}, refuse(ErrNotFound, nil, "there is no message %s", id)
	}
	if err != nil {
		return Message{}, err
	}
	return found[0], nil
}

// MessageHit gives the newest message of a conversation in which the words of
// search stand; ErrNotFound where they stand in none.
func (db *DB) MessageHit(ctx context.Context, conversation, search string) (Message, error) {
	match := matchFor(search)
	if match == "" {
		return Message{}, refuse(ErrNotFound, nil, "there is nothing to look for")
	}
	late, err := waiting(ctx, db.read, messageWords, search)
	if err != nil {
		return Message{}, explain("searching messages", db.path, err)
	}
	found, err := list(ctx, db, "searching messages", scanMessage, "SELECT "+messageColumns+` FROM message
		WHERE conversation = ? AND (seq IN (SELECT docid FROM message_search WHERE words MATCH ?) OR seq IN (`+late+`))
		ORDER BY seq DESC LIMIT 1`, conversation, match)
	if err == nil && len(found) == 0 {
		return Message{}, refuse(ErrNotFound, nil, "no message holds these words")
	}
	if err != nil {
		return Message{}, err
	}
	return found[0], nil
}

// Pinned lists the pinned conversations, in the archive or not, the last updated
// first.
func (db *DB) Pinned(ctx context.Context, archived bool) ([]Conversation, error) {
	return db.conversationsWhere(ctx, "pinned <> 0 AND deleted = 0 AND archived = ?", archived)
}

// Kept lists every conversation that is neither in the bin nor temporary, in the archive or not, the last updated first.
func (db *DB) Kept(ctx context.Context) ([]Conversation, error) {
	return db.conversationsWhere(ctx, "deleted = 0 AND temporary = 0")
}

// Leaving lists the conversations that are in the bin or temporary: those that
// are to be erased when nobody can want them back.
func (db *DB) Leaving(ctx context.Context) ([]Conversation, error) {
	return db.conversationsWhere(ctx, "deleted <> 0 OR temporary <> 0")
}

func (db *DB) conversationsWhere(ctx context.Context, where string, args ...any) ([]Conversation, error) {
	return list(ctx, db, "listing conversations", func(rows *sql.Rows) (Conversation, error) {
		c, _, err := scanConversation(rows)
		return c, err
	}, "SELECT "+conversationColumns+" FROM conversation WHERE "+where+" ORDER BY updated DESC, n DESC", args...)
}

// Conversation gives one conversation as it stands in the transaction, so that a
// change to it loses nothing that was written meanwhile; ErrNotFound.
func (tx *Tx) Conversation(id string) (c Conversation, err error) {
	c, _, err = scanConversation(oneRow{tx, "reading a conversation", "SELECT " + conversationColumns + " FROM conversation WHERE id = ?", id})
	if errors.Is(err, ErrNotFound) {
		return c, refuse(ErrNotFound, nil, "there is no conversation %s", id)
	}
	return c, err
}

// oneRow is a row that is read when it is scanned.
type oneRow struct {
	tx           *Tx
	doing, query string
	arg          any
}

func (r oneRow) Scan(into ...any) error { return r.tx.one(r.doing, r.query, []any{r.arg}, into...) }

// ForgetConversation erases a conversation, its messages and its grants as
// [Tx.DeleteConversation] does, but leaves all of its records in the journal: for
// a conversation that was never meant to be kept.
func (tx *Tx) ForgetConversation(id string) error {
	return tx.eraseConversation("forgetting a conversation", id)
}

// eraseConversation erases what DeleteConversation and ForgetConversation both do.
func (tx *Tx) eraseConversation(doing, id string) error {
	var n int64
	if err := tx.one(doing, "SELECT n FROM conversation WHERE id = ?", []any{id}, &n); err != nil {
		if errors.Is(err, ErrNotFound) {
			return refuse(ErrNotFound, nil, "%s: there is no conversation %s", doing, id)
		}
		return err
	}
	tx.scrub = true
	if err := tx.do(doing, "INSERT INTO meta(key, value) VALUES('erasing', x'01') ON CONFLICT DO NOTHING"); err != nil {
		return err
	}
	for _, q := range []struct {
		sql string
		arg any
	}{
		{"DELETE FROM message_search WHERE docid IN (SELECT seq FROM message WHERE conversation = ? AND state <> 'streaming')", id},
		{"DELETE FROM unindexed WHERE kind = 1 AND docid IN (SELECT seq FROM message WHERE conversation = ?)", id},
		{"DELETE FROM message WHERE conversation = ?", id},
		{"DELETE FROM exchange WHERE conversation = ?", id},
		{"DELETE FROM conversation_search WHERE docid = ?", n},
		{"DELETE FROM conversation WHERE n = ?", n},
		{"DELETE FROM grants WHERE conversation = ?", id},
	} {
		if err := tx.do(doing, q.sql, q.arg); err != nil {
			return err
		}
	}
	return nil
}

// DeleteSetting removes a setting; one that is not there is no error.
func (tx *Tx) DeleteSetting(key string) error {
	return tx.do("removing a setting", "DELETE FROM setting WHERE key = ?", key)
}
