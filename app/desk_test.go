package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"steward/app/consent"
	"steward/app/event"
	"steward/testdata/scriptedmodel"
)

// rig is an App on a folder of its own, with a scripted model endpoint.
type rig struct {
	t     *testing.T
	o     Options
	app   *App
	model *scriptedmodel.Server

	mu     sync.Mutex
	events []event.Event
	unsub  func()
}

// self is an entry that starts this test binary as a server.
func self(t *testing.T, kind string, flags ...string) map[string]any {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]any{"command": exe, "args": append([]string{}, flags...), "env": map[string]string{asServer: kind}}
}

// newRig opens an App whose servers stand in a file given for the run, so that they count
// as reviewed.
func newRig(t *testing.T, servers map[string]any, steps ...scriptedmodel.Step) *rig {
	t.Helper()
	r := &rig{t: t, model: scriptedmodel.StartScript(t, scriptedmodel.Script{Strict: true, Steps: steps})}
	r.o = Options{Data: filepath.Join(t.TempDir(), "data"), Endpoint: Endpoint{BaseURL: r.model.URL(), Model: "fake"}}
	if servers != nil {
		raw, err := json.Marshal(map[string]any{"mcpServers": servers})
		if err != nil {
			t.Fatal(err)
		}
		r.o.ServersFile = filepath.Join(t.TempDir(), "given.json")
		write(t, r.o.ServersFile, string(raw))
	}
	r.open()
	t.Cleanup(func() { r.close() })
	return r
}

func (r *rig) open() {
	r.t.Helper()
	a, err := Open(context.Background(), r.o)
	if err != nil {
		r.t.Fatal(err)
	}
	a.UseSecretsMemory()
	r.app = a
	r.unsub = a.Listen(func(e event.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
	})
	a.Start(context.Background())
}

func (r *rig) close() {
	if r.app == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := r.app.Close(ctx); err != nil {
		r.t.Errorf("closing: %v", err)
	}
	r.unsub()
	r.app = nil
}

func (r *rig) reopen() {
	r.t.Helper()
	r.close()
	r.open()
}

// until waits for something that happens in the background.
func (r *rig) until(what string, ok func() bool) {
	r.t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("it did not happen in time: %s", what)
		}
	}
}

func (r *rig) heard(match func(event.Event) bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.events, match)
}

func (r *rig) changed(id, what string) bool {
	return r.heard(func(e event.Event) bool { return e == event.ConversationChanged{Conversation: id, What: what} })
}

func (r *rig) send(d Draft) *Turn {
	r.t.Helper()
	turn, err := r.app.Send(context.Background(), d)
	if err != nil {
		r.t.Fatal(err)
	}
	return turn
}

func (r *rig) done(turn *Turn, err ...error) string {
	r.t.Helper()
	if len(err) > 0 && err[0] != nil {
		r.t.Fatal(err[0])
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	res, waitErr := turn.Wait(ctx)
	if waitErr != nil {
		r.t.Fatal(waitErr)
	}
	if p := r.model.Problems(); len(p) > 0 {
		r.t.Fatalf("a strict endpoint would refuse: %v", p)
	}
	return res.State
}

func (r *rig) say(conversation, text string) string {
	r.t.Helper()
	turn := r.send(Draft{Conversation: conversation, Text: text})
	if state := r.done(turn); state != "finished" {
		r.t.Fatalf("the turn is %s", state)
	}
	return turn.Conversation()
}

func (r *rig) messages(id string) []ChatMessage {
	r.t.Helper()
	return must(r.t, func() ([]ChatMessage, error) { return r.app.Messages(context.Background(), id, 0, 0) })
}

// waiting waits for one thing that waits for the person.
func (r *rig) waiting() consent.Item {
	r.t.Helper()
	r.until("something waits", func() bool { return len(r.app.Waiting().List()) > 0 })
	return r.app.Waiting().List()[0]
}

func (r *rig) answer(a consent.Answer) {
	r.t.Helper()
	i := r.waiting()
	if err := r.app.Waiting().Answer(i.ID, i.Hash, a); err != nil {
		r.t.Fatal(err)
	}
}

// lastRequest is what the model was asked last: the texts, and the tools by name.
func (r *rig) lastRequest() (texts []string, tools []string) {
	r.t.Helper()
	all := r.model.Requests()
	var body struct {
		Model    string
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Tools []struct{ Function struct{ Name string } }
	}
	if err := json.Unmarshal(all[len(all)-1].Body, &body); err != nil {
		r.t.Fatal(err)
	}
	for _, m := range body.Messages {
		var s string
		if json.Unmarshal(m.Content, &s) == nil && m.Role != "system" {
			texts = append(texts, s)
		}
	}
	for _, t := range body.Tools {
		tools = append(tools, t.Function.Name)
	}
	return texts, tools
}

func must[T any](t *testing.T, f func() (T, error)) T {
	t.Helper()
	v, err := f()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func check(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func say(text string) scriptedmodel.Step { return scriptedmodel.Step{Say: text} }

func calls(tool, arguments string) scriptedmodel.Step {
	return scriptedmodel.Step{Calls: []scriptedmodel.Call{{Tool: tool, Arguments: json.RawMessage(arguments)}}}
}

func titles(list []Conversation) string {
	var out []string
	for _, c := range list {
		out = append(out, c.Title)
	}
	return strings.Join(out, "|")
}

func TestTheListOfConversations(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{}, say("about lighthouses and the sea"), say("two"), say("three"))
	first, second := r.say("", "first question"), r.say("", "second question")
	empty := must(t, func() (Conversation, error) { return r.app.NewConversation(ctx, false) })
	check(t, r.app.Pin(ctx, first, true), r.app.Rename(ctx, second, "  my\nown name  "))
	list := must(t, func() ([]Conversation, error) { return r.app.Conversations(ctx, Query{}) })
	if got := titles(list); got != "first question||my own name" || !list[0].Pinned {
		t.Errorf("the list is %q", got)
	}
	// a person's title stays, an empty conversation gets one
	r.say(empty.ID, "third question")
	if c := must(t, func() (Conversation, error) { return r.app.Conversation(ctx, empty.ID) }); c.Title != "third question" || c.Model != "fake" || c.Working {
		t.Errorf("%+v", c)
	}
	found := must(t, func() ([]Conversation, error) { return r.app.Conversations(ctx, Query{Search: "lighthouse"}) })
	if len(found) != 1 || found[0].ID != first || !strings.Contains(found[0].Snippet, "about lighthouses") || found[0].Message == "" {
		t.Errorf("found %+v", found)
	}
	if found = must(t, func() ([]Conversation, error) { return r.app.Conversations(ctx, Query{Search: "own name"}) }); len(found) != 1 || found[0].Snippet != "" {
		t.Errorf("found by its title %+v", found)
	}
	check(t, r.app.Archive(ctx, second, true))
	if got := titles(must(t, func() ([]Conversation, error) { return r.app.Conversations(ctx, Query{}) })); strings.Contains(got, "own") {
		t.Errorf("the archive is in the list: %q", got)
	}
	if got := titles(must(t, func() ([]Conversation, error) { return r.app.Conversations(ctx, Query{Archived: true}) })); got != "my own name" {
		t.Errorf("the archive is %q", got)
	}
	r.until("it is told", func() bool {
		return r.changed(first, "pinned") && r.changed(second, "title") && r.changed(second, "archived") && r.changed(empty.ID, "created")
	})
	for _, err := range []error{r.app.Rename(ctx, "c_none", "x"), r.app.Pin(ctx, "c_none", true)} {
		if Explain(err).Key != "no_conversation" {
			t.Errorf("%v", err)
		}
	}
}

func TestDeletingAndBringingBack(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{"s": self(t, "scripted")}, say("one"), calls("never", "{}"))
	kept, gone := r.say("", "kept"), must(t, func() (Conversation, error) { return r.app.NewConversation(ctx, false) }).ID
	undo := must(t, func() (Undo, error) { return r.app.Delete(ctx, kept) })
	if got := must(t, func() ([]Conversation, error) { return r.app.Conversations(ctx, Query{Search: "kept"}) }); len(got) != 0 {
		t.Error("it is found in the bin")
	}
	if _, err := r.app.Messages(ctx, kept, 0, 0); err == nil {
		t.Error("it can be read in the bin")
	}
	check(t, undo.Undo(ctx))
	if undo.Undo(ctx) == nil {
		t.Error("it was brought back twice")
	}
	if got := r.messages(kept); len(got) != 2 {
		t.Errorf("%d messages came back", len(got))
	}
	// what waits is withdrawn, and the end of the program erases
	turn := r.send(Draft{Conversation: gone, Text: "call"})
	r.waiting()
	must(t, func() (Undo, error) { return r.app.Delete(ctx, gone) })
	if state := r.done(turn); state != "stopped" || len(r.app.Waiting().List()) != 0 {
		t.Errorf("the turn is %s, %d wait", state, len(r.app.Waiting().List()))
	}
	r.reopen()
	if _, err := r.app.db.Conversation(ctx, gone); err == nil {
		t.Error("it is still there after a restart")
	}
	if _, err := r.app.db.Conversation(ctx, kept); err != nil {
		t.Error(err)
	}
	r.holds()
}

// holds fails the test where the record does not verify.
func (r *rig) holds() {
	r.t.Helper()
	if v, err := r.app.Journal().Verify(context.Background()); err != nil || !v.OK {
		r.t.Errorf("the record does not hold: %+v, %v", v, err)
	}
}

// When the time to bring it back is over a conversation is erased while the program runs.
func TestErasingWhenTheTimeIsOver(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{"s": self(t, "scripted")}, calls("echo", `{"text":"hello"}`), say("one"))
	turn := r.send(Draft{Text: "gone"})
	id := turn.Conversation()
	r.answer(consent.Answer{Action: consent.Allow})
	r.done(turn)
	undo := must(t, func() (Undo, error) { return r.app.Delete(ctx, id) })
	r.app.desk.mu.Lock()
	r.app.desk.bin[id].Reset(time.Millisecond)
	r.app.desk.mu.Unlock()
	r.until("it is erased", func() bool { return r.changed(id, "erased") })
	if err := undo.Undo(ctx); err == nil || Explain(err).Key != "erased" {
		t.Errorf("what is erased came back: %v", err)
	}
	if _, err := r.app.db.Conversation(ctx, id); err == nil {
		t.Error("it is still stored")
	}
	r.holds()
}

// A temporary conversation leaves its journal and nothing else.
func TestTemporaryConversations(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{"s": self(t, "scripted")}, calls("echo", `{"text":"word-for-word"}`), say("ok"))
	c := must(t, func() (Conversation, error) { return r.app.NewConversation(ctx, true) })
	turn := r.send(Draft{Conversation: c.ID, Text: "only-said-here"})
	r.answer(consent.Answer{Action: consent.Allow})
	r.done(turn)
	m := r.messages(c.ID)
	record := m[1].Calls[0].Record
	r.reopen()
	if _, err := r.app.Conversation(ctx, c.ID); err == nil {
		t.Error("it is still there")
	}
	res := must(t, func() (CallResult, error) { return r.app.CallResult(ctx, record) })
	if res.Erased || len(res.Content) != 1 || res.Content[0].Text != "word-for-word" {
		t.Errorf("its journal is %+v", res)
	}
	if v, err := r.app.Journal().Verify(ctx); err != nil || !v.OK {
		t.Errorf("%+v, %v", v, err)
	}
}

// A tool card can be drawn after a restart from what is stored.
func TestMessagesAfterARestart(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{"s": self(t, "scripted")},
		scriptedmodel.Step{Say: "look", Calls: []scriptedmodel.Call{{Tool: "echo", Arguments: json.RawMessage(`{"text":"a"}`)}, {Tool: "slow"}, {Tool: "echo", Arguments: json.RawMessage(`{"text":"b"}`)}}},
		say("done"))
	turn := r.send(Draft{Text: "go", Attach: []Attachment{{Kind: "file", Name: "n.txt", Text: "content"}}})
	r.until("three wait", func() bool { return len(r.app.Waiting().List()) == 3 })
	id := turn.Conversation()
	during := r.messages(id)
	if len(during) != 2 || len(during[1].Calls) != 3 || during[1].Calls[0].State != CallWaiting || during[1].Calls[0].Record == 0 {
		t.Fatalf("while they wait: %+v", during)
	}
	if c := must(t, func() (Conversation, error) { return r.app.Conversation(ctx, id) }); !c.Working || c.Waiting != 3 {
		t.Errorf("%+v", c)
	}
	for _, i := range r.app.Waiting().List() {
		a := consent.Answer{Action: consent.Allow}
		if i.Call.Arguments() == `{"text":"b"}` {
			a = consent.Answer{Action: consent.Deny, Reason: "not that one"}
		}
		if i.Call.Arguments() == `{"text":"a"}` {
			a.Arguments = `{"text":"edited"}`
		}
		check(t, r.app.Waiting().Answer(i.ID, i.Hash, a))
	}
	r.done(turn)
	before := r.messages(id)
	r.reopen()
	after := r.messages(id)
	if fmt.Sprintf("%+v", before) != fmt.Sprintf("%+v", after) {
		t.Errorf("before the restart\n%+v\nafter\n%+v", before, after)
	}
	if len(after) != 3 || after[0].Attachments[0].Text != "content" || after[2].Text != "done" {
		t.Fatalf("%+v", after)
	}
	c := after[1].Calls
	if c[0].Edited != `{"text":"edited"}` || c[0].Arguments != `{"text":"a"}` || c[0].Outcome != "ok" || c[0].By != "person" || c[0].Decision != "allowed" || c[0].Effect != "done" || !strings.Contains(c[0].Text, "edited") || c[0].State != CallDone {
		t.Errorf("the first call is %+v", c[0])
	}
	if c[1].Outcome != "ok" || c[1].Seconds < 0.05 || c[1].Text != "done" { // it takes 50 ms
		t.Errorf("the second call is %+v", c[1])
	}
	if c[2].Decision != "denied" || c[2].Reason != "not that one" || c[2].Effect != "none" || c[2].Server != "s" || c[2].Tool != "echo" {
		t.Errorf("the third call is %+v", c[2])
	}
	text := must(t, func() (string, error) { return r.app.ExportConversation(ctx, id) })
	for _, part := range []string{"# go", "> look", "**Call** echo on s, record ", "allowed by person, ok", "> {\"text\":\"edited\"}"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in the export:\n%s", part, text)
		}
	}
	page := must(t, func() ([]ChatMessage, error) { return r.app.Messages(ctx, id, after[2].Seq, 1) })
	if len(page) != 1 || page[0].ID != after[1].ID || len(page[0].Calls) != 3 {
		t.Errorf("a page before the last is %+v", page)
	}
	one := must(t, func() (ChatMessage, error) { return r.app.Message(ctx, id, after[1].ID) })
	if fmt.Sprintf("%+v", one) != fmt.Sprintf("%+v", after[1]) {
		t.Errorf("by its id it is %+v", one)
	}
}
