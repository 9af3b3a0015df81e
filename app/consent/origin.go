package consent

import (
	"context"
	"slices"
	"strings"
	"time"

	"steward/app/journal"
	"steward/mcphost"
)

// maxDeclines is how many refusals in one turn mute a server for the rest of it.
const maxDeclines = 2

// maxTurns bounds how many turns' counts are kept.
const maxTurns = 512

// enter and leave frame the time in which a call runs at its server.
func (g *Gate) enter(r *run) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running[r.call.ID()] = r
}

func (g *Gate) leave(r *run) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.running, r.call.ID())
}

// origin is whose question a server's question is: that of the one call that
// runs on its connection, that of the conversation whose calls run on it, or nobody's in
// particular.
type origin struct {
	server       string
	call         string // empty where it cannot be told
	tool         string
	parent       int64
	conversation string
	model        string
	running      []string
	turn         string // for counting
	conn         *mcphost.Connection
	calls        []context.Context // of the calls that run
	// over says why a question ends with its context; nil is givenUp.
	over func(context.Context) (decision, string)
}

func (g *Gate) origin(server string, calls []string) origin {
	g.mu.Lock()
	defer g.mu.Unlock()
	o := origin{server: server, running: slices.Clone(calls)}
	var turns []string
	var runs []*run
	for _, id := range calls {
		if r := g.running[id]; r != nil {
			turns = append(turns, r.call.Turn())
			o.calls = append(o.calls, r.ctx)
			runs = append(runs, r)
		}
	}
	other := func(r *run) bool {
		return r.call.Conversation() != runs[0].call.Conversation() || r.conn != runs[0].conn
	}
	if len(runs) > 0 && len(runs) == len(calls) && !slices.ContainsFunc(runs, other) {
		o.conversation, o.model, o.conn = runs[0].call.Conversation(), runs[0].call.Model(), runs[0].conn
	}
	if len(runs) == 1 && len(calls) == 1 {
		o.call, o.tool, o.parent = runs[0].call.ID(), runs[0].call.Tool(), runs[0].entry.Number()
	}
	slices.Sort(turns)
	o.turn = strings.Join(slices.Compact(turns), "+")
	if o.turn == "" { // asked outside of any call: counted by the hour
		o.turn = g.o.Now().UTC().Truncate(time.Hour).Format(time.RFC3339)
	}
	return o
}

func (o origin) proposal(kind journal.Kind, arguments string, detail any) journal.Proposal {
	return journal.Proposal{
		Kind: kind, Parent: o.parent, Conversation: o.conversation, Server: o.server, Tool: o.tool,
		Arguments: arguments, Model: o.model, Detail: detail,
	}
}

// turnLimits counts what one server asked for in one turn.
type turnLimits struct {
	declines int
	samples  map[string]int // by call
	told     bool
}

// limits returns the counts of a server in a turn; the caller holds g.mu.
func (g *Gate) limits(o origin) *turnLimits {
	key := o.server + "\x00" + o.turn
	l := g.turns[key]
	if l == nil {
		if len(g.turns) >= maxTurns {
			clear(g.turns) // ends old counts; a server gains two questions by it
		}
		l = &turnLimits{samples: map[string]int{}}
		g.turns[key] = l
	}
	return l
}

// muted tells whether a server has been refused too often in this turn.
func (g *Gate) muted(o origin) bool {
	g.mu.Lock()
	l := g.limits(o)
	muted := l.declines >= maxDeclines
	tell := muted && !l.told
	l.told = l.told || muted
	g.mu.Unlock()
	if tell {
		g.notice(o.conversation, "muted", o.server, "The server "+o.server+" was refused twice and is not asked about again in this turn; its further questions are declined.")
	}
	return muted
}

func (g *Gate) declined(o origin) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.limits(o).declines++
}

// sampled counts a request to the model; false where there were too many.
func (g *Gate) sampled(o origin) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.limits(o)
	l.samples[o.call]++
	return l.samples[o.call] <= g.o.MaxSamples
}
