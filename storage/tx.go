package storage

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// Tx is a running transaction. It is valid inside the function it was given to
// and on that goroutine alone.
type Tx struct {
	db   *DB
	conn *sql.Conn
	dead bool
	// scrub: text was erased, and must leave the search index and the WAL too.
	scrub bool
	// frees are the conversations it deletes, which makes room.
	frees []string
	// left is how many rows it left to be indexed.
	left int
}

// run calls fn, turns its panic into an error, and finishes the erasing.
func (tx *Tx) run(fn func(*Tx) error) (err error) {
	defer func() {
		tx.dead = true
		if p := recover(); p != nil {
			err = fmt.Errorf("nothing was saved: the program has a fault here: %v\n%s", p, debug.Stack())
		}
	}()
	if err := fn(tx); err != nil {
		return err
	}
	if tx.scrub {
		return tx.forgetWords()
	}
	return nil
}

func (tx *Tx) exec(doing, query string, args ...any) (sql.Result, error) {
	if tx.dead {
		return nil, errors.New(doing + ": the transaction has ended already; a fault of the program")
	}
	result, err := tx.conn.ExecContext(context.Background(), query, args...)
	return result, explain(doing, tx.db.path, err)
}

func (tx *Tx) do(doing, query string, args ...any) error {
	_, err := tx.exec(doing, query, args...)
	return err
}

// one reads one row.
func (tx *Tx) one(doing, query string, args []any, into ...any) error {
	if tx.dead {
		return errors.New(doing + ": the transaction has ended already; a fault of the program")
	}
	err := tx.conn.QueryRowContext(context.Background(), query, args...).Scan(into...)
	return explain(doing, tx.db.path, err)
}

// isOrphan says that a row names an owner that is not there.
func isOrphan(err error) bool {
	var engine sqlite3.Error
	return errors.As(err, &engine) && engine.ExtendedCode == sqlite3.ErrConstraintForeignKey
}

// Times are stored as nanoseconds since 1970, 0 for the zero time.

func stamp(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func unstamp(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// raw is a stored opaque value, nil where there was none.
func raw(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}
