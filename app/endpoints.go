package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"steward/app/chat"
	"steward/app/clean"
	"steward/app/config"
	"steward/app/event"
	"steward/app/journal"
	"steward/app/secrets"
	"steward/llm"
	"steward/storage"
)

// DemoEndpoint is the id of the built-in demo model.
const DemoEndpoint = "demo"

// FixedEndpoint is the id of the endpoint that was given for this run.
const FixedEndpoint = "run"

// ModelEndpoint is one model endpoint. The key is not among it: it stands in the secrets.
type ModelEndpoint struct {
	ID        string // empty for one that is not stored yet
	Name      string // a person's
	BaseURL   string
	Model     string
	Profile   string            // the endpoint's habits; empty is found from the address
	Traits    map[string]string // habits that the person has set, see [App.EndpointHabits]
	AllowHTTP bool              // the key may travel in clear text
	HasKey    bool              // a key is named for it; whether it can be read is found out when it is used
	Chosen    bool              // used where a conversation says nothing else
	Demo      bool              // the built-in demo model
	Fixed     bool              // given for this run; cannot be changed
	Reach
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

// storedEndpoints are the endpoints as they are stored.
type storedEndpoints struct {
	Chosen string           `json:"chosen,omitempty"`
	List   []storedEndpoint `json:"list"`
}

type storedEndpoint struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	BaseURL   string `json:"baseURL"`
	Model     string `json:"model"`
	Profile   string `json:"profile,omitempty"`
	KeyName   string `json:"keyName,omitempty"`
	AllowHTTP bool   `json:"allowHTTP,omitempty"`

	Traits map[string]string `json:"traits,omitempty"`

	Proxy      string            `json:"proxy,omitempty"`
	CAFile     string            `json:"caFile,omitempty"`
	Headers    map[string]string `json:"headers,omitempty"`    // never changed, only replaced
	FirstToken int               `json:"firstToken,omitempty"` // seconds, as Idle
	Idle       int               `json:"idle,omitempty"`
}

func (e storedEndpoint) reach() Reach {
	return Reach{Proxy: e.Proxy, CAFile: e.CAFile, Headers: e.Headers, FirstToken: time.Duration(e.FirstToken) * time.Second, Idle: time.Duration(e.Idle) * time.Second}
}

func (e storedEndpoint) way() way { return e.reach().way() }

func (s storedEndpoints) find(id string) (storedEndpoint, bool) {
	i := slices.IndexFunc(s.List, func(e storedEndpoint) bool { return e.ID == id })
	if i < 0 {
		return storedEndpoint{}, false
	}
	return s.List[i], true
}

func (e storedEndpoint) endpoint(m *model, name string) llm.Endpoint {
	out := llm.Endpoint{BaseURL: e.BaseURL, Model: name, Profile: e.Profile, Traits: e.Traits, AllowHTTP: e.AllowHTTP}
	if key, secret := m.key, e.KeyName; secret != "" || m.given {
		out.Key = func() string { return key(secret) }
	}
	return out
}

// readEndpoints reads what is stored; an endpoint that stands in the settings counts as
// one that was chosen.
func (a *App) readEndpoints(ctx context.Context) (s storedEndpoints, err error) {
	raw, err := a.db.Setting(ctx, endpointsKey)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		if c := a.settingsNow(); c.BaseURL != "" {
			s.Chosen = "settings"
			s.List = []storedEndpoint{{ID: s.Chosen, Name: hostOf(c.BaseURL), BaseURL: c.BaseURL, Model: c.Model, Profile: c.Profile, KeyName: c.KeyName, AllowHTTP: c.AllowHTTP}}
		}
		return s, nil
	case err != nil:
		return s, err
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		a.notice("settings", "", "The model endpoints cannot be read, so the demo model is used until they are set again: "+err.Error())
		return storedEndpoints{}, nil
	}
	return s, nil
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// Endpoints lists the endpoint given for this run, or the stored ones and the demo model.
func (a *App) Endpoints(ctx context.Context) ([]ModelEndpoint, error) {
	m := &a.model
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fixed != nil {
		return []ModelEndpoint{{ID: FixedEndpoint, Name: hostOf(m.fixed.BaseURL), BaseURL: m.fixed.BaseURL, Model: m.fixed.Model, Profile: m.fixed.Profile,
			HasKey: m.fixed.Key != nil, Chosen: true, Fixed: true}}, nil
	}
	out := []ModelEndpoint{}
	for _, e := range m.stored.List {
		reach := e.reach()
		reach.Headers = maps.Clone(reach.Headers)
		out = append(out, ModelEndpoint{Reach: reach, ID: e.ID, Name: clean.Line(e.Name, 100), BaseURL: e.BaseURL, Model: cmp.Or(m.name, e.Model), Profile: e.Profile,
			Traits: maps.Clone(e.Traits), AllowHTTP: e.AllowHTTP, HasKey: e.KeyName != "", Chosen: e.ID == m.stored.Chosen})
	}
	if a.o.StartDemoModel != nil {
		_, chosen := m.stored.find(m.stored.Chosen)
		demo := ModelEndpoint{ID: DemoEndpoint, Demo: true, Chosen: !chosen}
		if m.demo != nil {
			demo.Model = m.demo.Model()
		}
		out = append(out, demo)
	}
	return out, nil
}

// changeEndpoints changes what is stored, and tells. The settings' own endpoint is then
// no longer looked at.
func (a *App) changeEndpoints(ctx context.Context, detail map[string]any, change func(*storedEndpoints) error) error {
	a.desk.saving.Lock()
	defer a.desk.saving.Unlock()
	a.model.mu.Lock()
	next := a.model.stored
	a.model.mu.Unlock()
	next.List = slices.Clone(next.List)
	if err := change(&next); err != nil {
		return err
	}
	raw, err := json.Marshal(next)
	if err != nil {
		return err
	}
	if err := a.db.Write(ctx, func(tx *storage.Tx) error { return tx.PutSetting(endpointsKey, raw) }); err != nil {
		return fmt.Errorf("the model endpoint could not be stored: %w", err)
	}
	a.model.mu.Lock()
	a.model.stored = next
	a.model.mu.Unlock()
	a.bus.Publish(event.SettingsChanged{What: "endpoints"})
	return a.noteSettings(ctx, detail)
}

// noteSettings records that a person changed something which decides where text goes or
// what may run.
func (a *App) noteSettings(ctx context.Context, detail map[string]any) error {
	_, err := a.journal.Note(ctx, journal.Proposal{Kind: journal.KindSettings, Detail: detail}, journal.Outcome{Outcome: journal.OK, Effect: journal.EffectDone})
	if err != nil {
		return fmt.Errorf("the change holds, but could not be recorded: %w", err)
	}
	return nil
}

// SaveEndpoint stores an endpoint, new (ID empty) or changed, and its key where not empty,
// and returns its id. What looks like a secret in its headers is moved to the secrets. Key
// and headers' secrets stay with the host they were given for: at another one they are
// forgotten. The first endpoint that is stored is chosen. Requests under way go on with what
// they began with.
func (a *App) SaveEndpoint(ctx context.Context, e ModelEndpoint, key string) (id string, err error) {
	e.BaseURL = llm.WithScheme(e.BaseURL)
	if err := checkEndpoint(e); err != nil {
		return "", err
	}
	isNew := e.ID == ""
	if isNew {
		e.ID = strings.Replace(chat.NewConversationID(), "c_", "e_", 1)
	}
	keyName := "endpoint." + e.ID
	if key != "" {
		if err := a.secrets.Set(ctx, keyName, secrets.NewSecret(key)); err != nil {
			return "", fmt.Errorf("the key could not be kept, so the endpoint was not stored: %w", err)
		}
		a.bus.Publish(event.SettingsChanged{What: "secrets"})
	}
	headers, err := a.hideHeaders(ctx, e.ID, e.Headers)
	if err != nil {
		return "", err
	}
	var before, after storedEndpoint
	err = a.changeEndpoints(ctx, map[string]any{"change": "endpoint", "endpoint": e.ID, "address": e.BaseURL, "model": e.Model, "proxy": e.Proxy, "ca_file": e.CAFile, "headers": slices.Sorted(maps.Keys(headers))}, func(s *storedEndpoints) error {
		stored := storedEndpoint{
			ID: e.ID, Name: clean.Line(cmp.Or(e.Name, hostOf(e.BaseURL)), 100), BaseURL: e.BaseURL, Model: e.Model, Profile: e.Profile, Traits: maps.Clone(e.Traits), AllowHTTP: e.AllowHTTP,
			Proxy: e.Proxy, CAFile: e.CAFile, Headers: headers, FirstToken: int(e.FirstToken / time.Second), Idle: int(e.Idle / time.Second),
		}
		i := slices.IndexFunc(s.List, func(o storedEndpoint) bool { return o.ID == e.ID })
		switch {
		case i < 0 && !isNew:
			return noEndpoint(e.ID)
		case i < 0:
			s.List = append(s.List, stored)
			i = len(s.List) - 1
		default:
			if before = s.List[i]; hostOf(before.BaseURL) == hostOf(e.BaseURL) { // a key goes to the place it was given for
				stored.KeyName = before.KeyName
			} else {
				stored.Headers = otherHost(before, e.Headers, headers)
			}
			s.List[i] = stored
		}
		if key != "" {
			s.List[i].KeyName = keyName
		}
		after = s.List[i]
		if len(s.List) == 1 && isNew {
			s.Chosen = e.ID
		}
		return nil
	})
	if err != nil || isNew {
		return e.ID, err
	}
	if before.BaseURL != e.BaseURL {
		a.forgetModels(ctx, e.ID)
	}
	kept := after.ownSecrets()
	return e.ID, a.dropSecrets(ctx, slices.DeleteFunc(before.ownSecrets(), func(n string) bool { return slices.Contains(kept, n) }))
}

// dropSecrets removes secrets that only an endpoint had, which needs them no more.
func (a *App) dropSecrets(ctx context.Context, names []string) error {
	for _, name := range names {
		if err := a.secrets.Delete(ctx, name); err != nil && !errors.Is(err, secrets.ErrNotFound) {
			return fmt.Errorf("the endpoint was changed, but its key or a secret of its headers may remain: %w", err)
		}
		a.bus.Publish(event.SettingsChanged{What: "secrets"})
	}
	return nil
}

// otherHost leaves out of the headers for another host the secrets that were given for the
// one before.
func otherHost(before storedEndpoint, given, hidden map[string]string) map[string]string {
	out := maps.Clone(hidden)
	for name, value := range given {
		if strings.Contains(value, "${secret:") && before.Headers[name] == value {
			delete(out, name)
		}
	}
	return out
}

func noEndpoint(id string) error {
	return &Message{Key: "no_model_endpoint", Args: args("detail", "There is no model endpoint with the id "+reveal(id)+".")}
}

func checkEndpoint(e ModelEndpoint) error {
	s := config.DefaultSettings()
	s.BaseURL = e.BaseURL
	err := s.Check()
	if err == nil && e.BaseURL == "" {
		err = errors.New("the address of the endpoint is missing; it looks like https://host/v1")
	}
	for _, key := range slices.Sorted(maps.Keys(e.Traits)) {
		if err == nil {
			err = new(llm.Profile).SetTrait(key, e.Traits[key])
		}
	}
	if err == nil && len(e.Model) > 300 {
		err = errors.New("the name of the model is too long")
	}
	if err == nil {
		err = e.Reach.check()
	}
	if err != nil {
		return &Message{Key: "endpoint", Args: args("detail", err.Error()), Err: err}
	}
	return nil
}

// DeleteEndpoint removes an endpoint and its key. Conversations that used it use the
// chosen one.
func (a *App) DeleteEndpoint(ctx context.Context, id string) error {
	var gone storedEndpoint
	err := a.changeEndpoints(ctx, map[string]any{"change": "endpoint removed", "endpoint": id}, func(s *storedEndpoints) error {
		var ok bool
		if gone, ok = s.find(id); !ok {
			return noEndpoint(id)
		}
		s.List = slices.DeleteFunc(s.List, func(e storedEndpoint) bool { return e.ID == id })
		if s.Chosen == id {
			s.Chosen = ""
			if len(s.List) > 0 {
				s.Chosen = s.List[0].ID
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	a.forgetModels(ctx, id)
	return a.dropSecrets(ctx, gone.ownSecrets())
}

// ChooseEndpoint makes an endpoint, and one of its models where not empty, the one that
// conversations use.
func (a *App) ChooseEndpoint(ctx context.Context, id, model string) error {
	return a.changeEndpoints(ctx, map[string]any{"change": "endpoint chosen", "endpoint": id, "model": model}, func(s *storedEndpoints) error {
		if id == DemoEndpoint {
			s.Chosen = ""
			return nil
		}
		i := slices.IndexFunc(s.List, func(e storedEndpoint) bool { return e.ID == id })
		if i < 0 {
			return noEndpoint(id)
		}
		s.Chosen = id
		if model != "" {
			s.List[i].Model = model
		}
		return nil
	})
}
