package mcphost

import (
	"fmt"
	"strings"
	"time"
)

// State of a connection.
type State string

// The states of a connection.
const (
	StateStarting State = "starting"
	StateReady    State = "ready"
	StateFailed   State = "failed"
	StateStopped  State = "stopped"
)

// Observation is something that happened on a connection. [Options.Observe]
// is called with one at a time for each connection, in order, on the
// connection's own goroutine; it must not block for long.
type Observation interface{ observation() }

// StateChanged says that a connection changed its state. Err is set in
// StateFailed and is then a *[StartError] if the start failed.
type StateChanged struct {
	Server   string
	State    State
	Protocol string // negotiated version, e.g. "2025-11-25"; "" before
	Tools    int    // number of tools, in StateReady
	Err      error
	Detail   string
}

// ListChanged says that a list has been read again and differs from before.
type ListChanged struct {
	Server string
	Kind   string // "tools", "prompts", "resources", "instructions"
}

// ResourceUpdated says that the server reported a change of a subscribed
// resource.
type ResourceUpdated struct{ Server, URI string }

// Noise is output on the server's protocol stream that is not a message.
// Repeats are counted and rate-limited.
type Noise struct {
	Server string
	Line   string
	Count  int // lines since the last report, this one included
}

// LogMessage is a notifications/message of the server. Those that come too fast
// are counted and not observed.
type LogMessage struct {
	Server, Level, Logger, Text string
	Count                       int // messages since the last of its kind was observed, this one included
}

// Exited says that the server's process ended without being asked to.
type Exited struct {
	Server string
	Code   int    // exit status; -1 if a signal ended it
	Ending string // how it ended, in words: "exit status 3", "signal: killed", "closed its standard output"
	Stderr string // its last lines
}

// Late is an answer to a tool call that arrived after the call had ended
// here (cancelled, timed out).
type Late struct {
	Server string
	Owner  string // the call's owner token
	Raw    []byte // the whole message
}

// ElicitationDone is a notifications/elicitation/complete of the server: what
// was asked for in a browser has been finished there.
type ElicitationDone struct{ Server, ElicitationID string }

func (StateChanged) observation()    {}
func (ListChanged) observation()     {}
func (ResourceUpdated) observation() {}
func (Noise) observation()           {}
func (LogMessage) observation()      {}
func (Exited) observation()          {}
func (Late) observation()            {}
func (ElicitationDone) observation() {}

// Stages of a start, in the order they are passed.
const (
	StageProgram   = "program"   // finding the program, or checking the URL
	StageStart     = "start"     // running it, or reaching the endpoint
	StageHandshake = "handshake" // agreeing on a protocol version
	StageList      = "list"      // reading what it offers
)

// StartError says why a server could not be started, at which stage, and what
// a person can do about it.
type StartError struct {
	Server   string
	Stage    string
	Message  string // a sentence
	Hint     string // a sentence; may be empty
	Stderr   string // the last lines the program wrote to stderr
	ExitCode int    // exit status where the program ended; -1 if a signal ended it, 0 if it did not end
	Exited   bool   // the program ended
	// KeyRefused says, with StageSignIn, that the server refused the key, token or
	// password of its own entry: there is nothing to sign in to.
	KeyRefused bool
	// Stopped says that the start was ended from here before it was over.
	Stopped bool
	Err     error
}

// Error returns one text with all that is known.
func (e *StartError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "server %q did not start: %s", e.Server, e.Message)
	if e.Hint != "" {
		if strings.Contains(e.Message, "\n") { // what the server wrote stands at its end
			b.WriteString("\n")
		} else {
			b.WriteString(" ")
		}
		b.WriteString(e.Hint)
	}
	if s := strings.TrimSpace(e.Stderr); s != "" {
		b.WriteString("\nIts last output on stderr:\n")
		b.WriteString(s)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// LogLine is one line of a connection's log.
type LogLine struct {
	Time  time.Time
	Kind  string // "state", "stdout" (noise), "stderr", "message" (server's log), "warning"
	Level string // of a server's message
	Text  string
}

// Frame is one message as it was on the wire, redacted by [Options.Redact].
type Frame struct {
	Time      time.Time
	Direction string // "out" or "in"
	Bytes     []byte // its beginning, at most 16 KiB before it was redacted
	Size      int    // of the whole message on the wire, in bytes
	Cut       bool   // Bytes lacks its end
}

// Problem is something in what a server offers that was left out or
// corrected.
type Problem struct {
	Item    string // e.g. `tool "x"`
	Message string // a sentence
}
