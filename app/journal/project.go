package journal

import (
	"encoding/json"
	"fmt"

	"steward/storage"
)

// projection is a record as its events so far make it. The journal's goroutine
// and Verify use the same rules, so that a row changed in the file shows.
type projection struct {
	row    storage.Record
	words  string // for the search index
	closed bool
}

// single tells whether an event opens and closes its record at once.
func single(event string) bool { return knownKind(Kind(event)) }

func knownKind(k Kind) bool {
	switch k {
	case KindCall, KindElicitation, KindSampling, KindModel, KindResource, KindPrompt, KindServer, KindDefinition, KindGrant, KindSettings:
		return true
	}
	return false
}

// first tells whether an event begins a record.
func first(event string) bool { return event == evProposed || single(event) }

// project applies an event to the record's state, nil for a new record, and
// gives the new state. An error says that the events make no sense.
func project(p *projection, e storage.Event, m meta, arguments string) (*projection, error) {
	if first(e.Kind) {
		if p != nil {
			return nil, fmt.Errorf("record %d begins twice", e.Record)
		}
		p = &projection{row: storage.Record{
			N: e.Record, Kind: string(m.Kind), Parent: m.Parent, Time: e.Time, Conversation: m.Conversation,
			Server: m.Server, Tool: m.Tool, Arguments: arguments, Model: m.Model, Outcome: Waiting, Effect: EffectNone,
		}}
		if single(e.Kind) {
			p.end(m)
		}
		return p, nil
	}
	if p == nil {
		return nil, fmt.Errorf("record %d has an event %s before its first", e.Record, e.Kind)
	}
	if p.closed {
		if e.Kind != evLate && e.Kind != evFrames {
			return nil, fmt.Errorf("record %d has an event %s after its outcome", e.Record, e.Kind)
		}
		return p, nil
	}
	next := *p
	switch e.Kind {
	case evShown, evSent, evAttempt, evFrames, evLate:
	case evDecided:
		next.row.Decision, next.row.By = m.Decision, m.By
	case evIntent:
		next.row.Outcome, next.row.Effect = Running, EffectUnknown
	case evOutcome:
		next.end(m)
	default:
		return nil, fmt.Errorf("record %d has an event of the unknown kind %q", e.Record, e.Kind)
	}
	return &next, nil
}

func (p *projection) end(m meta) {
	p.row.Outcome, p.row.Effect, p.row.Seconds = m.Outcome, m.Effect, m.Seconds
	p.closed = true
}

// effectOf is the effect that the outcome word alone says, given whether the
// intent was recorded; "" where both are possible.
func effectOf(outcome string, intended bool) string {
	switch outcome {
	case OK, ToolError:
		return EffectDone
	case Denied, Expired, Withdrawn:
		return EffectNone
	case Cancelled:
		if !intended {
			return EffectNone
		}
		return EffectUnknown
	case Timeout, Unknown, ProtocolError:
		return EffectUnknown
	}
	return ""
}

// readMeta reads an event's stored meta.
func readMeta(e storage.Event) (m meta, err error) {
	err = json.Unmarshal([]byte(e.Meta), &m)
	return m, err
}

// readContent reads an event's body; an erased or absent one is empty.
func readContent(e storage.Event) (c content, err error) {
	if e.Body == nil || e.Body.Erased {
		return c, nil
	}
	err = json.Unmarshal(e.Body.Bytes, &c)
	return c, err
}

// argumentsOf is what the projection shows as arguments.
func argumentsOf(c content) string {
	if c.Arguments == nil {
		return ""
	}
	return c.Arguments.Text
}
