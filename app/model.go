package app

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"steward/app/config"
	"steward/app/event"
	"steward/llm"
)

// keyWait bounds reading the key from the keyring for one request.
const keyWait = 5 * time.Second

// model knows the endpoints: the flags', which then is the only one; else those that are
// stored, and the demo model, which is started with the first request that needs it.
type model struct {
	options llm.Options
	fixed   *llm.Endpoint // given for this run
	name    string        // a model given for this run, for whatever endpoint
	start   func(context.Context) (DemoModel, error)
	key     func(secret string) string          // reads an endpoint's key
	given   bool                                // the key was given for this run
	find    func(way) (route, error)            // how an endpoint is reached now
	header  func(map[string]string) http.Header // headers with their secrets
	habits  habits

	mu      sync.Mutex
	stored  storedEndpoints
	clients map[llmClient]*llm.Client
	demo    DemoModel
}

// llmClient is what a client is made for.
type llmClient struct {
	baseURL, model, profile, keyName string
	allowHTTP                        bool
	way                              way
	route                            route
	traits                           string
}

// configure decides which endpoints there are; it asks nobody.
func (m *model) configure(ctx context.Context, a *App) error {
	m.options = llm.Options{Redact: a.secrets.Redactor().Redact, Now: a.o.Now, Learned: a.learned}
	m.clients, m.key, m.find, m.header = map[llmClient]*llm.Client{}, a.storedKey, a.route, a.header
	var err error
	if m.stored, err = a.readEndpoints(ctx); err != nil {
		return err
	}
	if err = a.readHabits(ctx); err != nil {
		return err
	}
	m.start = a.o.StartDemoModel
	if m.start == nil {
		m.start = func(context.Context) (DemoModel, error) { return nil, &Message{Key: "no_demo_model"} }
	}
	o := a.o.Endpoint
	m.name = o.Model
	switch _, chosen := m.stored.find(m.stored.Chosen); {
	case o.BaseURL != "":
		m.fixed = &llm.Endpoint{BaseURL: o.BaseURL, Model: o.Model}
	case o.Model != "" && !chosen:
		return &Message{Key: "no_endpoint"}
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
	m.key, m.given = func(string) string { return key }, true
	if m.fixed != nil {
		m.fixed.Key = func() string { return key }
	}
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

// forRun is the endpoint that was given for the whole run, with the model that these settings name of it;
// false where none was. The caller holds m.mu.
func (m *model) forRun(s ConversationSettings) (llm.Endpoint, bool) {
	if m.fixed == nil {
		return llm.Endpoint{}, false
	}
	e := *m.fixed
	if s.Endpoint == FixedEndpoint && s.Model != "" {
		e.Model = s.Model
	}
	return e, true
}

// chosen is the stored endpoint that these settings name, else the one that is in use, and the name of the
// model; false where that is the demo model. The caller holds m.mu.
func (m *model) chosen(s ConversationSettings) (e storedEndpoint, name string, ok bool) {
	e, ok = m.stored.find(s.Endpoint)
	if !ok && s.Endpoint != DemoEndpoint {
		e, ok = m.stored.find(m.stored.Chosen)
		if s.Endpoint != "" {
			s.Model = "" // it was for an endpoint that is gone
		}
	}
	return e, cmp.Or(m.name, s.Model, e.Model), ok
}

// get returns the client for a conversation with these settings and the model's name,
// making the client (and starting the demo model) where there is none yet.
func (m *model) get(ctx context.Context, s ConversationSettings) (*llm.Client, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.forRun(s); ok {
		return m.client(e, "", way{})
	}
	chosen, name, ok := m.chosen(s)
	if !ok {
		return m.demoClient(ctx)
	}
	return m.client(chosen.endpoint(m, name), chosen.KeyName, chosen.way())
}

// placed is where a model is.
type placed struct {
	id, BaseURL, Profile string
	traits               map[string]string // not to be changed
}

// place names the endpoint and the model that get would use, without starting anything.
func (m *model) place(s ConversationSettings) (placed, string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.forRun(s); ok {
		return placed{FixedEndpoint, e.BaseURL, e.Profile, e.Traits}, e.Model
	}
	chosen, name, ok := m.chosen(s)
	if !ok {
		return placed{id: DemoEndpoint}, ""
	}
	return placed{chosen.ID, chosen.BaseURL, chosen.Profile, chosen.Traits}, name
}

// client makes or finds the client for an endpoint. The caller holds m.mu.
func (m *model) client(e llm.Endpoint, keyName string, w way) (*llm.Client, string, error) {
	r, err := m.find(w)
	if err != nil {
		return nil, "", err
	}
	id := llmClient{e.BaseURL, e.Model, e.Profile, keyName, e.AllowHTTP, w, r, asKey(e.Traits)}
	if c := m.clients[id]; c != nil {
		return c, e.Model, nil
	}
	e.Learned = m.habits.of(e.BaseURL, e.Model)
	c, err := m.connect(e, w, r)
	if err != nil {
		return nil, "", err
	}
	m.clients[id] = c
	return c, e.Model, nil
}

// demoClient starts the demo model where it does not run. The caller holds m.mu.
func (m *model) demoClient(ctx context.Context) (*llm.Client, string, error) {
	if m.demo == nil {
		demo, err := m.start(ctx)
		if err != nil {
			return nil, "", err
		}
		m.demo = demo
	}
	return m.client(llm.Endpoint{BaseURL: m.demo.BaseURL(), Model: m.demo.Model(), Key: m.demo.Token}, "", way{proxy: config.Direct})
}

func (m *model) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.clients {
		c.Close()
	}
	if m.demo != nil {
		return m.demo.Close()
	}
	return nil
}
