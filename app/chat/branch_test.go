package chat

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"steward/app/event"
	"steward/storage"
	"steward/testdata/scriptedmodel"
)

func row(id, parent, role string, calls ...storedCall) storage.Message {
	m := storage.Message{ID: id, Parent: parent, Role: role, State: storage.StateComplete, Text: id}
	if len(calls) > 0 {
		m.Calls, _ = encode(calls)
	}
	return m
}

func answer(id, callID string) storage.Message {
	return storage.Message{ID: id, Role: storage.RoleTool, CallID: callID, State: storage.StateComplete, Text: id}
}

func pathOf(t Tree, leaf string) string {
	var out []string
	for _, m := range t.Path(leaf) {
		out = append(out, m.ID)
	}
	return strings.Join(out, " ")
}

// Rows without a parent follow the row before them, as all did before there were
// branches; an answer of a tool stays with its call wherever it was written.
func TestTreesOfMessages(t *testing.T) {
	t.Parallel()
	const u, a = storage.RoleUser, storage.RoleAssistant
	tree := NewTree([]storage.Message{
		row("u1", "", u), row("a1", "", a, call("k1", "w", "{}")), answer("t1", "k1"), row("a2", "", a),
		row("u1b", Root, u), row("a1b", "", a, call("k2", "w", "{}")), answer("old", "w"), // older rows name the endpoint's id
		row("a1c", "u1", a), row("u2", "a2", u), row("a3", "u2", a), answer("t2", "k2"),
	})
	for leaf, want := range map[string]string{
		"a2": "u1 a1 t1 a2", "a1b": "u1b a1b old t2", "a1c": "u1 a1c", "a3": "u1 a1 t1 a2 u2 a3", "none": "", "": "",
	} {
		if got := pathOf(tree, leaf); got != want {
			t.Errorf("the branch of %q is %q, want %q", leaf, got, want)
		}
	}
	for id, want := range map[string]string{"": "a3", "gone": "a3", "a1c": "a1c", "t1": "a1"} {
		if got := tree.Leaf(id); got != want {
			t.Errorf("the leaf of %q is %q, want %q", id, got, want)
		}
	}
	for id, want := range map[string]string{"u1": "u1 u1b", "a1": "a1 a1c", "a3": "a3", "t1": "", "gone": ""} {
		if got := strings.Join(tree.Versions(id), " "); got != want {
			t.Errorf("the versions of %q are %q, want %q", id, got, want)
		}
	}
	for id, want := range map[string]string{"u1": "a3", "a1": "a3", "a1c": "a1c", "u1b": "a1b", "a3": "a3"} {
		if got := tree.End(id); got != want {
			t.Errorf("the end below %q is %q, want %q", id, got, want)
		}
	}
	// a row that names itself, or two that name each other, do not hang the program
	pathOf(NewTree([]storage.Message{row("x", "x", u)}), "x")
	pathOf(NewTree([]storage.Message{row("x", "y", u), row("y", "x", a)}), "x")
}

func texts(b []body) string {
	var out []string
	for _, m := range b {
		if m.Role != "system" {
			out = append(out, m.text())
		}
	}
	return strings.Join(out, "|")
}

// An edited message and a new answer go to the model with their own branch alone, and
// nothing of the other branches is lost.
func TestBranchesReachTheModel(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{policy: allowAll(), script: scriptedmodel.Script{Strict: true, Steps: []scriptedmodel.Step{
		{Say: "one"}, {Say: "two"}, {Say: "edited"}, {Say: "again"}, {Say: "on"},
	}}})
	first := r.ask("first")
	r.want(first, Finished)
	id := first.Conversation
	r.want(r.finish(r.send(Turn{Conversation: id, Text: "second"})), Finished)
	m := r.messages(id)
	r.want(r.finish(r.send(Turn{Conversation: id, Text: "second, changed", Parent: m[1].ID})), Finished)
	if got := texts(r.request(3)); got != "first|one|second, changed" {
		t.Errorf("after an edit the model got %s", got)
	}
	r.want(r.finish(r.send(Turn{Conversation: id, Again: m[0].ID})), Finished)
	if got := texts(r.request(4)); got != "first" {
		t.Errorf("asked again the model got %s", got)
	}
	r.want(r.finish(r.send(Turn{Conversation: id, Text: "go on"})), Finished)
	if got := texts(r.request(5)); got != "first|again|go on" {
		t.Errorf("after that the model got %s", got)
	}
	all := r.messages(id)
	if len(all) != 9 {
		t.Fatalf("%d messages are stored", len(all))
	}
	tree := NewTree(all)
	if got := len(tree.Versions(m[1].ID)); got != 2 {
		t.Errorf("the first answer has %d versions", got)
	}
	if _, err := r.engine.Send(context.Background(), Turn{Conversation: id, Text: "x", Parent: "m_none"}); err == nil {
		t.Error("a message was put behind one that is not there")
	}
}

// While a new answer is on its way nothing of the old one is shown; where nothing comes
// of it the old one is shown again.
func TestANewAnswerThatFails(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{script: scriptedmodel.Script{Steps: []scriptedmodel.Step{{Say: "one"}, {Status: 400, Body: "no"}}}})
	first := r.ask("first")
	id, m := first.Conversation, r.messages(first.Conversation)
	shown := func() string {
		c, err := r.store.Conversation(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		tree := NewTree(r.messages(id))
		return pathOf(tree, tree.Leaf(ReadMeta(c).Branch))
	}
	whole := shown()
	during := make(chan string, 1)
	r.model.OnRequest(func(scriptedmodel.Request) {
		select {
		case during <- shown():
		default:
		}
	})
	if res := r.finish(r.send(Turn{Conversation: id, Again: m[0].ID})); res.State != Failed {
		t.Fatalf("the turn is %s", res.State)
	}
	if got := <-during; got != m[0].ID {
		t.Errorf("while it came %q was shown", got)
	}
	if got := shown(); got != whole {
		t.Errorf("after it failed %q is shown, want %q", got, whole)
	}
}

// What somebody else changes in a conversation while a turn ends stays.
func TestARenameDuringATurnStays(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{script: scriptedmodel.Script{Steps: []scriptedmodel.Step{{Say: "one"}, {Say: "two"}}}})
	id := r.ask("first").Conversation
	r.model.OnRequest(func(scriptedmodel.Request) {
		err := r.store.Write(context.Background(), func(tx *storage.Tx) error {
			return Change(tx, id, func(c *storage.Conversation, m *Meta) { c.Title, c.Pinned, m.Named = "mine", true, true })
		})
		if err != nil {
			t.Error(err)
		}
	})
	r.want(r.finish(r.send(Turn{Conversation: id, Text: "more"})), Finished)
	c, err := r.store.Conversation(context.Background(), id)
	if err != nil || c.Title != "mine" || !c.Pinned || !ReadMeta(c).Named {
		t.Errorf("%+v, %v", c, err)
	}
}

// One call is stopped and the turn goes on; the model is told.
func TestOneCallIsStopped(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{policy: allowAll(), script: scriptedmodel.Script{Strict: true, Steps: []scriptedmodel.Step{
		{Calls: []scriptedmodel.Call{{Tool: "never"}}}, {Say: "well"},
	}}})
	r.server("s")
	run := r.send(Turn{Text: "go"})
	id := ""
	for end := time.Now().Add(10 * time.Second); id == "" && time.Now().Before(end); time.Sleep(time.Millisecond) {
		r.mu.Lock()
		for _, e := range r.events {
			if d, ok := e.(event.Decision); ok {
				id = d.Call
			}
		}
		r.mu.Unlock()
	}
	for end := time.Now().Add(10 * time.Second); !r.gate.Stop(id) && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	r.want(r.finish(run), Finished)
	if got := r.tools(2); len(got) != 1 || !strings.Contains(got[0], "stopped this call") {
		t.Errorf("the model was told %q", got)
	}
	if r.gate.Stop(id) {
		t.Error("a call that has ended was stopped")
	}
}

// A conversation in the bin takes no message.
func TestADeletedConversationTakesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{script: scriptedmodel.Script{Steps: []scriptedmodel.Step{{Say: "one"}}}})
	id := r.ask("first").Conversation
	if err := r.store.Write(context.Background(), func(tx *storage.Tx) error {
		return Change(tx, id, func(c *storage.Conversation, _ *Meta) { c.Deleted = time.Now() })
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.engine.Send(context.Background(), Turn{Conversation: id, Text: "x"}); err == nil {
		t.Error("it was sent")
	}
	if slices.Contains(r.engine.Working(), id) {
		t.Error("it works")
	}
}
