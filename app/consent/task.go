package consent

import (
	"context"
	"errors"
	"fmt"

	"steward/app/event"
	"steward/app/journal"
	"steward/mcphost"
	"steward/mcphost/send"
)

// A call that its server works on as a task outlives the program: its record stays
// open when that ends, and Resume goes on with it at a later start.

// TextRunning is what the model is told of such a call meanwhile.
const TextRunning = "The server works on this call as a task, which is not finished yet. Its result will stand here when it is; do not repeat the call."

// attempt records a further step of the call, among them that there is a task.
func (r *run) attempt(ctx context.Context, what string, detail any) error {
	if err := r.entry.Attempt(ctx, what, detail); err != nil {
		return err
	}
	if what == journal.AttemptTask {
		r.asTask()
	}
	return nil
}

// asTask notes and tells that the call goes on as a task.
func (r *run) asTask() {
	p := event.Progress{Conversation: r.call.Conversation(), Call: r.call.ID(), Task: true}
	r.g.progressed(r, p)
	r.g.o.Bus.Publish(p)
}

func (r *run) progress(done, total float64, message string) {
	g := r.g
	g.mu.Lock()
	task := r.last != nil && r.last.Task
	g.mu.Unlock()
	p := event.Progress{Conversation: r.call.Conversation(), Call: r.call.ID(), Progress: done, Total: total, Message: g.line(message), Task: task}
	g.progressed(r, p)
	g.o.Bus.Publish(p)
}

// leftOpen is a call whose record stays open, because its task is followed on later.
func (r *run) leftOpen() Outcome {
	r.tell()
	return Outcome{
		Call: r.call, Record: r.entry.Number(), Decision: r.decided.word, By: r.decided.by, Outcome: journal.Running,
		Effect: journal.EffectUnknown, Text: TextRunning, Sent: r.sentAt, Seconds: r.g.o.Now().Sub(r.started).Seconds(),
	}
}

// Resume goes on with a call that its server works on as a task, from the record that
// the last end of the program left open. Nothing is sent again. seen, where not nil, is
// called when the server has said that the task is not finished. It returns as Run does,
// with the outcome journal.Running where the record stays open once more.
func (g *Gate) Resume(ctx context.Context, t journal.OpenTask, conn *mcphost.Connection, lim Limits, seen func()) (o Outcome, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(errEnded)
	r := g.resumed(ctx, t, conn)
	r.stop, r.lim = stop, lim
	defer func() {
		if p := recover(); p != nil {
			o, err = r.broken(p)
		}
	}()
	defer g.stoppable(r.call.ID(), stop)()
	if t.Edits != "" { // a card knows it by the call that the model made
		defer g.stoppable(t.Edits, stop)()
	}
	g.enter(r)
	defer g.leave(r)
	r.asTask()
	g.expectLate(r.call.ID(), r.entry)
	res, err := send.Follow(r.ctx, send.Call{
		Conn: conn, Owner: r.call.ID(), Tool: t.Tool, Definition: t.Definition, Timeout: lim.Timeout, Max: lim.Max,
		Attempt: r.attempt, Progress: r.progress, Seen: seen,
	}, t.Task)
	if err != nil {
		res = send.Result{Outcome: journal.Unknown, Effect: journal.EffectUnknown, Reason: err.Error()}
	}
	return r.received(res)
}

// Lose ends the record of a call whose task is not followed on: outcome is journal.Unknown
// or journal.Cancelled, why a sentence.
func (g *Gate) Lose(ctx context.Context, t journal.OpenTask, outcome, why string) (Outcome, error) {
	r := g.resumed(ctx, t, nil)
	o, err := r.end(Outcome{
		Outcome: outcome, Effect: journal.EffectUnknown, Reason: g.cleanText(why), Seconds: g.o.Now().Sub(r.started).Seconds(),
	}, nil)
	if err != nil {
		err = errors.Join(fmt.Errorf("the task of record %d is lost", t.Record.Record), err)
	}
	return o, err
}

// resumed is the call as it was when the program ended.
func (g *Gate) resumed(ctx context.Context, t journal.OpenTask, conn *mcphost.Connection) *run {
	c := Call{
		spec: CallSpec{
			Conversation: t.Conversation, Turn: t.Turn, Server: t.Server, ServerHash: t.ServerHash, Tool: t.Tool,
			Definition: t.Definition, Arguments: t.Arguments, Model: t.Model,
		},
		id: t.Call, edited: t.Edits,
	}
	r := &run{
		g: g, ctx: ctx, log: context.WithoutCancel(ctx), call: c, server: t.Server, conn: conn, look: make(chan struct{}, 1),
		entry: t.Entry, decided: decision{word: t.Decision, by: t.By}, sentAt: t.Begun, started: t.Begun,
	}
	r.spent.Store(true)
	return r
}
