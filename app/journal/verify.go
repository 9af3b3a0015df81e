package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"steward/storage"
)

// tailLength is how many of the last events are checked at every opening.
const tailLength = 1000

// chunk is how many events are read at once; each may hold a few MiB of text.
const chunk = 50

// What AnchorChecked says.
const (
	checkedBoth    = "keyring+file"
	checkedFile    = "file"
	checkedKeyring = "keyring"
	checkedNone    = "none"
)

// Verification is what Verify found. BadRecord and BadEvent are the first that
// do not hold, 0 where the fault is in none of them. Notice says, while all
// holds, what could not be checked.
type Verification struct {
	OK                  bool
	Events              int64
	BadRecord, BadEvent int64
	Problem             string
	AnchorChecked       string // keyring+file, file, keyring or none
	Notice              string
}

// Verify reads the whole journal as it stands now and checks every event's
// hash and link, every text against its event, every record against its
// events, and the end against the anchors. An error says that it could not be
// checked; that it does not hold is no error.
func (j *Journal) Verify(ctx context.Context) (Verification, error) {
	return j.VerifyWith(ctx, nil)
}

// VerifyWith is Verify that tells, from the same goroutine and about two hundred times, how many of the events have
// been checked. progress may be nil.
func (j *Journal) VerifyWith(ctx context.Context, progress func(done, of int64)) (Verification, error) {
	// The anchors are read first: they are never ahead of what is read later.
	anchors := j.loadAnchors(ctx)
	v := Verification{OK: true, AnchorChecked: anchors.checked, Notice: anchors.notice}
	err := j.store.Read(ctx, func(s *storage.Snapshot) error {
		w := &walk{s: s, folder: j.store.FolderID(), open: map[int64]*projection{}, known: map[string]bool{}, gone: map[string]*finding{}, erased: map[string]bool{}, exchanges: map[int64]bool{}}
		if err := w.report(progress); err != nil {
			return err
		}
		err := w.all(ctx)
		v.Events = w.seq
		if bad := (*finding)(nil); errors.As(err, &bad) {
			v.OK, v.Problem, v.BadEvent, v.BadRecord = false, bad.what, bad.event, bad.record
			return nil
		}
		if err != nil {
			return err
		}
		return j.verifyAnchors(s, anchors, &v)
	})
	if errors.Is(err, storage.ErrDamaged) {
		v.OK, v.Problem, err = false, err.Error(), nil
	}
	if !v.OK {
		v.Notice = ""
	}
	if err != nil {
		return v, fmt.Errorf("verifying the journal: %w", err)
	}
	return v, nil
}

// anchors are the two copies as read, "" where there is none.
type anchors struct {
	file, keyring   string
	checked, notice string
}

func (j *Journal) loadAnchors(ctx context.Context) anchors {
	var a anchors
	file, fileErr := j.keeper.loadFile()
	a.file = file
	var ringErr error
	if j.keeper.ring != nil {
		a.keyring, ringErr = j.keeper.loadRing(ctx)
	}
	switch {
	case a.file != "" && a.keyring != "":
		a.checked = checkedBoth
	case a.file != "":
		a.checked = checkedFile
		a.notice = "Only the side file was checked, not the copy in the keyring. Who can change the data file can change the side file too."
	case a.keyring != "":
		a.checked = checkedKeyring
		a.notice = "The side file " + j.keeper.path + " is missing; the copy in the keyring was checked."
	default:
		a.checked = checkedNone
		a.notice = "There is no anchor to check against; a removed end or an older copy would not be noticed."
	}
	if ringErr != nil {
		a.notice += fmt.Sprintf(" The keyring: %v", ringErr)
	}
	if fileErr != nil {
		a.notice += fmt.Sprintf(" The side file: %v", fileErr)
	}
	return a
}

func (j *Journal) verifyAnchors(s *storage.Snapshot, a anchors, v *Verification) error {
	for _, place := range []struct{ where, text string }{{j.keeper.path, a.file}, {"the keyring", a.keyring}} {
		if place.text == "" {
			continue
		}
		problem, err := compare(s, j.store.FolderID(), place.where, place.text)
		if err != nil {
			return err
		}
		if problem != "" {
			v.OK, v.Problem = false, problem
			return nil
		}
	}
	return nil
}

// checkAnchor compares one anchor with the chain as it stands.
func (j *Journal) checkAnchor(where, text string) (problem string, err error) {
	err = j.store.Read(context.Background(), func(s *storage.Snapshot) error {
		problem, err = compare(s, j.store.FolderID(), where, text)
		return err
	})
	return problem, err
}

// checkTail checks the last events and the side file, which is quick; the
// keyring's copy is looked at later.
func (j *Journal) checkTail(s *storage.Snapshot) (string, error) {
	text, err := j.keeper.loadFile()
	if err != nil {
		return fmt.Sprintf("the anchor in %s cannot be read: %v", j.keeper.path, err), nil
	}
	if text != "" {
		problem, err := compare(s, j.store.FolderID(), j.keeper.path, text)
		if problem != "" || err != nil {
			return problem, err
		}
	}
	head, err := s.Head()
	if err != nil {
		return "", err
	}
	after, err := lastAcknowledged(s, max(head.Seq-tailLength, 0))
	if err != nil {
		return "", err
	}
	w := &walk{s: s, folder: j.store.FolderID(), known: map[string]bool{}}
	err = w.tail(after)
	if bad := (*finding)(nil); errors.As(err, &bad) {
		return bad.what, nil
	}
	return "", err
}

// lastAcknowledged returns after, or the last event behind it before which the person has
// said to go on with a journal that does not hold. What was wrong until then is not told
// at every start again; Verify goes on finding it.
func lastAcknowledged(s *storage.Snapshot, after int64) (int64, error) {
	last := after
	for {
		part, err := s.Events(after, chunk)
		if err != nil {
			return 0, err
		}
		for _, e := range part {
			after = e.Seq
			if acknowledges(e) {
				last = e.Seq - 1
			}
		}
		if len(part) < chunk {
			return last, nil
		}
	}
}

func acknowledges(e storage.Event) bool {
	if e.Kind != string(KindSettings) {
		return false
	}
	c, err := readContent(e)
	if err != nil {
		return false
	}
	var d struct {
		Acknowledged string `json:"acknowledged"`
	}
	return json.Unmarshal(c.Detail, &d) == nil && d.Acknowledged != ""
}

// finding is a fault of the journal's content.
type finding struct {
	event, record int64
	what          string
}

func (f *finding) Error() string { return f.what }

func found(e storage.Event, format string, args ...any) error { return finds(e, format, args...) }

func finds(e storage.Event, format string, args ...any) *finding {
	return &finding{event: e.Seq, record: e.Record, what: fmt.Sprintf("event %d (record %d): ", e.Seq, e.Record) + fmt.Sprintf(format, args...)}
}

// walk goes along the chain.
type walk struct {
	s      *storage.Snapshot
	folder string
	seq    int64
	prev   []byte
	record int64 // the largest so far
	bodies int64
	open   map[int64]*projection
	known  map[string]bool // conversations: deleted or not
	// gone are the first erased texts of conversations whose erasure was not met yet: it
	// stands further on in the chain.
	gone map[string]*finding
	// erased are the conversations whose erasure was met.
	erased map[string]bool
	// exchanges are the records that say that something is kept for them beside the chain.
	exchanges map[int64]bool

	progress func(done, of int64)
	of       int64 // events there are
	told     int64 // events of which progress was told
}

// all walks the whole chain and compares the records with it.
func (w *walk) all(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		part, err := w.s.Events(w.seq, chunk)
		if err != nil {
			return err
		}
		for _, e := range part {
			if err := w.event(e); err != nil {
				return err
			}
		}
		w.tell()
		if len(part) < chunk {
			return w.end()
		}
	}
}

// tail checks the events after a number against each other.
func (w *walk) tail(after int64) error {
	if after > 0 {
		before, err := w.s.Events(after-1, 1)
		if err != nil {
			return err
		}
		if len(before) == 1 && before[0].Seq == after {
			w.prev = before[0].Hash
		}
	}
	w.seq = after
	for {
		part, err := w.s.Events(w.seq, chunk)
		if err != nil {
			return err
		}
		for _, e := range part {
			if _, _, err := w.link(e); err != nil {
				return err
			}
		}
		if len(part) < chunk {
			return nil
		}
	}
}

// link checks an event by itself and against the one before.
func (w *walk) link(e storage.Event) (m meta, c content, err error) {
	if e.Seq != w.seq+1 {
		if w.seq == 0 {
			return m, c, found(e, "the journal begins with event %d", e.Seq)
		}
		return m, c, found(e, "event %d should come after %d, and is missing", w.seq+1, w.seq)
	}
	if e.Mistyped {
		return m, c, found(e, "a value has another type than was written")
	}
	if !bytes.Equal(e.Prev, w.prev) {
		return m, c, found(e, "it does not follow the event before it")
	}
	if !bytes.Equal(e.Hash, eventHash(e)) {
		return m, c, found(e, "it was changed: its hash does not fit")
	}
	if m, err = readMeta(e); err != nil {
		return m, c, found(e, "it cannot be read: %v", err)
	}
	if err := checkBody(e); err != nil {
		return m, c, err
	}
	if c, err = readContent(e); err != nil {
		return m, c, found(e, "its text cannot be read: %v", err)
	}
	if e.Kind == evOpened || w.seq == 0 {
		if e.Kind != evOpened || e.Record != 0 {
			return m, c, found(e, "the journal does not begin with the event that binds it to its folder")
		}
		if m.Folder != w.folder {
			return m, c, found(e, "it belongs to another data file (%s, this one is %s)", m.Folder, w.folder)
		}
	}
	w.seq, w.prev = e.Seq, e.Hash
	if e.Body != nil {
		w.bodies++
	}
	return m, c, nil
}

// checkBody compares an event's text with the hash in the event.
func checkBody(e storage.Event) error {
	b := e.Body
	switch {
	case len(e.BodyHash) == 0 && b == nil:
		return nil
	case len(e.BodyHash) == 0:
		return found(e, "it has a text that it was not written with")
	case b == nil:
		return found(e, "its text is missing")
	case b.Erased:
		if len(b.Nonce)+len(b.Bytes) > 0 {
			return found(e, "its text is said to be erased, and is there")
		}
		return nil
	case !bytes.Equal(bodyHash(b), e.BodyHash):
		return found(e, "its text was changed")
	}
	return nil
}

// event checks one event and moves its record on.
func (w *walk) event(e storage.Event) error {
	m, c, err := w.link(e)
	if err != nil {
		return err
	}
	if e.Kind == evOpened {
		return nil
	}
	state := w.open[e.Record]
	switch {
	case first(e.Kind):
		if e.Record != w.record+1 {
			return found(e, "record %d should begin here", w.record+1)
		}
		w.record = e.Record
	case state == nil && e.Record >= 1 && e.Record <= w.record && (e.Kind == evLate || e.Kind == evFrames):
		return w.erasure(e, nil) // after the outcome
	}
	next, err := project(state, e, m, argumentsOf(c))
	if err != nil {
		return found(e, "%v", err)
	}
	if err := w.erasure(e, next); err != nil {
		return err
	}
	if m.What == whatErased && single(e.Kind) {
		delete(w.gone, m.Conversation)
		w.erased[m.Conversation] = true
	}
	if err := w.exchange(e, c); err != nil {
		return err
	}
	if next.closed {
		delete(w.open, e.Record)
		return w.compare(e, next)
	}
	w.open[e.Record] = next
	return nil
}

// erasure accepts an erased text only where its conversation was deleted, and the
// chain says so.
func (w *walk) erasure(e storage.Event, p *projection) error {
	if e.Body == nil || !e.Body.Erased {
		return nil
	}
	var conversation string
	if p != nil {
		conversation = p.row.Conversation
	} else {
		row, err := w.s.Record(e.Record)
		if err != nil {
			return err
		}
		conversation = row.Conversation
	}
	if conversation == "" {
		return found(e, "its text was erased, though it belongs to no conversation")
	}
	deleted, asked := w.known[conversation]
	if !asked {
		var err error
		if deleted, err = w.s.ConversationDeleted(conversation); err != nil {
			return err
		}
		w.known[conversation] = deleted
	}
	bad := finds(e, "its text was erased, though its conversation was not")
	if !deleted {
		return bad
	}
	if w.gone[conversation] == nil && !w.erased[conversation] {
		w.gone[conversation] = bad
	}
	return nil
}

// compare holds the stored record against what its events make of it.
func (w *walk) compare(e storage.Event, p *projection) error {
	row, err := w.s.Record(p.row.N)
	if errors.Is(err, storage.ErrNotFound) {
		return found(e, "the record is missing from the list")
	}
	if err != nil {
		return err
	}
	if row != p.row {
		return found(e, "the list shows another record than its events make")
	}
	return nil
}

// end checks what only the whole can tell.
func (w *walk) end() error {
	var first *finding
	for _, bad := range w.gone {
		if first == nil || bad.event < first.event {
			first = bad
		}
	}
	if first != nil {
		return first
	}
	for _, p := range w.open {
		if err := w.compare(storage.Event{Seq: w.seq, Record: p.row.N}, p); err != nil {
			return err
		}
	}
	if err := w.foreignExchange(); err != nil {
		return err
	}
	_, bodies, records, err := w.s.Counts()
	if err != nil {
		return err
	}
	if records != w.record {
		return &finding{what: fmt.Sprintf("the list has %d records, the events make %d", records, w.record)}
	}
	if bodies != w.bodies {
		return &finding{what: fmt.Sprintf("there are %d texts, the events have %d", bodies, w.bodies)}
	}
	return nil
}
