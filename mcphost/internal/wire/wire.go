// Package wire stands between the bytes of an MCP server and the protocol
// library. Servers print banners, log lines and answers that no strict reader
// accepts; one such line must never end a session. So every message from a
// server is read by a Tap first: the Tap keeps what the server really said
// (order of members, numbers of any size, unknown content) for the caller, and
// hands the library a small, valid answer in its place.
//
// The Tap serves every transport. Stdio puts one around a child process; an
// HTTP round tripper calls Out for each body it posts and In for each JSON
// body or event it receives.
//
// What the library never sees: requests and notifications of the server. The
// Tap answers ping, hands elicitation/create, sampling/createMessage, roots/list and
// questions about tasks to Options.Handle, refuses other requests with -32601, and gives
// notifications to Options.Notify (progress to the Pending it belongs to).
package wire

import (
	"context"
	"encoding/json"
	"time"
)

// Default limits.
const (
	// DefaultMaxFrame is the largest message accepted, in bytes (64 MiB).
	DefaultMaxFrame = 64 << 20
	// MaxDepth is the deepest nesting of objects and arrays accepted in a message.
	MaxDepth = 1000
	// MaxProgressMessage is the longest progress message handed on, in bytes.
	MaxProgressMessage = 4 << 10
	// MaxServerRequests is how many requests of a server may be open at once; their
	// params may have MaxFrame bytes together. Further ones are refused with an error.
	MaxServerRequests = 64
)

// Codes of the JSON-RPC errors the Tap itself makes, next to those of JSON-RPC 2.0
// (https://www.jsonrpc.org/specification#error_object).
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	// CodeRejected marks a request that never left: Before refused it, or the
	// connection had ended. The protocol library keeps the session on this code.
	CodeRejected = -32005
)

// Options are given to NewTap. Every function may be nil. They are called from
// the goroutine that reads from the server (Handle: from one goroutine a
// request), so they must return soon and must not call back into a transport. One that
// panics loses what it was called for, and nothing else.
type Options struct {
	// MaxFrame is the largest message in bytes; 0 means DefaultMaxFrame. A larger
	// answer fails its request, and the connection lives on.
	MaxFrame int
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Capabilities are written into those that initialize declares, beside the
	// library's, for what the library has no words for.
	Capabilities []Member
	// Handle answers elicitation/create, sampling/createMessage, roots/list and tasks/…. The
	// context ends when the server cancels the request, or with the Tap. A *Error
	// is sent to the server as it is, any other error as -32603 with its text.
	// A nil Handle refuses with -32601.
	Handle func(ctx context.Context, r ServerRequest) (json.RawMessage, error)
	// Notify gets every notification except progress and cancelled. Params are the
	// server's bytes (nil if absent) and may be kept.
	Notify func(method string, params json.RawMessage)
	// Noise gets what a server sent that is no message, at most a few a second.
	Noise func(Noise)
	// Log keeps the messages; nil makes one for this connection alone.
	Log *Log
	// Late gets answers that nobody waits for: after a cancellation or timeout, a
	// second answer, an unknown id.
	Late func(Late)
}

// ServerRequest is a request made by the server. ID and Params are its bytes.
type ServerRequest struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
}

// Noise is something a server sent that is not an MCP message.
type Noise struct {
	// Line is the text, valid UTF-8, at most 4 KiB, not cleaned for display.
	Line string
	// Count is how many pieces of noise this report stands for: this one, and
	// those left out since the last report.
	Count int
}

// Late is an answer that came when nobody waited for it.
type Late struct {
	// Token is the token of the request it answers, "" if that is unknown.
	Token string
	// Method is the request's method, "" if that is unknown.
	Method string
	// Duplicate is true if the request had been answered before.
	Duplicate bool
	// Raw is the whole message.
	Raw []byte
}

// Error is a JSON-RPC error object as a server sent it, put in order where the
// server's was not one (a string, a code in quotes), or one the Tap made because
// the answer was none. Invalid tells the two apart.
type Error struct {
	Code int64
	// Message is valid UTF-8, of a server's at most 16 KiB.
	Message string
	Data    json.RawMessage
	// Invalid is true if the server's answer could not be taken for an answer
	// (neither result nor error, both, too large, nested too deeply, not JSON).
	Invalid bool
	// TooLarge is true if it was larger than Options.MaxFrame.
	TooLarge bool
}

func (e *Error) Error() string { return e.Message }

// Progress is one notifications/progress for a request.
type Progress struct {
	// Value never goes down: a smaller one from the server is raised to the last.
	Value float64
	// Total is 0 where the server gave none, or one that makes no sense.
	Total float64
	// Message is at most MaxProgressMessage bytes of valid UTF-8.
	Message string
}

// Frame is one message in the log of a connection.
type Frame struct {
	Time time.Time
	// Out is true from us to the server.
	Out bool
	// Size is the length of the whole message in bytes.
	Size int
	// Bytes is the message, cut to 16 KiB. It is not redacted.
	Bytes []byte
	// Token is the token of the request it belongs to, "" if none.
	Token string
}

// Member is one member of a JSON object.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Expectation announces a request that is about to be made through the protocol
// library with params._meta.progressToken equal to Token.
type Expectation struct {
	// Token is unique on the connection, and not empty.
	Token string
	// Set is written into params, replacing members of the same name, byte for
	// byte. It carries what the library would change or cannot say: exact
	// arguments, a requestState, raw inputResponses, an empty cursor.
	Set []Member
	// Before is called once with the exact bytes of params.arguments (nil if there
	// are none) just before the first byte leaves. Its error keeps the request from
	// leaving: the library's call fails with code CodeRejected and the error's text,
	// and Answer.Err of the Pending is that error.
	Before func(arguments []byte) error
	// Sent is called once when the whole request was handed to the operating system.
	Sent func()
	// Progress is called for progress notifications, in order, one call at a time, from
	// several goroutines: at most 100 at once and 50 a second, of those that come faster
	// the newest, and always the last before the request ends.
	Progress func(Progress)
}

// Answer is how a request ended.
type Answer struct {
	// Result is the server's result, byte for byte (invalid UTF-8 replaced by U+FFFD);
	// nil if there is none. It may be any JSON value, also null.
	Result json.RawMessage
	// Nulled says that numbers which JSON cannot hold (NaN, Infinity) were read as null.
	Nulled bool
	// Err is nil with a Result; a *Error where the server answered with an error or
	// with something that is no answer; else the reason the connection ended
	// (an *ExitError on stdio) or that the request never left.
	Err error
}
