package app

import (
	"context"

	"steward/app/config"
	"steward/app/secrets"
)

// Settings are what the person chose for the program as a whole.
type Settings = config.Settings

// SecretState says where secrets are kept, and whether they can be read now.
type SecretState = secrets.State

// Settings gives the settings in force.
func (a *App) Settings(ctx context.Context) (Settings, error) { return Settings{}, errNotYet }

// SaveSettings stores them; they hold from the next turn, start or approval on. The error
// names what cannot be used. The endpoint's fields are ignored, see [App.SaveEndpoint].
func (a *App) SaveSettings(ctx context.Context, s Settings) error { return errNotYet }

// SecretState waits for the keyring's answer, about two seconds at most. It asks the
// person nothing.
func (a *App) SecretState(ctx context.Context) SecretState { return SecretState{} }

// SecretNames lists the stored secrets by name.
func (a *App) SecretNames(ctx context.Context) ([]string, error) { return nil, errNotYet }

// SetSecret stores a secret; nil means that it was read back as stored.
func (a *App) SetSecret(ctx context.Context, name, value string) error { return errNotYet }

// DeleteSecret removes one.
func (a *App) DeleteSecret(ctx context.Context, name string) error { return errNotYet }

// UnlockSecrets lets the keyring ask the person for its password and waits for that, until
// ctx ends, a minute at most: never call it on the window's thread.
func (a *App) UnlockSecrets(ctx context.Context) SecretState { return SecretState{} }

// RetrySecrets looks at the keyring again. It asks the person nothing.
func (a *App) RetrySecrets(ctx context.Context) SecretState { return SecretState{} }

// UseSecretsFile keeps secrets in an encrypted file in the data folder from now on, or
// opens it. Only for a person's choice.
func (a *App) UseSecretsFile(ctx context.Context, passphrase string) error { return errNotYet }

// UseSecretsMemory keeps secrets until the program ends. Only for a person's choice.
func (a *App) UseSecretsMemory() {}

// DataDir is the data folder's absolute path.
func (a *App) DataDir() string { return a.dir }

// Version is this build's.
func (a *App) Version() string { return a.o.Version }

// Preference gives what a front end has stored under a key, empty where it never has.
func (a *App) Preference(ctx context.Context, key string) (string, error) { return "", errNotYet }

// SetPreference stores something of a front end's own, such as a window's size; empty
// removes it. It is not recorded. At most 64 kB.
func (a *App) SetPreference(ctx context.Context, key, value string) error { return errNotYet }
