package app

import "context"

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
func (a *App) Send(ctx context.Context, d Draft) (*Turn, error) { return nil, errNotYet }

// Stop stops the turn of a conversation, if one runs, and what it has called. It returns
// at once; the turn's end is an event.
func (a *App) Stop(conversation string) {}

// StopCall stops one running or waiting call, made by a turn or by hand, and nothing else.
// It returns at once. False: no such call is under way.
func (a *App) StopCall(id string) bool { return false }

// StopAll stops every turn, every call and every server. Servers start again when they are
// needed. It returns when the servers have ended, or with ctx; at most about three seconds.
func (a *App) StopAll(ctx context.Context) error { return errNotYet }

// Regenerate asks the model once more for its last answer, as a branch of its own.
func (a *App) Regenerate(ctx context.Context, conversation string) (*Turn, error) {
	return nil, errNotYet
}

// EditAndBranch sends a changed version of a person's message, as a branch of its own that
// begins where that message stands. Its attachments are sent again.
func (a *App) EditAndBranch(ctx context.Context, conversation, message, text string) (*Turn, error) {
	return nil, errNotYet
}

// Working names the conversations that a turn runs in.
func (a *App) Working() []string { return nil }
