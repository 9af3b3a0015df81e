package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"steward/app/event"
	"steward/app/journal"
	"steward/llm"
)

// countTools ends the turn before anything is sent where the endpoint takes fewer tools
// than are offered: which of them are left out is the person's to say. Where only the model's
// own provider is known to take fewer, the person is told, and the request is sent.
func (t *turn) countTools(o offers) *ending {
	p, n := t.client.Profile(), len(o.tools)
	switch {
	case p.MaxTools > 0 && n > p.MaxTools:
		return &ending{
			state:  Failed,
			err:    fmt.Sprintf("%d tools are offered, but this endpoint takes at most %d, so nothing was sent. Choose the tools of this conversation, or leave some out with --without SERVER or --without SERVER/TOOL.", n, p.MaxTools),
			remedy: event.Remedy{Kind: event.ChooseTools, Limit: p.MaxTools, Tools: n},
		}
	case p.MaxTools == 0 && p.LikelyTools > 0 && n > p.LikelyTools && t.rounds == 1:
		t.e.notice(t.conv.ID, "many_tools", "", fmt.Sprintf("%d tools are offered. The provider of this model takes at most %d; the endpoint may refuse the request, or choose badly among so many.", n, p.LikelyTools))
	}
	return nil
}

// remedyFor is what a person can do about a request that was refused.
func remedyFor(err error, o offers) event.Remedy {
	var e *llm.Error
	if !errors.As(err, &e) {
		return event.Remedy{}
	}
	switch {
	case e.Kind == llm.KindManyTools:
		return event.Remedy{Kind: event.ChooseTools, Limit: e.Limit, Tools: len(o.tools)}
	case e.Kind == llm.KindBadTool:
		if of, ok := o.origin(e.Tool); ok {
			return event.Remedy{Kind: event.LeaveOut, Server: of.conn.Server(), Tool: of.tool.Name, Tools: len(o.tools)}
		}
	case e.Suspect:
		return event.Remedy{Kind: event.FindTool, Tools: len(o.tools)}
	}
	return event.Remedy{}
}

// origin finds the tool that an error names.
func (o offers) origin(name string) (offer, bool) {
	i := slices.IndexFunc(o.tools, func(t llm.Tool) bool { return t.Origin == name })
	if i < 0 {
		return offer{}, false
	}
	of, ok := o.by[o.tools[i].Name]
	return of, ok
}

// FindTool finds the tool of a conversation that its endpoint refuses, by asking the endpoint
// with parts of them; see [llm.Client.FindTool]. Call it only where the person has agreed:
// the requests may cost something. It is recorded as one request. asked, if not nil, is told
// before each and may be called from another goroutine than the caller's.
func (e *Engine) FindTool(ctx context.Context, conversation string, asked func(n int)) (server, tool string, err error) {
	conv, err := e.conversation(ctx, Turn{Conversation: conversation})
	if err != nil {
		return "", "", err
	}
	client, model, err := e.o.Model(ctx, conversation)
	if err != nil {
		return "", "", err
	}
	t := &turn{e: e, ctx: ctx, log: context.WithoutCancel(ctx), conv: conv, model: model, client: client}
	o, _, err := t.offers()
	if err != nil {
		return "", "", err
	}
	requests, start := 0, e.o.Now()
	guilty, err := client.FindTool(ctx, o.tools, func(n int) {
		requests = n
		if asked != nil {
			asked(n)
		}
	})
	outcome := journal.Outcome{Outcome: journal.OK, Effect: journal.EffectDone, Seconds: e.o.Now().Sub(start).Seconds()}
	if err != nil {
		outcome.Outcome, outcome.Effect, outcome.Reason = journal.ProtocolError, journal.EffectUnknown, t.sentence(err)
	}
	_, noteErr := e.o.Journal.Note(t.log, journal.Proposal{
		Kind: journal.KindModel, Conversation: conv.ID, Model: model,
		Detail: map[string]any{"purpose": "find the refused tool", "requests": requests, "tools": len(o.tools), "refused": guilty.Origin},
	}, outcome)
	if err := errors.Join(err, noteErr); err != nil {
		return "", "", err
	}
	of, ok := o.origin(guilty.Origin)
	if !ok {
		return "", "", llm.ErrNoTool
	}
	return of.conn.Server(), of.tool.Name, nil
}
