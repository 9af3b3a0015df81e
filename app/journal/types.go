package journal

import (
	"encoding/json"
	"time"
)

// Kind says what a record is about.
type Kind string

// The kinds of a record.
const (
	KindCall        Kind = "call"
	KindElicitation Kind = "elicitation"
	KindSampling    Kind = "sampling"
	KindModel       Kind = "model"
	KindResource    Kind = "resource"
	KindPrompt      Kind = "prompt"
	KindServer      Kind = "server"
	KindDefinition  Kind = "definition"
	KindGrant       Kind = "grant"
	KindSettings    Kind = "settings"
)

// The outcome words of a record. Waiting and Running stand while it is open.
const (
	OK            = "ok"
	ToolError     = "tool_error"
	ProtocolError = "protocol_error"
	Denied        = "denied"
	Expired       = "expired"
	Withdrawn     = "withdrawn"
	Cancelled     = "cancelled"
	Timeout       = "timeout"
	Unknown       = "unknown"

	Waiting = "waiting"
	Running = "running"
)

// Allowed is the decision after which something may be sent; the other
// decisions are Denied, Expired and Withdrawn.
const Allowed = "allowed"

// The effects: whether something may have happened.
const (
	EffectDone    = "done"
	EffectNone    = "none"
	EffectUnknown = "unknown"
)

// Proposal is the first event of a record. Parent is the record number of the
// call during which a server asked, or 0. Arguments is the exact compact JSON.
// Detail is anything encoding/json can write, kept with the event.
type Proposal struct {
	Kind   Kind
	Parent int64

	Conversation, Server, Tool, Arguments, Model, Definition string

	Detail any
}

// Decision is who answered what. Decision is Allowed, Denied, Expired or
// Withdrawn; By is person, rule:ID, grant:ID or flag; ShownHash the hash of
// what the person saw; Scope once, conversation or always.
type Decision struct {
	Decision, By, Reason, ShownHash, Scope string
}

// Outcome is the end of a record. Effect "" is derived from the outcome word
// and from whether anything was sent. Result is the answer as received.
type Outcome struct {
	Outcome, Effect, Reason string

	Result  json.RawMessage
	Seconds float64
}

// Frame is one frame on the wire. Direction is "out" or "in", seen from here.
// Length is how long it was on the wire, in bytes; 0 when it is handed over is the
// length of Bytes. Cut says that Bytes lacks its end. Tail, for [Entry.Exchanged] alone, is the
// end of one whose middle is not there.
type Frame struct {
	Time      time.Time
	Direction string
	Bytes     []byte
	Tail      []byte
	Length    int64
	Cut       bool
}

// Filter chooses records. Search looks in server, tool, arguments, result and
// reason, and in what the model was asked and answered. Since is included, Until is not. Limit 0 is 50, below 0 is no limit. After pages:
// only records older than that number.
type Filter struct {
	Kind         string    `json:"kind,omitempty"`
	Server       string    `json:"server,omitempty"`
	Tool         string    `json:"tool,omitempty"`
	Decision     string    `json:"decision,omitempty"`
	Outcome      string    `json:"outcome,omitempty"`
	Conversation string    `json:"conversation,omitempty"`
	Search       string    `json:"search,omitempty"`
	Since        time.Time `json:"since,omitzero"`
	Until        time.Time `json:"until,omitzero"`
	Limit        int       `json:"limit,omitempty"`
	After        int64     `json:"after,omitempty"`
}
