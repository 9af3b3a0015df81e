package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"steward/app/config"
	"steward/app/event"
	"steward/app/opener"
	"steward/app/secrets"
	"steward/storage"
)

// maxPreference bounds what a front end stores under one key, in bytes.
const maxPreference = 64 << 10

// Settings are what the person chose for the program as a whole.
type Settings = config.Settings

// SecretState says where secrets are kept, and whether they can be read now.
type SecretState = secrets.State

// Settings gives the settings in force.
func (a *App) Settings(ctx context.Context) (Settings, error) { return a.settingsNow(), nil }

// SaveSettings stores them; they hold from the next turn, start or approval on. The error
// names what cannot be used. The endpoint's fields are ignored, see [App.SaveEndpoint].
func (a *App) SaveSettings(ctx context.Context, s Settings) error {
	a.desk.saving.Lock()
	defer a.desk.saving.Unlock()
	before := a.settingsNow()
	s.BaseURL, s.Model, s.KeyName, s.Profile, s.AllowHTTP = before.BaseURL, before.Model, before.KeyName, before.Profile, before.AllowHTTP
	if err := s.Check(); err != nil {
		return &Message{Key: "settings", Args: args("detail", err.Error()), Err: err}
	}
	raw := s.Encode()
	if raw == nil {
		return &Message{Key: "settings", Args: args("detail", "The settings cannot be written.")}
	}
	if err := a.db.Write(ctx, func(tx *storage.Tx) error { return tx.PutSetting(settingsKey, raw) }); err != nil {
		return fmt.Errorf("the settings could not be stored: %w", err)
	}
	a.mu.Lock()
	a.settings = s
	a.mu.Unlock()
	a.servers.setLimits(a.limits())
	if a.o.Policy.Expiry == 0 {
		a.gate.SetExpiry(s.Expiry)
	}
	a.bus.Publish(event.SettingsChanged{What: "settings"})
	return a.noteSettings(ctx, map[string]any{"change": "settings", "settings": raw})
}

// SecretState waits for the keyring's answer, about two seconds at most. It asks the
// person nothing.
func (a *App) SecretState(ctx context.Context) SecretState { return a.secrets.State(ctx) }

// SecretNames lists the stored secrets by name.
func (a *App) SecretNames(ctx context.Context) ([]string, error) { return a.secrets.Names(ctx) }

func (a *App) secretsChanged(err error) error {
	if err == nil {
		a.bus.Publish(event.SettingsChanged{What: "secrets"})
	}
	return err
}

// SetSecret stores a secret; nil means that it was read back as stored.
func (a *App) SetSecret(ctx context.Context, name, value string) error {
	return a.secretsChanged(a.secrets.Set(ctx, name, secrets.NewSecret(value)))
}

// DeleteSecret removes one.
func (a *App) DeleteSecret(ctx context.Context, name string) error {
	return a.secretsChanged(a.secrets.Delete(ctx, name))
}

// UnlockSecrets lets the keyring ask the person for its password and waits for that, until
// ctx ends, a minute at most: never call it on the window's thread.
func (a *App) UnlockSecrets(ctx context.Context) SecretState {
	s := a.secrets.Unlock(ctx)
	a.kept.settle(ctx)
	a.bus.Publish(event.SettingsChanged{What: "secrets"})
	return s
}

// RetrySecrets looks at the keyring again. It asks the person nothing.
func (a *App) RetrySecrets(ctx context.Context) SecretState {
	s := a.secrets.Retry(ctx)
	a.kept.settle(ctx)
	a.bus.Publish(event.SettingsChanged{What: "secrets"})
	return s
}

// UseSecretsFile keeps secrets in an encrypted file in the data folder from now on, or
// opens it. Only for a person's choice.
func (a *App) UseSecretsFile(ctx context.Context, passphrase string) error {
	err := a.secretsChanged(a.secrets.UseFile(ctx, secrets.NewSecret(passphrase)))
	if err == nil {
		a.kept.settle(ctx)
	}
	return err
}

// UseSecretsMemory keeps secrets until the program ends. Only for a person's choice.
func (a *App) UseSecretsMemory() {
	a.secrets.UseMemory()
	a.bus.Publish(event.SettingsChanged{What: "secrets"})
}

// HasSecretsFile says whether the data folder holds an encrypted secrets file: where secrets are locked then, they wait
// for its passphrase ([App.UseSecretsFile]), not for the keyring.
func (a *App) HasSecretsFile() bool { return a.secrets.HasFile() }

// OpenDataDir shows the data folder in the system's file manager. Only for a person's choice.
func (a *App) OpenDataDir(ctx context.Context) error { return opener.OpenFolder(ctx, a.dir) }

// DataDir is the data folder's absolute path.
func (a *App) DataDir() string { return a.dir }

// Version is this build's.
func (a *App) Version() string { return a.o.Version }

// Preference gives what a front end has stored under a key, empty where it never has.
func (a *App) Preference(ctx context.Context, key string) (string, error) {
	raw, err := a.db.Setting(ctx, preferenceKey+key)
	if errors.Is(err, storage.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var value string
	if err := json.Unmarshal(raw, &value); err != nil {
		return "", fmt.Errorf("the preference %s cannot be read: %w", reveal(key), err)
	}
	return value, nil
}

// SetPreference stores something of a front end's own, such as a window's size; empty
// removes it. It is not recorded. At most 64 kB.
func (a *App) SetPreference(ctx context.Context, key, value string) error {
	if len(value) > maxPreference || len(key) > 200 {
		return fmt.Errorf("the preference %s is too long to be stored", reveal(key[:min(len(key), 200)]))
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return a.db.Write(ctx, func(tx *storage.Tx) error {
		if value == "" {
			return tx.DeleteSetting(preferenceKey + key)
		}
		return tx.PutSetting(preferenceKey+key, raw)
	})
}
