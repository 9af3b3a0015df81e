package app

import (
	"encoding/json"
	"time"

	"steward/app/chat"
	"steward/app/event"
)

// Attachment is something sent along with a message.
type Attachment = chat.Attachment

// Spent is what a request took as its endpoint reported it.
type Spent = chat.Spent

// ChatMessage is one message of the branch that is shown, ready to be shown: a person's
// message as typed (show it through clean.Clean), a model's answer cleaned. Answers of tools stand in Calls.
// A note is a summary that goes to the model instead of the messages before it; its Seq is that of
// the last of them.
type ChatMessage struct {
	ID        string
	Seq       int64  // orders messages; Messages pages by it
	Role      string // user, assistant or note
	State     string // complete, streaming, interrupted, stopped or failed
	Text      string
	Reasoning string
	Model     string
	Time      time.Time

	// Thought is how long the model reasoned, 0 where that is not known; while it does so, how long
	// before Thinking.
	Thought  time.Duration
	Thinking time.Time // since when the model reasons; zero where it does not at the moment

	Attachments []Attachment
	Calls       []CallState
	Error       string // a sentence, or empty
	// Spent is what the request took as the endpoint reported it, zero where nothing is known;
	// Cost what that cost, where the person gave a price: Priced.
	Spent  Spent
	Cost   Cost
	Priced bool
	// Noted is, of a note, how many messages it stands for.
	Noted int
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

	copied bool // of a task whose record is open, or was when the message was copied
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
