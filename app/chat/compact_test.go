package chat

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"steward/app/event"
	"steward/app/journal"
	"steward/llm/tokens"
	"steward/storage"
	"steward/testdata/scriptedmodel"
)

// talk makes a conversation of three turns, with a call in the first.
func talk(t *testing.T, steps ...scriptedmodel.Step) (*rig, string) {
	t.Helper()
	script := append([]scriptedmodel.Step{
		scriptedmodel.CallTool("echo", `{"text":"FIRST-RESULT `+strings.Repeat("x ", 400)+`"}`), scriptedmodel.Say("FIRST-ANSWER"), scriptedmodel.Say("SECOND-ANSWER"), scriptedmodel.Say("THIRD-ANSWER"),
	}, steps...)
	r := newRig(t, rigOptions{policy: allowAll(), script: scriptedmodel.Script{Steps: script}})
	r.server("s", "--only", "echo")
	res := r.ask("FIRST-QUESTION")
	r.want(res, Finished)
	for _, q := range []string{"SECOND-QUESTION", "THIRD-QUESTION"} {
		r.want(r.finish(r.send(Turn{Conversation: res.Conversation, Text: q})), Finished)
	}
	return r, res.Conversation
}

func (r *rig) compact(conversation string) (string, error) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return r.engine.Compact(ctx, conversation)
}

func contains(t *testing.T, what, text string, want, not []string) {
	t.Helper()
	for _, s := range want {
		if !strings.Contains(text, s) {
			t.Errorf("%s lacks %q:\n%s", what, s, text)
		}
	}
	for _, s := range not {
		if strings.Contains(text, s) {
			t.Errorf("%s holds %q:\n%s", what, s, text)
		}
	}
}

func TestTheOlderPartIsSummedUpAndCanBeTakenBack(t *testing.T) {
	t.Parallel()
	r, conv := talk(t, scriptedmodel.Say("THE-NOTE"), scriptedmodel.Say("FOURTH-ANSWER"), scriptedmodel.Say("FIFTH-ANSWER"))
	before := r.messages(conv)
	id, err := r.compact(conv)
	if err != nil {
		t.Fatal(err)
	}
	contains(t, "the request for the note", texts(r.request(5)), []string{"FIRST-QUESTION", "s__echo", "FIRST-RESULT", "FIRST-ANSWER", "SECOND-ANSWER"}, []string{"THIRD-QUESTION"})
	after := r.messages(conv)
	if len(after) != len(before)+1 || !reflect.DeepEqual(after[:len(before)], before) {
		t.Fatalf("the messages are not as they were: %d, then %d", len(before), len(after))
	}
	if spent, ok := SpentOn(after[len(before)]); !ok || spent.Model != "fake" || spent.Input == 0 || Noted(after[len(before)]) == 0 {
		t.Errorf("with the note is kept %+v, of %d messages", spent, Noted(after[len(before)]))
	}
	r.want(r.finish(r.send(Turn{Conversation: conv, Text: "FOURTH-QUESTION"})), Finished)
	contains(t, "the next request", texts(r.request(6)), []string{"THE-NOTE", "THIRD-QUESTION", "THIRD-ANSWER", "FOURTH-QUESTION"}, []string{"FIRST-QUESTION", "FIRST-RESULT", "SECOND-ANSWER"})
	found := false
	for _, rec := range r.recorded(journal.KindModel, 6) {
		d, err := r.journal.Show(context.Background(), rec.Record)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range d.Events {
			found = found || strings.Contains(string(e.Data), "compaction")
		}
	}
	if !found {
		t.Error("no record says that a model was asked for a note")
	}
	if err := r.engine.TakeBack(context.Background(), conv, id); err != nil {
		t.Fatal(err)
	}
	r.want(r.finish(r.send(Turn{Conversation: conv, Text: "FIFTH-QUESTION"})), Finished)
	contains(t, "the request after taking the note back", texts(r.request(7)), []string{"FIRST-QUESTION", "FIRST-RESULT", "FOURTH-ANSWER"}, []string{"THE-NOTE"})
	if err := r.engine.TakeBack(context.Background(), conv, before[0].ID); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("a message of the person was taken back as if it were a note: %v", err)
	}
}

// A second note takes up the first one.
func TestANoteIsWorkedIntoTheNextOne(t *testing.T) {
	t.Parallel()
	r, conv := talk(t, scriptedmodel.Say("NOTE-ONE"), scriptedmodel.Say("FOURTH-ANSWER"), scriptedmodel.Say("NOTE-TWO"), scriptedmodel.Say("END"))
	if _, err := r.compact(conv); err != nil {
		t.Fatal(err)
	}
	r.want(r.finish(r.send(Turn{Conversation: conv, Text: "FOURTH-QUESTION"})), Finished)
	if _, err := r.compact(conv); err != nil {
		t.Fatal(err)
	}
	contains(t, "the second request for a note", texts(r.request(7)), []string{"NOTE-ONE", "THIRD-QUESTION"}, []string{"FIRST-QUESTION", "FOURTH-QUESTION"})
	r.want(r.finish(r.send(Turn{Conversation: conv, Text: "LAST"})), Finished)
	contains(t, "the next request", texts(r.request(8)), []string{"NOTE-TWO", "FOURTH-QUESTION"}, []string{"NOTE-ONE", "THIRD-QUESTION"})
}

func TestASummaryThatFailsLeavesEverythingAsItWas(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]scriptedmodel.Step{
		"refused":      scriptedmodel.Fail(400, `{"error":{"message":"no","type":"invalid_request_error"}}`),
		"cut":          scriptedmodel.Reply(scriptedmodel.Text("half a no"), scriptedmodel.Finish("length"), scriptedmodel.Done()),
		"broken off":   scriptedmodel.Reply(scriptedmodel.Text("half a no")),
		"empty":        scriptedmodel.Say(" "),
		"longer":       scriptedmodel.Say(strings.Repeat("longer than what it stands for ", 400)),
		"calls a tool": scriptedmodel.CallTool("echo", `{}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, conv := talk(t, step, scriptedmodel.Say("FOURTH-ANSWER"))
			before := r.messages(conv)
			if id, err := r.compact(conv); err == nil {
				t.Fatalf("it was compacted: %s", id)
			}
			if after := r.messages(conv); !reflect.DeepEqual(after, before) {
				t.Errorf("the messages changed")
			}
			r.want(r.finish(r.send(Turn{Conversation: conv, Text: "FOURTH-QUESTION"})), Finished)
			contains(t, "the next request", texts(r.request(6)), []string{"FIRST-QUESTION", "FIRST-RESULT", "FOURTH-QUESTION"}, nil)
		})
	}
}

func TestCompactingIsStoppedAndKeepsOutOfATurn(t *testing.T) {
	t.Parallel()
	hang := scriptedmodel.Step{Parts: []scriptedmodel.Part{scriptedmodel.Text("half")}, End: "hang"}
	r, conv := talk(t, hang, hang, scriptedmodel.Say("FOURTH-ANSWER"))
	before := r.messages(conv)
	failed := make(chan error, 1)
	go func() { _, err := r.compact(conv); failed <- err }()
	for len(r.model.Requests()) < 5 {
		time.Sleep(time.Millisecond)
	}
	if _, err := r.compact(conv); !errors.Is(err, ErrWorking) {
		t.Errorf("a second one at the same time: %v", err)
	}
	r.engine.Running(conv).Stop()
	if err := <-failed; err == nil {
		t.Error("it was stopped, and gives no error")
	}
	run := r.send(Turn{Conversation: conv, Text: "FOURTH-QUESTION"})
	for len(r.model.Requests()) < 6 {
		time.Sleep(time.Millisecond)
	}
	if _, err := r.compact(conv); !errors.Is(err, ErrWorking) {
		t.Errorf("in the middle of a turn: %v", err)
	}
	run.Stop()
	if res := r.finish(run); res.State != Stopped {
		t.Errorf("%+v", res)
	}
	if after := r.messages(conv); !reflect.DeepEqual(after[:len(before)], before) {
		t.Error("the messages changed")
	}
	var states []string
	for _, e := range r.told() {
		if c, ok := e.(event.Compaction); ok {
			states = append(states, c.State)
		}
	}
	if got := strings.Join(states, " "); got != "started stopped" {
		t.Errorf("told was %q", got)
	}
}

func (r *rig) told() []event.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]event.Event{}, r.events...)
}

// A note holds in every branch that has all it stands for, and in no other.
func TestANoteHoldsInItsBranches(t *testing.T) {
	t.Parallel()
	r, conv := talk(t, scriptedmodel.Say("THE-NOTE"), scriptedmodel.Say("A"), scriptedmodel.Say("B"), scriptedmodel.Say("C"))
	rows := r.messages(conv)
	var people []storage.Message
	for _, m := range rows {
		if m.Role == storage.RoleUser {
			people = append(people, m)
		}
	}
	if _, err := r.compact(conv); err != nil {
		t.Fatal(err)
	}
	parent := func(m storage.Message) string { return NewTree(rows).Parent(m.ID) }
	r.want(r.finish(r.send(Turn{Conversation: conv, Again: people[2].ID})), Finished)
	contains(t, "the last answer again", texts(r.request(6)), []string{"THE-NOTE", "THIRD-QUESTION"}, []string{"FIRST-QUESTION"})
	r.want(r.finish(r.send(Turn{Conversation: conv, Text: "THIRD-EDITED", Parent: parent(people[2])})), Finished)
	contains(t, "the last message edited", texts(r.request(7)), []string{"THE-NOTE", "THIRD-EDITED"}, []string{"FIRST-QUESTION", "THIRD-QUESTION"})
	r.want(r.finish(r.send(Turn{Conversation: conv, Text: "SECOND-EDITED", Parent: parent(people[1])})), Finished)
	contains(t, "an older message edited", texts(r.request(8)), []string{"FIRST-QUESTION", "FIRST-RESULT", "SECOND-EDITED"}, []string{"THE-NOTE", "SECOND-QUESTION"})
}

func TestOneTurnIsNotCompacted(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{script: scriptedmodel.Script{Steps: []scriptedmodel.Step{scriptedmodel.Say("hi")}}})
	res := r.ask("hello")
	r.want(res, Finished)
	if _, err := r.compact(res.Conversation); !isNothing(err) {
		t.Errorf("%v", err)
	}
}

// A note that stands for messages further back than a request is usually built from holds all the same.
func TestANoteHoldsHoweverFarBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{script: scriptedmodel.Script{Steps: []scriptedmodel.Step{scriptedmodel.Say("one"), scriptedmodel.Say("two")}}})
	res := r.ask("FIRST-QUESTION")
	r.want(res, Finished)
	ctx := context.Background()
	first := r.messages(res.Conversation)[1].ID
	last := first
	err := r.store.Write(ctx, func(tx *storage.Tx) error {
		for i := range maxHistory {
			role := []string{storage.RoleUser, storage.RoleAssistant}[i%2]
			id := fmt.Sprintf("m_%d", i)
			m := storage.Message{ID: id, Conversation: res.Conversation, Parent: last, Role: role, State: storage.StateComplete, Text: id}
			if err := tx.PutMessage(m); err != nil {
				return err
			}
			last = id
		}
		note := row("m_note", first, storage.RoleNote)
		note.Conversation, note.Text = res.Conversation, "THE-NOTE"
		return tx.PutMessage(note)
	})
	if err != nil {
		t.Fatal(err)
	}
	r.want(r.finish(r.send(Turn{Conversation: res.Conversation, Text: "LAST"})), Finished)
	contains(t, "the request", texts(r.request(2)), []string{"THE-NOTE", "m_0", "LAST"}, []string{"FIRST-QUESTION"})
}

// The copy of a conversation keeps its note in its place.
func TestACopyKeepsTheNote(t *testing.T) {
	t.Parallel()
	path := []storage.Message{row("u1", Root, storage.RoleUser), row("a1", "u1", storage.RoleAssistant), row("u2", "a1", storage.RoleUser), row("a2", "u2", storage.RoleAssistant), row("n", "a1", storage.RoleNote)}
	copies := Copy(path, "c_2")
	tree := NewTree(copies)
	got := Build(Input{Messages: tree.Path(tree.Leaf("")), Budget: roomy}).Messages
	if len(got) != 2 || !strings.Contains(got[0].Text, "\nn\n") || !strings.HasSuffix(got[0].Text, "u2") {
		t.Errorf("%+v", got)
	}
}

// Whatever a note stands for, and wherever it was written, a request is one that strict endpoints
// take, and nothing is in it twice.
func TestARequestWithNotesIsValid(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		var rows []storage.Message
		var at []string
		for i := range 1 + rng.IntN(12) {
			id := fmt.Sprintf("m%d", i)
			switch rng.IntN(3) {
			case 0:
				rows = append(rows, row(id, "", storage.RoleUser))
			case 1:
				rows = append(rows, row(id, "", storage.RoleAssistant))
			default:
				var calls []storedCall
				for k := range 1 + rng.IntN(3) {
					calls = append(calls, call(fmt.Sprintf("k%d_%d", i, k), "w", "{}"))
				}
				rows = append(rows, row(id, "", storage.RoleAssistant, calls...))
				for _, c := range calls {
					if rng.IntN(4) > 0 {
						rows = append(rows, answer("t"+c.ID, c.ID))
					}
				}
			}
			at = append(at, id)
			if rng.IntN(4) == 0 {
				rows = append(rows, row("n"+id, at[rng.IntN(len(at))], storage.RoleNote))
			}
		}
		tree := NewTree(rows)
		path := tree.Path(tree.Leaf(""))
		r := Build(Input{System: "sys", Messages: path, Budget: roomy})
		valid(t, r)
		notes := 0
		for _, m := range r.Messages {
			notes += strings.Count(m.Text, noteBegins)
		}
		if notes > 1 {
			t.Fatalf("%d notes in one request", notes)
		}
		weight := func(m storage.Message) int { return tokens.Rough(m.Text) }
		if from, end, ok := foldable(path, weight, rng.IntN(30)); ok {
			if end <= from || end >= len(path) || path[end].Role != storage.RoleUser {
				t.Fatalf("it would fold %d to %d of %d rows", from, end, len(path))
			}
		}
	}
}
