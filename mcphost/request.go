package mcphost

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"steward/mcphost/internal/session"
	"steward/mcphost/internal/wire"
)

// do makes a request other than a tool call and explains its failure.
func (c *Connection) do(ctx context.Context, doing string, r session.Request) (json.RawMessage, error) {
	ctx, end := c.limited(ctx, RequestTimeout, unanswered(RequestTimeout))
	defer end()
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
	if args == nil {
		args = map[string]string{} // servers whose arguments may all be left out still want the object
	}
	r := session.Request{Method: "prompts/get", Subject: name, Params: []wire.Member{member("name", name), member("arguments", args)}}
	raw, err := c.do(ctx, fmt.Sprintf("getting the prompt %q", name), r)
	if err != nil {
		return PromptResult{}, err
	}
	m, _ := fields(raw)
	messages, ok := array(m["messages"])
	if !ok {
		return PromptResult{}, fmt.Errorf("the prompt %q of server %q came without messages", name, c.cfg.ID)
	}
	out := PromptResult{Description: str(m["description"]), Raw: raw}
	out.read(messages)
	return out, nil
}

// maxMessages bounds the messages of one prompt.
const maxMessages = 500

// read reads the messages of a prompt. What is odd about one takes no other with it.
func (r *PromptResult) read(messages []json.RawMessage) {
	if n := len(messages) - maxMessages; n > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("Of %d messages the last %d were left out.", len(messages), n))
		messages = messages[:maxMessages]
	}
	const most = 20
	for i, message := range messages {
		mm, ok := fields(message)
		content := mm["content"]
		if !ok {
			content = message // shown as it is
		}
		role := str(mm["role"])
		odd := ""
		if role != "user" && role != "assistant" {
			role = "user" // a server's text never speaks as the system
		}
		if object(content) != nil {
			content = json.RawMessage("[" + string(content) + "]")
		}
		blocks, notes := ReadContents(content)
		if len(blocks) == 0 {
			odd = also(odd, "it is empty.")
		}
		for _, block := range blocks {
			r.Messages = append(r.Messages, PromptMessage{Role: role, Content: block})
		}
		if odd = also(odd, strings.Join(notes, " ")); odd != "" && len(r.Notes) < most {
			r.Notes = append(r.Notes, fmt.Sprintf("Message %d: %s", i+1, odd))
		}
	}
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
	if n := len(contents) - maxContents; n > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("Of %d parts the last %d were left out.", len(contents), n))
		contents = contents[:maxContents]
	}
	if len(contents) == 0 {
		out.Notes = append(out.Notes, "The resource is empty: the server sent nothing.")
	}
	const most = 20
	for i, r := range contents {
		content := Content{Raw: r}
		odd := ""
		if cm, ok := fields(r); ok {
			odd = content.readResource(cm)
			if content.URI != "" && content.URI != uri {
				odd = also(odd, fmt.Sprintf("it is of another resource, %s.", short(content.URI, 200)))
			}
		} else {
			content.Type, content.Text, odd = "resource", string(r), "it is no content of a resource; it was kept as written."
		}
		if odd != "" && len(out.Notes) < most {
			out.Notes = append(out.Notes, fmt.Sprintf("Part %d: %s", i+1, odd))
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
