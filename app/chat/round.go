package chat

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"steward/app/clean"
	"steward/app/consent"
	"steward/llm"
	"steward/mcphost"
	"steward/storage"
)

// maxCalls is how many calls of one answer may run; the others are answered and recorded
// as not executed.
const maxCalls = 64

// pending is one call of an answer on its way to its stored result.
type pending struct {
	stored  storedCall
	call    consent.Call
	conn    *mcphost.Connection
	refusal string // not run: what the model is told
	unknown bool   // names no tool
	beyond  bool   // more calls than one answer may hold; told once for all
	outcome consent.Outcome
	edited  string // of a call that is taken up again: the arguments that were sent
	note    string // what the model is told beside the result
	err     error
}

// round takes every call of an answer to its result and stores both. An ending ends
// the turn.
func (t *turn) round(answer llm.Answer, o offers) *ending {
	calls := t.prepare(answer.Calls, o)
	if end := t.storeCalls(calls); end != nil {
		return end
	}
	over := t.atLimit(calls)
	if n := len(calls) - maxCalls; n > 0 {
		t.e.notice(t.conv.ID, "call_refused", "", fmt.Sprintf("The model made %d calls in one answer; at most %d may run, so %d are not executed.", len(calls), maxCalls, n))
	}
	t.execute(calls)
	var failed []error
	broken := true
	for _, p := range calls {
		if p.err != nil {
			failed = append(failed, p.err)
		}
		if p.refusal == "" || p.unknown {
			broken = false
		}
	}
	switch {
	case t.ctx.Err() != nil:
		end := t.stopped()
		return &end
	case len(failed) > 0:
		return &ending{state: Failed, err: t.sentence(errors.Join(failed...))}
	case over != "":
		return &ending{state: Stopped, err: over}
	}
	if !broken {
		t.broken = 0
		return nil
	}
	if t.broken++; t.broken > maxBroken {
		return &ending{state: Failed, err: fmt.Sprintf("the model made %d answers in a row whose tool calls could not be read", t.broken)}
	}
	return nil
}

// prepare gives every call its own id and finds what it names.
func (t *turn) prepare(in []llm.ToolCall, o offers) []*pending {
	out := make([]*pending, 0, len(in))
	for i, c := range in {
		p := &pending{stored: storedCall{ID: newID("k_"), Wire: c.ID, Name: c.Name, Arguments: c.Arguments, Extra: t.e.vendors(c.Extra)}}
		out = append(out, p)
		found, ok := o.by[c.Name]
		switch {
		case i >= maxCalls:
			p.refusal = fmt.Sprintf("Not executed: more than %d calls in one answer.", maxCalls)
			p.beyond = true
			continue
		case c.Problem != "":
			p.refusal = "Not executed: " + c.Problem
			p.stored.Problem, p.stored.Raw = c.Problem, t.asItCame(c.Raw)
			continue
		case !ok:
			p.unknown = true
			p.stored.Server, p.stored.Tool, p.refusal = t.notOffered(c.Name, o)
			continue
		}
		call, err := consent.NewCall(consent.CallSpec{
			Conversation: t.conv.ID, Turn: t.id, Server: found.conn.Server(), ServerHash: found.conn.Config().Hash,
			Tool: found.tool.Name, Definition: found.tool.Definition, Arguments: c.Arguments, Model: t.model,
			Position: i + 1, Of: len(in), After: slices.Clone(t.read),
		})
		if err != nil {
			p.refusal = "Not executed: " + err.Error() + "."
			p.stored.Arguments, p.stored.Problem, p.stored.Raw = "", err.Error(), t.asItCame(c.Raw)
			continue
		}
		p.call, p.conn = call, found.conn
		p.stored.ID, p.stored.Server, p.stored.Tool, p.stored.Arguments = call.ID(), call.Server(), call.Tool(), call.Arguments()
	}
	return out
}

// asItCame is what is kept of arguments that cannot be read. Secrets are taken out before it
// is shortened, which could leave half of one.
func (t *turn) asItCame(raw string) string { return Shorten(t.e.o.Redact(raw), 64<<10) }

// storeCalls puts the calls into the answer they belong to. The row is committed
// together with the first intent, or soon after.
func (t *turn) storeCalls(calls []*pending) *ending {
	stored := make([]storedCall, len(calls))
	for i, p := range calls {
		stored[i] = p.stored
	}
	msg := &t.messages[len(t.messages)-1]
	var err error
	if msg.Calls, err = encode(stored); err != nil {
		return &ending{state: Failed, err: err.Error()}
	}
	for i := range stored {
		stored[i].Arguments = t.e.o.Known.RedactJSON(stored[i].Arguments)
	}
	row := *msg // what the record keeps is stored; this turn goes on with what the model wrote
	if row.Calls, err = encode(stored); err != nil {
		return &ending{state: Failed, err: err.Error()}
	}
	t.e.o.Store.Later(func(tx *storage.Tx) error { return t.put(tx, row) })
	t.stored(row)
	return nil
}

// execute runs the calls. All wait for their decisions at the same time and each
// is decided by itself; those that are allowed run as their lane says, in the order
// of the decisions, which for calls that need no person is the model's order.
func (t *turn) execute(calls []*pending) {
	lane := &consent.Lane{}
	var all sync.WaitGroup
	for _, p := range calls {
		if p.refusal != "" {
			t.refuse(p)
			continue
		}
		settled := make(chan struct{})
		all.Go(func() {
			p.outcome, p.err = t.e.o.Gate.Run(t.ctx, p.call, p.conn, consent.Limits{
				Timeout: t.in.ToolTimeout, Max: t.in.MaxTimeout, Lane: lane, Settled: func() { close(settled) },
			})
			t.storeResult(p)
		})
		<-settled
	}
	all.Wait()
	for _, p := range calls {
		if p.note = t.repeated(p); p.note != "" {
			t.storeResult(p)
		}
		t.messages = append(t.messages, t.resultRow(p))
		if p.refusal == "" && !p.outcome.Sent.IsZero() && !slices.Contains(t.read, p.call.Server()) {
			t.read = append(t.read, p.call.Server())
		}
	}
}

// refuse answers a call that cannot run, and records it.
func (t *turn) refuse(p *pending) {
	p.err = t.e.o.Gate.Refuse(t.log, t.conv.ID, p.stored.Server, cmp.Or(p.stored.Tool, p.stored.Name), p.stored.Arguments, t.model, p.refusal)
	if !p.beyond {
		t.e.notice(t.conv.ID, "call_refused", p.stored.Server, clean.Clean(fmt.Sprintf("A call of %s was not executed: %s", p.stored.Name, strings.TrimPrefix(p.refusal, "Not executed: "))))
	}
	t.storeResult(p)
}

func (t *turn) storeResult(p *pending) {
	row := t.resultRow(p)
	t.e.o.Store.Later(func(tx *storage.Tx) error { return tx.PutMessage(row) })
	t.stored(row)
}

// resultRow is the stored answer to a call, under our own id of it.
func (t *turn) resultRow(p *pending) storage.Message {
	m := storage.Message{
		ID: ResultID(p.stored.ID, ""), Conversation: t.conv.ID, Role: storage.RoleTool, State: storage.StateComplete,
		CallID: p.stored.ID, Text: p.refusal, Time: t.e.o.Now().UTC(),
	}
	meta := storedMeta{Server: p.stored.Server, Tool: p.stored.Tool, Note: p.note}
	if p.refusal == "" {
		o := p.outcome
		m.Text = o.Text
		meta.Record, meta.Outcome, meta.Effect, meta.Reason = o.Record, o.Outcome, o.Effect, o.Reason
		switch {
		case p.call.ID() == "": // taken up again
			meta.Edited = p.edited
		case o.Call.Arguments() != p.call.Arguments():
			meta.Edited = t.e.o.Known.RedactJSON(o.Call.Arguments())
		}
		meta.Images = storedImages(o.Images)
	}
	raw, err := encode(meta)
	if err != nil {
		t.e.notice(t.conv.ID, "storage", "", err.Error())
	}
	m.Meta = raw
	return m
}

func storedImages(in []consent.Image) (out []storedImage) {
	for _, img := range in {
		out = append(out, storedImage{MIMEType: img.MIMEType, Data: img.Data})
	}
	return out
}
