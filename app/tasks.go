package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"steward/app/config"
	"steward/app/consent"
	"steward/app/event"
	"steward/app/journal"
	"steward/mcphost"
)

// This file goes on with calls whose servers work on them as tasks, and which ran when
// the program last ended. Nothing of them is sent again.

// ErrClosed is the cause with which a front end ends the contexts of calls by hand as it
// closes: the tasks that servers work on are then left to be followed on.
var ErrClosed = consent.ErrClosed

const (
	// taskLook is how long a message in a conversation with such calls waits for what
	// their servers say first.
	taskLook = 10 * time.Second
	// taskKept is how long the record of a call whose server may not be asked stays open.
	taskKept = 2 * mcphost.TaskTimeout
)

// tasks are the calls that are to be followed on, by record.
type tasks struct {
	ctx  context.Context // ends with Close
	stop context.CancelCauseFunc
	wg   sync.WaitGroup

	mu   sync.Mutex
	gone bool
	open map[int64]*openTask
}

type openTask struct {
	journal.OpenTask
	begun bool                    // guarded by tasks.mu
	stop  context.CancelCauseFunc // of what was begun; guarded by tasks.mu
	seen  chan struct{}
	see   func() // closes seen
}

func (a *App) openTasks(ctx context.Context) {
	a.tasks.ctx, a.tasks.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	a.tasks.open = map[int64]*openTask{}
	for _, t := range a.recovery.Tasks {
		o := &openTask{OpenTask: t, seen: make(chan struct{})}
		o.see = sync.OnceFunc(func() { close(o.seen) })
		a.tasks.open[t.Record.Record] = o
	}
}

// closeTasks leaves what is followed; the next start goes on.
func (a *App) closeTasks() {
	if a.tasks.stop == nil {
		return
	}
	a.tasks.mu.Lock()
	a.tasks.gone = true
	a.tasks.mu.Unlock()
	a.tasks.stop(ErrClosed)
	a.tasks.wg.Wait()
}

// followTasks begins to follow on the tasks that fit and are not followed yet, and
// returns those that are followed.
func (a *App) followTasks(fits func(*openTask) bool) (followed []*openTask) {
	a.tasks.mu.Lock()
	defer a.tasks.mu.Unlock()
	for _, t := range a.tasks.open {
		if a.tasks.gone || !fits(t) {
			continue
		}
		followed = append(followed, t)
		if !t.begun {
			ctx, stop := context.WithCancelCause(a.tasks.ctx)
			t.begun, t.stop = true, stop
			a.tasks.wg.Go(func() {
				defer stop(nil)
				a.followTask(ctx, t)
			})
		}
	}
	return followed
}

// TasksSeen waits until the servers of all calls that are followed on have said how
// these stand, ctx ends, or ten seconds have passed.
func (a *App) TasksSeen(ctx context.Context) {
	a.tasks.mu.Lock()
	var list []*openTask
	for _, t := range a.tasks.open {
		if t.begun {
			list = append(list, t)
		}
	}
	a.tasks.mu.Unlock()
	waitSeen(ctx, list)
}

// tasksOf begins to follow on the calls of a conversation, and waits as TasksSeen does.
func (a *App) tasksOf(ctx context.Context, conversation string) {
	if conversation != "" {
		waitSeen(ctx, a.followTasks(func(t *openTask) bool { return t.Conversation == conversation }))
	}
}

// follows says whether the call of a record is still to be followed on, or its end to be
// stored.
func (a *App) follows(record int64) bool {
	a.tasks.mu.Lock()
	defer a.tasks.mu.Unlock()
	return a.tasks.open[record] != nil
}

func waitSeen(ctx context.Context, list []*openTask) {
	ctx, cancel := context.WithTimeout(ctx, taskLook)
	defer cancel()
	for _, t := range list {
		select {
		case <-t.seen:
		case <-ctx.Done():
			return
		}
	}
}

// followTask follows one task to its end, or leaves it open. ctx ends with ErrClosed, or with consent.ErrStopped where
// the person does not wait for it any more.
func (a *App) followTask(ctx context.Context, t *openTask) {
	defer t.see()
	conn, err := a.taskConnection(ctx, t)
	var keep *keepTask
	switch {
	case a.tasks.ctx.Err() != nil:
		return
	case ctx.Err() != nil && err != nil: // before its server could be asked
		o, err := a.gate.Lose(ctx, t.OpenTask, journal.Cancelled, notTold)
		a.taskEnded(t, o, err)
		return
	case errors.As(err, &keep) && time.Since(t.Begun) < taskKept:
		a.tasks.mu.Lock()
		t.begun = false // as soon as its server has been started it is looked at again
		a.tasks.mu.Unlock()
		return
	}
	var o consent.Outcome
	if err != nil {
		o, err = a.gate.Lose(ctx, t.OpenTask, journal.Unknown, "The server works on the call as a task, and could not be asked for it after Steward had been closed: "+err.Error())
	} else {
		o, err = a.gate.Resume(ctx, t.OpenTask, conn, consent.Limits{Timeout: a.o.ToolTimeout}, t.see)
	}
	a.taskEnded(t, o, err)
}

// notTold is why a task is given up that its server could not be asked for.
const notTold = "The person does not wait for its task any more; the server could not be told."

// giveUpTask ends the record of a call that is not followed on now, or whose server is
// only being started for it, because the person does not wait for it any more; false
// where there is none such.
func (a *App) giveUpTask(call string) bool {
	a.tasks.mu.Lock()
	defer a.tasks.mu.Unlock()
	for _, t := range a.tasks.open {
		if a.tasks.gone || t.Call != call && t.Edits != call {
			continue
		}
		if t.begun {
			t.stop(consent.ErrStopped)
			return true
		}
		t.begun, t.stop = true, func(error) {}
		a.tasks.wg.Go(func() {
			defer t.see()
			o, err := a.gate.Lose(a.tasks.ctx, t.OpenTask, journal.Cancelled, notTold)
			a.taskEnded(t, o, err)
		})
		return true
	}
	return false
}

// stopTasks ends the calls of a conversation that have gone on since an earlier run: their
// servers are told where they are followed, else their records are ended alone.
func (a *App) stopTasks(conversation string) {
	var calls []string
	a.tasks.mu.Lock()
	for _, t := range a.tasks.open {
		if t.Conversation == conversation {
			calls = append(calls, t.Call)
		}
	}
	a.tasks.mu.Unlock()
	for _, call := range calls {
		a.StopCall(call)
	}
}

// taskEnded stores how a call ended, unless its record is still open.
func (a *App) taskEnded(t *openTask, o consent.Outcome, err error) {
	if o.Outcome != journal.Running { // also where its record has to wait for the disk
		err = errors.Join(err, a.engine.Answered(context.WithoutCancel(a.tasks.ctx), t.OpenTask, o))
	}
	if err != nil {
		a.notice("journal", t.Server, err.Error())
	}
	if o.Outcome == journal.Running {
		return
	}
	a.tasks.mu.Lock()
	delete(a.tasks.open, t.Record.Record)
	a.tasks.mu.Unlock()
	a.bus.Publish(event.Notice{Conversation: t.Conversation, Kind: "task_followed", Server: t.Server,
		Message: fmt.Sprintf("Record %d (%s), which had gone on at its server while Steward was closed, has ended: %s.", t.Record.Record, what(t.Record), o.Outcome)})
}

// keepTask says why a task is not followed on now, but may be later.
type keepTask struct{ error }

// taskConnection is the connection on which a task is asked for: to the server as it was
// when it was called, and only where the person still trusts it.
func (a *App) taskConnection(ctx context.Context, t *openTask) (*mcphost.Connection, error) {
	list := a.servers.now()
	c, ok := config.Find(list.servers, t.Server)
	unusable := slices.ContainsFunc(list.problems, func(p config.Problem) bool { return p.Server == t.Server })
	switch {
	case !ok && (a.o.ServersFile != "" || list.err != nil || unusable):
		return nil, &keepTask{a.servers.unknown(t.Server)}
	case !ok:
		return nil, fmt.Errorf("the server %s is not set up any more", reveal(t.Server))
	case c.Hash() != t.ServerHash:
		return nil, fmt.Errorf("the settings of the server %s have changed since, and a task is asked for only where it was made", reveal(t.Server))
	case c.Disabled:
		return nil, &keepTask{fmt.Errorf("the server %s is switched off", reveal(t.Server))}
	}
	if err := a.servers.mayStart(ctx, c); err != nil {
		return nil, &keepTask{err}
	}
	return a.servers.oneReviewedWith(ctx, a.chat(ctx, t.Conversation).Roots, t.Server)
}
