package chat

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"steward/app/clean"
	"steward/app/event"
	"steward/app/secrets"
	"steward/llm"
	"steward/storage"
)

// viewer publishes an answer while it comes. It belongs to the turn's goroutine.
type viewer struct {
	t             *turn
	saver         *saver
	live          *Live
	text, thought piece
	record        int64 // of the request
}

// piece takes the secrets out of a text that comes in pieces, and makes it safe to show.
type piece struct {
	known *secrets.Stream
	clean cleaner
}

func (v *viewer) on(e llm.Event) {
	bus, conv := v.t.e.o.Bus, v.t.conv.ID
	switch e := e.(type) {
	case llm.TextDelta:
		v.thoughtEnd()
		v.showText(v.text.known.Push(e.Text))
	case llm.ReasoningDelta:
		v.live.thinks(v.t.e.o.Now())
		v.showThought(v.thought.known.Push(e.Text))
	case llm.UsageEvent:
		bus.Publish(event.Usage{Conversation: conv, Input: e.Input, Output: e.Output})
	case llm.Retrying:
		v.t.e.notice(conv, "retrying", "", fmt.Sprintf("The request to the model is sent again in %.0f s: %s", e.After.Seconds(), clean.Clean(v.t.e.o.Redact(e.Reason))))
	case llm.Warning:
		v.t.e.notice(conv, e.Kind, "", clean.Clean(v.t.e.o.Redact(e.Message)))
	}
}

func (v *viewer) showText(s string) {
	v.saver.add(s, "")
	v.tellText(v.text.clean.push(s))
}

func (v *viewer) showThought(s string) {
	v.saver.add("", s)
	v.tellThought(v.thought.clean.push(s))
}

// tellText keeps a piece for who comes later before it is told: who hears of it finds it there.
func (v *viewer) tellText(s string) {
	if s != "" {
		at := v.live.add(&v.live.text, s)
		v.t.e.o.Bus.Publish(event.Text{Conversation: v.t.conv.ID, Text: s, Message: v.live.msg.ID, At: at})
	}
}

func (v *viewer) tellThought(s string) {
	if s != "" {
		at := v.live.add(&v.live.reasoning, s)
		v.t.e.o.Bus.Publish(event.Reasoning{Conversation: v.t.conv.ID, Text: s, Message: v.live.msg.ID, At: at})
	}
}

func (v *viewer) thoughtEnd() {
	v.showThought(v.thought.known.Rest())
	v.tellThought(v.thought.clean.rest())
	if v.live.thought(v.t.e.o.Now()) {
		v.describe()
	}
}

// began is told the record of the request. It is stored with the answer from then on.
func (v *viewer) began(record int64) {
	v.record = record
	v.describe()
}

func (v *viewer) meta(problem string) storedMeta {
	return storedMeta{Error: problem, Request: v.record, Asked: v.t.model, Thought: v.live.Thought().Seconds()}
}

func (v *viewer) describe() {
	raw, err := encode(v.meta(""))
	if err != nil {
		v.t.e.notice(v.t.conv.ID, "storage", "", err.Error())
		return
	}
	v.saver.describe(raw)
}

func (v *viewer) end() {
	v.thoughtEnd()
	v.showText(v.text.known.Rest())
	v.tellText(v.text.clean.rest())
}

// Live is an answer while it comes, as far as it was told. Any goroutine.
type Live struct {
	msg storage.Message

	mu              sync.Mutex
	text, reasoning strings.Builder
	since           time.Time     // of the reasoning that comes now; zero where none does
	thoughtFor      time.Duration // of what came before
}

// thinks notes that a piece of reasoning came.
func (l *Live) thinks(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.since.IsZero() {
		l.since = now
	}
}

// thought notes that the reasoning is over for now; false where there was none.
func (l *Live) thought(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.since.IsZero() {
		return false
	}
	l.thoughtFor += max(now.Sub(l.since), 0)
	l.since = time.Time{}
	return true
}

// Thought is how long the model has reasoned, without what it does at the moment.
func (l *Live) Thought() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.thoughtFor
}

// add puts a piece behind a text and says how long that was before.
func (l *Live) add(to *strings.Builder, s string) (at int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at = to.Len()
	to.WriteString(s)
	return at
}

// Message is the answer so far, cleaned. It may not have been stored yet; Seq is zero then as well as later.
func (l *Live) Message() storage.Message {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.msg
	m.Text, m.Reasoning = l.text.String(), l.reasoning.String()
	return m
}

// Reasoning is how long the model has reasoned in this answer, and since when it does so
// now, zero where it does not.
func (l *Live) Reasoning() (before time.Duration, since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.thoughtFor, l.since
}

// Live gives the answer that comes in a conversation at the moment, or the last of a turn that goes on, which may be
// stored by now; false where there is none.
func (e *Engine) Live(conversation string) (storage.Message, bool) {
	r := e.Running(conversation)
	if r == nil {
		return storage.Message{}, false
	}
	l := r.live.Load()
	if l == nil {
		return storage.Message{}, false
	}
	return l.Message(), true
}

// Reasoning gives for an answer that comes at the moment what [Live.Reasoning] does; all zero for any other.
func (e *Engine) Reasoning(conversation, message string) (before time.Duration, since time.Time) {
	r := e.Running(conversation)
	if r == nil {
		return 0, time.Time{}
	}
	l := r.live.Load()
	if l == nil || l.msg.ID != message {
		return 0, time.Time{}
	}
	return l.Reasoning()
}
