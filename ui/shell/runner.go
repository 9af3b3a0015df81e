package shell

import (
	"context"
	"sync"

	"steward/app"
)

// Runner owns the goroutines that the window and its places work with in the background.
type Runner struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	broken func(any)

	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

// NewRunner makes a runner; broken is told of a panic, on the goroutine that panicked.
func NewRunner(broken func(any)) *Runner {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &Runner{ctx: ctx, cancel: cancel, broken: broken}
}

// Go runs f on a goroutine of its own, unless the runner is closed. f must return soon after its context ends.
func (r *Runner) Go(f func(ctx context.Context)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.wg.Add(1)
	go func() {
		defer r.wg.Done()
		defer func() {
			if problem := recover(); problem != nil && r.broken != nil {
				r.broken(problem)
			}
		}()
		f(r.ctx)
	}()
}

// Close ends the contexts and waits for what runs, as long as ctx allows. It reports whether all of it ended.
func (r *Runner) Close(ctx context.Context) bool {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.cancel(app.ErrClosed)
	ended := make(chan struct{})
	go func() {
		r.wg.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return true
	case <-ctx.Done():
		return false
	}
}
