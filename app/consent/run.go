package consent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"steward/app/clean"
	"steward/app/event"
	"steward/app/journal"
	"steward/mcphost"
	"steward/mcphost/schema"
	"steward/mcphost/send"
)

// Limits of one call.
type Limits struct {
	// Timeout is how long the server may be silent, counted from sending; Max how
	// long the call may take in all. 0 is the server's setting.
	Timeout, Max time.Duration
	// Lane, where not nil, decides when the call runs among others of its answer.
	Lane *Lane
	// Settled, where not nil, is called once, as soon as the call waits for a
	// person, has its place in the lane, or has ended.
	Settled func()
}

// Outcome is how a call ended, in the contract's words, and what the model and
// the screen may be given of it.
type Outcome struct {
	Call     Call // the one that was decided: an edited call where the person edited
	Record   int64
	Decision string
	By       string
	Outcome  string
	Effect   string
	Reason   string // a sentence without a full stop, or empty
	// Text is what the model is told, cleaned; it is never empty.
	Text       string
	Images     []Image
	Content    []event.Content
	Structured json.RawMessage
	Seconds    float64
	// Notes are sentences about what is odd in an answer that was taken all the same, such as
	// one that does not match the tool's outputSchema; safe to show.
	Notes []string
	// Sent is when the request went out; zero where it never did.
	Sent time.Time
}

// Run takes one call all the way: proposed, decided, written, sent, answered. It
// returns when the call has its outcome; with ctx cancelled, at once, and the
// context's cause (ErrStopped, ErrClosed, ErrAbandoned) says why.
//
// The outcome is complete in every case. The error says that the journal could
// not be written: before sending, nothing was executed; after it, the outcome
// stands only here.
func (g *Gate) Run(ctx context.Context, c Call, conn *mcphost.Connection, lim Limits) (o Outcome, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(errEnded)
	defer g.stoppable(c.ID(), stop)()
	r := &run{g: g, ctx: ctx, stop: stop, log: context.WithoutCancel(ctx), call: c, server: c.Server(), conn: conn, lim: lim, look: make(chan struct{}, 1)}
	defer r.settled()
	defer func() {
		if r.unstop != nil {
			r.unstop()
		}
	}()
	defer func() {
		if p := recover(); p != nil {
			o, err = r.broken(p)
		}
	}()
	return r.run()
}

// broken ends a call on whose way the program itself failed. Its record is left
// open where it cannot be written; the next start closes it.
func (r *run) broken(p any) (Outcome, error) {
	err := fmt.Errorf("the call of %s was ended by a fault in Steward: %v", r.call.Tool(), p)
	r.g.notice(r.call.Conversation(), "internal", r.call.Server(), r.g.cleanText(fmt.Sprintf("%v\n%s", err, debug.Stack())))
	if r.entry == nil {
		return r.unwritten(err)
	}
	o := Outcome{Outcome: journal.Withdrawn, Effect: journal.EffectNone, Reason: "a fault in Steward"}
	if r.spent.Load() {
		o.Outcome, o.Effect = journal.Unknown, journal.EffectUnknown
	}
	o, endErr := r.end(o, nil)
	return o, errors.Join(err, endErr)
}

// run is one call on its way. It belongs to the goroutine in Gate.Run; what
// others read of it while the call runs is fixed before that.
type run struct {
	g      *Gate
	ctx    context.Context
	stop   context.CancelCauseFunc // ends ctx: the call alone is stopped
	log    context.Context         // for the record: not cancelled with ctx
	call   Call                    // changes once where the person edits it
	server string                  // fixed, so that others may read it
	conn   *mcphost.Connection
	lim    Limits
	unstop func()          // of the edited call
	last   *event.Progress // of the server; guarded by Gate.mu
	look   chan struct{}   // something changed at the server: look again

	entry   *journal.Entry
	decided decision
	tool    mcphost.Tool
	schema  *schema.Schema
	fits    bool // the arguments were checked against it
	sentAt  time.Time
	started time.Time
	settle  sync.Once
	spent   atomic.Bool // the receipt is used up: the server may have the call
	untold  []event.Event
}

// say keeps an event back until the journal holds what it tells: whoever reads
// the events never hears of a call that a crash could make undone.
func (r *run) say(e event.Event) { r.untold = append(r.untold, e) }

// tell publishes what was kept back. It is called after each durable step, and
// where the journal has failed, which is told as well.
func (r *run) tell() {
	for _, e := range r.untold {
		r.g.o.Bus.Publish(e)
	}
	r.untold = nil
}

// shown writes that the person is about to see the call.
func (r *run) shown(hash string) error {
	if err := r.entry.Shown(r.log, hash); err != nil {
		return err
	}
	r.tell()
	return nil
}

func (r *run) settled() {
	r.settle.Do(func() {
		if r.lim.Settled != nil {
			r.lim.Settled()
		}
	})
}

func (r *run) run() (Outcome, error) {
	if err := r.propose(""); err != nil {
		return r.unwritten(err)
	}
	tool, why, err := r.g.whyNotCurrent(r.log, r.call, r.conn)
	r.tool = tool
	switch {
	case err != nil:
		return r.unwritten(err)
	case why != "":
		return r.refuse(decision{word: Withdrawn, by: byCurrent, reason: why})
	case r.g.disabled(r.call.Conversation(), r.call.Server(), tool):
		return r.refuse(decision{word: Denied, by: byDisabled, reason: "the person has switched this tool off"})
	}
	if r.schema, err = r.g.schemaOf(tool); err != nil {
		return r.refuse(decision{word: Withdrawn, by: bySchema, reason: "the tool's input schema cannot be used: " + err.Error()})
	}
	if problem := violations(r.schema, r.call.Arguments()); problem != "" {
		return r.refuse(decision{word: Withdrawn, by: bySchema, reason: problem})
	}
	r.fits = true
	d, err := r.g.standing(r.log, r.call)
	if err != nil {
		return r.unwritten(err)
	}
	if d.word == "" {
		if d, err = r.ask(); err != nil {
			return r.unwritten(err)
		}
	}
	if d.word != Allowed {
		return r.refuse(d)
	}
	return r.allowed(d)
}

// propose opens the record of the call. edits names the call it replaces.
func (r *run) propose(edits string) error {
	detail := map[string]any{"call": r.call.ID(), "turn": r.call.Turn(), "server_hash": r.call.ServerHash()}
	if edits != "" {
		detail["edits"] = edits
	}
	e, err := r.g.o.Journal.Propose(r.log, journal.Proposal{
		Kind: journal.KindCall, Conversation: r.call.Conversation(), Server: r.call.Server(), Tool: r.call.Tool(),
		Arguments: r.call.Arguments(), Model: r.call.Model(), Definition: r.call.Definition(), Detail: detail,
	})
	if err != nil {
		return err
	}
	r.entry = e
	r.say(event.Call{
		Conversation: r.call.Conversation(), ID: r.call.ID(), Record: e.Number(), Server: r.call.Server(),
		Tool: r.call.Tool(), Arguments: r.g.o.Known.KnownJSON(r.call.Arguments()), Definition: r.call.Definition(),
	})
	return nil
}

// violations says in a sentence how arguments break the tool's schema.
func violations(s *schema.Schema, arguments string) string {
	found := s.Validate([]byte(arguments))
	if len(found) == 0 {
		return ""
	}
	parts := make([]string, 0, len(found))
	for i, v := range found {
		if i == 10 {
			parts = append(parts, fmt.Sprintf("and %d more", len(found)-i))
			break
		}
		where := v.Path
		if where == "" {
			where = "the arguments"
		}
		parts = append(parts, where+": "+v.Message)
	}
	return "the arguments do not fit the tool's input schema (" + strings.Join(parts, "; ") + ")"
}

// decide writes and publishes a decision.
func (r *run) decide(d decision, hash string) error {
	r.decided = d
	err := r.entry.Decided(r.log, journal.Decision{Decision: d.word, By: d.by, Reason: d.reason, ShownHash: hash, Scope: d.scope})
	if err == nil {
		r.say(event.Decision{Conversation: r.call.Conversation(), Call: r.call.ID(), Decision: d.word, By: d.by, Reason: d.reason})
	}
	return err
}

// refuse ends a call that is never sent. The reason may quote the server's schema.
func (r *run) refuse(d decision) (Outcome, error) {
	d.reason = r.g.cleanText(d.reason)
	if err := r.decide(d, ""); err != nil {
		return r.unwritten(err)
	}
	word := d.word
	if d.by == byPerson && word == Withdrawn {
		word = journal.Cancelled // stopped by the person
	}
	return r.end(Outcome{Outcome: word, Effect: journal.EffectNone, Reason: d.reason}, nil)
}

// unwritten ends a call whose record could not be written: no record, no call.
func (r *run) unwritten(err error) (Outcome, error) {
	err = fmt.Errorf("the call of %s was not made because it could not be recorded: %w", r.call.Tool(), err)
	o := Outcome{
		Call: r.call, Decision: Withdrawn, By: byCurrent, Outcome: journal.Withdrawn, Effect: journal.EffectNone,
		Reason: "the journal could not be written",
	}
	if r.entry != nil {
		o.Record = r.entry.Number()
		// The journal keeps an outcome that it cannot write yet and tries again.
		err = errors.Join(err, r.entry.Outcome(r.log, journal.Outcome{Outcome: o.Outcome, Effect: o.Effect, Reason: o.Reason}))
	}
	o.Text = textFor(o)
	r.publish(o)
	return o, err
}

// end writes the outcome and tells it.
func (r *run) end(o Outcome, raw json.RawMessage) (Outcome, error) {
	o.Call, o.Record, o.Decision, o.By, o.Sent = r.call, r.entry.Number(), r.decided.word, r.decided.by, r.sentAt
	if o.Text == "" || o.Outcome != journal.OK {
		o.Text = strings.TrimSpace(textFor(o) + "\n" + o.Text)
	}
	err := r.entry.Outcome(r.log, journal.Outcome{Outcome: o.Outcome, Effect: o.Effect, Reason: o.Reason, Result: raw, Seconds: o.Seconds})
	r.g.outcomeWritten(r.log, r.call.ID())
	r.publish(o)
	if err != nil {
		err = fmt.Errorf("the outcome of the call of %s could not be recorded: %w", r.call.Tool(), err)
		r.g.notice(r.call.Conversation(), "journal", r.call.Server(), err.Error())
	}
	return o, err
}

// retired tells how a call ended that an edited one took the place of.
func (g *Gate) retired(c Call, record int64, reason string) {
	g.o.Bus.Publish(event.Decision{Conversation: c.Conversation(), Call: c.ID(), Decision: Withdrawn, By: byPerson, Reason: reason})
	g.o.Bus.Publish(event.Result{
		Conversation: c.Conversation(), Call: c.ID(), Record: record, Outcome: journal.Withdrawn, Effect: journal.EffectNone, Reason: reason,
	})
}

func (r *run) publish(o Outcome) {
	r.tell()
	r.g.o.Bus.Publish(event.Result{
		Conversation: o.Call.Conversation(), Call: o.Call.ID(), Record: o.Record, Outcome: o.Outcome, Effect: o.Effect,
		Reason: o.Reason, Content: o.Content, Structured: o.Structured, Seconds: o.Seconds,
	})
}

// stoppedBy words the end of the context before anything was sent.
func (r *run) stoppedBy() decision {
	switch cause := context.Cause(r.ctx); {
	case errors.Is(cause, ErrClosed):
		return decision{word: Withdrawn, by: byClosed, reason: "Steward was closed before it was decided"}
	case errors.Is(cause, ErrAbandoned):
		return decision{word: Withdrawn, by: byPerson, reason: "the person went on without deciding"}
	}
	return decision{word: Withdrawn, by: byPerson, reason: "the person stopped it before it was sent"}
}

// allowed sends the call when its turn has come.
func (r *run) allowed(d decision) (Outcome, error) {
	hash := ""
	if d.by == byPerson {
		hash = r.call.Hash()
	}
	if err := r.decide(d, hash); err != nil {
		return r.unwritten(err)
	}
	if r.lim.Lane != nil {
		t := r.lim.Lane.take(r.server, r.g.reads(r.server, r.tool))
		defer t.leave()
		r.settled()
		_ = t.wait(r.ctx) // its end is looked at next
	}
	r.settled()
	if r.ctx.Err() != nil {
		return r.end(Outcome{Outcome: journal.Cancelled, Effect: journal.EffectNone, Reason: r.stoppedBy().reason}, nil)
	}
	_, why, err := r.g.whyNotCurrent(r.log, r.call, r.conn)
	if err != nil {
		return r.unwritten(err)
	}
	if why != "" {
		return r.end(Outcome{Outcome: journal.Withdrawn, Effect: journal.EffectNone, Reason: why}, nil)
	}
	exact := []byte(r.call.Arguments())
	receipt, err := r.entry.Intent(r.log, exact)
	if err != nil {
		return r.unwritten(err)
	}
	r.tell()
	return r.send(exact, receipt)
}

// send spends the receipt in the one function that sends.
func (r *run) send(exact []byte, receipt *journal.Receipt) (Outcome, error) {
	g := r.g
	r.started = g.o.Now() // before others can read it
	g.enter(r)
	defer g.leave(r)
	g.expectLate(r.call.ID(), r.entry)
	res, err := send.Tool(r.ctx, send.Call{
		Conn: r.conn, Owner: r.call.ID(), Tool: r.call.Tool(), Definition: r.call.Definition(), Arguments: exact,
		Timeout: r.lim.Timeout, Max: r.lim.Max,
		Spend: func(b []byte) error {
			if err := receipt.Spend(b); err != nil {
				return err
			}
			r.spent.Store(true)
			return nil
		},
		Sent: func() { r.entry.Sent() }, Attempt: r.attempt, Progress: r.progress,
	})
	if err != nil {
		effect := journal.EffectNone
		if r.spent.Load() {
			effect = journal.EffectUnknown
		}
		res = send.Result{Outcome: journal.Unknown, Effect: effect, Reason: err.Error()}
	}
	if r.spent.Load() {
		r.sentAt = r.started
	}
	return r.received(res)
}

// received takes how the call ended, or that its task was left.
func (r *run) received(res send.Result) (Outcome, error) {
	g := r.g
	r.entry.Frames(frames(res.Frames))
	if res.Outcome == send.Left {
		return r.leftOpen(), nil
	}
	c := g.readContent(res.Content, res.Structured)
	o := Outcome{
		Outcome: res.Outcome, Effect: res.Effect, Reason: g.cleanText(res.Reason), Content: c.blocks,
		Structured: c.structured, Images: c.images, Seconds: g.o.Now().Sub(r.started).Seconds(),
	}
	if res.Outcome == journal.Cancelled && errors.Is(context.Cause(r.ctx), ErrClosed) {
		o.Reason = closedWhileRunning
	}
	if res.Outcome == journal.OK || res.Outcome == journal.ToolError {
		o.Text = c.text
		for _, why := range res.Unfit { // else the model takes for valid what is not
			o.Text += "\n[" + g.line(why) + "]"
		}
	}
	for _, note := range res.Notes {
		o.Notes = append(o.Notes, g.line(note))
		g.notice(r.call.Conversation(), "odd_result", r.call.Server(), g.line(note))
	}
	return r.end(o, res.Raw)
}

func frames(in []mcphost.Frame) []journal.Frame {
	out := make([]journal.Frame, len(in))
	for i, f := range in {
		out[i] = journal.Frame{Time: f.Time, Direction: f.Direction, Bytes: f.Bytes, Length: int64(f.Size), Cut: f.Cut}
	}
	return out
}

func (g *Gate) line(s string) string { return clean.Line(g.o.Redact(s), 500) }

// MostLikelyUnrun says whether the reason of a call with an unknown outcome is that its server
// refused it, so that most likely nothing was done.
func MostLikelyUnrun(reason string) bool { return send.MostLikelyUnrun(reason) }

// closedWhileRunning is why a call ended that was sent and not answered when the program was closed.
const closedWhileRunning = "Steward was closed while it ran"

// textFor tells the model how a call ended that gave no plain result. Every
// ending has a sentence of its own, and each says whether something was done.
func textFor(o Outcome) string {
	because := ""
	if o.Reason != "" {
		because = ": " + strings.TrimSuffix(o.Reason, ".")
	}
	switch {
	case o.Outcome == journal.OK:
		return "(no output)"
	case o.Outcome == journal.ToolError:
		return "The tool reported an error:"
	case o.Outcome == journal.Denied && o.By == byPerson:
		text := "Not executed. The person did not allow this call."
		if o.Reason != "" {
			text += fmt.Sprintf(" The person says: %q", o.Reason)
		}
		return text
	case o.Outcome == journal.Denied:
		return "Not executed. This call was refused" + because + "."
	case o.Outcome == journal.Expired:
		return "Not executed. The request for approval was not answered in time."
	case o.Outcome == journal.Withdrawn:
		return "Not executed. The call was withdrawn" + because + "."
	case o.Outcome == journal.Cancelled && o.Reason == closedWhileRunning:
		return "Steward was closed while this call ran. Whether it had an effect is not known."
	case o.Outcome == journal.Cancelled && o.Effect == journal.EffectNone:
		return "Not executed. The person stopped this call before it was sent."
	case o.Outcome == journal.Cancelled:
		return "The person stopped this call while it ran. Whether it had an effect is not known."
	case o.Outcome == journal.Timeout:
		return "No answer came in time. Whether the call had an effect is not known; do not repeat it without asking the person."
	case o.Outcome == journal.ProtocolError:
		return "The server answered with an error" + because + "."
	}
	if send.MostLikelyUnrun(o.Reason) {
		return "Most likely not executed" + because + ". Whether it had an effect is not certain; do not repeat it without asking the person."
	}
	return "The outcome is not known" + because + ". The call may or may not have had an effect; do not repeat it without asking the person."
}
