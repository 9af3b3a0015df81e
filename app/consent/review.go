package consent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"steward/app/clean"
	"steward/app/journal"
	"steward/mcphost"
	"steward/storage"
)

// States of a Change.
const (
	StateNew     = "new"
	StateChanged = "changed"
	StateRemoved = "removed"
	StateSame    = "same"
)

// Kinds of what is pinned.
const (
	pinTool         = "tool"
	pinPrompt       = "prompt"
	pinInstructions = "instructions"
	pinServer       = "server"
)

type pinKey struct{ kind, name string }

// Change is one definition against what was reviewed before. Old and New are
// the whole texts, through clean.Reveal line by line; empty where there is none.
type Change struct {
	Kind     string // tool, prompt, instructions or server (its configuration)
	Name     string // through clean.Reveal
	State    string
	Old, New string
	Warnings []string
}

// Review is everything a server offers against what was reviewed before.
type Review struct {
	Server string
	// Known is false where nothing of this server was ever reviewed.
	Known bool
	// Blocked says that the whole server is blocked: never reviewed, or its
	// instructions or its configuration changed.
	Blocked bool
	Changes []Change
	// Hash covers all that is shown; Trust takes it.
	Hash string
}

// New counts what there was nothing of when the server was reviewed last.
func (r Review) New() int {
	n := 0
	for _, c := range r.Changes {
		if c.State == StateNew {
			n++
		}
	}
	return n
}

// Pending counts what needs a person's eye: everything new or changed.
func (r Review) Pending() int {
	n := 0
	for _, c := range r.Changes {
		if c.State == StateNew || c.State == StateChanged {
			n++
		}
	}
	return n
}

// Reviewed returns the tools of a connection that may reach a model: the server
// as a whole is reviewed and current, and so is the tool's own definition. A
// server that was never reviewed contributes nothing.
func (g *Gate) Reviewed(ctx context.Context, conn *mcphost.Connection) ([]mcphost.Tool, error) {
	pins, err := g.pinsOf(ctx, conn)
	if err != nil || whyBlocked(pins, conn) != "" {
		return nil, err
	}
	var out []mcphost.Tool
	for _, t := range conn.Tools() {
		if p, ok := pins[pinKey{pinTool, t.Name}]; ok && p.Hash == t.Definition {
			out = append(out, t)
		}
	}
	return out, nil
}

// Offered returns the reviewed tools that a model is offered in a conversation: those
// that the person has not switched off and that are meant for models.
func (g *Gate) Offered(ctx context.Context, conversation string, conn *mcphost.Connection) ([]mcphost.Tool, error) {
	tools, err := g.Reviewed(ctx, conn)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(tools, func(t mcphost.Tool) bool {
		return t.AppOnly || g.disabled(conversation, conn.Server(), t)
	}), nil
}

// Instructions returns the server's instructions, cleaned, if the model may see
// them.
func (g *Gate) Instructions(ctx context.Context, conn *mcphost.Connection) (string, error) {
	pins, err := g.pinsOf(ctx, conn)
	if err != nil || whyBlocked(pins, conn) != "" {
		return "", err
	}
	return clean.Clean(g.o.Redact(conn.Info().Instructions)), nil
}

// Blocked says why nothing of a server may reach a model; empty where it may.
func (g *Gate) Blocked(ctx context.Context, conn *mcphost.Connection) (string, error) {
	pins, err := g.pinsOf(ctx, conn)
	if err != nil {
		return "", err
	}
	return whyBlocked(pins, conn), nil
}

// PromptReviewed tells whether a prompt is as it was reviewed.
func (g *Gate) PromptReviewed(ctx context.Context, conn *mcphost.Connection, p mcphost.Prompt) (bool, error) {
	pins, err := g.pinsOf(ctx, conn)
	if err != nil || whyBlocked(pins, conn) != "" {
		return false, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.listed(conn.Server()) {
		pins = g.seen[seenKey(conn)]
	}
	key := pinKey{pinPrompt, p.Name}
	pin, ok := pins[key]
	if !ok && g.listed(conn.Server()) {
		next := maps.Clone(g.seen[seenKey(conn)]) // others may be reading the old one
		next[key] = storage.Pin{Server: conn.Server(), Kind: pinPrompt, Name: p.Name, Hash: p.Definition}
		g.seen[seenKey(conn)] = next
		return true, nil
	}
	return ok && pin.Hash == p.Definition, nil
}

// Review compares what the server offers now with what was reviewed before.
func (g *Gate) Review(ctx context.Context, conn *mcphost.Connection) (Review, error) {
	r, _, err := g.review(ctx, conn, conn.Prompts)
	return r, err
}

// ReviewWith is Review for who has just read the server's prompts: it is not asked again.
func (g *Gate) ReviewWith(ctx context.Context, conn *mcphost.Connection, prompts []mcphost.Prompt) (Review, error) {
	r, _, err := g.review(ctx, conn, func(context.Context) ([]mcphost.Prompt, error) { return prompts, nil })
	return r, err
}

// review also returns the pins of exactly what the Review shows.
func (g *Gate) review(ctx context.Context, conn *mcphost.Connection, prompts readPrompts) (Review, []storage.Pin, error) {
	if s := conn.State(); s != mcphost.StateReady {
		return Review{}, nil, fmt.Errorf("the server %s is not running, so there is nothing to review; start it first", conn.Server())
	}
	now, err := g.current(ctx, conn, prompts)
	if err != nil {
		return Review{}, nil, err
	}
	before, err := g.pinsOf(ctx, conn)
	if err != nil {
		return Review{}, nil, err
	}
	if g.listed(conn.Server()) {
		before = g.promptsSeen(conn, now)
	}
	r := Review{Server: clean.Reveal(conn.Server()), Known: len(before) > 0, Blocked: whyBlocked(before, conn) != ""}
	parts := []string{"review", conn.Server()}
	for _, p := range now {
		c := change(p, before)
		r.Changes = append(r.Changes, c)
		parts = append(parts, p.Kind, p.Name, p.Hash)
	}
	for _, p := range sorted(before) {
		gone := !slices.ContainsFunc(now, func(n storage.Pin) bool { return n.Kind == p.Kind && n.Name == p.Name })
		if gone && p.Hash != "" {
			r.Changes = append(r.Changes, Change{Kind: p.Kind, Name: clean.Reveal(p.Name), State: StateRemoved, Old: revealPin(p)})
		}
	}
	r.Hash = hashOf(parts...)
	return r, now, nil
}

func change(p storage.Pin, before map[pinKey]storage.Pin) Change {
	c := Change{Kind: p.Kind, Name: clean.Reveal(p.Name), State: StateNew, New: revealPin(p)}
	c.Warnings = nameWarnings(p.Kind, p.Name)
	if f := findings(p.Text, innerStrings(json.RawMessage(p.Text))); len(f) > 0 {
		c.Warnings = append(c.Warnings, "The text holds characters that are easily overlooked: "+strings.Join(f, ", ")+".")
	}
	old, ok := before[pinKey{p.Kind, p.Name}]
	switch {
	case ok && old.Hash == p.Hash:
		c.State, c.Old = StateSame, c.New
	case ok:
		c.State, c.Old = StateChanged, revealPin(old)
	case p.Hash == "": // no instructions, none before
		c.State = StateSame
	}
	return c
}

// Trust pins everything the server offers now. shown is Review.Hash of what the
// person saw; where it is not empty and something has changed since, nothing is
// pinned.
func (g *Gate) Trust(ctx context.Context, conn *mcphost.Connection, shown string) error {
	r, now, err := g.review(ctx, conn, conn.Prompts)
	if err != nil {
		return err
	}
	if shown != "" && shown != r.Hash {
		return fmt.Errorf("%w: the server %s has changed what it offers; review it again", ErrShown, conn.Server())
	}
	if err := g.notePins(ctx, conn, now, "person"); err != nil {
		return err
	}
	err = g.o.Store.Write(ctx, func(tx *storage.Tx) error {
		if err := tx.DeletePins(conn.Server()); err != nil {
			return err
		}
		for _, p := range now {
			if err := tx.PutPin(p); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("the review of the server %s could not be stored: %w", conn.Server(), err)
	}
	g.mu.Lock()
	g.reviews++
	delete(g.pins, conn.Server())
	if g.listed(conn.Server()) {
		g.seen[seenKey(conn)] = byKey(now)
	}
	g.mu.Unlock()
	return nil
}

// notePins records what was reviewed and by whom.
func (g *Gate) notePins(ctx context.Context, conn *mcphost.Connection, pins []storage.Pin, by string) error {
	hashes := map[string]string{}
	for _, p := range pins {
		hashes[p.Kind+":"+p.Name] = p.Hash
	}
	_, err := g.o.Journal.NoteNow(ctx, journal.Proposal{
		Kind: journal.KindDefinition, Server: conn.Server(), Definition: conn.Config().Hash,
		Detail: map[string]any{"reviewed_by": by, "pins": hashes},
	}, journal.Outcome{Outcome: journal.OK, Effect: journal.EffectDone, Reason: reviewedBy(by)})
	if err != nil {
		return fmt.Errorf("the review of the server %s could not be recorded: %w", conn.Server(), err)
	}
	return nil
}

func reviewedBy(by string) string {
	if by == "person" {
		return "Reviewed and trusted by the person."
	}
	return "Counted as reviewed: given for this run, or built in."
}

func (g *Gate) listed(server string) bool { return g.o.Listed != nil && g.o.Listed(server) }

func seenKey(conn *mcphost.Connection) string { return conn.Server() + "\x00" + conn.Config().Hash }

// pinsOf returns what was reviewed of a server: what is stored or, for a server
// of a file given for this run, what it offered when it was first seen. So a
// definition that changes during the run is blocked there as well.
func (g *Gate) pinsOf(ctx context.Context, conn *mcphost.Connection) (map[pinKey]storage.Pin, error) {
	if g.listed(conn.Server()) {
		return g.firstSeen(ctx, conn)
	}
	g.mu.Lock()
	pins, ok := g.pins[conn.Server()]
	reviews := g.reviews
	g.mu.Unlock()
	if ok {
		return pins, nil
	}
	stored, err := g.o.Store.Pins(ctx, conn.Server())
	if err != nil {
		return nil, fmt.Errorf("what was reviewed of the server %s cannot be read: %w", conn.Server(), err)
	}
	pins = byKey(stored)
	g.mu.Lock()
	if reviews == g.reviews { // else these may be older than a review that was stored meanwhile
		g.pins[conn.Server()] = pins
	}
	g.mu.Unlock()
	return pins, nil
}

func (g *Gate) firstSeen(ctx context.Context, conn *mcphost.Connection) (map[pinKey]storage.Pin, error) {
	g.mu.Lock()
	pins, ok := g.seen[seenKey(conn)]
	g.mu.Unlock()
	if ok || conn.State() != mcphost.StateReady {
		return pins, nil
	}
	now, err := g.current(ctx, conn, nil)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	if pins, ok := g.seen[seenKey(conn)]; ok {
		g.mu.Unlock()
		return pins, nil
	}
	pins = byKey(now)
	g.seen[seenKey(conn)] = pins
	g.mu.Unlock()
	if err := g.notePins(ctx, conn, now, "flag"); err != nil {
		g.mu.Lock()
		delete(g.seen, seenKey(conn)) // what is not recorded does not count
		g.mu.Unlock()
		return nil, err
	}
	return pins, nil
}

// promptsSeen counts the prompts of a listed server as first seen when they are
// first read, which is later than its tools, and returns all that counts.
func (g *Gate) promptsSeen(conn *mcphost.Connection, now []storage.Pin) map[pinKey]storage.Pin {
	g.mu.Lock()
	defer g.mu.Unlock()
	seen := maps.Clone(g.seen[seenKey(conn)]) // others may be reading the old one
	if seen == nil {
		seen = map[pinKey]storage.Pin{}
	}
	for _, p := range now {
		key := pinKey{p.Kind, p.Name}
		if _, ok := seen[key]; !ok && p.Kind == pinPrompt {
			seen[key] = p
		}
	}
	g.seen[seenKey(conn)] = seen
	return seen
}

func byKey(pins []storage.Pin) map[pinKey]storage.Pin {
	m := make(map[pinKey]storage.Pin, len(pins))
	for _, p := range pins {
		m[pinKey{p.Kind, p.Name}] = p
	}
	return m
}

func sorted(pins map[pinKey]storage.Pin) []storage.Pin {
	out := slices.Collect(maps.Values(pins))
	slices.SortFunc(out, func(a, b storage.Pin) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	return out
}

type readPrompts func(context.Context) ([]mcphost.Prompt, error)

// current makes the pins of all that a server offers now, in its order.
// Prompts, which never reach a model by themselves, cost a request and are left
// out where prompts is nil.
func (g *Gate) current(ctx context.Context, conn *mcphost.Connection, prompts readPrompts) ([]storage.Pin, error) {
	now, redact := g.o.Now().UTC(), g.o.Redact
	info, cfg := conn.Info(), conn.Config()
	pins := []storage.Pin{
		{Server: conn.Server(), Kind: pinServer, Hash: cfg.Hash, Text: redact(configText(cfg)), Reviewed: now},
		{Server: conn.Server(), Kind: pinInstructions, Hash: info.InstructionsHash, Text: redact(info.Instructions), Reviewed: now},
	}
	for _, t := range conn.Tools() {
		pins = append(pins, storage.Pin{Server: conn.Server(), Kind: pinTool, Name: t.Name, Hash: t.Definition, Text: redact(indent(t.Raw)), Reviewed: now})
	}
	if prompts == nil {
		return pins, nil
	}
	offered, err := prompts(ctx)
	if err != nil {
		return nil, fmt.Errorf("the prompts of the server %s could not be read: %w", conn.Server(), err)
	}
	for _, p := range offered {
		pins = append(pins, storage.Pin{Server: conn.Server(), Kind: pinPrompt, Name: p.Name, Hash: p.Definition, Text: redact(indent(p.Raw)), Reviewed: now})
	}
	return pins, nil
}

func indent(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// revealPin shows a definition line by line, nothing hidden in any of them. The
// blanks that begin a line of JSON are our own indentation, since a string of
// JSON holds no line break, and stay as they are.
func revealPin(p storage.Pin) string {
	if p.Kind != pinTool && p.Kind != pinPrompt {
		return revealLines(p.Text)
	}
	lines := strings.Split(p.Text, "\n")
	for i, l := range lines {
		text := strings.TrimLeft(l, " ")
		lines[i] = l[:len(l)-len(text)] + clean.Reveal(readable(text))
	}
	return strings.Join(lines, "\n")
}

// revealLines shows a text line by line, nothing hidden in any of them.
func revealLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = clean.Reveal(l)
	}
	return strings.Join(lines, "\n")
}
