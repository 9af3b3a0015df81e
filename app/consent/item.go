package consent

import (
	"encoding/json"
	"time"

	"steward/mcphost/schema"
)

// The kinds of what can wait for a person.
const (
	KindCall           = "call"
	KindElicitation    = "elicitation"
	KindSampling       = "sampling"        // a server's request, before the model sees it
	KindSamplingAnswer = "sampling_answer" // the model's answer, before the server sees it
)

// Item is one thing that waits for the person. It never changes; what changes
// leaves the list and comes back as another item.
type Item struct {
	ID   string
	Kind string
	// Hash covers what is shown; an answer must name it.
	Hash         string
	Conversation string
	Server       string
	Record       int64
	Since        time.Time
	// Expires is the zero time where the item waits for ever.
	Expires time.Time

	Call        *Call        // kind call
	Elicitation *Elicitation // kind elicitation
	Sampling    *Sampling    // both kinds of sampling
	// Running are the ids of the calls that run on the connection that asked;
	// more than one, or none, means that it cannot be told which one asked.
	Running []string

	Presentation Presentation

	form schema.Form // of an elicitation, for Parse
}

// Elicitation is a server's question to the person.
type Elicitation struct {
	Mode    string // form or url
	Message string // as the server wrote it; show it through Presentation
	Schema  json.RawMessage
	URL     string
}

// Sampling is a server's request to the model and, in the second step, what the
// model answered.
type Sampling struct {
	System    string
	Messages  []SamplingMessage
	MaxTokens int // what will be asked for, after the limit
	Wanted    int // what the server asked for
	// Model is the model that would be asked, empty where that cannot be told; in the
	// second step the one that answered.
	Model  string
	Answer string
}

// SamplingMessage is one message of a sampling request. Note describes the
// blocks that are no text; it is empty where there are none.
type SamplingMessage struct {
	Role string
	Text string
	Note string
}

// Actions of an Answer.
const (
	Allow   = "allow"
	Deny    = "deny"
	Accept  = "accept"
	Decline = "decline"
	Cancel  = "cancel"
	Send    = "send"
)

// Scopes of an allowance.
const (
	Once           = "once"
	InConversation = "conversation"
	Always         = "always"
)

// Answer is what a person says to an item.
//
// A call takes allow (with a scope; empty is once) or deny (with a reason for
// the model, or none). Arguments other than the call's own are an edit: what is
// sent is then the edited call. An elicitation takes accept (Content for a
// form), decline or cancel; an accepted address is opened here, once, unless
// Elsewhere says that the person opens it without us. A sampling request or answer takes send or deny;
// System and Text, where not nil, replace the system prompt (request) and the
// text (answer).
type Answer struct {
	Action    string
	Scope     string
	Reason    string
	Arguments string
	Content   json.RawMessage
	Elsewhere bool
	System    *string
	Text      *string
}

// Policy says who answers. The zero value asks for everything.
type Policy struct {
	Calls    string        // ask, allow, deny
	Elicit   string        // ask, defaults, decline, cancel
	Sampling string        // ask, allow, deny
	Expiry   time.Duration // how long an item waits; 0 is for ever
}

// Row is one argument (or field) as it is shown: nothing dropped, everything
// odd visible.
type Row struct {
	Name string // through clean.Reveal
	Kind string // string, number, boolean, null, object, array
	Text string // through clean.Reveal; a string without its quotes, other values as JSON
	// Length counts the value's characters; Long says that a front end which
	// folds it must not offer Allow before it was opened.
	Length    int
	Long      bool
	Duplicate bool // the name occurs more than once
	Hidden    []string
	inner     bool // an object inside names a member twice
}

// Presentation is all a card says, in plain words, ready for a terminal or a
// window. Every text in it is safe to show.
type Presentation struct {
	Title       string
	Server      string
	Tool        string
	Position    string   // "2 of 3", or empty
	Description string   // the tool's own, cleaned
	Claims      []string // what the server says of itself, worded as claims
	Rows        []Row
	Warnings    []string
	JSON        string // the exact arguments, through clean.Reveal
	Message     string // an elicitation's message, cleaned
	URL, Host   string // an elicitation's address
	Fields      []Field
	System      string // a sampling request's system prompt
	Messages    []SamplingMessage
	Answer      string // the model's answer to a sampling request
}

// Field is one field of a form. Name is the raw key for Answer.Content; all
// else is safe to show.
type Field struct {
	Name        string
	Title       string
	Description string
	Kind        string
	Required    bool
	Default     string // a suggestion of the server, as text; empty where none
	HasDefault  bool
	Options     []string // values of an enum, in order
	Titles      []string // their titles, same length
	Secret      bool
}
