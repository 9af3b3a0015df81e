package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// answersQueued is how many answers to a server may wait to be written. A server that
// asks faster than it reads loses answers.
const answersQueued = 4 * MaxServerRequests

// maxRequestID is how long the id of a server's request may be, in bytes. It is written
// back in the answer, and a server that does not read leaves many answers waiting.
const maxRequestID = 1 << 10

// requests serves what a server asks: one goroutine a request, one that writes.
type requests struct {
	most   int // bytes of the params of all open requests, unless there is only one
	handle func(context.Context, ServerRequest) (json.RawMessage, error)
	ctx    context.Context
	stop   context.CancelCauseFunc
	out    chan []byte

	mu        sync.Mutex
	closed    bool
	running   map[string]*request
	held      int // bytes of the params of what runs
	unwritten int // answers queued and not yet handed over
	work      sync.WaitGroup
}

// Causes with which the context of a server's request ends.
var (
	ErrWithdrawn = errors.New("the server took its request back")
	ErrOver      = errors.New("the session with the server has ended")
)

// request is one open request of the server's.
type request struct {
	cancel    context.CancelCauseFunc
	withdrawn bool // by the server, which wants no answer any more
}

func newRequests(most int, handle func(context.Context, ServerRequest) (json.RawMessage, error)) *requests {
	r := &requests{most: most, handle: handle, out: make(chan []byte, answersQueued), running: map[string]*request{}}
	r.ctx, r.stop = context.WithCancelCause(context.Background())
	return r
}

func (r *requests) attach(write func([]byte)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.work.Go(func() {
		for {
			select {
			case frame := <-r.out:
				write(frame)
				r.mu.Lock()
				r.unwritten--
				r.mu.Unlock()
			case <-r.ctx.Done():
				return
			}
		}
	})
}

func (r *requests) answer(frame []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue(frame)
}

// queue is answer for whoever holds mu.
func (r *requests) queue(frame []byte) {
	select {
	case r.out <- frame:
		r.unwritten++
	default: // see answersQueued
	}
}

func (r *requests) refuse(id []byte, e *Error) { r.answer(errorFrame(string(id), e)) }

// notOffered begins what a server is told that asks for something unknown.
const notOffered = "the host does not offer "

// NotOffered reports whether an error is this program's own refusal of a request: a program
// that sends back what it is sent answers with it.
func NotOffered(e *Error) bool {
	return e.Code == CodeMethodNotFound && strings.HasPrefix(e.Message, notOffered)
}

// serve answers one request, in its own time.
func (r *requests) serve(q ServerRequest) {
	switch q.Method {
	case "ping":
		r.answer(resultFrame(string(q.ID), []byte(`{}`)))
		return
	case "elicitation/create", "sampling/createMessage", "roots/list", "tasks/get", "tasks/result", "tasks/list", "tasks/cancel":
		if r.handle != nil {
			break
		}
		fallthrough
	default:
		r.refuse(q.ID, &Error{Code: CodeMethodNotFound, Message: notOffered + clipText(q.Method, 200)})
		return
	}
	key := idKey(q.ID)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return
	case r.running[key] != nil:
		r.queue(errorFrame(string(q.ID), &Error{Code: CodeInvalidRequest, Message: "a request with this id is open already"}))
		return
	case len(r.running) >= MaxServerRequests:
		r.queue(errorFrame(string(q.ID), &Error{Code: CodeInternal, Message: fmt.Sprintf("more than %d requests are open", MaxServerRequests)}))
		return
	}
	if r.held > 0 && r.held+len(q.Params) > r.most {
		r.queue(errorFrame(string(q.ID), &Error{Code: CodeInternal, Message: fmt.Sprintf("the open requests are larger than %d MiB together", r.most>>20)}))
		return
	}
	ctx, cancel := context.WithCancelCause(r.ctx)
	open := &request{cancel: cancel}
	r.running[key] = open
	r.held += len(q.Params)
	r.work.Go(func() {
		defer cancel(nil)
		result, err := r.call(ctx, q)
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.running, key)
		r.held -= len(q.Params)
		var e *Error
		switch {
		case open.withdrawn || r.ctx.Err() != nil:
			// A cancelled request gets no answer (MCP specification, cancellation).
		case errors.As(err, &e):
			r.queue(errorFrame(string(q.ID), e))
		case err != nil:
			r.queue(errorFrame(string(q.ID), &Error{Code: CodeInternal, Message: err.Error()}))
		default:
			r.queue(resultFrame(string(q.ID), result))
		}
	})
}

// call runs the handler; a panic in it becomes an error to the server.
func (r *requests) call(ctx context.Context, q ServerRequest) (result json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &Error{Code: CodeInternal, Message: "the host failed to handle the request"}
		}
	}()
	result, err = r.handle(ctx, q)
	if err == nil && !json.Valid(result) {
		err = &Error{Code: CodeInternal, Message: "the host has no answer"}
	}
	return result, err
}

// cancel ends the request the server does not want answered any more.
func (r *requests) cancel(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if open := r.running[key]; open != nil {
		open.withdrawn = true
		open.cancel(ErrWithdrawn)
	}
}

// settle ends the handlers of what the server still asks, and waits at most d until
// their answers were handed over. Nothing is served after it.
func (r *requests) settle(d time.Duration) {
	r.mu.Lock()
	r.closed = true
	for _, open := range r.running {
		open.cancel(ErrOver)
	}
	r.mu.Unlock()
	for end := time.Now().Add(d); r.busy() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

func (r *requests) busy() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.running) > 0 || r.unwritten > 0
}

// close cancels everything and waits for it at most d.
func (r *requests) close(d time.Duration) {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.stop(ErrOver)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.work.Wait()
	}()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}
