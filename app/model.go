package app

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"steward/app/event"
	"steward/llm"
)

// keyWait bounds reading the key from the keyring for one request.
const keyWait = 5 * time.Second

// model is the endpoint of this run: the flags', else the settings', else the demo
// model, which is started with the first request.
type model struct {
	endpoint llm.Endpoint
	options  llm.Options
	start    func(context.Context) (DemoModel, error) // nil: endpoint is complete

	mu     sync.Mutex
	client *llm.Client
	demo   DemoModel
}

// configure decides which endpoint is used; it asks nobody.
func (m *model) configure(a *App) error {
	m.options = llm.Options{Redact: a.secrets.Redactor().Redact, Now: a.o.Now}
	s, o := a.settings, a.o.Endpoint
	switch {
	case o.BaseURL != "":
		m.endpoint = llm.Endpoint{BaseURL: o.BaseURL, Model: o.Model}
	case s.BaseURL != "":
		m.endpoint = llm.Endpoint{BaseURL: s.BaseURL, Model: s.Model, Profile: s.Profile, AllowHTTP: s.AllowHTTP}
		if o.Model != "" {
			m.endpoint.Model = o.Model
		}
		if s.KeyName != "" {
			m.endpoint.Key = func() string { return a.storedKey(s.KeyName) }
		}
	case o.Model != "":
		return &Message{Key: "no_endpoint"}
	default:
		m.start = a.o.StartDemoModel
		if m.start == nil {
			m.start = func(context.Context) (DemoModel, error) { return nil, &Message{Key: "no_demo_model"} }
		}
		return nil
	}
	if o.KeyEnv == "" {
		return nil
	}
	key := os.Getenv(o.KeyEnv)
	if key == "" {
		a.notice("key_missing", "", fmt.Sprintf("The environment variable %s, named by --api-key-env, is not set, so the endpoint is asked without a key.", o.KeyEnv))
		return nil
	}
	a.secrets.Redactor().Learn("endpoint key", key)
	m.endpoint.Key = func() string { return key }
	return nil
}

// storedKey reads the endpoint's key from the secrets. Without one the endpoint is asked
// without, and its refusal says what is missing.
func (a *App) storedKey(name string) string {
	ctx, cancel := context.WithTimeout(context.Background(), keyWait)
	defer cancel()
	key, err := a.secrets.Get(ctx, name)
	if err != nil {
		a.bus.Publish(event.Notice{Kind: "key_missing", Message: fmt.Sprintf("The key %s of the model endpoint cannot be read: %v", name, err)})
		return ""
	}
	return key.Reveal()
}

// get returns the client, making it (and starting the demo model) with the first call.
func (m *model) get(ctx context.Context) (*llm.Client, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.client != nil {
		return m.client, m.endpoint.Model, nil
	}
	if m.start != nil {
		demo, err := m.start(ctx)
		if err != nil {
			return nil, "", err
		}
		m.demo = demo
		m.endpoint = llm.Endpoint{BaseURL: demo.BaseURL(), Model: demo.Model(), Key: demo.Token}
	}
	client, err := llm.New(m.endpoint, m.options)
	if err != nil {
		return nil, "", err
	}
	m.client = client
	return client, m.endpoint.Model, nil
}

func (m *model) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.client != nil {
		m.client.Close()
	}
	if m.demo != nil {
		return m.demo.Close()
	}
	return nil
}
