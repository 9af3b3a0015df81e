package app

import (
	"context"
	"fmt"
	"slices"

	"steward/app/chat"
	"steward/app/event"
	"steward/llm"
	"steward/mcphost"
)

// Question is what a person asks.
type Question struct {
	Text   string
	Attach []string // paths of files
}

// Turn is a turn that runs; see [chat.Running].
type Turn = chat.Running

// Ask begins one turn in the options' conversation, or in a new one. The error says why
// it could not begin: no such conversation, a file that cannot be attached, nothing to
// store it in. ctx bounds the beginning alone; the turn goes on until it ends or is stopped.
func (a *App) Ask(ctx context.Context, q Question) (*Turn, error) {
	t := chat.Turn{Conversation: a.o.Conversation, Text: q.Text, MaxRounds: a.maxRounds(), ToolTimeout: a.o.ToolTimeout}
	for _, path := range q.Attach {
		f, err := chat.ReadFile(path)
		if err != nil {
			return nil, err
		}
		t.Attach = append(t.Attach, f)
	}
	a.tasksOf(ctx, t.Conversation)
	return a.engine.Send(ctx, t)
}

func (a *App) maxRounds() int {
	if a.o.MaxRounds > 0 {
		return a.o.MaxRounds
	}
	return a.settingsNow().MaxRounds
}

func (a *App) modelFor(ctx context.Context, conversation string) (*llm.Client, string, error) {
	return a.model.get(ctx, a.chat(ctx, conversation))
}

// connections are what a turn may use now. The first request of a run waits for servers
// that are still starting; later ones take what has joined.
func (a *App) connections(ctx context.Context, conversation string) ([]*mcphost.Connection, error) {
	a.board.release()
	settings := a.chat(ctx, conversation)
	a.servers.startReviewedWith(ctx, settings.Roots)
	a.servers.waitOnce(ctx, settings.Roots, serverWait)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	ready := slices.DeleteFunc(a.servers.readyWith(settings.Roots), func(c *mcphost.Connection) bool { return settings.without(c.Server()) })
	for _, conn := range ready {
		a.tellUnreviewed(ctx, conn)
	}
	return ready, nil
}

// tellUnreviewed says, once for each state of a server's tools, which of them the model
// does not see because nobody has reviewed them as they are. It runs before every request
// and asks the server nothing.
func (a *App) tellUnreviewed(ctx context.Context, conn *mcphost.Connection) {
	reviewed, err := a.gate.Reviewed(ctx, conn)
	if err != nil {
		a.bus.Publish(event.Notice{Kind: "server_unreviewed", Server: conn.Server(), Message: err.Error()})
		return
	}
	tools := conn.Tools()
	if len(reviewed) == len(tools) {
		return
	}
	var hidden []mcphost.Tool
	state := ""
	for _, t := range tools {
		if !slices.ContainsFunc(reviewed, func(r mcphost.Tool) bool { return r.Name == t.Name }) {
			hidden = append(hidden, t)
			state += t.Definition
		}
	}
	if !a.servers.firstTime(conn.Server(), state) {
		return
	}
	message := fmt.Sprintf("The model does not see these tools of the server %s, because they are new or changed since they were reviewed: %s. ", conn.Server(), toolNames(hidden))
	if len(reviewed) == 0 {
		message = fmt.Sprintf("The model sees nothing of the server %s, because it was never reviewed as it is now. ", conn.Server())
	}
	a.bus.Publish(event.Notice{Kind: "server_unreviewed", Server: conn.Server(), Message: message + fmt.Sprintf("Read what it offers with: steward servers review %s; then: steward servers trust %s", conn.Server(), conn.Server())})
}
