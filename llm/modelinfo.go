package llm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// infoWait bounds each question about a model.
const infoWait = 15 * time.Second

func privateHost(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	return strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".lan") || !strings.Contains(host, ".")
}

// Window asks the endpoint for the context window of the client's model, in tokens: in its list
// of models (GET /models), and of Ollama, whose list has none, in its own interface. It is 0
// where the endpoint does not say. Nothing of a conversation is sent. The error is an *Error, or
// the context's.
func (c *Client) Window(ctx context.Context) (int, error) {
	ctx, cancel := c.bounded(ctx, 2*infoWait)
	defer cancel()
	raw, problem := c.ask(ctx, at(c.base, "/models"), nil)
	if problem != nil {
		return 0, problem
	}
	window, ollama := listedWindow(raw, c.endpoint.Model)
	if window > 0 || !ollama && c.base.Port() != "11434" {
		return window, nil
	}
	return c.ollamaWindow(ctx), nil
}

// ask sends one question about models, beside the door that answers pass, and reads the answer.
// Redirects are not followed.
func (c *Client) ask(ctx context.Context, to *url.URL, body []byte) ([]byte, *Error) {
	x, problem := c.exchange("", body, nil)
	if problem != nil {
		return nil, problem
	}
	ctx, cancel := context.WithTimeout(ctx, infoWait)
	defer cancel()
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, to.String(), bytes.NewReader(body))
	if err != nil {
		return nil, c.explain(x, err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "steward")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if x.key != "" {
		req.Header.Set("Authorization", "Bearer "+x.key)
	}
	resp, err := c.transport().RoundTrip(req)
	if err != nil {
		return nil, c.explain(x, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, c.explain(x, refusal(resp, x))
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxWhole))
	if err != nil {
		return nil, c.explain(x, err)
	}
	return raw, nil
}

func (c *Client) transport() http.RoundTripper {
	if c.own != nil {
		return c.own
	}
	return c.options.Transport
}

// listedModel is an entry of a list of models, with the names that endpoints give to a context
// window: OpenRouter, Together and many others context_length; vLLM and SGLang max_model_len;
// llama.cpp meta.n_ctx; Groq context_window; Mistral and LM Studio max_context_length, LM Studio
// besides loaded_context_length; Gemini's own list inputTokenLimit.
type listedModel struct {
	ID                  string `json:"id"`
	Name                string `json:"name"`
	Model               string `json:"model"`
	OwnedBy             string `json:"owned_by"`
	ContextLength       figure `json:"context_length"`
	MaxModelLen         figure `json:"max_model_len"`
	ContextWindow       figure `json:"context_window"`
	MaxContextLength    figure `json:"max_context_length"`
	LoadedContextLength figure `json:"loaded_context_length"`
	InputTokenLimit     figure `json:"inputTokenLimit"`
	Meta                struct {
		Ctx figure `json:"n_ctx"`
	} `json:"meta"`
	Top struct {
		ContextLength figure `json:"context_length"`
	} `json:"top_provider"`
}

// figure is a number of tokens; what is no sensible one reads as 0.
type figure int

func (f *figure) UnmarshalJSON(raw []byte) error {
	n, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err == nil && n >= 1 && n <= 1e9 {
		*f = figure(n)
	}
	return nil
}

// window is what the server works with before what the model could do at most.
func (m listedModel) window() int {
	return int(cmp.Or(m.LoadedContextLength, m.MaxModelLen, m.Meta.Ctx, m.Top.ContextLength, m.ContextLength, m.ContextWindow, m.MaxContextLength, m.InputTokenLimit))
}

// listedWindow finds a model in a list of models; ollama says that the list is Ollama's.
func listedWindow(raw []byte, model string) (window int, ollama bool) {
	var answer struct{ Data, Models json.RawMessage }
	if json.Unmarshal(raw, &answer) != nil {
		answer.Data = raw
	}
	entries := map[string]int{}
	for _, list := range []json.RawMessage{answer.Models, answer.Data} {
		var items []json.RawMessage
		if json.Unmarshal(list, &items) != nil {
			continue
		}
		for _, item := range items {
			var m listedModel
			if json.Unmarshal(item, &m) != nil {
				continue // an entry in a form of its own
			}
			ollama = ollama || m.OwnedBy == "library"
			name := strings.TrimPrefix(cmp.Or(m.ID, m.Name, m.Model), "models/")
			if w := m.window(); w > 0 {
				entries[name] = w
			}
		}
	}
	if w := entries[model]; w > 0 {
		return w, ollama
	}
	if len(entries) == 1 && single(raw) { // llama.cpp and vLLM answer with their one model to any name
		for _, w := range entries {
			return w, ollama
		}
	}
	return 0, ollama
}

// single tells whether a list holds one model.
func single(raw []byte) bool {
	names, ok := modelNames(raw)
	return ok && len(names) == 1
}

var numCtx = regexp.MustCompile(`(?m)^\s*num_ctx\s+(\d+)`)

// ollamaWindow asks Ollama's own interface: how much of the model's window is in use while it is
// loaded (/api/ps), else how much it is set to use (/api/show). What the model could do at most
// is no answer: Ollama uses less unless it is told to, and cuts what does not fit without a word.
func (c *Client) ollamaWindow(ctx context.Context) int {
	root := *c.base
	root.Path, root.RawPath = strings.TrimSuffix(root.Path, "/v1"), strings.TrimSuffix(root.RawPath, "/v1")
	if raw, problem := c.ask(ctx, at(&root, "/api/ps"), nil); problem == nil {
		if w, _ := listedWindow(raw, c.endpoint.Model); w > 0 {
			return w
		}
	}
	body, err := json.Marshal(map[string]string{"model": c.endpoint.Model})
	if err != nil {
		return 0
	}
	raw, problem := c.ask(ctx, at(&root, "/api/show"), body)
	if problem != nil {
		return 0
	}
	var show struct{ Parameters string }
	if json.Unmarshal(raw, &show) != nil {
		return 0
	}
	if m := numCtx.FindStringSubmatch(show.Parameters); m != nil {
		n, _ := strconv.Atoi(m[1]) // digits alone; one that is too long is 0
		return n
	}
	return 0
}

// Where names the endpoint: scheme, host and port.
func (c *Client) Where() string { return where(c.base) }
