package consent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"steward/app/journal"
	"steward/mcphost/schema"
)

const (
	// byTrust is the decision on a request of a server that the person trusts within limits.
	byTrust = "grant:sampling"
	byLimit = "rule:sampling_limit"

	// maxCounted is how many allowed requests of an hour are counted; more than any limit.
	maxCounted = 12_000
)

// samplingLimits are the limits in force for a server, none of them 0 but trust.
func (g *Gate) samplingLimits(server string) SamplingLimits {
	var l SamplingLimits
	if g.o.Limits != nil {
		l = g.o.Limits(server)
	}
	if l.PerHour <= 0 {
		l.PerHour = DefaultPerHour
	}
	if l.MaxTokens <= 0 {
		l.MaxTokens = g.o.MaxTokens
	}
	return l
}

// sampleUse is what one server's requests came to in the last hour.
type sampleUse struct {
	requests int // sent to a model
	trusted  int // of these, without asking
	tokens   int // what the trusted ones were allowed to use
}

// sampledThisHour counts by the record, so that a restart ends no limit. except is the
// request that is counted for. Only what was allowed is read: a server that asks thousands
// of times in vain must not push what it has used up out of what is counted.
func (g *Gate) sampledThisHour(ctx context.Context, server string, except int64) (sampleUse, error) {
	return g.sampledLately(ctx, server, except, maxCounted)
}

func (g *Gate) sampledLately(ctx context.Context, server string, except int64, atMost int) (sampleUse, error) {
	var u sampleUse
	list, err := g.o.Journal.List(ctx, journal.Filter{
		Kind: string(journal.KindSampling), Server: server, Decision: Allowed, Since: g.o.Now().Add(-time.Hour), Limit: atMost,
	})
	if err != nil {
		return u, fmt.Errorf("how often the server has asked cannot be told: %w", err)
	}
	most := g.samplingLimits(server).MaxTokens
	for _, r := range list {
		if r.Record == except {
			continue
		}
		u.requests++
		if r.By == byTrust {
			u.trusted++
			u.tokens += wantedTokens(r.Arguments, most)
		}
	}
	return u, nil
}

// wantedTokens is the limit of a recorded request, read as the request itself was: by the
// exact name. A request that names it twice, or in a way that is not understood, counts
// for the most that it could have got.
func wantedTokens(arguments string, most int) int {
	object, err := schema.ParseObject([]byte(arguments))
	if err != nil || slices.Contains(object.Duplicates(), "maxTokens") {
		return most
	}
	raw, ok := object.Get("maxTokens")
	var n float64
	if !ok || json.Unmarshal(raw, &n) != nil || n < 1 || n > float64(most) {
		return most
	}
	return int(n)
}

// trust decides and records a request that its server may make without asking. Requests
// are counted one after another, so that no two pass on the same count.
func (s *sampling) trust() error {
	l := s.limits
	if l.Trusted <= 0 || s.g.o.Policy.Sampling == Allow {
		return nil
	}
	s.g.trusting.Lock()
	defer s.g.trusting.Unlock()
	u, err := s.g.sampledThisHour(s.log, s.o.server, s.entry.Number())
	if err != nil {
		return err
	}
	if u.trusted >= l.Trusted || u.tokens+s.req.MaxTokens > l.TrustedTokens {
		return nil // the person is asked
	}
	s.trusted = true
	if err := s.decide(decision{word: Allowed, by: byTrust}); err != nil {
		return err
	}
	if err := s.intend(); err != nil {
		return err
	}
	s.g.notice(s.o.conversation, "sampling_trusted", s.o.server, fmt.Sprintf("The server %s asks the model without a review, because you trust it for %s (record %d).", s.o.server, l.words(), s.entry.Number()))
	return nil
}

// state keeps what the person states for the server from now on.
func (s *sampling) state(l *SamplingLimits) error {
	if l == nil {
		return nil
	}
	if s.g.o.SetLimits == nil {
		return errors.New("limits for a server cannot be kept here")
	}
	if err := s.g.o.SetLimits(s.log, s.o.server, *l); err != nil {
		return fmt.Errorf("the limits for this server could not be kept: %w", err)
	}
	return nil
}

// intend records, durably, all that the model is about to get.
func (s *sampling) intend() error {
	type message struct {
		Role    string          `json:"role"`
		Content []recordedBlock `json:"content"`
	}
	v := struct {
		Endpoint    string         `json:"endpoint,omitempty"`
		Model       string         `json:"model,omitempty"`
		Why         string         `json:"why"`
		System      string         `json:"systemPrompt"`
		Messages    []message      `json:"messages"`
		MaxTokens   int            `json:"maxTokens"`
		Temperature *float64       `json:"temperature,omitempty"`
		Stop        []string       `json:"stopSequences,omitempty"`
		Tools       []recordedTool `json:"tools,omitempty"`
		ToolChoice  string         `json:"toolChoice,omitempty"`
	}{s.target.Endpoint, s.target.Model, s.target.Why(), s.req.System, []message{}, s.req.MaxTokens, s.req.Temperature, s.req.Stop, recordedTools(s.req.Tools), s.req.ToolChoice}
	for _, m := range s.req.Messages {
		v.Messages = append(v.Messages, message{m.Role, recordedBlocks(m.Content)})
	}
	exact, err := encode(v)
	if err != nil {
		return err
	}
	_, err = s.entry.Intent(s.log, []byte(exact))
	return err
}
