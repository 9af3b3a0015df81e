package storage

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// group commits the jobs together. Where the transaction as a whole fails, each
// is tried by itself, so that one that is too large fails alone.
func (w *writer) group(batch []*job) {
	rerun := w.transaction(batch)
	for _, j := range rerun {
		if again := w.transaction([]*job{j}); len(again) > 0 {
			w.freeAndRetry(j)
		}
	}
	if w.scrub != erasingNothing && w.quickToErase() {
		w.erase()
	}
	for _, j := range batch {
		if j.done != nil {
			j.done <- j.err
		} else if j.err != nil {
			w.report(j.err)
		}
	}
}

// freeAndRetry is for a job that deletes, on a full disk. SQLite needs room in
// the WAL for all that it deletes; so the ballast is given up, and what can be
// deleted in small steps goes first.
func (w *writer) freeAndRetry(j *job) {
	if len(j.frees) == 0 || !errors.Is(j.err, ErrFull) {
		return
	}
	if _, err := dropBallast(w.db.dir); err != nil {
		w.report(err)
	}
	reason := j.err
	for _, id := range j.frees {
		if err := w.deleteInSteps(id); err != nil {
			w.report(err)
		}
	}
	w.transaction([]*job{j})
	if j.err != nil && !errors.Is(j.err, ErrFull) {
		j.err = errors.Join(j.err, reason)
	}
}

// deleteInSteps deletes the messages of a conversation, the oldest first, and
// folds the WAL into the file after each few.
func (w *writer) deleteInSteps(conversation string) error {
	const some = "SELECT seq FROM message WHERE conversation = ? ORDER BY seq LIMIT 4"
	for {
		if _, err := w.truncateWAL(context.Background()); err != nil {
			return explain("making room", w.db.path, err)
		}
		var left int64
		step := &job{fn: func(tx *Tx) error {
			if err := tx.do("making room", "DELETE FROM message_search WHERE docid IN ("+some+")", conversation); err != nil {
				return err
			}
			if err := tx.do("making room", "DELETE FROM unindexed WHERE kind = 1 AND docid IN ("+some+")", conversation); err != nil {
				return err
			}
			gone, err := tx.exec("making room", "DELETE FROM message WHERE seq IN ("+some+")", conversation)
			if err == nil {
				left, err = gone.RowsAffected()
			}
			return err
		}}
		w.transaction([]*job{step})
		if step.err != nil || left == 0 {
			return step.err
		}
	}
}

// report hands an error to the owner of the DB, whose fault must not end us.
func (w *writer) report(err error) {
	defer func() { _ = recover() }() // there is nobody left to tell
	w.db.onError(err)
}

// transaction runs the jobs in one transaction and sets their results. It
// gives the jobs back whose transaction was lost, with the reason as result.
func (w *writer) transaction(batch []*job) (lost []*job) {
	if err := w.open(batch); err != nil {
		for _, j := range batch {
			j.err = err
		}
		return nil
	}
	var ran []*job
	for _, j := range batch {
		if !j.begin() {
			continue
		}
		ran = append(ran, j)
		if err := w.runOne(j, len(batch) > 1); err != nil {
			w.rollBack(err)
			return w.lose(ran, batch, err)
		}
	}
	if _, err := w.conn.ExecContext(context.Background(), "COMMIT"); err != nil {
		w.rollBack(err)
		return w.lose(ran, batch, err)
	}
	for _, j := range ran {
		if j.err != nil {
			continue
		}
		w.unindexed += j.left
		if j.scrub {
			w.scrub = erasingPages
		}
	}
	return nil
}

// lose decides who is tried again: everyone but a job that was alone and
// failed by its own fault.
func (w *writer) lose(ran, batch []*job, err error) []*job {
	var engine sqlite3.Error
	if errors.As(err, &engine) {
		err = explain("saving", w.db.path, err)
	}
	for _, j := range ran {
		j.err = err
	}
	if len(batch) == 1 && len(ran) == 1 && !errors.Is(err, ErrFull) {
		return nil
	}
	return batch
}

// runOne runs one job behind a savepoint. Its own failure undoes its work
// alone; an error is returned only where the transaction itself is gone.
func (w *writer) runOne(j *job, shared bool) error {
	bg := context.Background()
	if shared {
		if _, err := w.conn.ExecContext(bg, "SAVEPOINT job"); err != nil {
			return err
		}
	}
	tx := &Tx{db: w.db, conn: w.conn}
	j.err = tx.run(j.fn)
	j.scrub, j.frees, j.left = tx.scrub, tx.frees, tx.left
	if j.err == nil {
		if shared {
			_, err := w.conn.ExecContext(bg, "RELEASE job")
			return err
		}
		return nil
	}
	if !shared || isFull(j.err) || w.outside() {
		return j.err
	}
	if _, err := w.conn.ExecContext(bg, "ROLLBACK TO job"); err != nil {
		return err
	}
	_, err := w.conn.ExecContext(bg, "RELEASE job")
	return err
}

// outside tells whether SQLite has ended the transaction by itself, as it may
// on a full disk or an I/O error (sqlite.org/lang_transaction.html).
func (w *writer) outside() bool {
	gone := false
	err := w.conn.Raw(func(c any) error {
		own, ok := c.(*sqlite3.SQLiteConn)
		if !ok {
			return fmt.Errorf("unexpected connection %T", c)
		}
		gone = own.AutoCommit()
		return nil
	})
	return gone || err != nil
}

// open begins the transaction. While another process holds the write lock it
// goes on trying, as long as anyone waits; jobs stay queued meanwhile, so their
// callers can leave.
func (w *writer) open(batch []*job) error {
	var said bool
	for {
		if w.conn == nil {
			if err := w.prepare(context.Background()); err != nil {
				return explain("opening the data file again", w.db.path, err)
			}
		}
		_, err := w.conn.ExecContext(context.Background(), "BEGIN IMMEDIATE")
		if err == nil {
			return nil
		}
		err = explain("saving", w.db.path, err)
		if !errors.Is(err, ErrBusy) {
			return err
		}
		if !said {
			said = true
			w.report(fmt.Errorf("saving waits: %w", err))
		}
		if everyoneLeft(batch) {
			return err
		}
		select {
		case <-w.stop:
			if w.leaving.IsZero() {
				w.leaving = time.Now()
			} else if time.Since(w.leaving) > closePatience {
				return err
			}
		default:
		}
	}
}

func everyoneLeft(batch []*job) bool {
	for _, j := range batch {
		if j.done == nil || j.state.Load() != jobLeft {
			return false
		}
	}
	return true
}

// rollBack ends a failed transaction. After an I/O error the connection is not
// trusted any more: what the system has dropped from its cache would be taken
// for written (the fsync fault of 2018).
func (w *writer) rollBack(cause error) {
	if !w.outside() {
		if _, err := w.conn.ExecContext(context.Background(), "ROLLBACK"); err != nil {
			w.report(explain("undoing a failed save", w.db.path, err))
			w.discard()
			return
		}
	}
	var engine sqlite3.Error
	if errors.As(cause, &engine) && engine.Code == sqlite3.ErrIoErr {
		w.discard()
	}
}

// discard throws the connection away; open makes a new one.
func (w *writer) discard() {
	_ = w.conn.Raw(func(any) error { return driver.ErrBadConn }) // that is the way to say it to database/sql
	_ = w.conn.Close()                                           // gives the same error again
	w.conn = nil
}
