package secrets

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"steward/app/clean"
)

// Lengths of learnt values, in bytes.
const (
	minValue = 4 // shorter ones are never looked for: they stand in every text
	minFree  = 6 // shorter ones are found as whole words only, and not encoded
	minLine  = 16
	maxLabel = 4*80 + 4 // see plainLabel
)

// Redactor takes secrets out of text: first the values it has learnt, in
// every form they are likely to appear in, then whatever has the form of a
// key. All methods may be called from any goroutine; none blocks on anything
// but other callers of Learn. The zero value works by form alone.
type Redactor struct {
	learning sync.Mutex
	known    map[string]string // value to label
	values   atomic.Pointer[matcher]
}

// Learn makes a value known: from now on [Redactor.Redact] puts
// [secret:label] in its place, also where it stands JSON-escaped (once or
// twice), URL-encoded, in hex, or in base64 with other text before and after.
// Values under four bytes are ignored. Of a value of several lines each line
// of 16 bytes or more is learnt too.
func (r *Redactor) Learn(label, value string) {
	label = plainLabel(label)
	r.learning.Lock()
	defer r.learning.Unlock()
	if r.known == nil {
		r.known = map[string]string{}
	}
	grew := false
	learn := func(v string) {
		if len(v) < minValue {
			return
		}
		if old, ok := r.known[v]; !ok || old != label {
			r.known[v] = label
			grew = true
		}
	}
	learn(value)
	learn(strings.TrimSpace(value))
	if strings.ContainsAny(value, "\r\n") {
		for line := range strings.Lines(value) {
			if line = strings.TrimSpace(line); len(line) >= minLine {
				learn(line)
			}
		}
	}
	if grew {
		m := newMatcher(r.forms())
		for l := range patterns.labels {
			m.labels[l] = true // what patterns wrote is no text to look into either
		}
		r.values.Store(m)
	}
}

// plainLabel keeps a label harmless inside JSON, HTML and a terminal.
func plainLabel(label string) string {
	label = strings.Map(func(c rune) rune {
		if strings.ContainsRune(`"\[]<>&'`, c) {
			return '_'
		}
		return c
	}, clean.Line(label, 80))
	if label == "" {
		return "unnamed"
	}
	return label
}

// forms lists everything that is looked for.
func (r *Redactor) forms() []rule {
	forms := map[string]string{} // form to label
	short := map[string]string{}
	for value, label := range r.known {
		if len(value) < minFree {
			short[value] = label
			continue
		}
		for _, f := range encodings(value) {
			if old, taken := forms[f]; !taken || label < old {
				forms[f] = label
			}
		}
	}
	var rules []rule
	for form, label := range forms {
		rules = append(rules, rule{anchor: form, label: label, known: true, find: wholeAnchor(form)})
	}
	for form, label := range short {
		if _, taken := forms[form]; !taken {
			rules = append(rules, rule{anchor: form, label: label, known: true, word: true, find: wholeWord(form)})
		}
	}
	return rules
}

func wholeAnchor(form string) func(string, int) (int, int) {
	return func(_ string, at int) (int, int) { return at, at + len(form) }
}

func wholeWord(form string) func(string, int) (int, int) {
	return func(s string, at int) (int, int) {
		end := at + len(form)
		if at > 0 && isWord(s[at-1]) && isWord(form[0]) || end < len(s) && isWord(s[end]) && isWord(form[len(form)-1]) {
			return 0, 0
		}
		return at, end
	}
}

// Redact returns s with [secret:label] in place of every known value and every
// text that has the form of a key. Redacting again changes nothing. It takes
// time linear in len(s), whatever the number of values.
func (r *Redactor) Redact(s string) string {
	m := r.values.Load()
	return seen(s, func(s string) string { return redact(m, s) })
}

// redact replaces what m and the patterns find.
func redact(m *matcher, s string) string {
	for range maxPasses {
		before := s
		if m != nil {
			s = m.replace(s, 0)
		}
		if s = patterns.replace(s, 0); s == before {
			break
		}
	}
	return s
}

// maxPasses bounds the passes of one Redact. What is taken out uncovers what stood
// beside it: a short value counts where it is a whole word, a key where one begins.
const maxPasses = 8

// rule is something to look for: where anchor stands, find gives the part to
// take out, or an empty one.
type rule struct {
	anchor string
	label  string
	fold   bool // letters of either case; the anchor is in lower case
	known  bool // the anchor is a form of a learnt value
	word   bool // and counts as a whole word only
	find   func(s string, at int) (start, end int)
}

// matcher looks for many rules in one pass. A bit for each pair of first bytes
// tells quickly that nothing begins here.
type matcher struct {
	pairs  [1 << 16 / 64]uint64
	rules  map[uint16][]rule // by the first two bytes; the longest anchor first
	firsts [256]bool         // the first bytes of anchors
	labels map[string]bool   // in whose place nothing is looked for any more
}

// newMatcher builds the table; every anchor has at least two bytes.
func newMatcher(rules []rule) *matcher {
	m := &matcher{rules: map[uint16][]rule{}, labels: map[string]bool{}}
	mark := func(key uint16) { m.pairs[key/64] |= 1 << (key % 64) }
	mark(uint16(written[0])<<8 | uint16(written[1]))
	for _, r := range rules {
		m.labels[r.label] = true
		for _, key := range pairs(r) {
			mark(key)
			m.rules[key] = append(m.rules[key], r)
			m.firsts[key>>8] = true
		}
	}
	for _, list := range m.rules {
		slices.SortFunc(list, func(a, b rule) int {
			if d := len(b.anchor) - len(a.anchor); d != 0 {
				return d
			}
			return strings.Compare(a.anchor, b.anchor)
		})
	}
	return m
}

// pairs lists the pairs of bytes that a rule can begin with.
func pairs(r rule) []uint16 {
	variants := func(c byte) []byte {
		if r.fold && 'a' <= c && c <= 'z' {
			return []byte{c, c - 'a' + 'A'}
		}
		return []byte{c}
	}
	var all []uint16
	for _, a := range variants(r.anchor[0]) {
		for _, b := range variants(r.anchor[1]) {
			all = append(all, uint16(a)<<8|uint16(b))
		}
	}
	return all
}

// replace returns what stands in s from `from` on with labels in place of what is found.
// What stands before only decides whether a word begins.
func (m *matcher) replace(s string, from int) string {
	var out strings.Builder
	flat := from
	for i := from; i+1 < len(s); {
		key := uint16(s[i])<<8 | uint16(s[i+1])
		if m.pairs[key/64]&(1<<(key%64)) == 0 {
			i++
			continue
		}
		if end := m.written(s, i); end > 0 {
			i = end
			continue
		}
		start, end, label := m.match(key, s, i, flat)
		if end == 0 {
			i++
			continue
		}
		out.WriteString(s[flat:start])
		out.WriteString(written + label + "]")
		flat, i = end, end
	}
	if flat == from {
		return s[from:]
	}
	out.WriteString(s[flat:])
	return out.String()
}

// match tries the rules at i; what they find never reaches back before flat.
func (m *matcher) match(key uint16, s string, i, flat int) (start, end int, label string) {
	for _, r := range m.rules[key] {
		if len(s)-i < len(r.anchor) {
			continue
		}
		here := s[i : i+len(r.anchor)]
		if here != r.anchor && !(r.fold && strings.EqualFold(here, r.anchor)) {
			continue
		}
		start, end := r.find(s, i)
		if end > start && start >= flat && (r.known || !placeholder(s, start)) {
			return start, end, r.label
		}
	}
	return 0, 0, ""
}

// written begins what stands in the place of a secret.
const written = "[secret:"

// written returns where what an earlier pass wrote at i ends, 0 if nothing did: a value
// such as "token" must not be found in the label. Text that only looks like it, with a
// label that nothing has, is looked into.
func (m *matcher) written(s string, i int) int {
	if !strings.HasPrefix(s[i:], written) {
		return 0
	}
	from := i + len(written)
	size := strings.IndexByte(s[from:min(len(s), from+maxLabel)], ']')
	if size < 0 || !m.labels[s[from:from+size]] {
		return 0
	}
	return from + size + 1
}

// placeholder reports that a secret's name stands here already, not its value.
func placeholder(s string, at int) bool {
	return strings.HasPrefix(s[at:], written) || strings.HasPrefix(s[at:], "${")
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}
