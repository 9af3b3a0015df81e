package consent

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"steward/app/event"
	"steward/app/journal"
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
	c, _ := g.recorded(raw)
	return c.blocks, c.structured
}

func (g *Gate) recorded(raw json.RawMessage) (c content, ok bool) {
	var result struct {
		Content    json.RawMessage `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
	}
	if json.Unmarshal(raw, &result) != nil {
		return content{}, false
	}
	read, _ := mcphost.ReadContents(result.Content) // what is odd in it was told when it came
	return g.readContent(read, result.Structured), true
}

// Recorded tells from its record how a call ended, as Run would have told it; with the
// outcome journal.Running where that is open. Sent, Call, Content and Notes stay empty.
func (g *Gate) Recorded(d journal.Detail) Outcome {
	o := Outcome{
		Record: d.Record.Record, Decision: d.Decision, By: d.By, Outcome: d.Outcome, Effect: d.Effect,
		Reason: g.cleanText(d.Reason), Text: TextRunning, Seconds: d.Seconds,
	}
	if d.Outcome == journal.Running {
		return o
	}
	o.Text = textFor(o)
	if d.Outcome != journal.OK && d.Outcome != journal.ToolError {
		return o
	}
	said := ""
	if c, ok := g.recorded(d.Result); ok && !d.Cut {
		said, o.Structured, o.Images = c.text, c.structured, c.images
	} else if json.Unmarshal(d.Result, &said) == nil { // its beginning, as a string
		said = g.cleanText(said) + "\n[the rest of the result is not kept]"
	} else if d.Erased {
		said = "[its result was erased]"
	}
	if d.Outcome == journal.OK && said != "" {
		o.Text = said
	} else {
		o.Text = strings.TrimSpace(o.Text + "\n" + said)
	}
	return o
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
