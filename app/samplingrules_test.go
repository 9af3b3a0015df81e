package app

import (
	"context"
	"strings"
	"testing"

	"steward/app/consent"
	"steward/mcphost"
	sm "steward/testdata/scriptedmodel"
)

// The person's table says which model a server's request goes to; what the server wishes chooses nothing else.
func TestTheTableOfModelsForServers(t *testing.T) {
	t.Parallel()
	one, two := sm.StartScript(t, sm.Script{}), sm.StartScript(t, sm.Script{Steps: []sm.Step{{Say: "from two"}}})
	r := newRig(t, nil)
	r.close()
	r.o.Endpoint = Endpoint{}
	r.open()
	ctx := context.Background()
	first, err := r.app.SaveEndpoint(ctx, ModelEndpoint{Name: "One", BaseURL: one.URL(), Model: "m-one"}, "")
	check(t, err)
	second, err := r.app.SaveEndpoint(ctx, ModelEndpoint{Name: "Two", BaseURL: two.URL(), Model: "m-two"}, "")
	check(t, err)
	for _, bad := range []SamplingRule{{}, {Like: "a", Prefers: "cost", Model: "m"}, {Prefers: "beauty", Model: "m"}, {Like: "a"}, {Like: "a", Model: strings.Repeat("m", 301)}} {
		if err := r.app.AddSamplingRule(ctx, bad); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
	cheap := SamplingRule{Prefers: consent.PreferCost, Model: "m-cheap"}
	for _, rule := range []SamplingRule{cheap, {Prefers: consent.PreferSpeed, Model: "m-fast"}, {Like: "Haiku", Endpoint: second, Model: "m-small"}, {Like: "haiku-9", Model: "never"}, {Like: "sonnet", Endpoint: "gone", Model: "never"}} {
		check(t, r.app.AddSamplingRule(ctx, rule))
	}
	check(t, r.app.MapHint(ctx, first, "exactly", "m-exact"))
	r.reopen()
	for name, tc := range map[string]struct {
		wish mcphost.SamplingRequest
		want consent.Target
	}{
		"nothing":              {mcphost.SamplingRequest{}, consent.Target{Endpoint: first, Model: "m-one"}},
		"part of a name":       {mcphost.SamplingRequest{Hints: []string{"gpt", "claude-3-haiku-9"}}, consent.Target{Endpoint: second, Model: "m-small", Hint: "claude-3-haiku-9"}},
		"the server's order":   {mcphost.SamplingRequest{Hints: []string{"exactly", "haiku"}}, consent.Target{Endpoint: first, Model: "m-exact", Hint: "exactly"}},
		"an endpoint is gone":  {mcphost.SamplingRequest{Hints: []string{"sonnet"}}, consent.Target{Endpoint: first, Model: "m-one"}},
		"cheap":                {mcphost.SamplingRequest{Priorities: mcphost.Priorities{Cost: 0.9, Speed: 0.2}}, consent.Target{Endpoint: first, Model: "m-cheap", Prefers: "cost"}},
		"names go first":       {mcphost.SamplingRequest{Hints: []string{"HAIKU"}, Priorities: mcphost.Priorities{Cost: 1}}, consent.Target{Endpoint: second, Model: "m-small", Hint: "HAIKU"}},
		"as much":              {mcphost.SamplingRequest{Priorities: mcphost.Priorities{Cost: 0.5, Speed: 0.5}}, consent.Target{Endpoint: first, Model: "m-cheap", Prefers: "cost"}},
		"what nobody has set":  {mcphost.SamplingRequest{Priorities: mcphost.Priorities{Cost: 0.4, Intelligence: 0.5}}, consent.Target{Endpoint: first, Model: "m-one"}},
		"a name without lines": {mcphost.SamplingRequest{Hints: []string{"llama"}}, consent.Target{Endpoint: first, Model: "m-one"}},
	} {
		got := r.app.target(ctx, "", tc.wish)
		tc.want.Address, tc.want.Where = one.URL(), "One"
		if tc.want.Endpoint == second {
			tc.want.Address, tc.want.Where = two.URL(), "Two"
		}
		if got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
	request := mcphost.SamplingRequest{MaxTokens: 5, Hints: []string{"haiku"}, Messages: []mcphost.SamplingMessage{{Role: "user", Content: []mcphost.Content{{Type: "text", Text: "?"}}}}}
	answer, err := r.app.sample()(ctx, "", r.app.target(ctx, "", request), 0, request)
	if err != nil || answer.Text != "from two" || len(one.Requests()) != 0 || !strings.Contains(string(two.Requests()[0].Body), `"m-small"`) {
		t.Error(answer, err, len(one.Requests()))
	}
	check(t, r.app.DeleteSamplingRule(ctx, cheap), r.app.DeleteSamplingRule(ctx, SamplingRule{Like: "exactly", Exact: true, Endpoint: first}))
	rules := r.app.SamplingRules()
	if len(rules) != 4 || rules[0].Prefers != consent.PreferSpeed {
		t.Errorf("%+v", rules)
	}
	if got := r.app.target(ctx, "", mcphost.SamplingRequest{Hints: []string{"exactly"}, Priorities: mcphost.Priorities{Cost: 1}}); got.Model != "m-one" {
		t.Errorf("removed lines hold: %+v", got)
	}
}
