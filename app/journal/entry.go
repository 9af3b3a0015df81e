package journal

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
)

// Entry is a record that is being written. Its steps may be called from any
// goroutine; they are refused where they do not fit what was recorded before.
type Entry struct {
	j        *Journal
	n        int64
	kind     Kind
	proposed string // the arguments as proposed

	conversation string

	mu       sync.Mutex
	decision string
	intended bool
	ended    bool
}

// Propose begins a record and fixes its number. It is on the disk with the
// next durable step.
func (j *Journal) Propose(ctx context.Context, p Proposal) (*Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d, err := j.firstDraft(evProposed, p, nil)
	if err != nil {
		return nil, err
	}
	n, err := j.pushFirst(&item{draft: d})
	if err != nil {
		return nil, fmt.Errorf("recording a proposal: %w", err)
	}
	return &Entry{j: j, n: n, kind: p.Kind, proposed: p.Arguments, conversation: p.Conversation}, nil
}

// Note records a single event that is over already: a server start, a grant, a
// reviewed definition, a setting. It is on the disk within a moment, or with
// the next durable step. Outcome "" is OK.
func (j *Journal) Note(ctx context.Context, p Proposal, o Outcome) (int64, error) {
	return j.note(ctx, p, o, false)
}

// NoteNow is Note that returns when the event is on the disk: for what may run from then on
// without a person being asked, so that no yes stands without its record. An error says that
// it is not there.
func (j *Journal) NoteNow(ctx context.Context, p Proposal, o Outcome) (int64, error) {
	return j.note(ctx, p, o, true)
}

func (j *Journal) note(ctx context.Context, p Proposal, o Outcome, durable bool) (int64, error) {
	if o.Outcome == "" {
		o.Outcome = OK
	}
	d, err := j.firstDraft(string(p.Kind), p, &o)
	if err != nil {
		return 0, err
	}
	it := &item{draft: d, timed: true}
	if durable {
		it.done = make(chan error, 1)
	}
	n, err := j.pushFirst(it)
	if err != nil {
		return 0, fmt.Errorf("recording %s: %w", p.Kind, err)
	}
	if durable {
		err = j.wait(ctx, it)
	}
	return n, err
}

// firstDraft prepares the first event of a record, with its end where it is
// the only one.
func (j *Journal) firstDraft(event string, p Proposal, o *Outcome) (draft, error) {
	if !knownKind(p.Kind) {
		return draft{}, fmt.Errorf("recording a proposal: there is no kind %q", p.Kind)
	}
	m := meta{Kind: p.Kind, Parent: p.Parent}
	m.Conversation, m.Server, m.Tool = j.short(p.Conversation, &m), j.short(p.Server, &m), j.short(p.Tool, &m)
	m.Model, m.Definition = j.short(p.Model, &m), j.short(p.Definition, &m)
	var c content
	if p.Arguments != "" {
		c.Arguments = j.keep([]byte(p.Arguments), &m)
	}
	var err error
	if c.Detail, err = j.detail(p.Detail, &m); err != nil {
		return draft{}, fmt.Errorf("recording a proposal: %w", err)
	}
	words := m.Server + "\n" + m.Tool + "\n" + findable(argumentsOf(c)) + "\n"
	if p.Kind == KindModel { // what was asked and answered stands in its detail
		words += findable(string(c.Detail))
	}
	if o != nil {
		more, err := j.outcome(*o, p.Kind, true, &m, &c)
		if err != nil {
			return draft{}, err
		}
		words += more
	}
	d, err := j.draft(0, event, m, &c)
	d.arguments, d.words = argumentsOf(c), words
	return d, err
}

// outcome checks an outcome, fills meta and content with it, and gives its words.
func (j *Journal) outcome(o Outcome, kind Kind, intended bool, m *meta, c *content) (string, error) {
	known := effectOf(o.Outcome, intended)
	if known == "" {
		return "", fmt.Errorf("recording an outcome: there is no outcome %q", o.Outcome)
	}
	switch o.Effect {
	case "":
		o.Effect = known
	case EffectDone, EffectNone, EffectUnknown:
	default:
		return "", fmt.Errorf("recording an outcome: there is no effect %q", o.Effect)
	}
	if known == EffectNone && o.Effect != EffectNone {
		return "", fmt.Errorf("recording an outcome: %s means that nothing was sent, so its effect cannot be %s", o.Outcome, o.Effect)
	}
	if kind == KindCall && !intended && o.Effect != EffectNone {
		return "", fmt.Errorf("%w: a call cannot end as %s with effect %s when nothing was to be sent", ErrState, o.Outcome, o.Effect)
	}
	// Milliseconds are what a person and a script are shown everywhere else.
	m.Outcome, m.Effect, m.Seconds = o.Outcome, o.Effect, math.Round(o.Seconds*1000)/1000
	if math.IsNaN(o.Seconds) || math.IsInf(o.Seconds, 0) || o.Seconds < 0 {
		m.Seconds = 0 // a clock went back; JSON has no such number either
	}
	c.Reason = j.short(o.Reason, m)
	words := c.Reason + "\n"
	if len(o.Result) > 0 {
		c.Result = j.keep(o.Result, m)
		words += findable(c.Result.Text)
	}
	return words, nil
}

// Number is the record's number, fixed since Propose.
func (e *Entry) Number() int64 { return e.n }

// Shown records, durably, the hash of what a person is about to see. Of a request to
// the model it may come again after the intent: the model's answer is looked at as well.
func (e *Entry) Shown(ctx context.Context, hash string) error {
	return e.step(ctx, func() (*item, error) {
		if e.ended || e.intended && e.kind != KindSampling {
			return nil, e.misfit("shown")
		}
		d, err := e.j.draft(e.n, evShown, meta{Shown: hash}, nil)
		return &item{draft: d}, err
	})
}

// step takes its place in the queue under the entry's lock, and waits for the
// disk outside it.
func (e *Entry) step(ctx context.Context, prepare func() (*item, error)) error {
	e.mu.Lock()
	it, err := prepare()
	if err == nil {
		err = e.j.ask(ctx, it)
	}
	e.mu.Unlock()
	if err != nil {
		return err
	}
	return e.j.wait(ctx, it)
}

// Decided records who answered what. It is on the disk together with the
// intent or the outcome.
func (e *Entry) Decided(_ context.Context, d Decision) error {
	switch d.Decision {
	case Allowed, Denied, Expired, Withdrawn:
	default:
		return fmt.Errorf("recording a decision: there is no decision %q", d.Decision)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended || e.intended || e.decision != "" {
		return e.misfit("decided")
	}
	m := meta{Decision: d.Decision, Shown: d.ShownHash}
	m.By, m.Scope = e.j.short(d.By, &m), e.j.short(d.Scope, &m)
	c := content{Reason: e.j.short(d.Reason, &m)}
	dr, err := e.j.draft(e.n, evDecided, m, &c)
	if err != nil {
		return err
	}
	if err := e.j.push(&item{draft: dr}); err != nil {
		return fmt.Errorf("recording a decision: %w", err)
	}
	e.decision = d.Decision
	return nil
}

// Intent records, durably, that exact is about to be sent, and gives the
// receipt without which nothing is. After an error nothing was recorded and
// nothing may be sent. A call needs the decision Allowed before it. Nothing is
// intended while an earlier outcome waits to be written.
func (e *Entry) Intent(ctx context.Context, exact []byte) (*Receipt, error) {
	mine := false // intended is this call's, to be taken back where it cannot be written
	err := e.step(ctx, func() (*item, error) {
		if e.ended || e.intended || (e.decision != Allowed && (e.decision != "" || e.kind == KindCall)) {
			return nil, e.misfit("intent")
		}
		if degraded := e.j.trouble(); degraded != nil {
			return nil, degraded
		}
		m := meta{Same: string(exact) == e.proposed && len(exact) > 0}
		var c content
		if !m.Same {
			c.Exact = e.j.keep(exact, &m)
		}
		d, err := e.j.draft(e.n, evIntent, m, &c)
		if err != nil {
			return nil, err
		}
		e.intended, mine = true, true
		return &item{draft: d}, nil
	})
	if errors.Is(err, ErrState) {
		return nil, err
	}
	if err != nil {
		if mine {
			e.mu.Lock()
			e.intended = false
			e.mu.Unlock()
		}
		return nil, fmt.Errorf("nothing is sent, because it could not be recorded: %w", err)
	}
	return &Receipt{sum: sha256.Sum256(exact)}, nil
}

// trouble is why nothing may be intended now.
func (j *Journal) trouble() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.degraded
}

// Sent records that the first bytes went out. It waits for nothing.
func (e *Entry) Sent() {
	e.queue(evSent, meta{}, nil, func() bool { return e.intended && !e.ended })
}

// Attempt records, durably, a further round of the same call that the protocol
// demands, such as a sign-in.
func (e *Entry) Attempt(ctx context.Context, what string, detail any) error {
	return e.step(ctx, func() (*item, error) {
		if !e.intended || e.ended {
			return nil, e.misfit("attempt")
		}
		var m meta
		m.What = e.j.short(what, &m)
		text, err := e.j.detail(detail, &m)
		if err != nil {
			return nil, fmt.Errorf("recording an attempt: %w", err)
		}
		d, err := e.j.draft(e.n, evAttempt, m, &content{Detail: text})
		return &item{draft: d}, err
	})
}

// Outcome records, durably, how it ended; exactly one per record. It is
// written even where ctx has ended. An error with ErrDegraded says that the
// outcome is kept and tried again; any other that it was not accepted.
func (e *Entry) Outcome(ctx context.Context, o Outcome) error {
	err := e.step(ctx, func() (*item, error) {
		if e.ended {
			return nil, e.misfit("outcome")
		}
		var m meta
		var c content
		words, err := e.j.outcome(o, e.kind, e.intended, &m, &c)
		if err != nil {
			return nil, err
		}
		d, err := e.j.draft(e.n, evOutcome, m, &c)
		d.words = words
		e.ended = err == nil
		return &item{draft: d, keep: true}, err
	})
	if errors.Is(err, ErrClosed) || errors.Is(err, ErrBroken) {
		return fmt.Errorf("the outcome of record %d was not recorded: %w", e.n, err)
	}
	return err
}

// Late records an answer that came after the outcome; it changes nothing.
func (e *Entry) Late(ctx context.Context, raw []byte) error {
	return e.step(ctx, func() (*item, error) {
		if !e.ended {
			return nil, e.misfit("late")
		}
		var m meta
		c := content{Result: e.j.keep(raw, &m)}
		d, err := e.j.draft(e.n, evLate, m, &c)
		return &item{draft: d}, err
	})
}

// Frames keeps what went over the wire with the record, secrets replaced and
// cut to size. They are on the disk with the next durable step.
func (e *Entry) Frames(all []Frame) {
	if len(all) == 0 {
		return
	}
	var m meta
	kept := e.j.frames(all, &m)
	e.queue(evFrames, m, &content{Frames: kept}, func() bool { return true })
}

// queue adds an event for which nobody waits, if fits says so under the lock; a failure
// is told to the owner.
func (e *Entry) queue(kind string, m meta, c *content, fits func() bool) {
	d, err := e.j.draft(e.n, kind, m, c)
	if err == nil {
		e.mu.Lock()
		if fits() {
			err = e.j.push(&item{draft: d, timed: e.ended})
		}
		e.mu.Unlock()
	}
	if err != nil {
		e.j.tell(fmt.Errorf("recording %s of record %d: %w", kind, e.n, err))
	}
}

func (e *Entry) misfit(step string) error {
	return fmt.Errorf("%w: record %d cannot take %s now", ErrState, e.n, step)
}

// Receipt is the proof that an intent is on the disk. It is good for one
// sending of the bytes that were recorded.
type Receipt struct {
	sum   [sha256.Size]byte
	spent atomic.Bool
}

// Errors of Spend.
var (
	ErrSpent      = errors.New("the receipt has been spent; nothing is sent twice")
	ErrOtherBytes = errors.New("the bytes to be sent are not those that were recorded; nothing is sent")
)

// Spend uses the receipt up, whatever it answers. Only a nil error permits
// sending, and only exact.
func (r *Receipt) Spend(exact []byte) error {
	if r == nil {
		return errors.New("there is no receipt; nothing is sent")
	}
	if !r.spent.CompareAndSwap(false, true) {
		return ErrSpent
	}
	sum := sha256.Sum256(exact)
	if subtle.ConstantTimeCompare(sum[:], r.sum[:]) != 1 {
		return ErrOtherBytes
	}
	return nil
}

// resultOf turns a kept result back into JSON: as it is where it is whole and
// valid, else as a string.
func resultOf(k *kept) (json.RawMessage, error) {
	if k == nil {
		return nil, nil
	}
	if !k.Cut && json.Valid([]byte(k.Text)) {
		return json.RawMessage(k.Text), nil
	}
	return encode(k.Text)
}
