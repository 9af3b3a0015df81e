package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"steward/app/consent"
	"steward/mcphost"
)

// Limits of the table of models for servers.
const (
	maxSamplingRules = 100
	maxRuleText      = 300 // bytes
)

// SamplingRule is a line of the person's table: which model a server's request goes to. One
// of Like and Prefers is set.
type SamplingRule struct {
	// Like is part of a model's name as servers hint at it, in letters of either case.
	Like string `json:"like,omitempty"`
	// Exact says that Like is the whole name, as it was kept from a request.
	Exact bool `json:"exact,omitempty"`
	// Prefers is what the server says that it cares for most: consent.PreferCost, …
	Prefers string `json:"prefers,omitempty"`
	// Endpoint is the endpoint's id; empty is that of the conversation.
	Endpoint string `json:"endpoint,omitempty"`
	Model    string `json:"model"`
}

// SamplingRules gives the table in the order in which it is looked through: first the
// exact names that were kept from requests, which hold at their endpoint, then the person's lines. It
// answers at once.
func (a *App) SamplingRules() []SamplingRule {
	now := a.samplingNow()
	var out []SamplingRule
	for _, endpoint := range slices.Sorted(maps.Keys(now.Models)) {
		for _, hint := range slices.Sorted(maps.Keys(now.Models[endpoint])) {
			out = append(out, SamplingRule{Like: hint, Exact: true, Endpoint: endpoint, Model: now.Models[endpoint][hint]})
		}
	}
	return append(out, now.Rules...)
}

// AddSamplingRule adds a line at the end of the table.
func (a *App) AddSamplingRule(ctx context.Context, r SamplingRule) error {
	r.Like, r.Model, r.Exact = strings.TrimSpace(r.Like), strings.TrimSpace(r.Model), false
	if err := r.check(); err != nil {
		return &Message{Key: "sampling_rule", Args: args("detail", err.Error()), Err: err}
	}
	if len(a.samplingNow().Rules) >= maxSamplingRules {
		return &Message{Key: "sampling_rule", Args: args("detail", fmt.Sprintf("there are %d lines already; remove one first", maxSamplingRules))}
	}
	return a.changeSampling(ctx, "", map[string]any{"change": "model for servers", "rule": r}, func(s *storedSampling) { s.Rules = append(s.Rules, r) })
}

// DeleteSamplingRule removes a line; one that is not there is no error.
func (a *App) DeleteSamplingRule(ctx context.Context, r SamplingRule) error {
	if r.Exact {
		return a.MapHint(ctx, r.Endpoint, r.Like, "")
	}
	return a.changeSampling(ctx, "", map[string]any{"change": "model for servers removed", "rule": r}, func(s *storedSampling) {
		if i := slices.Index(s.Rules, r); i >= 0 {
			s.Rules = slices.Delete(s.Rules, i, i+1)
		}
	})
}

func (r SamplingRule) check() error {
	switch {
	case (r.Like == "") == (r.Prefers == ""):
		return errors.New("say either a part of the name that servers ask for or what they prefer")
	case r.Prefers != "" && r.Prefers != consent.PreferCost && r.Prefers != consent.PreferSpeed && r.Prefers != consent.PreferIntelligence:
		return errors.New("servers can prefer cost, speed or intelligence")
	case r.Model == "":
		return errors.New("name the model that is to be used")
	case len(r.Like) > maxRuleText || len(r.Model) > maxRuleText:
		return errors.New("the name of the model is too long")
	}
	return nil
}

// target is the model that a server's request goes to: the one that the person has set for the
// first of its hints for which there is one, else for what it prefers, else the conversation's.
func (a *App) target(ctx context.Context, conversation string, r mcphost.SamplingRequest) consent.Target {
	own, err := a.model.target(ctx, a.chat(ctx, conversation))
	if err != nil {
		return consent.Target{} // whoever asks it then hears why
	}
	now := a.samplingNow()
	for _, h := range r.Hints {
		if m := now.Models[own.Endpoint][h]; m != "" {
			own.Model, own.Hint = m, h
			return own
		}
		for _, rule := range now.Rules {
			if rule.Like == "" || !strings.Contains(strings.ToLower(h), strings.ToLower(rule.Like)) {
				continue
			}
			if t, ok := a.model.at(own, rule); ok {
				t.Hint = h
				return t
			}
		}
	}
	for _, rule := range now.Rules {
		if rule.Prefers == "" || !consent.Prefers(r.Priorities, rule.Prefers) {
			continue
		}
		if t, ok := a.model.at(own, rule); ok {
			t.Prefers = rule.Prefers
			return t
		}
	}
	return own
}

// at is where a line of the table leads from a conversation's own target; false where its
// endpoint is gone, or not there in this run.
func (m *model) at(own consent.Target, rule SamplingRule) (consent.Target, bool) {
	if rule.Endpoint == "" || rule.Endpoint == own.Endpoint {
		own.Model = rule.Model
		return own, true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.stored.find(rule.Endpoint)
	if m.fixed != nil || !ok {
		return consent.Target{}, false
	}
	return targetOf(e, rule.Model), true
}
