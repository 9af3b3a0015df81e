package mcphost

import (
	"context"
	"sync"
	"time"

	"steward/mcphost/internal/session"
	"steward/mcphost/internal/wire"
)

// cancelWait is how long the end of a connection waits for tasks to be cancelled.
const cancelWait = 300 * time.Millisecond

// tasks counts the tasks that are followed, or are being cancelled, on a connection.
type tasks struct {
	mu   sync.Mutex
	n    int
	none chan struct{}  // closed when n falls to 0
	over bool           // no goroutine begins any more
	all  sync.WaitGroup // goroutines
}

func (t *tasks) enter() (leave func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n++; t.n == 1 {
		t.none = make(chan struct{})
	}
	return sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.n--; t.n == 0 {
			close(t.none)
		}
	})
}

// wait waits until no task is followed, at most for limit.
func (t *tasks) wait(limit time.Duration) {
	t.mu.Lock()
	none, n := t.none, t.n
	t.mu.Unlock()
	if n == 0 {
		return
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-none:
	case <-timer.C:
	}
}

// start runs f on a goroutine of the connection's, unless that is ending.
func (t *tasks) start(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return false
	}
	t.all.Go(f)
	return true
}

// close waits for the goroutines; their contexts have ended.
func (t *tasks) close() {
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	t.all.Wait()
}

func (c *Connection) enterTask() (leave func()) { return c.tasks.enter() }

// abandon tells the server that nobody wants the task any more, and looks for a while
// whether it was finished all the same: that is then an answer that came late.
func (w *following) abandon() { w.c.cancelTask(w.l, w.task, w.call.Owner) }

func (c *Connection) cancelTask(l *live, task taskState, owner string) {
	leave := c.enterTask()
	started := c.tasks.start(func() {
		defer leave()
		ctx, cancel := context.WithTimeout(c.life, abandonedFor)
		defer cancel()
		ask := func(method string) session.Reply {
			return l.session.Do(ctx, session.Request{Method: method, Params: []wire.Member{member("taskId", task.ID)}})
		}
		ask("tasks/cancel") // a refusal says that it has ended; the next look shows how
		leave()
		if late := lateResult(ctx, task, ask); late != nil {
			c.note("warning", "", "it finished a task that had been cancelled")
			c.events.put(Late{Server: c.cfg.ID, Owner: owner, Raw: late})
		}
	})
	if !started {
		leave()
	}
}

// lateResult looks at a cancelled task until it has ended; nil where it ended without
// having been finished, or is not known any more.
func lateResult(ctx context.Context, task taskState, ask func(method string) session.Reply) []byte {
	for {
		reply := ask("tasks/get")
		m, ok := fields(reply.Result)
		t := readTask(m)
		switch {
		case reply.Err != nil, !ok, t.status == "cancelled":
			return nil
		case t.terminal() && task.Form == TaskExtension:
			return reply.Result
		case t.terminal():
			return ask("tasks/result").Result
		}
		pause := time.NewTimer(max(t.interval(), defaultPoll/2))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return nil
		}
	}
}
