// Package journal is the record of what was proposed, shown, decided, sent and
// answered. It fixes the order of writes (nothing is sent before its intent is
// on the disk), links every event to the one before by a hash, keeps the end of
// that chain outside the file too, and can prove or refute that nothing was
// changed, removed or put back.
//
// What it can show is change by a crash, a damaged disk, casual editing, and an
// older copy put back. Somebody who runs programs as the same user can rewrite
// the file and both anchors; against him it protects only what was exported.
//
// The anchor is written at most once a second and when the journal is closed.
// Events that are younger than the last anchor (up to a second of work, after a
// crash) are linked, but their removal from the end would not be noticed.
package journal

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"steward/storage"
)

// Errors that callers ask about with errors.Is.
var (
	// ErrReadOnly: the journal was opened to read.
	ErrReadOnly = errors.New("the journal was opened for reading only")
	// ErrBroken: the chain or its anchor does not hold; nothing is recorded,
	// and so nothing sent, until Acknowledge.
	ErrBroken = errors.New("the journal does not hold")
	// ErrDegraded: an outcome could not be written yet; it is kept in memory.
	ErrDegraded = errors.New("an outcome could not be written to the journal yet")
	// ErrClosed: the journal has been closed.
	ErrClosed = errors.New("the journal has been closed")
	// ErrState: the step does not fit what the record has been through.
	ErrState = errors.New("the step does not fit the record")
)

// Options of a journal.
type Options struct {
	// Store is the open data folder; the journal does not close it.
	Store *storage.DB
	// Dir holds the side file; "" is the store's folder.
	Dir string
	// Anchor is the copy in the keyring; nil: the side file alone.
	Anchor AnchorStore
	// Redact replaces known secrets; it is applied before anything is written
	// or hashed. Called from the goroutines of the callers. Nil changes nothing.
	Redact func(string) string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// OnDegraded hears that something could not be written, once per trouble,
	// and gets nil when everything is written again. It is called from the
	// journal's goroutines and must not call the journal. May be nil.
	OnDegraded func(error)
}

// Recovery is what Open found and closed.
type Recovery struct {
	// Unknown were begun and may have happened; Withdrawn were never sent.
	Unknown, Withdrawn []Record
	// Tasks are calls that stay open, because their servers work on them as tasks.
	Tasks []OpenTask
	// Problem says why the journal does not hold; "" where it does. The journal
	// then records nothing until Acknowledge.
	Problem string
	// Notice says what a person should know of a journal that holds; "" where nothing.
	Notice string
}

// Journal is the open journal. All methods may be called from any goroutine.
type Journal struct {
	store  *storage.DB
	redact func(string) string
	now    func() time.Time
	notify func(error)
	key    []byte
	run    string
	start  time.Time
	keeper *keeper
	write  bool

	mu        sync.Mutex
	queue     []*item
	next      int64 // the number of the next record
	degraded  error // an outcome waits to be written
	lastError error // of the last commit that failed
	broken    error
	closed    bool

	wake   chan struct{} // capacity 1
	stop   chan struct{}
	ended  chan struct{}
	cancel context.CancelFunc // ends a commit that Close no longer waits for

	// Owned by the journal's goroutine.
	ctx   context.Context
	head  storage.Head
	open  map[int64]*projection
	begun bool // this run's first event is written
}

// Open opens the journal to write: it checks the end of the chain against
// itself and the anchor, closes what a crash left open, and starts the
// goroutine that owns the head. A journal that does not hold is opened all the
// same, so that it can be read; Recovery.Problem says what is wrong.
func Open(ctx context.Context, o Options) (*Journal, Recovery, error) {
	j, err := prepare(o)
	if err != nil {
		return nil, Recovery{}, err
	}
	if o.Store.ReadOnly() {
		return nil, Recovery{}, fmt.Errorf("opening the journal in %s to write: %w", o.Store.Dir(), ErrReadOnly)
	}
	j.write = true
	j.ctx, j.cancel = context.WithCancel(context.Background())
	var recovery Recovery
	err = o.Store.Read(ctx, func(s *storage.Snapshot) error {
		if j.head, err = s.Head(); err != nil {
			return err
		}
		recovery.Problem, err = j.checkTail(s)
		return err
	})
	if err != nil {
		j.cancel()
		return nil, recovery, fmt.Errorf("opening the journal: %w", err)
	}
	j.next = j.head.Record + 1
	recovery.Notice = j.keeper.missing(j.head)
	if recovery.Problem != "" {
		j.broken = fmt.Errorf("%w: %s", ErrBroken, recovery.Problem)
		j.keeper.freeze()
	} else if err := j.recover(ctx, &recovery); err != nil {
		j.cancel()
		return nil, recovery, err
	}
	j.keeper.begin(j.anchorBroken, j.tell)
	go j.loop()
	return j, recovery, nil
}

// OpenReadOnly opens the journal to list, show, verify and export. It starts
// no goroutine and changes nothing.
func OpenReadOnly(_ context.Context, o Options) (*Journal, error) {
	return prepare(o)
}

func prepare(o Options) (*Journal, error) {
	if o.Store == nil {
		return nil, errors.New("opening the journal: it was given no store")
	}
	run := make([]byte, 8)
	if _, err := rand.Read(run); err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	j := &Journal{
		store: o.Store, redact: o.Redact, now: o.Now, notify: o.OnDegraded,
		key: o.Store.JournalKey(), run: hex.EncodeToString(run), start: time.Now(),
		open: map[int64]*projection{},
		wake: make(chan struct{}, 1), stop: make(chan struct{}), ended: make(chan struct{}),
	}
	if j.now == nil {
		j.now = time.Now
	}
	dir := o.Dir
	if dir == "" {
		dir = o.Store.Dir()
	}
	j.keeper = newKeeper(dir, o.Store.FolderID(), o.Anchor, j.now)
	j.keeper.check = j.checkAnchor
	return j, nil
}

// Close writes what is queued and the anchor, and ends the journal's
// goroutines. It waits for the disk as long as ctx, and for the keyring a few
// seconds at most. Its error says that something remains unwritten.
func (j *Journal) Close(ctx context.Context) error {
	if !j.write {
		return nil
	}
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		<-j.ended
		return nil
	}
	j.closed = true
	j.mu.Unlock()
	close(j.stop)
	select {
	case <-j.ended:
	case <-ctx.Done():
		j.cancel()
		<-j.ended
	}
	j.cancel()
	err := j.keeper.end(ctx)
	j.mu.Lock()
	if left := len(j.queue); left > 0 {
		err = errors.Join(fmt.Errorf("closing the journal: %d events could not be written and are lost: %w", left, j.lastError), err)
	}
	j.mu.Unlock()
	return err
}

// tell reports trouble to the owner, whose fault must not end the journal.
func (j *Journal) tell(err error) {
	if j.notify == nil {
		return
	}
	defer func() { _ = recover() }() // there is nobody else to tell
	j.notify(err)
}

// anchorBroken is called when the copy in the keyring, which is read after
// Open, contradicts the chain.
func (j *Journal) anchorBroken(problem string) {
	j.mu.Lock()
	j.broken = fmt.Errorf("%w: %s", ErrBroken, problem)
	err := j.broken
	j.mu.Unlock()
	j.tell(err)
}

// Broken says why the journal records nothing; nil where it does. It looks at the copy of
// the anchor in the keyring first, which Open reads in the background.
func (j *Journal) Broken(ctx context.Context) error {
	j.mu.Lock()
	broken := j.broken
	j.mu.Unlock()
	if broken != nil || j.keeper.ring == nil {
		return broken
	}
	text, err := j.keeper.loadRing(ctx)
	if err != nil || text == "" {
		return nil // what cannot be read contradicts nothing
	}
	problem, err := j.checkAnchor("the keyring", text)
	if err != nil || problem == "" {
		return err
	}
	j.keeper.freeze()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.broken = fmt.Errorf("%w: %s", ErrBroken, problem)
	return j.broken
}

// Acknowledge lets a journal go on that does not hold, after the person has
// been told. What was found is recorded in an event of its own, with both
// anchors as they were; only then are they replaced. Verify goes on finding
// what is wrong inside the chain.
func (j *Journal) Acknowledge(ctx context.Context) error {
	broken := j.Broken(ctx)
	if broken == nil {
		return nil
	}
	before := j.keeper.evidence(ctx)
	j.mu.Lock()
	j.broken = nil
	j.mu.Unlock()
	detail := map[string]any{"acknowledged": broken.Error(), "anchors": before}
	_, err := j.note(ctx, Proposal{Kind: KindSettings, Detail: detail}, Outcome{Outcome: OK}, true)
	if err != nil {
		j.mu.Lock()
		j.broken = broken
		j.mu.Unlock()
		return fmt.Errorf("acknowledging that the journal does not hold: %w", err)
	}
	return j.keeper.forgive(ctx)
}

// bootID tells one start of the system from another, so that monotonic times
// are compared within one only; "" where the system has no such id.
func bootID() string {
	if runtime.GOOS != "linux" {
		return ""
	}
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "" // not every sandbox shows it; the run's own id remains
	}
	return strings.TrimSpace(string(text))
}
