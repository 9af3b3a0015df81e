package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"steward/storage"
)

const (
	// noteDelay is how long a single event waits for a durable step to go along
	// with before it gets a commit of its own.
	noteDelay = 250 * time.Millisecond
	// retryDelay lies between two attempts to write a kept outcome.
	retryDelay = time.Second
	// outcomeGrace is how long Outcome waits for the disk when its context has
	// ended: a stopped call must be recorded all the same.
	outcomeGrace = 5 * time.Second
)

// The states of an item, as of the store's jobs: one whose caller has left
// before it was begun is not written.
const (
	itemQueued int32 = iota
	itemBegun
	itemLeft
)

// item is an event on its way into the chain.
type item struct {
	draft draft
	done  chan error              // nil: nobody waits
	keep  bool                    // stays queued when it cannot be written
	timed bool                    // asks for a commit of its own after noteDelay
	with  func(*storage.Tx) error // done in the same transaction, last; nil for none
	state atomic.Int32
}

func (it *item) begin() bool {
	return it.state.CompareAndSwap(itemQueued, itemBegun) || it.state.Load() == itemBegun
}

// answer tells the caller, once; a kept item fails many times and its caller
// waits for the first answer alone.
func (it *item) answer(err error) {
	if it.done == nil {
		return
	}
	select {
	case it.done <- err:
	default:
	}
}

// usable says why nothing can be recorded; called with mu held.
func (j *Journal) usable() error {
	switch {
	case !j.write:
		return ErrReadOnly
	case j.closed:
		return ErrClosed
	case j.broken != nil:
		return fmt.Errorf("%w; \"steward journal verify\" says more, and \"steward journal verify --acknowledge\" lets you go on all the same", j.broken)
	}
	return nil
}

// push queues an item; the order of the queue is the order of the chain.
func (j *Journal) push(it *item) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.usable(); err != nil {
		return err
	}
	j.pushLocked(it)
	return nil
}

func (j *Journal) pushLocked(it *item) {
	j.queue = append(j.queue, it)
	if it.done != nil || it.timed {
		select {
		case j.wake <- struct{}{}:
		default:
		}
	}
}

// pushFirst queues the first event of a record and gives its number, which is
// fixed here: the numbers rise in the order of the chain.
func (j *Journal) pushFirst(it *item) (int64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.usable(); err != nil {
		return 0, err
	}
	it.draft.record = j.next
	j.next++
	j.pushLocked(it)
	return it.draft.record, nil
}

// ask queues an item that wait will wait for. The two are apart so that an
// entry can hold its lock while it takes its place, and not while the disk works.
func (j *Journal) ask(ctx context.Context, it *item) error {
	it.done = make(chan error, 1)
	if err := ctx.Err(); err != nil && !it.keep {
		return err
	}
	return j.push(it)
}

// wait returns when the item is on the disk or will not be.
func (j *Journal) wait(ctx context.Context, it *item) error {
	select {
	case err := <-it.done:
		return err
	case <-ctx.Done():
	}
	if it.keep {
		select {
		case err := <-it.done:
			return err
		case <-time.After(outcomeGrace):
			return fmt.Errorf("%w; it is kept and tried again", ErrDegraded)
		}
	}
	if it.state.CompareAndSwap(itemQueued, itemLeft) {
		return fmt.Errorf("the journal could not write %s in time: %w", it.draft.kind, ctx.Err())
	}
	return <-it.done
}

// loop is the goroutine that owns the head of the chain.
func (j *Journal) loop() {
	defer close(j.ended)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var due time.Time // when the queue is to be written without anyone waiting
	for {
		stopping := false
		select {
		case <-j.wake:
		case <-timer.C:
		case <-j.stop:
			stopping = true
		}
		batch, urgent, timed := j.waiting()
		if timed && due.IsZero() {
			due = time.Now().Add(noteDelay)
		}
		if len(batch) > 0 && (urgent || stopping || (!due.IsZero() && time.Now().After(due))) {
			due = time.Time{}
			if j.commit(batch) != nil {
				due = time.Now().Add(retryDelay)
			}
		}
		if stopping {
			return
		}
		timer.Stop()
		if !due.IsZero() {
			timer.Reset(max(time.Until(due), time.Millisecond))
		}
	}
}

// waiting gives the queue as it stands, whether anyone waits for it, and
// whether it must be written before long.
func (j *Journal) waiting() (batch []*item, urgent, timed bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	kept := j.queue[:0:0]
	for _, it := range j.queue {
		if it.state.Load() == itemLeft {
			continue
		}
		kept = append(kept, it)
		// An outcome that has failed once is tried again by the clock.
		urgent = urgent || (it.done != nil && (!it.keep || it.state.Load() == itemQueued))
		timed = timed || it.timed || it.keep
	}
	j.queue = kept
	return append([]*item(nil), kept...), urgent, timed
}

// commit writes the batch in one transaction and tells who waits.
func (j *Journal) commit(batch []*item) error {
	var head storage.Head
	var changed map[int64]*projection
	var written []*item
	begun := j.begun
	err := j.store.Write(j.ctx, func(tx *storage.Tx) error {
		var err error
		head, changed, written, begun, err = j.fill(tx, batch)
		return err
	})
	if errors.Is(err, errForked) {
		j.forked()
	}
	if err != nil {
		j.failed(batch, err)
		return err
	}
	j.head, j.begun = head, begun
	for n, p := range changed {
		if p.closed {
			delete(j.open, n)
		} else {
			j.open[n] = p
		}
	}
	j.keeper.advance(head)
	j.succeeded(written)
	return nil
}

// forked says once that nothing can be recorded any more; what is kept is tried again
// all the same.
func (j *Journal) forked() {
	j.mu.Lock()
	known := j.broken != nil
	j.mu.Unlock()
	if !known {
		j.anchorBroken(errForked.Error())
	}
}

var errForked = errors.New("the end of the chain is not where this program left it; another program has written in it")

// fill appends the batch inside a transaction. It changes nothing of the
// journal, because it may be run again.
func (j *Journal) fill(tx *storage.Tx, batch []*item) (head storage.Head, changed map[int64]*projection, written []*item, begun bool, err error) {
	head, err = tx.Head()
	if err != nil {
		return
	}
	if head.Seq != j.head.Seq || !bytes.Equal(head.Hash, j.head.Hash) {
		return head, nil, nil, false, errForked
	}
	begun, changed = j.begun, map[int64]*projection{}
	for _, it := range batch {
		if !it.begin() {
			continue
		}
		if !begun {
			if head, err = j.openRun(tx, head); err != nil {
				return
			}
			begun = true
		}
		if err = j.append(tx, &head, changed, it.draft); err != nil {
			return
		}
		written = append(written, it)
	}
	for n, p := range changed {
		if err = tx.PutRecord(p.row); err != nil {
			return
		}
		if p.closed && p.words != "" {
			if err = tx.IndexRecord(n, p.words); err != nil {
				return
			}
		}
	}
	for _, it := range written {
		if it.with != nil {
			if err = it.with(tx); err != nil {
				return
			}
		}
	}
	return
}

// openRun writes the event that begins this run; the first of all binds the
// chain to the folder, the program and the schema.
func (j *Journal) openRun(tx *storage.Tx, head storage.Head) (storage.Head, error) {
	d, err := j.draft(0, evOpened, meta{
		Folder: j.store.FolderID(), Program: j.store.Program(), Schema: j.store.SchemaVersion(), Boot: bootID(),
	}, nil)
	if err != nil {
		return head, err
	}
	err = j.append(tx, &head, nil, d)
	return head, err
}

// append writes one event and moves head and the projection on.
func (j *Journal) append(tx *storage.Tx, head *storage.Head, changed map[int64]*projection, d draft) error {
	state := changed[d.record]
	if state == nil {
		state = j.open[d.record]
	}
	erased, err := erasedAlready(tx, state, d)
	if err != nil {
		return err
	}
	e := d.place(*head, j.run)
	if erased { // the conversation is gone; so is what comes after
		e.Body, d.arguments = &storage.Body{Erased: true}, ""
	}
	if err := tx.AppendEvent(e); err != nil {
		return err
	}
	head.Seq, head.Hash = e.Seq, e.Hash
	if d.record == 0 {
		return nil
	}
	head.Record = max(head.Record, d.record)
	if d.kind == evLate || d.kind == evFrames || d.kind == evShown || d.kind == evSent || d.kind == evAttempt {
		return nil // the projection stays as it is, and may be closed already
	}
	next, err := project(state, e, d.meta, d.arguments)
	if err != nil {
		return err
	}
	if state != nil {
		next.words = state.words
	}
	next.words += d.words
	if erased {
		next.words = ""
	}
	changed[d.record] = next
	return nil
}

// erasedAlready tells whether the draft's text belongs to a conversation that was
// erased before.
func erasedAlready(tx *storage.Tx, state *projection, d draft) (bool, error) {
	if d.body == nil {
		return false, nil
	}
	conversation := d.meta.Conversation // of a first event
	if state != nil {
		conversation = state.row.Conversation
	}
	return tx.TextErased(d.record, conversation)
}

// succeeded takes the written items from the queue and tells who waits.
func (j *Journal) succeeded(written []*item) {
	done := make(map[*item]bool, len(written))
	for _, it := range written {
		done[it] = true
	}
	j.mu.Lock()
	recovered := j.degraded != nil
	j.degraded = nil
	rest := j.queue[:0:0]
	for _, it := range j.queue {
		if !done[it] {
			rest = append(rest, it)
		}
	}
	j.queue = rest
	j.mu.Unlock()
	for _, it := range written {
		it.answer(nil)
	}
	if recovered {
		j.tell(nil)
	}
}

// failed takes from the queue what has a caller who now learns that it was not
// written. Outcomes stay, and so does what nobody waits for.
func (j *Journal) failed(batch []*item, err error) {
	gone := map[*item]bool{}
	var kept []*item
	for _, it := range batch {
		switch {
		case it.keep:
			kept = append(kept, it)
		case it.done != nil:
			gone[it] = true
		}
	}
	j.mu.Lock()
	j.lastError = err
	news := len(kept) > 0 && j.degraded == nil
	if len(kept) > 0 {
		j.degraded = fmt.Errorf("%w: %w", ErrDegraded, err)
	}
	degraded := j.degraded
	rest := j.queue[:0:0]
	for _, it := range j.queue {
		if !gone[it] {
			rest = append(rest, it)
		}
	}
	j.queue = rest
	j.mu.Unlock()
	for it := range gone {
		it.answer(fmt.Errorf("the journal could not write %s, so it does not count: %w", it.draft.kind, err))
	}
	for _, it := range kept {
		it.state.Store(itemBegun) // from now on the clock tries
		it.answer(degraded)
	}
	if news {
		j.tell(degraded)
	}
}
