package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"

	"steward/mcphost"
	"steward/mcphost/schema"
)

// yes answers what a server asks: forms as they are filled in already, addresses and questions to a model with a yes.
type yes struct{}

// Elicit accepts with the form's own defaults.
func (yes) Elicit(_ context.Context, e mcphost.Elicitation) (mcphost.ElicitAnswer, error) {
	if e.Mode == "url" {
		return mcphost.ElicitAnswer{Action: "accept"}, nil
	}
	form, err := schema.ParseForm(e.Schema)
	if err != nil {
		return mcphost.ElicitAnswer{}, fmt.Errorf("%w: %w", mcphost.ErrUnanswerable, err)
	}
	return mcphost.ElicitAnswer{Action: "accept", Content: form.Encode(form.Defaults())}, nil
}

// Sample answers without a model.
func (yes) Sample(context.Context, mcphost.SamplingRequest) (mcphost.SamplingAnswer, error) {
	return mcphost.SamplingAnswer{Model: "none", Text: word, StopReason: "endTurn"}, nil
}

// browser signs in: a page is opened by getting it and following where it leads, which ends at the host's own
// callback. Secrets are kept for as long as the program runs.
type browser struct {
	mu   sync.Mutex
	kept map[string][]byte
}

// Load implements [mcphost.SignIn].
func (b *browser) Load(_ context.Context, key string) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.kept[key]), nil
}

// Save implements [mcphost.SignIn].
func (b *browser) Save(_ context.Context, key string, secret []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept[key] = bytes.Clone(secret)
	return nil
}

// Delete implements [mcphost.SignIn].
func (b *browser) Delete(_ context.Context, key string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.kept, key)
	return nil
}

// Ready implements [mcphost.SignIn].
func (b *browser) Ready(context.Context, mcphost.SignInPlan) error { return nil }

// Register implements [mcphost.SignIn].
func (b *browser) Register(context.Context, mcphost.SignInPlan) error { return nil }

// Visit implements [mcphost.SignIn].
func (b *browser) Visit(ctx context.Context, p mcphost.SignInPage) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
	if closed := resp.Body.Close(); err == nil {
		err = closed
	}
	// What page it ends at is for a person to read; the host hears of it by its callback.
	return err
}

// Client implements [mcphost.SignIn]: nobody has registered this program by hand.
func (b *browser) Client(context.Context, mcphost.ClientRequest) (mcphost.OAuthClient, error) {
	return mcphost.OAuthClient{}, mcphost.ErrSignInRefused
}

// word is what is written wherever any text will do.
const word = "us-east1"

// sample makes arguments out of a tool's schema: what it suggests itself, else anything of the right type.
func sample(inputSchema json.RawMessage) json.RawMessage {
	properties := object(object(inputSchema)["properties"])
	arguments := make(map[string]json.RawMessage, len(properties))
	for name, property := range properties {
		arguments[name] = value(property)
	}
	out, err := json.Marshal(arguments)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return out
}

func value(property json.RawMessage) json.RawMessage {
	p := object(property)
	for _, name := range []string{"const", "default"} {
		if v, ok := p[name]; ok {
			return v
		}
	}
	for _, name := range []string{"enum", "examples"} {
		var choices []json.RawMessage
		if json.Unmarshal(p[name], &choices) == nil && len(choices) > 0 {
			return choices[0]
		}
	}
	switch string(p["type"]) {
	case `"integer"`, `"number"`:
		return json.RawMessage("5")
	case `"boolean"`:
		return json.RawMessage("true")
	case `"array"`:
		return json.RawMessage("[]")
	case `"object"`:
		return sample(property)
	}
	return json.RawMessage(`"` + word + `"`)
}

// object reads the members of an object; none where raw is no object.
func object(raw json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}
