package app

import (
	"context"
	"fmt"
	"sync"

	"github.com/yosida95/uritemplate/v3"

	"steward/app/chat"
	"steward/app/clean"
	"steward/app/event"
	"steward/mcphost"
)

// maxTemplate bounds a template and each value put into it, in bytes.
const maxTemplate = 64 << 10

// Completing names an argument that suggestions are wanted for: of a prompt, or of a
// resource template. Known are the arguments filled in already.
type Completing struct {
	Server   string
	Prompt   string
	Template string
	Argument string
	Value    string
	Known    map[string]string
}

// Suggestions are what a server suggests, safe to show and to use as they are.
type Suggestions struct {
	Values []string
	More   bool // there are more than these
}

// connection is a conversation's connection to a server that was reviewed. The server is
// started if need be, and waited for.
func (a *App) connection(ctx context.Context, conversation, server string) (*mcphost.Connection, error) {
	a.board.release()
	return a.servers.oneReviewedWith(ctx, a.chat(ctx, conversation).Roots, server)
}

// FillPrompt has a server fill in a reviewed prompt and gives the text to be shown before
// it is sent. The server is started if need be. The request is recorded.
func (a *App) FillPrompt(ctx context.Context, conversation, server, name string, args map[string]string) (Attachment, error) {
	conn, err := a.connection(ctx, conversation, server)
	if err != nil {
		return Attachment{}, err
	}
	return a.engine.AttachPrompt(ctx, conversation, conn, name, args)
}

// CompleteArgument asks a server that was reviewed for suggestions. The server is started
// if need be.
func (a *App) CompleteArgument(ctx context.Context, c Completing) (Suggestions, error) {
	conn, err := a.connection(ctx, "", c.Server)
	if err != nil {
		return Suggestions{}, err
	}
	found, err := conn.Complete(ctx, mcphost.CompletionRef{Prompt: c.Prompt, Template: c.Template}, c.Argument, c.Value, c.Known)
	if err != nil {
		return Suggestions{}, fmt.Errorf("the server %s could not suggest values for %s: %w", reveal(c.Server), reveal(c.Argument), err)
	}
	out := Suggestions{More: found.HasMore || found.Total > len(found.Values)}
	for _, v := range found.Values {
		if v == clean.Line(v, maxSuggestion) { // others would not be what they look like
			out.Values = append(out.Values, v)
		}
	}
	return out, nil
}

// maxSuggestion is the length of a suggested value in characters.
const maxSuggestion = 1000

// ReadResource reads a resource for a message, or to be looked at. The server is started
// if need be. The reading is recorded.
func (a *App) ReadResource(ctx context.Context, conversation, server, uri string) (Attachment, error) {
	conn, err := a.connection(ctx, conversation, server)
	if err != nil {
		return Attachment{}, err
	}
	return a.engine.AttachResource(ctx, conversation, conn, uri)
}

// AttachFile makes an attachment of a text file or a picture on this computer.
func (a *App) AttachFile(ctx context.Context, path string) (Attachment, error) {
	if err := ctx.Err(); err != nil {
		return Attachment{}, context.Cause(ctx)
	}
	return chat.ReadFile(path)
}

func parseTemplate(template string) (*uritemplate.Template, error) {
	if len(template) > maxTemplate {
		return nil, &Message{Key: "template", Args: args("detail", "The resource template is too long.")}
	}
	t, err := uritemplate.New(template)
	if err != nil {
		return nil, &Message{Key: "template", Args: args("detail", "The resource template "+reveal(template)+" cannot be understood: "+err.Error()), Err: err}
	}
	return t, nil
}

// TemplateVariables names the variables of a resource template (RFC 6570), in order, each
// once.
func TemplateVariables(template string) ([]string, error) {
	t, err := parseTemplate(template)
	if err != nil {
		return nil, err
	}
	return unique(t.Varnames()), nil
}

// Subscribe calls on whenever the server reports a change of a resource, and after the
// server has come back, from one goroutine of its own, until cancel is called. on may
// block; cancel waits for it, so it must not be called from inside on.
func (a *App) Subscribe(ctx context.Context, server, uri string, on func()) (cancel func(), err error) {
	conn, err := a.connection(ctx, "", server)
	if err != nil {
		return nil, err
	}
	if why, err := a.gate.Blocked(ctx, conn); err != nil || why != "" {
		return nil, &Message{Key: "server_unreviewed", Args: args("server", reveal(server), "detail", fmt.Sprintf("The server %s must be reviewed first: %s", reveal(server), why)), Err: err}
	}
	a.desk.follow(server, uri, 1)
	if err := conn.Subscribe(ctx, uri); err != nil {
		a.desk.follow(server, uri, -1)
		return nil, fmt.Errorf("changes of %s cannot be subscribed to at the server %s: %w", reveal(uri), reveal(server), err)
	}
	unsub := a.bus.Subscribe(func(e event.Event) {
		switch e := e.(type) {
		case event.ResourceUpdated:
			if e.Server == server && e.URI == uri {
				on()
			}
		case event.Server:
			if e.Server == server && e.State == string(mcphost.StateReady) {
				a.subscribeAgain(server, uri)
				on()
			}
		}
	})
	return sync.OnceFunc(func() {
		unsub()
		if a.desk.follow(server, uri, -1) == 0 {
			a.unsubscribe(server, uri)
		}
	}), nil
}

// subscribeAgain subscribes at a server that has come back; it has forgotten.
func (a *App) subscribeAgain(server, uri string) {
	ctx, cancel := context.WithTimeout(a.servers.ctx, factWait)
	defer cancel()
	e := a.servers.entry(server)
	if e == nil {
		return
	}
	select {
	case <-e.done: // its start is told a moment before it is over
	case <-ctx.Done():
		return
	}
	conn := e.started()
	if conn == nil {
		return
	}
	if err := conn.Subscribe(ctx, uri); err != nil && ctx.Err() == nil {
		a.serverNotice("server_subscription", server, "Changes of "+reveal(uri)+" are no longer reported: "+a.line(err.Error()))
	}
}

// unsubscribe tells the server in the background that nobody listens any more.
func (a *App) unsubscribe(server, uri string) {
	conn := a.servers.entry(server).started()
	if conn == nil || conn.State() != mcphost.StateReady {
		return
	}
	a.spawn(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, factWait)
		defer cancel()
		err := conn.Unsubscribe(ctx, uri)
		if a.desk.follow(server, uri, 0) > 0 { // somebody has begun to listen meanwhile
			a.subscribeAgain(server, uri)
			return
		}
		if err != nil && ctx.Err() == nil && conn.State() == mcphost.StateReady {
			a.serverNotice("server_subscription", server, "The server goes on reporting changes of "+reveal(uri)+": "+a.line(err.Error()))
		}
	})
}
