package consent

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"steward/app/event"
)

// Why an item has left the waiting list.
const (
	goneAnswered  = "answered"
	goneExpired   = "expired"
	goneWithdrawn = "withdrawn"
	goneCancelled = "cancelled"
)

// Refusals of Waiting.Answer, for errors.Is.
var (
	ErrGone  = errors.New("this no longer waits for an answer")
	ErrShown = errors.New("what was shown is not what waits now")
)

// maxGone is how many items that have left are remembered, so that a late
// answer can be told what happened.
const maxGone = 1024

// Waiting is everything that waits for the person, of every conversation, each
// decided by itself. Its methods may be called from any goroutine.
type Waiting struct {
	bus *event.Bus

	mu    sync.Mutex
	slots []*slot
	gone  map[string]string
	order []string
}

func newWaiting(bus *event.Bus) *Waiting {
	return &Waiting{bus: bus, gone: map[string]string{}}
}

// slot is an item and the way its answer goes to whoever waits for it.
type slot struct {
	item Item
	// check says what is wrong with an answer, so that the person can correct
	// it; the item stays in the list.
	check    func(Answer) error
	answered chan Answer // holds one
	// onAnswer, where not nil, is told the answer by whoever gives it, once the item is
	// out of the list; nobody has to wait for answered then.
	onAnswer func(Answer)
}

// List returns what waits, the oldest first.
func (w *Waiting) List() []Item {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]Item, len(w.slots))
	for i, s := range w.slots {
		out[i] = s.item
	}
	return out
}

// Get returns one item; false where it does not wait (any more).
func (w *Waiting) Get(id string) (Item, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.find(id); s != nil {
		return s.item, true
	}
	return Item{}, false
}

// Answer decides one item. hash is the Item.Hash of what was shown. The error is
// a sentence: the item is gone (ErrGone), something else was shown (ErrShown),
// or the answer does not fit the item; in the last case the item still waits.
func (w *Waiting) Answer(id, hash string, a Answer) error {
	w.mu.Lock()
	s := w.find(id)
	why := w.gone[id]
	w.mu.Unlock()
	if s == nil {
		return refuseGone(why)
	}
	if hash != s.item.Hash {
		return fmt.Errorf("%w; look at it again before you decide", ErrShown)
	}
	if err := s.check(a); err != nil {
		return err
	}
	w.mu.Lock()
	if w.find(id) == nil {
		why = w.gone[id]
		w.mu.Unlock()
		return refuseGone(why)
	}
	s.answered <- a
	w.drop(s, goneAnswered)
	w.mu.Unlock()
	w.tell(s, goneAnswered, "")
	if s.onAnswer != nil {
		s.onAnswer(a)
	}
	return nil
}

func refuseGone(why string) error {
	switch why {
	case goneAnswered:
		return fmt.Errorf("%w: it has been answered already", ErrGone)
	case goneExpired:
		return fmt.Errorf("%w: nobody answered in time, and nothing was done", ErrGone)
	case goneWithdrawn:
		return fmt.Errorf("%w: what was shown is no longer current, and nothing was done", ErrGone)
	case goneCancelled:
		return fmt.Errorf("%w: it was stopped, and nothing was done", ErrGone)
	}
	return fmt.Errorf("%w: nothing with this id is in the waiting list", ErrGone)
}

// add puts an item at the end of the list.
func (w *Waiting) add(item Item, check func(Answer) error) *slot {
	return w.put(&slot{item: item, check: check, answered: make(chan Answer, 1)})
}

func (w *Waiting) put(s *slot) *slot {
	w.mu.Lock()
	w.slots = append(w.slots, s)
	w.mu.Unlock()
	item := s.item
	e := event.Waiting{Conversation: item.Conversation, ID: item.ID, Kind: item.Kind, Server: item.Server}
	if item.Call != nil {
		e.Tool = item.Call.Tool()
	}
	w.bus.Publish(e)
	return s
}

// leave takes an item out of the list unless it was answered just before; then
// the answer counts and comes back.
func (w *Waiting) leave(s *slot, why, reason string) (Answer, bool) {
	w.mu.Lock()
	if w.find(s.item.ID) == nil {
		w.mu.Unlock()
		return <-s.answered, true
	}
	w.drop(s, why)
	w.mu.Unlock()
	w.tell(s, why, reason)
	return Answer{}, false
}

func (w *Waiting) tell(s *slot, why, reason string) {
	w.bus.Publish(event.WaitingGone{Conversation: s.item.Conversation, ID: s.item.ID, Why: why, Reason: reason})
}

func (w *Waiting) find(id string) *slot {
	i := slices.IndexFunc(w.slots, func(s *slot) bool { return s.item.ID == id })
	if i < 0 {
		return nil
	}
	return w.slots[i]
}

func (w *Waiting) drop(s *slot, why string) {
	i := slices.Index(w.slots, s)
	w.slots = slices.Delete(w.slots, i, i+1)
	w.gone[s.item.ID] = why
	w.order = append(w.order, s.item.ID)
	if len(w.order) > maxGone {
		delete(w.gone, w.order[0])
		w.order = w.order[1:]
	}
}
