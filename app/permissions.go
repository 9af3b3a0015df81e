package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"steward/app/chat"
	"steward/app/clean"
	"steward/app/config"
	"steward/app/consent"
	"steward/app/event"
	"steward/app/journal"
	"steward/mcphost"
	"steward/storage"
)

// maxTried is how many records TryRule names.
const maxTried = 200

// Rule is a standing yes or no. Server and Tool empty mean any. Condition is empty, or
// {"arguments": {"NAME": {"prefix": "…"} or {"equals": …}}}.
type Rule struct {
	ID        string
	Effect    string // allow or deny
	Server    string
	Tool      string
	Condition json.RawMessage
	Created   time.Time
}

// Grant is a standing yes that a person gave with a call.
type Grant struct {
	ID           string
	Server       string
	Tool         string
	Conversation string // empty: always
	Title        string // the conversation's, safe to show
	Created      time.Time
	Suspended    bool // the tool or the server differs from what was granted
}

// permissionOf reads a tool's own rule: one that names it and asks nothing more than that it
// is defined as it was. One that allowed another definition has ended.
func permissionOf(rules []storage.Rule, server, tool, definition string) (permission, rule string) {
	for _, r := range rules {
		if !isOwn(r, server, tool) {
			continue
		}
		if was, _ := consent.DefinitionOf(r); was != "" && was != definition {
			return PermissionAsk, ""
		}
		return r.Effect, r.ID
	}
	return PermissionAsk, ""
}

func isOwn(r storage.Rule, server, tool string) bool {
	_, only := consent.DefinitionOf(r)
	return only && r.Server == server && r.Tool == tool && server != "" && tool != "" && tool != "*"
}

// definitionOf is the hash of a tool's definition as its server offers it now or, where it
// does not run, as it was reviewed last. A server of which neither is known is started.
func (a *App) definitionOf(ctx context.Context, server, tool string) (string, error) {
	conn := a.servers.entry(server).started()
	if conn == nil {
		pins, err := a.db.Pins(ctx, server)
		if err != nil {
			return "", err
		}
		for _, p := range pins {
			if p.Kind == "tool" && p.Name == tool {
				return p.Hash, nil
			}
		}
		if conn, err = a.servers.oneReviewed(ctx, server); err != nil {
			return "", err
		}
	}
	for _, t := range conn.Tools() {
		if t.Name == tool {
			return t.Definition, nil
		}
	}
	return "", &Message{Key: "tool_unknown", Args: args("server", server, "tool", tool, "tools", toolNames(conn.Tools()))}
}

// SetPermission makes a tool ask, or sets a rule of its own that allows it, as it is defined
// now, or denies it. Ask takes back standing grants of the tool as well.
func (a *App) SetPermission(ctx context.Context, server, tool, permission string) error {
	if permission != PermissionAsk && permission != PermissionAllow && permission != PermissionDeny {
		return &Message{Key: "permission", Args: args("detail", "A tool can ask, be allowed or be denied, not "+reveal(permission)+".")}
	}
	if server == "" || tool == "" || server == "*" || tool == "*" {
		return &Message{Key: "permission", Args: args("detail", "A permission names one server and one tool.")}
	}
	var condition json.RawMessage
	if permission == PermissionAllow {
		definition, err := a.definitionOf(ctx, server, tool)
		if err == nil {
			condition, err = consent.WhileDefined(definition)
		}
		if err != nil {
			return err
		}
	}
	a.desk.saving.Lock()
	defer a.desk.saving.Unlock()
	rules, err := a.db.Rules(ctx)
	if err != nil {
		return err
	}
	rules = slices.DeleteFunc(rules, func(r storage.Rule) bool { return !isOwn(r, server, tool) })
	if permission == PermissionAsk {
		if err := a.revokeAll(ctx, server, tool); err != nil {
			return err
		}
	}
	if err := a.recordRule(ctx, "permission", storage.Rule{Effect: permission, Server: server, Tool: tool, Condition: condition}); err != nil {
		return err
	}
	err = a.db.Write(ctx, func(tx *storage.Tx) error {
		keep := storage.Rule{ID: newRuleID(), Effect: permission, Server: server, Tool: tool, Condition: condition, Created: a.clock()}
		for i, r := range rules {
			if i == 0 {
				keep.ID, keep.Created = r.ID, r.Created
			}
			if i == 0 && permission != PermissionAsk {
				continue
			}
			if err := tx.DeleteRule(r.ID); err != nil {
				return err
			}
		}
		if permission == PermissionAsk {
			return nil
		}
		return tx.PutRule(keep)
	})
	if err != nil {
		return fmt.Errorf("the permission could not be stored: %w", err)
	}
	a.bus.Publish(event.SettingsChanged{What: "rules"})
	a.bus.Publish(event.ServersChanged{Server: server})
	return nil
}

func newRuleID() string { return strings.Replace(chat.NewConversationID(), "c_", "r_", 1) }

// recordRule records a change of what may run before it holds.
func (a *App) recordRule(ctx context.Context, change string, r storage.Rule) error {
	_, err := a.journal.NoteNow(ctx, journal.Proposal{Kind: journal.KindSettings, Server: r.Server, Tool: r.Tool,
		Detail: map[string]any{"change": change, "rule": r.ID, "effect": r.Effect, "condition": r.Condition}},
		journal.Outcome{Outcome: journal.OK, Effect: journal.EffectDone})
	if err != nil {
		return fmt.Errorf("the rule was not changed because that could not be recorded: %w", err)
	}
	return nil
}

func (a *App) revokeAll(ctx context.Context, server, tool string) error {
	grants, err := a.gate.Grants(ctx)
	if err != nil {
		return err
	}
	for _, g := range grants {
		if g.Server == server && g.Tool == tool {
			if err := a.gate.Revoke(ctx, g.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// forgetPermissions takes back all that was allowed to a server that is removed: grants, rules
// that allow, and the permissions of its tools. A rule that denies under a condition stays.
func (a *App) forgetPermissions(ctx context.Context, server string) error {
	rules, err := a.db.Rules(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, r := range rules {
		if r.Server == server && (r.Effect == PermissionAllow || isOwn(r, server, r.Tool)) {
			errs = append(errs, a.DeleteRule(ctx, r.ID))
		}
	}
	grants, err := a.gate.Grants(ctx)
	errs = append(errs, err)
	for _, g := range grants {
		if g.Server == server {
			errs = append(errs, a.gate.Revoke(ctx, g.ID))
		}
	}
	return errors.Join(errs...)
}

// Rules lists all rules in the order they were made.
func (a *App) Rules(ctx context.Context) ([]Rule, error) {
	rules, err := a.db.Rules(ctx)
	out := make([]Rule, 0, len(rules))
	for _, r := range rules {
		out = append(out, Rule(r))
	}
	return out, err
}

// SaveRule stores a rule, new (ID empty) or changed, and returns its id.
func (a *App) SaveRule(ctx context.Context, r Rule) (id string, err error) {
	if err := consent.CheckRule(storage.Rule(r)); err != nil {
		return "", &Message{Key: "rule", Args: args("detail", err.Error()), Err: err}
	}
	a.desk.saving.Lock()
	defer a.desk.saving.Unlock()
	change := "rule changed"
	if r.ID == "" {
		change, r.ID, r.Created = "rule added", newRuleID(), a.clock()
	} else {
		rules, err := a.db.Rules(ctx)
		if err != nil {
			return "", err
		}
		i := slices.IndexFunc(rules, func(o storage.Rule) bool { return o.ID == r.ID })
		if i < 0 {
			return "", &Message{Key: "rule", Args: args("detail", "There is no rule with the id "+reveal(r.ID)+".")}
		}
		r.Created = rules[i].Created
	}
	if err := a.recordRule(ctx, change, storage.Rule(r)); err != nil {
		return "", err
	}
	if err := a.db.Write(ctx, func(tx *storage.Tx) error { return tx.PutRule(storage.Rule(r)) }); err != nil {
		return "", fmt.Errorf("the rule could not be stored: %w", err)
	}
	a.bus.Publish(event.SettingsChanged{What: "rules"})
	return r.ID, nil
}

// DeleteRule removes a rule.
func (a *App) DeleteRule(ctx context.Context, id string) error {
	a.desk.saving.Lock()
	defer a.desk.saving.Unlock()
	if err := a.recordRule(ctx, "rule removed", storage.Rule{ID: id}); err != nil {
		return err
	}
	if err := a.db.Write(ctx, func(tx *storage.Tx) error { return tx.DeleteRule(id) }); err != nil {
		return fmt.Errorf("the rule could not be removed: %w", err)
	}
	a.bus.Publish(event.SettingsChanged{What: "rules"})
	return nil
}

// TryRule gives the records of calls since a time that a rule would have decided, newest
// first, at most 200, and how many there were.
func (a *App) TryRule(ctx context.Context, r Rule, since time.Time) (records []int64, total int, err error) {
	if err := consent.CheckRule(storage.Rule(r)); err != nil {
		return nil, 0, &Message{Key: "rule", Args: args("detail", err.Error()), Err: err}
	}
	f := journal.Filter{Kind: string(journal.KindCall), Since: since, Limit: 200, // arguments come along, up to a megabyte each
		Server: exact(r.Server), Tool: exact(r.Tool)}
	for {
		page, err := a.journal.List(ctx, f)
		if err != nil {
			return nil, 0, err
		}
		for _, rec := range page {
			if !consent.RuleCovers(storage.Rule(r), rec) {
				continue
			}
			if total++; len(records) < maxTried {
				records = append(records, rec.Record)
			}
		}
		if len(page) < f.Limit {
			return records, total, nil
		}
		f.After = page[len(page)-1].Record
	}
}

// exact is a rule's pattern as a filter: any is no filter.
func exact(pattern string) string {
	if pattern == "*" {
		return ""
	}
	return pattern
}

// Grants lists the standing grants that have not been revoked, newest first.
func (a *App) Grants(ctx context.Context) ([]Grant, error) {
	grants, err := a.gate.Grants(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Grant, 0, len(grants))
	for _, g := range slices.Backward(grants) {
		shown := Grant{ID: g.ID, Server: g.Server, Tool: g.Tool, Conversation: g.Conversation, Created: g.Created, Suspended: a.suspended(g)}
		if g.Conversation != "" {
			c, err := a.db.Conversation(ctx, g.Conversation)
			if err != nil && !errors.Is(err, storage.ErrNotFound) {
				return nil, err
			}
			shown.Title = clean.Line(c.Title, maxTitle)
		}
		out = append(out, shown)
	}
	return out, nil
}

// suspended says that a grant does not fit what it was given for any more, as far as that
// can be told without starting the server.
func (a *App) suspended(g storage.Grant) bool {
	c, ok := config.Find(a.servers.now().servers, g.Server)
	if !ok || c.Hash() != g.ServerHash {
		return true
	}
	conn := a.servers.entry(g.Server).started()
	if conn == nil || conn.State() != mcphost.StateReady {
		return false
	}
	return !slices.ContainsFunc(conn.Tools(), func(t mcphost.Tool) bool { return t.Name == g.Tool && t.Definition == g.Definition })
}

// Revoke ends a grant; it applies from the next call on.
func (a *App) Revoke(ctx context.Context, id string) error {
	return a.gate.Revoke(ctx, id)
}
