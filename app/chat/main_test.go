package chat

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"steward/app/consent"
	"steward/app/event"
	"steward/app/journal"
	"steward/llm"
	"steward/mcphost"
	"steward/storage"
	"steward/testdata/scriptedmodel"
	"steward/testdata/scriptedserver"
)

// asServer makes the test binary, started again with this variable, the scripted
// server.
const asServer = "STEWARD_TEST_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		os.Exit(scriptedserver.Main(os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

// rig is an engine with a real store, journal, gate, servers and a scripted model
// endpoint.
type rig struct {
	t       *testing.T
	dir     string
	engine  *Engine
	gate    *consent.Gate
	store   *storage.DB
	journal *journal.Journal
	bus     *event.Bus
	host    *mcphost.Host
	model   *scriptedmodel.Server

	mu     sync.Mutex
	conns  []*mcphost.Connection
	events []event.Event
}

type rigOptions struct {
	dir     string
	policy  consent.Policy
	script  scriptedmodel.Script
	profile string
	redact  func(string) string
	// unlisted makes servers count as never reviewed.
	unlisted bool
}

func newRig(t *testing.T, o rigOptions) *rig {
	t.Helper()
	ctx := context.Background()
	if o.dir == "" {
		o.dir = t.TempDir()
	}
	r := &rig{t: t, dir: o.dir, bus: event.NewBus()}
	o.script.Strict, o.script.Rules = true, o.profile
	r.model = scriptedmodel.StartScript(t, o.script)
	client, err := llm.New(llm.Endpoint{BaseURL: r.model.URL(), Model: "fake", Profile: o.profile}, llm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	model := func(context.Context, string) (*llm.Client, string, error) { return client, "fake", nil }
	if r.store, err = storage.Open(ctx, storage.Options{Dir: o.dir, Program: "test", OnError: func(err error) { t.Errorf("storage: %v", err) }}); err != nil {
		t.Fatal(err)
	}
	var recovery journal.Recovery
	if r.journal, recovery, err = journal.Open(ctx, journal.Options{Store: r.store, Dir: o.dir}); err != nil {
		t.Fatal(err)
	}
	r.gate = consent.New(consent.Options{
		Store: r.store, Journal: r.journal, Bus: r.bus, Policy: o.policy, Redact: o.redact,
		Listed: func(string) bool { return !o.unlisted }, Sampling: func(string) bool { return true }, Sample: NewSampler(func() Recorder { return Recorder{Journal: r.journal} }, func(ctx context.Context, c string, _ consent.Target) (*llm.Client, string, error) {
			return model(ctx, c)
		}),
	})
	r.host = mcphost.New(mcphost.Options{Asker: r.gate, Observe: r.gate.Observe, WorkDir: t.TempDir()})
	r.engine = New(Options{
		Store: r.store, Journal: r.journal, Bus: r.bus, Gate: r.gate, Model: model, Redact: o.redact,
		Connections: func(context.Context, string) ([]*mcphost.Connection, error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			return slices.Clone(r.conns), nil
		},
	})
	if err := r.engine.Recover(ctx, recovery); err != nil {
		t.Fatal(err)
	}
	cancel := r.bus.Subscribe(func(e event.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
	})
	t.Cleanup(func() { r.close(client, cancel) })
	return r
}

func (r *rig) close(client *llm.Client, cancel func()) {
	ctx := context.Background()
	r.engine.Close()
	if err := r.host.Close(ctx); err != nil {
		r.t.Errorf("closing servers: %v", err)
	}
	client.Close()
	if err := r.journal.Close(ctx); err != nil {
		r.t.Errorf("closing the journal: %v", err)
	}
	if err := r.store.Close(); err != nil {
		r.t.Errorf("closing the store: %v", err)
	}
	cancel()
}

func (r *rig) server(id string, flags ...string) *mcphost.Connection {
	r.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	conn, err := r.host.Connect(context.Background(), mcphost.ServerConfig{
		ID: id, Command: exe, Args: flags, Env: map[string]string{asServer: "1"}, Sampling: true, Hash: "sha256:" + id,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns = append(r.conns, conn)
	return conn
}

func (r *rig) send(t Turn) *Running {
	r.t.Helper()
	run, err := r.engine.Send(context.Background(), t)
	if err != nil {
		r.t.Fatal(err)
	}
	return run
}

func (r *rig) finish(run *Running) TurnResult {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	res, err := run.Wait(ctx)
	if err != nil {
		r.t.Fatalf("the turn did not end: %v", err)
	}
	return res
}

func (r *rig) ask(text string) TurnResult {
	r.t.Helper()
	return r.finish(r.send(Turn{Text: text}))
}

func (r *rig) want(res TurnResult, state string) {
	r.t.Helper()
	if res.State != state {
		r.t.Fatalf("the turn is %s (%s), want %s", res.State, res.Error, state)
	}
	if p := r.model.Problems(); len(p) > 0 {
		r.t.Fatalf("a strict endpoint would refuse: %v", p)
	}
}

// body is one message of a request as the endpoint got it.
type body struct {
	Role       string
	Content    json.RawMessage
	ToolCallID string `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

func (b body) text() string {
	var s string
	if json.Unmarshal(b.Content, &s) == nil {
		return s
	}
	return string(b.Content)
}

// request returns the messages of the n-th chat request, from 1.
func (r *rig) request(n int) []body {
	r.t.Helper()
	var chats []scriptedmodel.Request
	for _, q := range r.model.Requests() {
		if strings.HasSuffix(q.Path, "/chat/completions") {
			chats = append(chats, q)
		}
	}
	if len(chats) < n {
		r.t.Fatalf("the model was asked %d times, not %d", len(chats), n)
	}
	var b struct{ Messages []body }
	if err := json.Unmarshal(chats[n-1].Body, &b); err != nil {
		r.t.Fatal(err)
	}
	return b.Messages
}

func (r *rig) tools(n int) []string {
	r.t.Helper()
	var out []string
	for _, m := range r.request(n) {
		if m.Role == "tool" {
			out = append(out, m.text())
		}
	}
	return out
}

func (r *rig) waiting(n int) []consent.Item {
	r.t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if l := r.gate.Waiting().List(); len(l) == n {
			return l
		}
	}
	r.t.Fatalf("%d items wait, want %d", len(r.gate.Waiting().List()), n)
	return nil
}

func (r *rig) answer(i consent.Item, a consent.Answer) {
	r.t.Helper()
	if err := r.gate.Waiting().Answer(i.ID, i.Hash, a); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) messages(conversation string) []storage.Message {
	r.t.Helper()
	ctx := context.Background()
	if err := r.store.Flush(ctx); err != nil {
		r.t.Fatal(err)
	}
	m, err := r.store.Messages(ctx, conversation, 0, 1000)
	if err != nil {
		r.t.Fatal(err)
	}
	return m
}

func (r *rig) records(kind journal.Kind) []journal.Record {
	r.t.Helper()
	list, err := r.journal.List(context.Background(), journal.Filter{Kind: string(kind), Limit: -1})
	if err != nil {
		r.t.Fatal(err)
	}
	slices.Reverse(list)
	return list
}

// recorded waits for n records; those that are no call are written a moment later.
func (r *rig) recorded(kind journal.Kind, n int) []journal.Record {
	r.t.Helper()
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		if rec := r.records(kind); len(rec) == n {
			return rec
		} else if time.Now().After(end) {
			r.t.Fatalf("%d records of %s, want %d: %+v", len(rec), kind, n, rec)
		}
	}
}

func (r *rig) notices() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, e := range r.events {
		if n, ok := e.(event.Notice); ok {
			out = append(out, n.Kind+": "+n.Message)
		}
	}
	return strings.Join(out, "\n")
}

func allowAll() consent.Policy { return consent.Policy{Calls: consent.Allow} }

func raw(s string) json.RawMessage { return json.RawMessage(s) }
