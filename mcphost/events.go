package mcphost

import "sync"

// maxQueued bounds the observations that wait for a slow observer; those that
// a server can make without limit (log messages, updates) are dropped beyond
// it.
const maxQueued = 1000

// events hands observations to the observer, in order, on one goroutine.
type events struct {
	mu     sync.Mutex
	queue  []Observation
	wake   chan struct{}
	closed bool
}

func newEvents(observe func(Observation)) *events {
	e := &events{wake: make(chan struct{}, 1)}
	go e.run(observe)
	return e
}

// put queues an observation; it never blocks.
func (e *events) put(o Observation) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	if len(e.queue) >= maxQueued {
		switch o.(type) {
		case LogMessage, ResourceUpdated, Noise, ElicitationDone:
			return
		}
	}
	e.queue = append(e.queue, o)
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// close ends the goroutine when all that is queued has been handed on.
func (e *events) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.closed = true
		close(e.wake)
	}
}

func (e *events) run(observe func(Observation)) {
	for open := true; open; {
		_, open = <-e.wake
		for {
			e.mu.Lock()
			batch := e.queue
			e.queue = nil
			e.mu.Unlock()
			if len(batch) == 0 {
				break
			}
			for _, o := range batch {
				observe(o)
			}
		}
	}
}

// tokens remembers which call a progress token belonged to, for answers that
// come after the call's end. The zero tokens is ready.
type tokens struct {
	owner map[string]string
	order []string
}

func (t *tokens) add(token, owner string) {
	if t.owner == nil {
		t.owner = map[string]string{}
	}
	const keep = 1000
	if len(t.order) >= keep {
		delete(t.owner, t.order[0])
		t.order = t.order[1:]
	}
	t.owner[token] = owner
	t.order = append(t.order, token)
}
