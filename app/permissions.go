package app

import (
	"context"
	"encoding/json"
	"time"
)

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

// SetPermission makes a tool ask, or sets a rule of its own that allows or denies it. Ask
// takes back standing grants of the tool as well.
func (a *App) SetPermission(ctx context.Context, server, tool, permission string) error {
	return errNotYet
}

// Rules lists all rules in the order they were made.
func (a *App) Rules(ctx context.Context) ([]Rule, error) { return nil, errNotYet }

// SaveRule stores a rule, new (ID empty) or changed, and returns its id.
func (a *App) SaveRule(ctx context.Context, r Rule) (id string, err error) { return "", errNotYet }

// DeleteRule removes a rule.
func (a *App) DeleteRule(ctx context.Context, id string) error { return errNotYet }

// TryRule gives the records of calls since a time that a rule would have decided, newest
// first, at most 200, and how many there were.
func (a *App) TryRule(ctx context.Context, r Rule, since time.Time) (records []int64, total int, err error) {
	return nil, 0, errNotYet
}

// Grants lists the standing grants that have not been revoked, newest first.
func (a *App) Grants(ctx context.Context) ([]Grant, error) { return nil, errNotYet }

// Revoke ends a grant; it applies from the next call on.
func (a *App) Revoke(ctx context.Context, id string) error { return errNotYet }
