package mcphost

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"steward/mcphost/internal/wire"
)

// noisyError is an error of a handshake with a server that wrote something else
// meanwhile.
type noisyError struct {
	err   error
	first string // of what it wrote, redacted
}

func (e *noisyError) Error() string { return e.err.Error() }
func (e *noisyError) Unwrap() error { return e.err }

// noiseSentence says what stood where messages belong; "" for nothing.
func (c *Connection) noiseSentence(first string) string {
	switch first = strings.TrimSpace(first); {
	case first == "":
		return ""
	case c.cfg.transport() != TransportStdio:
		return fmt.Sprintf("What it sent begins with: %s", short(first, 500))
	}
	return fmt.Sprintf("On its standard output, where only messages of the protocol belong, it wrote: %s", short(first, 500))
}

// exitSentence says how a program ended before it was ready.
func exitSentence(e *wire.ExitError) string {
	switch {
	case e.Code >= 0:
		return fmt.Sprintf("The program ended before it was ready, with exit status %d.", e.Code)
	case strings.HasPrefix(e.Ending, "signal"):
		return fmt.Sprintf("The program was ended before it was ready (%s).", e.Ending)
	}
	return fmt.Sprintf("The program broke the connection off before it was ready: it %s.", e.Ending)
}

// exitHint says what to do about it.
func (c *Connection) exitHint(e *wire.ExitError, noise string) string {
	switch {
	case e.Code == 127:
		return "Something that it runs was not found: install it, or add its folder to PATH."
	case e.Code == 0 || noise != "" && e.Stderr == "":
		return "It may have printed its help only: look whether it needs an argument to speak over standard input and output."
	case e.Ending == "signal: killed":
		return "It was killed from outside; the system does that to programs that take too much memory."
	}
	return fmt.Sprintf("Run the command in a terminal to see what it needs: %s", c.commandLine())
}

// silence says that a server did not answer in time, and what to do about it.
func (c *Connection) silence(limit time.Duration, noise string) (message, hint string) {
	message = fmt.Sprintf("It did not answer within %s.", limit)
	switch {
	case c.cfg.transport() != TransportStdio:
		return message, "Check the address, and whether the server is at work; if it is only slow, give it a longer start time."
	case noise != "":
		return message, "Look whether it needs an argument to speak over standard input and output, and have it write its own lines to standard error."
	case runner(c.cfg.Command, c.cfg.Args):
		return message, "It may still be downloading what it runs: start it again, or give it a longer start time."
	}
	return message, "Check the command; if it is only slow, give it a longer start time."
}

// refusal says that a server answered the handshake with an error.
func refusal(e *wire.Error) (message, hint string) {
	if e.Invalid {
		return fmt.Sprintf("Its answer to the handshake cannot be used: %s.", strings.TrimSuffix(e.Message, ".")), "Tell its author; until it is mended, another version of it may work."
	}
	if wire.NotOffered(e) {
		return "It sends back what it is sent: it is no MCP server.", "Check the command; a shell and programs such as cat answer like this."
	}
	return fmt.Sprintf("It refused to begin: %s (error %d).", strings.TrimSuffix(e.Message, "."), e.Code),
		"Look at its log, and whether it needs a key or another setting."
}

// listFailure says why a server that had started did not list its tools.
func listFailure(err error, limit time.Duration) error {
	if errors.Is(err, errStartLimit) {
		return fmt.Errorf("it did not answer tools/list within %s%w", limit, quiet{err})
	}
	return fmt.Errorf("the answer to tools/list did not come: %w", err)
}

// unanswered is the cause with which a limit of d ends what the server was asked for.
func unanswered(d time.Duration) error {
	return fmt.Errorf("the server did not answer within %s%w", d, quiet{context.DeadlineExceeded})
}

// quiet keeps a cause without a word of it.
type quiet struct{ err error }

func (quiet) Error() string   { return "" }
func (q quiet) Unwrap() error { return q.err }

// advised is an error with what to do about it.
type advised struct {
	error
	hint string
}

func (e *advised) Hint() string  { return e.hint }
func (e *advised) Unwrap() error { return e.error }
