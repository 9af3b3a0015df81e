package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Event is one row of the journal's chain. What it means, and its hash, is the
// journal's affair; here it is only kept. An event is never changed or deleted.
type Event struct {
	Seq, Record int64
	Kind        string
	Time        time.Time
	Mono        int64 // nanoseconds since the run began
	Run         string
	Meta        string
	BodyHash    []byte // empty: the event has no body
	Prev, Hash  []byte

	// Body is what goes with the event and can be erased; nil where there is none.
	Body *Body
	// Mistyped: a column holds a value of another type than was written, so
	// the file has been changed from outside.
	Mistyped bool
}

// Body is the text of an event. Nonce makes its hash useless for guessing once
// the body is erased. Bytes and Nonce are empty then.
type Body struct {
	Nonce, Bytes []byte
	Erased       bool
}

// Record is one row of the journal's projection.
type Record struct {
	N            int64
	Kind         string
	Parent       int64
	Time         time.Time
	Conversation string
	Server, Tool string
	Arguments    string
	Decision, By string
	Outcome      string
	Effect       string
	Seconds      float64
	Model        string
	Mistyped     bool
}

// RecordFilter chooses records. Empty fields choose all. Since is included,
// Until is not. Before is a record number: only smaller ones; 0 is no bound.
// After: only larger ones. Limit 0 is 50, below 0 none. Oldest turns the order.
// Open are the outcome words under which a record is not yet findable by its
// words; such records are searched in their arguments, server and tool alone.
type RecordFilter struct {
	Kind, Server, Tool, Decision, Outcome, Conversation, Search string

	Since, Until  time.Time
	Before, After int64
	Limit         int
	Oldest        bool
	Open          []string
}

// Head is the last event of the chain: its number and hash, 0 and nil for none.
type Head struct {
	Seq    int64
	Hash   []byte
	Record int64 // the largest record number
}

const headQuery = `SELECT coalesce((SELECT max(seq) FROM event), 0),
	(SELECT hash FROM event ORDER BY seq DESC LIMIT 1),
	coalesce((SELECT max(n) FROM record), 0)`

// Head reads the end of the chain inside the transaction.
func (tx *Tx) Head() (h Head, err error) {
	err = tx.one("reading the journal", headQuery, nil, &h.Seq, &h.Hash, &h.Record)
	return h, err
}

// AppendEvent adds an event and its body.
func (tx *Tx) AppendEvent(e Event) error {
	const doing = "writing the journal"
	err := tx.do(doing, `INSERT INTO event(seq, record, kind, time, mono, run, meta, body_hash, prev, hash) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		e.Seq, e.Record, e.Kind, stamp(e.Time), e.Mono, e.Run, e.Meta, blob(e.BodyHash), blob(e.Prev), blob(e.Hash))
	if err != nil || e.Body == nil {
		return err
	}
	return tx.do(doing, "INSERT INTO body(event, nonce, bytes, erased) VALUES(?, ?, ?, ?)", e.Seq, blob(e.Body.Nonce), blob(e.Body.Bytes), e.Body.Erased)
}

// TextErased tells whether a conversation was erased, so that no text of it is to be
// kept any more. Without its id it is the conversation of the record.
func (tx *Tx) TextErased(record int64, conversation string) (erased bool, err error) {
	err = tx.one("reading the journal", `SELECT EXISTS(SELECT 1 FROM erasure x
		WHERE x.conversation = coalesce(nullif(?2, ''), (SELECT r.conversation FROM record r WHERE r.n = ?1))
		AND NOT EXISTS(SELECT 1 FROM conversation c WHERE c.id = x.conversation))`, []any{record, conversation}, &erased)
	return erased, err
}

// blob keeps the driver from storing an empty value as NULL.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// PutRecord stores the projection of a record, new or changed.
func (tx *Tx) PutRecord(r Record) error {
	return tx.do("writing the journal", `INSERT INTO record(n, kind, parent, time, conversation, server, tool, arguments, decision, decided_by, outcome, effect, seconds, model)
		VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT(n) DO UPDATE SET decision=excluded.decision, decided_by=excluded.decided_by, outcome=excluded.outcome,
		effect=excluded.effect, seconds=excluded.seconds`,
		r.N, r.Kind, r.Parent, stamp(r.Time), r.Conversation, r.Server, r.Tool, r.Arguments, r.Decision, r.By, r.Outcome, r.Effect, r.Seconds, r.Model)
}

// IndexRecord makes a record findable by the words of text.
func (tx *Tx) IndexRecord(n int64, text string) error {
	return tx.putWordsLater(recordWords, n, text, false)
}

// Snapshot is the journal as it stands at one moment, whatever is written
// meanwhile. It is valid inside the function it was given to.
type Snapshot struct {
	db  *DB
	ctx context.Context
	tx  *sql.Tx
}

// Read calls fn with a snapshot.
func (db *DB) Read(ctx context.Context, fn func(*Snapshot) error) (err error) {
	tx, err := db.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return explain("reading the journal", db.path, err)
	}
	defer func() {
		if e := tx.Rollback(); e != nil && !errors.Is(e, sql.ErrTxDone) {
			err = errors.Join(err, e)
		}
	}()
	return fn(&Snapshot{db: db, ctx: ctx, tx: tx})
}

func (s *Snapshot) explain(err error) error {
	return explain("reading the journal", s.db.path, err)
}

// Head reads the end of the chain.
func (s *Snapshot) Head() (h Head, err error) {
	err = s.tx.QueryRowContext(s.ctx, headQuery).Scan(&h.Seq, &h.Hash, &h.Record)
	return h, s.explain(err)
}

// Counts gives the number of events, bodies and records.
func (s *Snapshot) Counts() (events, bodies, records int64, err error) {
	err = s.tx.QueryRowContext(s.ctx, `SELECT (SELECT count(*) FROM event), (SELECT count(*) FROM body), (SELECT count(*) FROM record)`).
		Scan(&events, &bodies, &records)
	return events, bodies, records, s.explain(err)
}

const eventColumns = `e.seq, e.record, e.kind, e.time, e.mono, e.run, e.meta, e.body_hash, e.prev, e.hash, b.nonce, b.bytes, b.erased,
	typeof(e.seq)||typeof(e.record)||typeof(e.kind)||typeof(e.time)||typeof(e.mono)||typeof(e.run)||typeof(e.meta)||
	typeof(e.body_hash)||typeof(e.prev)||typeof(e.hash),
	CASE WHEN b.event IS NULL THEN '' ELSE typeof(b.nonce)||typeof(b.bytes)||typeof(b.erased) END`

const (
	eventTypes = "integerintegertextintegerintegertexttextblobblobblob"
	bodyTypes  = "blobblobinteger"
)

// Events gives up to limit events after the sequence number, in order.
func (s *Snapshot) Events(after int64, limit int) ([]Event, error) {
	return s.events(`SELECT `+eventColumns+` FROM event e LEFT JOIN body b ON b.event = e.seq WHERE e.seq > ? ORDER BY e.seq LIMIT ?`, after, limit)
}

// EventsOf gives the events of a record, in order.
func (s *Snapshot) EventsOf(record int64) ([]Event, error) {
	return s.events(`SELECT `+eventColumns+` FROM event e LEFT JOIN body b ON b.event = e.seq WHERE e.record = ? ORDER BY e.seq`, record)
}

func (s *Snapshot) events(query string, args ...any) ([]Event, error) {
	rows, err := s.tx.QueryContext(s.ctx, query, args...)
	if err != nil {
		return nil, s.explain(err)
	}
	var all []Event
	err = each(rows, func() error {
		e, err := scanEvent(rows)
		all = append(all, e)
		return err
	})
	return all, s.explain(err)
}

// scanEvent reads columns as they are, so that a changed type is a finding and
// not a failure to read.
func scanEvent(rows *sql.Rows) (Event, error) {
	var seq, record, kind, at, mono, run, meta, bodyHash, prev, hash, nonce, body, erased any
	var types, bodyType string
	if err := rows.Scan(&seq, &record, &kind, &at, &mono, &run, &meta, &bodyHash, &prev, &hash, &nonce, &body, &erased, &types, &bodyType); err != nil {
		return Event{}, err
	}
	e := Event{
		Seq: integer(seq), Record: integer(record), Kind: text(kind), Time: unstamp(integer(at)), Mono: integer(mono),
		Run: text(run), Meta: text(meta), BodyHash: octets(bodyHash), Prev: octets(prev), Hash: octets(hash),
		Mistyped: types != eventTypes || (bodyType != "" && bodyType != bodyTypes),
	}
	if bodyType != "" {
		flag := integer(erased)
		e.Body = &Body{Nonce: octets(nonce), Bytes: octets(body), Erased: flag == 1}
		e.Mistyped = e.Mistyped || flag < 0 || flag > 1
	}
	return e, nil
}

func integer(v any) int64 { n, _ := v.(int64); return n }
func text(v any) string   { s, _ := v.(string); return s }
func octets(v any) []byte { b, _ := v.([]byte); return b }

const recordColumns = `n, kind, parent, time, conversation, server, tool, arguments, decision, decided_by, outcome, effect, seconds, model,
	typeof(n)||typeof(kind)||typeof(parent)||typeof(time)||typeof(conversation)||typeof(server)||typeof(tool)||typeof(arguments)||
	typeof(decision)||typeof(decided_by)||typeof(outcome)||typeof(effect)||typeof(seconds)||typeof(model)`

const recordTypes = "integertextintegerintegertexttexttexttexttexttexttexttextrealtext"

func scanRecord(rows *sql.Rows) (Record, error) {
	var n, kind, parent, at, conversation, server, tool, arguments, decision, by, outcome, effect, seconds, model any
	var types string
	err := rows.Scan(&n, &kind, &parent, &at, &conversation, &server, &tool, &arguments, &decision, &by, &outcome, &effect, &seconds, &model, &types)
	if err != nil {
		return Record{}, err
	}
	duration, _ := seconds.(float64)
	return Record{
		N: integer(n), Kind: text(kind), Parent: integer(parent), Time: unstamp(integer(at)), Conversation: text(conversation),
		Server: text(server), Tool: text(tool), Arguments: text(arguments), Decision: text(decision), By: text(by),
		Outcome: text(outcome), Effect: text(effect), Seconds: duration, Model: text(model), Mistyped: types != recordTypes,
	}, nil
}

func (s *Snapshot) records(query string, args ...any) ([]Record, error) {
	rows, err := s.tx.QueryContext(s.ctx, query, args...)
	if err != nil {
		return nil, s.explain(err)
	}
	var all []Record
	err = each(rows, func() error {
		r, err := scanRecord(rows)
		all = append(all, r)
		return err
	})
	return all, s.explain(err)
}

// Record gives one record; ErrNotFound.
func (s *Snapshot) Record(n int64) (Record, error) {
	found, err := s.records("SELECT "+recordColumns+" FROM record WHERE n = ?", n)
	if err == nil && len(found) == 0 {
		err = refuse(ErrNotFound, nil, "there is no record %d in the journal", n)
	}
	if err != nil {
		return Record{}, err
	}
	return found[0], nil
}

// ConversationDeleted tells whether a conversation was erased, and is not there
// again.
func (s *Snapshot) ConversationDeleted(id string) (deleted bool, err error) {
	err = s.tx.QueryRowContext(s.ctx, `SELECT EXISTS(SELECT 1 FROM erasure WHERE conversation = ?1)
		AND NOT EXISTS(SELECT 1 FROM conversation WHERE id = ?1)`, id).Scan(&deleted)
	return deleted, s.explain(err)
}

// Records gives what the filter chooses, the newest first or the oldest.
func (s *Snapshot) Records(f RecordFilter) ([]Record, error) {
	if f.Limit == 0 {
		f.Limit = pageSize
	}
	where, args := f.where()
	order := " ORDER BY n DESC LIMIT ?"
	if f.Oldest {
		order = " ORDER BY n LIMIT ?"
	}
	if f.Search == "" {
		return s.records("SELECT "+recordColumns+" FROM record WHERE "+where+order, append(args, f.Limit)...)
	}
	found, err := s.openMatches(f, where, args, order)
	if err != nil {
		return nil, err
	}
	if match := matchFor(f.Search); match != "" {
		// The search table stands outside, because it gives its rows in order
		// and so stops at the limit.
		query := "SELECT " + recordColumns + " FROM record_search s CROSS JOIN record ON n = s.docid WHERE s.words MATCH ? AND " +
			f.docidBounds() + where + strings.Replace(order, " n", " s.docid", 1)
		closed, err := s.records(query, append(append([]any{match}, args...), f.Limit)...)
		if err != nil {
			return nil, err
		}
		found = merge(found, closed, f.Oldest)
	}
	late, err := waiting(s.ctx, s.tx, recordWords, f.Search)
	if err != nil {
		return nil, s.explain(err)
	}
	if late != "" {
		closed, err := s.records("SELECT "+recordColumns+" FROM record WHERE "+where+" AND n IN ("+late+")"+order, append(args, f.Limit)...)
		if err != nil {
			return nil, err
		}
		found = merge(found, closed, f.Oldest)
	}
	if f.Limit >= 0 && len(found) > f.Limit {
		found = found[:f.Limit]
	}
	return found, nil
}

func (f RecordFilter) where() (string, []any) {
	parts, args := []string{"1"}, []any{}
	for _, c := range []struct {
		column, value string
	}{
		{"kind", f.Kind}, {"server", f.Server}, {"tool", f.Tool}, {"decision", f.Decision}, {"outcome", f.Outcome}, {"conversation", f.Conversation},
	} {
		if c.value != "" {
			parts = append(parts, c.column+" = ?")
			args = append(args, c.value)
		}
	}
	if !f.Since.IsZero() {
		parts = append(parts, "time >= ?")
		args = append(args, stamp(f.Since))
	}
	if !f.Until.IsZero() {
		parts = append(parts, "time < ?")
		args = append(args, stamp(f.Until))
	}
	if f.Before > 0 {
		parts = append(parts, "n < ?")
		args = append(args, f.Before)
	}
	if f.After > 0 {
		parts = append(parts, "n > ?")
		args = append(args, f.After)
	}
	return strings.Join(parts, " AND "), args
}

// docidBounds gives the search table the bounds of the page too, so that it
// does not walk through the pages before.
func (f RecordFilter) docidBounds() string {
	var b strings.Builder
	if f.Before > 0 {
		fmt.Fprintf(&b, "s.docid < %d AND ", f.Before)
	}
	if f.After > 0 {
		fmt.Fprintf(&b, "s.docid > %d AND ", f.After)
	}
	return b.String()
}

// openMatches searches the few records that are still open.
func (s *Snapshot) openMatches(f RecordFilter, where string, args []any, order string) ([]Record, error) {
	var found []Record
	for _, word := range f.Open {
		open, err := s.records("SELECT "+recordColumns+" FROM record WHERE "+where+" AND outcome = ?"+order, append(append([]any{}, args...), word, -1)...)
		if err != nil {
			return nil, err
		}
		for _, r := range open {
			if mentions(r, f.Search) {
				found = merge(found, []Record{r}, f.Oldest)
			}
		}
	}
	return found, nil
}

func mentions(r Record, typed string) bool {
	all := strings.ToLower(normal(r.Server + " " + r.Tool + " " + r.Arguments))
	for _, piece := range strings.Fields(strings.ToLower(normal(typed))) {
		if !strings.Contains(all, piece) {
			return false
		}
	}
	return true
}

// merge joins two ordered lists; what is in both stands once.
func merge(a, b []Record, oldest bool) []Record {
	if len(a) == 0 {
		return b
	}
	out := make([]Record, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].N == b[0].N:
			a = a[1:]
		case (a[0].N < b[0].N) == oldest:
			out, a = append(out, a[0]), a[1:]
		default:
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}
