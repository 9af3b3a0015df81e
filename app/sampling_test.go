package app

import (
	"context"
	"strings"
	"testing"

	"steward/app/consent"
	"steward/mcphost"
	"steward/testdata/scriptedmodel"
)

// Limits outlive the program; trust ends with the configuration that it was given to.
func TestTrustHoldsForOneConfiguration(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	ctx := context.Background()
	entry := ServerEntry{Name: "s", Transport: "stdio", Command: "true", Args: []string{"a"}}
	check(t, r.app.AddServer(ctx, entry))
	stated := SamplingLimits{PerHour: 5, MaxTokens: 70, Trusted: 2, TrustedTokens: 90}
	if err := r.app.SetSamplingLimits(ctx, "none", stated); err == nil {
		t.Error("limits for a server that is not there are kept")
	}
	check(t, r.app.SetSamplingLimits(ctx, "s", stated))
	r.reopen()
	if got := r.app.SamplingLimits("s"); got != stated || len(r.app.TrustedServers()) != 1 {
		t.Fatalf("after a restart: %+v", got)
	}
	entry.Args = []string{"b"}
	check(t, r.app.EditServer(ctx, "s", entry))
	if got := r.app.SamplingLimits("s"); got != (SamplingLimits{PerHour: 5, MaxTokens: 70}) || len(r.app.TrustedServers()) != 0 {
		t.Errorf("the server was changed, and is trusted still: %+v", got)
	}
	check(t, r.app.SetSamplingLimits(ctx, "s", stated))
	check(t, r.app.RemoveServer(ctx, "s"))
	check(t, r.app.AddServer(ctx, entry))
	if got := r.app.SamplingLimits("s"); got != (SamplingLimits{}) {
		t.Errorf("a server that was removed and came back has kept %+v", got)
	}
}

// A hint goes to the model that the person has set for it at the endpoint in use, and the request to exactly the endpoint
// and model that were shown.
func TestARequestGoesWhereItWasShownToGo(t *testing.T) {
	t.Parallel()
	one := scriptedmodel.StartScript(t, scriptedmodel.Script{Model: "m-one", Steps: []scriptedmodel.Step{scriptedmodel.Say("from one")}})
	two := scriptedmodel.StartScript(t, scriptedmodel.Script{Model: "m-two", Steps: []scriptedmodel.Step{scriptedmodel.Say("from two")}})
	r := newRig(t, nil)
	r.close()
	r.o.Endpoint = Endpoint{}
	r.open()
	ctx := context.Background()
	first, err := r.app.SaveEndpoint(ctx, ModelEndpoint{Name: "One", BaseURL: one.URL(), Model: "m-one"}, "")
	check(t, err)
	second, err := r.app.SaveEndpoint(ctx, ModelEndpoint{Name: "Two", BaseURL: two.URL(), Model: "m-two"}, "")
	check(t, err)
	check(t, r.app.ChooseEndpoint(ctx, first, ""))
	if got := r.app.target(ctx, "", mcphost.SamplingRequest{Hints: []string{"big", "small"}}); got != (consent.Target{Endpoint: first, Address: one.URL(), Where: "One", Model: "m-one"}) {
		t.Errorf("without a mapping: %+v", got)
	}
	check(t, r.app.MapHint(ctx, first, "small", "m-tiny"))
	r.reopen()
	shown := r.app.target(ctx, "", mcphost.SamplingRequest{Hints: []string{"big", "small"}})
	if shown != (consent.Target{Endpoint: first, Address: one.URL(), Where: "One", Model: "m-tiny", Hint: "small"}) {
		t.Errorf("with a mapping: %+v", shown)
	}
	check(t, r.app.ChooseEndpoint(ctx, second, ""))
	if got := r.app.target(ctx, "", mcphost.SamplingRequest{Hints: []string{"small"}}); got.Model != "m-two" {
		t.Errorf("another endpoint's mapping is used: %+v", got)
	}
	request := mcphost.SamplingRequest{MaxTokens: 5, Messages: []mcphost.SamplingMessage{{Role: "user", Content: []mcphost.Content{{Type: "text", Text: "?"}}}}}
	answer, err := r.app.sample()(ctx, "", shown, 0, request)
	if err != nil || answer.Text != "from one" || !strings.Contains(string(one.Requests()[0].Body), `"m-tiny"`) || len(two.Requests()) != 0 {
		t.Errorf("asked elsewhere than was shown: %+v, %v", answer, err)
	}
	_, err = r.app.SaveEndpoint(ctx, ModelEndpoint{ID: first, Name: "One", BaseURL: two.URL(), Model: "m-one"}, "")
	check(t, err)
	if answer, err := r.app.sample()(ctx, "", shown, 0, request); err == nil || len(two.Requests()) != 0 {
		t.Errorf("the endpoint leads elsewhere now, and is asked: %+v, %v", answer, err)
	}
	check(t, r.app.DeleteEndpoint(ctx, first))
	if answer, err := r.app.sample()(ctx, "", shown, 0, request); err == nil {
		t.Errorf("the endpoint that was shown is gone, and another one answers: %+v", answer)
	}
	check(t, r.app.MapHint(ctx, second, "small", ""))
}
