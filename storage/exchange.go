package storage

import (
	"database/sql"
	"errors"
)

// How much is kept of what went to models and came back: of one conversation, and of all
// together, in bytes of [Tx.PutExchange]. What goes beyond makes the oldest go.
const (
	keptExchanges     = 20
	keptExchangeBytes = 8 << 20
	allExchangeBytes  = 64 << 20
)

// PutExchange keeps what went over the wire for the record of a request to the model, and
// drops what is older than the last few of the conversation. Of a conversation that is not
// there, or no longer, nothing is kept. What the bytes mean is the journal's affair.
func (tx *Tx) PutExchange(record int64, conversation string, bytes []byte) error {
	const doing = "keeping a request to the model"
	result, err := tx.exec(doing, `INSERT INTO exchange(record, conversation, size, bytes)
		SELECT ?1, ?2, ?3, ?4 WHERE EXISTS(SELECT 1 FROM conversation WHERE id = ?2)`, record, conversation, len(bytes), blob(bytes))
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return explain(doing, tx.db.path, err)
	}
	if err := tx.do(doing, `DELETE FROM exchange WHERE record IN (SELECT record FROM (
		SELECT record, row_number() OVER newest AS place, sum(size) OVER newest AS total FROM exchange WHERE conversation = ?1
		WINDOW newest AS (ORDER BY record DESC)) WHERE place > ?2 OR total > ?3 AND place > 1)`, conversation, keptExchanges, keptExchangeBytes); err != nil {
		return err
	}
	var all int64
	if err := tx.one(doing, "SELECT coalesce(sum(size), 0) FROM exchange", nil, &all); err != nil || all <= allExchangeBytes {
		return err
	}
	return tx.do(doing, `DELETE FROM exchange WHERE record IN (SELECT record FROM (
		SELECT record, sum(size) OVER (ORDER BY record DESC) AS total FROM exchange) WHERE total > ?)`, allExchangeBytes)
}

// Exchange gives what PutExchange has kept for a record; nil where there is nothing (any
// more).
func (s *Snapshot) Exchange(record int64) (bytes []byte, err error) {
	err = s.tx.QueryRowContext(s.ctx, "SELECT bytes FROM exchange WHERE record = ?", record).Scan(&bytes)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return bytes, s.explain(err)
}

// Exchanges gives the records of a conversation of which Exchange gives something, the
// oldest first.
func (s *Snapshot) Exchanges(conversation string) ([]int64, error) {
	return s.exchanges("SELECT record FROM exchange WHERE conversation = ? ORDER BY record", conversation)
}

// AllExchanges is Exchanges of all conversations together.
func (s *Snapshot) AllExchanges() ([]int64, error) {
	return s.exchanges("SELECT record FROM exchange ORDER BY record")
}

func (s *Snapshot) exchanges(query string, args ...any) (all []int64, err error) {
	rows, err := s.tx.QueryContext(s.ctx, query, args...)
	if err != nil {
		return nil, s.explain(err)
	}
	err = each(rows, func() error {
		var n int64
		err := rows.Scan(&n)
		all = append(all, n)
		return err
	})
	return all, s.explain(err)
}
