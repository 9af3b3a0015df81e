package wire

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"steward/mcphost/process"
)

// Stdio is an mcp.Transport over a child process. The process has been started
// by the caller and belongs to the Stdio from then on. Its life does not depend on
// the context given to Connect.
type Stdio struct{}

// StdioOptions are given to NewStdio.
type StdioOptions struct {
	Process *process.Process
	Tap     *Tap
	// Grace is how long the process may take to end after its input was closed, and
	// again after it was asked to terminate; 0 means 1 s.
	Grace time.Duration
	// WriteTimeout is how long the process may leave one message unread before it
	// counts as hung and is killed; 0 means 30 s.
	WriteTimeout time.Duration
}

// NewStdio starts reading from the process at once and attaches the Tap.
func NewStdio(o StdioOptions) *Stdio { return &Stdio{} }

// Connect implements mcp.Transport. A second Connect gives a second library
// session on the same process: the first one must not be used any more. (It lets
// the host try server/discover and then initialize on one process.)
func (s *Stdio) Connect(ctx context.Context) (mcp.Connection, error) { return nil, errUnfinished }

// Close ends the process and everything around it: bounded by 2×Grace + 2 s, never
// waiting for calls or handlers. It may be called several times, from any goroutine.
func (s *Stdio) Close() error { return errUnfinished }

// Done is closed when the connection has ended, for whatever reason.
func (s *Stdio) Done() <-chan struct{} { return nil }

// Err returns why the connection ended: an *ExitError, or nil while it lives or
// after Close.
func (s *Stdio) Err() error { return nil }

// ExitError says that a server's process ended, or closed its output, by itself.
type ExitError struct {
	// Code is the exit status; -1 if a signal ended it, or it had to be killed.
	Code int
	// Ending says how it ended ("exit status 3", "killed by signal: killed",
	// "closed its standard output", "stopped reading its standard input").
	Ending string
	// Stderr is the last 20 lines of standard error, as written.
	Stderr string
}

func (e *ExitError) Error() string {
	s := "the server's program ended (" + e.Ending + ")"
	if e.Stderr != "" {
		s += "; its last words: " + e.Stderr
	}
	return s
}

var _ mcp.Transport = (*Stdio)(nil)
