package mcphost

import (
	"context"
	"sync"

	"steward/mcphost/internal/patience"
)

// waiters are those who wait for a start. While the start waits for a person,
// their limits stand still with its own. The zero value is ready.
type waiters struct {
	mu     sync.Mutex
	asking int
	all    map[*waiter]bool
}

type waiter struct {
	ctx    context.Context
	resume func() // nil unless paused
}

// join adds one who waits, until the function it returns is called.
func (s *waiters) join(ctx context.Context) (leave func()) {
	w := &waiter{ctx: ctx}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[*waiter]bool{}
	}
	s.all[w] = true
	if s.asking > 0 {
		w.resume = patience.Pause(ctx)
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.all, w)
		w.run()
	}
}

// paused is for patience.Notify.
func (s *waiters) paused(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if on {
		s.asking++
	} else {
		s.asking--
	}
	for w := range s.all {
		switch {
		case s.asking == 0:
			w.run()
		case w.resume == nil:
			w.resume = patience.Pause(w.ctx)
		}
	}
}

// run lets the limits of a waiter run on.
func (w *waiter) run() {
	if w.resume != nil {
		w.resume()
		w.resume = nil
	}
}
