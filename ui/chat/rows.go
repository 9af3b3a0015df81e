package chat

import (
	"cmp"
	"slices"

	"steward/app"
	"steward/app/consent"
)

var kindNames = map[rowKind]string{
	rowUser: "user:", rowReasoning: "reasoning:", rowAnswer: "answer:", rowCall: "call:", rowItem: "item:",
	rowEnding: "ending:", rowActions: "actions:", rowThinking: "thinking:", rowNotice: "notice:", rowTop: "top:", rowNote: "note:", rowFull: "full:",
}

func keyOf(kind rowKind, id string) string { return kindNames[kind] + id }

// flush works the rows out anew and says what differs from before. While an answer grows, that is one row.
func (p *presenter) flush() changes {
	var c changes
	if p.moved {
		old := p.rows
		p.rows = p.arrange()
		c = differ(old, p.rows)
		for i := range old {
			if i < len(p.rows) && old[i].last != p.rows[i].last {
				p.touched[p.rows[i].key] = true
			}
		}
	}
	if !c.reset {
		kept := len(p.rows) - c.added
		for i := range p.rows[:kept] {
			if p.touched[p.rows[i].key] {
				c.touched = append(c.touched, i)
			}
		}
	}
	p.moved = false
	clear(p.touched)
	return c
}

// differ compares two rounds of rows by their keys.
func differ(old, now []row) changes {
	if len(now) < len(old) {
		return changes{reset: true}
	}
	for i := range old {
		if old[i].key != now[i].key {
			return changes{reset: true}
		}
	}
	return changes{from: len(old), added: len(now) - len(old)}
}

// arrange puts what is known in order.
func (p *presenter) arrange() []row {
	var out []row
	items := slices.Clone(p.items)
	take := func(match func(consent.Item) bool) {
		items = slices.DeleteFunc(items, func(i consent.Item) bool {
			if !match(i) {
				return false
			}
			out = append(out, row{kind: rowItem, key: keyOf(rowItem, i.ID), item: &i})
			return true
		})
	}
	for n, m := range p.messages {
		if m.Role == roleUser {
			out = append(out, row{kind: rowUser, key: keyOf(rowUser, m.ID), message: m})
			continue
		}
		if m.Role == roleNote {
			out = append(out, row{kind: rowNote, key: keyOf(rowNote, m.ID), message: m})
			continue
		}
		if m.thoughts() != "" {
			out = append(out, row{kind: rowReasoning, key: keyOf(rowReasoning, m.ID), message: m})
		}
		if m.words() != "" {
			out = append(out, row{kind: rowAnswer, key: keyOf(rowAnswer, m.ID), message: m})
		}
		for i := range m.Calls {
			c := p.held(&m.Calls[i])
			asks := func(i consent.Item) bool { return i.Call != nil && i.Call.ID() == c.ID }
			if !slices.ContainsFunc(items, asks) { // the card of a call that waits says all its line would
				out = append(out, row{kind: rowCall, key: keyOf(rowCall, c.ID), call: c, message: m})
			}
			take(asks)
			take(func(i consent.Item) bool { return slices.Equal(i.Running, []string{c.ID}) })
		}
		if ended(m) && m.Role == roleAssistant {
			if p.end != nil && n == len(p.messages)-1 {
				m.Error, m.remedy = cmp.Or(m.Error, p.end.Error), p.end.remedy
			}
			out = append(out, row{kind: rowEnding, key: keyOf(rowEnding, m.ID), message: m, last: n == len(p.messages)-1 && !p.working})
		}
	}
	if n := len(p.messages); p.end != nil && !p.working && (n == 0 || !ended(p.messages[n-1])) {
		out = append(out, row{kind: rowEnding, key: keyOf(rowEnding, p.end.ID), message: p.end, last: true})
	}
	if n := len(p.messages); n > 0 && !p.working && p.messages[n-1].Role == roleAssistant && !p.messages[n-1].streaming() {
		out = append(out, row{kind: rowActions, key: keyOf(rowActions, p.messages[n-1].ID), message: p.messages[n-1]})
	}
	take(func(consent.Item) bool { return true })
	out = append(out, p.notices...)
	if p.full && !p.working && !p.refused && len(p.messages) > 0 {
		out = append(out, row{kind: rowFull, key: keyOf(rowFull, "")})
	}
	if p.silent() {
		out = append(out, row{kind: rowThinking, key: keyOf(rowThinking, "")})
	}
	if len(out) > 0 {
		out = append([]row{{kind: rowTop, key: keyOf(rowTop, "")}}, out...)
	}
	return out
}

// held shows a call as waiting where its turn asks whether it may go on: it has not begun.
func (p *presenter) held(c *app.CallState) *app.CallState {
	asks := func(i consent.Item) bool { return i.Kind == consent.KindRounds }
	if c.State != callRunning || c.Record != 0 || !slices.ContainsFunc(p.items, asks) {
		return c
	}
	waits := *c
	waits.State = callWaiting
	return &waits
}

// ended says whether an answer stopped before its end.
func ended(m *message) bool {
	switch m.State {
	case stateFailed, stateStopped, stateInterrupted:
		return true
	}
	return m.Error != ""
}

// silent says whether nothing on the screen shows that the turn goes on.
func (p *presenter) silent() bool {
	if !p.working || len(p.items) > 0 {
		return false
	}
	if p.current != nil && (p.current.words() != "" || p.current.thoughts() != "") && len(p.current.Calls) == 0 {
		return false
	}
	for _, m := range p.messages {
		if slices.ContainsFunc(m.Calls, func(c app.CallState) bool { return c.State == callRunning }) {
			return false
		}
	}
	return true
}

// runningCalls names the rows of calls that run and of an answer that reasons, for the clock that counts their time.
func (p *presenter) runningCalls() []int {
	var out []int
	for i, r := range p.rows {
		if r.kind == rowCall && r.call.State == callRunning || r.kind == rowReasoning && !r.message.Thinking.IsZero() && r.message.streaming() {
			out = append(out, i)
		}
	}
	return out
}

// last gives the newest message of a role; nil where there is none.
func (p *presenter) last(role string) *message {
	for i := len(p.messages) - 1; i >= 0; i-- {
		if p.messages[i].Role == role {
			return p.messages[i]
		}
	}
	return nil
}
