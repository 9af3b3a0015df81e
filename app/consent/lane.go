package consent

import (
	"context"
	"sync"
)

// Lane lets the calls of one turn to one server run one after another, in the
// order in which they were decided. So a call never overtakes one that was
// allowed before it, an undecided call holds nobody up, and a question that the
// server asks meanwhile belongs to the one call that runs. The zero value is
// ready; it may be used from any goroutine.
type Lane struct {
	mu    sync.Mutex
	queue []*ticket // the first one runs
}

type ticket struct {
	lane *Lane
	turn chan struct{}
}

// take joins the end of the queue without waiting.
func (l *Lane) take() *ticket {
	t := &ticket{lane: l, turn: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(l.queue, t)
	if len(l.queue) == 1 {
		close(t.turn)
	}
	return t
}

// wait returns when the ticket is first in the queue, or with the context's end.
func (t *ticket) wait(ctx context.Context) error {
	select {
	case <-t.turn:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// leave gives the place up, first or not.
func (t *ticket) leave() {
	t.lane.mu.Lock()
	defer t.lane.mu.Unlock()
	q := t.lane.queue
	for i, o := range q {
		if o != t {
			continue
		}
		t.lane.queue = append(q[:i], q[i+1:]...)
		if i == 0 && len(t.lane.queue) > 0 {
			close(t.lane.queue[0].turn)
		}
		return
	}
}
