package send

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"steward/mcphost"
	"steward/mcphost/internal/door"
	"steward/mcphost/internal/wire"
)

// Tool sends one tool call and waits for its end, which comes soon after the
// context has ended. Every way a call can end is a Result; the error is only
// for a Call that is incomplete. It may be called from any goroutine, for
// several calls at once; each c.Spend, c.Sent and c.Progress belongs to one
// call and is called from other goroutines than the caller's.
//
// When the context ends, the server is told (notifications/cancelled with a
// neutral reason) and the outcome is Cancelled. An answer that comes after the
// end is observed as mcphost.Late.
func Tool(ctx context.Context, c Call) (Result, error) {
	if c.Conn == nil || c.Spend == nil || c.Tool == "" {
		return Result{}, errors.New("a tool call needs a connection, a tool and a receipt to spend")
	}
	if len(c.Arguments) == 0 || c.Arguments[0] != '{' {
		return Result{}, errors.New("the arguments of a tool call are one JSON object in compact form")
	}
	return c.send(ctx, func(ctx context.Context, s door.Sender, d door.Call) door.Reply { return s.Send(ctx, d) }), nil
}

// Follow goes on with a call that the server works on as a task, after Tool ended as
// Left or the program was ended: task is what Attempt was told, as JSON. The call is
// not sent again, so Arguments and Spend are not used. Else it is as Tool; a task that
// the server does not know any more ends as Unknown.
func Follow(ctx context.Context, c Call, task json.RawMessage) (Result, error) {
	if c.Conn == nil || c.Tool == "" {
		return Result{}, errors.New("a task is followed on a connection, for a call of a tool")
	}
	return c.send(ctx, func(ctx context.Context, s door.Sender, d door.Call) door.Reply { return s.Follow(ctx, d, task) }), nil
}

func (c Call) send(ctx context.Context, by func(context.Context, door.Sender, door.Call) door.Reply) Result {
	sender := c.Conn.Sender(door.New())
	idle, total, set := c.limits(sender)
	k := newClock(ctx, idle, total)
	defer k.stop()
	s := &sending{call: c, clock: k}
	reply := by(k.ctx, sender, door.Call{
		Owner: c.Owner, Tool: c.Tool, Definition: c.Definition, Arguments: c.Arguments,
		Spend: s.spend, Sent: s.sent, Attempt: s.attempt,
		Progress: s.progress, Touch: k.touch, Paused: k.paused, Rest: k.rest, Seen: s.seen,
		Lasting: func(keeps time.Duration) {
			if !set {
				k.lasting(keeps)
			}
		},
	})
	s.end()
	return s.result(ctx, reply)
}

// limits returns how long the call may be silent, and how long it may take; set says
// that a person has set the second.
func (c Call) limits(s door.Sender) (idle, total time.Duration, set bool) {
	idle, total, set = s.Limits()
	if c.Timeout > 0 {
		idle = c.Timeout
	}
	if c.Max > 0 {
		return min(idle, c.Max), c.Max, true
	}
	return idle, max(total, idle), set
}

// sending is one call under way.
type sending struct {
	call  Call
	clock *clock

	mu       sync.Mutex
	over     bool // the call has ended: nothing more is told
	spent    bool
	refused  error // of Spend
	rejected error // of Attempt
}

func (s *sending) spend(exact []byte) error {
	err := s.call.Spend(exact)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spent, s.refused = err == nil, err
	return err
}

func (s *sending) sent() {
	s.clock.touch()
	if s.call.Sent != nil {
		s.call.Sent()
	}
}

func (s *sending) attempt(ctx context.Context, what string, detail any) error {
	err := errors.New("no further round was foreseen for this call")
	if s.call.Attempt != nil {
		err = s.call.Attempt(ctx, what, detail)
	}
	s.clock.touch()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rejected = err
	return err
}

func (s *sending) progress(done, total float64, message string) {
	s.mu.Lock()
	over := s.over
	s.mu.Unlock()
	if !over && s.call.Progress != nil {
		s.call.Progress(done, total, message)
	}
}

func (s *sending) seen() {
	if s.call.Seen != nil {
		s.call.Seen()
	}
}

// end stops telling of progress.
func (s *sending) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
}

// result says how the call ended.
func (s *sending) result(ctx context.Context, r door.Reply) (out Result) {
	out.Frames = s.frames(r.Frames)
	s.mu.Lock()
	spent, refused, rejected := s.spent, s.refused, s.rejected
	s.mu.Unlock()
	sent := spent || r.Started
	if r.Err == nil && r.Withdrawn == "" {
		readResult(&out, r)
		return out
	}
	defer func() { out.Reason = r.Redact(out.Reason) }()
	out.Effect = EffectUnknown
	if !sent {
		out.Effect = EffectNone
	}
	var rpc *wire.Error
	var task *door.TaskError
	switch {
	case errors.Is(r.Err, door.ErrLeave):
		out.Outcome, out.Reason = Left, "The server goes on with it as a task, which is followed on later."
	case errors.As(r.Err, &task):
		out.Outcome, out.Reason = ProtocolError, task.Message
		if task.Lost {
			out.Outcome = Unknown
		}
		if task.Done {
			out.Effect = EffectDone
		}
	case errors.As(r.Err, &rpc) && rpc.Code != wire.CodeRejected:
		readError(&out, rpc)
	case rejected != nil:
		out.Outcome, out.Reason = Unknown, sentence("The server asked for more before it would go on, and did not get it: "+rejected.Error())
	case ctx.Err() != nil:
		out.Outcome = Cancelled
		out.Reason = "The call was stopped."
		if sent {
			out.Reason = "The call was stopped after it had been sent; whether it had an effect is not known."
		}
	case s.clock.why() != "":
		out.Outcome, out.Reason = Timeout, s.clock.why()
		if !sent {
			out.Reason += " It had not been sent."
		}
	case r.Withdrawn != "":
		out.Outcome, out.Reason = Withdrawn, r.Withdrawn
	case refused != nil:
		out.Outcome, out.Reason = Withdrawn, sentence("Nothing was sent: "+refused.Error())
	case !sent:
		out.Outcome, out.Reason = Withdrawn, sentence("Nothing was sent: "+r.Err.Error())
	default:
		out.Outcome, out.Reason = Unknown, sentence(lost(r.Err)+r.Err.Error())
	}
	return out
}

// frames are the call's frames, as the connection shows them.
func (s *sending) frames(in []wire.Frame) []mcphost.Frame {
	return s.call.Conn.Shown(in)
}

// clock limits a call: by its silence, and in all. It stands still while a
// person or a model is being asked on the server's behalf.
type clock struct {
	ctx         context.Context
	cancel      context.CancelCauseFunc
	idle, total time.Duration

	mu     sync.Mutex
	timer  *time.Timer   // of the silence
	limit  *time.Timer   // of the whole
	since  time.Time     // when it began to run, last
	left   time.Duration // of the whole, then
	asking int           // it stands still while this is not 0
	asked  time.Time     // until when the server asked to be left alone
	reason string
	ended  bool
}

func newClock(parent context.Context, idle, total time.Duration) *clock {
	ctx, cancel := context.WithCancelCause(parent)
	k := &clock{ctx: ctx, cancel: cancel, idle: idle, total: total, since: time.Now(), left: total}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.timer = time.AfterFunc(idle, k.silent)
	k.limit = time.AfterFunc(total, k.exhausted)
	return k
}

// touch is a sign of life.
func (k *clock) touch() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.listen()
}

// rest is a silence of d that the server has asked for. A sign of life meanwhile does
// not shorten it.
func (k *clock) rest(d time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked = time.Now().Add(d)
	k.listen()
}

// listen begins the time of silence anew. k.mu is held.
func (k *clock) listen() {
	if !k.ended && k.asking == 0 {
		k.timer.Reset(k.idle + max(0, time.Until(k.asked)))
	}
}

// lasting gives a call that the server works on as a task the time for which the server
// keeps that; 0 is without limit. It takes none away.
func (k *clock) lasting(keeps time.Duration) {
	if keeps <= 0 || keeps > mcphost.TaskTimeout {
		keeps = mcphost.TaskTimeout
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended || keeps <= k.total {
		return
	}
	more := keeps - k.total
	k.total = keeps
	if k.asking > 0 {
		k.left += more
		return
	}
	now := time.Now()
	k.left = max(0, k.left-now.Sub(k.since)) + more
	k.since = now
	k.limit.Reset(k.left)
}

// paused stops and starts the clock; pauses nest.
func (k *clock) paused(on bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended {
		return
	}
	now := time.Now()
	switch {
	case on:
		k.asking++
		if k.asking == 1 {
			k.timer.Stop()
			k.limit.Stop()
			k.left = max(0, k.left-now.Sub(k.since))
		}
	case k.asking == 1:
		k.asking = 0
		k.since = now
		k.listen()
		k.limit.Reset(k.left)
	case k.asking > 1:
		k.asking--
	}
}

func (k *clock) silent() {
	k.finish(func() string {
		return fmt.Sprintf("The server gave no answer and no sign of progress for %s (the limit for silence).", k.idle)
	})
}

func (k *clock) exhausted() {
	k.finish(func() string {
		return fmt.Sprintf("The call was not finished within %s (the limit for a call, progress or not).", k.total)
	})
}

func (k *clock) finish(why func() string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended || k.asking > 0 {
		return
	}
	k.ended = true
	k.reason = why()
	k.cancel(errors.New(k.reason))
}

// why says which limit ended the call; "" if none did.
func (k *clock) why() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.reason
}

func (k *clock) stop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ended = true
	k.timer.Stop()
	k.limit.Stop()
	k.cancel(nil)
}
