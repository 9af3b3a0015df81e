package chat

import (
	"slices"
	"strings"

	"steward/app"
	"steward/app/event"
)

// started begins an answer.
func (p *presenter) started(e event.MessageStarted) {
	p.working = true
	if m := p.find(e.ID); m != nil {
		if m.streaming() {
			p.current = m
		}
		return
	}
	p.endCurrent(stateComplete)
	p.current = &message{ChatMessage: app.ChatMessage{ID: e.ID, Role: roleAssistant, State: stateStreaming, Model: e.Model}}
	p.messages = append(p.messages, p.current)
	p.moved = true
}

// streamTo is the answer that pieces belong to; one that is only known by them where it was not announced.
func (p *presenter) streamTo(id string) *message {
	if p.current == nil || id != nameless && p.current.ID != id {
		p.started(event.MessageStarted{Conversation: p.conversation, ID: id})
	}
	if p.current == nil || id != nameless && p.current.ID != id { // it is complete already: a piece that came late
		return &message{ChatMessage: app.ChatMessage{ID: id, State: stateComplete}}
	}
	return p.current
}

// piece puts a piece of an answer where it belongs: behind at bytes of it. What is there already is left out; where
// something before it is not, because the conversation was opened in the middle, the answer is read anew with all that
// came until then.
func (p *presenter) piece(kind rowKind, id string, at int, words string) want {
	m := p.streamTo(id)
	if !m.streaming() {
		return want{}
	}
	to, have := &m.text, len(m.Text)+m.text.Len()
	if kind == rowReasoning {
		to, have = &m.reasoning, len(m.Reasoning)+m.reasoning.Len()
	}
	switch {
	case at > have:
		if m.missed {
			return want{}
		}
		m.missed = true
		return want{message: id}
	case at+len(words) <= have:
		return want{}
	}
	to.WriteString(words[have-at:])
	p.streamed(kind, m)
	return want{}
}

func (p *presenter) streamed(kind rowKind, m *message) {
	key := keyOf(kind, m.ID)
	p.touched[key] = true
	if !slices.ContainsFunc(p.rows, func(r row) bool { return r.key == key }) {
		p.moved = true
	}
}

// ahead keeps of what was heard the part that a reading does not have; of one that is complete, nothing.
func ahead(to *strings.Builder, heard, read string, streaming bool) {
	to.Reset()
	if streaming && len(heard) > len(read) {
		to.WriteString(heard[len(read):])
	}
}

// resume goes on with an answer that was heard while the conversation was read, and keeps one that began meanwhile.
func (p *presenter) resume(live *message) {
	if live == nil || !p.working || live.ID == nameless {
		return
	}
	m := p.find(live.ID)
	if m == nil {
		p.messages = append(p.messages, live)
		p.current = live
		return
	}
	if m.streaming() {
		ahead(&m.text, live.words(), m.Text, true)
		ahead(&m.reasoning, live.thoughts(), m.Reasoning, true)
	}
}
