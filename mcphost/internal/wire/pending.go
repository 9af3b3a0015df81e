package wire

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
)

// Pending is a request that was announced with Expect. Methods may be called from any
// goroutine.
type Pending struct {
	tap     *Tap
	want    Expectation
	done    chan struct{}
	frames  frameLog
	reports *Reports // nil where nobody wants progress

	mu        sync.Mutex
	answer    Answer
	ended     bool
	deciding  chan struct{} // not nil once Before is asked, closed when it has answered
	withdrawn bool
	started   bool
	sent      bool
	value     float64
}

func newPending(t *Tap, e Expectation) *Pending {
	p := &Pending{tap: t, want: e, done: make(chan struct{})}
	if e.Progress != nil {
		p.reports = NewReports(p.report)
	}
	return p
}

var (
	errWithdrawn = errors.New("nobody waits for this request any more, so it was not sent")
	errTwice     = errors.New("this request has left already; nothing is sent twice")
)

// leave prepares the request's message, and asks Before whether it may leave.
func (p *Pending) leave(frame, params []byte) ([]byte, error) {
	p.mu.Lock()
	switch {
	case p.withdrawn:
		p.mu.Unlock()
		return nil, errWithdrawn
	case p.deciding != nil:
		p.mu.Unlock()
		return nil, errTwice
	}
	decided := make(chan struct{})
	p.deciding = decided
	p.mu.Unlock()
	defer close(decided)
	if len(p.want.Set) > 0 {
		params = setMembers(params, p.want.Set)
		frame = setMembers(frame, []Member{{Name: "params", Value: params}})
	}
	if err := p.before(member(params, "arguments")); err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.started = true
	p.mu.Unlock()
	return frame, nil
}

// before asks the caller's Before; one that panics has not agreed.
func (p *Pending) before(arguments []byte) (err error) {
	if p.want.Before == nil {
		return nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the check before sending failed: %v", r)
		}
	}()
	return p.want.Before(arguments)
}

// finish ends the request; only the first call counts. The last progress is told before.
func (p *Pending) finish(a Answer) {
	if p.reports != nil {
		p.reports.End()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.ended, p.answer = true, a
		close(p.done)
	}
}

// Token returns the token.
func (p *Pending) Token() string { return p.want.Token }

// Done is closed when the request was answered, failed, or the connection ended.
func (p *Pending) Done() <-chan struct{} { return p.done }

// Answer returns how it ended; ok is false before that.
func (p *Pending) Answer() (a Answer, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.answer, p.ended
}

// Withdraw keeps the request from leaving, if it has not left, and reports whether its
// first byte may have: Before (if any) has agreed. It waits for a Before that is running.
// What it reports is final.
func (p *Pending) Withdraw() (started bool) {
	p.mu.Lock()
	decided := p.deciding
	p.withdrawn = true
	p.mu.Unlock()
	if decided == nil {
		return false
	}
	<-decided
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.started
}

// WasSent reports whether the whole request was handed to the operating system.
func (p *Pending) WasSent() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent
}

func (p *Pending) markSent() {
	p.mu.Lock()
	again := p.sent
	p.sent = true
	p.mu.Unlock()
	if !again && p.want.Sent != nil {
		defer p.tap.recovered("the news that a request was sent")
		p.want.Sent()
	}
}

// Frames returns the newest messages of this request, oldest first: the request,
// progress, the answer.
func (p *Pending) Frames() []Frame { return p.frames.list() }

// Release says that nobody waits any more: an answer from now on is Late. It must be
// called once for each Pending.
func (p *Pending) Release() {
	if p.reports != nil {
		p.reports.End()
	}
	t := p.tap
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.expected[p.want.Token] == p {
		delete(t.expected, p.want.Token)
	}
	for key, c := range t.open {
		if c.pending == p {
			t.end(key, c, false)
		}
	}
}

// number reads a finite JSON number, also one in quotes; NaN if it is none.
func number(v []byte) float64 {
	f, err := strconv.ParseFloat(text(v), 64)
	if err != nil || math.IsInf(f, 0) {
		return math.NaN()
	}
	return f
}

// Outgoing is one message on its way out.
type Outgoing struct {
	// Frame is what to send, without newline.
	Frame []byte
	// Request is true if the server must answer it.
	Request bool

	tap  *Tap
	call *call
}

// Sent says that the whole message was handed to the operating system.
func (o *Outgoing) Sent() {
	if o.call != nil && o.call.pending != nil {
		o.call.pending.markSent()
	}
}

// Fail answers the request for a server that gave no usable answer (an HTTP error, an
// empty body, none in time), and returns the message for the library: an error with
// err's text, and its code and data if it is an *Error. The Pending gets err. It returns
// nil if the request is not open any more, or Outgoing is no request.
func (o *Outgoing) Fail(err error) []byte {
	if o.call == nil {
		return nil
	}
	t, key := o.tap, idKey([]byte(o.call.id))
	t.mu.Lock()
	open := t.open[key] == o.call
	if open {
		t.end(key, o.call, true)
	}
	t.mu.Unlock()
	if !open {
		return nil
	}
	return t.settle(o.call, Answer{Err: err})
}

// Open reports whether the request still waits for its answer.
func (o *Outgoing) Open() bool {
	if o.call == nil {
		return false
	}
	o.tap.mu.Lock()
	defer o.tap.mu.Unlock()
	return o.tap.open[idKey([]byte(o.call.id))] == o.call
}

// Answered reports whether the request has had its answer; false for one that is open, and for one that nobody
// waits for any more.
func (o *Outgoing) Answered() bool {
	if o.call == nil {
		return false
	}
	o.tap.mu.Lock()
	defer o.tap.mu.Unlock()
	key := idKey([]byte(o.call.id))
	return o.tap.open[key] != o.call && o.tap.ended[key].answered
}

// Method returns the method of a request, "" for other messages.
func (o *Outgoing) Method() string {
	if o.call == nil {
		return ""
	}
	return o.call.method
}

// setMembers returns the object with the members set, those that are there in their
// place, the others at the end. An absent object is taken as empty.
func setMembers(object []byte, set []Member) []byte {
	out := make([]byte, 0, len(object)+64)
	out = append(out, '{')
	put := func(name string, v []byte) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, quote(name)...), ':'), v...)
	}
	done := make([]bool, len(set))
	members(object, func(name string, v []byte) bool {
		for i, m := range set {
			if m.Name == name {
				if !done[i] {
					done[i] = true
					put(name, m.Value)
				}
				return true
			}
		}
		put(name, v)
		return true
	})
	for i, m := range set {
		if !done[i] {
			put(m.Name, m.Value)
		}
	}
	return append(out, '}')
}
