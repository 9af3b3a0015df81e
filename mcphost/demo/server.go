package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/time/rate"

	"steward/mcphost/schema"
)

// name is how the server introduces itself.
const name = "steward-demo"

const instructions = "This is a demo. Its reports, weather, flights and bookings are invented; nothing real is looked up, booked or paid. " +
	"Dates are written as YYYY-MM-DD. Cities are given by their English or Chinese name."

// Limits of one session, and of all together: generous for people and models, too
// tight for a loop that runs away.
const (
	sessionRate, sessionBurst = 20, 200
	serverRate, serverBurst   = 100, 500
	maxSessions               = 1000 // whose rates are remembered
	maxArguments              = 64 << 10
	maxLine                   = 1 << 20 // of one message, in bytes
)

// server is one demo server with its state; it may serve many sessions at once.
type server struct {
	mcp *mcp.Server
	now func() time.Time

	all *rate.Limiter

	mu       sync.Mutex // guards what follows
	sessions map[*mcp.ServerSession]*rate.Limiter
	trips    []trip
	booked   int // trips booked so far, also those no longer in the list
}

// newServer makes a server with all its features. now is the clock for the few
// defaults that need today's date.
func newServer(now func() time.Time) (*server, error) {
	s := &server{now: now, all: rate.NewLimiter(serverRate, serverBurst), sessions: map[*mcp.ServerSession]*rate.Limiter{}}
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: name, Title: "Steward demo", Version: "1.0.0"}, &mcp.ServerOptions{
		Instructions:       instructions,
		Logger:             slog.New(slog.DiscardHandler),
		CompletionHandler:  s.complete,
		SubscribeHandler:   s.subscribe,
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
		// The lists never change; only the trip document does.
		Capabilities: &mcp.ServerCapabilities{
			Tools:     &mcp.ToolCapabilities{},
			Prompts:   &mcp.PromptCapabilities{},
			Resources: &mcp.ResourceCapabilities{Subscribe: true},
		},
	})
	for _, add := range []func(*server) error{addReport, addWeather, addCalculator, addFlights, addTrips} {
		if err := add(s); err != nil {
			return nil, err
		}
	}
	s.addPrompts()
	s.addResources()
	s.mcp.AddReceivingMiddleware(s.protect)
	return s, nil
}

// codeBusy is the JSON-RPC error of a request that came too soon after others (of the
// range for servers' own errors, JSON-RPC 2.0, section 5.1).
const codeBusy = -32000

// protect limits the rate of what is not a tool call but makes work, and turns a panic
// in any handler into an error. Tool calls limit themselves, with an error for the model.
func (s *server) protect(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		defer func() {
			if r := recover(); r != nil {
				res, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fmt.Sprintf("The demo failed inside at %s: %v", method, r)}
			}
		}()
		switch method {
		case "completion/complete", "prompts/get", "resources/read", "resources/subscribe", "resources/unsubscribe":
			if session, ok := req.GetSession().(*mcp.ServerSession); ok {
				if err := s.allow(session); err != nil {
					return nil, &jsonrpc.Error{Code: codeBusy, Message: err.Error()}
				}
			}
		}
		return next(ctx, method, req)
	}
}

// call is one tool call that runs.
type call struct {
	server *server
	req    *mcp.CallToolRequest
	raw    json.RawMessage // the arguments, compact
}

// refusal is an error the model is told as the tool's result (isError).
type refusal string

func (r refusal) Error() string { return string(r) }

func refuse(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }

// addTool registers a tool: its arguments are checked against its own schema, its
// rate is limited, and whatever goes wrong becomes a result the model can read.
func addTool[In any](s *server, t *mcp.Tool, run func(context.Context, *call, In) (*mcp.CallToolResult, error)) error {
	raw, err := json.Marshal(t.InputSchema)
	if err != nil {
		return fmt.Errorf("the schema of the demo tool %s: %w", t.Name, err)
	}
	in, err := schema.Compile(raw)
	if err != nil {
		return fmt.Errorf("the schema of the demo tool %s: %w", t.Name, err)
	}
	s.mcp.AddTool(t, func(ctx context.Context, req *mcp.CallToolRequest) (res *mcp.CallToolResult, err error) {
		defer func() {
			if r := recover(); r != nil {
				res, err = failure(fmt.Errorf("the demo tool %s failed inside: %v", t.Name, r)), nil
			}
		}()
		if err := s.allow(req.Session); err != nil {
			return failure(err), nil
		}
		var args In
		c := &call{server: s, req: req}
		if err := c.arguments(in, &args); err != nil {
			return failure(err), nil
		}
		res, err = run(ctx, c, args)
		if err != nil {
			return failure(err), nil
		}
		return res, nil
	})
	return nil
}

// arguments checks the call's arguments and decodes them into args.
func (c *call) arguments(in *schema.Schema, args any) error {
	raw := c.req.Params.Arguments
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	if len(raw) > maxArguments {
		return refuse("The arguments are %d bytes long; at most %d are read.", len(raw), maxArguments)
	}
	object, err := schema.ParseObject(raw)
	if err != nil {
		return refuse("The arguments are not usable: %s.", clean(err.Error(), 200))
	}
	if twice := object.Duplicates(); len(twice) > 0 {
		return refuse("The argument %q is given more than once; give it once.", clean(twice[0], 60))
	}
	if wrong := in.Validate(raw); len(wrong) > 0 {
		text := "The arguments do not fit: "
		for i, v := range wrong[:min(len(wrong), 5)] {
			if i > 0 {
				text += "; "
			}
			text += clean(v.String(), 300)
		}
		return refuse("%s.", text)
	}
	if c.raw, err = schema.Canonical(raw); err != nil {
		return refuse("The arguments are not usable: %s.", clean(err.Error(), 200))
	}
	if err := json.Unmarshal(raw, args); err != nil {
		return refuse("The arguments are not usable: %s.", clean(err.Error(), 200))
	}
	return nil
}

// allow takes one call from the budget of the session and of the server.
func (s *server) allow(session *mcp.ServerSession) error {
	if s.limiter(session).Allow() && s.all.Allow() {
		return nil
	}
	return refuse("Too many calls at once: this demo allows %d a second. Wait a moment, then call again.", sessionRate)
}

// limiter finds the session's rate, forgetting sessions that are gone.
func (s *server) limiter(session *mcp.ServerSession) *rate.Limiter {
	s.mu.Lock()
	l := s.sessions[session]
	full := len(s.sessions) >= maxSessions
	if l == nil && !full {
		l = rate.NewLimiter(sessionRate, sessionBurst)
		s.sessions[session] = l
	}
	s.mu.Unlock()
	if l != nil {
		return l
	}
	live := map[*mcp.ServerSession]bool{}
	for ss := range s.mcp.Sessions() { // takes the SDK's lock, so not under ours
		live[ss] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for ss := range s.sessions {
		if !live[ss] {
			delete(s.sessions, ss)
		}
	}
	if len(s.sessions) >= maxSessions {
		return s.all // too many live ones: the limit of all is theirs too
	}
	l = rate.NewLimiter(sessionRate, sessionBurst)
	s.sessions[session] = l
	return l
}

// progress tells the client how far the call is, if it wants to know.
func (c *call) progress(ctx context.Context, done, total float64, message string) {
	token := c.req.Params.GetProgressToken()
	if token == nil {
		return
	}
	// A client that went away ends the call through ctx; progress needs no other answer.
	_ = c.req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: total, Message: message})
}

// failure is a result the model reads as an error.
func failure(err error) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}
}

// structured is a result with a value, and the same value as JSON text for clients
// that know no structured results (MCP 2026-07-28, server/tools).
func structured(v any) (*mcp.CallToolResult, error) {
	raw, err := marshal(v)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{StructuredContent: raw, Content: []mcp.Content{&mcp.TextContent{Text: string(raw)}}}, nil
}

// hints are a tool's annotations. None of the demo's tools destroys anything.
func hints(title string, readOnly, idempotent, openWorld bool) *mcp.ToolAnnotations {
	destructive := false
	return &mcp.ToolAnnotations{Title: title, ReadOnlyHint: readOnly, IdempotentHint: idempotent, DestructiveHint: &destructive, OpenWorldHint: &openWorld}
}
