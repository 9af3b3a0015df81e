// Package app puts the program together: the data folder, the record, the secrets,
// the servers, consent and conversations. It holds no widget, no SQL and no wire format;
// a front end opens an App, subscribes to its events and calls its methods.
package app

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"steward/app/config"
	"steward/app/consent"
	"steward/app/secrets"
)

// Policy says who answers approvals and what servers ask. See [consent.Policy].
type Policy = consent.Policy

// Options are what a front end opens an App with. The zero value opens the system's
// data folder with its own servers and the model of its settings.
type Options struct {
	// Data is the data folder; "" is the system's place for application data.
	Data string
	// ServersFile replaces the folder's servers.json; its servers count as reviewed, and
	// the record says so.
	ServersFile string
	// Endpoint replaces the settings' model endpoint where BaseURL or Model is set.
	Endpoint Endpoint
	Policy   Policy
	// Roots are folders shared with the servers in this run.
	Roots []string
	// ToolTimeout and MaxRounds replace the settings' limits where not 0.
	ToolTimeout time.Duration
	MaxRounds   int
	// Concerns are the servers that this run has to do with: of the others, nothing that is
	// wrong with their entries is told. Nil is all, empty none (the caller shows it).
	Concerns []string
	// Conversation is continued by Ask; "" begins a new one.
	Conversation string
	// Without are tools, as SERVER/TOOL, or servers, that the model is not offered in this
	// run. What names no configured server is an error.
	Without []string
	// Passphrase, where not empty, chooses the encrypted file in the data folder to keep
	// secrets in, opens it, and makes it if there is none.
	Passphrase secrets.Secret
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	Hooks
}

// Endpoint names a model endpoint. KeyEnv is the name of the environment variable that
// holds the key; its value is read once and never stored.
type Endpoint struct {
	BaseURL, Model, KeyEnv string
}

// DemoModel is the offline demo model while it runs.
type DemoModel interface {
	BaseURL() string
	Token() string
	Model() string
	Close() error
}

// Hooks are what main hands to the App because no package below may reach it.
type Hooks struct {
	Version string
	// StartDemoModel starts the demo model; nil: there is none.
	StartDemoModel func(ctx context.Context) (DemoModel, error)
	// DemoServer is the command line of the built-in demo server; empty: there is none.
	DemoServer []string
}

// DemoServerName is the built-in demo server's name.
const DemoServerName = "demo"

// dataDir is the folder as an absolute path, so that messages can be acted on.
func dataDir(dir string) (string, error) {
	if dir == "" {
		return config.DataDir()
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("the data folder %s cannot be found: %w", dir, err)
	}
	return abs, nil
}
