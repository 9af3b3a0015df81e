// Package session holds one session of the protocol library with one server,
// and the way to make requests on it whose parameters and answers are exact
// bytes. The library numbers, encodes, matches and cancels; the wire.Tap below
// it puts the bytes in and takes them out, so that no answer a server gives
// can fail to be read.
package session

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"steward/mcphost/internal/wire"
)

// Link is the way to one server. Its life does not depend on the context given
// to Connect.
type Link interface {
	mcp.Transport
	// Close ends the link and all that belongs to it, in bounded time.
	Close() error
	// Done is closed when the link has ended, and Err then says why; nil after
	// Close.
	Done() <-chan struct{}
	Err() error
}

// Legacy is the newest version of the protocol that begins with initialize,
// Modern the oldest that does not.
const (
	Legacy = "2025-11-25"
	Modern = "2026-07-28"
)

// Errors of Open that say what to try next.
var (
	// ErrStuck says that the server went away or went silent when it was asked
	// server/discover: it must be started anew, and asked initialize at once.
	ErrStuck = errors.New("the server did not bear being asked server/discover")
	// ErrNewer says that the server refused initialize after it had been silent about
	// server/discover, so it may be of the newer era and slow: it must be started
	// anew, and given more time.
	ErrNewer = errors.New("the server refused initialize, and was too slow to answer server/discover")
)

// VersionError says that no version of the protocol is spoken by both sides.
type VersionError struct {
	Server []string // the versions the server named
}

func (e *VersionError) Error() string {
	theirs := strings.Join(e.Server, ", ")
	if theirs == "" {
		theirs = "none"
	}
	return fmt.Sprintf("the server speaks other versions of the protocol (%s) than this program (%s)",
		theirs, strings.Join(mcp.SupportedProtocolVersions(), ", "))
}

// Options say how a session begins.
type Options struct {
	Client mcp.Implementation
	// What is declared to the server.
	Elicit, Sampling, Roots bool
	// Discover asks server/discover first; else initialize at once.
	Discover bool
	// Probe is how long server/discover may stay unanswered (0 = as long as the
	// context allows). Then the session ends with ErrStuck, or, if Patient, initialize
	// is asked on the same link: a program that is being installed must not be ended.
	Probe   time.Duration
	Patient bool
	// Installing reports whether a program of which that was not known before seems to
	// be installing what it runs; nil is never. It has the effect of Patient.
	Installing func() bool
	// Slow says that the server did not answer server/discover in time before: a
	// refusal of initialize then is ErrNewer.
	Slow bool
}

// Session is one session. Its methods may be called by any goroutine.
type Session struct {
	link  Link
	tap   *wire.Tap
	sdk   *mcp.ClientSession
	hello Hello
	seq   atomic.Int64
	mark  string         // of this session's tokens
	tasks sync.WaitGroup // goroutines inside the library
	level atomic.Pointer[string]
}

// Hello is what the server said of itself at the beginning.
type Hello struct {
	Protocol string
	Modern   bool
	// Unsure says that the era may be another one: the server was too busy to be asked.
	Unsure       bool
	Capabilities json.RawMessage
	Instructions string
	Name, Title  string
	Version      string
}

// Open begins a session over link. When it fails the link is closed.
func Open(ctx context.Context, link Link, tap *wire.Tap, o Options) (*Session, error) {
	s := &Session{link: link, tap: tap, mark: rand.Text()[:12]}
	h := &handshake{link: link, tap: tap, o: o}
	client := mcp.NewClient(&o.Client, clientOptions(o))
	client.AddSendingMiddleware(h.middleware)
	for _, method := range taskMethods {
		if err := mcp.AddSendingCustomMethod[*taskParams, *taskResult](client, method); err != nil {
			_ = link.Close() // never: the methods are none of the library's
			return nil, err
		}
	}
	version := Legacy
	if o.Discover {
		version = Modern
	}
	libraryCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	type outcome struct {
		sdk *mcp.ClientSession
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		sdk, err := client.Connect(libraryCtx, link, &mcp.ClientSessionOptions{ProtocolVersion: version})
		done <- outcome{sdk, err}
	}()
	var r outcome
	select {
	case r = <-done:
	case <-ctx.Done():
		r.err = context.Cause(ctx)
		_ = link.Close() // ends the library's wait; why we stopped is already known
		<-done
	case <-link.Done():
		select {
		case r = <-done: // the library notices by itself
		case <-time.After(time.Second):
			cancel()
			r = <-done
		}
		if r.err == nil {
			r.err = errors.New("the server ended the connection during the start")
		}
	}
	if r.err == nil {
		s.sdk = r.sdk
		s.hello, r.err = h.hello()
	}
	if r.err != nil {
		err := h.explain(ctx, r.err)
		_ = link.Close()
		return nil, err
	}
	return s, nil
}

// clientOptions declares what this program can do. The handlers only make the
// library open subscriptions/listen; the Tap takes the notifications.
func clientOptions(o Options) *mcp.ClientOptions {
	caps := &mcp.ClientCapabilities{}
	if o.Elicit {
		caps.Elicitation = &mcp.ElicitationCapabilities{
			Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{},
		}
	}
	if o.Sampling {
		//lint:ignore SA1019 deprecated since 2026-07-28; servers of earlier revisions still ask for it
		caps.Sampling = &mcp.SamplingCapabilities{Tools: &mcp.SamplingToolsCapabilities{}}
	}
	if o.Roots {
		//lint:ignore SA1019 deprecated since 2026-07-28; servers of earlier revisions still ask for them
		caps.RootsV2 = &mcp.RootCapabilities{}
	}
	caps.AddExtension(TasksExtension, nil)
	return &mcp.ClientOptions{
		Logger:                     slog.New(slog.DiscardHandler),
		Capabilities:               caps,
		MultiRoundTrip:             &mcp.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler:     func(context.Context, *mcp.ToolListChangedRequest) {},
		PromptListChangedHandler:   func(context.Context, *mcp.PromptListChangedRequest) {},
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) {},
	}
}

// SetLogLevel makes every request from now on ask for log messages from this
// level on, in sessions of the newer era (MCP 2026-07-28, logging).
func (s *Session) SetLogLevel(level string) { s.level.Store(&level) }

// Hello returns what the server said of itself.
func (s *Session) Hello() Hello { return s.hello }

// Done is closed when the link has ended; Err says why.
func (s *Session) Done() <-chan struct{} { return s.link.Done() }

// Err returns why the link ended.
func (s *Session) Err() error { return s.link.Err() }

// Close ends the session and the link.
func (s *Session) Close() error {
	err := s.link.Close()
	// With the link gone nothing is in flight any more, so the library ends at
	// once; it must be told, to end what it does for subscriptions.
	_ = s.sdk.Close()
	s.tasks.Wait()
	return err
}

// Request is one request with exact parameters.
type Request struct {
	Method string
	// Subject is the tool's or the prompt's name, or the resource's URI.
	Subject string
	// Params are members written into params as they are.
	Params []wire.Member
	// Before, Sent and Progress as in wire.Expectation.
	Before   func(arguments []byte) error
	Sent     func()
	Progress func(wire.Progress)
	// Token is the progress token; "" takes a new one.
	Token string
}

// Reply is how a request ended.
type Reply struct {
	Result json.RawMessage
	Nulled bool // as in wire.Answer
	// Err is nil with a Result; a *wire.Error if the server answered with an
	// error or with nothing usable; the context's error; else why the link
	// failed or the request was never sent.
	Err error
	// Started says that the first byte may have left.
	Started bool
	Frames  []wire.Frame
}

// Token returns a new progress token, unlike any of this or another session: that of a
// call whose task is followed on outlives the session (MCP 2025-11-25, task progress).
func (s *Session) Token() string {
	return "steward-" + s.mark + "-" + strconv.FormatInt(s.seq.Add(1), 10)
}

// Do makes a request and waits for its answer, the end of the link, or the end
// of the context, which cancels the request at the server.
func (s *Session) Do(ctx context.Context, r Request) Reply {
	if err := ctx.Err(); err != nil {
		return Reply{Err: err}
	}
	if r.Token == "" {
		r.Token = s.Token()
	}
	p, err := s.tap.Expect(wire.Expectation{
		Token: r.Token, Set: r.Params, Before: r.Before, Sent: r.Sent, Progress: r.Progress,
	})
	if err != nil {
		return Reply{Err: err}
	}
	defer p.Release()
	// The library gets a context of its own: what it does with a request that
	// has been answered already must not end in a cancellation.
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	failed := make(chan error, 1)
	s.tasks.Go(func() {
		defer cancel()
		failed <- s.invoke(inner, r)
	})
	select {
	case <-p.Done():
	case err = <-failed:
	case <-ctx.Done():
		err = ctx.Err()
		cancel()
	}
	reply := Reply{Started: p.Withdraw(), Frames: p.Frames()}
	if a, ok := p.Answer(); ok {
		reply.Result, reply.Nulled, reply.Err = a.Result, a.Nulled, a.Err
		return reply
	}
	if err == nil {
		err = errors.New("the request ended without an answer")
	}
	reply.Err = err
	return reply
}

// invoke makes the request through the library.
func (s *Session) invoke(ctx context.Context, r Request) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the protocol library failed on %s: %v", r.Method, p)
		}
	}()
	meta := mcp.Meta{"progressToken": r.Token}
	if level := s.level.Load(); level != nil && s.hello.Modern {
		meta["io.modelcontextprotocol/logLevel"] = *level // MCP 2026-07-28, basic, _meta
	}
	switch r.Method {
	case "tools/call":
		_, err = s.sdk.CallTool(ctx, &mcp.CallToolParams{Meta: meta, Name: r.Subject})
	case "tools/list":
		_, err = s.sdk.ListTools(ctx, &mcp.ListToolsParams{Meta: meta})
	case "prompts/list":
		_, err = s.sdk.ListPrompts(ctx, &mcp.ListPromptsParams{Meta: meta})
	case "prompts/get":
		_, err = s.sdk.GetPrompt(ctx, &mcp.GetPromptParams{Meta: meta, Name: r.Subject})
	case "resources/list":
		_, err = s.sdk.ListResources(ctx, &mcp.ListResourcesParams{Meta: meta})
	case "resources/templates/list":
		_, err = s.sdk.ListResourceTemplates(ctx, &mcp.ListResourceTemplatesParams{Meta: meta})
	case "resources/read":
		_, err = s.sdk.ReadResource(ctx, &mcp.ReadResourceParams{Meta: meta, URI: r.Subject})
	case "completion/complete":
		_, err = s.sdk.Complete(ctx, &mcp.CompleteParams{Meta: meta, Ref: &mcp.CompleteReference{Type: "ref/prompt"}})
	case "ping":
		err = s.sdk.Ping(ctx, &mcp.PingParams{Meta: meta})
	case "logging/setLevel":
		//lint:ignore SA1019 deprecated since 2026-07-28; servers of earlier revisions still log
		err = s.sdk.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Meta: meta})
	default:
		if !slices.Contains(taskMethods, r.Method) {
			return fmt.Errorf("no way to send %q is known", r.Method)
		}
		_, err = mcp.CallCustomMethod[*taskParams, *taskResult](ctx, s.sdk, r.Method, &taskParams{mcp.ParamsBase{Meta: meta}})
	}
	return err
}

// Subscribe asks for updates of a resource, in the way of the session's era.
func (s *Session) Subscribe(ctx context.Context, uri string) error {
	return plain(s.sdk.Subscribe(ctx, &mcp.SubscribeParams{URI: uri}))
}

// Unsubscribe ends what Subscribe began.
func (s *Session) Unsubscribe(ctx context.Context, uri string) error {
	return plain(s.sdk.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: uri}))
}

// plain turns the library's JSON-RPC error into the wire's.
func plain(err error) error {
	var we *jsonrpc.Error
	if errors.As(err, &we) {
		return &wire.Error{Code: we.Code, Message: we.Message, Data: we.Data}
	}
	return err
}
