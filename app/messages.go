package app

import (
	"context"
	"encoding/json"
	"time"

	"steward/app/chat"
	"steward/app/event"
)

// Attachment is something sent along with a message.
type Attachment = chat.Attachment

// ChatMessage is one message of the branch that is shown, ready to be shown: a person's
// message as typed, a model's answer cleaned. Answers of tools stand in Calls.
type ChatMessage struct {
	ID        string
	Seq       int64  // orders messages; Messages pages by it
	Role      string // user or assistant
	State     string // complete, streaming, interrupted, stopped or failed
	Text      string
	Reasoning string
	Model     string
	Time      time.Time

	Attachments []Attachment
	Calls       []CallState
	Error       string // a sentence, or empty
	// Versions are the messages that stand in this one's place in the branches of the
	// conversation, oldest first, this one included; one where there are no branches.
	Versions []string
}

// CallState is one tool call of an answer, with what the journal knows of it.
type CallState struct {
	ID        string // as in the events
	Record    int64  // in the journal; 0 where it has none (yet)
	Server    string // empty where the call names no tool; then Tool is what the model wrote
	Tool      string
	Arguments string // the exact JSON the model proposed; show it through clean.Reveal
	Edited    string // what the person put in its place, or empty
	// State is waiting, running or done.
	State    string
	Decision string // allowed, denied, expired or withdrawn; empty before
	By       string // person, rule:ID, grant:ID or flag
	Outcome  string // the record's; empty before
	Effect   string // done, none or unknown
	Reason   string // a sentence, or empty
	Seconds  float64
	Text     string // what the model was told, cleaned
	// Content and Structured are the result's parts, where they are still at hand; else
	// see [App.CallResult].
	Content    []event.Content
	Structured json.RawMessage
	Progress   *event.Progress // the last report of a running call
}

// CallResult is the whole result of a call, from its record.
type CallResult struct {
	Content    []event.Content
	Structured json.RawMessage // cleaned; nil where there is none
	Raw        json.RawMessage // as received, secrets replaced
	Length     int64           // of the whole result in bytes
	Cut        bool            // Raw is only its beginning
	Erased     bool            // the texts went with their conversation
	Frames     []Frame
	Reason     string
}

// Messages gives the last limit messages of the branch that is shown which come before
// the Seq before (0: the newest), in order. Limit 0 is 50. What was told as stored before
// the call is among them.
func (a *App) Messages(ctx context.Context, conversation string, before int64, limit int) ([]ChatMessage, error) {
	return nil, errNotYet
}

// Message gives one message by its id, whichever branch it is in.
func (a *App) Message(ctx context.Context, conversation, id string) (ChatMessage, error) {
	return ChatMessage{}, errNotYet
}

// CallResult reads a call's result from the journal.
func (a *App) CallResult(ctx context.Context, record int64) (CallResult, error) {
	return CallResult{}, errNotYet
}

// Branches gives the messages that stand in a message's place, oldest first, itself
// included.
func (a *App) Branches(ctx context.Context, conversation, message string) ([]string, error) {
	return nil, errNotYet
}

// SwitchBranch shows the branch that a message stands in, to its newest end. A turn that
// runs goes on in its own branch.
func (a *App) SwitchBranch(ctx context.Context, conversation, message string) error {
	return errNotYet
}
