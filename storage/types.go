package storage

import (
	"encoding/json"
	"time"
)

// Conversation is one chat. The id is made by the caller ("c_…"). Deleted is
// the time it was put in the bin, zero while it is not; only DeleteConversation
// erases it. Meta is opaque here. Temporary is stored and acted on by others.
type Conversation struct {
	ID, Title, Model            string
	Created, Updated            time.Time
	Pinned, Archived, Temporary bool
	Deleted                     time.Time
	Meta                        json.RawMessage
}

// The states of a message.
const (
	StateComplete    = "complete"
	StateStreaming   = "streaming"
	StateInterrupted = "interrupted"
	StateStopped     = "stopped"
	StateFailed      = "failed"
)

// The roles of a message.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
	RoleNote      = "note" // stands for the messages up to its Parent, see package chat
)

// Message is one message of a conversation. The id is made by the caller
// ("m_…"). Seq orders messages; it is given by the store when the message is
// first put, stays for good, and a caller's value is ignored. Calls and Meta
// are opaque here.
type Message struct {
	ID, Conversation, Parent, Role, State, Text, Reasoning, Model, CallID string

	Calls, Meta json.RawMessage
	Time        time.Time
	Seq         int64
}

// ConversationFilter chooses conversations: those in the archive or those that
// are not, never those in the bin. Search looks in titles and messages. Before
// pages: only those updated earlier. Limit 0 is 50.
type ConversationFilter struct {
	Search   string
	Archived bool
	Limit    int
	Before   time.Time
}

// Pin is the reviewed hash of a definition. (Server, Kind, Name) is unique.
// Kind is tool, prompt, instructions or server.
type Pin struct {
	Server, Kind, Name, Hash, Text string

	Reviewed time.Time
}

// Grant is a standing yes for one tool of one server while the two hashes fit.
// Conversation "" is always. Revoked is zero while it holds.
type Grant struct {
	ID, Server, Tool, Definition, ServerHash, Conversation string

	Created, Revoked time.Time
}

// Rule is a yes or a no with a condition. Effect is allow or deny; Server and
// Tool "" or "*" mean any. Condition is opaque here.
type Rule struct {
	ID, Effect, Server, Tool string

	Condition json.RawMessage
	Created   time.Time
}
