package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"steward/app/clean"
	"steward/app/secrets"
	"steward/mcphost"
)

// kept keeps what came of signing in among the secrets, where the person has chosen to
// keep those; where nothing can be kept, until the program ends. Whatever passes through
// it is known to the redactor.
type kept struct {
	secrets *secrets.Store
	changed func()               // what is kept has changed
	tell    func(message string) // that something is not kept for good

	mu     sync.Mutex
	memory map[string][]byte // by the secret's name: what could not be kept elsewhere
	told   bool
}

// lost says whether nothing that is kept outlives the program.
func (k *kept) lost(ctx context.Context) bool {
	switch k.secrets.State(ctx).Kind {
	case secrets.KindAbsent, secrets.KindError, secrets.KindMemory:
		return true
	}
	return false
}

// Load returns what Save last kept, nil where that is nothing.
func (k *kept) Load(ctx context.Context, key string) ([]byte, error) {
	name := signInSecret(key)
	k.mu.Lock()
	held, ok := k.memory[name]
	k.mu.Unlock()
	if ok {
		return slices.Clone(held), nil
	}
	s, err := k.secrets.Get(ctx, name)
	switch {
	case errors.Is(err, secrets.ErrNotFound):
		return nil, nil
	case errors.Is(err, secrets.ErrUnavailable) && k.secrets.State(ctx).Kind != secrets.KindLocked:
		return nil, nil // nothing can have been kept where there is no place for it
	case err != nil:
		return nil, err
	}
	value := []byte(s.Reveal())
	k.learn(name, value)
	return value, nil
}

// Save keeps a secret for the next start as well or, where that is not possible, until
// this one ends, and says so once there is a sign-in to lose: a registration is none.
func (k *kept) Save(ctx context.Context, key string, value []byte) error {
	name := signInSecret(key)
	k.learn(name, value)
	err := k.secrets.Set(ctx, name, secrets.NewSecret(string(value)))
	k.mu.Lock()
	tell := err != nil && !k.told && strings.HasPrefix(key, mcphost.SignInTokens)
	if err != nil {
		if k.memory == nil {
			k.memory = map[string][]byte{}
		}
		k.memory[name] = slices.Clone(value)
	} else {
		delete(k.memory, name)
	}
	k.told = k.told || tell
	k.mu.Unlock()
	if tell {
		why := clean.Clean(err.Error())
		if state := k.secrets.State(ctx); errors.Is(err, secrets.ErrUnavailable) && state.Message != "" {
			why = state.Message // what else could be chosen is said where secrets are set up
		}
		k.tell("What signing in brings is kept only until Steward ends; after that you sign in again. " + why)
	}
	k.changed()
	return nil
}

// settle keeps for good what could only be held until the end, after the person has chosen a
// place or unlocked one.
func (k *kept) settle(ctx context.Context) {
	k.mu.Lock()
	held := maps.Clone(k.memory)
	k.mu.Unlock()
	for name, value := range held {
		if k.secrets.Set(ctx, name, secrets.NewSecret(string(value))) != nil {
			return // it stays held, as was said
		}
		k.mu.Lock()
		if bytes.Equal(k.memory[name], value) {
			delete(k.memory, name)
		}
		k.mu.Unlock()
		k.changed()
	}
}

// Delete forgets a secret. The error says that it may still be there.
func (k *kept) Delete(ctx context.Context, key string) error {
	name := signInSecret(key)
	k.mu.Lock()
	delete(k.memory, name)
	k.mu.Unlock()
	err := k.secrets.Delete(ctx, name)
	switch {
	case errors.Is(err, secrets.ErrNotFound):
		return nil
	case errors.Is(err, secrets.ErrUnavailable) && k.secrets.State(ctx).Kind != secrets.KindLocked:
		return nil
	}
	if err == nil {
		k.changed()
	}
	return err
}

var addressHost = regexp.MustCompile(`(?i)https?://([^/\s?#]+)`)

// signInSecret names the secret of a key: for a person by the host that issued it, and
// for certain by the key's hash.
func signInSecret(key string) string {
	sum := sha256.Sum256([]byte(key))
	name := "sign-in"
	if m := addressHost.FindStringSubmatch(key); m != nil {
		host := strings.Map(func(r rune) rune {
			if r > '~' || r <= ' ' || strings.ContainsRune("{}$#", r) {
				return '_'
			}
			return r
		}, strings.ToLower(m[1]))
		name += " " + clean.Line(host, 50)
	}
	return name + " " + hex.EncodeToString(sum[:8])
}

// learn makes every secret in a value known to the redactor: tokens come back one by one,
// never as the text that is kept.
func (k *kept) learn(name string, value []byte) {
	r := k.secrets.Redactor()
	var v any
	if json.Unmarshal(value, &v) != nil {
		r.Learn(name, string(value))
		return
	}
	var walk func(member string, v any)
	walk = func(member string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for m, e := range v {
				walk(m, e)
			}
		case []any:
			for _, e := range v {
				walk(member, e)
			}
		case string:
			if len(v) >= 6 && (secrets.SecretName(member) || secretMembers[strings.ToLower(member)] || secrets.LooksSecret(v)) {
				r.Learn(name, v)
			}
		}
	}
	walk("", v)
}

// secretMembers are names of members that hold secrets, beside those that
// [secrets.SecretName] knows.
var secretMembers = map[string]bool{"access": true, "refresh": true, "code": true, "verifier": true, "code_verifier": true}
