// Package llm talks to a language model behind any endpoint that speaks the
// OpenAI chat completions wire format.
//
// A Client sends one request and hands out typed events while the answer
// arrives. What comes from the endpoint is taken as it is found in the field:
// keep-alive comments, missing indexes, arguments that are objects, errors in
// the middle of a stream. Two things are never guessed: a tool call is handed
// out to be run only if its arguments are one strictly complete JSON object,
// and an answer counts as finished only if the endpoint said so.
package llm

import (
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// Endpoint says where the model is.
type Endpoint struct {
	// BaseURL is the address as a person may paste it: a missing /v1, a
	// trailing slash or a whole .../chat/completions path are put right.
	BaseURL string
	// Key returns the API key. It is asked for each request and the answer is
	// never kept. It may be nil and may return "".
	Key func() string
	// Model is the model's name as the endpoint knows it.
	Model string
	// Profile names the endpoint's habits, see Profiles. "" finds it from the URL and
	// the model's name.
	Profile string
	// Traits are habits that a person has set, Learned those that the endpoint has shown,
	// as values by key, see Profile.SetTrait; a person's go first. What is unknown in
	// them is passed over. They are not changed.
	Traits, Learned map[string]string
	// AllowHTTP permits sending the key, and a secret Header, over plain http to another
	// machine.
	AllowHTTP bool
	// Header gives further headers of each request, as gateways want them; they replace
	// those of the same name. It is asked for each request and the answer is never kept.
	// It may be nil.
	Header func() http.Header
	// SecretHeader says that Header may give a secret, which then travels as the key does.
	SecretHeader bool
}

// Options are what a Client needs from its owner. The zero value is usable.
type Options struct {
	// Redact removes secrets from what stands in an Error. The key in use is
	// removed in any case.
	Redact func(string) string
	// Now is the clock, for Retry-After dates. nil means time.Now.
	Now func() time.Time
	// Transport replaces the HTTP transport. nil makes one that Close ends.
	Transport http.RoundTripper
	// Proxy says through which proxy a request goes; nil is what the environment says.
	// Roots are the certificates that are trusted; nil is the system's. Neither is used with
	// a Transport of the owner's.
	Proxy func(*http.Request) (*url.URL, error)
	Roots *x509.CertPool
	// Learned is told each habit that an endpoint shows by refusing a request, so that it
	// can be given back in Endpoint.Learned later. It is called from the goroutine of the
	// request, perhaps from several at once. nil keeps it for the life of the Client.
	Learned func(e Endpoint, key, value string)
	// FirstToken is how long to wait for the first piece of an answer, whether
	// or not the endpoint says that it is still working. 0 means 15 minutes.
	FirstToken time.Duration
	// Idle is how long the endpoint, once a piece of the answer has come, may
	// be silent before the answer is given up; a keep-alive comment is a sign
	// of life. 0 means 5 minutes.
	Idle time.Duration
}

// Roles of a Message.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
)

// Message is one message of the conversation sent to the model.
type Message struct {
	Role string // RoleSystem, RoleUser, RoleAssistant or RoleTool
	Text string
	// Images go with a user message or a tool message. Those of a tool message
	// are sent in a user message behind it, because few endpoints take images
	// in tool messages.
	Images []Image
	// Reasoning is sent back only to endpoints that demand it, never as text.
	Reasoning string
	// Extra is Answer.Extra of an assistant message, as it came; nil if there was none.
	Extra  json.RawMessage
	Calls  []ToolCall // of an assistant message
	CallID string     // of a tool message: the ToolCall.ID it answers
	Tool   string     // of a tool message: the name the tool was offered under
}

// Image is a picture for the model. PNG, JPEG, GIF and WebP of at most 20 MB are
// sent; anything else becomes a short note in the text.
type Image struct {
	MIMEType string
	Data     []byte
}

// ToolCall is one tool call of an answer.
type ToolCall struct {
	// ID is the endpoint's name for the call, or one made here where it gave
	// none. It is unique within an answer, not within a conversation: some
	// endpoints use the same one for every call.
	ID string
	// Name is the name the tool was offered under.
	Name string
	// Arguments is one complete JSON object, compact, with the order of keys,
	// numbers and escapes as the model wrote them. Empty if Problem is set.
	Arguments string
	// Problem, if not empty, says for the model why the call cannot run.
	Problem string
	// Raw is what the model wrote for arguments, unchanged.
	Raw string
	// Extra is a JSON object of the members of the call that the chat completions format does not know, such as
	// {"extra_content":{"google":{"thought_signature":"…"}}}, each as the endpoint wrote it; those of its function
	// stand under "function". It is nil if there were none. An endpoint that sends such members wants them back with
	// the call, in the same places.
	Extra json.RawMessage
}

// Tool is a tool offered to the model.
type Tool struct {
	// Name must match [a-zA-Z0-9_-]{1,64}; see Alias.
	Name        string
	Description string
	// Schema is the input schema as the server gave it. It may be empty, null
	// or odd: it is put into a form that endpoints accept.
	Schema json.RawMessage
	// Origin is "server/tool", for error messages.
	Origin string
}

// Request is one question to the model.
type Request struct {
	Messages  []Message
	Tools     []Tool
	MaxTokens int // 0 leaves it to the endpoint
	// Temperature is left to the endpoint if nil.
	Temperature *float64
	Stop        []string
	// ToolChoice is "", "auto", "none" or "required". With "none" calls the
	// model makes all the same are dropped.
	ToolChoice string
	// ReasoningEffort is how long the model is to reason before it answers, in the
	// endpoint's own word ("minimal", "low", "medium", "high" …); "" leaves it to the endpoint.
	ReasoningEffort string
	// NoImages says that the model takes no pictures: notes stand in their places.
	NoImages bool
}

// Event is what happens while an answer arrives: TextDelta, ReasoningDelta,
// Retrying, UsageEvent or Warning.
type Event interface{ event() }

// TextDelta is more text of the answer.
type TextDelta struct{ Text string }

// ReasoningDelta is more of the model's reasoning.
type ReasoningDelta struct{ Text string }

// Retrying says that the request failed before anything of an answer came and
// will be sent again.
type Retrying struct {
	After   time.Duration // waited from now on
	Attempt int           // number of the coming attempt; the first retry is 2
	Reason  string        // a sentence
}

// UsageEvent is the token count of the answer; it comes at most once, last.
type UsageEvent Usage

// Warning is something a person may want to know. Kind is one of
// "empty_answer", "content_filter", "cut", "replacement_character",
// "repeated_name", "call_dropped", "extra_dropped", "adapted".
type Warning struct{ Kind, Message string }

func (TextDelta) event()      {}
func (ReasoningDelta) event() {}
func (Retrying) event()       {}
func (UsageEvent) event()     {}
func (Warning) event()        {}

// Usage counts tokens as the endpoint reports them; 0 where it does not.
type Usage struct {
	Input, Output, Total int
	Cached               int // part of Input
	Reasoning            int // part of Output
}

// States of an Answer.
const (
	StateFinished    = "finished"    // the endpoint said it is complete
	StateStopped     = "stopped"     // the context ended it
	StateInterrupted = "interrupted" // it broke off; what came is in the Answer
	StateFailed      = "failed"      // the endpoint or the request was at fault
)

// Answer is what came of a request. Calls is empty unless State is
// StateFinished.
type Answer struct {
	Text, Reasoning string
	Calls           []ToolCall
	Usage           Usage
	Finish          string // the endpoint's finish reason, "" if it gave none
	State           string
	Model           string // as the endpoint reports it, else as asked for
	// ReasoningKey is the member of the message in which Reasoning came: "reasoning_content", "reasoning", "thinking",
	// or "reasoning_details" where only Extra holds it; "" if there was none, or it stood in the content.
	ReasoningKey string
	// Extra is a JSON object of the members of the message that the chat completions format does not know, such as
	// {"reasoning_details":[…]}, put together from the pieces they came in; nil if there were none. Members of calls
	// stand in ToolCall.Extra. An endpoint that sends such members may want them back with the message.
	Extra json.RawMessage
}
