package event

import (
	"fmt"
	"runtime/debug"
	"sync"
)

const (
	// maxQueued bounds what one slow subscriber can make the program hold. Beyond
	// it, notices are counted instead of kept and reports of progress, which the
	// next one replaces, are left out; nothing else ever is.
	maxQueued = 8192
	// maxJoined is the length up to which pieces of text are joined, in bytes: to
	// join longer ones would copy them over and over.
	maxJoined = 16 << 10
)

// Bus carries events from whoever publishes to every subscriber, each in the
// order of publishing. All methods may be called from any goroutine.
type Bus struct {
	mu   sync.Mutex
	subs map[*subscriber]struct{}
}

// NewBus makes a bus without subscribers.
func NewBus() *Bus { return &Bus{subs: map[*subscriber]struct{}{}} }

// Publish hands e to every subscriber and returns at once: it never waits for
// one of them.
func (b *Bus) Publish(e Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.subs {
		s.push(e)
	}
}

// Subscribe calls on for every event published from now on, in order, from one
// goroutine that belongs to this subscription. Consecutive pieces of the same
// text, and consecutive reports of progress of one call, may arrive as one when
// on is slower than the publisher.
//
// cancel stops the subscription: it delivers what was published before it, waits
// for that, and ends the goroutine. It may be called more than once, but not
// from inside on. A panic in on ends this subscription alone and is published
// as a notice to the others.
func (b *Bus) Subscribe(on func(Event)) (cancel func()) {
	s := &subscriber{done: make(chan struct{})}
	s.wake = sync.NewCond(&s.mu)
	b.mu.Lock()
	b.subs[s] = struct{}{}
	b.mu.Unlock()
	go func() {
		defer close(s.done)
		if problem := s.run(on); problem != "" {
			b.remove(s)
			b.Publish(Notice{Kind: "internal", Message: problem})
		}
	}()
	return func() {
		b.remove(s)
		s.close()
		<-s.done
	}
}

func (b *Bus) remove(s *subscriber) {
	b.mu.Lock()
	delete(b.subs, s)
	b.mu.Unlock()
}

type subscriber struct {
	mu     sync.Mutex
	wake   *sync.Cond
	queue  []Event
	lost   int
	closed bool
	done   chan struct{}
}

func (s *subscriber) push(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.queue); n > 0 {
		if joined, ok := join(s.queue[n-1], e); ok {
			s.queue[n-1] = joined
			return
		}
	}
	if len(s.queue) >= maxQueued {
		switch e.(type) {
		case Notice:
			s.lost++
			return
		case Progress:
			return
		}
	}
	s.queue = append(s.queue, e)
	s.wake.Signal()
}

func (s *subscriber) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.wake.Signal()
}

// take waits for events and returns all that are queued; nil means the end.
func (s *subscriber) take() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) == 0 && !s.closed {
		s.wake.Wait()
	}
	q := s.queue
	s.queue = nil
	if s.lost > 0 {
		q = append(q, Notice{Kind: "notices_left_out", Message: fmt.Sprintf("%d notices were left out because they came faster than they could be shown.", s.lost)})
		s.lost = 0
	}
	return q
}

func (s *subscriber) run(on func(Event)) (problem string) {
	defer func() {
		if r := recover(); r != nil {
			problem = fmt.Sprintf("A part of the program that shows events failed and was ended: %v\n%s", r, debug.Stack())
		}
	}()
	for q := s.take(); q != nil; q = s.take() {
		for _, e := range q {
			on(e)
		}
	}
	return ""
}

// join merges two neighbours that say the same thing, or one thing in pieces.
func join(a, b Event) (Event, bool) {
	switch b := b.(type) {
	case Text:
		if a, ok := a.(Text); ok && a.Conversation == b.Conversation && a.Message == b.Message && len(a.Text) < maxJoined {
			a.Text += b.Text
			return a, true
		}
	case Reasoning:
		if a, ok := a.(Reasoning); ok && a.Conversation == b.Conversation && a.Message == b.Message && len(a.Text) < maxJoined {
			a.Text += b.Text
			return a, true
		}
	case Progress:
		if a, ok := a.(Progress); ok && a.Call == b.Call {
			return b, true
		}
	case ResourceUpdated, ServersChanged:
		return b, a == b
	}
	return nil, false
}
