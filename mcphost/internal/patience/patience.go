// Package patience holds limits of time that stand still while a person is being
// waited for: nobody can be blamed for a server's slowness meanwhile.
package patience

import (
	"context"
	"sync"
	"time"
)

// key is that of the innermost watcher of a context.
type key struct{}

// watcher is told when a person is being waited for, and so is its parent.
type watcher struct {
	parent *watcher
	paused func(on bool)
}

// Notify returns a context in which paused is told when a person begins to be
// waited for, and when that is over. Calls nest, and come from any goroutine.
func Notify(ctx context.Context, paused func(on bool)) context.Context {
	parent, _ := ctx.Value(key{}).(*watcher)
	return context.WithValue(ctx, key{}, &watcher{parent: parent, paused: paused})
}

// Pause says that a person is being waited for on behalf of the context. The
// function it returns must be called when that is over; calling it again does
// nothing.
func Pause(ctx context.Context) (resume func()) {
	innermost, _ := ctx.Value(key{}).(*watcher)
	tell := func(on bool) {
		for w := innermost; w != nil; w = w.parent {
			w.paused(on)
		}
	}
	tell(true)
	var once sync.Once
	return func() { once.Do(func() { tell(false) }) }
}

// WithTimeoutCause is context.WithTimeoutCause with a limit that stands still
// while [Pause] lasts for the context or one made of it. The context has no
// Deadline, because that may move.
func WithTimeoutCause(parent context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	l := &limit{left: d, since: time.Now()}
	l.timer = time.AfterFunc(d, func() { l.passed(func() { cancel(cause) }) })
	return Notify(ctx, l.paused), func() {
		l.stop()
		cancel(context.Canceled)
	}
}

// limit is a time that may stand still.
type limit struct {
	mu      sync.Mutex
	timer   *time.Timer
	since   time.Time     // when it began to run, last
	left    time.Duration // then
	pauses  int           // it stands still while this is not 0
	stopped bool
}

func (l *limit) paused(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	switch {
	case on:
		if l.pauses++; l.pauses == 1 && !l.stopped {
			l.timer.Stop()
			l.left = max(0, l.left-now.Sub(l.since))
		}
	default:
		if l.pauses--; l.pauses == 0 && !l.stopped {
			l.since = now
			l.timer.Reset(l.left)
		}
	}
}

func (l *limit) passed(end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pauses == 0 && !l.stopped {
		l.stopped = true
		end()
	}
}

func (l *limit) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	l.timer.Stop()
}
