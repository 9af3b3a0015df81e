package app

import (
	"context"
	"maps"
	"slices"
	"strings"

	"steward/app/config"
)

// HideSecrets gives an entry as it may be shown, and the names of the secrets that
// [App.AddServer] and [App.EditServer] would make of what looks like one in it.
// ${secret:NAME} stands in their places. A name that is taken gets a number.
func HideSecrets(e ServerEntry) (shown ServerEntry, names []string) {
	shown, _ = config.MoveSecrets(e, func(label, _ string) (string, error) { // it never fails
		names = append(names, label)
		return label, nil
	})
	return shown, names
}

// KeepInSecrets moves the values of the named environment variables and headers of an entry
// to the secrets, whatever they look like, and gives the entry with ${secret:NAME} in their
// places. An entry that cannot be used is refused before anything is moved; where a value
// cannot be kept, the error says so and the entry stays as it was.
func (a *App) KeepInSecrets(ctx context.Context, e ServerEntry, names []string) (ServerEntry, error) {
	if len(names) == 0 {
		return e, nil
	}
	if usable, problems := CheckServer(e); !usable {
		return e, &Message{Key: "server_entry", Args: args("server", reveal(e.Name), "detail", strings.Join(problems, " "))}
	}
	moved := e
	moved.Env, moved.Headers = maps.Clone(e.Env), maps.Clone(e.Headers)
	for _, name := range names {
		for _, m := range []map[string]string{moved.Env, moved.Headers} {
			value, ok := m[name]
			if !ok || value == "" || strings.Contains(value, "${") {
				continue // there is nothing to hide, or it is put in from elsewhere
			}
			kept, err := a.keepSecret(ctx, e.Name+"."+name, value)
			if err != nil {
				return e, err
			}
			m[name] = "${secret:" + kept + "}"
		}
	}
	return moved, nil
}

// keepsSecrets says whether secrets stay in the open when those that can be moved are.
func keepsSecrets(e ServerEntry) bool {
	_, problems := config.CheckServer(config.WithoutSecrets(e))
	return slices.ContainsFunc(problems, func(p config.Problem) bool { return p.Secret })
}
