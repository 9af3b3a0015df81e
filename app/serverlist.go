package app

import (
	"encoding/json"
	"time"

	"steward/app/config"
)

// States of a ServerStatus beside the connection's own (starting, ready, failed, stopped).
const (
	ServerIdle       = "idle"       // may start, has not been needed yet
	ServerDisabled   = "disabled"   // switched off
	ServerUnreviewed = "unreviewed" // nobody has reviewed it as it is configured now
	ServerUnusable   = "unusable"   // its entry cannot be used
)

// ServerStatus is one server in the list. All text is safe to show but Name, which is to
// be shown through clean.Reveal.
type ServerStatus struct {
	Name      string
	Transport string // stdio, http or sse
	Address   string // command line or URL, secrets left out
	State     string // starting, ready, failed, stopped or one of the Server… states
	Protocol  string
	Title     string // what it calls itself, with its version
	// Counts are -1 while they are not known.
	Tools, Prompts, Resources, Templates int
	Pending                              int // definitions that wait for a review
	New                                  int // of those, how many there was nothing of before
	Error                                string
	Hint                                 string // what to do about Error, or empty
	Output                               string // the last it wrote on standard error, where its start failed
	Since                                time.Time
	Latency                              time.Duration // of the last ping; 0 unknown
	Enabled                              bool
	Reviewed                             bool // as it is configured now, as far as can be told without starting it
	Editable                             bool // it stands in the data folder's own list
	BuiltIn                              bool // the demo server
	Sampling                             bool // it may ask for the model
	Roots                                int  // folders that its entry shares with it
	Problems                             []string
	SignIn                               ServerSignIn
}

// ServerEntry is a server as written in the servers file.
type ServerEntry = config.Server

// OAuth is what a ServerEntry sets about signing in.
type OAuth = config.OAuth

// ServerDetail is everything there is to know about one server.
type ServerDetail struct {
	ServerStatus
	Entry        ServerEntry // as written; what is secret in it stands as ${secret:NAME} or is left out
	InFile       []string    // the NAMEs of Entry's ${secret:NAME} that are no secrets yet: the values stand in the list itself
	Instructions string
	ServerTools  []ServerTool
	ServerOffers
	Log []LogLine
	// LogLevel is the least severe kind of message that the server is asked for, one of
	// LogLevels; "" where it does not run or does not log.
	LogLevel string
	Stderr   string
	Frames   []Frame
	Doctor   []Check // of what is known without starting it again
}

// ServerOffers are what else a server offers.
type ServerOffers struct {
	Known        bool // false: the server has not answered yet; a ServersChanged event tells when it has
	PromptList   []Prompt
	ResourceList []Resource
	TemplateList []Resource
	OfferError   string // what could not be listed
}

// Permissions of a tool.
const (
	PermissionAsk   = "ask"
	PermissionAllow = "allow"
	PermissionDeny  = "deny"
)

// ServerTool is one tool of a server with what the person has set for it. Enabled of the
// embedded Tool says that the model may be offered it: reviewed, and switched on.
type ServerTool struct {
	Tool
	Permission string // ask, allow or deny
	Rule       string // the rule's id; empty for ask
	Grants     []Grant
	SwitchedOn bool
	ReadOnly   bool   // marked as read-only by the person
	Twice      bool   // its name must be typed before it is allowed
	AppOnly    bool   // meant for its server's app page, which is not drawn; no model is offered it
	State      string // new, changed or same, against what was reviewed
	Claims     []string
	Output     json.RawMessage // outputSchema, or nil
	Icon       bool            // it has a picture that can be shown, see App.ToolIcon
}

// LogLine is one line of a server's log; Text is cleaned. Kind is state, stdout, stderr,
// message or warning; Level is that of a server's own message.
type LogLine struct {
	Time  time.Time
	Kind  string
	Level string
	Text  string
}

// Frame is one message on the wire, secrets replaced. Direction is out or in.
type Frame struct {
	Time      time.Time
	Direction string
	Bytes     []byte
	Length    int64 // in bytes, where Bytes is cut
	Cut       bool  // not all of it was kept
}
