package mcphost

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"steward/mcphost/internal/wire"
	"steward/mcphost/schema"
)

// fulfil answers the inputRequests of a result, one after the other in the
// server's order, and returns inputResponses; nil if there were no requests.
func (c *Connection) fulfil(ctx context.Context, raw json.RawMessage, f *inflight) (json.RawMessage, error) {
	if absent(raw) {
		return nil, nil
	}
	requests, err := schema.ParseObject(raw)
	switch {
	case err != nil:
		return nil, invalid("the server's inputRequests cannot be read: %v", err)
	case len(requests.Duplicates()) > 0:
		return nil, invalid("the server's inputRequests name %q twice", requests.Duplicates()[0])
	case len(requests) > maxInputRequests:
		return nil, invalid("the server asked for %d inputs at once; at most %d are answered", len(requests), maxInputRequests)
	case len(requests) == 0:
		return nil, nil
	}
	calls := []*inflight{}
	if f != nil {
		calls = append(calls, f)
	}
	var out bytes.Buffer
	for i, r := range requests {
		m, _ := fields(r.Value)
		method := str(m["method"])
		result, err := c.answer(ctx, method, m["params"], calls)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, invalid("the server asked for input (%s) that it does not get: %v", short(method, 60), err)
		}
		name, err := json.Marshal(r.Name)
		if err != nil {
			return nil, err
		}
		out.WriteByte("{,"[min(i, 1)])
		out.Write(name)
		out.WriteByte(':')
		out.Write(result)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// visitURLs answers error -32042: a person is to finish pages in the browser
// before the request is made again (MCP 2025-11-25, elicitation, URL mode).
func (c *Connection) visitURLs(ctx context.Context, rpc *wire.Error, f *inflight) ([]wire.Member, string, error) {
	m, _ := fields(rpc.Data)
	all, _ := array(m["elicitations"])
	if c.host.opts.Asker == nil || f == nil || len(all) == 0 || len(all) > maxInputRequests {
		return nil, "", nil // the error stands
	}
	calls := []*inflight{f}
	f.paused(true)
	defer f.paused(false)
	var waits []chan struct{}
	for _, raw := range all {
		e, err := readElicitation(raw)
		if err != nil || e.Mode != "url" {
			return nil, "", invalid("the server asked for a page in the browser without naming one")
		}
		finished, forget := c.awaitPage(e.ElicitationID)
		defer forget()
		answer, err := c.elicit(ctx, raw, calls)
		if ctx.Err() != nil {
			return nil, "", ctx.Err()
		}
		am, _ := fields(answer)
		if err != nil || str(am["action"]) != "accept" {
			return nil, "", nil // not wanted: the server's error stands
		}
		waits = append(waits, finished)
	}
	limit := time.NewTimer(urlWait)
	defer limit.Stop()
	for _, finished := range waits {
		select {
		case <-finished:
		case <-ctx.Done():
			return nil, "", ctx.Err()
		case <-limit.C:
			return nil, "", fmt.Errorf("the page in the browser was not finished within %s: %w", urlWait, rpc)
		}
	}
	return nil, "url", nil
}

// awaitPage registers the id of an elicitation; the channel is closed when the
// server says that it was finished.
func (c *Connection) awaitPage(id string) (finished chan struct{}, forget func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pages == nil {
		c.pages = map[string]chan struct{}{}
	}
	finished = make(chan struct{})
	c.pages[id] = finished
	return finished, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.pages[id] == finished {
			delete(c.pages, id)
		}
	}
}

// elicitationDone says that the server reported a page as finished. Ids that
// are not known are ignored.
func (c *Connection) elicitationDone(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if finished, ok := c.pages[id]; ok {
		close(finished)
		delete(c.pages, id)
	}
}
