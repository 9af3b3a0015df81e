package llm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds of asking for lists of models.
const (
	listWait      = 30 * time.Second
	askWait       = 5 * time.Second // for what an endpoint says beside its list
	maxQuestioned = 60              // models that are asked for one by one
	maxListed     = 10_000
	maxNameLen    = 300 // bytes; what is longer is no name of a model
)

// Support says whether a model can do something: Supported, Unsupported, or SupportUnknown
// where nobody has said.
type Support string

// Values of Support.
const (
	SupportUnknown Support = ""
	Supported      Support = "yes"
	Unsupported    Support = "no"
)

// ModelInfo is what an endpoint says about one of its models. What it does not say is
// unknown, and is never concluded from a name.
type ModelInfo struct {
	ID     string  `json:"id"`              // as requests name it
	Title  string  `json:"title,omitempty"` // the endpoint's own for people; may be empty
	Images Support `json:"images,omitempty"`
	Tools  Support `json:"tools,omitempty"`
	// Reasoning is whether it reasons before it answers.
	Reasoning Support `json:"reasoning,omitempty"`
	// Chat is Unsupported of one that holds no conversations, such as for embeddings.
	Chat Support `json:"chat,omitempty"`
	// Window is its context window in tokens, 0 where it is not known.
	Window int `json:"window,omitempty"`
}

// Models lists the names of the models the endpoint offers, in its order. The
// error is an *Error, or the context's.
func (c *Client) Models(ctx context.Context) ([]string, error) {
	list, err := c.models(ctx)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = m.ID
	}
	return names, nil
}

// ModelList lists the models the endpoint offers, in its order, with what it says about
// them: in its list, and of Ollama and LM Studio, whose lists in this format say nothing,
// in their own interfaces. Nothing of a conversation is sent. It takes 30 s at most. The
// error is an *Error, or the context's.
func (c *Client) ModelList(ctx context.Context) ([]ModelInfo, error) {
	list, err := c.models(ctx)
	if err != nil || len(list) == 0 {
		return list, err
	}
	short, cancel := c.bounded(ctx, askWait)
	defer cancel()
	kind := c.Profile().Name
	switch {
	case kind == "lmstudio":
		c.askLMStudio(short, list)
	case kind == "ollama", slices.ContainsFunc(list, func(m ModelInfo) bool { return strings.HasSuffix(m.ID, ":latest") }):
		c.askOllama(short, list)
	}
	return list, nil
}

func (c *Client) models(ctx context.Context) ([]ModelInfo, error) {
	x, problem := c.listing()
	if problem != nil {
		return nil, problem
	}
	if c.Profile().ListKey != "" && x.url.RawQuery == "" {
		x.url.RawQuery = "limit=1000" // Anthropic's list comes in pages of 20 else
	}
	ctx, cancel := c.bounded(ctx, listWait)
	defer cancel()
	status, raw, problem := c.get(ctx, x, nil)
	if problem != nil {
		return nil, c.noList(x, problem)
	}
	list, ok := readModels(raw)
	if !ok {
		f := readFailure(status, raw)
		return nil, c.redact(x, &Error{Kind: KindProtocol, Status: status, Body: keep(raw),
			Message: sentence(x.where()+" did not answer with a list of models: "+f.message) + " Check the base URL (most end in /v1)."})
	}
	return list, nil
}

// noList says of an endpoint that is there, and keeps no list, that the model can be named
// all the same.
func (c *Client) noList(x *exchange, e *Error) *Error {
	if e.Status != http.StatusNotFound && e.Status != http.StatusMethodNotAllowed && e.Status != http.StatusNotImplemented {
		return e
	}
	out := *e
	out.Message = sentence(e.Message) + " If the base URL is right, the endpoint keeps no list of its models; write the model's name yourself."
	return c.redact(x, &out)
}

// get sends one question about models, a POST where body is not nil, and reads the answer.
func (c *Client) get(ctx context.Context, x *exchange, body any) (status int, raw []byte, problem *Error) {
	method := http.MethodGet
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return 0, nil, c.explain(x, err)
		}
		method, x.body, x.plain = http.MethodPost, text, true
	}
	req, err := http.NewRequestWithContext(context.WithValue(ctx, exchangeKey{}, x), method, x.url.String(), bytes.NewReader(x.body))
	if err != nil {
		return 0, nil, c.explain(x, err)
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, context.Canceled) {
			err = cause
		}
		return 0, nil, c.explain(x, err)
	}
	defer resp.Body.Close()
	if raw, err = io.ReadAll(io.LimitReader(resp.Body, maxWhole)); err != nil {
		return resp.StatusCode, nil, c.explain(x, err)
	}
	return resp.StatusCode, raw, nil
}

// beside is an exchange with another interface of the same server.
func (c *Client) beside(path string) (*exchange, bool) {
	x, problem := c.exchange("", nil, nil)
	if problem != nil {
		return nil, false
	}
	u := url.URL{Scheme: c.base.Scheme, Host: c.base.Host, Path: strings.TrimSuffix(c.base.Path, "/v1") + path}
	x.url = &u
	return x, true
}

// askOllama asks Ollama what each of its models can do (POST /api/show, "capabilities").
// What it does not answer in time stays unknown.
func (c *Client) askOllama(ctx context.Context, list []ModelInfo) {
	var wg sync.WaitGroup
	places := make(chan struct{}, 6) // reading a model's file is work for the server
	for i := range list[:min(len(list), maxQuestioned)] {
		m := &list[i]
		wg.Go(func() {
			select {
			case places <- struct{}{}:
				defer func() { <-places }()
			case <-ctx.Done():
				return
			}
			x, ok := c.beside("/api/show")
			if !ok {
				return
			}
			_, raw, problem := c.get(ctx, x, map[string]string{"model": m.ID})
			if problem != nil {
				return
			}
			var said listed
			if json.Unmarshal(raw, &said) == nil {
				m.fill(said.all())
			}
		})
	}
	wg.Wait()
}

// askLMStudio asks LM Studio's own interface (GET /api/v0/models). What it does not answer
// stays unknown.
func (c *Client) askLMStudio(ctx context.Context, list []ModelInfo) {
	x, ok := c.beside("/api/v0/models")
	if !ok {
		return
	}
	_, raw, problem := c.get(ctx, x, nil)
	if problem != nil {
		return
	}
	said, ok := readModels(raw)
	if !ok {
		return
	}
	for i := range list {
		if at := slices.IndexFunc(said, func(m ModelInfo) bool { return m.ID == list[i].ID }); at >= 0 {
			list[i].fill(said[at])
		}
	}
}

// fill takes over what is known of the same model from elsewhere.
func (m *ModelInfo) fill(o ModelInfo) {
	m.Title, m.Window = cmp.Or(m.Title, o.Title), cmp.Or(m.Window, o.Window)
	m.Images, m.Tools = cmp.Or(m.Images, o.Images), cmp.Or(m.Tools, o.Tools)
	m.Reasoning, m.Chat = cmp.Or(m.Reasoning, o.Reasoning), cmp.Or(m.Chat, o.Chat)
}

// readModels reads a list of models in any of the forms that endpoints give it: a list under
// "data", "models" and the like, or bare; of objects, of names, or of objects by name. Where
// there are two lists (llama.cpp), what the second says is added to the first.
func readModels(raw []byte) ([]ModelInfo, bool) {
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	lists := []json.RawMessage{raw}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) == nil {
		lists = nil
		for _, key := range []string{"data", "models", "model_list", "result", "results", "items"} {
			if v, ok := members[key]; ok {
				lists = append(lists, v)
			}
		}
	}
	// Ollama says so of a list of none.
	out, found := []ModelInfo{}, string(members["object"]) == `"list"` && string(members["data"]) == "null"
	at := map[string]int{}
	for _, list := range lists {
		items, ok := listItems(list)
		found = found || ok
		for _, m := range items {
			if i, ok := at[m.ID]; ok {
				out[i].fill(m)
			} else if len(out) < maxListed {
				at[m.ID] = len(out)
				out = append(out, m)
			}
		}
	}
	return out, found
}

// listItems reads one list; what in it names no model is passed over.
func listItems(raw json.RawMessage) (out []ModelInfo, ok bool) {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) == nil && items != nil {
		for _, item := range items {
			if m, ok := listItem("", item); ok {
				out = append(out, m)
			}
		}
		return out, true
	}
	var byName map[string]json.RawMessage
	if json.Unmarshal(raw, &byName) != nil || len(byName) == 0 {
		return nil, false
	}
	if nested, ok := byName["models"]; ok {
		return listItems(nested)
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		m, ok := listItem(name, byName[name])
		if !ok || byName[name][0] != '{' {
			return nil, false // an object about something else
		}
		out = append(out, m)
	}
	return out, true
}

func listItem(name string, raw json.RawMessage) (ModelInfo, bool) {
	var id string
	if json.Unmarshal(raw, &id) == nil {
		return ModelInfo{ID: id}, usableName(id)
	}
	var e listed
	// A member of another type than documented is passed over, and the others are read.
	var odd *json.UnmarshalTypeError
	if err := json.Unmarshal(raw, &e); err != nil && !errors.As(err, &odd) {
		return ModelInfo{}, false
	}
	m := e.info()
	m.ID = cmp.Or(m.ID, name)
	return m, usableName(m.ID)
}

func usableName(s string) bool { return strings.TrimSpace(s) != "" && len(s) <= maxNameLen }

// text and number are members whose type differs between endpoints; of another type they
// count as not there, so that one odd entry does not lose the others.
type (
	text   string
	amount int
)

func (t *text) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		*t = text(s)
	}
	return nil
}

func (n *amount) UnmarshalJSON(raw []byte) error {
	v, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err == nil && v >= 1 && v <= 1e9 {
		*n = amount(v)
	}
	return nil
}
