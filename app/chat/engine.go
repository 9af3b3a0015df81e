package chat

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"steward/app/clean"
	"steward/app/consent"
	"steward/app/event"
	"steward/app/journal"
	"steward/app/secrets"
	"steward/llm"
	"steward/mcphost"
	"steward/storage"
)

// States in which a turn ends.
const (
	Finished    = "finished"
	Stopped     = "stopped"
	Interrupted = "interrupted"
	Failed      = "failed"
)

// DefaultMaxRounds is how often a turn may ask the model.
const DefaultMaxRounds = 25

// Options are what an Engine works with. Store, Journal, Bus, Gate and Model are
// needed.
type Options struct {
	Store   *storage.DB
	Journal *journal.Journal
	Bus     *event.Bus
	Gate    *consent.Gate
	// Model gives the client for a conversation and the model's name. The client
	// stays its owner's.
	Model func(ctx context.Context, conversation string) (*llm.Client, string, error)
	// Parameters gives what goes with a conversation's requests beside the messages; nil
	// leaves everything to the endpoint. It is asked for every request.
	Parameters func(ctx context.Context, conversation string) Parameters
	// Connections gives the connections that a conversation may use; nil is none.
	Connections func(ctx context.Context, conversation string) ([]*mcphost.Connection, error)
	// Redact replaces known secrets in text from outside; nil keeps it.
	Redact func(string) string
	// Known knows the secrets that are replaced in what the person and the model wrote, on
	// the screen and in the store. Nil knows none.
	Known *secrets.Redactor
	// System gives what is put before the built-in system prompt, usually nothing; nil
	// is nothing. It is asked for every request.
	System func() string
	Now    func() time.Time
	// Room tells how much the model of an endpoint can read. It must answer without waiting
	// for anybody. Nil: nothing is known.
	Room func(where, model string) Room
	// Reported is told what an endpoint reported that a request took. It is called by the
	// goroutine of the request. Nil: nobody learns from it.
	Reported func(where, model string, r llm.Request, u llm.Usage)
	// Limit is told a context window that an endpoint named in a refusal. Nil: nobody keeps it.
	Limit func(where, model string, window int)
}

// Engine runs turns. Its methods may be called from any goroutine.
type Engine struct {
	o Options

	mu      sync.Mutex
	closed  bool
	running map[string]*Running // by conversation
	tight   map[string]Budget   // of conversations whose requests must be short
	refused map[string]refusal  // the last request of a conversation, where it was too large
	warned  map[string]bool     // conversations that are known to come near the model's window
	told    map[string]bool     // what a conversation was told about its model, see turn.once
	all     sync.WaitGroup
}

// New makes an engine. Close ends it.
func New(o Options) *Engine {
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	if o.Known == nil {
		o.Known = &secrets.Redactor{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Connections == nil {
		o.Connections = func(context.Context, string) ([]*mcphost.Connection, error) { return nil, nil }
	}
	if o.Parameters == nil {
		o.Parameters = func(context.Context, string) Parameters { return Parameters{} }
	}
	if o.System == nil {
		o.System = func() string { return "" }
	}
	return &Engine{
		o: o, running: map[string]*Running{}, tight: map[string]Budget{}, refused: map[string]refusal{}, warned: map[string]bool{},
		told: map[string]bool{},
	}
}

// Turn is what a person sends. Conversation empty begins a new one.
type Turn struct {
	Conversation string
	Text         string
	Attach       []Attachment
	MaxRounds    int           // 0 is DefaultMaxRounds
	ToolTimeout  time.Duration // 0 is each server's setting
	MaxTimeout   time.Duration // 0 is each server's setting
	// Parent is the message that this one follows, or Root; empty is the end of the
	// branch that is shown.
	Parent string
	// Again, where not empty, is a person's message that the model is to answer once
	// more, or an answer of the model whose calls have their results, from which it is to go
	// on; Text, Attach and Parent are then not used.
	Again string
}

// TurnResult is how a turn ended. Text is the last answer, cleaned; Error is a
// sentence, or empty.
type TurnResult struct {
	State        string
	Error        string
	Text         string
	Conversation string
}

// Running is a turn at work.
type Running struct {
	conversation string
	cancel       context.CancelCauseFunc
	done         chan struct{}
	over         atomic.Bool          // its end is being told: it works no more
	live         atomic.Pointer[Live] // the answer that comes now, or came last
	result       TurnResult           // once done is closed
}

// Conversation is the conversation the turn belongs to.
func (r *Running) Conversation() string { return r.conversation }

// Stop ends the turn: what is open is answered as stopped and nothing more is
// sent. It returns at once.
func (r *Running) Stop() { r.cancel(consent.ErrStopped) }

// Done is closed when the turn has ended and is stored.
func (r *Running) Done() <-chan struct{} { return r.done }

// Wait returns how the turn ended, or the context's error.
func (r *Running) Wait(ctx context.Context) (TurnResult, error) {
	select {
	case <-r.done:
		return r.result, nil
	case <-ctx.Done():
		return TurnResult{}, context.Cause(ctx)
	}
}

// Send stores what the person said and starts the turn. A turn that still runs
// in the conversation is ended first, and what waits in it is withdrawn. The
// turn goes on after ctx has ended; Running.Stop stops it.
func (e *Engine) Send(ctx context.Context, t Turn) (*Running, error) {
	if err := check(t); err != nil {
		return nil, err
	}
	conv, err := e.conversation(ctx, t)
	if err != nil {
		return nil, err
	}
	turnCtx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	r := &Running{conversation: conv.ID, cancel: cancel, done: make(chan struct{})}
	if err := e.takeOver(ctx, r); err != nil {
		cancel(err)
		return nil, err
	}
	head, err := e.begin(ctx, t, &conv)
	if err != nil {
		cancel(err)
		e.release(r)
		return nil, err
	}
	go e.run(turnCtx, r, conv, t, head)
	return r, nil
}

func check(t Turn) error {
	total := 0
	for _, a := range t.Attach {
		total += len(a.Text) + len(a.Data)
	}
	switch {
	case t.Again != "":
		return nil
	case strings.TrimSpace(t.Text) == "" && len(t.Attach) == 0:
		return errors.New("there is nothing to send: the message is empty")
	case len(t.Text) > MaxText:
		return fmt.Errorf("the message is too long: %d bytes, at most %d can be sent; attach it as a file in parts", len(t.Text), MaxText)
	case total > MaxTotal:
		return fmt.Errorf("the attachments are too large: %d bytes together, at most %d can be sent", total, MaxTotal)
	}
	return nil
}

func (e *Engine) conversation(ctx context.Context, t Turn) (storage.Conversation, error) {
	now := e.o.Now().UTC()
	if t.Conversation == "" {
		return storage.Conversation{ID: newID("c_"), Title: e.title(t), Created: now, Updated: now}, nil
	}
	c, err := e.o.Store.Conversation(ctx, t.Conversation)
	if err == nil && !c.Deleted.IsZero() {
		err = fmt.Errorf("it was deleted: %w", storage.ErrNotFound)
	}
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return c, fmt.Errorf("%w; steward journal list --json names the conversation of each record", err)
	case err != nil:
		return c, fmt.Errorf("the conversation %s cannot be read: %w", clean.Reveal(t.Conversation), err)
	}
	c.Updated = now
	if c.Title == "" {
		c.Title = e.title(t)
	}
	return c, nil
}

// title is the first words of what the person said.
func (e *Engine) title(t Turn) string {
	text := t.Text
	if strings.TrimSpace(text) == "" && len(t.Attach) > 0 {
		text = t.Attach[0].Name
	}
	return clean.Line(e.o.Known.Known(text), 60)
}

// takeOver makes r the conversation's running turn, after the end of the one
// before it.
func (e *Engine) takeOver(ctx context.Context, r *Running) error {
	for {
		e.mu.Lock()
		if e.closed {
			e.mu.Unlock()
			return consent.ErrClosed
		}
		old := e.running[r.conversation]
		if old == nil {
			e.running[r.conversation] = r
			e.all.Add(1)
			e.mu.Unlock()
			return nil
		}
		e.mu.Unlock()
		old.cancel(consent.ErrAbandoned)
		if _, err := old.Wait(ctx); err != nil {
			return err
		}
	}
}

// release ends r for everybody who waits for it; its result is set before.
func (e *Engine) release(r *Running) {
	e.mu.Lock()
	delete(e.running, r.conversation)
	e.mu.Unlock()
	close(r.done)
	e.all.Done()
}

// begin stores durably what the turn begins with, before anything is sent, and returns
// the message that the model is to answer. The turn before this one has ended, so what
// it stored is there. Known secrets are stored by their labels; what is sent is what the
// person wrote, see turn.asWritten.
func (e *Engine) begin(ctx context.Context, t Turn, conv *storage.Conversation) (head string, err error) {
	msg := storage.Message{
		ID: newID("m_"), Conversation: conv.ID, Role: storage.RoleUser, State: storage.StateComplete,
		Text: e.o.Known.Known(t.Text), Time: e.o.Now().UTC(), Parent: t.Parent,
	}
	if t.Conversation != "" {
		if err := e.place(ctx, t, conv, &msg); err != nil {
			return "", err
		}
	}
	if len(t.Attach) > 0 && t.Again == "" {
		kept := slices.Clone(t.Attach)
		for i := range kept {
			kept[i].Text = e.o.Known.Known(kept[i].Text)
		}
		if msg.Meta, err = encode(storedMeta{Attachments: kept}); err != nil {
			return "", err
		}
	}
	err = e.o.Store.Write(ctx, func(tx *storage.Tx) error {
		if t.Conversation == "" {
			return errors.Join(tx.PutConversation(*conv), tx.PutMessage(msg))
		}
		err := Change(tx, conv.ID, func(c *storage.Conversation, m *Meta) {
			c.Updated, m.Branch = conv.Updated, t.Again
			if c.Title == "" && t.Again == "" {
				c.Title = e.title(t)
			}
		})
		if err != nil {
			return err
		}
		if t.Again != "" {
			return nil
		}
		return tx.PutMessage(msg)
	})
	switch {
	case err != nil && t.Again != "":
		return "", fmt.Errorf("the conversation could not be stored, so nothing was sent: %w", err)
	case err != nil:
		return "", fmt.Errorf("the message could not be stored, so it was not sent: %w", err)
	case t.Again != "":
		return t.Again, nil
	case t.Conversation == "":
		e.o.Bus.Publish(event.ConversationChanged{Conversation: conv.ID, What: "created"})
	}
	e.o.Bus.Publish(event.MessageStored{Conversation: conv.ID, ID: msg.ID, Role: msg.Role})
	return msg.ID, nil
}

// place finds where a message stands among the others, or that the one to be answered
// again is there.
func (e *Engine) place(ctx context.Context, t Turn, conv *storage.Conversation, msg *storage.Message) error {
	fresh, err := e.conversation(ctx, t)
	if err != nil {
		return err
	}
	if err := e.o.Store.Flush(ctx); err != nil {
		return err
	}
	outline, err := e.o.Store.Outline(ctx, conv.ID)
	if err != nil {
		return fmt.Errorf("the conversation %s cannot be read: %w", conv.ID, err)
	}
	*conv = fresh
	tree := NewTree(outline)
	wanted := cmp.Or(t.Again, t.Parent)
	if wanted != "" && wanted != Root && tree.Parent(wanted) == "" {
		return fmt.Errorf("there is no message %s in the conversation %s: %w", clean.Reveal(wanted), conv.ID, storage.ErrNotFound)
	}
	if msg.Parent == "" {
		msg.Parent = cmp.Or(tree.Leaf(ReadMeta(fresh).Branch), Root)
	}
	return nil
}

// Running returns the turn at work in a conversation, or nil. Of a turn whose end has been told it is nil.
func (e *Engine) Running(conversation string) *Running {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r := e.running[conversation]; r != nil && !r.over.Load() {
		return r
	}
	return nil
}

// Working names the conversations that a turn runs in, in no order: those that [Engine.Running] gives one for.
func (e *Engine) Working() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []string
	for id, r := range e.running {
		if !r.over.Load() {
			out = append(out, id)
		}
	}
	return out
}

// StopAll stops every turn; it returns at once.
func (e *Engine) StopAll() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.running {
		r.Stop()
	}
}

// Close ends every turn as interrupted by the program's end and waits for them.
// Nothing can be sent afterwards.
func (e *Engine) Close() {
	e.mu.Lock()
	e.closed = true
	for _, r := range e.running {
		r.cancel(consent.ErrClosed)
	}
	e.mu.Unlock()
	e.all.Wait()
}

func newID(prefix string) string {
	var b [10]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never returns an error (Go 1.24)
	return prefix + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:]))
}

func (e *Engine) notice(conversation, kind, server, message string) {
	e.o.Bus.Publish(event.Notice{Conversation: conversation, Kind: kind, Server: server, Message: message})
}
