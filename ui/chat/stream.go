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

// place puts each note behind the last message that it stands for, once that is there.
func (p *presenter) place() {
	var notes []*message
	p.messages = slices.DeleteFunc(p.messages, func(m *message) bool {
		if m.Role == roleNote {
			notes = append(notes, m)
		}
		return m.Role == roleNote
	})
	for _, n := range notes {
		i := len(p.messages)
		for i > 0 && (p.messages[i-1].Seq > n.Seq || p.messages[i-1].Seq == 0) {
			i--
		}
		p.messages = slices.Insert(p.messages, i, n)
	}
}

// fills says how far the conversation fills what the model can read; true where that changes what is shown.
func (p *presenter) fills(full, refused bool) bool {
	if p.full == full && p.refused == refused {
		if full {
			p.touched[keyOf(rowFull, "")] = true
		}
		return full
	}
	p.full, p.refused, p.moved = full, refused, true
	for _, r := range p.rows {
		if r.kind == rowEnding {
			p.touched[r.key] = true
		}
	}
	return true
}
