package mcphost

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"steward/mcphost/internal/oauth"
	"steward/mcphost/internal/session"
	"steward/mcphost/internal/wire"
)

// How crashes of a server that had been started are answered: it is started
// anew after a pause that doubles, and left alone after the last. A server that
// lived for steadyAfter begins anew with its count.
const (
	maxCrashes  = 5
	firstPause  = time.Second
	steadyAfter = time.Minute
	closeLimit  = 3 * time.Second
)

// Connection is one connection to one server with one set of roots. Its
// methods may be called by any goroutine; those that ask the server something
// start it again if it has ended meanwhile.
//
// One goroutine, supervise, owns the server's process or session: it starts it,
// waits for its end, and starts it anew.
type Connection struct {
	host *Host
	cfg  ServerConfig
	key  string

	life   context.Context // ends with Close
	end    context.CancelFunc
	wake   chan struct{} // a start is wanted
	gone   chan struct{} // supervise has returned
	events *events
	wire   wire.Log // of all its sessions
	gather *gather
	asks   chan struct{} // held while a question is being asked that belongs to no single call
	tasks  tasks

	mu       sync.Mutex
	state    State
	protocol string
	info     ServerInfo
	caps     capabilities
	run      *run // the start under way, or the last one
	starting waiters
	restart  context.CancelCauseFunc
	live     *live // nil unless ready
	opening  *live // nil unless starting
	launch   Launch
	crashes  int
	lastErr  error
	stderr   string
	flood    int64 // bytes a second of standard error, where that is too much
	log      ring
	messages messages
	lists    lists
	calls    map[string]*inflight // by progress token
	recent   tokens
	started  int64                      // calls so far
	pages    map[string][]chan struct{} // elicitations in the browser, by id
	limits   map[*limit]struct{}        // of requests other than tool calls that run
	logLevel string                     // of the messages wanted; "" = DefaultLogLevel
	followed map[string]*live           // resources whose changes are wanted, and on which session that was said
	renewals int                        // how often a session has begun again below the connection
}

// run is one start. err may be read when done is closed.
type run struct {
	done     chan struct{}
	err      error
	finished bool
}

// live is what belongs to one session with the server.
type live struct {
	session *session.Session
	tap     *wire.Tap
	stderr  func() string
	written func() int64 // bytes of standard error so far
	since   time.Time
	changed chan struct{} // a list has changed
	reading chan struct{} // held while lists are read
	over    chan struct{} // closed when the session is no longer the current one
	roots   *rootsWait
	renewed chan struct{} // another session has begun below this one
}

func newConnection(h *Host, key string, cfg ServerConfig) *Connection {
	life, end := context.WithCancel(context.Background())
	c := &Connection{
		host: h, cfg: cfg, key: key, life: life, end: end,
		wake: make(chan struct{}, 1), gone: make(chan struct{}),
		events: newEvents(h.opts.Observe), asks: make(chan struct{}, 1),
		state: StateStopped, calls: map[string]*inflight{},
	}
	c.gather = &gather{now: c.now, flush: c.gathered}
	go c.supervise()
	return c
}

// Server returns the server's identity, ServerConfig.ID.
func (c *Connection) Server() string { return c.cfg.ID }

// Config returns the configuration the connection was made with. It holds
// secrets in the clear.
func (c *Connection) Config() ServerConfig { return c.cfg }

// State returns the connection's state.
func (c *Connection) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// Err returns why the connection is in StateFailed, else nil.
func (c *Connection) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state != StateFailed {
		return nil
	}
	return c.lastErr
}

// Protocol returns the negotiated version, e.g. "2024-11-05"; "" before.
func (c *Connection) Protocol() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.protocol
}

// Info returns what the server says about itself.
func (c *Connection) Info() ServerInfo {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.info
}

// Done is closed when the connection has been closed.
func (c *Connection) Done() <-chan struct{} { return c.gone }

// ensure waits until the server runs, starting it if need be.
func (c *Connection) ensure(ctx context.Context) error {
	r := c.want()
	if r == nil {
		return nil
	}
	defer c.starting.join(ctx)()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return fmt.Errorf("server %q is still starting: %w", c.cfg.ID, context.Cause(ctx))
	}
}

// want asks for a start, sharing one under way; nil if the server runs.
func (c *Connection) want() *run {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == StateReady {
		return nil
	}
	if c.life.Err() != nil {
		done := make(chan struct{})
		close(done)
		return &run{done: done, err: ErrClosed, finished: true}
	}
	if c.run == nil || c.run.finished {
		if c.crashes > maxCrashes {
			done := make(chan struct{})
			close(done)
			return &run{done: done, err: c.lastErr, finished: true}
		}
		c.run = &run{done: make(chan struct{})}
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return c.run
}

// Restart ends the server, if it runs, and starts it again; it also ends the
// count of crashes after which a server is left alone. The context bounds the
// wait.
func (c *Connection) Restart(ctx context.Context) error {
	c.mu.Lock()
	c.crashes = 0
	c.beginAnew()
	c.mu.Unlock()
	return c.ensure(ctx)
}

// beginAnew has the server started again if it runs, and reports whether it does. c.mu is
// held.
func (c *Connection) beginAnew() bool {
	if c.state != StateReady || c.restart == nil {
		return false
	}
	c.run = &run{done: make(chan struct{})}
	c.state = StateStarting // no request starts on the old session any more
	c.restart(errRestart)
	return true
}

var errRestart = errors.New("the server is being restarted")

// Close ends the connection and its server; calls in flight end as unknown.
// It returns when no process is left, at most about three seconds later, or
// earlier with the context, in which case the end goes on by itself.
func (c *Connection) Close(ctx context.Context) error {
	c.tasks.wait(cancelWait)
	c.end()
	c.host.forget(c)
	limit, cancel := context.WithTimeout(ctx, closeLimit)
	defer cancel()
	select {
	case <-c.gone:
		c.events.close()
		return nil
	case <-limit.Done():
		c.events.close()
		return fmt.Errorf("server %q has not ended yet; it is being killed", c.cfg.ID)
	}
}

// supervise owns the server from the first start to Close.
func (c *Connection) supervise() {
	defer close(c.gone)
	defer c.tasks.close()
	var pause <-chan time.Time
	for {
		select {
		case <-c.life.Done():
			c.stopped()
			return
		case <-c.wake:
			if !c.wanted() {
				continue // by those who shared a start that is over
			}
		case <-pause:
		}
		pause = nil
		again, wait := c.serve()
		for again {
			again, wait = c.serve()
		}
		if wait > 0 {
			pause = time.After(wait)
		}
	}
}

// wanted reports whether a start is asked for that has not been made.
func (c *Connection) wanted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.run != nil && !c.run.finished
}

// serve starts the server and waits for its end. It reports whether to start
// it again at once, or after which pause; 0 is only when asked.
func (c *Connection) serve() (again bool, pause time.Duration) {
	c.mu.Lock()
	if c.run == nil || c.run.finished {
		c.run = &run{done: make(chan struct{})}
	}
	r := c.run
	ctx, cancel := context.WithCancelCause(c.life)
	c.restart = cancel
	c.mu.Unlock()
	defer cancel(nil)

	c.setState(StateStarting, nil, "")
	l, err := c.start(ctx)
	c.opened(l)
	if err != nil {
		c.failed(r, err)
		return false, c.afterFailure()
	}
	c.ready(r, l)
	cause := c.attend(ctx, l)
	c.parted(l)
	switch {
	case c.life.Err() != nil:
		return false, 0
	case errors.Is(context.Cause(ctx), errRestart):
		return true, 0
	}
	return false, c.crashed(l, cause)
}

// attend keeps a session's lists current until the session ends, and returns
// why it ended.
func (c *Connection) attend(ctx context.Context, l *live) error {
	sessionCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	var refresher sync.WaitGroup
	refresher.Go(func() { c.refresher(oauth.Quiet(sessionCtx), l) })
	refresher.Go(func() { c.keepUp(oauth.Quiet(sessionCtx), l) })
	defer refresher.Wait()
	defer cancel()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-l.session.Done():
		return l.session.Err()
	}
}

// ready makes a session the current one.
func (c *Connection) ready(r *run, l *live) {
	c.mu.Lock()
	c.live = l
	c.state = StateReady
	c.lastErr = nil
	tools := len(c.lists.tools)
	protocol := c.protocol
	r.finished = true
	c.mu.Unlock()
	c.note("state", "", fmt.Sprintf("ready, protocol %s, %d tools", protocol, tools))
	c.events.put(StateChanged{Server: c.cfg.ID, State: StateReady, Protocol: protocol, Tools: tools})
	close(r.done)
}

// failed ends a start that did not succeed.
func (c *Connection) failed(r *run, err error) {
	c.mu.Lock()
	c.lastErr = err
	r.err = err
	r.finished = true
	c.mu.Unlock()
	if c.life.Err() == nil {
		c.setState(StateFailed, err, "")
	}
	close(r.done)
}

// afterFailure returns the pause before the next try after a start that
// failed: none unless the server had run before and crashed.
func (c *Connection) afterFailure() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.crashes == 0 || c.life.Err() != nil {
		return 0
	}
	return c.nextPause()
}

// nextPause counts a crash; 0 after the last. c.mu is held.
func (c *Connection) nextPause() time.Duration {
	c.crashes++
	if c.crashes > maxCrashes {
		return 0
	}
	return firstPause << (c.crashes - 1)
}

// parted takes a session down.
func (c *Connection) parted(l *live) {
	c.mu.Lock()
	c.live = nil
	if c.state == StateReady {
		c.state = StateStarting
	}
	c.mu.Unlock()
	close(l.over)
	_ = l.session.Close() // why it ended is known already
	stderr := l.stderr()
	c.mu.Lock()
	c.stderr = stderr
	c.mu.Unlock()
}

// crashed records that a running server ended by itself and returns the pause
// before it is started again.
func (c *Connection) crashed(l *live, cause error) time.Duration {
	err := &StartError{
		Server: c.cfg.ID, Stage: StageStart, Err: cause,
		Message: "it had been running, and ended by itself", Hint: "Look at its log, and restart it.",
	}
	if cause != nil {
		err.Message = fmt.Sprintf("it had been running, and ended by itself: %s", c.redact(cause.Error()))
	}
	var exit *wire.ExitError
	if errors.As(cause, &exit) {
		err.Exited, err.ExitCode, err.Stderr = true, exit.Code, c.redact(exit.Stderr)
		err.Message = fmt.Sprintf("it had been running, and ended by itself (%s)", exit.Ending) + "."
		c.events.put(Exited{Server: c.cfg.ID, Code: exit.Code, Ending: exit.Ending, Stderr: err.Stderr})
	}
	c.mu.Lock()
	if c.host.opts.Now().Sub(l.since) >= steadyAfter {
		c.crashes = 0
	}
	pause := c.nextPause()
	c.lastErr = err
	detail := fmt.Sprintf("it is started again in %s", pause)
	if pause == 0 {
		detail = fmt.Sprintf("it ended %d times in a row and is left alone until it is restarted", c.crashes)
		err.Hint = "It is left alone now: look at its log, and restart it."
	}
	if wanted := c.run; wanted != nil && !wanted.finished {
		// Someone asked for it while it was going down.
		if pause > 0 {
			pause = time.Nanosecond
		} else {
			wanted.err, wanted.finished = err, true
			defer close(wanted.done)
		}
	}
	c.mu.Unlock()
	c.setState(StateFailed, err, detail)
	return pause
}

// stopped is the end.
func (c *Connection) stopped() {
	c.mu.Lock()
	r := c.run
	if r != nil && !r.finished {
		r.err, r.finished = ErrClosed, true
		defer close(r.done)
	}
	c.mu.Unlock()
	c.gather.stop()
	c.setState(StateStopped, nil, "")
}

// setState changes the state and tells it.
func (c *Connection) setState(s State, err error, detail string) {
	c.mu.Lock()
	c.state = s
	if s != StateReady && s != StateStopped && err == nil {
		c.protocol = ""
	}
	c.mu.Unlock()
	text := string(s)
	if err != nil {
		text += ": " + err.Error()
	}
	if detail != "" {
		text += "; " + detail
	}
	c.note("state", "", text)
	c.events.put(StateChanged{Server: c.cfg.ID, State: s, Err: err, Detail: detail})
}

// session returns the current session, starting the server if need be.
func (c *Connection) current(ctx context.Context) (*live, error) {
	for range 3 {
		if err := c.ensure(ctx); err != nil {
			return nil, err
		}
		c.mu.Lock()
		l := c.live
		c.mu.Unlock()
		if l != nil {
			return l, nil
		}
	}
	return nil, fmt.Errorf("server %q ends as soon as it has started; look at its log", c.cfg.ID)
}

// lost reports whether a request that never left failed because the session has
// ended, and waits until that is known everywhere, so that the next use starts
// the server again.
func (c *Connection) lost(ctx context.Context, l *live, r session.Reply) bool {
	if r.Err == nil || r.Started || errors.As(r.Err, new(*wire.Error)) || ctx.Err() != nil {
		return false
	}
	return l.gone(ctx)
}

// gone waits until the end of a session that has ended, or is about to, is known everywhere; false
// where that takes long.
func (l *live) gone(ctx context.Context) bool {
	t := time.NewTimer(settle)
	defer t.Stop()
	select {
	case <-l.over:
		return true
	case <-t.C:
	case <-ctx.Done():
	}
	return false
}
