package consent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"steward/app/event"
	"steward/app/journal"
	"steward/mcphost/schema"
	"steward/storage"
)

// Decisions, in the contract's words.
const (
	Allowed   = "allowed"
	Denied    = "denied"
	Expired   = "expired"
	Withdrawn = "withdrawn"
)

// Who decided, beside rule:ID and grant:ID.
const (
	byPerson = "person"
	byFlag   = "flag"
	// What no person and no setting decides: the call is not what may run now.
	byCurrent  = "rule:current"
	byDisabled = "rule:disabled"
	bySchema   = "rule:schema"
	byClosed   = "rule:closed"
	byExpiry   = "rule:expiry"
)

// decision is a yes or a no and its origin; the zero value asks the person.
type decision struct {
	word   string // allowed, denied, expired, withdrawn
	by     string
	reason string // a sentence for the model and the record; may be empty
	scope  string
}

// standing decides without the person: a rule that denies comes before a grant
// that fits, that before a rule that allows, that before the policy.
func (g *Gate) standing(ctx context.Context, c Call) (decision, error) {
	rules, err := g.rules(ctx)
	if err != nil {
		return decision{}, err
	}
	if id, ok := deniedBy(rules, c); ok {
		return decision{word: Denied, by: "rule:" + id, reason: "a rule of the person refuses this call"}, nil
	}
	if d, err := g.standingYes(ctx, rules, c); err != nil || d.word != "" {
		return d, err
	}
	switch g.o.Policy.Calls {
	case Allow:
		return decision{word: Allowed, by: byFlag}, nil
	case Deny:
		return decision{word: Denied, by: byFlag, reason: "calls are refused by the settings in force"}, nil
	}
	return decision{}, nil
}

func (g *Gate) rules(ctx context.Context) ([]storage.Rule, error) {
	rules, err := g.o.Store.Rules(ctx)
	if err != nil {
		return nil, fmt.Errorf("the rules cannot be read: %w", err)
	}
	return rules, nil
}

// deniedBy names the first rule that refuses a call.
func deniedBy(rules []storage.Rule, c Call) (id string, denied bool) {
	for _, r := range rules {
		if r.Effect == Deny && ruleFits(r, c, true) {
			return r.ID, true
		}
	}
	return "", false
}

// checkRules says whether a rule refuses a call that a person is about to allow
// with other arguments: a rule that denies comes before every yes.
func (g *Gate) checkRules(ctx context.Context, c Call) error {
	rules, err := g.rules(ctx)
	if err != nil {
		return err
	}
	if id, denied := deniedBy(rules, c); denied {
		return fmt.Errorf("your rule %s refuses a call with these arguments; change them, or the rule", id)
	}
	return nil
}

// standingYes finds a grant or a rule that allows a call. None covers arguments
// that name something twice: which of them counts is the server's choice, and
// nobody has said yes to that. Nor is a tool covered whose name must be typed.
func (g *Gate) standingYes(ctx context.Context, rules []storage.Rule, c Call) (decision, error) {
	grants, err := g.Grants(ctx)
	if err != nil || repeatsName([]byte(c.Arguments())) || g.asksTwice(c) {
		return decision{}, err
	}
	for _, gr := range grants {
		if grantFits(gr, c) {
			return decision{word: Allowed, by: "grant:" + gr.ID}, nil
		}
	}
	for _, r := range rules {
		if r.Effect == Allow && ruleFits(r, c, false) {
			return decision{word: Allowed, by: "rule:" + r.ID}, nil
		}
	}
	return decision{}, nil
}

// repeatsName tells whether any object inside a JSON value names a member twice,
// or the value cannot be read. It reads the value once, however deep it is.
func repeatsName(value []byte) bool {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	type level struct {
		names map[string]bool // nil in an array
		value bool            // a name was read: its value is next
	}
	var open []level
	for {
		t, err := d.Token()
		if err != nil {
			return !errors.Is(err, io.EOF) || len(open) > 0
		}
		if t == json.Delim('}') || t == json.Delim(']') {
			open = open[:len(open)-1]
			continue
		}
		if n := len(open); n > 0 && open[n-1].names != nil {
			if !open[n-1].value {
				name, _ := t.(string) // the decoder gives no other kind of name
				if open[n-1].names[name] {
					return true
				}
				open[n-1].names[name] = true
			}
			open[n-1].value = !open[n-1].value
		}
		switch t {
		case json.Delim('{'):
			open = append(open, level{names: map[string]bool{}})
		case json.Delim('['):
			open = append(open, level{})
		}
	}
}

// grantFits tells whether a standing yes covers a call: same server, same tool,
// and neither the definition nor the server's configuration has changed since.
func grantFits(gr storage.Grant, c Call) bool {
	return gr.Revoked.IsZero() && gr.Server == c.Server() && gr.Tool == c.Tool() &&
		gr.Definition == c.Definition() && gr.ServerHash == c.ServerHash() &&
		(gr.Conversation == "" || gr.Conversation == c.Conversation())
}

// condition is what a rule may ask of a call: each named argument must be a string
// that begins with, or a value that is exactly, what is given; and the tool must be
// defined as it was.
type condition struct {
	Definition string `json:"definition"`
	Arguments  map[string]struct {
		Prefix *string         `json:"prefix"`
		Equals json.RawMessage `json:"equals"`
	} `json:"arguments"`
}

// ruleFits tells whether a rule covers a call. A condition that cannot be
// understood counts as met where unclear is true: a refusal holds, an allowance
// does not.
func ruleFits(r storage.Rule, c Call, unclear bool) bool {
	if !anyOr(r.Server, c.Server()) || !anyOr(r.Tool, c.Tool()) {
		return false
	}
	if len(r.Condition) == 0 || string(r.Condition) == "null" || string(r.Condition) == "{}" {
		return true
	}
	var cond condition
	d := json.NewDecoder(strings.NewReader(string(r.Condition)))
	d.DisallowUnknownFields()
	switch {
	case d.Decode(&cond) != nil:
		return unclear
	case cond.Definition != "" && cond.Definition != c.Definition():
		return false
	case len(cond.Arguments) == 0:
		return true
	}
	object, err := schema.ParseObject([]byte(c.Arguments()))
	if err != nil || len(object.Duplicates()) > 0 {
		return unclear
	}
	for name, want := range cond.Arguments {
		value, ok := object.Get(name)
		if !ok || (want.Prefix != nil && !hasPrefix(value, *want.Prefix, unclear)) || (want.Equals != nil && !equal(value, want.Equals)) {
			return false
		}
	}
	return true
}

func anyOr(pattern, name string) bool { return pattern == "" || pattern == "*" || pattern == name }

// hasPrefix tells whether a value is a string that begins with prefix. A path
// that climbs out again with "..", plain or in percent signs, is where the prefix
// does not say: it counts where unclear is true.
func hasPrefix(value json.RawMessage, prefix string, unclear bool) bool {
	s, ok := plainString(value)
	return ok && strings.HasPrefix(s, prefix) && (unclear || !climbs.MatchString(s))
}

// climbs finds ".." as a whole step of a path or an address (RFC 3986 section 5.2.4).
var climbs = regexp.MustCompile(`(?i)(^|[/\\]|%2f|%5c)(\.|%2e){2}([/\\?#]|%2f|%5c|$)`)

func equal(a, b json.RawMessage) bool {
	x, errX := schema.Canonical(a)
	y, errY := schema.Canonical(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// Grants returns the standing grants that have not been revoked, including
// those that a changed definition has suspended.
func (g *Gate) Grants(ctx context.Context) ([]storage.Grant, error) {
	g.mu.Lock()
	all, read, changes := g.grants, g.granted, g.changes
	g.mu.Unlock()
	if !read {
		var err error
		if all, err = g.o.Store.Grants(ctx); err != nil {
			return nil, fmt.Errorf("the grants cannot be read: %w", err)
		}
		g.mu.Lock()
		if changes == g.changes { // else these may be older than one that was stored meanwhile
			g.grants, g.granted = all, true
		}
		g.mu.Unlock()
	}
	var out []storage.Grant
	for _, gr := range all {
		if gr.Revoked.IsZero() {
			out = append(out, gr)
		}
	}
	return out, nil
}

// grant stores a standing yes that the person gave with a call.
func (g *Gate) grant(ctx context.Context, c Call, scope string) error {
	gr := storage.Grant{
		ID: newID("g_"), Server: c.Server(), Tool: c.Tool(), Definition: c.Definition(),
		ServerHash: c.ServerHash(), Created: g.o.Now().UTC(),
	}
	if scope == InConversation {
		gr.Conversation = c.Conversation()
	}
	return g.putGrant(ctx, gr, map[string]any{"grant": gr.ID, "change": "given", "scope": scope, "call": c.ID()})
}

// Revoke ends a grant. It applies from the next call on.
func (g *Gate) Revoke(ctx context.Context, id string) error {
	grants, err := g.Grants(ctx)
	if err != nil {
		return err
	}
	for _, gr := range grants {
		if gr.ID == id {
			gr.Revoked = g.o.Now().UTC()
			return g.putGrant(ctx, gr, map[string]any{"grant": gr.ID, "change": "revoked"})
		}
	}
	return errors.New("there is no standing grant with the id " + id)
}

func (g *Gate) putGrant(ctx context.Context, gr storage.Grant, detail map[string]any) error {
	_, err := g.o.Journal.NoteNow(ctx, journal.Proposal{
		Kind: journal.KindGrant, Conversation: gr.Conversation, Server: gr.Server, Tool: gr.Tool,
		Definition: gr.Definition, Detail: detail,
	}, journal.Outcome{Outcome: journal.OK, Effect: journal.EffectDone})
	if err != nil {
		return fmt.Errorf("the grant could not be recorded: %w", err)
	}
	if err := g.o.Store.Write(ctx, func(tx *storage.Tx) error { return tx.PutGrant(gr) }); err != nil {
		return fmt.Errorf("the grant could not be stored: %w", err)
	}
	g.mu.Lock()
	g.granted = false // read again with the next call
	g.changes++
	g.mu.Unlock()
	g.o.Bus.Publish(event.SettingsChanged{What: "grants"})
	return nil
}
