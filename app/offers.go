package app

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"steward/app/clean"
	"steward/app/event"
	"steward/llm"
	"steward/llm/tokens"
	"steward/mcphost"
)

// Tool is a tool as the model would see it; the JSON form is read by other programs.
type Tool struct {
	Name        string          `json:"name"` // the model's name for it
	Server      string          `json:"server"`
	Tool        string          `json:"tool"` // its own name on the server
	Title       string          `json:"title"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations json.RawMessage `json:"annotations"`
	Definition  string          `json:"definition"`
	Enabled     bool            `json:"enabled"` // false: the model does not see it
	Tokens      int             `json:"tokens"`  // estimated cost in every request
}

// Prompt is a prompt with the protocol's fields.
type Prompt struct {
	Name        string           `json:"name"`
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	Arguments   []PromptArgument `json:"arguments"`
	Server      string           `json:"server"`
}

// PromptArgument is one argument of a prompt, with the protocol's fields.
type PromptArgument struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required"`
}

// Resource is a resource or, with URITemplate, a resource template, with the
// protocol's fields.
type Resource struct {
	URI         string          `json:"uri,omitempty"`
	URITemplate string          `json:"uriTemplate,omitempty"`
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	MIMEType    string          `json:"mimeType,omitempty"`
	Size        *int64          `json:"size,omitempty"`
	Annotations json.RawMessage `json:"annotations,omitempty"`
	Server      string          `json:"server"`
}

// Tools lists the tools of every server that was reviewed and starts, those the model does
// not see included. It waits for servers that are starting.
func (a *App) Tools(ctx context.Context) ([]Tool, error) {
	out := []Tool{}
	for _, conn := range a.everyReady(ctx) {
		reviewed, err := a.gate.Reviewed(ctx, conn)
		if err != nil {
			return nil, err
		}
		for _, t := range conn.Tools() {
			seen := !t.AppOnly && !a.leftOut(conn.Server(), t.Name) && slices.ContainsFunc(reviewed, func(r mcphost.Tool) bool { return r.Name == t.Name })
			out = append(out, offeredTool(conn.Server(), t, seen))
		}
		a.tellLeftOut(conn, "tools")
	}
	return out, nil
}

func offeredTool(server string, t mcphost.Tool, enabled bool) Tool {
	o := Tool{
		Name: llm.Alias(server, t.Name), Server: server, Tool: t.Name, Title: clean.Clean(t.Title), Description: clean.Clean(t.Description),
		InputSchema: t.InputSchema, Annotations: t.Annotations, Definition: t.Definition, Enabled: enabled,
	}
	if len(o.Annotations) == 0 {
		o.Annotations = json.RawMessage("{}")
	}
	o.Tokens = tokens.Tool(o.Name, o.Description, string(o.InputSchema))
	return o
}

// Prompts lists the prompts of every server that starts. What one server cannot list is
// told as a notice.
func (a *App) Prompts(ctx context.Context) ([]Prompt, error) {
	out := []Prompt{}
	for _, conn := range a.everyReady(ctx) {
		prompts, err := conn.Prompts(ctx)
		if err != nil {
			a.listFailed(conn, "prompts", err)
		}
		for _, p := range prompts {
			out = append(out, shownPrompt(conn.Server(), p))
		}
		a.tellLeftOut(conn, "prompts")
	}
	return out, ctx.Err()
}

// Resources lists the resources and then the resource templates of every server that
// starts.
func (a *App) Resources(ctx context.Context) ([]Resource, error) {
	out := []Resource{}
	for _, conn := range a.everyReady(ctx) {
		resources, err := conn.Resources(ctx)
		if err != nil {
			a.listFailed(conn, "resources", err)
		}
		for _, r := range resources {
			out = append(out, shownResource(conn.Server(), r))
		}
		templates, err := conn.Templates(ctx)
		if err != nil {
			a.listFailed(conn, "resource templates", err)
		}
		for _, t := range templates {
			out = append(out, shownTemplate(conn.Server(), t))
		}
		a.tellLeftOut(conn, "resources", "templates")
	}
	return out, ctx.Err()
}

func shownPrompt(server string, p mcphost.Prompt) Prompt {
	o := Prompt{Name: p.Name, Title: clean.Clean(p.Title), Description: clean.Clean(p.Description), Arguments: []PromptArgument{}, Server: server}
	for _, g := range p.Arguments {
		o.Arguments = append(o.Arguments, PromptArgument{g.Name, clean.Clean(g.Title), clean.Clean(g.Description), g.Required})
	}
	return o
}

func shownResource(server string, r mcphost.Resource) Resource {
	o := Resource{URI: r.URI, Name: r.Name, Title: clean.Clean(r.Title), Description: clean.Clean(r.Description), MIMEType: r.MIMEType, Annotations: r.Annotations, Server: server}
	if r.Size >= 0 {
		o.Size = &r.Size
	}
	return o
}

func shownTemplate(server string, t mcphost.Template) Resource {
	return Resource{URITemplate: t.URITemplate, Name: t.Name, Title: clean.Clean(t.Title), Description: clean.Clean(t.Description), MIMEType: t.MIMEType, Annotations: t.Annotations, Server: server}
}

// everyReady starts all servers that were reviewed, waits for them and returns those that
// can be used.
func (a *App) everyReady(ctx context.Context) []*mcphost.Connection {
	a.board.release()
	a.servers.startReviewed(ctx)
	a.servers.wait(ctx, serverWait)
	return a.servers.ready()
}

func (a *App) listFailed(conn *mcphost.Connection, what string, err error) {
	a.bus.Publish(event.Notice{Kind: "server_list", Server: conn.Server(), Message: fmt.Sprintf("The %s of the server %s cannot be listed: %v", what, conn.Server(), err)})
}

// tellLeftOut says that a list that was just read is not whole, or not as the server wrote it.
func (a *App) tellLeftOut(conn *mcphost.Connection, kinds ...string) {
	problems := conn.Problems(kinds...)
	if len(problems) == 0 {
		return
	}
	more := ""
	if n := len(problems) - 1; n > 0 {
		more = fmt.Sprintf(" And %d more.", n)
	}
	a.bus.Publish(event.Notice{Kind: "server_list", Server: conn.Server(), Message: fmt.Sprintf(
		"Of what the server %s lists, some was left out or corrected: %s: %s%s All of it is said by: steward doctor %s --json",
		clean.Reveal(conn.Server()), a.line(problems[0].Item), a.line(problems[0].Message), more, clean.Reveal(quoteArg(conn.Server())))})
}

// toolNames lists names for a message, shortened.
func toolNames(tools []mcphost.Tool) string {
	names := make([]string, 0, len(tools))
	for i, t := range tools {
		if i == 20 {
			names = append(names, fmt.Sprintf("and %d more", len(tools)-i))
			break
		}
		names = append(names, clean.Reveal(t.Name))
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
