package app

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"steward/app/chat"
	"steward/app/event"
	"steward/app/journal"
	"steward/storage"
)

// Draft is what a person sends.
type Draft struct {
	Conversation string // empty begins a new one
	Text         string
	Attach       []Attachment
	Files        []string // paths of files to attach
}

// Send stores what the person said at the end of the branch that is shown and begins a
// turn; any number of conversations may have one at a time, and within one conversation a
// turn that still runs is ended first. ctx bounds the beginning alone.
func (a *App) Send(ctx context.Context, d Draft) (*Turn, error) {
	t := a.turn(d.Conversation)
	t.Text, t.Attach = d.Text, d.Attach
	for _, path := range d.Files {
		f, err := chat.ReadFile(path)
		if err != nil {
			return nil, err
		}
		t.Attach = append(t.Attach[:len(t.Attach):len(t.Attach)], f)
	}
	a.tasksOf(ctx, d.Conversation)
	return a.engine.Send(ctx, t)
}

// turn is a turn with this run's limits.
func (a *App) turn(conversation string) chat.Turn {
	return chat.Turn{Conversation: conversation, MaxRounds: a.maxRounds(), ToolTimeout: a.o.ToolTimeout}
}

// Stop stops the turn of a conversation, if one runs, and what it has called. It returns
// at once; the turn's end is an event.
func (a *App) Stop(conversation string) {
	if r := a.engine.Running(conversation); r != nil {
		r.Stop()
	}
}

// StopCall stops one running or waiting call, made by a turn or by hand, and nothing else.
// It returns at once. False: no such call is under way.
func (a *App) StopCall(id string) bool { return a.gate.Stop(id) || a.giveUpTask(id) }

// StopAll stops every turn, every call and every server. Servers start again when they are
// needed. It returns when the servers have ended, or with ctx; at most about three seconds.
func (a *App) StopAll(ctx context.Context) error {
	a.engine.StopAll()
	a.gate.StopAll()
	err := a.servers.drop(ctx, func(string, []string) bool { return true })
	a.bus.Publish(event.ServersChanged{})
	if err != nil {
		return fmt.Errorf("not every server could be stopped in time: %w", err)
	}
	return nil
}

// Regenerate asks the model once more for its last answer, as a branch of its own.
func (a *App) Regenerate(ctx context.Context, conversation string) (*Turn, error) {
	c, err := a.stored(ctx, conversation)
	if err != nil {
		return nil, err
	}
	tree, err := a.tree(ctx, conversation)
	if err != nil {
		return nil, err
	}
	path := tree.Path(tree.Leaf(chat.ReadMeta(c).Branch))
	for i := len(path) - 1; i >= 0; i-- {
		if path[i].Role == storage.RoleUser {
			return a.answer(ctx, conversation, path[i].ID)
		}
	}
	return nil, &Message{Key: "nothing_to_repeat", Args: args("detail", "There is no message in this conversation that the model could answer again.")}
}

// TryAgain goes on where a turn ended before its end: the model is asked for the answer that
// failed or broke off, with the results that it had got by then. What was called is not called
// again, unless a call was stopped: then the whole turn is tried again, as by [App.Regenerate].
func (a *App) TryAgain(ctx context.Context, conversation string) (*Turn, error) {
	c, err := a.stored(ctx, conversation)
	if err != nil {
		return nil, err
	}
	path, err := a.shownPath(ctx, c)
	if err != nil {
		return nil, err
	}
	for i := len(path) - 1; i >= 0; i-- {
		m := path[i]
		calls := chat.Calls(m, path[i+1:])
		if m.Role == storage.RoleTool || m.Role == storage.RoleAssistant && len(calls) == 0 && m.State != storage.StateComplete {
			continue
		}
		stopped := func(c chat.Called) bool { return !c.Answered || c.Outcome == journal.Cancelled }
		if len(calls) == 0 || slices.ContainsFunc(calls, stopped) {
			break
		}
		return a.answer(ctx, conversation, m.ID)
	}
	return a.Regenerate(ctx, conversation)
}

// answer has the model answer once more what it was asked, or given by calls, with this message.
func (a *App) answer(ctx context.Context, conversation, message string) (*Turn, error) {
	t := a.turn(conversation)
	t.Again = message
	return a.engine.Send(ctx, t)
}

// EditAndBranch sends a changed version of a person's message, as a branch of its own that
// begins where that message stands, with these attachments: its own are sent again only where
// they are among them.
func (a *App) EditAndBranch(ctx context.Context, conversation, message, text string, attach []Attachment) (*Turn, error) {
	if _, err := a.stored(ctx, conversation); err != nil {
		return nil, err
	}
	tree, err := a.tree(ctx, conversation)
	if err != nil {
		return nil, err
	}
	m, err := a.db.Message(ctx, message)
	if err != nil || m.Conversation != conversation || m.Role != storage.RoleUser {
		return nil, errors.Join(noMessage(message), unlessMissing(err))
	}
	t := a.turn(conversation)
	t.Text, t.Attach, t.Parent = text, attach, tree.Parent(message)
	return a.engine.Send(ctx, t)
}

func unlessMissing(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return err
}

// Working names the conversations that a turn runs in, in no order.
func (a *App) Working() []string { return a.engine.Working() }

// UnderWay counts what closing the program would break off: the calls that run, and the turns. It does not wait for
// anything.
func (a *App) UnderWay() (calls, turns int) { return a.gate.Running(), len(a.engine.Working()) }
