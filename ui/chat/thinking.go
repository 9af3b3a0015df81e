package chat

import "time"

// thinking notes that a piece of an answer's reasoning came, or of its text, which ends the reasoning.
func (p *presenter) thinking(id string, on bool) {
	m := p.find(id)
	if m == nil || !m.streaming() {
		return
	}
	switch {
	case on && m.Thinking.IsZero():
		m.Thinking = time.Now()
	case !on && !m.Thinking.IsZero():
		m.Thought += time.Since(m.Thinking)
		m.Thinking = time.Time{}
		p.touched[keyOf(rowReasoning, id)] = true
	}
}
