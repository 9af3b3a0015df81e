// Package door guards the one way to a tool call. A method that takes a Key
// can be called only by code below mcphost: no other package can import this
// one, and the zero Key, which reflection could make, opens nothing.
package door

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"steward/mcphost/internal/wire"
)

// Key shows that its holder may send tool calls.
type Key struct{ made bool }

// New makes a Key. Only mcphost/send calls it.
func New() Key { return Key{made: true} }

// Opens reports whether the key was made by New.
func (k Key) Opens() bool { return k.made }

// Sender sends tool calls on one connection.
type Sender interface {
	// Limits returns how long a call may be silent, and how long it may take; set
	// says that a person has set the second.
	Limits() (idle, total time.Duration, set bool)
	// Send sends one call, answers what the server asks for in between, and
	// returns how it ended. It returns soon after the context has ended.
	Send(ctx context.Context, c Call) Reply
	// Follow goes on with a task that an earlier call was answered with, given as
	// Attempt was told of it. Nothing of the call is sent again.
	Follow(ctx context.Context, c Call, task json.RawMessage) Reply
}

// ErrLeave, as the cause of a context's end, leaves a task as it is at the
// server, to be followed on later. Reply.Err is then ErrLeave.
var ErrLeave = errors.New("the task is left to be followed on later")

// TaskError says how a task ended, or is lost, without a result.
type TaskError struct {
	// Lost says that nothing is known of how it ended: the server has forgotten
	// it, or cannot be asked. Else its answer is none.
	Lost bool
	// Done says that the server has finished what it was asked.
	Done    bool
	Message string // a sentence
}

func (e *TaskError) Error() string { return e.Message }

// Call is one tool call. The functions must not be nil. They are called from
// several goroutines, Touch and Paused from any.
type Call struct {
	Owner, Tool, Definition string
	Arguments               []byte

	Spend    func(exact []byte) error
	Sent     func()
	Attempt  func(ctx context.Context, what string, detail any) error
	Progress func(done, total float64, message string)
	// Touch says that the server gave a sign of life.
	Touch func()
	// Paused says that a person or a model is being asked on the server's
	// behalf, so that the server cannot be blamed for its silence.
	Paused func(on bool)
	// Rest says that the server asked not to be asked again for d.
	Rest func(d time.Duration)
	// Seen says that the task has not ended.
	Seen func()
	// Lasting says that the server works on the call as a task, which it keeps for
	// d; 0 is without limit.
	Lasting func(d time.Duration)
}

// Reply is how a call ended.
type Reply struct {
	// Withdrawn is the reason why nothing was sent, as a sentence; "" if sent.
	Withdrawn string
	// Result is the server's answer; Err says why there is none. A *wire.Error
	// is the server's own or an answer that was none.
	Result json.RawMessage
	Nulled bool // as in wire.Answer
	Err    error
	// Started says that the first byte may have left.
	Started bool
	// OutputSchema is that of the definition the call was made with.
	OutputSchema json.RawMessage
	// Task says that Result is that of a task; Failed that the task failed.
	Task, Failed bool
	Frames       []wire.Frame
	// Redact removes known secrets from text for display.
	Redact func(string) string
}
