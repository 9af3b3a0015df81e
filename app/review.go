package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"steward/app/config"
	"steward/app/consent"
	"steward/app/journal"
	"steward/app/secrets"
	"steward/storage"
)

// Review is everything a server offers, beside what was reviewed before.
type Review = consent.Review

// Review starts a server and compares what it offers with what was reviewed before.
func (a *App) Review(ctx context.Context, server string) (Review, error) {
	a.board.release()
	conn, err := a.servers.one(ctx, server)
	if err != nil {
		return Review{}, err
	}
	return a.gate.Review(ctx, conn)
}

// Trust starts a server and marks what it offers now as reviewed. shown is the Hash of
// the Review that the person saw; "" stands for the one noted last by [App.Shown], in this
// run or an earlier one. Where the server offers something else by now, or nobody was
// shown anything, nothing is marked and the error is a *NotShown; the Review says what
// there is now.
func (a *App) Trust(ctx context.Context, server, shown string) (Review, error) {
	a.board.release()
	conn, err := a.servers.one(ctx, server)
	if err != nil {
		return Review{}, err
	}
	now, err := a.gate.Review(ctx, conn)
	if err != nil {
		return Review{}, err
	}
	if shown == "" {
		last, err := a.lastShown(ctx, server)
		if err != nil {
			return now, err
		}
		if last.Hash != now.Hash {
			return now, &NotShown{Server: now.Server, At: last.Time}
		}
	}
	err = a.gate.Trust(ctx, conn, cmp.Or(shown, now.Hash))
	if err == nil {
		a.changedServer(server)
	}
	return now, err
}

// NotShown says that a server was not trusted because what it offers now is not what a
// person was shown.
type NotShown struct {
	Server string    // through clean.Reveal
	At     time.Time // when something else was shown; zero: nothing ever was
}

func (e *NotShown) Error() string {
	why := "nobody has been shown what it offers"
	if !e.At.IsZero() {
		why = "it offers something else now than what was shown on " + e.At.Local().Format("2006-01-02 15:04:05")
	}
	name := quoteArg(e.Server)
	return fmt.Sprintf("The server %s was not trusted, because %s. Read it with: steward servers review %s; then: steward servers trust %s", e.Server, why, name, name)
}

// shownReview is what stands in the data folder of the review that was shown last.
type shownReview struct {
	Hash string    `json:"hash"`
	Time time.Time `json:"time"`
}

func shownKey(server string) string { return "shown:" + server }

// Shown notes that a person was shown this Review of a server, whole: from now on
// [App.Trust] may mark just that as reviewed.
func (a *App) Shown(ctx context.Context, server string, r Review) error {
	now := time.Now
	if a.o.Now != nil {
		now = a.o.Now
	}
	value, err := json.Marshal(shownReview{r.Hash, now().UTC()})
	if err == nil {
		err = a.db.Write(ctx, func(tx *storage.Tx) error { return tx.PutSetting(shownKey(server), value) })
	}
	if err != nil {
		return fmt.Errorf("that %s was reviewed could not be noted: %w", r.Server, err)
	}
	return nil
}

func (a *App) lastShown(ctx context.Context, server string) (shownReview, error) {
	var last shownReview
	value, err := a.db.Setting(ctx, shownKey(server))
	if errors.Is(err, storage.ErrNotFound) {
		return last, nil
	}
	if err == nil {
		err = json.Unmarshal(value, &last)
	}
	if err != nil {
		return last, fmt.Errorf("what was shown of the server %s cannot be read: %w", server, err)
	}
	return last, nil
}

// Reader is a data folder opened read-only: it works while somebody else writes there,
// and changes nothing.
type Reader struct {
	db      *storage.DB
	secrets *secrets.Store
	journal *journal.Journal
	list    serverList
}

// OpenReader opens what is stored. Only Data, ServersFile, Passphrase and Now of the options count.
// withAnchor lets Verify ask the keyring for its copy of the anchor.
func OpenReader(ctx context.Context, o Options, withAnchor bool) (*Reader, error) {
	dir, err := dataDir(o.Data)
	if err != nil {
		return nil, err
	}
	list, err := readServers(ctx, o, dir)
	if err != nil {
		return nil, err
	}
	r := &Reader{list: list}
	r.db, err = storage.Open(ctx, storage.Options{Dir: dir, ReadOnly: true, Program: "Steward", Now: o.Now})
	if errors.Is(err, storage.ErrNotFound) {
		r.db = nil
		return r, &Message{Key: "folder_empty", Args: args("detail", err.Error(), "folder", dir), Err: err}
	}
	if err != nil {
		return nil, err
	}
	options := journal.Options{Store: r.db, Dir: dir, Now: o.Now}
	if withAnchor {
		r.secrets = secrets.Open(secrets.Options{Dir: dir, FolderID: r.db.FolderID, Now: o.Now})
		if !o.Passphrase.Empty() && r.secrets.HasFile() { // reading makes no file
			if err := r.secrets.UseFile(ctx, o.Passphrase); err != nil {
				return nil, errors.Join(err, r.Close(ctx))
			}
		}
		options.Anchor = r.secrets.Anchor()
	}
	if r.journal, err = journal.OpenReadOnly(ctx, options); err != nil {
		return nil, errors.Join(err, r.Close(ctx))
	}
	return r, nil
}

// Close gives everything back; it may be called on what OpenReader returned beside
// an error.
func (r *Reader) Close(ctx context.Context) error {
	var errs []error
	if r.journal != nil {
		errs = append(errs, r.journal.Close(ctx))
	}
	if r.secrets != nil {
		r.secrets.Close()
	}
	if r.db != nil {
		errs = append(errs, r.db.Close())
	}
	return errors.Join(errs...)
}

// Journal is the record.
func (r *Reader) Journal() *journal.Journal { return r.journal }

// ServerRow is one configured server without starting it; the JSON form is read by
// other programs.
type ServerRow struct {
	Server    string     `json:"server"`
	Transport string     `json:"transport"`
	Command   string     `json:"command"` // with its arguments, secrets left out; "" for HTTP
	URL       string     `json:"url"`     // secrets left out
	Disabled  bool       `json:"disabled"`
	Source    string     `json:"source"`   // file, folder or built-in
	Reviewed  bool       `json:"reviewed"` // as far as can be told without starting it
	At        *time.Time `json:"at"`       // of the last review
	Problem   string     `json:"problem"`
	Grants    int        `json:"grants"` // standing yeses to its tools
}

// Servers lists what is configured, with what cannot be used and why.
func (r *Reader) Servers(ctx context.Context) ([]ServerRow, error) {
	out := []ServerRow{}
	grants, err := r.grants(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range r.list.servers {
		row := ServerRow{Server: c.Name, Transport: c.Transport, Command: commandLine(c), URL: masked(c)(c.URL), Disabled: c.Disabled, Source: r.list.source, Grants: grants[c.Name]}
		if err := r.reviewed(ctx, c, &row); err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	for _, p := range r.list.problems {
		found := false
		for i := range out {
			if out[i].Server == p.Server {
				out[i].Problem, found = p.String(), true
			}
		}
		if !found {
			out = append(out, ServerRow{Server: p.Server, Source: r.list.source, Problem: p.String()})
		}
	}
	return out, r.list.err
}

// grants counts the standing grants of each server.
func (r *Reader) grants(ctx context.Context) (map[string]int, error) {
	out := map[string]int{}
	if r.db == nil {
		return out, nil
	}
	all, err := r.db.Grants(ctx)
	if err != nil {
		return nil, fmt.Errorf("the grants cannot be read: %w", err)
	}
	for _, g := range all {
		if g.Revoked.IsZero() {
			out[g.Server]++
		}
	}
	return out, nil
}

func (r *Reader) reviewed(ctx context.Context, c config.Server, row *ServerRow) error {
	if r.list.listed(c.Name) {
		row.Reviewed = true
		return nil
	}
	if r.db == nil {
		return nil
	}
	state, at, err := configReviewed(ctx, r.db, c)
	if state == reviewedNow {
		row.Reviewed, row.At = true, &at
	}
	return err
}

// configReviewed tells whether a person has reviewed a server as it is configured now, and
// when. What it offers can only be told once it runs.
func configReviewed(ctx context.Context, db *storage.DB, c config.Server) (state reviewState, at time.Time, err error) {
	pins, err := db.Pins(ctx, c.Name)
	if err != nil {
		return reviewedNever, at, err
	}
	for _, p := range pins {
		switch {
		case p.Kind != "server":
		case p.Hash == c.Hash():
			return reviewedNow, p.Reviewed, nil
		default:
			state = reviewedOther
		}
	}
	return state, at, nil
}

func commandLine(c config.Server) string {
	s := c.Command
	for _, a := range c.Args {
		s += " " + quoteArg(a)
	}
	return reveal(masked(c)(s))
}

func quoteArg(a string) string {
	for _, r := range a {
		if r <= ' ' || r == '"' || r == '\'' || r == '\\' {
			return fmt.Sprintf("%q", a)
		}
	}
	if a == "" {
		return `""`
	}
	return a
}
