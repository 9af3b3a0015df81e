package consent

import (
	"context"
	"slices"
	"sync"

	"steward/mcphost"
)

// Together is how many calls of one answer run at the same time, at whichever servers.
const Together = 4

// Lane lets the calls of one answer run, at most [Together] at a time, in the order in which
// they were decided. Calls to different servers run beside each other, and so do those to one
// server that only read; any other call has its server for itself among these: it waits for
// those before it, and those behind it wait for it. A model that writes a file and then reads
// it, or writes it twice, may do so in one answer. So a call never overtakes one to its server
// that was allowed before it, an undecided call holds nobody up, and a question that a server
// asks meanwhile belongs to the one call that changes something there. The zero value is
// ready; it may be used from any goroutine.
type Lane struct {
	mu    sync.Mutex
	queue []*ticket // in the order of the decisions; those that run among them
}

type ticket struct {
	lane    *Lane
	server  string
	reads   bool // runs beside others that read
	running bool
	turn    chan struct{} // closed when it may run
}

// take joins the end of the queue without waiting.
func (l *Lane) take(server string, reads bool) *ticket {
	t := &ticket{lane: l, server: server, reads: reads, turn: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(l.queue, t)
	l.start()
	return t
}

// start lets those run whose turn has come. l.mu is held.
func (l *Lane) start() {
	running := 0
	for _, t := range l.queue {
		if t.running {
			running++
		}
	}
	for i, t := range l.queue {
		if running == Together {
			return
		}
		held := slices.ContainsFunc(l.queue[:i], func(o *ticket) bool { return o.server == t.server && !(o.reads && t.reads) })
		if t.running || held {
			continue
		}
		t.running = true
		running++
		close(t.turn)
	}
}

// wait returns when the ticket may run, or with the context's end.
func (t *ticket) wait(ctx context.Context) error {
	select {
	case <-t.turn:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// leave gives the place up, at its turn or before.
func (t *ticket) leave() {
	t.lane.mu.Lock()
	defer t.lane.mu.Unlock()
	if i := slices.Index(t.lane.queue, t); i >= 0 {
		t.lane.queue = slices.Delete(t.lane.queue, i, i+1)
		t.lane.start()
	}
}

// reads tells whether a tool only reads: the person has marked it so as it is defined now, or
// its server claims it (readOnlyHint, MCP 2025-11-25, ToolAnnotations). Each call is decided by
// itself whatever this says; it only lets calls run beside each other. That a tool may be
// repeated (idempotentHint) says nothing of the order among different calls of it.
func (g *Gate) reads(server string, t mcphost.Tool) bool {
	if g.o.ReadOnly != nil && g.o.ReadOnly(server, t.Name, t.Definition) {
		return true
	}
	return t.ReadOnlyHint != nil && *t.ReadOnlyHint
}
