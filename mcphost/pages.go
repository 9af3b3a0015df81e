package mcphost

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"steward/mcphost/internal/wire"
)

// openPage is a page in the browser that a person is to finish before a request is
// made again.
type openPage struct {
	about    Elicitation
	finished chan struct{} // closed when the server says that it was
	forget   func()
}

// visitURLs answers error -32042: a person is to finish pages in the browser
// before the request is made again (MCP 2025-11-25, elicitation, URL mode). Each
// is offered; then the request waits until the server or the person says of each
// that it is done. Servers need not say it, and cannot where they gave no id.
func (c *Connection) visitURLs(ctx context.Context, rpc *wire.Error, f *inflight) ([]wire.Member, string, error) {
	m, _ := fields(rpc.Data)
	all, _ := array(m["elicitations"])
	if c.host.opts.Asker == nil || len(all) == 0 || len(all) > maxInputRequests {
		return nil, "", nil // the error stands
	}
	var calls []*inflight
	if f != nil {
		calls = append(calls, f)
		f.paused(true)
		defer f.paused(false)
	}
	defer c.pauseLimits()()
	var pages []openPage
	defer func() {
		for _, p := range pages {
			p.forget()
		}
	}()
	for _, raw := range all {
		e, err := readElicitation(raw)
		if err != nil || e.Mode != "url" {
			return nil, "", invalid("the server asked for a page in the browser without naming one")
		}
		p := openPage{about: e}
		p.finished, p.forget = c.awaitPage(e.ElicitationID)
		pages = append(pages, p)
		accepted, err := c.offerPage(ctx, raw, calls)
		if err != nil || !accepted {
			return nil, "", err // not wanted: the server's error stands
		}
	}
	for _, p := range pages {
		done, err := c.pageDone(ctx, p, calls)
		if err != nil || !done {
			return nil, "", err
		}
	}
	return nil, "url", nil
}

// offerPage asks the person whether to open a page.
func (c *Connection) offerPage(ctx context.Context, raw json.RawMessage, calls []*inflight) (accepted bool, err error) {
	answer, err := c.elicit(ctx, raw, calls)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	m, _ := fields(answer)
	return err == nil && str(m["action"]) == "accept", nil
}

// pageDone waits until the server or the person says that a page is done. It is
// false where the person does not want to wait any longer.
func (c *Connection) pageDone(ctx context.Context, p openPage, calls []*inflight) (bool, error) {
	select {
	case <-p.finished:
		return true, nil
	default:
	}
	asking, end := context.WithCancelCause(ctx)
	defer end(nil)
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		select {
		case <-p.finished:
			end(ErrFinished)
		case <-asking.Done():
		}
	}()
	e := p.about
	e.Server, e.Calls, e.Mode = c.cfg.ID, owners(calls), ModeDone
	answer, err := c.host.opts.Asker.Elicit(asking, e)
	end(nil)
	<-heard
	switch {
	case errors.Is(context.Cause(asking), ErrFinished):
		return true, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	}
	return err == nil && answer.Action == "accept", nil
}

// awaitPage registers the id of an elicitation; the channel is closed when the
// server says that it was finished. Without an id it never is.
func (c *Connection) awaitPage(id string) (finished chan struct{}, forget func()) {
	finished = make(chan struct{})
	if id == "" {
		return finished, func() {}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pages == nil {
		c.pages = map[string][]chan struct{}{}
	}
	c.pages[id] = append(c.pages[id], finished)
	return finished, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.pages[id] = slices.DeleteFunc(c.pages[id], func(other chan struct{}) bool { return other == finished })
		if len(c.pages[id]) == 0 {
			delete(c.pages, id)
		}
	}
}

// elicitationDone says that the server reported a page as finished. Ids that
// are not known are ignored.
func (c *Connection) elicitationDone(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, finished := range c.pages[id] {
		close(finished)
	}
	delete(c.pages, id)
}
