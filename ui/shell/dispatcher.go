package shell

import (
	"sync"
	"time"
)

// perSecond is how often at most the window's thread is called from elsewhere. A screen shows 60 pictures a second and
// nobody reads faster than 30.
const perSecond = 30

// Dispatcher brings work from any goroutine onto the window's thread: one queue, in order, emptied at most perSecond
// times a second. It owns one goroutine until Close.
type Dispatcher struct {
	onThread func(func()) // queues a function for the window's thread; fyne.Do
	broken   func(any)    // told of a panic in queued work, on the window's thread

	mu     sync.Mutex
	queue  []func()
	closed bool
	wake   chan struct{}
	quit   chan struct{}
	done   chan struct{}
}

// NewDispatcher makes a dispatcher on onThread, which must not wait for what it is given.
func NewDispatcher(onThread func(func()), broken func(any)) *Dispatcher {
	d := &Dispatcher{onThread: onThread, broken: broken, wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
	go d.run()
	return d
}

// Do queues f. It never blocks, may be called from any goroutine, and does nothing after Close.
func (d *Dispatcher) Do(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	d.queue = append(d.queue, f)
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Close drops what is queued and ends the goroutine. It may be called more than once, also on the window's thread.
func (d *Dispatcher) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	d.closed, d.queue = true, nil
	close(d.quit)
}

func (d *Dispatcher) run() {
	defer close(d.done)
	var last time.Time
	for {
		select {
		case <-d.quit:
			return
		case <-d.wake:
		}
		if wait := time.Until(last.Add(time.Second / perSecond)); wait > 0 && !d.sleep(wait) {
			return
		}
		// The next batch is begun only when the window's thread is through with this one: a slow window gets larger
		// batches, not more of them.
		through := make(chan struct{})
		d.onThread(func() {
			defer close(through)
			d.drain()
		})
		select {
		case <-d.quit:
			return
		case <-through:
		}
		last = time.Now()
	}
}

func (d *Dispatcher) sleep(wait time.Duration) bool {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-d.quit:
		return false
	case <-t.C:
		return true
	}
}

// drain runs what is queued now. After Close the toolkit may call it on any goroutine; then nothing is left to run.
func (d *Dispatcher) drain() {
	d.mu.Lock()
	work := d.queue
	d.queue = nil
	d.mu.Unlock()
	for _, f := range work {
		if d.isClosed() {
			return
		}
		d.one(f)
	}
}

func (d *Dispatcher) isClosed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.closed
}

func (d *Dispatcher) one(f func()) {
	defer func() {
		if problem := recover(); problem != nil && d.broken != nil {
			d.broken(problem)
		}
	}()
	f()
}
