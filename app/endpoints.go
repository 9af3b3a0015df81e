package app

import "context"

// DemoEndpoint is the id of the built-in demo model.
const DemoEndpoint = "demo"

// ModelEndpoint is one model endpoint. The key is not among it: it stands in the secrets.
type ModelEndpoint struct {
	ID        string // empty for one that is not stored yet
	Name      string // a person's
	BaseURL   string
	Model     string
	Profile   string // the endpoint's habits; empty is found from the address
	AllowHTTP bool   // the key may travel in clear text
	HasKey    bool   // a key is named for it; whether it can be read is found out when it is used
	Chosen    bool   // used where a conversation says nothing else
	Demo      bool   // the built-in demo model
	Fixed     bool   // given for this run; cannot be changed
}

// ModelPreset is a well-known endpoint to begin from. Local ones are programs on this
// computer.
type ModelPreset struct {
	Name     string
	BaseURL  string
	Profile  string
	Local    bool
	NeedsKey bool
	KeysURL  string // where a person gets a key; empty where none is needed
}

// Endpoints lists the stored endpoints and the demo model.
func (a *App) Endpoints(ctx context.Context) ([]ModelEndpoint, error) { return nil, errNotYet }

// SaveEndpoint stores an endpoint, new (ID empty) or changed, and its key where not empty,
// and returns its id. The first one that is stored is chosen. Requests under way go on
// with what they began with.
func (a *App) SaveEndpoint(ctx context.Context, e ModelEndpoint, key string) (id string, err error) {
	return "", errNotYet
}

// DeleteEndpoint removes an endpoint and its key. Conversations that used it use the
// chosen one.
func (a *App) DeleteEndpoint(ctx context.Context, id string) error { return errNotYet }

// ChooseEndpoint makes an endpoint, and one of its models where not empty, the one that
// conversations use.
func (a *App) ChooseEndpoint(ctx context.Context, id, model string) error { return errNotYet }

// TestEndpoint asks an endpoint for its models, with key, or with its stored one where key
// is empty. Nothing is stored. The error says what is wrong and what to do.
func (a *App) TestEndpoint(ctx context.Context, e ModelEndpoint, key string) (models []string, err error) {
	return nil, errNotYet
}

// Models lists the models of a stored endpoint, for the model picker.
func (a *App) Models(ctx context.Context, endpoint string) ([]string, error) { return nil, errNotYet }

// ModelPresets lists well-known endpoints.
func ModelPresets() []ModelPreset { return nil }

// FindLocalModels looks for model programs on this computer at their usual ports, at most
// about a second, and gives those that answer.
func (a *App) FindLocalModels(ctx context.Context) ([]ModelEndpoint, error) { return nil, errNotYet }
