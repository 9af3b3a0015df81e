package secrets

import (
	"encoding/json"
	"strings"
)

// Known is [Redactor.Redact] for learnt values alone, without what only has the form of a
// key: for text in which a form proves nothing, such as the code that a model writes.
func (r *Redactor) Known(s string) string {
	m := r.values.Load()
	if m == nil {
		return s
	}
	return seen(s, func(s string) string { return m.known(s, 0) })
}

// KnownJSON is [Redactor.Known] for a text that is one JSON object and must stay one.
func (r *Redactor) KnownJSON(object string) string { return keepJSON(object, r.Known(object)) }

// RedactJSON is [Redactor.Redact] for a text that is one JSON object and must stay one.
func (r *Redactor) RedactJSON(object string) string { return keepJSON(object, r.Redact(object)) }

// keepJSON puts what is no JSON any more, since a number or a bracket was replaced, into an
// object as text.
func keepJSON(before, after string) string {
	if before == after || json.Valid([]byte(after)) {
		return after
	}
	text, err := json.Marshal(map[string]string{"redacted": after})
	if err != nil {
		return `{"redacted":""}` // never: a map of strings can always be written
	}
	return string(text)
}

// known replaces from `from` on until nothing is left to replace, and returns what stands
// behind it.
func (m *matcher) known(s string, from int) string {
	before, s := s[:from], s[from:]
	for range maxPasses {
		next := m.replace(before+s, len(before))
		if next == s {
			break
		}
		s = next
	}
	return s
}

// Stream is [Redactor.Known] for a text that comes in pieces: the pieces it gives add up
// to the whole text redacted, wherever it was cut. It holds back an end that may be the
// beginning of a value, at most as many bytes as the longest form of one has. It belongs
// to one goroutine.
type Stream struct {
	r    *Redactor
	last string // the byte before what is held, which decides whether a short word begins
	held string
}

// Stream begins a text.
func (r *Redactor) Stream() *Stream { return &Stream{r: r} }

// Push takes the next piece and returns what can be shown by now; it may be empty.
func (s *Stream) Push(text string) string {
	text = s.last + s.held + text
	m := s.r.values.Load()
	end := len(text)
	if m != nil {
		end = m.settled(text, len(s.last))
	}
	return s.take(m, text, end)
}

// Rest returns what is held, since nothing follows.
func (s *Stream) Rest() string {
	text := s.last + s.held
	return s.take(s.r.values.Load(), text, len(text))
}

func (s *Stream) take(m *matcher, text string, end int) string {
	from := len(s.last)
	out := text[from:end]
	if m != nil && out != "" {
		out = m.known(text[:end], from)
	}
	s.held = strings.Clone(text[end:])
	if end > from {
		s.last = strings.Clone(text[end-1 : end])
	}
	return out
}

// settled returns where the end begins that more text could make part of a value.
func (m *matcher) settled(s string, from int) int {
	for i := from; i < len(s); {
		if m.open(s[i:]) {
			return i
		}
		end := m.written(s, i)
		if end == 0 && i+1 < len(s) {
			_, end, _ = m.match(uint16(s[i])<<8|uint16(s[i+1]), s, i, from)
		}
		i = max(i+1, end)
	}
	return len(s)
}

// open says whether rest could be the beginning of a value, or a whole short one that
// counts only where no word goes on.
func (m *matcher) open(rest string) bool {
	if len(rest) == 1 {
		return m.firsts[rest[0]]
	}
	key := uint16(rest[0])<<8 | uint16(rest[1])
	if m.pairs[key/64]&(1<<(key%64)) == 0 {
		return false
	}
	for _, r := range m.rules[key] {
		if len(rest) < len(r.anchor) && strings.HasPrefix(r.anchor, rest) || r.word && rest == r.anchor {
			return true
		}
	}
	return false
}
