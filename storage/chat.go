package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sort"
)

const conversationColumns = `n, id, title, model, created, updated, pinned, archived, temporary, deleted, meta`

// pageSize is the limit where the caller names none.
const pageSize = 50

// PutConversation stores a conversation, new or changed; the id decides.
func (tx *Tx) PutConversation(c Conversation) error {
	const doing = "saving a conversation"
	if c.ID == "" {
		return errors.New(doing + ": it has no id")
	}
	var n int64
	var title string
	err := tx.one(doing, "SELECT n, title FROM conversation WHERE id = ?", []any{c.ID}, &n, &title)
	known := err == nil
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	err = tx.one(doing, `INSERT INTO conversation(id, title, model, created, updated, pinned, archived, temporary, deleted, meta)
		VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT(id) DO UPDATE SET title=excluded.title, model=excluded.model, created=excluded.created,
		updated=excluded.updated, pinned=excluded.pinned, archived=excluded.archived,
		temporary=excluded.temporary, deleted=excluded.deleted, meta=excluded.meta
		RETURNING n`,
		[]any{c.ID, c.Title, c.Model, stamp(c.Created), stamp(c.Updated), c.Pinned, c.Archived, c.Temporary, stamp(c.Deleted), string(c.Meta)}, &n)
	if err != nil {
		return err
	}
	if known && title == c.Title {
		return nil
	}
	return tx.putWords("conversation_search", n, c.Title, known)
}

// PutMessage stores a message, new or changed; the id decides. A message
// cannot move to another conversation. While it is streaming it cannot be
// found by its words.
func (tx *Tx) PutMessage(m Message) error {
	const doing = "saving a message"
	if m.ID == "" {
		return errors.New(doing + ": it has no id")
	}
	var seq int64
	var conversation, state, text string
	err := tx.one(doing, "SELECT seq, conversation, state, text FROM message WHERE id = ?", []any{m.ID}, &seq, &conversation, &state, &text)
	known := err == nil
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if known && conversation != m.Conversation {
		return fmt.Errorf("%s: %s belongs to conversation %s and cannot move to %s", doing, m.ID, conversation, m.Conversation)
	}
	err = tx.one(doing, `INSERT INTO message(id, conversation, parent, role, state, text, reasoning, model, call_id, calls, meta, time)
		VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT(id) DO UPDATE SET parent=excluded.parent, role=excluded.role, state=excluded.state,
		text=excluded.text, reasoning=excluded.reasoning, model=excluded.model, call_id=excluded.call_id,
		calls=excluded.calls, meta=excluded.meta, time=excluded.time
		RETURNING seq`,
		[]any{m.ID, m.Conversation, m.Parent, m.Role, m.State, m.Text, m.Reasoning, m.Model, m.CallID, string(m.Calls), string(m.Meta), stamp(m.Time)}, &seq)
	if isOrphan(err) {
		return refuse(ErrNotFound, nil, "%s: there is no conversation %s (any more)", doing, m.Conversation)
	}
	if err != nil {
		return err
	}
	found := known && state != StateStreaming
	if m.State == StateStreaming {
		if found {
			return tx.dropWordsOf(messageWords, seq)
		}
		return nil
	}
	if found && text == m.Text {
		return nil
	}
	return tx.putWordsLater(messageWords, seq, m.Text, found)
}

// DeleteConversation erases a conversation and every text that belongs to it:
// messages, search words, grants, and in the journal the arguments, results
// and frames. The journal's events stay, with the hashes of what they said.
// When the Write has returned, no file of the folder holds the text any more,
// unless a reader was in the middle of a query; then it leaves soon after. It is
// for the journal (Journal.Erase), which records the erasure in the same
// transaction: without that its verification finds missing texts.
func (tx *Tx) DeleteConversation(id string) error {
	const doing = "deleting a conversation"
	tx.frees = append(tx.frees, id)
	if err := tx.eraseConversation(doing, id); err != nil {
		return err
	}
	if err := tx.do(doing, "INSERT INTO erasure(conversation, time) VALUES(?, ?) ON CONFLICT DO NOTHING", id, stamp(tx.db.now())); err != nil {
		return err
	}
	for _, q := range []string{
		"DELETE FROM record_search WHERE docid IN (SELECT n FROM record WHERE conversation = ?)",
		"DELETE FROM unindexed WHERE kind = 2 AND docid IN (SELECT n FROM record WHERE conversation = ?)",
		`UPDATE body SET nonce = x'', bytes = x'', erased = 1 WHERE event IN
			(SELECT e.seq FROM record r CROSS JOIN event e ON e.record = r.n WHERE r.conversation = ?)`,
		"UPDATE record SET arguments = '' WHERE conversation = ?",
	} {
		if err := tx.do(doing, q, id); err != nil {
			return err
		}
	}
	return nil
}

// Conversation gives one conversation, in the bin or not; ErrNotFound.
func (db *DB) Conversation(ctx context.Context, id string) (Conversation, error) {
	row := db.read.QueryRowContext(ctx, "SELECT "+conversationColumns+" FROM conversation WHERE id = ?", id)
	c, _, err := scanConversation(row)
	if errors.Is(err, sql.ErrNoRows) {
		return c, refuse(ErrNotFound, nil, "there is no conversation %s", id)
	}
	return c, explain("reading a conversation", db.path, err)
}

func scanConversation(row interface{ Scan(...any) error }) (c Conversation, n int64, err error) {
	var created, updated, deleted int64
	var meta string
	err = row.Scan(&n, &c.ID, &c.Title, &c.Model, &created, &updated, &c.Pinned, &c.Archived, &c.Temporary, &deleted, &meta)
	c.Created, c.Updated, c.Deleted, c.Meta = unstamp(created), unstamp(updated), unstamp(deleted), raw(meta)
	return c, n, err
}

// Conversations lists what the filter chooses, the last updated first.
func (db *DB) Conversations(ctx context.Context, f ConversationFilter) ([]Conversation, error) {
	const doing = "listing conversations"
	if f.Limit <= 0 {
		f.Limit = pageSize
	}
	if f.Search != "" {
		return db.searchConversations(ctx, f)
	}
	query := "SELECT " + conversationColumns + " FROM conversation WHERE archived = ? AND deleted = 0"
	args := []any{f.Archived}
	if !f.Before.IsZero() {
		query += " AND updated < ?"
		args = append(args, stamp(f.Before))
	}
	query += " ORDER BY updated DESC, n DESC LIMIT ?"
	rows, err := db.read.QueryContext(ctx, query, append(args, f.Limit)...)
	if err != nil {
		return nil, explain(doing, db.path, err)
	}
	var list []Conversation
	err = each(rows, func() error {
		c, _, err := scanConversation(rows)
		list = append(list, c)
		return err
	})
	return list, explain(doing, db.path, err)
}

// searchConversations takes the newest hits in titles and messages and gives
// their conversations, the last updated first.
func (db *DB) searchConversations(ctx context.Context, f ConversationFilter) ([]Conversation, error) {
	const doing = "searching conversations"
	match := matchFor(f.Search)
	if match == "" {
		return nil, nil
	}
	late, err := waiting(ctx, db.read, messageWords, f.Search)
	if err != nil {
		return nil, explain(doing, db.path, err)
	}
	found := map[string]Conversation{}
	for _, q := range []struct {
		sql  string
		args []any
	}{
		{`SELECT id FROM conversation WHERE n IN
			(SELECT docid FROM conversation_search WHERE words MATCH ? ORDER BY docid DESC LIMIT ?)`, []any{match, searchDepth}},
		{`SELECT DISTINCT conversation FROM message WHERE seq IN
			(SELECT docid FROM message_search WHERE words MATCH ? ORDER BY docid DESC LIMIT ?)`, []any{match, searchDepth}},
		{"SELECT DISTINCT conversation FROM message WHERE seq IN (" + late + ")", nil},
	} {
		ids, err := db.texts(ctx, q.sql, q.args...)
		if err != nil {
			return nil, explain(doing, db.path, err)
		}
		for _, id := range ids {
			if _, known := found[id]; known {
				continue
			}
			c, err := db.Conversation(ctx, id)
			if errors.Is(err, ErrNotFound) {
				continue // deleted meanwhile
			}
			if err != nil {
				return nil, err
			}
			if c.Archived == f.Archived && c.Deleted.IsZero() && (f.Before.IsZero() || c.Updated.Before(f.Before)) {
				found[id] = c
			}
		}
	}
	list := make([]Conversation, 0, len(found))
	for _, c := range found {
		list = append(list, c)
	}
	sort.Slice(list, func(i, j int) bool {
		if !list[i].Updated.Equal(list[j].Updated) {
			return list[i].Updated.After(list[j].Updated)
		}
		return list[i].ID < list[j].ID
	})
	return list[:min(len(list), f.Limit)], nil
}

// texts reads one text column.
func (db *DB) texts(ctx context.Context, query string, args ...any) ([]string, error) {
	rows, err := db.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	var list []string
	err = each(rows, func() error {
		var s string
		err := rows.Scan(&s)
		list = append(list, s)
		return err
	})
	return list, err
}

const messageColumns = `seq, id, conversation, parent, role, state, text, reasoning, model, call_id, calls, meta, time`

func scanMessage(rows *sql.Rows) (m Message, err error) {
	var calls, meta string
	var t int64
	err = rows.Scan(&m.Seq, &m.ID, &m.Conversation, &m.Parent, &m.Role, &m.State, &m.Text, &m.Reasoning, &m.Model, &m.CallID, &calls, &meta, &t)
	m.Calls, m.Meta, m.Time = raw(calls), raw(meta), unstamp(t)
	return m, err
}

// Messages gives the last limit messages of a conversation that come before
// the sequence number before (0: the newest), in order. Limit 0 is 50, below 0
// no limit. An unknown conversation has none.
func (db *DB) Messages(ctx context.Context, conversation string, before int64, limit int) ([]Message, error) {
	const doing = "reading messages"
	if limit == 0 {
		limit = pageSize
	}
	if before <= 0 {
		before = 1<<63 - 1
	}
	rows, err := db.read.QueryContext(ctx, "SELECT "+messageColumns+` FROM message
		WHERE conversation = ? AND seq < ? ORDER BY seq DESC LIMIT ?`, conversation, before, limit)
	if err != nil {
		return nil, explain(doing, db.path, err)
	}
	var list []Message
	err = each(rows, func() error {
		m, err := scanMessage(rows)
		list = append(list, m)
		return err
	})
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list, explain(doing, db.path, err)
}

// InterruptStreaming marks every message that is still streaming as
// interrupted and says how many there were. It is for the start, when no
// stream can be running, and deletes nothing.
func (db *DB) InterruptStreaming(ctx context.Context) (int, error) {
	count := 0
	err := db.Write(ctx, func(tx *Tx) error {
		left, err := tx.streaming()
		if err != nil {
			return err
		}
		count = len(left)
		for _, m := range left {
			m.State = StateInterrupted
			if err := tx.PutMessage(m); err != nil {
				return err
			}
		}
		return nil
	})
	return count, err
}

func (tx *Tx) streaming() ([]Message, error) {
	const doing = "looking for interrupted messages"
	rows, err := tx.conn.QueryContext(context.Background(), "SELECT "+messageColumns+" FROM message WHERE state = 'streaming' ORDER BY seq")
	if err != nil {
		return nil, explain(doing, tx.db.path, err)
	}
	var list []Message
	err = each(rows, func() error {
		m, err := scanMessage(rows)
		list = append(list, m)
		return err
	})
	return list, explain(doing, tx.db.path, err)
}
