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
	KindSignIn         = "sign-in"         // a server that wants the person to sign in
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
	Twice       bool         // of a call: to allow it, the tool's name must be typed
	Elicitation *Elicitation // kind elicitation
	Sampling    *Sampling    // both kinds of sampling
	SignIn      *SignIn      // kind sign-in
	Rounds      *Rounds      // kind rounds
	// Running are the ids of the calls that run on the connection that asked;
	// more than one, or none, means that it cannot be told which one asked.
	Running []string

	Presentation Presentation

	form   schema.Form    // of an elicitation, for Parse
	schema *schema.Schema // of a call, for Violations
}

// Elicitation is a server's question to the person.
type Elicitation struct {
	Mode    string // form, url or ModeDone
	Message string // as the server wrote it; show it through Presentation
	Schema  json.RawMessage
	URL     string
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
// text (answer), Edit what else was changed in a request, and Limits are what the
// person states for the server from now on, whatever the action. Signing in takes
// what its SignIn.Phase says. A turn at its limit takes allow or deny. Reason stands in
// the record; only a call's goes further, to the model.
//
// A call of a tool that asks twice (Item.Twice) is allowed only once, with its
// name in Typed.
type Answer struct {
	Action    string
	Scope     string
	Reason    string
	Arguments string
	Typed     string
	Content   json.RawMessage
	Elsewhere bool
	System    *string
	Text      *string
	Edit      *SamplingEdit
	Limits    *SamplingLimits

	ClientID, ClientSecret string // the secret may be empty
}

// Policy says who answers. The zero value asks for everything.
type Policy struct {
	Calls    string        // ask, allow, deny
	Elicit   string        // ask, defaults, decline, cancel
	Sampling string        // ask, allow, deny
	SignIn   string        // ask, deny
	Rounds   string        // ask, deny: whether a turn may go on beyond its limit
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
	lost      bool // it holds replacement characters (U+FFFD)
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
	Fits        bool   // they fit the tool's input schema
	Message     string // an elicitation's message, cleaned
	URL, Host   string // an elicitation's address, or the page of a sign-in
	Domain      string // of a sign-in: the part of Host that somebody registered
	Fields      []Field
	Model       string   // that a sampling request goes to, or that answered
	Hints       []string // names of models that the server would like, on one line each
	Prefers     string   // what the server cares for most in a model: PreferCost, PreferSpeed, PreferIntelligence, or ""
	System      string   // a sampling request's system prompt
	Messages    []SamplingMessage
	Tools       []SamplingTool // that a sampling request offers to the model
	Answer      string         // the model's answer to a sampling request
	Calls       []SamplingTool // of these tools in that answer; Schema is the input

	// Of a sign-in, each on one line.
	Issuer, Resource, Redirect string
	Scopes                     []string
}

// SamplingTool is a tool of a sampling request, or a call of it, as it is shown.
type SamplingTool struct {
	Name        string // through clean.Reveal
	Description string // cleaned
	Schema      string // JSON, through clean.Reveal
}

// Field is one field of a form. Name is the raw key for Answer.Content; all
// else is safe to show.
type Field struct {
	Name        string
	Title       string
	Description string
	Kind        string
	Item        string // of a list: text, number or integer
	Format      string // of a text, on one line
	Required    bool
	Nullable    bool   // null is an answer
	Default     string // a suggestion of the server, as text; empty where none
	HasDefault  bool
	Options     []string // values of an enum, in order
	Titles      []string // their titles, same length
	Secret      bool

	// Limits; "" and 0 are none, and so is a MaxLength or MaxItems of 0.
	Minimum, Maximum     string
	MinLength, MaxLength int // characters
	MinItems, MaxItems   int
}
