package mcphost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"steward/mcphost/internal/wire"
)

// Error codes for answers to a server's requests. A refusal by a person has
// the code of the specification's example (MCP 2025-11-25, sampling, errors).
const codeRefused = -1

// handle answers a request of the server of the older era. It runs on a
// goroutine of its own; ctx ends when the server withdraws the request or the
// session ends.
func (c *Connection) handle(ctx context.Context, r wire.ServerRequest) (json.RawMessage, error) {
	task, meta := c.related(r.Params)
	calls, ctx, cancel := c.callsFor(ctx, task)
	defer cancel()
	result, err := c.answer(ctx, r.Method, r.Params, calls)
	if task != nil && len(object(result)) > len("{}") {
		result = slices.Concat(result[:len(result)-1], json.RawMessage(`,"_meta":`), meta, json.RawMessage("}"))
	}
	return result, err
}

// answer answers what a server asks, in either era.
func (c *Connection) answer(ctx context.Context, method string, params json.RawMessage, calls []*inflight) (result json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, &wire.Error{Code: wire.CodeInternal, Message: "this program failed to answer"}
			c.note("warning", "", fmt.Sprintf("answering %s failed: %v", method, p))
		}
	}()
	switch method {
	case rootsMethod:
		return c.rootsResult(), nil
	case "elicitation/create":
		return c.elicit(ctx, params, calls)
	case "sampling/createMessage":
		return c.sample(ctx, params, calls)
	case "tasks/list":
		return json.RawMessage(`{"tasks":[]}`), nil // no request of a server becomes a task here
	case "tasks/get", "tasks/result", "tasks/cancel":
		return nil, &wire.Error{Code: wire.CodeInvalidParams, Message: "there is no such task"}
	}
	return nil, &wire.Error{Code: wire.CodeMethodNotFound, Message: "this program does not know " + short(method, 100)}
}

// rootsResult lists the connection's roots.
func (c *Connection) rootsResult() json.RawMessage {
	type root struct {
		URI  string `json:"uri"`
		Name string `json:"name"`
	}
	roots := []root{}
	for _, dir := range c.cfg.Roots {
		roots = append(roots, root{fileURI(expandHome(dir)), filepath.Base(dir)})
	}
	raw, err := json.Marshal(map[string]any{"roots": roots})
	if err != nil {
		return json.RawMessage(`{"roots":[]}`) // strings always marshal
	}
	return raw
}

// fileURI writes a path as a file: URI (RFC 8089).
func fileURI(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	path = filepath.ToSlash(path)
	if runtime.GOOS == "windows" && !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// turn waits until no other question of the same call is open, or, where the
// call cannot be told, none of this connection; and pauses the clocks of the
// calls it may belong to. The function it returns undoes both. A person who
// leaves a question open in one conversation holds up no other.
func (c *Connection) turn(ctx context.Context, calls []*inflight) (func(), error) {
	for _, call := range calls {
		call.paused(true)
	}
	resume := c.pauseLimits()
	release := func() {
		resume()
		for _, call := range calls {
			call.paused(false)
		}
	}
	asks := c.asks
	if len(calls) == 1 {
		asks = calls[0].asks
	}
	select {
	case asks <- struct{}{}:
		return func() { <-asks; release() }, nil
	case <-ctx.Done():
		release()
		return nil, ctx.Err()
	}
}

// owners are the tokens of calls for an Asker.
func owners(calls []*inflight) []string {
	var out []string
	for _, call := range calls {
		out = append(out, call.owner)
	}
	return out
}

// elicit puts a question of the server to a person (MCP, client/elicitation).
func (c *Connection) elicit(ctx context.Context, params json.RawMessage, calls []*inflight) (json.RawMessage, error) {
	if c.host.opts.Asker == nil {
		return nil, &wire.Error{Code: wire.CodeMethodNotFound, Message: "this program does not answer elicitation"}
	}
	e, err := readElicitation(params)
	if err != nil {
		return nil, err
	}
	e.Server, e.Calls = c.cfg.ID, owners(calls)
	done, err := c.turn(ctx, calls)
	if err != nil {
		return elicitResult(ElicitAnswer{Action: "cancel"}), nil
	}
	defer done()
	a, err := c.host.opts.Asker.Elicit(ctx, e)
	switch {
	case ctx.Err() != nil:
		return elicitResult(ElicitAnswer{Action: "cancel"}), nil
	case errors.Is(err, ErrNotAllowed):
		return nil, &wire.Error{Code: codeRefused, Message: "elicitation is not allowed for this server"}
	case errors.Is(err, ErrUnanswerable):
		return nil, &wire.Error{Code: wire.CodeInvalidParams, Message: short(c.redact(err.Error()), 300)}
	case err != nil:
		c.note("warning", "", "a question of the server could not be asked: "+err.Error())
		return elicitResult(ElicitAnswer{Action: "cancel"}), nil
	}
	if e.Mode == "url" {
		a.Content = nil
	}
	return elicitResult(a), nil
}

// readElicitation reads the parameters of elicitation/create.
func readElicitation(params json.RawMessage) (Elicitation, error) {
	m, ok := fields(params)
	if !ok {
		return Elicitation{}, &wire.Error{Code: wire.CodeInvalidParams, Message: "params must be an object"}
	}
	e := Elicitation{
		Mode: str(m["mode"]), Message: str(m["message"]), URL: str(m["url"]), ElicitationID: str(m["elicitationId"]),
	}
	if absent(m["mode"]) {
		e.Mode = "form"
	}
	switch e.Mode {
	case "form":
		e.Schema = object(m["requestedSchema"])
		if e.Schema == nil && !absent(m["requestedSchema"]) {
			return e, &wire.Error{Code: wire.CodeInvalidParams, Message: "requestedSchema must be an object"}
		}
	case "url":
		if e.URL == "" {
			return e, &wire.Error{Code: wire.CodeInvalidParams, Message: "url is missing"}
		}
	default:
		return e, &wire.Error{Code: wire.CodeInvalidParams, Message: "mode must be form or url"}
	}
	return e, nil
}

// elicitResult writes an answer; an action that is none is a cancel.
func elicitResult(a ElicitAnswer) json.RawMessage {
	switch a.Action {
	case "accept":
		if object(a.Content) != nil {
			return slices.Concat(json.RawMessage(`{"action":"accept","content":`), a.Content, json.RawMessage(`}`))
		}
		return json.RawMessage(`{"action":"accept"}`)
	case "decline":
		return json.RawMessage(`{"action":"decline"}`)
	}
	return json.RawMessage(`{"action":"cancel"}`)
}

// sample puts a server's request to a model (MCP 2025-11-25, client/sampling).
func (c *Connection) sample(ctx context.Context, params json.RawMessage, calls []*inflight) (json.RawMessage, error) {
	undeclared := &wire.Error{Code: wire.CodeMethodNotFound, Message: "sampling is not allowed for this server"}
	if c.host.opts.Asker == nil {
		return nil, undeclared
	}
	r, err := readSampling(params)
	if err != nil {
		return nil, err
	}
	r.Server, r.Calls, r.Undeclared = c.cfg.ID, owners(calls), !c.cfg.Sampling
	cancelled := &wire.Error{Code: codeRefused, Message: "the request was cancelled"}
	done, err := c.turn(ctx, calls)
	if err != nil {
		return nil, cancelled
	}
	defer done()
	a, err := c.host.opts.Asker.Sample(ctx, r)
	switch {
	case ctx.Err() != nil:
		return nil, cancelled
	case r.Undeclared:
		return nil, undeclared
	case errors.Is(err, ErrNotAllowed):
		return nil, &wire.Error{Code: codeRefused, Message: "the request for sampling was refused"}
	case err != nil:
		// What it says of this computer is none of the server's business.
		c.note("warning", "", "a request of the server for a model's answer could not be answered: "+err.Error())
		return nil, &wire.Error{Code: wire.CodeInternal, Message: "the model gave no answer"}
	}
	if a.StopReason == "" {
		a.StopReason = "endTurn"
	}
	raw, err := samplingResult(a)
	if err != nil {
		return nil, &wire.Error{Code: wire.CodeInternal, Message: "the model's answer cannot be written"}
	}
	return raw, nil
}

// maxTokens is the largest number of tokens a server may ask for; larger ones
// are cut to it.
const maxTokens = 1 << 20

// priority reads a number from 0 to 1; what is none counts as 0.
func priority(raw json.RawMessage) float64 {
	n, ok := number(raw)
	if !ok || n != n {
		return 0
	}
	return min(max(n, 0), 1)
}

// readSampling reads the parameters of sampling/createMessage. includeContext
// is ignored: no other text than the request's own reaches the model.
func readSampling(params json.RawMessage) (SamplingRequest, error) {
	m, ok := fields(params)
	if !ok {
		return SamplingRequest{}, badParams("params must be an object")
	}
	r := SamplingRequest{System: str(m["systemPrompt"]), Raw: params}
	messages, ok := array(m["messages"])
	if !ok || len(messages) == 0 {
		return r, badParams("messages is missing or empty")
	}
	if err := r.readTools(m); err != nil {
		return r, err
	}
	for _, raw := range messages {
		mm, ok := fields(raw)
		role := str(mm["role"])
		if !ok || role != "user" && role != "assistant" {
			return r, badParams("a message must have the role user or assistant")
		}
		content := mm["content"]
		if object(content) != nil {
			content = slices.Concat(json.RawMessage("["), content, json.RawMessage("]"))
		}
		blocks, _ := readBlocks(content, true)
		r.Messages = append(r.Messages, SamplingMessage{Role: role, Content: blocks})
	}
	if err := balanced(r.Messages); err != nil {
		return r, err
	}
	if n, ok := number(m["maxTokens"]); ok && n >= 1 {
		r.MaxTokens = int(min(n, maxTokens))
	}
	if t, ok := number(m["temperature"]); ok {
		r.Temperature = &t
	}
	stop, _ := array(m["stopSequences"])
	for _, s := range stop {
		if s := str(s); s != "" {
			r.Stop = append(r.Stop, s)
		}
	}
	r.Context = str(m["includeContext"])
	preferences, _ := fields(m["modelPreferences"])
	r.Priorities = Priorities{priority(preferences["costPriority"]), priority(preferences["speedPriority"]), priority(preferences["intelligencePriority"])}
	hints, _ := array(preferences["hints"])
	for _, h := range hints {
		hm, _ := fields(h)
		if name := str(hm["name"]); name != "" {
			r.Hints = append(r.Hints, name)
		}
	}
	return r, nil
}
