package consent

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"steward/app/event"
	"steward/app/journal"
	"steward/mcphost"
	"steward/storage"
	"steward/testdata/scriptedserver"
)

// asServer makes the test binary, started again with this variable, the scripted
// server.
const asServer = "STEWARD_TEST_SERVER"

func scriptedMain() {
	if os.Getenv(asServer) != "" {
		os.Exit(scriptedserver.Main(os.Args[1:]))
	}
}

// rig is a gate with a real store, a real journal and real servers.
type rig struct {
	t       *testing.T
	gate    *Gate
	store   *storage.DB
	journal *journal.Journal
	bus     *event.Bus
	host    *mcphost.Host

	mu     sync.Mutex
	events []event.Event
}

func newRig(t *testing.T, change func(*Options)) *rig {
	t.Helper()
	ctx := context.Background()
	dir := t.TempDir()
	r := &rig{t: t, bus: event.NewBus()}
	var err error
	if r.store, err = storage.Open(ctx, storage.Options{Dir: dir, Program: "test", OnError: func(err error) { t.Errorf("storage: %v", err) }}); err != nil {
		t.Fatal(err)
	}
	if r.journal, _, err = journal.Open(ctx, journal.Options{Store: r.store, Dir: dir}); err != nil {
		t.Fatal(err)
	}
	o := Options{
		Store: r.store, Journal: r.journal, Bus: r.bus, Listed: func(string) bool { return true },
		Sampling: func(string) bool { return true },
	}
	if change != nil {
		change(&o)
	}
	r.gate = New(o)
	r.host = mcphost.New(mcphost.Options{Asker: r.gate, Observe: r.gate.Observe, WorkDir: t.TempDir(), Client: mcphost.Implementation{Name: "steward", Version: "test"}})
	cancel := r.bus.Subscribe(func(e event.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
	})
	t.Cleanup(func() {
		if err := r.host.Close(ctx); err != nil {
			t.Errorf("closing servers: %v", err)
		}
		if err := r.journal.Close(ctx); err != nil {
			t.Errorf("closing the journal: %v", err)
		}
		if err := r.store.Close(); err != nil {
			t.Errorf("closing the store: %v", err)
		}
		cancel()
	})
	return r
}

// server starts a scripted server that records what it receives.
func (r *rig) server(id string, flags ...string) (*mcphost.Connection, func() []string) {
	r.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	record := filepath.Join(r.t.TempDir(), "received")
	conn, err := r.host.Connect(context.Background(), mcphost.ServerConfig{
		ID: id, Command: exe, Args: append([]string{"--record", record}, flags...), Env: map[string]string{asServer: "1"},
		Sampling: true, Hash: "sha256:" + id,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return conn, func() []string { return toolCalls(r.t, record) }
}

// toolCalls returns the arguments of every tools/call in a server's record.
func toolCalls(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(data)) {
		var m struct {
			Method string
			Params struct {
				Name      string
				Arguments json.RawMessage
			}
		}
		if json.Unmarshal([]byte(line), &m) == nil && m.Method == "tools/call" {
			out = append(out, m.Params.Name+" "+string(m.Params.Arguments))
		}
	}
	return out
}

func (r *rig) call(conn *mcphost.Connection, tool, args string) Call {
	r.t.Helper()
	return r.callIn("c_1", "t_1", conn, tool, args)
}

func (r *rig) callIn(conversation, turn string, conn *mcphost.Connection, tool, args string) Call {
	r.t.Helper()
	i := slices.IndexFunc(conn.Tools(), func(t mcphost.Tool) bool { return t.Name == tool })
	if i < 0 {
		r.t.Fatalf("the server offers no %s", tool)
	}
	c, err := NewCall(CallSpec{
		Conversation: conversation, Turn: turn, Server: conn.Server(), ServerHash: conn.Config().Hash, Tool: tool,
		Definition: conn.Tools()[i].Definition, Arguments: args, Model: "m",
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

// run takes a call through the gate in the background.
func (r *rig) run(ctx context.Context, c Call, conn *mcphost.Connection, lim Limits) <-chan Outcome {
	out := make(chan Outcome, 1)
	settled := make(chan struct{})
	lim.Settled = func() { close(settled) }
	go func() {
		o, err := r.gate.Run(ctx, c, conn, lim)
		if err != nil {
			r.t.Errorf("run: %v", err)
		}
		out <- o
	}()
	<-settled
	return out
}

func (r *rig) now(c Call, conn *mcphost.Connection) Outcome {
	r.t.Helper()
	return wait(r.t, r.run(context.Background(), c, conn, Limits{}))
}

func wait[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(10 * time.Second):
		t.Fatal("nothing came within 10 s")
	}
	panic("unreachable")
}

// item waits until something of this kind waits for the person.
func (r *rig) item(kind string) Item {
	r.t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		for _, i := range r.gate.Waiting().List() {
			if i.Kind == kind {
				return i
			}
		}
	}
	r.t.Fatalf("no %s came into the waiting list", kind)
	return Item{}
}

func (r *rig) answer(i Item, a Answer) {
	r.t.Helper()
	if err := r.gate.Waiting().Answer(i.ID, i.Hash, a); err != nil {
		r.t.Fatalf("answering %s: %v", i.Kind, err)
	}
}

// answerCall answers the call with these arguments.
func (r *rig) answerCall(c Call, a Answer) {
	r.t.Helper()
	if err := r.gate.Waiting().Answer(c.ID(), c.Hash(), a); err != nil {
		r.t.Fatalf("answering: %v", err)
	}
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

func (r *rig) seen(match func(event.Event) bool) bool {
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		r.mu.Lock()
		ok := slices.ContainsFunc(r.events, match)
		r.mu.Unlock()
		if ok {
			return true
		}
	}
	return false
}

func expect(t *testing.T, o Outcome, decision, by, outcome, effect string) {
	t.Helper()
	if o.Decision != decision || o.By != by || o.Outcome != outcome || o.Effect != effect {
		t.Fatalf("got decision %s by %s, outcome %s, effect %s (%s); want %s by %s, %s, %s", o.Decision, o.By, o.Outcome, o.Effect, o.Reason, decision, by, outcome, effect)
	}
	if o.Text == "" {
		t.Fatal("the model would be told nothing")
	}
}

func (r *rig) toolNames(conn *mcphost.Connection) []string {
	var names []string
	for _, t := range conn.Tools() {
		names = append(names, t.Name)
	}
	return names
}

// closedJournal is a journal that takes nothing any more.
func closedJournal(t *testing.T) *journal.Journal {
	t.Helper()
	ctx := context.Background()
	dir := t.TempDir()
	store, err := storage.Open(ctx, storage.Options{Dir: dir, Program: "test"})
	if err != nil {
		t.Fatal(err)
	}
	j, _, err := journal.Open(ctx, journal.Options{Store: store, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return j
}
