package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"steward/app/chat"
	"steward/app/clean"
	"steward/app/config"
	"steward/app/consent"
	"steward/app/event"
	"steward/app/journal"
	"steward/llm"
	"steward/mcphost"
	"steward/storage"
)

const samplingKey = "sampling"

// SamplingLimits are what a person has stated for the requests of a server to the model.
type SamplingLimits = consent.SamplingLimits

// samplingChoices are a person's choices for servers that ask for the model.
type samplingChoices struct {
	mu     sync.Mutex
	stored storedSampling // never changed, only replaced
}

type storedSampling struct {
	Servers map[string]storedLimits `json:"servers,omitempty"`
	// Models are the models that hints of servers go to, by endpoint and hint.
	Models map[string]map[string]string `json:"models,omitempty"`
	// Rules are the person's table of models, looked through in order after Models.
	Rules []SamplingRule `json:"rules,omitempty"`
}

// storedLimits stand with the configuration that the person trusted, see config.Server.Hash.
type storedLimits struct {
	ServerHash string         `json:"serverHash"`
	Limits     SamplingLimits `json:"limits"`
}

// openSampling reads what is stored; what cannot be read is told, and counts as nothing.
func (a *App) openSampling(ctx context.Context) error {
	raw, err := a.db.Setting(ctx, samplingKey)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var s storedSampling
	if err := json.Unmarshal(raw, &s); err != nil {
		a.notice("settings", "", "The limits for servers that ask for the model cannot be read, so none is trusted: "+err.Error())
		return nil
	}
	a.sampling.stored = s
	return nil
}

func (a *App) samplingNow() storedSampling {
	a.sampling.mu.Lock()
	defer a.sampling.mu.Unlock()
	return a.sampling.stored
}

// changeSampling records a change, stores it and tells.
func (a *App) changeSampling(ctx context.Context, server string, detail map[string]any, change func(*storedSampling)) error {
	a.desk.saving.Lock()
	defer a.desk.saving.Unlock()
	now := a.samplingNow()
	next := storedSampling{Servers: maps.Clone(now.Servers), Models: map[string]map[string]string{}, Rules: slices.Clone(now.Rules)}
	if next.Servers == nil {
		next.Servers = map[string]storedLimits{}
	}
	for endpoint, hints := range now.Models {
		next.Models[endpoint] = maps.Clone(hints)
	}
	change(&next)
	raw, err := json.Marshal(next)
	if err != nil {
		return err
	}
	_, err = a.journal.NoteNow(ctx, journal.Proposal{Kind: journal.KindSettings, Server: server, Detail: detail}, journal.Outcome{Outcome: journal.OK, Effect: journal.EffectDone})
	if err != nil {
		return fmt.Errorf("nothing was changed because that could not be recorded: %w", err)
	}
	if err := a.db.Write(ctx, func(tx *storage.Tx) error { return tx.PutSetting(samplingKey, raw) }); err != nil {
		return fmt.Errorf("the choice could not be stored: %w", err)
	}
	a.sampling.mu.Lock()
	a.sampling.stored = next
	a.sampling.mu.Unlock()
	a.bus.Publish(event.SettingsChanged{What: "grants"})
	return nil
}

// SamplingLimits gives what the person has stated for a server. Trust ends where the
// server's configuration is another one than when it was given. It answers at once.
func (a *App) SamplingLimits(server string) SamplingLimits {
	s, ok := a.samplingNow().Servers[server]
	if !ok {
		return SamplingLimits{}
	}
	if c, found := config.Find(a.servers.now().servers, server); !found || c.Hash() != s.ServerHash {
		s.Limits.Trusted, s.Limits.TrustedTokens = 0, 0
	}
	return s.Limits
}

// TrustedServer is a server whose requests to the model go without a review, within limits.
type TrustedServer struct {
	Server string
	Limits SamplingLimits
}

// TrustedServers lists them, by name. It answers at once.
func (a *App) TrustedServers() []TrustedServer {
	var out []TrustedServer
	for _, name := range slices.Sorted(maps.Keys(a.samplingNow().Servers)) {
		if l := a.SamplingLimits(name); l.Trusted > 0 {
			out = append(out, TrustedServer{name, l})
		}
	}
	return out
}

// SetSamplingLimits states the limits for a server, as it is configured now. They hold
// from its next request on, trust that ends also for an answer that is on its way.
func (a *App) SetSamplingLimits(ctx context.Context, server string, l SamplingLimits) error {
	c, ok := config.Find(a.servers.now().servers, server)
	if !ok {
		return a.servers.unknown(server)
	}
	return a.changeSampling(ctx, server, map[string]any{"change": "sampling limits", "limits": l}, func(s *storedSampling) {
		s.Servers[server] = storedLimits{ServerHash: c.Hash(), Limits: l}
		if l == (SamplingLimits{}) {
			delete(s.Servers, server)
		}
	})
}

// forgetSampling drops what was stated for a server that is removed.
func (a *App) forgetSampling(ctx context.Context, server string) error {
	if _, ok := a.samplingNow().Servers[server]; !ok {
		return nil
	}
	return a.changeSampling(ctx, server, map[string]any{"change": "sampling limits"}, func(s *storedSampling) { delete(s.Servers, server) })
}

// MapHint makes requests of servers that hint at a model go to this one of an endpoint;
// an empty model takes that back.
func (a *App) MapHint(ctx context.Context, endpoint, hint, model string) error {
	return a.changeSampling(ctx, "", map[string]any{"change": "model for a hint", "endpoint": endpoint, "hint": hint, "model": model}, func(s *storedSampling) {
		if s.Models[endpoint] == nil {
			s.Models[endpoint] = map[string]string{}
		}
		s.Models[endpoint][hint] = model
		if model == "" {
			delete(s.Models[endpoint], hint)
		}
	})
}

// sample asks the model for a server. A server gets no secret that the model repeats.
func (a *App) sample() chat.Sampler {
	ask := chat.NewSampler(a.recorder, func(ctx context.Context, conversation string, t consent.Target) (*llm.Client, string, error) {
		if t.Model == "" {
			return a.modelFor(ctx, conversation)
		}
		return a.model.exact(ctx, t)
	})
	return func(ctx context.Context, conversation string, t consent.Target, record int64, r mcphost.SamplingRequest) (mcphost.SamplingAnswer, error) {
		answer, err := ask(ctx, conversation, t, record, r)
		known := a.secrets.Redactor()
		answer.Text = known.Known(answer.Text)
		for i, c := range answer.Calls {
			answer.Calls[i].Input = json.RawMessage(known.KnownJSON(string(c.Input)))
		}
		return answer, err
	}
}

// target names the endpoint and model that get would use for a conversation with these
// settings.
func (m *model) target(ctx context.Context, s ConversationSettings) (consent.Target, error) {
	client, name, err := m.get(ctx, s)
	if err != nil || client == nil {
		return consent.Target{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fixed != nil {
		return consent.Target{Endpoint: FixedEndpoint, Where: clean.Line(hostOf(m.fixed.BaseURL), 100), Model: name}, nil
	}
	chosen, ok := m.stored.find(s.Endpoint)
	if !ok && s.Endpoint != DemoEndpoint {
		chosen, ok = m.stored.find(m.stored.Chosen)
	}
	if !ok {
		return consent.Target{Endpoint: DemoEndpoint, Model: name}, nil
	}
	return targetOf(chosen, name), nil
}

func targetOf(e storedEndpoint, model string) consent.Target {
	return consent.Target{Endpoint: e.ID, Address: e.BaseURL, Where: clean.Line(cmp.Or(e.Name, hostOf(e.BaseURL)), 100), Model: model}
}

// exact returns the client for one model of one endpoint, and no other: a person has seen
// both. The error says that the endpoint is gone.
func (m *model) exact(ctx context.Context, t consent.Target) (*llm.Client, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case t.Endpoint == FixedEndpoint && m.fixed != nil:
		e := *m.fixed
		e.Model = t.Model
		return m.client(e, "", way{})
	case t.Endpoint == DemoEndpoint && m.fixed == nil:
		if _, _, err := m.demoClient(ctx); err != nil {
			return nil, "", err
		}
		return m.client(llm.Endpoint{BaseURL: m.demo.BaseURL(), Model: t.Model, Key: m.demo.Token}, "", way{proxy: config.Direct})
	}
	chosen, ok := m.stored.find(t.Endpoint)
	if !ok || m.fixed != nil {
		return nil, "", noEndpoint(t.Endpoint)
	}
	if chosen.BaseURL != t.Address {
		return nil, "", &Message{Key: "endpoint_moved", Args: args("name", reveal(cmp.Or(chosen.Name, hostOf(chosen.BaseURL))), "detail", "The address of the model endpoint was changed after the request had been shown, so nothing was sent.")}
	}
	return m.client(chosen.endpoint(m, t.Model), chosen.KeyName, chosen.way())
}
