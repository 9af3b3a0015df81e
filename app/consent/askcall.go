package consent

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"steward/app/clean"
	"steward/app/journal"
	"steward/mcphost"
	"steward/mcphost/schema"
)

// watch makes the run hear of changes at its server while a person decides.
func (g *Gate) watch(r *run) (stop func()) {
	g.mu.Lock()
	g.watching[r] = struct{}{}
	g.mu.Unlock()
	return func() {
		g.mu.Lock()
		delete(g.watching, r)
		g.mu.Unlock()
	}
}

// lookAgain makes the run look whether its call is still current. It never waits.
func (r *run) lookAgain() {
	select {
	case r.look <- struct{}{}:
	default: // it is about to look anyway
	}
}

// ask puts the call into the waiting list and waits for what ends the waiting:
// an answer, the expiry, a stop, or a change at the server.
func (r *run) ask() (decision, error) {
	defer r.g.watch(r)()
	call := r.call // the item and its answers keep to it; an edit replaces r.call
	if err := r.shown(call.Hash()); err != nil {
		return decision{}, err
	}
	item := Item{
		ID: call.ID(), Kind: KindCall, Hash: call.Hash(), Conversation: call.Conversation(), Server: call.Server(),
		Record: r.entry.Number(), Since: r.g.o.Now(), Call: &call, Twice: r.twice(), schema: r.schema,
		Presentation: withoutKnown(presentCall(call, r.tool, r.warnings()), r.g.o.Known),
	}
	item.Presentation.Fits = r.fits
	expiry, stop := r.g.expiry(&item)
	defer stop()
	s := r.g.waiting.add(item, func(a Answer) error { return r.check(call, a) })
	r.lookAgain() // for what changed before the run was watched
	r.settled()
	for {
		select {
		case a := <-s.answered:
			return r.answered(a)
		case <-expiry:
			return r.left(s, goneExpired, decision{word: Expired, by: byExpiry, reason: "nobody answered in time"})
		case <-r.ctx.Done():
			why := goneCancelled
			if errors.Is(context.Cause(r.ctx), ErrClosed) {
				why = goneWithdrawn
			}
			return r.left(s, why, r.stoppedBy())
		case <-r.conn.Done():
			return r.left(s, goneWithdrawn, decision{word: Withdrawn, by: byCurrent, reason: fmt.Sprintf("the server %s is no longer running", r.call.Server())})
		case <-r.look:
			_, why, err := r.g.whyNotCurrent(r.log, r.call, r.conn)
			if err != nil {
				why = err.Error()
			}
			if why != "" {
				return r.left(s, goneWithdrawn, decision{word: Withdrawn, by: byCurrent, reason: why})
			}
		}
	}
}

// expiry starts the time an item has, and writes it into the item.
func (g *Gate) expiry(item *Item) (<-chan time.Time, func()) {
	after := g.expiryNow()
	if item.SignIn != nil && item.SignIn.Phase == SignInAsk && (after <= 0 || after > mcphost.SignInLimit) {
		after = mcphost.SignInLimit
	}
	if after <= 0 {
		return nil, func() {}
	}
	item.Expires = item.Since.Add(after)
	t := time.NewTimer(after) // by the monotonic clock
	return t.C, func() { t.Stop() }
}

// left takes the item out of the list; an answer that came first counts, unless
// what was shown is not current any more.
func (r *run) left(s *slot, why string, d decision) (decision, error) {
	if a, ok := r.g.waiting.leave(s, why, d.reason); ok && (d.word == Expired || a.Action == Deny) {
		return r.answered(a)
	}
	return d, nil
}

// check says what is wrong with an answer while the person can still mend it.
// Whoever answers calls it, also beside the run itself; so it reads nothing that
// the run changes.
func (r *run) check(call Call, a Answer) error {
	switch a.Action {
	case Deny:
		return nil
	case Allow:
	default:
		return fmt.Errorf("a call can be allowed or denied, not %q", a.Action)
	}
	if r.g.asksTwice(call) {
		switch {
		case a.Scope != "" && a.Scope != Once:
			return fmt.Errorf("%s asks for its name each time; it can be allowed only once", clean.Reveal(call.Tool()))
		case a.Typed != call.Tool():
			return fmt.Errorf("type the name %s to allow this call", clean.Reveal(call.Tool()))
		}
	}
	switch a.Scope {
	case "", Once, Always:
	case InConversation:
		if call.Conversation() == "" {
			return errors.New("this call belongs to no conversation; allow it once or always")
		}
	default:
		return fmt.Errorf("a call can be allowed once, in its conversation or always, not %q", a.Scope)
	}
	if _, why, err := r.g.whyNotCurrent(r.log, call, r.conn); err != nil || why != "" {
		return fmt.Errorf("this can no longer be allowed: %w", errors.Join(err, sentence(why)))
	}
	if a.Arguments == "" {
		return nil
	}
	edited, err := call.edit(a.Arguments)
	if err != nil {
		return err
	}
	if problem := violations(r.schema, edited.Arguments()); problem != "" {
		return errors.New(problem)
	}
	return r.g.checkRules(r.log, edited)
}

func sentence(s string) error {
	if s == "" {
		return nil
	}
	return errors.New(s)
}

// answered turns the person's answer into the decision.
func (r *run) answered(a Answer) (decision, error) {
	if a.Action == Deny {
		return decision{word: Denied, by: byPerson, reason: a.Reason}, nil
	}
	if a.Arguments != "" {
		edited, err := r.call.edit(a.Arguments)
		if err != nil {
			return decision{}, err
		}
		if edited.Arguments() != r.call.Arguments() {
			if err := r.replace(edited); err != nil {
				return decision{}, err
			}
		}
	}
	scope := a.Scope
	if scope == "" {
		scope = Once
	}
	if scope != Once {
		if err := r.g.grant(r.log, r.call, scope); err != nil {
			return decision{}, err
		}
	}
	return decision{word: Allowed, by: byPerson, scope: scope}, nil
}

// replace goes on with the edited call under its own record; the record of the
// old one ends as withdrawn. The person who edited has seen the new arguments,
// so the decision stands for them.
func (r *run) replace(edited Call) error {
	old, entry := r.call, r.entry
	r.call = edited
	r.unstop = r.g.stoppable(edited.ID(), r.stop)
	if err := r.propose(old.ID()); err != nil {
		return err
	}
	reason := fmt.Sprintf("edited by the person; record %d took its place", r.entry.Number())
	if err := entry.Decided(r.log, journal.Decision{Decision: Withdrawn, By: byPerson, Reason: reason, ShownHash: old.Hash()}); err != nil {
		return err
	}
	if err := entry.Outcome(r.log, journal.Outcome{Outcome: journal.Withdrawn, Effect: journal.EffectNone, Reason: reason}); err != nil {
		return err
	}
	r.g.retired(old, entry.Number(), reason)
	return r.shown(edited.Hash())
}

// warnings are what the person should know beside the arguments.
func (r *run) warnings() []string {
	var out []string
	before, err := r.g.o.Journal.List(r.log, journal.Filter{
		Kind: string(journal.KindCall), Server: r.call.Server(), Tool: r.call.Tool(), Outcome: journal.OK, Limit: 1,
	})
	switch {
	case err != nil:
		out = append(out, "Whether this tool was used before cannot be told: "+r.g.line(err.Error()))
	case len(before) == 0:
		out = append(out, "This tool has not been used before.")
	default:
		out = append(out, r.definitionChanged(before[0].Record)...)
	}
	for _, s := range r.call.spec.After {
		if s != r.call.Server() {
			out = append(out, fmt.Sprintf("Proposed after the model had read output of %s.", clean.Reveal(s)))
		}
	}
	return append(out, outsideRoots([]byte(r.call.Arguments()), r.conn.Config().Roots)...)
}

// definitionChanged tells of a tool that is another one than when it was last used. It was
// reviewed as it is now, or its call would not be asked about.
func (r *run) definitionChanged(record int64) []string {
	last, err := r.g.o.Journal.Show(r.log, record)
	if err != nil || last.Definition == "" || last.Definition == r.call.Definition() {
		return nil // a record that cannot be read says nothing of the definition
	}
	return []string{fmt.Sprintf("Its definition has changed since it was last used (record %d).", record)}
}

func (r *run) twice() bool { return r.g.asksTwice(r.call) }

// asksTwice tells whether the name of a call's tool must be typed to allow it.
func (g *Gate) asksTwice(c Call) bool { return g.o.Twice != nil && g.o.Twice(c.Server(), c.Tool()) }

// Violation is one way in which a value does not fit a schema; see schema.Violation.
type Violation = schema.Violation

// Violations says how arguments, one JSON object, break the schema of the call's tool; none
// where they fit.
func (i Item) Violations(arguments string) []Violation {
	if i.schema == nil {
		return nil
	}
	return i.schema.Validate([]byte(arguments))
}

// outsideRoots names arguments that are paths outside the folders shared with
// the server.
func outsideRoots(arguments []byte, roots []string) []string {
	members, err := schema.ParseObject(arguments)
	if err != nil || len(roots) == 0 {
		return nil
	}
	var out []string
	for _, m := range members {
		path, ok := plainString(m.Value)
		if !ok || !filepath.IsAbs(path) {
			continue
		}
		inside := slices.ContainsFunc(roots, func(root string) bool {
			rel, err := filepath.Rel(root, path)
			return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
		})
		if !inside {
			out = append(out, fmt.Sprintf("“%s” is a path outside the shared folders.", clean.Reveal(m.Name)))
		}
	}
	return out
}
