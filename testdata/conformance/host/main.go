// Command host is mcphost without a window, for the protocol's conformance suite: it connects to the server whose
// address is its last argument, uses once what the server offers, and ends. Transports, versions, questions of the
// server and signing in are those of the program; only the person is missing, who is played by "yes, with what the
// form already says", and by a browser that follows every redirect.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"steward/mcphost"
	"steward/mcphost/send"
)

// limit is less than the suite's own 30 s, so that this program says what it waited for.
const limit = 25 * time.Second

// metadataDocument is the client id metadata document that the suite expects of a host that has one.
const metadataDocument = "https://conformance-test.local/client-metadata.json"

// given is what the suite tells a host beforehand, as a person would by settings.
type given struct {
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	ToolCalls    []struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"toolCalls"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := run(ctx, os.Args, os.Getenv("MCP_CONFORMANCE_CONTEXT")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, settings string) (err error) {
	if len(args) < 2 {
		return errors.New("usage: host [FLAGS] URL")
	}
	var g given
	if settings != "" {
		if err := json.Unmarshal([]byte(settings), &g); err != nil {
			return fmt.Errorf("MCP_CONFORMANCE_CONTEXT is not usable: %w", err)
		}
	}
	work, err := os.MkdirTemp("", "steward-conformance-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	host := mcphost.New(mcphost.Options{
		Client:  mcphost.Implementation{Name: "steward", Title: "Steward", Version: "conformance"},
		Asker:   yes{},
		SignIn:  &browser{kept: map[string][]byte{}},
		Observe: say,
		WorkDir: work,
	})
	defer func() { err = errors.Join(err, host.Close(context.WithoutCancel(ctx))) }()
	c, err := host.Connect(ctx, mcphost.ServerConfig{
		ID: "suite", URL: args[len(args)-1], Sampling: true,
		OAuth: mcphost.OAuthConfig{ClientID: g.ClientID, ClientSecret: g.ClientSecret, MetadataURL: metadataDocument},
	})
	if err != nil {
		return err
	}
	return errors.Join(callTools(ctx, c, g), readResources(ctx, c), getPrompts(ctx, c))
}

// say tells what is odd, for whoever reads the suite's stderr.txt.
func say(o mcphost.Observation) {
	switch o := o.(type) {
	case mcphost.StateChanged:
		fmt.Fprintf(os.Stderr, "%s %s %s %v\n", o.State, o.Protocol, o.Detail, o.Err)
	case mcphost.Noise:
		fmt.Fprintf(os.Stderr, "noise: %q\n", o.Line)
	}
}

// callTools makes the calls the suite asks for, or calls every tool once.
func callTools(ctx context.Context, c *mcphost.Connection, g given) error {
	var all []error
	tools := c.Tools()
	byName := map[string]mcphost.Tool{}
	for _, t := range tools {
		byName[t.Name] = t
	}
	if len(g.ToolCalls) > 0 {
		for _, k := range g.ToolCalls {
			all = append(all, callTool(ctx, c, byName[k.Name], k.Arguments))
		}
		return errors.Join(all...)
	}
	for _, t := range tools {
		arguments := sample(t.InputSchema)
		if t.Name == schemaEcho {
			arguments = echoArguments(tools)
		}
		all = append(all, callTool(ctx, c, t, arguments))
	}
	return errors.Join(all...)
}

// schemaEcho is the tool with which a server asks to be shown the schema of another tool as the host holds it.
const schemaEcho = "json_schema_echo"

func echoArguments(tools []mcphost.Tool) json.RawMessage {
	for _, t := range tools {
		if t.Name != schemaEcho {
			return json.RawMessage(`{"schema":` + string(t.InputSchema) + `}`)
		}
	}
	return json.RawMessage(`{}`)
}

func callTool(ctx context.Context, c *mcphost.Connection, t mcphost.Tool, arguments json.RawMessage) error {
	r, err := send.Tool(ctx, send.Call{
		Conn: c, Owner: "suite", Tool: t.Name, Definition: t.Definition, Arguments: arguments,
		Spend:   func([]byte) error { return nil },
		Attempt: func(context.Context, string, any) error { return nil },
	})
	if err != nil {
		return fmt.Errorf("tool %q: %w", t.Name, err)
	}
	fmt.Fprintf(os.Stderr, "tool %q: %s %s\n", t.Name, r.Outcome, r.Reason)
	if r.Outcome != send.OK && r.Outcome != send.ToolError {
		return fmt.Errorf("tool %q: %s: %s", t.Name, r.Outcome, r.Reason)
	}
	return nil
}

func readResources(ctx context.Context, c *mcphost.Connection) error {
	resources, err := c.Resources(ctx)
	all := []error{err}
	for _, r := range resources {
		_, err := c.ReadResource(ctx, r.URI)
		all = append(all, err)
	}
	return errors.Join(all...)
}

func getPrompts(ctx context.Context, c *mcphost.Connection) error {
	prompts, err := c.Prompts(ctx)
	all := []error{err}
	for _, p := range prompts {
		arguments := map[string]string{}
		for _, a := range p.Arguments {
			arguments[a.Name] = word
		}
		_, err := c.GetPrompt(ctx, p.Name, arguments)
		all = append(all, err)
	}
	return errors.Join(all...)
}
