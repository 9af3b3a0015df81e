package mcphost

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"steward/mcphost/internal/door"
	"steward/mcphost/internal/oauth"
	"steward/mcphost/internal/patience"
	"steward/mcphost/internal/session"
	"steward/mcphost/internal/wire"
)

// inflight is a tool call that is running on the connection.
type inflight struct {
	owner  string
	tool   string // its name and the hash of the definition that was shown
	shown  string
	seq    int64
	done   chan struct{} // closed when the call has ended
	paused func(on bool)
	asks   chan struct{} // held while a question that belongs to this call alone is being asked

	task     string        // the id of the task that the server has made of it; guarded by Connection.mu
	look     chan struct{} // the server says that the task has changed
	progress func(wire.Progress)
	early    *wire.Progress // came when the call had been answered, and no task was known yet; guarded by Connection.mu
}

// callsFor returns the calls that a question of the server may belong to: all
// that run on the connection, oldest first, or the one whose task it names. The
// context it returns ends when all of them have ended; a question that comes without a
// call has no such end.
func (c *Connection) callsFor(ctx context.Context, task *inflight) ([]*inflight, context.Context, context.CancelFunc) {
	c.mu.Lock()
	var calls []*inflight
	for _, call := range c.calls {
		if task == nil || call == task {
			calls = append(calls, call)
		}
	}
	l := c.live
	c.mu.Unlock()
	ctx, end := context.WithCancelCause(ctx)
	cancel := func() { end(nil) }
	if len(calls) == 0 {
		return nil, ctx, cancel
	}
	slices.SortFunc(calls, func(a, b *inflight) int { return int(a.seq - b.seq) })
	go func() {
		for _, call := range calls {
			select {
			case <-call.done:
			case <-ctx.Done():
				return
			}
		}
		end(whyOver(l))
	}()
	return calls, ctx, cancel
}

// whyOver tells why all calls have ended at once: with their session, or each by itself.
func whyOver(l *live) error {
	if l != nil {
		select {
		case <-l.session.Done():
			return ErrSessionOver
		default:
		}
	}
	return ErrCallOver
}

// Sender returns the way to send tool calls. Only mcphost/send can make the
// key; with any other the result is nil.
func (c *Connection) Sender(k door.Key) door.Sender {
	if !k.Opens() {
		return nil
	}
	return (*sender)(c)
}

// sender sends tool calls on a connection.
type sender Connection

// Limits implements door.Sender.
func (s *sender) Limits() (idle, total time.Duration, set bool) {
	idle, total = s.cfg.ToolTimeout, s.cfg.MaxTimeout
	set = total > 0
	if idle <= 0 {
		idle = DefaultToolTimeout
	}
	if total <= 0 {
		total = max(DefaultMaxTimeout, idle)
	}
	return idle, total, set
}

// settle is how long a list that is known to be out of date may take to be
// read again before a call.
const settle = 5 * time.Second

// Send implements door.Sender.
func (s *sender) Send(ctx context.Context, call door.Call) door.Reply {
	c := (*Connection)(s)
	ctx = forCall(ctx, call)
	for again := false; ; again = true {
		l, err := c.current(ctx)
		if err != nil {
			return door.Reply{Withdrawn: sentence("Nothing was sent: " + err.Error()), Err: err, Redact: c.redact}
		}
		if err := c.renewed(ctx); err != nil {
			return door.Reply{Withdrawn: sentence("Nothing was sent: " + err.Error()), Err: err, Redact: c.redact}
		}
		c.settleTools(ctx, l)
		call.Paused(true) // no silence of the server's: it has not been asked yet
		c.settleRoots(ctx, l)
		call.Paused(false)
		var spent atomic.Bool
		once := call
		once.Spend = func(exact []byte) error {
			spent.Store(true)
			return call.Spend(exact)
		}
		reply := c.sendOn(ctx, l, once)
		if again || spent.Load() || reply.Withdrawn != "" || !c.lost(ctx, l, session.Reply{Err: reply.Err, Started: reply.Started}) {
			reply.Redact = c.redact
			return reply
		}
		// The server had ended unnoticed, and nothing has left: it is started
		// again, and its definitions are looked at again.
	}
}

// forCall makes a sign-in that is needed meanwhile the call's: a person who is asked for it stops the call's clock.
func forCall(ctx context.Context, call door.Call) context.Context {
	return oauth.ForCall(patience.Notify(ctx, call.Paused), oauth.Call{Owner: call.Owner, Attempt: call.Attempt})
}

// sendOn sends a call on one session.
func (c *Connection) sendOn(ctx context.Context, l *live, call door.Call) door.Reply {
	tool, why := c.definitionOf(call.Tool, call.Definition)
	if why != "" {
		return door.Reply{Withdrawn: why}
	}
	token := l.session.Token()
	f := newInflight(call)
	c.begin(token, f)
	defer c.finish(token, f)

	var once sync.Once
	var refused string
	req := session.Request{
		Method: "tools/call", Subject: call.Tool, Token: token,
		Params: []wire.Member{member("name", call.Tool), {Name: "arguments", Value: call.Arguments}},
		Before: func([]byte) error {
			// The last moment: the list may have changed while the request was made.
			if _, refused = c.definitionOf(call.Tool, call.Definition); refused != "" {
				return errors.New(refused)
			}
			return call.Spend(call.Arguments)
		},
		Sent:     func() { once.Do(call.Sent) },
		Progress: f.progress,
	}
	if c.asTask(l, tool) {
		req.Params = append(req.Params, member("task", map[string]int64{"ttl": taskTTL.Milliseconds()}))
	}
	reply := c.rounds(ctx, l, req, call.Attempt, f)
	if t, ok := readCreated(reply.Result); ok && reply.Err == nil {
		return c.newFollowing(l, call, f, t, reply.Frames).begin(ctx, tool.OutputSchema)
	}
	out := door.Reply{
		Result: reply.Result, Nulled: reply.Nulled, Err: reply.Err, Started: reply.Started,
		OutputSchema: tool.OutputSchema, Frames: reply.Frames,
	}
	if refused != "" && !reply.Started {
		out.Withdrawn = refused
	}
	return out
}

func newInflight(call door.Call) *inflight {
	return &inflight{
		owner: call.Owner, tool: call.Tool, shown: call.Definition, done: make(chan struct{}), paused: call.Paused, asks: make(chan struct{}, 1), look: make(chan struct{}, 1),
		progress: func(p wire.Progress) {
			call.Touch()
			call.Progress(p.Value, p.Total, p.Message)
		},
	}
}

// SettleTools has [Connection.Tools] hold what the server offers by now, as far as it has said
// that this differs: it waits, at most five seconds, until tools that are known to be out of date
// have been read again, or until the end of a server that has just ended shows in
// [Connection.State]. Where they cannot be read, those read before stay. It starts no server.
func (c *Connection) SettleTools(ctx context.Context) {
	c.mu.Lock()
	l := c.live
	c.mu.Unlock()
	switch {
	case l == nil:
	case l.ended():
		l.gone(ctx)
	default:
		c.settleTools(ctx, l)
	}
}

// settleTools reads the tools again if they are known to be out of date: the
// server has announced a change, or the time it gave has passed. A reading that is
// under way is waited for.
func (c *Connection) settleTools(ctx context.Context, l *live) {
	if !c.toolsOutOfDate() && len(l.reading) == 0 { // in this order: who reads holds reading before it says so
		return
	}
	ctx, cancel := patience.WithTimeoutCause(ctx, settle, unanswered(settle))
	defer cancel()
	select {
	case l.reading <- struct{}{}:
		<-l.reading
	case <-ctx.Done():
		return
	}
	if c.toolsOutOfDate() {
		_ = c.readTools(ctx, l) // where it cannot be read, the list read before stays, and that is in the log
	}
}

func (c *Connection) toolsOutOfDate() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.expired("tools") || c.lists.stale["tools"]
}

// definitionOf returns a tool if it is current, else why it is not.
func (c *Connection) definitionOf(name, hash string) (Tool, string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, ok := c.lists.index[name]
	switch {
	case !ok:
		return Tool{}, fmt.Sprintf("Nothing was sent: server %q offers no tool %q any more.", c.cfg.ID, name)
	case c.lists.tools[i].Definition != hash:
		return Tool{}, fmt.Sprintf("Nothing was sent: server %q has changed the tool %q since it was shown.", c.cfg.ID, name)
	}
	return c.lists.tools[i], ""
}

// changed reports whether the tool of a call is not any more what was shown: no further round is made with it.
func (c *Connection) changed(ctx context.Context, l *live, f *inflight) bool {
	c.settleTools(ctx, l)
	_, why := c.definitionOf(f.tool, f.shown)
	return why != ""
}

// begin and finish keep account of the calls that run.
func (c *Connection) begin(token string, f *inflight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.started++
	f.seq = c.started
	c.calls[token] = f
	c.recent.add(token, f.owner)
}

func (c *Connection) finish(token string, f *inflight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, token)
	close(f.done)
}

// Limits of the rounds of one request (MCP 2026-07-28, multi-round-trip
// requests).
const (
	maxRounds        = 8
	maxInputRequests = 32
	maxRequestState  = 1 << 20
)

// rounds makes a request and the further rounds that the server demands: what
// it asks for is answered one after the other, and the same request is made
// again with the answers. f is nil for requests other than tool calls.
func (c *Connection) rounds(ctx context.Context, l *live, r session.Request,
	attempt func(context.Context, string, any) error, f *inflight) session.Reply {
	base := slices.Clone(r.Params)
	var frames []wire.Frame
	relisted := false
	for round := 1; ; round++ {
		reply := l.session.Do(ctx, r)
		frames = append(frames, reply.Frames...)
		reply.Frames = frames
		if round > 1 {
			reply.Started = true
		}
		c.outgrown(l, reply.Err)
		if mismatch(reply.Err) && !relisted {
			if relisted = true; c.relist(ctx, l, f, &reply) {
				r.Token = ""
				round--
				continue
			}
		}
		if round >= maxRounds && wantsMore(reply) {
			// Nobody is asked for what cannot be handed on any more.
			reply.Result, reply.Err = nil, invalid("the server asked for input more than %d times for one request", maxRounds)
			return reply
		}
		asking, done := l.during(ctx)
		next, what, err := c.furtherRound(asking, l, reply, f)
		err = done(err)
		if err != nil {
			reply.Result, reply.Err = nil, err
			return reply
		}
		if what == "" {
			return reply
		}
		if f != nil && c.changed(ctx, l, f) {
			reply.Result, reply.Err = nil, invalid("the server has changed the tool %q since it was shown, and asked for more; it was not asked again", f.tool)
			return reply
		}
		if err := attempt(ctx, what, map[string]any{"round": round + 1}); err != nil {
			reply.Result, reply.Err = nil, fmt.Errorf("the server was not asked again: %w", err)
			return reply
		}
		r.Params = append(slices.Clone(base), next...)
		r.Before = nil // the receipt is spent; a round is allowed by its attempt
		r.Token = ""
	}
}

// invalid is an error for an answer that is none.
func invalid(format string, args ...any) error {
	return &wire.Error{Code: wire.CodeInvalidRequest, Message: fmt.Sprintf(format, args...), Invalid: true}
}

// wantsMore reports whether the server wants the request again.
func wantsMore(reply session.Reply) bool {
	var rpc *wire.Error
	if errors.As(reply.Err, &rpc) {
		return !rpc.Invalid && rpc.Code == codeURLs
	}
	return reply.Err == nil && str(wire.Fields(reply.Result)["resultType"]) == "input_required"
}

// codeURLs is the code of an error that wants pages in the browser to be finished first.
const codeURLs = -32042

// furtherRound reads whether the server wants the request again, and answers
// what it asks before. what is "" where the reply is the last.
func (c *Connection) furtherRound(ctx context.Context, l *live, reply session.Reply, f *inflight) (next []wire.Member, what string, err error) {
	var rpc *wire.Error
	if errors.As(reply.Err, &rpc) && !rpc.Invalid && rpc.Code == codeURLs {
		return c.visitURLs(ctx, rpc, f)
	}
	if reply.Err != nil {
		return nil, "", nil
	}
	m := wire.Fields(reply.Result)
	kind := str(m["resultType"])
	switch {
	case absent(m["resultType"]), kind == "complete", kind == "task" && f != nil:
		return nil, "", nil
	case kind != "input_required":
		return nil, "", invalid("the server answered with a result of the unknown type %s", short(string(m["resultType"]), 60))
	case !l.session.Hello().Modern:
		return nil, "", invalid("the server asked for input in a way that its version of the protocol does not have")
	}
	state := m["requestState"]
	if !absent(state) {
		if state[0] != '"' || len(state) > maxRequestState {
			return nil, "", invalid("the server's requestState is no text, or longer than %d bytes", maxRequestState)
		}
		next = append(next, wire.Member{Name: "requestState", Value: state})
	}
	responses, err := c.fulfil(ctx, m["inputRequests"], f)
	if err != nil {
		return nil, "", err
	}
	if responses != nil {
		next = append(next, wire.Member{Name: "inputResponses", Value: responses})
	}
	if len(next) == 0 {
		return nil, "", invalid("the server asked for input without saying for which")
	}
	return next, "input", nil
}
