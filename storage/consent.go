package storage

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
)

// PutPin stores the reviewed hash of a definition in place of an earlier one.
func (tx *Tx) PutPin(p Pin) error {
	return tx.do("saving a reviewed definition", `INSERT INTO pin(server, kind, name, hash, text, reviewed) VALUES(?, ?, ?, ?, ?, ?)
		ON CONFLICT(server, kind, name) DO UPDATE SET hash=excluded.hash, text=excluded.text, reviewed=excluded.reviewed`,
		p.Server, p.Kind, p.Name, p.Hash, p.Text, stamp(p.Reviewed))
}

// DeletePins forgets everything reviewed of a server.
func (tx *Tx) DeletePins(server string) error {
	return tx.do("forgetting reviewed definitions", "DELETE FROM pin WHERE server = ?", server)
}

// Pins lists what is reviewed of a server, by kind and name.
func (db *DB) Pins(ctx context.Context, server string) ([]Pin, error) {
	return list(ctx, db, "reading reviewed definitions", func(rows *sql.Rows) (p Pin, err error) {
		var reviewed int64
		err = rows.Scan(&p.Server, &p.Kind, &p.Name, &p.Hash, &p.Text, &reviewed)
		p.Reviewed = unstamp(reviewed)
		return p, err
	}, "SELECT server, kind, name, hash, text, reviewed FROM pin WHERE server = ? ORDER BY kind, name", server)
}

// PutGrant stores a grant, new or changed; the id decides.
func (tx *Tx) PutGrant(g Grant) error {
	const doing = "saving a grant"
	if g.ID == "" {
		return errors.New(doing + ": it has no id")
	}
	return tx.do(doing, `INSERT INTO grants(id, server, tool, definition, server_hash, conversation, created, revoked) VALUES(?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT(id) DO UPDATE SET server=excluded.server, tool=excluded.tool, definition=excluded.definition,
		server_hash=excluded.server_hash, conversation=excluded.conversation, created=excluded.created, revoked=excluded.revoked`,
		g.ID, g.Server, g.Tool, g.Definition, g.ServerHash, g.Conversation, stamp(g.Created), stamp(g.Revoked))
}

// Grants lists all grants, revoked ones too, in the order they were made.
func (db *DB) Grants(ctx context.Context) ([]Grant, error) {
	return list(ctx, db, "reading grants", func(rows *sql.Rows) (g Grant, err error) {
		var created, revoked int64
		err = rows.Scan(&g.ID, &g.Server, &g.Tool, &g.Definition, &g.ServerHash, &g.Conversation, &created, &revoked)
		g.Created, g.Revoked = unstamp(created), unstamp(revoked)
		return g, err
	}, "SELECT id, server, tool, definition, server_hash, conversation, created, revoked FROM grants ORDER BY created, rowid")
}

// PutRule stores a rule, new or changed; the id decides, and a changed rule
// keeps its place.
func (tx *Tx) PutRule(r Rule) error {
	const doing = "saving a rule"
	if r.ID == "" {
		return errors.New(doing + ": it has no id")
	}
	if r.Effect != "allow" && r.Effect != "deny" {
		return errors.New(doing + `: its effect is "` + r.Effect + `", neither allow nor deny`)
	}
	return tx.do(doing, `INSERT INTO rule(id, effect, server, tool, condition, created) VALUES(?, ?, ?, ?, ?, ?)
		ON CONFLICT(id) DO UPDATE SET effect=excluded.effect, server=excluded.server, tool=excluded.tool,
		condition=excluded.condition, created=excluded.created`,
		r.ID, r.Effect, r.Server, r.Tool, string(r.Condition), stamp(r.Created))
}

// DeleteRule removes a rule; one that is not there is no error.
func (tx *Tx) DeleteRule(id string) error {
	return tx.do("deleting a rule", "DELETE FROM rule WHERE id = ?", id)
}

// Rules lists all rules in the order they were first put.
func (db *DB) Rules(ctx context.Context) ([]Rule, error) {
	return list(ctx, db, "reading rules", func(rows *sql.Rows) (r Rule, err error) {
		var condition string
		var created int64
		err = rows.Scan(&r.ID, &r.Effect, &r.Server, &r.Tool, &condition, &created)
		r.Condition, r.Created = raw(condition), unstamp(created)
		return r, err
	}, "SELECT id, effect, server, tool, condition, created FROM rule ORDER BY n")
}

// PutSetting stores a setting in place of an earlier value.
func (tx *Tx) PutSetting(key string, v json.RawMessage) error {
	return tx.do("saving a setting", `INSERT INTO setting(key, value) VALUES(?, ?)
		ON CONFLICT(key) DO UPDATE SET value=excluded.value`, key, string(v))
}

// Setting gives a setting; ErrNotFound where it was never put.
func (db *DB) Setting(ctx context.Context, key string) (json.RawMessage, error) {
	var value string
	err := db.read.QueryRowContext(ctx, "SELECT value FROM setting WHERE key = ?", key).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, refuse(ErrNotFound, nil, "the setting %s has no value", key)
	}
	return json.RawMessage(value), explain("reading a setting", db.path, err)
}

// list runs a query and scans every row.
func list[T any](ctx context.Context, db *DB, doing string, scan func(*sql.Rows) (T, error), query string, args ...any) ([]T, error) {
	rows, err := db.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, explain(doing, db.path, err)
	}
	var all []T
	err = each(rows, func() error {
		one, err := scan(rows)
		all = append(all, one)
		return err
	})
	return all, explain(doing, db.path, err)
}
