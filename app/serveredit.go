package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"steward/app/clean"
	"steward/app/config"
	"steward/app/event"
	"steward/app/secrets"
)

// Import is what a pasted text or another program's file holds. Nothing of it has been
// added or started.
type Import struct {
	Servers  []ServerEntry
	Problems []string // sentences, safe to show
}

// ImportPlace is a file of another program in which servers may be configured.
type ImportPlace struct {
	Program string // its name
	Path    string
}

// AddServer writes a new server into the data folder's list. Values that look like secrets
// go to the secrets, and ${secret:NAME} stands in their place. It is not started: review
// it first. The error says what is wrong with the entry, or that the name is taken.
func (a *App) AddServer(ctx context.Context, e ServerEntry) error {
	return a.writeServer(ctx, "", e)
}

// EditServer writes a changed entry in place of the one called name; comments and fields
// that Steward does not know stay in the file. Running connections with other settings
// are ended, and what waits for a decision on them is withdrawn. What would be started
// differently must be reviewed again.
//
// Under another name it is another server: what was reviewed of it, allowed and set for it
// is forgotten, as when it is removed.
func (a *App) EditServer(ctx context.Context, name string, e ServerEntry) error {
	return a.forgetWhenGone(ctx, name, e.Name != name, func() error { return a.writeServer(ctx, name, e) })
}

func (a *App) writeServer(ctx context.Context, name string, e ServerEntry) error {
	if usable, problems := CheckServer(e); !usable {
		return &Message{Key: "server_entry", Args: args("server", reveal(e.Name), "detail", strings.Join(problems, " "))}
	}
	if err := a.refusedRoot(ctx, e); err != nil {
		return err
	}
	what := "server changed"
	if name == "" {
		what = "server added"
	}
	return a.editServers(ctx, what, e.Name, func(data []byte) ([]byte, error) {
		if _, err := config.PutServer(data, name, e); err != nil { // before a secret is moved
			return nil, err
		}
		e = a.restored(name, e)
		moved, err := config.MoveSecrets(e, func(suggested, value string) (string, error) { return a.keepSecret(ctx, suggested, value) })
		if err != nil {
			return nil, fmt.Errorf("a secret in the settings could not be kept, so nothing was written: %w", err)
		}
		return config.PutServer(data, name, moved)
	})
}

// restored puts back what [App.Server] had left out of an entry that a person then edited:
// a secret that still stands in the file itself. It is moved with the others.
func (a *App) restored(name string, e ServerEntry) ServerEntry {
	before, ok := config.Find(a.servers.now().servers, name)
	if name == "" || !ok {
		return e
	}
	was := map[string]string{}                                                    // by the place it was shown as
	_, _ = config.MoveSecrets(before, func(label, value string) (string, error) { // it never fails
		was["${secret:"+label+"}"] = value
		return label, nil
	})
	put := func(v string) string {
		for place, value := range was {
			v = strings.ReplaceAll(v, place, value)
		}
		return v
	}
	e.Env, e.Headers, e.Args = maps.Clone(e.Env), maps.Clone(e.Headers), slices.Clone(e.Args)
	for k, v := range e.Env {
		e.Env[k] = put(v)
	}
	for k, v := range e.Headers {
		e.Headers[k] = put(v)
	}
	for i, v := range e.Args {
		e.Args[i] = put(v)
	}
	e.URL, e.OAuth.ClientSecret = put(e.URL), put(e.OAuth.ClientSecret)
	return e
}

// keepSecret stores a value under a name of its own, or finds it there.
func (a *App) keepSecret(ctx context.Context, suggested, value string) (string, error) {
	suggested = strings.Map(func(r rune) rune {
		if strings.ContainsRune("{}$#", r) || !unicode.IsGraphic(r) {
			return '_'
		}
		return r
	}, clean.Line(suggested, 80))
	for n := 1; ; n++ {
		name := suggested
		if n > 1 {
			name = fmt.Sprintf("%s-%d", suggested, n)
		}
		old, err := a.secrets.Get(ctx, name)
		switch {
		case err == nil && old.Reveal() == value:
			return name, nil
		case err == nil && n < 100:
			continue
		case err == nil: // never over another one
			return "", fmt.Errorf("there are %d secrets named after %s already", n, suggested)
		case err != nil && !errors.Is(err, secrets.ErrNotFound):
			return "", err
		}
		err = a.secrets.Set(ctx, name, secrets.NewSecret(value))
		if err == nil {
			a.bus.Publish(event.SettingsChanged{What: "secrets"})
		}
		return name, err
	}
}

// RemoveServer takes a server out of the list and ends it. What was reviewed of it and what
// the person allowed it are forgotten; its records stay. Of several things that cannot be
// forgotten the error names each.
func (a *App) RemoveServer(ctx context.Context, name string) error {
	return a.forgetWhenGone(ctx, name, true, func() error {
		return a.editServers(ctx, "server removed", name, func(data []byte) ([]byte, error) { return config.RemoveServer(data, name) })
	})
}

// forgetWhenGone changes the list, and forgets a server that goes with that: also where something else of the change failed.
func (a *App) forgetWhenGone(ctx context.Context, name string, goes bool, change func() error) error {
	if !goes {
		return change()
	}
	_, was := config.Find(a.servers.now().servers, name)
	err := change()
	list := a.servers.now()
	_, still := config.Find(list.servers, name)
	if err != nil && (!was || still || list.err != nil) {
		return err
	}
	return errors.Join(err, a.forgetServer(ctx, name))
}

// forgetServer forgets all that a person said of a server that is gone.
func (a *App) forgetServer(ctx context.Context, name string) error {
	a.eras.forget(name)
	return errors.Join(a.gate.Forget(ctx, name), a.forgetPermissions(ctx, name), a.forgetSampling(ctx, name),
		a.changeTools(ctx, name, "", map[string]any{"change": "tools of a removed server"}, func(t *toolChoices) {
			delete(t.Off, name)
			delete(t.ReadOnly, name)
			delete(t.Twice, name)
		}))
}

// EnableServer switches a server on or off. One that is switched on and was reviewed is
// started.
func (a *App) EnableServer(ctx context.Context, name string, on bool) error {
	list := a.servers.now()
	c, ok := config.Find(list.servers, name)
	if !ok {
		return a.servers.unknown(name)
	}
	what := "server switched off"
	if on {
		what = "server switched on"
	}
	err := a.editServers(ctx, what, name, func(data []byte) ([]byte, error) {
		// As it stands in the file: somebody may have changed it there since it was read.
		if there, _, err := config.ParseServers(serversName, data); err == nil {
			if now, ok := config.Find(there, name); ok {
				c = now
			}
		}
		c.Disabled = !on
		return config.PutServer(data, name, c)
	})
	if err == nil && on {
		a.servers.startReviewed(ctx, name)
	}
	return err
}

// editServers changes the data folder's file and takes it over. Where there was none, the
// demo server is written into it, so that it does not vanish with the first server of the
// person's own.
func (a *App) editServers(ctx context.Context, what, name string, edit func([]byte) ([]byte, error)) error {
	a.desk.saving.Lock()
	list := a.servers.now()
	if list.source == sourceFile {
		a.desk.saving.Unlock()
		return &Message{Key: "servers_fixed", Args: args("file", list.path, "detail", "The servers of this run stand in "+list.path+", which was given at the start; change them there, and start Steward again.")}
	}
	err := config.EditFile(filepath.Join(a.dir, serversName), func(data []byte) (out []byte, err error) {
		if list.source == sourceBuiltIn {
			if data, err = config.PutServer(data, "", list.builtIn); err != nil {
				return nil, err
			}
		}
		return edit(data)
	})
	a.desk.saving.Unlock()
	if err != nil {
		return &Message{Key: "server_entry", Args: args("server", reveal(name), "detail", clean.Clean(err.Error())), Err: err}
	}
	noted := a.noteSettings(ctx, map[string]any{"change": what, "server": name})
	return errors.Join(a.ReloadServers(ctx), noted)
}

// ReloadServers reads the servers file again, after somebody changed it outside.
func (a *App) ReloadServers(ctx context.Context) error {
	ran, unread, unended := a.servers.reload(ctx, func() (serverList, error) { return readServers(ctx, a.o, a.dir) })
	for _, name := range ran {
		a.servers.startReviewed(ctx, name)
	}
	a.bus.Publish(event.ServersChanged{})
	if unended != nil {
		unended = fmt.Errorf("not every server that was changed could be ended in time: %w", unended)
	}
	return errors.Join(unread, unended)
}

// CheckServer says what is wrong with an entry that is to be added, in sentences; an entry
// that can be used may have warnings.
func CheckServer(e ServerEntry) (usable bool, problems []string) {
	usable, found := config.CheckServer(e)
	for _, p := range found {
		if p.Secret && !keepsSecrets(e) {
			continue // it is moved when the entry is written
		}
		p.Server = "" // who asks knows it
		problems = append(problems, clean.Clean(p.String()))
	}
	return usable, problems
}
