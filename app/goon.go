package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"steward/app/config"
	"steward/app/journal"
	"steward/app/secrets"
)

// What a person can do where the program would otherwise only refuse.

// Acknowledge opens the data folder for writing and lets its journal go on although it
// does not hold: what was found is recorded, and the anchors, which were evidence, are
// replaced. It returns what was found; "" where the journal can be written, so that there
// was nothing to acknowledge. Call it only when the person has been shown the problem.
func Acknowledge(ctx context.Context, o Options) (problem string, err error) {
	a, err := Open(ctx, o)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, a.Close(context.WithoutCancel(ctx))) }()
	if broken := a.journal.Broken(ctx); broken != nil {
		problem = broken.Error()
	}
	return problem, a.journal.Acknowledge(ctx)
}

// VerifyExport checks a jsonl export by itself; see [journal.VerifyExport].
func VerifyExport(path string) (journal.Verification, error) {
	f, err := os.Open(path)
	if err != nil {
		return journal.Verification{}, config.Unreadable("the export", path, err)
	}
	defer f.Close()
	return journal.VerifyExport(f)
}

// RevokeGrants takes back every standing grant of a server, which need be neither
// configured nor running, and returns how many there were.
func (a *App) RevokeGrants(ctx context.Context, server string) (int, error) {
	grants, err := a.gate.Grants(ctx)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, g := range grants {
		if g.Server != server {
			continue
		}
		if err := a.gate.Revoke(ctx, g.ID); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// NamesSecret says whether a server's entry names a secret, so that a misspelt name is
// noticed before a value is asked for.
func (a *App) NamesSecret(server, name string) error {
	c, ok := config.Find(a.servers.now().servers, server)
	if !ok {
		return a.servers.unknown(server)
	}
	texts := append([]string{c.URL, c.OAuth.ClientID, c.OAuth.ClientSecret}, c.Args...)
	if c.URL != "" {
		texts = append(texts, cmp.Or(c.Proxy, a.settingsNow().Proxy))
	}
	for _, m := range []map[string]string{c.Env, c.Headers} {
		for _, v := range m {
			texts = append(texts, v)
		}
	}
	for _, t := range texts {
		if strings.Contains(t, "${secret:"+name+"}") {
			return nil
		}
	}
	return fmt.Errorf("the entry of the server %s does not name ${secret:%s} in args, env, headers, url, proxy or oauth; write it there first, in place of the value", reveal(server), reveal(name))
}

// StoreSecret keeps a secret for a server's entry and records that, without the value.
func (a *App) StoreSecret(ctx context.Context, server, name string, value secrets.Secret) error {
	if err := a.NamesSecret(server, name); err != nil {
		return err
	}
	if err := a.secrets.Set(ctx, name, value); err != nil {
		return err
	}
	return a.noteSecret(ctx, server, name)
}

// noteSecret records that a secret was stored, without its value; server is "" where it is no
// server's alone.
func (a *App) noteSecret(ctx context.Context, server, name string) error {
	_, err := a.journal.Note(ctx, journal.Proposal{Kind: journal.KindSettings, Server: server, Detail: map[string]any{"secret": name, "change": "stored"}},
		journal.Outcome{Outcome: journal.OK, Effect: journal.EffectDone})
	if err != nil {
		return fmt.Errorf("the secret %s is stored, but that could not be recorded: %w", reveal(name), err)
	}
	return nil
}

// NewSecret wraps a value that a person gave, so that it is printed nowhere by accident.
func NewSecret(value string) secrets.Secret { return secrets.NewSecret(value) }
