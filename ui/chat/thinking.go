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
		m.Thinking = p.clock()
	case !on && !m.Thinking.IsZero():
		m.Thought += max(p.clock().Sub(m.Thinking), 0)
		m.Thinking = time.Time{}
		p.touched[keyOf(rowReasoning, id)] = true
	}
}

func (p *presenter) clock() time.Time {
	if p.now != nil {
		return p.now()
	}
	return time.Now()
}
