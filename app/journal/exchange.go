package journal

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"unicode/utf8"

	"steward/storage"
)

// What is kept of the exchanges of one request to a model, in bytes. It stands beside the
// chain, because it is kept only while it is one of the last of its conversation; the
// chain holds its hash.
const (
	maxExchange  = 512 << 10  // one request or answer
	maxExchanges = 1536 << 10 // all of one record
	exchangeEdge = 16 << 10   // longer than any secret that is looked for
)

// Attempted records a step of what was intended, such as an attempt to reach the model,
// for which nobody waits: it is on the disk with the next durable step. See Attempt.
func (e *Entry) Attempted(what string, detail any) {
	var m meta
	m.What = e.j.short(what, &m)
	text, err := e.j.detail(detail, &m)
	if err != nil {
		e.j.tell(fmt.Errorf("recording an attempt of record %d: %w", e.n, err))
		return
	}
	e.queue(evAttempt, m, &content{Detail: text}, func() bool { return e.intended && !e.ended })
}

// Exchanged is Outcome with what went over the wire. The frames are kept, secrets replaced
// and cut to size, as long as they are among the last of their conversation; of a record
// without one they are not kept. Without wait, for what is followed by another durable
// step, it is on the disk with that, or within a moment.
func (e *Entry) Exchanged(ctx context.Context, o Outcome, frames []Frame, wait bool) error {
	it, err := e.exchanged(o, frames, wait)
	if err == nil && wait {
		err = e.j.wait(ctx, it)
	}
	if err != nil {
		return fmt.Errorf("the outcome of record %d was not recorded: %w", e.n, err)
	}
	return nil
}

func (e *Entry) exchanged(o Outcome, frames []Frame, wait bool) (*item, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended {
		return nil, e.misfit("outcome")
	}
	var m meta
	var c content
	words, err := e.j.outcome(o, e.kind, e.intended, &m, &c)
	if err != nil {
		return nil, err
	}
	it := &item{keep: true, timed: true}
	if wait {
		it.done = make(chan error, 1)
	}
	if e.conversation != "" && len(frames) > 0 {
		bytes, err := encode(e.j.exchange(frames, &m))
		if err != nil {
			return nil, err
		}
		c.Exchange = exchangeHash(bytes)
		it.with = func(tx *storage.Tx) error { return tx.PutExchange(e.n, e.conversation, bytes) }
	}
	if it.draft, err = e.j.draft(e.n, evOutcome, m, &c); err != nil {
		return nil, err
	}
	it.draft.words = words
	err = e.j.push(it)
	e.ended = err == nil
	return it, err
}

func exchangeHash(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// exchange prepares frames to be kept. The last ones have room first.
func (j *Journal) exchange(all []Frame, m *meta) []keptFrame {
	out := make([]keptFrame, len(all))
	room := maxExchanges
	for i := len(all) - 1; i >= 0; i-- {
		f := all[i]
		k := keptFrame{Time: clock(f.Time), Direction: f.Direction, Length: f.Length}
		if k.Length == 0 {
			k.Length = int64(len(f.Bytes))
		}
		text, cut, redacted := j.fit(f, k.Length, min(room, maxExchange))
		k.Cut, m.Redacted = cut || f.Cut, m.Redacted || redacted
		k.setBytes(text)
		room -= len(text)
		out[i] = k
	}
	return out
}

// fit replaces secrets and keeps beginning and end of what is longer than room, whole
// characters, with a mark between them. Only what may be kept is looked through, and a
// little more, so that no half of a secret is left at a cut.
func (j *Journal) fit(f Frame, length int64, room int) (out []byte, cut, redacted bool) {
	if len(f.Bytes)+len(f.Tail) <= room && len(f.Tail) == 0 {
		text, changed := j.clean(string(f.Bytes))
		return []byte(text), false, changed
	}
	end := f.Tail
	if len(end) == 0 {
		end = f.Bytes
	}
	half := max(room/2-100, 0)
	head, changed := j.clean(string(f.Bytes[:min(half+exchangeEdge, len(f.Bytes))]))
	tail, too := j.clean(string(end[max(len(end)-half-exchangeEdge, 0):]))
	head = head[:min(max(len(head)-exchangeEdge, 0), half)]
	tail = tail[max(min(exchangeEdge, len(tail)), len(tail)-half):]
	for range utf8.UTFMax - 1 {
		if r, n := utf8.DecodeLastRuneInString(head); r == utf8.RuneError && n == 1 {
			head = head[:len(head)-1]
		}
		if len(tail) > 0 && !utf8.RuneStart(tail[0]) {
			tail = tail[1:]
		}
	}
	left := max(length-int64(len(head)+len(tail)), 1)
	return []byte(head + fmt.Sprintf(cutMark, left) + tail), true, changed || too
}

// cutMark stands where the middle of a request or an answer is not kept.
const cutMark = "\n[… %d bytes are not kept …]\n"

// cutHere finds it.
var cutHere = regexp.MustCompile("\n\\[… [0-9]+ bytes are not kept …\\]\n")

// Halves gives what stands before and behind the mark of what is not kept; behind is nil
// where there is none.
func Halves(kept []byte) (before, behind []byte) {
	at := cutHere.FindIndex(kept)
	if at == nil {
		return kept, nil
	}
	return kept[:at[0]], kept[at[1]:]
}

// withExchange adds what is kept of the wire to a record; what was changed in the file is
// told in its place.
func (d *Detail) withExchange(s *storage.Snapshot, hash string) error {
	frames, err := keptExchange(s, d.Record.Record, hash)
	if bad := (*finding)(nil); errors.As(err, &bad) {
		d.Frames = append(d.Frames, Frame{Direction: "in", Bytes: []byte("[" + bad.what + "]"), Cut: true})
		return nil
	}
	for _, f := range frames {
		d.Frames = append(d.Frames, frameOf(f))
	}
	return err
}

// keptExchange reads what is kept for a record; nothing where it is kept no longer. The
// error is a *finding where it is not what was written.
func keptExchange(s *storage.Snapshot, record int64, hash string) (frames []keptFrame, err error) {
	raw, err := s.Exchange(record)
	if err != nil || raw == nil {
		return nil, err
	}
	if subtle.ConstantTimeCompare([]byte(exchangeHash(raw)), []byte(hash)) != 1 || json.Unmarshal(raw, &frames) != nil {
		return nil, &finding{record: record, what: fmt.Sprintf("what went to the model and came back (record %d) was changed", record)}
	}
	return frames, nil
}

// Exchanges gives the numbers of the records of a conversation whose exchanges are kept,
// the oldest first.
func (j *Journal) Exchanges(ctx context.Context, conversation string) (list []int64, err error) {
	err = j.store.Read(ctx, func(s *storage.Snapshot) error {
		list, err = s.Exchanges(conversation)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("looking for what went to the model: %w", err)
	}
	return list, nil
}

// exchange checks what is kept beside the chain for the record that an outcome ends.
func (w *walk) exchange(e storage.Event, c content) error {
	if c.Exchange == "" {
		return nil
	}
	w.exchanges[e.Record] = true
	_, err := keptExchange(w.s, e.Record, c.Exchange)
	if bad := (*finding)(nil); errors.As(err, &bad) {
		bad.event = e.Seq
	}
	return err
}

// foreignExchange looks for what is kept of a record whose events know nothing of it.
func (w *walk) foreignExchange() error {
	all, err := w.s.AllExchanges()
	if err != nil {
		return err
	}
	for _, n := range all {
		if !w.exchanges[n] {
			return &finding{record: n, what: fmt.Sprintf("what is said to have gone to the model for record %d was put in: the record knows nothing of it", n)}
		}
	}
	return nil
}
