// Package event holds the typed events that the program publishes while it
// works, and the bus that carries them to whoever shows them.
//
// Events are facts in the words of the contract's event lines; a front end
// turns them into lines, cards or marks. Text inside them that comes from a
// server or a model has been made safe with clean.Clean already. What a person
// must see exactly (arguments, names, addresses) is handed out as it is, and the
// front end shows it through clean.Reveal.
package event

import "encoding/json"

// Event is one of the types of this package.
type Event interface{ sealed() }

// TurnStart says that a turn has begun: the person's message is stored and the
// first request is about to be built.
type TurnStart struct {
	Conversation string
	Model        string
}

// Server tells the state of a connection: starting, ready, failed or stopped.
type Server struct {
	Server   string
	State    string
	Protocol string
	Tools    int
	Error    string
}

// Reasoning is a piece of the model's thoughts, in order. Message and At are as for Text.
type Reasoning struct {
	Conversation string
	Text         string
	Message      string
	At           int
}

// Text is a piece of the model's answer, in order. Message is the answer it belongs to, and
// At how many bytes of that answer's text came before it: who reads the answer while it
// comes can tell what it has already.
type Text struct {
	Conversation string
	Text         string
	Message      string
	At           int
}

// Call says that a tool call was proposed and has its record. Arguments is the
// exact compact JSON that would be sent, but for secrets that Steward knows: labels stand in
// their place.
type Call struct {
	Conversation string
	ID           string
	Record       int64
	Server       string
	Tool         string
	Arguments    string
	Definition   string
}

// Decision tells what was decided about a call (allowed, denied, expired,
// withdrawn) and by whom (person, rule:ID, grant:ID, flag). Reason is a sentence
// where there is more to say; it may be empty.
type Decision struct {
	Conversation string
	Call         string
	Decision     string
	By           string
	Reason       string
}

// Progress is the server's own report on a running call. Total is 0 where the
// server named none.
type Progress struct {
	Conversation string
	Call         string
	Progress     float64
	Total        float64
	Message      string
	Task         bool // the server works on the call as a task
}

// Elicitation says how a server's question to the person ended: accept,
// decline, cancel or expired. Call is empty where it cannot be told which call
// it belongs to.
type Elicitation struct {
	Conversation string
	Call         string
	Record       int64
	Server       string
	Mode         string
	Message      string
	Action       string
}

// Sampling says how a server's request to the model ended: sent, denied,
// expired or failed. Edited is true where the person changed the request or the
// answer.
type Sampling struct {
	Conversation string
	Call         string
	Record       int64
	Server       string
	Action       string
	Edited       bool
}

// Content is one block of a tool's result. Text is cleaned; Data holds decoded
// bytes of an image, a sound or a blob. Type is the protocol's: text, image,
// audio, resource, resource_link, or another word the server used.
type Content struct {
	Type     string
	Text     string
	MIMEType string
	URI      string
	Name     string
	Data     []byte
}

// Result is the outcome of a call, in the words of the contract's table.
// Structured is the server's structuredContent with its strings cleaned, or nil.
type Result struct {
	Conversation string
	Call         string
	Record       int64
	Outcome      string
	Effect       string
	Reason       string
	Content      []Content
	Structured   json.RawMessage
	Seconds      float64
}

// Notice is something a person should know that ends nothing.
type Notice struct {
	Conversation string
	Kind         string
	Server       string
	Message      string
	Hint         bool `json:"-"` // nothing is wrong: it could be done better, and stands with what it is about
}

// Usage counts the tokens of one model request as the endpoint reported them.
type Usage struct {
	Conversation string
	Input        int
	Output       int
}

// Turn says that a turn has ended: finished, stopped, interrupted or failed.
type Turn struct {
	Conversation string
	State        string
	Error        string
	Remedy       Remedy // of a failed one
}

// Kinds of Remedy.
const (
	LeaveOut    = "leave_out"    // without Tool of Server the request may be taken
	FindTool    = "find_tool"    // the endpoint refuses a tool, but does not say which
	ChooseTools = "choose_tools" // it takes at most Limit tools; 0 where it does not say
)

// Remedy is what a person can do about the end of a turn, beside trying again. The zero
// value is nothing.
type Remedy struct {
	Kind         string
	Server, Tool string
	Limit, Tools int // Tools is how many were offered
}

// Waiting says that something now waits for the person. It names the item only;
// what must be shown is read from the waiting list itself.
type Waiting struct {
	Conversation string
	ID           string
	Kind         string
	Server       string
	Tool         string
}

// WaitingGone says that an item has left the waiting list and why: answered,
// expired, withdrawn or cancelled. Reason is a sentence without a full stop, or empty.
type WaitingGone struct {
	Conversation string
	ID           string
	Why          string
	Reason       string
}

// ConversationChanged says that something about a conversation differs from before.
// What is one of created, title, pinned, archived, settings, branch, compacted (the model is
// given another selection of its messages), deleted (it can still be brought back), restored and
// erased.
type ConversationChanged struct {
	Conversation string
	What         string
}

// States of a Compaction.
const (
	CompactionStarted = "started"
	CompactionDone    = "done"
	CompactionStopped = "stopped"
	CompactionFailed  = "failed" // who asked for it is given the reason
)

// Compaction says that the older part of a conversation is being summed up, or that this has
// ended.
type Compaction struct {
	Conversation string
	State        string
}

// MessageStarted says that the model begins an answer: the text and the reasoning that
// follow in this conversation belong to the message with this id.
type MessageStarted struct {
	Conversation string
	ID           string
	Model        string
}

// MessageStored says that a message was stored, anew or changed. Role is user,
// assistant or tool; of a tool's answer ID is the message's, not the call's.
type MessageStored struct {
	Conversation string
	ID           string
	Role         string
}

// ServersChanged says that the list of servers, or what is known of one of them (counts,
// review, permissions), differs from before. Server is empty where it concerns several.
type ServersChanged struct{ Server string }

// ResourceUpdated says that a server reported a change of a resource that somebody
// subscribed to.
type ResourceUpdated struct {
	Server string
	URI    string
}

// SettingsChanged says that settings, endpoints, rules, grants or secrets differ from
// before; What is one of these words.
type SettingsChanged struct{ What string }

func (ConversationChanged) sealed() {}
func (MessageStarted) sealed()      {}
func (MessageStored) sealed()       {}
func (Compaction) sealed()          {}
func (ServersChanged) sealed()      {}
func (ResourceUpdated) sealed()     {}
func (SettingsChanged) sealed()     {}

func (TurnStart) sealed()   {}
func (Server) sealed()      {}
func (Reasoning) sealed()   {}
func (Text) sealed()        {}
func (Call) sealed()        {}
func (Decision) sealed()    {}
func (Progress) sealed()    {}
func (Elicitation) sealed() {}
func (Sampling) sealed()    {}
func (Result) sealed()      {}
func (Notice) sealed()      {}
func (Usage) sealed()       {}
func (Turn) sealed()        {}
func (Waiting) sealed()     {}
func (WaitingGone) sealed() {}
