package chat

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"steward/app/consent"
	"steward/app/event"
	"steward/app/journal"
	"steward/storage"
	sm "steward/testdata/scriptedmodel"
)

func TestStopInTheMiddleOfACallLeavesAConversationThatGoesOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{script: strict(
		sm.Step{Calls: []sm.Call{{Tool: "never", ID: "c1"}, {Tool: "echo", ID: "c2", Arguments: raw(`{"text":"x"}`)}}},
		sm.Say("hello"),
	)})
	file := filepath.Join(t.TempDir(), "received")
	r.server("s", "--record", file)
	run := r.send(Turn{Text: "go"})
	items := r.waiting(2)
	r.answer(items[0], consent.Answer{Action: consent.Allow})
	for received := ""; !strings.Contains(received, "tools/call"); time.Sleep(time.Millisecond) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		received = string(data)
	}
	start := time.Now()
	run.Stop()
	res := r.finish(run)
	r.want(res, Stopped)
	if d := time.Since(start); d > 2*time.Second {
		t.Fatalf("stopping took %v", d)
	}
	res = r.finish(r.send(Turn{Conversation: res.Conversation, Text: "hello"}))
	r.want(res, Finished)
	got := r.tools(2)
	if len(got) != 2 || !strings.Contains(got[0], "while it ran") || !strings.HasPrefix(got[1], "Not executed.") {
		t.Fatalf("the model got %q", got)
	}
}

func TestAnotherMessageWithdrawsWhatWaits(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{script: strict(sm.CallTool("echo", `{"text":"x"}`), sm.Say("new"))})
	r.server("s")
	first := r.send(Turn{Text: "go"})
	item := r.waiting(1)[0]
	second := r.send(Turn{Conversation: first.Conversation(), Text: "something else"})
	r.want(r.finish(first), Stopped)
	r.want(r.finish(second), Finished)
	if err := r.gate.Waiting().Answer(item.ID, item.Hash, consent.Answer{Action: consent.Allow}); err == nil {
		t.Fatal("a withdrawn call took an answer")
	}
	if got := r.tools(2); len(got) != 1 || !strings.HasPrefix(got[0], "Not executed.") {
		t.Fatalf("the model got %q", got)
	}
}

func TestStopInTheMiddleOfAStream(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{script: strict(sm.Step{Parts: []sm.Part{sm.Text("half an answer")}, End: "hang"}, sm.Say("whole"))})
	run := r.send(Turn{Text: "go"})
	for !r.saw("half an answe") {
		time.Sleep(time.Millisecond)
	}
	run.Stop()
	res := r.finish(run)
	r.want(res, Stopped)
	m := r.messages(res.Conversation)
	if len(m) != 2 || m[1].Text != "half an answer" || m[1].State != storage.StateStopped {
		t.Fatalf("stored: %+v", m)
	}
	r.want(r.finish(r.send(Turn{Conversation: res.Conversation, Text: "again"})), Finished)
}

func TestStopBetweenAnAnswerAndItsCallsLeavesBothComplete(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{policy: allowAll(), script: strict(sm.CallTool("echo", `{"text":"x"}`), sm.Say("ok"))})
	r.server("s")
	stop := sync.OnceFunc(func() { // at the first look on the clock behind the answer
		r.engine.mu.Lock()
		defer r.engine.mu.Unlock()
		for _, run := range r.engine.running {
			run.Stop()
		}
	})
	r.engine.o.Now = func() time.Time {
		if len(r.model.Requests()) > 0 {
			stop()
		}
		return time.Now()
	}
	res := r.ask("go")
	r.want(res, Stopped)
	m := r.messages(res.Conversation)
	if len(m) != 3 || m[1].State != storage.StateComplete || len(readCalls(m[1])) != 1 || !strings.HasPrefix(m[2].Text, "Not executed.") {
		t.Fatalf("stored: %+v", m)
	}
	if rec := r.records(journal.KindCall); len(rec) != 1 || rec[0].Outcome != "cancelled" || rec[0].Effect != "none" {
		t.Fatalf("recorded: %+v", rec)
	}
	r.want(r.finish(r.send(Turn{Conversation: res.Conversation, Text: "again"})), Finished)
}

func TestWhatThePersonChangesDuringATurnStays(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{script: strict(sm.Step{Parts: []sm.Part{sm.Text("half an answer")}, End: "hang"})})
	run := r.send(Turn{Text: "go"})
	for !r.saw("half an answe") {
		time.Sleep(time.Millisecond)
	}
	ctx := context.Background()
	conv, err := r.store.Conversation(ctx, run.Conversation())
	if err != nil {
		t.Fatal(err)
	}
	conv.Title, conv.Pinned = "a better name", true
	if err := r.store.Write(ctx, func(tx *storage.Tx) error { return tx.PutConversation(conv) }); err != nil {
		t.Fatal(err)
	}
	run.Stop()
	r.want(r.finish(run), Stopped)
	if conv, err = r.store.Conversation(ctx, run.Conversation()); err != nil || conv.Title != "a better name" || !conv.Pinned || conv.Model != "fake" {
		t.Fatalf("stored: %+v, %v", conv, err)
	}
}

func (r *rig) saw(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all strings.Builder
	for _, e := range r.events {
		if d, ok := e.(event.Text); ok {
			all.WriteString(d.Text)
		}
	}
	return strings.Contains(all.String(), text)
}

// Who hears of a turn's end and looks finds that it works no more; else it would be shown at work until something else
// happens.
func TestATurnWhoseEndIsToldWorksNoMore(t *testing.T) {
	t.Parallel()
	const turns = 60
	r := newRig(t, rigOptions{script: sm.Script{Steps: []sm.Step{sm.Say("hello")}, Repeat: true}})
	var wrong, heard atomic.Int32
	cancel := r.bus.Subscribe(func(e event.Event) {
		if e, ok := e.(event.Turn); ok {
			if slices.Contains(r.engine.Working(), e.Conversation) || r.engine.Running(e.Conversation) != nil {
				wrong.Add(1)
			}
			heard.Add(1)
		}
	})
	for range turns {
		r.want(r.finish(r.send(Turn{Text: "go"})), Finished)
	}
	cancel()
	if heard.Load() != turns || wrong.Load() > 0 {
		t.Errorf("%d of %d turns worked after their end", wrong.Load(), heard.Load())
	}
}
