package storage

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// laterDelay is how long work of Later waits for a Write to go along with.
const laterDelay = 200 * time.Millisecond

// groupLimit bounds how many callers share one commit.
const groupLimit = 512

// closePatience is how long Close waits for another process's lock.
const closePatience = 10 * time.Second

// The states of a job. A caller whose context ends takes a queued job away; one
// that has begun is waited for, because it may be on the disk already.
const (
	jobQueued int32 = iota
	jobBegun
	jobLeft
)

type job struct {
	fn    func(*Tx) error
	done  chan error // nil for Later
	state atomic.Int32

	err          error
	scrub, frees bool
}

// begin marks a job as begun, unless its caller has left. A job can begin more
// than once, when the transaction around it is lost.
func (j *job) begin() bool {
	return j.state.CompareAndSwap(jobQueued, jobBegun) || j.state.Load() == jobBegun
}

// writer is the goroutine that owns the only writing connection.
type writer struct {
	db     *DB
	handle *sql.DB
	conn   *sql.Conn

	mu     sync.Mutex
	queue  []*job
	closed bool
	first  time.Time // when the oldest job of Later was queued
	urgent int       // how many queued jobs somebody waits for

	wake   chan struct{} // capacity 1
	stop   chan struct{} // closed by close
	ended  chan struct{}
	result error // of the last steps, for close

	scrub   bool      // erased text may still stand in the WAL
	leaving time.Time // when close was first kept waiting
}

func startWriter(ctx context.Context, db *DB) (*writer, error) {
	dsn := fileURI(db.path, "mode=rw&_stmt_cache_size=64")
	handle, err := openHandle(ctx, newConnector(func() (string, func() bool) { return dsn, nil }), 1)
	if err != nil {
		return nil, explain("opening the data file", db.path, err)
	}
	w := &writer{
		db: db, handle: handle,
		wake: make(chan struct{}, 1), stop: make(chan struct{}), ended: make(chan struct{}),
	}
	if err := w.prepare(ctx); err != nil {
		return nil, errors.Join(explain("opening the data file", db.path, err), handle.Close())
	}
	if err := placeBallast(db.dir); err != nil {
		db.onError(err)
	}
	go w.run()
	return w, nil
}

// prepare takes the connection, asserts WAL mode, and folds in what a killed
// process left in the WAL, which may hold erased text.
func (w *writer) prepare(ctx context.Context) error {
	conn, err := w.handle.Conn(ctx)
	if err != nil {
		return err
	}
	var mode string
	if err := conn.QueryRowContext(ctx, "PRAGMA journal_mode=WAL").Scan(&mode); err != nil {
		return errors.Join(err, conn.Close())
	}
	if mode != "wal" {
		return errors.Join(fmt.Errorf("the file system does not allow a write-ahead log (mode %q); put the data folder on a local disk", mode), conn.Close())
	}
	w.conn = conn
	if _, err := w.truncateWAL(ctx); err != nil && !isFull(err) {
		return errors.Join(err, conn.Close())
	}
	return nil
}

// Write runs fn in a transaction and returns when that is on the disk, or has
// been undone because fn or the disk said no. Writes of other goroutines may
// share the commit, but not the failure. fn runs on the store's goroutine; it
// may run more than once, must touch nothing but tx, and must not call the DB.
// When ctx ends before fn has begun, nothing is written and the error is ctx's.
func (db *DB) Write(ctx context.Context, fn func(*Tx) error) error {
	if db.writer == nil {
		return db.refuseWrite()
	}
	return db.writer.do(ctx, fn)
}

func (db *DB) refuseWrite() error {
	return refuse(ErrReadOnly, nil, "%s was opened for reading only", db.path)
}

func (w *writer) do(ctx context.Context, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j := &job{fn: fn, done: make(chan error, 1)}
	if err := w.push(j); err != nil {
		return err
	}
	select {
	case err := <-j.done:
		return err
	case <-ctx.Done():
		if j.state.CompareAndSwap(jobQueued, jobLeft) {
			return fmt.Errorf("nothing was saved in %s: %w", w.db.path, ctx.Err())
		}
		return <-j.done
	}
}

// Later queues fn to be committed together with the next Write, or by itself
// within 200 ms, in the order of the calls. It does not wait; an error goes to
// OnError. What holds for Write's fn holds here.
func (db *DB) Later(fn func(*Tx) error) {
	if db.writer == nil {
		db.onError(db.refuseWrite())
		return
	}
	if err := db.writer.push(&job{fn: fn}); err != nil {
		db.onError(err)
	}
}

// Flush returns when everything queued before is on the disk.
func (db *DB) Flush(ctx context.Context) error {
	if db.writer == nil {
		return nil
	}
	return db.writer.do(ctx, func(*Tx) error { return nil })
}

func (w *writer) push(j *job) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return refuse(ErrClosed, nil, "nothing can be saved in %s: it has been closed", w.db.path)
	}
	w.queue = append(w.queue, j)
	if j.done != nil {
		w.urgent++
	} else if w.first.IsZero() {
		w.first = time.Now()
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return nil
}

// close ends the goroutine after the queue is done.
func (w *writer) close() error {
	w.mu.Lock()
	already := w.closed
	w.closed = true
	w.mu.Unlock()
	if !already {
		close(w.stop)
	}
	<-w.ended
	if already {
		return nil
	}
	return w.result
}

func (w *writer) run() {
	defer close(w.ended)
	for {
		batch, ok := w.next()
		if !ok {
			break
		}
		w.group(batch)
		if w.scrub {
			w.tryScrub()
		}
	}
	_, err := w.truncateWAL(context.Background())
	if isFull(err) {
		err = nil // what is committed stays in the WAL and is read from there
	}
	var left error
	if w.conn != nil {
		left = w.conn.Close()
	}
	w.result = errors.Join(explain("closing the data file", w.db.path, err), left, w.handle.Close())
}

// next waits for work: at once for what somebody waits for, up to laterDelay
// for the rest. It gives false when the writer is closed and the queue empty.
func (w *writer) next() ([]*job, bool) {
	for {
		w.mu.Lock()
		var wait <-chan time.Time
		var timer *time.Timer
		if len(w.queue) > 0 {
			rest := laterDelay - time.Since(w.first)
			if w.urgent > 0 || w.closed || rest <= 0 {
				batch := w.takeLocked()
				w.mu.Unlock()
				return batch, true
			}
			timer = time.NewTimer(rest)
			wait = timer.C
		} else if w.closed {
			w.mu.Unlock()
			return nil, false
		} else if w.scrub {
			timer = time.NewTimer(laterDelay)
			wait = timer.C
		}
		w.mu.Unlock()
		select {
		case <-w.wake:
		case <-w.stop:
		case <-wait:
		}
		if timer != nil {
			timer.Stop()
		}
		if w.scrub {
			w.tryScrub()
		}
	}
}

func (w *writer) takeLocked() []*job {
	n := min(len(w.queue), groupLimit)
	batch := w.queue[:n:n]
	w.queue = w.queue[n:]
	if len(w.queue) == 0 {
		w.queue = nil
	}
	w.first = time.Time{}
	for _, j := range batch {
		if j.done != nil {
			w.urgent--
		}
	}
	for _, j := range w.queue {
		if j.done == nil {
			w.first = time.Now()
			break
		}
	}
	return batch
}

// group commits the jobs together. Where the transaction as a whole fails, each
// is tried by itself, so that one that is too large fails alone.
func (w *writer) group(batch []*job) {
	rerun := w.transaction(batch)
	for _, j := range rerun {
		if again := w.transaction([]*job{j}); len(again) > 0 {
			w.freeAndRetry(j)
		}
		if w.scrub {
			w.tryScrub()
		}
	}
	if w.scrub && len(rerun) == 0 {
		w.tryScrub()
	}
	for _, j := range batch {
		if j.done != nil {
			j.done <- j.err
		} else if j.err != nil {
			w.report(j.err)
		}
	}
}

// freeAndRetry gives the ballast up for a job that makes room.
func (w *writer) freeAndRetry(j *job) {
	if !j.frees || !errors.Is(j.err, ErrFull) {
		return
	}
	freed, err := dropBallast(w.db.dir)
	if err != nil {
		w.report(err)
	}
	if freed {
		w.transaction([]*job{j})
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
		if j.err == nil && j.scrub {
			w.scrub = true
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
	j.scrub, j.frees = tx.scrub, tx.frees
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
		own, ok := c.(*connection)
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

// tryScrub folds the WAL into the file and empties it. A reader in the middle
// of a query prevents it; the writer then tries again later.
func (w *writer) tryScrub() {
	if w.conn == nil {
		return
	}
	done, err := w.truncateWAL(context.Background())
	if err != nil {
		w.report(explain("erasing deleted text from the log of the data file", w.db.path, err))
		w.scrub = !isFull(err) // it would only be said again and again
		return
	}
	if done {
		w.scrub = false
		if err := placeBallast(w.db.dir); err != nil {
			w.report(err)
		}
		if err := removeBackups(w.db.dir); err != nil {
			w.report(err)
		}
	}
}

// truncateWAL says whether it could; readers are waited for only briefly.
func (w *writer) truncateWAL(ctx context.Context) (bool, error) {
	if w.conn == nil {
		return false, nil
	}
	if _, err := w.conn.ExecContext(ctx, "PRAGMA busy_timeout=100"); err != nil {
		return false, err
	}
	var busy, pages, moved int
	err := w.conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
	_, back := w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout=%d", busyMillis))
	if err = errors.Join(err, back); isBusy(err) {
		return false, nil
	}
	return err == nil && busy == 0, err
}
