package consent

import (
	"context"
	"encoding/json"
	"time"

	"steward/app/event"
	"steward/mcphost"
)

// Live is what is known of a call that runs at its server.
type Live struct {
	Record       int64
	Decision, By string
	Started      time.Time
	Edited       string // the arguments that run, where the person changed them
	Progress     *event.Progress
}

// Live tells of a call while it runs, by its own id or by that of the call which it took
// the place of.
func (g *Gate) Live(id string) (Live, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.running {
		if r.call.ID() != id && r.call.Edited() != id {
			continue
		}
		l := Live{Record: r.entry.Number(), Decision: r.decided.word, By: r.decided.by, Started: r.started, Progress: r.last}
		if r.call.ID() != id {
			l.Edited = r.call.Arguments()
		}
		return l, true
	}
	return Live{}, false
}

func (g *Gate) progressed(r *run, p event.Progress) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r.last = &p
}

// ReadResult cleans a recorded result of a call as it was cleaned when it came. What
// cannot be read gives nothing.
func (g *Gate) ReadResult(raw json.RawMessage) (blocks []event.Content, structured json.RawMessage) {
	var result struct {
		Content    json.RawMessage `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
	}
	if json.Unmarshal(raw, &result) != nil {
		return nil, nil
	}
	read, _ := mcphost.ReadContents(result.Content) // what is odd in it was told when it came
	c := g.readContent(read, result.Structured)
	return c.blocks, c.structured
}

// ToolStates says of each tool of a server how it stands to what was reviewed: StateNew,
// StateChanged or StateSame. Nothing of a server that is blocked as a whole is the same.
func (g *Gate) ToolStates(ctx context.Context, conn *mcphost.Connection) (map[string]string, error) {
	pins, err := g.pinsOf(ctx, conn)
	if err != nil {
		return nil, err
	}
	blocked := whyBlocked(pins, conn) != ""
	out := map[string]string{}
	for _, t := range conn.Tools() {
		pin, ok := pins[pinKey{pinTool, t.Name}]
		switch {
		case !ok:
			out[t.Name] = StateNew
		case blocked || pin.Hash != t.Definition:
			out[t.Name] = StateChanged
		default:
			out[t.Name] = StateSame
		}
	}
	return out, nil
}

// Claims words what a server says of its tool as claims; safe to show.
func (g *Gate) Claims(t mcphost.Tool) []string { return claims(t) }
