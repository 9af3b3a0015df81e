// Package send holds the one function that sends tool calls. A call leaves here
// with exactly the bytes that were decided on, at most once, and ends in a way
// that says what is known of it: nothing is ever sent again by itself.
package send

import (
	"context"
	"encoding/json"
	"time"

	"steward/mcphost"
	"steward/mcphost/internal/door"
)

// The outcomes a call can end with.
const (
	OK            = "ok"             // the server answered
	ToolError     = "tool_error"     // the server answered with isError
	ProtocolError = "protocol_error" // a JSON-RPC error, or an answer that is none
	Withdrawn     = "withdrawn"      // never sent: what was shown is no longer current
	Cancelled     = "cancelled"      // stopped by the person
	Timeout       = "timeout"        // no answer in time
	Unknown       = "unknown"        // lost transport, server gone; Reason says which

	// Left is no end: the server works on the call as a task, which Follow goes on
	// with. It comes where the context ended with ErrLeave as its cause.
	Left = "left"
)

// ErrLeave is the cause with which a context ends when the program does: a task is then
// left as it is at the server, not cancelled.
var ErrLeave = door.ErrLeave

// What a call may have changed at the server.
const (
	EffectDone    = "done"
	EffectNone    = "none"
	EffectUnknown = "unknown"
)

// Call is one tool call, complete and decided on. It is not changed.
type Call struct {
	Conn *mcphost.Connection
	// Owner is the caller's own id of the call. It comes back in
	// mcphost.Elicitation.Calls, SamplingRequest.Calls and Late.Owner.
	Owner string
	// Tool is the tool's original name; Definition the hash of the definition
	// the person has seen. Both must be current when the call is sent.
	Tool, Definition string
	// Arguments is one JSON object in compact form. These bytes are sent.
	Arguments []byte
	// Timeout is how long the call may be silent; 0 is the server's setting.
	// Max is how long it may take in all; 0 is the server's setting.
	Timeout, Max time.Duration

	// Spend is called once with Arguments, just before the first byte goes
	// out. With an error of its, nothing is sent. It must be set.
	Spend func(exact []byte) error
	// Sent is called once the request has been handed to the server; may be nil.
	Sent func()
	// Attempt is called before each further round of this call that the
	// protocol demands; with an error of its, the round is not sent. nil
	// allows no further round. With "task" it is told what Follow needs, a
	// mcphost.Task, before the task that the server made of the call is followed.
	Attempt func(ctx context.Context, what string, detail any) error
	// Progress is told of progress notifications in order, in the long run at
	// most fifty times a second; the last before the call's end is always
	// told. total is 0 where unknown. May be nil.
	Progress func(done, total float64, message string)
	// Seen is called whenever the server has said of the task it made of the call that
	// it is not finished. May be nil.
	Seen func()
}

// Result is how a call ended.
type Result struct {
	Outcome string // one of the outcomes above
	Effect  string
	Reason  string // a sentence, in every outcome but OK and ToolError

	IsError    bool
	Content    []mcphost.Content
	Structured json.RawMessage // structuredContent as received; nil if none
	Raw        json.RawMessage // the result as received, or the JSON-RPC error with its code, message and data
	Notes      []string        // what was odd about the result, a sentence each
	Unfit      []string        // those of Notes that say that Structured is not what the tool promises
	Frames     []mcphost.Frame // what went over the wire for this call
}
