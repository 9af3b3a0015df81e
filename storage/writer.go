package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// laterDelay is how long work of Later waits for a Write to go along with.
const laterDelay = 200 * time.Millisecond

// groupLimit bounds how many callers share one commit.
const groupLimit = 512

// writerBusyMillis is how long the writer waits for another process's lock
// before it says so and tries again.
const writerBusyMillis = 500

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

	err   error
	scrub bool     // as of its Tx
	frees []string // as of its Tx
	left  int      // as of its Tx
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

	scrub   erasing   // what is left to do until erased text is gone
	leaving time.Time // when close was first kept waiting

	unindexed int // how many rows wait for their search table, about
}

func startWriter(ctx context.Context, db *DB) (*writer, error) {
	dsn := fileURI(db.path, "mode=rw")
	handle, err := openHandle(ctx, newConnector(fixed(dsn)), 1, 1)
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
	w.conn = conn // truncateWAL sets its busy timeout, too
	if _, err := w.truncateWAL(ctx); err != nil && !isFull(err) {
		return errors.Join(err, conn.Close())
	}
	var pending bool
	if err := conn.QueryRowContext(ctx, "SELECT EXISTS(SELECT 1 FROM meta WHERE key = 'erasing')").Scan(&pending); err != nil {
		return errors.Join(err, conn.Close())
	}
	if pending { // begun by a run that was killed
		w.scrub = erasingPages
	}
	return conn.QueryRowContext(ctx, "SELECT count(*) FROM unindexed").Scan(&w.unindexed)
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
	}
	for w.conn != nil && w.unindexed > 0 {
		w.index()
	}
	w.erase()
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
		} else if w.scrub != erasingNothing || w.unindexed > 0 {
			pause := laterDelay
			if w.unindexed >= indexBehind {
				pause = 0
			}
			timer = time.NewTimer(pause)
			wait = timer.C
		}
		w.mu.Unlock()
		rested := false
		select {
		case <-w.wake:
		case <-w.stop:
		case <-wait:
			rested = true
		}
		if timer != nil {
			timer.Stop()
		}
		if w.idle() {
			w.erase()
			if rested && w.unindexed > 0 {
				w.index()
			}
		}
	}
}

func (w *writer) idle() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.queue) == 0 && !w.closed
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
