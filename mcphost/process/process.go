// Package process starts and ends the programs of MCP servers. No other package
// of Steward starts a process for a server.
package process

import (
	"context"
	"errors"
	"io"
	"time"
)

// Spec says what to run.
type Spec struct {
	// Path is the absolute path of the program (see Look).
	Path string
	// Args are its arguments, without the program's own name.
	Args []string
	// Env is the whole environment, "NAME=value" (see Environment).
	Env []string
	// Dir is the working directory, absolute.
	Dir string
}

// Process is a running, or ended, program with all the processes it started.
type Process struct{}

var errUnfinished = errors.New("process: not written yet")

// Start runs the program. The context bounds the start alone; the process lives
// until it ends by itself or Stop is called.
func Start(ctx context.Context, s Spec) (*Process, error) { return nil, errUnfinished }

// Stdin is the program's standard input. Close it to tell a server to end.
func (p *Process) Stdin() io.WriteCloser { return nil }

// Stdout is the program's standard output.
func (p *Process) Stdout() io.Reader { return nil }

// Stop ends the program and everything it started: it closes standard input and
// waits grace, asks the group to end and waits grace, then kills the group. It
// returns when all is gone, at the latest about two seconds after 2×grace.
func (p *Process) Stop(grace time.Duration) error { return errUnfinished }

// Done is closed when the program itself has ended.
func (p *Process) Done() <-chan struct{} { return nil }

// PID returns the process id.
func (p *Process) PID() int { return 0 }

// ExitCode returns the exit status, -1 while running or when a signal ended it.
func (p *Process) ExitCode() int { return -1 }

// Ending says in words how it ended: "exit status 3", "killed by signal: terminated";
// "" while it runs.
func (p *Process) Ending() string { return "" }

// Stderr returns what is kept of standard error: at most the last 256 KiB.
func (p *Process) Stderr() string { return "" }

// Tail returns the last n lines of standard error.
func (p *Process) Tail(n int) string { return "" }

// Environment returns the environment for a server: the allow-listed variables of our
// own, PATH as given (unless ""), and extra, which wins.
func Environment(extra map[string]string, path string) []string { return nil }

// Look finds a program and returns its absolute path. A name with a separator is
// taken as a path, other names are searched in path (a list as in PATH). Relative
// folders in path are skipped. The error names the command and the PATH searched.
func Look(command, path string) (string, error) { return "", errUnfinished }

// Paths knows the PATH of the person's login shell.
type Paths struct{}

// NewPaths makes a Paths; nothing runs before Path is called.
func NewPaths() *Paths { return &Paths{} }

// Path returns our own PATH, the login shell's PATH (asked once, at most 3 s, noise
// of its start files ignored) and the usual folders of package managers, without
// duplicates. A missing or hanging shell costs only its folders.
func (p *Paths) Path(ctx context.Context) string { return "" }
