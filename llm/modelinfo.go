package llm

import (
	"context"
	"encoding/json"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// infoWait bounds the questions about a model's window.
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
	ctx, cancel := c.bounded(ctx, infoWait)
	defer cancel()
	x, problem := c.listing()
	if problem != nil {
		return 0, problem
	}
	_, raw, problem := c.get(ctx, x, nil)
	if problem != nil {
		return 0, problem
	}
	window := listedWindow(raw, c.endpoint.Model)
	if window > 0 || c.Profile().Name != "ollama" && !ownedByLibrary(raw) {
		return window, nil
	}
	return c.ollamaWindow(ctx), nil
}

// listedWindow finds the window of a model in a list of models.
func listedWindow(raw []byte, model string) int {
	list, _ := readModels(raw) // what is no list says nothing
	for _, m := range list {
		if strings.TrimPrefix(m.ID, "models/") == strings.TrimPrefix(model, "models/") {
			return m.Window
		}
	}
	if len(list) == 1 { // llama.cpp and vLLM answer with their one model to any name
		return list[0].Window
	}
	return 0
}

// ownedByLibrary tells whether a list is Ollama's.
func ownedByLibrary(raw []byte) bool {
	var answer struct {
		Data []struct {
			OwnedBy text `json:"owned_by"`
		}
	}
	if json.Unmarshal(raw, &answer) != nil {
		return false
	}
	for _, m := range answer.Data {
		if m.OwnedBy == "library" {
			return true
		}
	}
	return false
}

var numCtx = regexp.MustCompile(`(?m)^\s*num_ctx\s+(\d+)`)

// ollamaWindow asks Ollama's own interface: how much of the model's window is in use while it is
// loaded (/api/ps), else how much it is set to use (/api/show). What the model could do at most
// is no answer: Ollama uses less unless it is told to, and cuts what does not fit without a word.
func (c *Client) ollamaWindow(ctx context.Context) int {
	x, ok := c.beside("/api/ps")
	if !ok {
		return 0
	}
	if _, raw, problem := c.get(ctx, x, nil); problem == nil {
		if w := listedWindow(raw, c.endpoint.Model); w > 0 {
			return w
		}
	}
	if x, ok = c.beside("/api/show"); !ok {
		return 0
	}
	_, raw, problem := c.get(ctx, x, map[string]string{"model": c.endpoint.Model})
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
