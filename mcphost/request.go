package mcphost

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"steward/mcphost/internal/patience"
	"steward/mcphost/internal/session"
	"steward/mcphost/internal/wire"
)

// do makes a request other than a tool call and explains its failure.
func (c *Connection) do(ctx context.Context, doing string, r session.Request) (json.RawMessage, error) {
	ctx, cancel := patience.WithTimeoutCause(ctx, RequestTimeout,
		fmt.Errorf("the server did not answer within %s", RequestTimeout))
	defer cancel()
	var reply session.Reply
	for again := false; ; again = true {
		l, err := c.current(ctx)
		if err != nil {
			return nil, err
		}
		reply = c.rounds(ctx, l, r, func(context.Context, string, any) error { return nil }, nil)
		if again || !c.lost(ctx, l, reply) {
			break
		}
	}
	if reply.Err != nil {
		err := reply.Err
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, &requestError{c.redact(fmt.Sprintf("%s at server %q failed: %v", doing, c.cfg.ID, err)), err}
	}
	return reply.Result, nil
}

// requestError is the failure of a request; its text is redacted, because it
// may hold what the server wrote last.
type requestError struct {
	text string
	err  error
}

func (e *requestError) Error() string { return e.text }
func (e *requestError) Unwrap() error { return e.err }

// member writes a member of params.
func member(name string, v any) wire.Member {
	raw, err := json.Marshal(v)
	if err != nil {
		raw = json.RawMessage("null") // strings and maps of strings always marshal
	}
	return wire.Member{Name: name, Value: raw}
}

// GetPrompt asks the server to fill in a prompt.
func (c *Connection) GetPrompt(ctx context.Context, name string, args map[string]string) (PromptResult, error) {
	r := session.Request{Method: "prompts/get", Subject: name, Params: []wire.Member{member("name", name)}}
	if len(args) > 0 {
		r.Params = append(r.Params, member("arguments", args))
	}
	raw, err := c.do(ctx, fmt.Sprintf("getting the prompt %q", name), r)
	if err != nil {
		return PromptResult{}, err
	}
	m, _ := fields(raw)
	messages, ok := array(m["messages"])
	if !ok {
		return PromptResult{}, fmt.Errorf("the prompt %q of server %q came without messages", name, c.cfg.ID)
	}
	const most = 500
	out := PromptResult{Description: str(m["description"]), Raw: raw}
	for _, message := range messages[:min(len(messages), most)] {
		mm, _ := fields(message)
		role := str(mm["role"])
		if role != "assistant" {
			role = "user" // a server's text never speaks as the system
		}
		content, _ := readContent(mm["content"])
		out.Messages = append(out.Messages, PromptMessage{Role: role, Content: content})
	}
	return out, nil
}

// ReadResource reads a resource from the server that owns it. Nothing is ever
// fetched from the URI itself.
func (c *Connection) ReadResource(ctx context.Context, uri string) (ResourceResult, error) {
	doing := fmt.Sprintf("reading the resource %q", uri)
	raw, err := c.do(ctx, doing, session.Request{
		Method: "resources/read", Subject: uri, Params: []wire.Member{member("uri", uri)},
	})
	if err != nil {
		return ResourceResult{}, err
	}
	m, _ := fields(raw)
	contents, ok := array(m["contents"])
	if !ok {
		return ResourceResult{}, fmt.Errorf("%s at server %q failed: the answer holds no contents", doing, c.cfg.ID)
	}
	out := ResourceResult{URI: uri, Raw: raw}
	for _, r := range contents[:min(len(contents), maxContents)] {
		content := Content{Raw: r}
		if cm, ok := fields(r); ok {
			content.readResource(cm)
		} else {
			content.Type, content.Text = "resource", string(r)
		}
		out.Contents = append(out.Contents, content)
	}
	return out, nil
}

// Complete asks for suggestions for an argument (at most 100 values). known
// are the arguments already filled in. A server that does not complete gives
// none.
func (c *Connection) Complete(ctx context.Context, ref CompletionRef, name, value string, known map[string]string) (Completion, error) {
	if _, err := c.current(ctx); err != nil {
		return Completion{}, err
	}
	c.mu.Lock()
	offered := c.caps.completions
	c.mu.Unlock()
	if !offered {
		return Completion{}, nil
	}
	target := map[string]string{"type": "ref/prompt", "name": ref.Prompt}
	if ref.Template != "" {
		target = map[string]string{"type": "ref/resource", "uri": ref.Template}
	}
	r := session.Request{Method: "completion/complete", Params: []wire.Member{
		member("ref", target), member("argument", map[string]string{"name": name, "value": value}),
	}}
	if len(known) > 0 {
		r.Params = append(r.Params, member("context", map[string]any{"arguments": known}))
	}
	raw, err := c.do(ctx, fmt.Sprintf("completing %q", name), r)
	if err != nil {
		return Completion{}, err
	}
	m, _ := fields(raw)
	m, _ = fields(m["completion"])
	values, _ := array(m["values"])
	const most = 100
	out := Completion{}
	for _, v := range values[:min(len(values), most)] {
		if s := str(v); s != "" {
			out.Values = append(out.Values, s)
		}
	}
	if n, ok := number(m["total"]); ok && n >= 0 && n < 1<<31 {
		out.Total = int(n)
	}
	more := boolean(m["hasMore"])
	out.HasMore = more != nil && *more || len(values) > most
	return out, nil
}

// Subscribe asks the server to report changes of a resource, which are then
// observed as [ResourceUpdated]. It lasts until Unsubscribe or the end of the
// session.
func (c *Connection) Subscribe(ctx context.Context, uri string) error {
	return c.subscription(ctx, "subscribing to", uri, (*session.Session).Subscribe)
}

// Unsubscribe ends what Subscribe began.
func (c *Connection) Unsubscribe(ctx context.Context, uri string) error {
	return c.subscription(ctx, "unsubscribing from", uri, (*session.Session).Unsubscribe)
}

func (c *Connection) subscription(ctx context.Context, doing, uri string, f func(*session.Session, context.Context, string) error) error {
	ctx, cancel := patience.WithTimeoutCause(ctx, RequestTimeout, context.DeadlineExceeded)
	defer cancel()
	l, err := c.current(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	offered := c.caps.subscribe
	c.mu.Unlock()
	if !offered {
		return fmt.Errorf("server %q does not report changes of resources", c.cfg.ID)
	}
	if err := f(l.session, ctx, uri); err != nil {
		return fmt.Errorf("%s %q at server %q failed: %w", doing, uri, c.cfg.ID, err)
	}
	return nil
}

// Ping asks the server for a sign of life. Servers of the newer era, which
// know no ping, are asked for their tools instead.
func (c *Connection) Ping(ctx context.Context) error {
	l, err := c.current(ctx)
	if err != nil {
		return err
	}
	if l.session.Hello().Modern {
		if err := c.readTools(ctx, l); err != nil {
			return fmt.Errorf("server %q does not answer: %w", c.cfg.ID, err)
		}
		return nil
	}
	if _, err := c.do(ctx, "a ping", session.Request{Method: "ping"}); err != nil {
		return err
	}
	return nil
}

// SetLogLevel asks a server of the older era for log messages from level on
// (debug, info, notice, warning, error, critical, alert, emergency).
func (c *Connection) SetLogLevel(ctx context.Context, level string) error {
	l, err := c.current(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	offered := c.caps.logging
	c.mu.Unlock()
	if !offered || l.session.Hello().Modern {
		return fmt.Errorf("server %q does not let its log be set", c.cfg.ID)
	}
	_, err = c.do(ctx, "setting the log level", session.Request{
		Method: "logging/setLevel", Params: []wire.Member{member("level", strings.ToLower(level))},
	})
	return err
}
