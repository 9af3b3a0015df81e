package consent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"steward/app/event"
	"steward/app/journal"
	"steward/app/secrets"
	"steward/mcphost"
	"steward/mcphost/schema"
	"steward/mcphost/send"
	"steward/storage"
)

// Causes with which a context given to Gate.Run may be cancelled. Without one,
// a cancelled context means that the person stopped the call.
var (
	// ErrStopped says that the person stopped the turn or the call.
	ErrStopped = errors.New("stopped by the person")
	// ErrClosed says that the program ends.
	ErrClosed error = closedError{}
	// ErrAbandoned says that the person went on to something else.
	ErrAbandoned = errors.New("the person went on without deciding")
)

// closedError leaves the tasks that servers have made of calls as they are: they are
// followed on at the next start.
type closedError struct{}

func (closedError) Error() string { return "the program was closed" }
func (closedError) Unwrap() error { return send.ErrLeave }

// errEnded ends the context of a call that has its outcome.
var errEnded = errors.New("the call has ended")

// Defaults of Options.
const (
	DefaultMaxSamples = 10
	DefaultMaxTokens  = 4096
	DefaultPerHour    = 100 // requests of one server
)

// Options are what a Gate works with. Store, Journal and Bus are needed; every
// function may be nil and is then never asked.
type Options struct {
	Store   *storage.DB
	Journal *journal.Journal
	Bus     *event.Bus
	Policy  Policy
	// Redact replaces known secrets in what a server sent before a model or a
	// screen gets it.
	Redact func(string) string
	// Known knows the secrets that are replaced where the model's own words and arguments
	// are shown. Nil knows none.
	Known *secrets.Redactor
	Now   func() time.Time
	// Listed tells whether a server comes from a file given for this run and
	// counts as reviewed as it is first seen. Nil: none does.
	Listed func(server string) bool
	// Disabled tells whether the person has switched a tool off, in a conversation or as
	// a whole; conversation is empty for calls outside of one. definition is the hash of
	// the tool's definition. It must answer without waiting for anybody.
	Disabled func(conversation, server, tool, definition string) bool
	// ReadOnly tells whether the person has marked a tool, as it is defined, as one that only
	// reads. It must answer without waiting for anybody. Nil: none is.
	ReadOnly func(server, tool, definition string) bool
	// Sampling tells whether a server may ask for the model at all. Nil: none.
	Sampling func(server string) bool
	// Sample asks a model for a server, outside of any conversation's history: exactly
	// the target where it names a model, else the conversation's.
	Sample func(ctx context.Context, conversation string, t Target, record int64, r mcphost.SamplingRequest) (mcphost.SamplingAnswer, error)
	// Target names the model that a server's request goes to; the zero Target
	// where that cannot be told.
	Target func(ctx context.Context, conversation string, r mcphost.SamplingRequest) Target
	// MapHint makes requests with this hint go to this model of this endpoint from now on.
	MapHint func(ctx context.Context, endpoint, hint, model string) error
	// Limits are what the person has stated for a server's requests, and SetLimits keeps
	// (and records) what the person states now. Trust that was given to the server as it
	// was configured otherwise must not come back from Limits.
	Limits    func(server string) SamplingLimits
	SetLimits func(ctx context.Context, server string, l SamplingLimits) error
	// Twice tells whether the name of a tool must be typed before a call of it is allowed;
	// then neither a grant nor a rule allows it.
	Twice func(server, tool string) bool
	// OpenURL opens an address that the person has agreed to.
	OpenURL func(ctx context.Context, url string) error
	// SignInHint says what to do where nobody can be asked to sign in to a server: a
	// sentence, safe to show.
	SignInHint func(server string) string
	// CancelSignIn gives up the sign-in to a server whose page was opened; calls are those
	// that wait for it. It must not wait.
	CancelSignIn func(server string, calls []string)
	// MaxSamples is how often a server may ask for the model during one call,
	// MaxTokens how long an answer it may ask for.
	MaxSamples, MaxTokens int
}

// Gate is the one way to a tool. Its methods may be called from any goroutine.
type Gate struct {
	o       Options
	waiting *Waiting

	mu       sync.Mutex
	running  map[string]*run                   // by call id, from sending to the outcome
	watching map[*run]struct{}                 // waiting for a person
	late     map[string]*lateAnswer            // by call id
	lateIDs  []string                          // oldest first
	pins     map[string]map[pinKey]storage.Pin // by server, as stored
	reviews  int                               // how often pins were stored
	seen     map[string]map[pinKey]storage.Pin // by server and config hash, of listed servers
	grants   []storage.Grant
	granted  bool // grants has been read
	changes  int  // how often grants were stored
	turns    map[string]*turnLimits
	schemas  map[string]*schema.Schema // compiled, by definition
	stops    map[string]func()         // by call id, from proposal to outcome
	expires  *time.Duration            // in place of the policy's

	trusting sync.Mutex // held while a request is counted against the trust of its server
}

// maxSchemas bounds how many compiled schemas are kept.
const maxSchemas = 512

// schemaOf compiles a tool's input schema, once for each definition.
func (g *Gate) schemaOf(t mcphost.Tool) (*schema.Schema, error) {
	g.mu.Lock()
	s := g.schemas[t.Definition]
	g.mu.Unlock()
	if s != nil {
		return s, nil
	}
	s, err := schema.Compile(t.InputSchema)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.schemas) >= maxSchemas {
		clear(g.schemas)
	}
	g.schemas[t.Definition] = s
	return s, nil
}

var _ mcphost.Asker = (*Gate)(nil)

// New makes a gate. It starts no goroutine and needs no closing.
func New(o Options) *Gate {
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	if o.Known == nil {
		o.Known = &secrets.Redactor{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.MaxSamples <= 0 {
		o.MaxSamples = DefaultMaxSamples
	}
	if o.MaxTokens <= 0 {
		o.MaxTokens = DefaultMaxTokens
	}
	return &Gate{
		o: o, waiting: newWaiting(o.Bus),
		running: map[string]*run{}, watching: map[*run]struct{}{}, late: map[string]*lateAnswer{},
		pins: map[string]map[pinKey]storage.Pin{}, seen: map[string]map[pinKey]storage.Pin{},
		turns: map[string]*turnLimits{}, schemas: map[string]*schema.Schema{}, stops: map[string]func(){},
	}
}

// Waiting is the list of what waits for the person.
func (g *Gate) Waiting() *Waiting { return g.waiting }

// Observe must be told everything that happens on connections
// (mcphost.Options.Observe): a changed list withdraws what waits for a decision
// on something that is gone, and a late answer goes into the record of its call.
func (g *Gate) Observe(o mcphost.Observation) {
	switch o := o.(type) {
	case mcphost.ListChanged:
		g.poke(o.Server)
	case mcphost.StateChanged:
		if o.State != mcphost.StateStarting {
			g.poke(o.Server)
		}
	case mcphost.Late:
		g.lateAnswer(o)
	}
}

// poke makes every call that waits for a decision on this server look again
// whether it is still current.
func (g *Gate) poke(server string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for r := range g.watching {
		if r.server == server {
			r.lookAgain()
		}
	}
}

// lateAnswer is the record of a call that ended without an answer, so that an
// answer which comes after all stands in it.
type lateAnswer struct {
	entry   *journal.Entry
	closed  bool     // the outcome is written
	pending [][]byte // came before that
}

const maxLate = 256

func (g *Gate) expectLate(id string, e *journal.Entry) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.late[id] = &lateAnswer{entry: e}
	g.lateIDs = append(g.lateIDs, id)
	if len(g.lateIDs) > maxLate {
		delete(g.late, g.lateIDs[0])
		g.lateIDs = g.lateIDs[1:]
	}
}

// outcomeWritten hands over what came in while the outcome was being written.
func (g *Gate) outcomeWritten(ctx context.Context, id string) {
	g.mu.Lock()
	l := g.late[id]
	var pending [][]byte
	if l != nil {
		l.closed = true
		pending, l.pending = l.pending, nil
	}
	g.mu.Unlock()
	for _, raw := range pending {
		g.writeLate(ctx, l.entry, raw)
	}
}

func (g *Gate) lateAnswer(o mcphost.Late) {
	g.mu.Lock()
	l := g.late[o.Owner]
	if l != nil && !l.closed {
		l.pending = append(l.pending, o.Raw)
		l = nil
	}
	g.mu.Unlock()
	if l != nil {
		g.writeLate(context.Background(), l.entry, o.Raw)
	}
}

func (g *Gate) writeLate(ctx context.Context, e *journal.Entry, raw []byte) {
	if err := e.Late(ctx, raw); err != nil {
		g.notice("", "journal", "", "An answer that came after its call had ended could not be recorded: "+err.Error())
	}
}

func (g *Gate) notice(conversation, kind, server, message string) {
	g.o.Bus.Publish(event.Notice{Conversation: conversation, Kind: kind, Server: server, Message: message})
}

// Refuse records a call that names no tool which could be called, so that it
// stands in the journal like every other call. The tool is the name the model
// used, of no server, or a tool that was offered once; reason is a sentence.
func (g *Gate) Refuse(ctx context.Context, conversation, server, tool, arguments, model, reason string) error {
	_, err := g.o.Journal.Note(context.WithoutCancel(ctx), journal.Proposal{
		Kind: journal.KindCall, Conversation: conversation, Server: server, Tool: tool, Arguments: arguments, Model: model,
	}, journal.Outcome{Outcome: journal.Withdrawn, Effect: journal.EffectNone, Reason: reason})
	if err != nil {
		return fmt.Errorf("a refused call could not be recorded: %w", err)
	}
	return nil
}
