package consent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"steward/app/clean"
	"steward/app/event"
	"steward/app/journal"
	"steward/mcphost"
)

// How a sampling request ended, in the contract's words.
const (
	sampleSent    = "sent"
	sampleDenied  = "denied"
	sampleExpired = "expired"
	sampleFailed  = "failed"
)

// Sample answers a server that asks for the model (sampling/createMessage):
// refused unless the server may ask at all, within limits, shown to the person
// before the model sees it and before the server sees the answer. The request
// never becomes part of a conversation. It implements mcphost.Asker.
func (g *Gate) Sample(ctx context.Context, r mcphost.SamplingRequest) (mcphost.SamplingAnswer, error) {
	o := g.origin(r.Server, r.Calls)
	s := &sampling{g: g, ctx: ctx, log: context.WithoutCancel(ctx), o: o, req: g.cleanRequest(r), wanted: r.MaxTokens, started: g.o.Now()}
	s.limits = g.samplingLimits(r.Server)
	if s.req.MaxTokens <= 0 || s.req.MaxTokens > s.limits.MaxTokens {
		s.req.MaxTokens = s.limits.MaxTokens
	}
	args, err := s.arguments()
	if err != nil {
		return mcphost.SamplingAnswer{}, err
	}
	s.entry, err = g.o.Journal.Propose(s.log, o.proposal(journal.KindSampling, args, nil))
	if err != nil {
		return mcphost.SamplingAnswer{}, fmt.Errorf("the request cannot be recorded: %w", err)
	}
	return s.run()
}

// cleanRequest cleans what the server wrote, so that the person and the model get
// the same text; the record keeps the original.
func (g *Gate) cleanRequest(r mcphost.SamplingRequest) mcphost.SamplingRequest {
	r.System = g.cleanText(r.System)
	messages := make([]mcphost.SamplingMessage, len(r.Messages))
	for i, m := range r.Messages {
		messages[i] = mcphost.SamplingMessage{Role: m.Role, Content: g.cleanBlocks(m.Content)}
	}
	r.Messages = messages
	r.Tools = g.cleanTools(r.Tools)
	return r
}

// sampling is one request to the model on its way; it belongs to the goroutine in
// Sample.
type sampling struct {
	g       *Gate
	ctx     context.Context
	log     context.Context
	o       origin
	req     mcphost.SamplingRequest
	wanted  int
	limits  SamplingLimits
	target  Target
	entry   *journal.Entry
	decided bool   // the request itself was allowed
	trusted bool   // sent without asking
	system  bool   // the person changed the system prompt
	edited  bool   // the person changed the request
	text    bool   // the person changed the answer
	before  string // that change
	started time.Time
}

func (s *sampling) run() (mcphost.SamplingAnswer, error) {
	if why := s.refusal(); why != "" {
		return s.refuse(decision{word: Denied, by: byFlag, reason: why})
	}
	counted := s.alone()
	defer counted()
	used, err := s.g.sampledThisHour(s.log, s.o.server, s.entry.Number())
	switch {
	case err != nil:
		return s.fail(err)
	case used.requests >= s.limits.PerHour:
		return s.refuse(decision{word: Denied, by: byLimit, reason: fmt.Sprintf("the server may ask for the model %d times an hour, and has done so", s.limits.PerHour)})
	}
	if s.g.o.Target != nil {
		s.target = s.g.o.Target(s.ctx, s.o.conversation, s.req)
	}
	if err := s.trust(); err != nil {
		return s.fail(err)
	}
	if !s.trusted {
		d, err := s.approve(KindSampling, nil, used)
		if err != nil || d.word != Allowed {
			return s.refuse(d, err)
		}
		if err := s.decide(d); err != nil {
			return s.fail(err)
		}
		if err := s.intend(); err != nil {
			return s.fail(err)
		}
	}
	counted()
	answer, err := s.g.o.Sample(s.ctx, s.o.conversation, s.target, s.entry.Number(), s.req)
	if err != nil {
		return s.fail(err)
	}
	return s.give(answer, used)
}

// alone lets requests that nobody is asked about be counted one after another, until the returned function is called: as
// in trust, so that no two pass on the same count.
func (s *sampling) alone() (over func()) {
	if s.g.o.Policy.Sampling != Allow {
		return func() {}
	}
	s.g.trusting.Lock()
	return sync.OnceFunc(s.g.trusting.Unlock)
}

// give sends the model's answer to the server, once it was allowed.
func (s *sampling) give(answer mcphost.SamplingAnswer, used sampleUse) (mcphost.SamplingAnswer, error) {
	s.trusted = s.trusted && s.g.samplingLimits(s.o.server).Trusted > 0 // else it was taken back meanwhile
	if !s.trusted {
		d, err := s.approve(KindSamplingAnswer, &answer, used)
		if err != nil || d.word != Allowed {
			return s.refuse(d, err)
		}
	}
	raw, err := s.result(answer)
	if err != nil {
		return s.fail(err)
	}
	if err := s.end(journal.Outcome{Outcome: journal.OK, Effect: journal.EffectDone, Result: raw}, sampleSent); err != nil {
		return mcphost.SamplingAnswer{}, fmt.Errorf("the answer is not sent because it cannot be recorded: %w", err)
	}
	return answer, nil
}

// decide records the decision on the request, with what the person saw.
func (s *sampling) decide(d decision) error {
	shown := ""
	if d.by == byPerson && d.word == Allowed {
		shown = s.hash(nil)
	}
	s.decided = true
	return s.entry.Decided(s.log, journal.Decision{Decision: d.word, By: d.by, Reason: d.reason, ShownHash: shown})
}

// result is what was sent, as it stands in the record: the answer and, where the
// person changed them, the system prompt that the model got and what it had answered.
// All that the model got stands with the intent.
func (s *sampling) result(a mcphost.SamplingAnswer) (json.RawMessage, error) {
	out := map[string]any{"model": a.Model, "text": a.Text, "stopReason": a.StopReason, "edited": s.changed()}
	if s.system {
		out["systemPrompt"] = s.req.System
	}
	if s.text {
		out["answered"] = s.before
	}
	if len(a.Calls) > 0 {
		out["calls"] = recordedCalls(a.Calls)
	}
	text, err := encode(out)
	return json.RawMessage(text), err
}

// refusal says why a request is refused before anybody is asked.
func (s *sampling) refusal() string {
	g := s.g
	switch {
	case s.req.Undeclared || g.o.Sample == nil || g.o.Sampling == nil || !g.o.Sampling(s.o.server):
		return "this server may not ask for the model"
	case g.o.Policy.Sampling == Deny:
		return "requests to the model are refused by the settings"
	case g.muted(s.o):
		return "the person has refused this server twice in this turn"
	case !g.sampled(s.o):
		return fmt.Sprintf("the server has asked for the model more than %d times during one call", g.o.MaxSamples)
	}
	return ""
}

// changed tells whether the person changed anything on the way.
func (s *sampling) changed() bool { return s.system || s.edited || s.text }

// approve asks the person about the request or, with an answer, about that.
func (s *sampling) approve(kind string, answer *mcphost.SamplingAnswer, used sampleUse) (decision, error) {
	if s.g.o.Policy.Sampling == Allow {
		return decision{word: Allowed, by: byFlag}, nil
	}
	hash := s.hash(answer)
	if err := s.entry.Shown(s.log, hash); err != nil {
		return decision{}, err
	}
	item := Item{
		ID: newID("s_"), Kind: kind, Hash: hash, Conversation: s.o.conversation, Server: s.o.server,
		Record: s.entry.Number(), Since: s.g.o.Now(), Running: s.o.running,
	}
	item.Sampling, item.Presentation = s.present(answer)
	item.Sampling.Used = used.requests
	messages := len(s.req.Messages)
	a, d := s.g.wait(s.ctx, s.o, &item, func(a Answer) error { return checkSampling(a, kind, messages) })
	if d.word != "" {
		return d, nil
	}
	if err := s.state(a.Limits); err != nil {
		return decision{}, err
	}
	if a.Action != Send && a.Action != Allow {
		s.g.declined(s.o)
		return decision{word: Denied, by: byPerson, reason: clean.Clean(a.Reason)}, nil
	}
	if answer == nil {
		if err := s.edit(a); err != nil {
			return decision{}, err
		}
	} else if a.Text != nil && *a.Text != answer.Text {
		s.before, s.text = answer.Text, true
		answer.Text = *a.Text
	}
	if now := s.hash(answer); now != hash {
		// The person who edited has seen the new text, so the decision stands for it.
		return decision{word: Allowed, by: byPerson}, s.entry.Shown(s.log, now)
	}
	return decision{word: Allowed, by: byPerson}, nil
}

// wait puts an item into the list until it is answered; otherwise the decision
// says what ended the waiting.
func (g *Gate) wait(ctx context.Context, o origin, item *Item, check func(Answer) error) (Answer, decision) {
	expiry, stop := g.expiry(item)
	defer stop()
	w := g.waiting.add(*item, check)
	var d decision
	var why string
	select {
	case a := <-w.answered:
		return a, decision{}
	case <-expiry:
		d, why = decision{word: Expired, by: byExpiry, reason: "nobody answered in time"}, goneExpired
	case <-ctx.Done():
		if o.over == nil {
			o.over = o.givenUp
		}
		d, why = o.over(ctx)
	}
	if a, ok := g.waiting.leave(w, why, d.reason); ok && ctx.Err() == nil {
		return a, decision{}
	}
	return Answer{}, d
}

// givenUp says why a question of a server ends whose context has ended, and in which word
// of the waiting list.
func (o origin) givenUp(ctx context.Context) (d decision, why string) {
	d, why = decision{word: Withdrawn, by: byCurrent}, goneWithdrawn
	cause := context.Cause(ctx)
	if !errors.Is(cause, mcphost.ErrTakenBack) {
		for _, call := range o.calls { // the person, or the program's end, came before all that follows from it
			if c := context.Cause(call); c != nil && !errors.Is(c, errEnded) {
				cause = c
			}
		}
	}
	switch {
	case finished(ctx):
		d.reason, why = "the server says that it is done", goneAnswered
	case errors.Is(cause, mcphost.ErrTakenBack):
		d.reason = "the server took it back"
	case errors.Is(cause, mcphost.ErrSessionOver):
		d.reason = fmt.Sprintf("the server %s is no longer running", o.server)
	case errors.Is(cause, mcphost.ErrCallOver):
		d.reason = "the call that it belonged to has ended"
	case errors.Is(cause, ErrClosed):
		d.by, d.reason = byClosed, "Steward was closed before it was decided"
	default:
		d.by, d.reason, why = byPerson, "the call that it belonged to was stopped", goneCancelled
	}
	return d, why
}

// refuse ends a request that is not sent, and gives the server a proper error.
func (s *sampling) refuse(d decision, errs ...error) (mcphost.SamplingAnswer, error) {
	if err := errors.Join(errs...); err != nil {
		return s.fail(err)
	}
	if !s.decided { // else it is the model's answer that was refused: the outcome says so
		if err := s.decide(d); err != nil {
			return s.fail(err)
		}
	}
	o := journal.Outcome{Outcome: d.word, Effect: journal.EffectNone, Reason: d.reason}
	action := sampleDenied
	switch d.word {
	case Expired:
		action = sampleExpired
	case Withdrawn:
		action = sampleFailed
	}
	if err := s.end(o, action); err != nil {
		s.g.notice(s.o.conversation, "journal", s.o.server, "The end of a request to the model could not be recorded: "+err.Error())
	}
	return mcphost.SamplingAnswer{}, fmt.Errorf("%w: the request was not allowed", mcphost.ErrNotAllowed)
}

// fail ends a request that the model or the journal failed, or that was given up
// while the model answered.
func (s *sampling) fail(cause error) (mcphost.SamplingAnswer, error) {
	if s.ctx.Err() != nil {
		err := s.end(journal.Outcome{Outcome: journal.Cancelled, Effect: journal.EffectUnknown, Reason: s.reasonOver()}, sampleFailed)
		return mcphost.SamplingAnswer{}, errors.Join(s.ctx.Err(), err)
	}
	err := s.end(journal.Outcome{Outcome: journal.ProtocolError, Effect: journal.EffectUnknown, Reason: s.g.line(cause.Error())}, sampleFailed)
	s.g.notice(s.o.conversation, "sampling", s.o.server, "A request to the model for the server "+s.o.server+" failed: "+s.g.line(errors.Join(cause, err).Error()))
	return mcphost.SamplingAnswer{}, errors.New("the model could not answer the request")
}

func (s *sampling) reasonOver() string {
	d, _ := s.o.givenUp(s.ctx)
	return d.reason
}

func (s *sampling) end(o journal.Outcome, action string) error {
	o.Seconds = s.g.o.Now().Sub(s.started).Seconds()
	err := s.entry.Outcome(s.log, o)
	if err != nil && action == sampleSent {
		action = sampleFailed // what cannot be recorded is not sent
	}
	s.g.o.Bus.Publish(event.Sampling{
		Conversation: s.o.conversation, Call: s.o.call, Record: s.entry.Number(), Server: s.o.server, Action: action, Edited: s.changed(),
	})
	return err
}

// arguments is the request as it stands in the record.
func (s *sampling) arguments() (string, error) {
	if raw, err := compactObject(string(s.req.Raw)); err == nil && len(s.req.Raw) > 0 {
		return raw, nil
	}
	return encode(map[string]any{"systemPrompt": s.req.System, "messages": s.req.Messages, "maxTokens": s.wanted})
}

func encode(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", fmt.Errorf("the request cannot be written as JSON: %w", err)
	}
	return string(bytes.TrimSpace(b.Bytes())), nil
}
