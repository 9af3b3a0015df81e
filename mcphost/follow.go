package mcphost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"steward/mcphost/internal/door"
	"steward/mcphost/internal/session"
	"steward/mcphost/internal/wire"
)

// following follows one task to its result. It belongs to the goroutine that sends
// the call; progress alone comes from others.
type following struct {
	c      *Connection
	l      *live
	call   door.Call
	f      *inflight
	task   taskState // as it was last seen
	frames []wire.Frame

	failures int
	lost     error           // why the connection was lost last
	answered map[string]bool // inputRequests, by key
	rounds   int             // of answers to them
	result   *openResult     // tasks/result that is being waited for

	reports     *wire.Reports // of progress, which comes without the limits of an open request
	mu          sync.Mutex
	done, total float64 // of the server's last progress notification
}

// openResult is a tasks/result under way: the server answers it when the task has
// ended, and asks for input in the meantime.
type openResult struct {
	cancel context.CancelFunc
	reply  chan session.Reply
}

func (c *Connection) newFollowing(l *live, call door.Call, f *inflight, t taskState, frames []wire.Frame) *following {
	w := &following{c: c, l: l, call: call, f: f, task: t, frames: frames, answered: map[string]bool{}}
	c.mu.Lock()
	defer c.mu.Unlock()
	w.reports = wire.NewReports(f.progress)
	f.task = t.ID
	f.progress = func(p wire.Progress) {
		w.mu.Lock()
		p.Value = max(p.Value, w.done)
		w.done, w.total = p.Value, p.Total
		w.mu.Unlock()
		w.reports.Put(p)
	}
	return w
}

// begin writes down that there is a task, and follows it.
func (w *following) begin(ctx context.Context, outputSchema json.RawMessage) door.Reply {
	out := door.Reply{Started: true, Task: true, OutputSchema: outputSchema, Frames: w.frames}
	if w.task.ID == "" {
		out.Err = &door.TaskError{Message: "The server works on the call as a task, and gave the task no id with which its result could be asked for."}
		return out
	}
	defer w.c.enterTask()()
	// Also when it was stopped just now: what the server does must be known.
	if err := w.call.Attempt(context.WithoutCancel(ctx), "task", w.task.Task); err != nil {
		w.reports.End()
		w.abandon()
		out.Err = fmt.Errorf("the task that the server made of the call is not followed: %w", err)
		return out
	}
	return w.end(ctx, out)
}

// Follow implements door.Sender.
func (s *sender) Follow(ctx context.Context, call door.Call, raw json.RawMessage) door.Reply {
	c := (*Connection)(s)
	ctx = forCall(ctx, call)
	out := door.Reply{Started: true, Task: true, Redact: c.redact}
	var t taskState
	if err := json.Unmarshal(raw, &t.Task); err != nil || t.ID == "" {
		out.Err = &door.TaskError{Lost: true, Message: "What was kept of the task cannot be read."}
		return out
	}
	l, err := c.current(ctx)
	if err != nil {
		if errors.Is(context.Cause(ctx), door.ErrLeave) {
			err = door.ErrLeave
		}
		out.Err = err
		return out
	}
	if tool, why := c.definitionOf(call.Tool, call.Definition); why == "" {
		out.OutputSchema = tool.OutputSchema
	}
	token := l.session.Token()
	f := newInflight(call)
	c.begin(token, f)
	defer c.finish(token, f)
	defer c.enterTask()()
	t.status = "unseen"
	return c.newFollowing(l, call, f, t, nil).end(ctx, out)
}

// end follows the task, and takes leave of it where the call is over before.
func (w *following) end(ctx context.Context, out door.Reply) door.Reply {
	w.call.Lasting(w.task.keeps())
	defer w.reports.End()
	defer w.closeResult()
	w.c.mu.Lock()
	early := w.f.early
	w.c.mu.Unlock()
	if early != nil {
		w.f.progress(*early)
	}
	end := w.follow(ctx)
	out.Result, out.Err, out.Failed, out.Frames = end.Result, end.Err, end.Failed, w.frames
	if out.Err == nil || ctx.Err() == nil {
		return out
	}
	if errors.Is(context.Cause(ctx), door.ErrLeave) {
		out.Err = door.ErrLeave
		return out
	}
	w.abandon()
	return out
}

// ending is how a task ended.
type ending struct {
	Result json.RawMessage
	Err    error
	Failed bool
}

// follow looks at the task until it has ended.
func (w *following) follow(ctx context.Context) ending {
	w.tell(taskState{})
	wait := w.task.interval()
	if w.task.status != "working" {
		wait = 0
	}
	for {
		if result, ok := w.rest(ctx, wait); ok {
			return ending{Result: result, Failed: w.hasFailed(ctx)}
		}
		if ctx.Err() != nil {
			return ending{Err: ctx.Err()}
		}
		before := w.task
		err := w.look(ctx)
		if err == nil {
			w.tell(before)
			if end, over := w.act(ctx); over {
				return end
			}
		}
		if err = w.bearable(ctx, err); err != nil {
			return ending{Err: err}
		}
		wait = w.task.interval()
	}
}

// bearable counts failures in a row; it returns an error that ends the following.
func (w *following) bearable(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		w.failures = 0
		return ctx.Err()
	}
	var rpc *wire.Error
	var lost *door.TaskError
	switch w.failures++; {
	case errors.As(err, &lost):
		return err
	case !errors.As(err, &rpc):
		return &door.TaskError{Lost: true, Message: sentence("The connection was lost before the task was finished, and the task could not be asked for again: " + err.Error())}
	case rpc.Code == wire.CodeInvalidParams && !rpc.Invalid:
		why := "The server does not know the task any more that it made of this call: "
		if w.lost != nil {
			why = fmt.Sprintf("The connection was lost while the task ran (%v), and the server does not know the task any more: ", w.lost)
		}
		return &door.TaskError{Lost: true, Message: sentence(why + rpc.Message)}
	case rpc.Code == wire.CodeMethodNotFound, w.failures >= taskTries:
		return &door.TaskError{Message: sentence(fmt.Sprintf("The server works on the call as a task, and cannot be asked for it; it answered with error %d: %s", rpc.Code, rpc.Message))}
	}
	return nil
}

// hasFailed asks once more for a task whose result has come while it was waited for: what
// a failed task gives is that of a tool that failed, whatever it says.
func (w *following) hasFailed(ctx context.Context) bool {
	reply := w.l.session.Do(ctx, session.Request{Method: "tasks/get", Params: []wire.Member{member("taskId", w.task.ID)}})
	w.keep(reply.Frames)
	m, _ := fields(reply.Result)
	return readTask(m).status == "failed"
}

// rest waits for the next look. It returns the result where tasks/result brings it
// meanwhile.
func (w *following) rest(ctx context.Context, d time.Duration) (json.RawMessage, bool) {
	w.call.Rest(d)
	t := time.NewTimer(d)
	defer t.Stop()
	var reply chan session.Reply
	if w.result != nil {
		reply = w.result.reply
	}
	look := w.f.look
	for {
		select {
		case <-t.C:
			return nil, false
		case <-ctx.Done():
			return nil, false
		case <-look:
			look = nil // once, and not at once: servers repeat themselves
			t.Reset(min(d, minPoll))
		case r := <-reply:
			w.keep(r.Frames)
			w.closeResult()
			reply = nil
			if r.Err == nil && hasPayload(r.Result) {
				return r.Result, true
			}
		}
	}
}

// hasPayload reports whether a result holds what a tool gives.
func hasPayload(result json.RawMessage) bool {
	m, _ := fields(result)
	return !absent(m["content"]) || !absent(m["structuredContent"])
}

// tell passes on what is new in the server's words about the task.
func (w *following) tell(before taskState) {
	if w.task.message == "" || w.task.message == before.message {
		return
	}
	w.mu.Lock()
	done, total := w.done, w.total
	w.mu.Unlock()
	w.call.Progress(done, total, w.task.message)
}

// look asks for the task.
func (w *following) look(ctx context.Context) error {
	reply := w.ask(ctx, "tasks/get")
	if reply.Err != nil {
		return reply.Err
	}
	m, ok := fields(reply.Result)
	t := readTask(m)
	switch {
	case !ok, t.ID == "" && t.status == "":
		return &wire.Error{Code: wire.CodeInternal, Message: "the answer to tasks/get is no task", Invalid: true}
	case t.ID != "" && t.ID != w.task.ID:
		return &wire.Error{Code: wire.CodeInternal, Message: "the answer to tasks/get is about another task", Invalid: true}
	}
	t.ID, t.Form = w.task.ID, w.task.Form
	if t.Poll == 0 {
		t.Poll = w.task.Poll
	}
	if t.TTL > w.task.TTL && w.task.TTL > 0 {
		w.call.Lasting(t.keeps()) // it may change over the life of a task
	}
	w.task = t
	w.call.Touch()
	return nil
}

// ask makes one request about the task, again where the connection was lost: none of
// them starts anything.
func (w *following) ask(ctx context.Context, method string, more ...wire.Member) session.Reply {
	params := append([]wire.Member{member("taskId", w.task.ID)}, more...)
	for try := 1; ; try++ {
		reply := w.l.session.Do(ctx, session.Request{Method: method, Params: params})
		w.keep(reply.Frames)
		if reply.Err == nil || errors.As(reply.Err, new(*wire.Error)) || ctx.Err() != nil || try >= lostTries {
			return reply
		}
		w.lost = reply.Err
		if err := w.renew(ctx, try); err != nil {
			reply.Err = err
			return reply
		}
	}
}

// renew waits a moment, each time twice as long, and starts the server again if it has ended.
func (w *following) renew(ctx context.Context, try int) error {
	pause := time.NewTimer(lostPause << (try - 1))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	l, err := w.c.current(ctx)
	if err != nil {
		return err
	}
	if l != w.l {
		w.l = l
		w.closeResult() // it was asked for on the session that has ended
	}
	return nil
}

// keep adds frames to the call's; of a long task the first and the last are kept.
func (w *following) keep(frames []wire.Frame) {
	w.frames = append(w.frames, frames...)
	if n := len(w.frames) - taskFrames; n > 0 {
		w.frames = slices.Delete(w.frames, taskFrames/4, taskFrames/4+n)
	}
}

// act does what the task's state demands; over says that it has ended.
func (w *following) act(ctx context.Context) (end ending, over bool) {
	switch w.task.status {
	case "working":
		w.call.Seen()
		return ending{}, false
	case "input_required":
		w.call.Seen()
		if w.task.Form == TaskCore {
			w.openResult(ctx)
			return ending{}, false
		}
		err := w.answer(ctx)
		return ending{Err: err}, err != nil
	case "completed":
		return w.completed(ctx), true
	case "failed":
		return w.failed(ctx), true
	case "cancelled":
		return ending{Err: &door.TaskError{Message: "The server ended the task as cancelled before it was finished" + w.says()}}, true
	}
	return ending{Err: &door.TaskError{Message: fmt.Sprintf("The server says of the task that it is %q, which is no state that a task can have.", short(w.task.status, 60))}}, true
}

// says is the server's own word on the task, to end a sentence with.
func (w *following) says() string {
	if m := strings.TrimSpace(w.task.message); m != "" {
		return sentence(": " + m)
	}
	return "."
}

// completed fetches the result.
func (w *following) completed(ctx context.Context) ending {
	if w.task.Form == TaskExtension {
		if absent(w.task.fields["result"]) {
			return ending{Err: &door.TaskError{Done: true, Message: "The server says that the task is completed, and gave no result."}}
		}
		return ending{Result: w.task.fields["result"]}
	}
	reply := w.fetch(ctx)
	var rpc *wire.Error
	switch {
	case reply.Err == nil, ctx.Err() != nil:
	case !errors.As(reply.Err, &rpc):
		reply.Err = &door.TaskError{Lost: true, Done: true, Message: sentence("The task is completed, but the connection was lost before its result came: " + reply.Err.Error())}
	case rpc.Code == wire.CodeInvalidParams && !rpc.Invalid:
		reply.Err = &door.TaskError{Lost: true, Done: true, Message: sentence("The task is completed, but the server does not have its result any more: " + rpc.Message)}
	}
	return ending{Result: reply.Result, Err: reply.Err}
}

// failed fetches the error. A result that comes with a failed task is that of a tool
// that failed, whatever it says.
func (w *following) failed(ctx context.Context) ending {
	says := &door.TaskError{Done: true, Message: "The task failed" + w.says()}
	if w.task.Form == TaskExtension {
		m, ok := fields(w.task.fields["error"])
		if !ok {
			return ending{Err: says}
		}
		code, _ := number(m["code"])
		return ending{Err: &wire.Error{Code: int64(code), Message: str(m["message"]), Data: m["data"]}}
	}
	reply := w.fetch(ctx)
	var rpc *wire.Error
	switch {
	case reply.Err == nil && hasPayload(reply.Result):
		return ending{Result: reply.Result, Failed: true}
	case ctx.Err() != nil:
		return ending{Err: ctx.Err()}
	case errors.As(reply.Err, &rpc) && !rpc.Invalid && (rpc.Code != wire.CodeInvalidParams || w.task.message == ""):
		return ending{Err: reply.Err}
	}
	return ending{Err: says}
}

// fetch gets the result of a task of the older form that has ended: the one that is on
// its way, or else by asking.
func (w *following) fetch(ctx context.Context) session.Reply {
	if w.result != nil {
		t := time.NewTimer(2 * time.Second)
		defer t.Stop()
		select {
		case r := <-w.result.reply:
			w.keep(r.Frames)
			w.closeResult()
			if r.Err == nil {
				return r
			}
		case <-t.C:
		case <-ctx.Done():
		}
	}
	return w.ask(ctx, "tasks/result")
}

// openResult asks for the result of a task that waits for input: the server sends its
// questions along with the answer to that (MCP 2025-11-25, input required status).
func (w *following) openResult(ctx context.Context) {
	if w.result != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	o := &openResult{cancel: cancel, reply: make(chan session.Reply, 1)}
	w.result = o
	l, id := w.l, w.task.ID
	go func() {
		o.reply <- l.session.Do(ctx, session.Request{Method: "tasks/result", Params: []wire.Member{member("taskId", id)}})
	}()
}

// closeResult ends what openResult began; Do returns as soon as its context ends.
func (w *following) closeResult() {
	if w.result != nil {
		w.result.cancel()
		w.result = nil
	}
}
