package app

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"steward/app/config"
	"steward/llm"
)

// Bounds of asking endpoints that may not be there.
const (
	testWait  = 30 * time.Second
	localWait = time.Second
)

// TestEndpoint asks an endpoint for its models, with key, or with its stored one where key
// is empty and the address is that of the stored one. Nothing is stored. The error says
// what is wrong and what to do.
func (a *App) TestEndpoint(ctx context.Context, e ModelEndpoint, key string) (models []ModelInfo, err error) {
	if e.Demo || e.ID == DemoEndpoint {
		list, err := a.ModelList(ctx, DemoEndpoint, true)
		return list.Models, err
	}
	e.BaseURL = llm.WithScheme(e.BaseURL)
	if err := checkEndpoint(e); err != nil {
		return nil, err
	}
	defer a.noteTest(ctx, e, a.clock(), &err)
	endpoint := llm.Endpoint{BaseURL: e.BaseURL, Model: e.Model, Profile: e.Profile, AllowHTTP: e.AllowHTTP}
	a.model.mu.Lock()
	stored, ok := a.model.stored.find(e.ID)
	a.model.mu.Unlock()
	switch {
	case key != "":
		a.secrets.Redactor().Learn("endpoint key", key)
		endpoint.Key = func() string { return key }
	case ok && stored.KeyName != "" && hostOf(stored.BaseURL) == hostOf(e.BaseURL):
		endpoint.Key = func() string { return a.storedKey(stored.KeyName) }
	}
	w := e.Reach
	if ok && hostOf(stored.BaseURL) != hostOf(e.BaseURL) {
		w.Headers = otherHost(stored, e.Headers, e.Headers)
	}
	ctx, cancel := context.WithTimeout(ctx, testWait)
	defer cancel()
	return a.listModels(ctx, endpoint, w.way())
}

func (a *App) listModels(ctx context.Context, e llm.Endpoint, w way) ([]ModelInfo, error) {
	r, err := a.route(w)
	if err != nil {
		return nil, err
	}
	client, err := a.model.connect(e, w, r)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	return client.ModelList(ctx)
}

func (a *App) clientOf(ctx context.Context, endpoint string) (*llm.Client, string, error) {
	a.model.mu.Lock()
	_, known := a.model.stored.find(endpoint)
	fixed := a.model.fixed != nil
	a.model.mu.Unlock()
	if !known && endpoint != DemoEndpoint && !(fixed && endpoint == FixedEndpoint) {
		return nil, "", noEndpoint(endpoint)
	}
	return a.model.get(ctx, ConversationSettings{Endpoint: endpoint})
}

// ModelPresets lists well-known endpoints that speak the OpenAI chat completions format.
// The addresses are those of the providers' own documentation; the local ones are the
// programs' usual ports.
func ModelPresets() []ModelPreset {
	return []ModelPreset{
		{Name: "OpenAI", BaseURL: "https://api.openai.com/v1", Profile: "openai", NeedsKey: true, KeysURL: "https://platform.openai.com/api-keys"},
		{Name: "Anthropic", BaseURL: "https://api.anthropic.com/v1", NeedsKey: true, KeysURL: "https://console.anthropic.com/settings/keys"},
		{Name: "Gemini", BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai", Profile: "gemini", NeedsKey: true, KeysURL: "https://aistudio.google.com/apikey"},
		{Name: "DeepSeek", BaseURL: "https://api.deepseek.com/v1", Profile: "deepseek", NeedsKey: true, KeysURL: "https://platform.deepseek.com/api_keys"},
		{Name: "Qwen", BaseURL: "https://dashscope.aliyuncs.com/compatible-mode/v1", NeedsKey: true, KeysURL: "https://bailian.console.aliyun.com/"},
		{Name: "Moonshot", BaseURL: "https://api.moonshot.cn/v1", NeedsKey: true, KeysURL: "https://platform.moonshot.cn/console/api-keys"},
		{Name: "Zhipu", BaseURL: "https://open.bigmodel.cn/api/paas/v4", NeedsKey: true, KeysURL: "https://open.bigmodel.cn/usercenter/apikeys"},
		{Name: "Mistral", BaseURL: "https://api.mistral.ai/v1", Profile: "mistral", NeedsKey: true, KeysURL: "https://console.mistral.ai/api-keys"},
		{Name: "OpenRouter", BaseURL: "https://openrouter.ai/api/v1", NeedsKey: true, KeysURL: "https://openrouter.ai/keys"},
		{Name: "Ollama", BaseURL: "http://127.0.0.1:11434/v1", Local: true},
		{Name: "LM Studio", BaseURL: "http://127.0.0.1:1234/v1", Local: true},
		{Name: "llama.cpp", BaseURL: "http://127.0.0.1:8080/v1", Local: true},
		{Name: "vLLM", BaseURL: "http://127.0.0.1:8000/v1", Local: true},
	}
}

// FindLocalModels looks for model programs on this computer at their usual ports, at most
// about a second, and gives those that answer, with their first model.
func (a *App) FindLocalModels(ctx context.Context) ([]ModelEndpoint, error) {
	var places []ModelPreset
	for _, p := range ModelPresets() {
		if p.Local {
			places = append(places, p)
		}
	}
	return a.findModels(ctx, places)
}

func (a *App) findModels(ctx context.Context, places []ModelPreset) ([]ModelEndpoint, error) {
	short, cancel := context.WithTimeout(ctx, localWait)
	defer cancel()
	found := make([]*ModelEndpoint, len(places))
	var all sync.WaitGroup
	for i, p := range places {
		all.Go(func() {
			models, err := a.listModels(short, llm.Endpoint{BaseURL: p.BaseURL}, way{proxy: config.Direct})
			models = slices.DeleteFunc(models, func(m ModelInfo) bool { return m.Chat == llm.Unsupported })
			if err != nil || len(models) == 0 {
				return // nothing that we could use answers there
			}
			found[i] = &ModelEndpoint{Name: p.Name, BaseURL: p.BaseURL, Profile: p.Profile, Model: models[0].ID}
		})
	}
	all.Wait()
	out := []ModelEndpoint{}
	for _, e := range found {
		if e != nil {
			out = append(out, *e)
		}
	}
	if err := ctx.Err(); err != nil && errors.Is(err, context.Canceled) {
		return out, context.Cause(ctx)
	}
	return out, nil
}
