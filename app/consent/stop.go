package consent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"steward/app/journal"
	"steward/mcphost"
	"steward/storage"
)

// stoppable lets a call be stopped by its id until the returned function is called.
func (g *Gate) stoppable(id string, stop context.CancelCauseFunc) (over func()) {
	g.mu.Lock()
	g.stops[id] = func() { stop(ErrStopped) }
	g.mu.Unlock()
	return func() {
		g.mu.Lock()
		delete(g.stops, id)
		g.mu.Unlock()
	}
}

// Stop stops one call that waits or runs, and nothing else; a turn it belongs to goes
// on and its model is told. False where no such call is under way. It returns at once.
func (g *Gate) Stop(call string) bool {
	g.mu.Lock()
	stop := g.stops[call]
	g.mu.Unlock()
	if stop == nil {
		return false
	}
	stop()
	return true
}

// StopAll stops every call that waits or runs. It returns at once.
func (g *Gate) StopAll() {
	g.mu.Lock()
	stops := make([]func(), 0, len(g.stops))
	for _, stop := range g.stops {
		stops = append(stops, stop)
	}
	g.mu.Unlock()
	for _, stop := range stops {
		stop()
	}
}

// Running counts the calls that are under way and do not wait for a person.
func (g *Gate) Running() int {
	g.mu.Lock()
	n := len(g.stops)
	g.mu.Unlock()
	for _, item := range g.waiting.List() {
		if item.Kind == KindCall {
			n--
		}
	}
	return max(n, 0)
}

// SetExpiry says how long items wait that are added from now on, in place of
// Policy.Expiry; 0 is for ever.
func (g *Gate) SetExpiry(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.expires = &d
}

func (g *Gate) expiryNow() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.expires != nil {
		return *g.expires
	}
	return g.o.Policy.Expiry
}

func (g *Gate) disabled(conversation, server string, t mcphost.Tool) bool {
	return g.o.Disabled != nil && g.o.Disabled(conversation, server, t.Name, t.Definition)
}

// CheckRule says what in a rule cannot be used: a word that is no effect, or a
// condition that is not understood.
func CheckRule(r storage.Rule) error {
	if r.Effect != Allow && r.Effect != Deny {
		return fmt.Errorf("a rule allows or denies; %q is neither", r.Effect)
	}
	if len(r.Condition) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(r.Condition))
	d.DisallowUnknownFields()
	var c condition
	if err := d.Decode(&c); err != nil {
		return fmt.Errorf("the condition of the rule is not understood: %w", err)
	}
	return nil
}

// WhileDefined is the condition of a rule that ends when its tool gets another definition.
func WhileDefined(definition string) (json.RawMessage, error) {
	text, err := encode(map[string]string{"definition": definition})
	return json.RawMessage(text), err
}

// DefinitionOf gives the definition that a rule is bound to, empty for none; only says that
// the rule asks nothing else of a call.
func DefinitionOf(r storage.Rule) (definition string, only bool) {
	if len(r.Condition) == 0 {
		return "", true
	}
	var c condition
	d := json.NewDecoder(bytes.NewReader(r.Condition))
	d.DisallowUnknownFields()
	if d.Decode(&c) != nil {
		return "", false
	}
	return c.Definition, len(c.Arguments) == 0
}

// RuleCovers tells whether a rule would have decided a recorded call, as if its tool had been
// defined as the rule asks. A condition that is not understood covers nothing.
func RuleCovers(r storage.Rule, rec journal.Record) bool {
	if rec.Kind != journal.KindCall || rec.Arguments == "" {
		return false
	}
	definition, _ := DefinitionOf(r)
	c, err := NewCall(CallSpec{Conversation: rec.Conversation, Server: rec.Server, Tool: rec.Tool, Definition: definition, Arguments: rec.Arguments})
	return err == nil && ruleFits(r, c, false) && (r.Effect == Deny || !repeatsName([]byte(c.Arguments())))
}
