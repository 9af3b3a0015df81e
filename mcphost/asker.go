package mcphost

import (
	"context"
	"encoding/json"
	"errors"

	"steward/mcphost/internal/wire"
)

// ErrUnanswerable is returned by an [Asker] for a question that no answer could
// fit: a form that cannot be shown, an address that may not be opened. The
// server gets -32602 (invalid params).
var ErrUnanswerable = errors.New("the question cannot be answered")

// ErrNotAllowed is returned by an [Asker] whose policy does not let a server
// ask; the server gets a proper JSON-RPC error.
var ErrNotAllowed = errors.New("this server is not allowed to ask for that")

// Causes with which the context of a question ends (context.Cause), for errors.Is.
// Without one of them, whoever made the call has ended it.
var (
	ErrTakenBack   = wire.ErrWithdrawn // the server wants no answer any more
	ErrSessionOver = wire.ErrOver      // the session with the server has ended
	ErrCallOver    = errors.New("the call that it belonged to has ended")
	// ErrFinished ends a question in ModeDone: the server says that the page is done.
	ErrFinished = errors.New("the server says that it is done")
)

// Asker answers what servers ask of a person or of a model. Its methods are
// called on goroutines of their own: of the questions that belong to one call, one
// at a time, and so of those of a connection that belong to no single call; others
// come beside them, and a question in ModeDone beside any. The
// context ends when the server withdraws the question, all calls that it may belong
// to have ended, or the session does; the answer is then ignored.
type Asker interface {
	Elicit(ctx context.Context, e Elicitation) (ElicitAnswer, error)
	Sample(ctx context.Context, r SamplingRequest) (SamplingAnswer, error)
}

// ModeDone is the mode of a question that is this program's own: whether what a
// server wanted done in the browser, and the person agreed to open, is done, so
// that the server can be asked again. It is accepted when it is done, and ends
// with ErrFinished when the server says so itself.
const ModeDone = "done"

// Elicitation is a server's question to a person.
type Elicitation struct {
	Server string
	// Calls are the owner tokens of the tool calls running on the connection;
	// with exactly one, the question belongs to it.
	Calls         []string
	Mode          string // "form", "url" or ModeDone
	Message       string
	Schema        json.RawMessage // form: requestedSchema as received
	URL           string          // url, done: not checked here
	ElicitationID string
}

// ElicitAnswer answers an [Elicitation]. Content, a JSON object, is sent as it
// is with "accept" of a form, and dropped otherwise.
type ElicitAnswer struct {
	Action  string // "accept", "decline" or "cancel"
	Content json.RawMessage
}

// SamplingRequest is a server's request for a model's answer.
type SamplingRequest struct {
	Server      string
	Calls       []string // as in Elicitation
	System      string
	Messages    []SamplingMessage
	MaxTokens   int
	Temperature *float64
	Stop        []string
	Hints       []string // names of models the server would like
	// Priorities say what the server cares for in a model.
	Priorities Priorities
	// Context is what the server wants to be added to its request ("thisServer", "allServers" or
	// what it wrote instead); "" and "none" are nothing. Nothing is added in any case.
	Context string
	// Tools are offered to the model, which may answer with calls of them;
	// ToolChoice is "", ToolsRequired or ToolsNone.
	Tools      []SamplingTool
	ToolChoice string
	// Undeclared says that this server was told it may not ask (ServerConfig.Sampling)
	// and asks all the same. It is for the record: whatever is answered, the server gets
	// an error.
	Undeclared bool
	Raw        json.RawMessage
}

// Priorities are from 0, for not at all, to 1; 0 also where the server says nothing (MCP,
// "Model Preferences").
type Priorities struct{ Cost, Speed, Intelligence float64 }

// SamplingMessage is one message of a [SamplingRequest]. Its content may hold
// uses of tools ("tool_use", by the assistant) and their results ("tool_result",
// by the user); each use has its result in the next message.
type SamplingMessage struct {
	Role    string // "user" or "assistant"
	Content []Content
}

// SamplingAnswer answers a [SamplingRequest].
type SamplingAnswer struct {
	Model      string
	Text       string
	Calls      []SamplingCall // of the request's tools
	StopReason string         // "endTurn", "stopSequence", "maxTokens", "toolUse", or the model's word; "" is "endTurn"
}
