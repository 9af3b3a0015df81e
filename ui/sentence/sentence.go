// Package sentence gives the core's sentences in the person's language. The core words what it finds in English, for
// the record and the terminal; the texts of the translations whose keys begin with "core." are these sentences, and what
// they fill in is found again in them.
package sentence

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"fyne.io/fyne/v2/lang"

	"steward/assets"
)

// pattern is one sentence of the core: its fixed parts, and the names of what stands between them.
type pattern struct {
	key, english string
	own          string   // the key of the window's text that stands for it; "" for none
	fixed        []string // one more than names
	names        []string
}

const prefix = "core."

// Prefixes of what is no sentence but a part of one.
var parts = []string{prefix + "class_", prefix + "kind_", prefix + "a_ex_"}

var placeholder = regexp.MustCompile(`\{\{\.(\w+)\}\}`)

// patterns are those with most fixed text first: what fits them says more.
var patterns = sync.OnceValues(func() (sentences, pieces []pattern) {
	texts, err := assets.Texts("en")
	if err != nil {
		return nil, nil // the program says so when it loads its language
	}
	for key, english := range texts {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		p := pattern{key: key, english: english, fixed: placeholder.Split(english, -1)}
		if own := windowPrefix + strings.TrimPrefix(key, prefix); texts[own] != "" {
			p.own = own
		}
		for _, m := range placeholder.FindAllStringSubmatch(english, -1) {
			p.names = append(p.names, m[1])
		}
		if slices.ContainsFunc(parts, func(s string) bool { return strings.HasPrefix(key, s) }) {
			pieces = append(pieces, p)
		} else {
			sentences = append(sentences, p)
		}
	}
	for _, list := range [][]pattern{sentences, pieces} {
		slices.SortFunc(list, func(a, b pattern) int {
			return cmp.Or(cmp.Compare(len(strings.Join(b.fixed, "")), len(strings.Join(a.fixed, ""))), cmp.Compare(a.key, b.key))
		})
	}
	return sentences, pieces
})

// at words what is said of one place in the arguments.
func at(s string) string {
	if path, what, ok := strings.Cut(s, ": "); ok && (strings.HasPrefix(path, "/") || path == "the arguments") {
		return path + ": " + Worded(what)
	}
	return Worded(s)
}

// Worded gives a sentence of the core in the person's language; one that is not known stays as it is. What is filled in
// stays as it came, so it is as safe to show as the sentence was.
func Worded(s string) string {
	if m := placed.FindStringSubmatch(s); m != nil {
		data := map[string]any{"server": m[1], "line": m[2], "problem": advised(m[3])}
		if m[1] != "" {
			return lang.X("core.cf_server", "server {{.server}}: line {{.line}}: {{.problem}}", data)
		}
		return lang.X("core.cf_line", "line {{.line}}: {{.problem}}", data)
	}
	sentences, _ := patterns()
	if out, ok := worded(sentences, s); ok {
		return out
	}
	// What a server or an endpoint said may stand before the core's own advice.
	for at := 0; ; {
		next := strings.IndexAny(s[at:], ".:")
		if next < 0 {
			return s
		}
		if at += next + 1; !strings.HasPrefix(s[at:], " ") {
			continue
		}
		for _, p := range sentences {
			if len(p.names) == 0 && p.english == s[at+1:] {
				return s[:at+1] + p.say(nil)
			}
			if strings.HasPrefix(p.key, prefix+"hint_") {
				if out, ok := worded([]pattern{p}, s[at+1:]); ok {
					return s[:at+1] + out
				}
			}
		}
	}
}

// placed is what is said of a line of a file, of a server's entry there where it is named.
var placed = regexp.MustCompile(`^(?:server ("(?:[^"\\]|\\.)*"): )?line (\d+): (.*)$`)

// advised words a sentence and what to do about it: both where both are known, else the whole, else the sentence.
func advised(s string) string {
	first := ""
	for at := 0; ; {
		next := strings.Index(s[at:], ". ")
		if next < 0 {
			break
		}
		at += next + 1
		head, tail := s[:at-1], s[at+1:]
		if !Known(head) {
			continue
		}
		said := Worded(head)
		if said += stop(said, head); strings.HasSuffix(said, ".") {
			said += " "
		}
		if Known(tail) {
			return said + Worded(tail)
		}
		first = cmp.Or(first, said+tail)
	}
	if first == "" || Known(s) {
		return Worded(s)
	}
	return first
}

// Lines words each line of a text that the core has put together of sentences, also one that ends with a full stop and
// begins with a capital because it stands alone.
func Lines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		out := Worded(line)
		if first, size := utf8.DecodeRuneInString(line); out == line && unicode.IsUpper(first) {
			out = alone(line, string(unicode.ToLower(first))+line[size:])
		}
		lines[i] = out
	}
	return strings.Join(lines, "\n")
}

// alone words a line by the sentence that it was before it was made to stand alone; one that is not known stays as it is.
func alone(line, lower string) string {
	if body, ended := strings.CutSuffix(lower, "."); ended && Known(body) {
		return capital(Worded(body)) + stop(Worded(body), body)
	}
	if Known(lower) { // the full stop is its own, if it has one
		return capital(Worded(lower))
	}
	return line
}

func capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// stop is the full stop of what a sentence was worded in.
func stop(worded, before string) string {
	han := func(r rune) bool { return unicode.Is(unicode.Han, r) }
	if strings.ContainsFunc(worded, han) && !strings.ContainsFunc(before, han) {
		return "。"
	}
	return "."
}

// say gives the sentence in the person's language. Where the core's names flags of the command line, the window has a
// text of its own that names its places instead.
func (p pattern) say(data map[string]any) string {
	return lang.X(cmp.Or(p.own, p.key), p.english, data)
}

// windowPrefix begins the keys of the texts that stand for the core's in the window.
const windowPrefix = "window."

// Known tells whether the core's sentence has words in every language.
func Known(s string) bool {
	sentences, _ := patterns()
	_, ok := worded(sentences, s)
	return ok
}

func worded(among []pattern, s string) (string, bool) {
	for _, p := range among {
		filled, ok := p.fill(s)
		if !ok {
			continue
		}
		data := make(map[string]any, len(filled))
		for i, name := range p.names {
			data[name] = part(name, filled[i])
		}
		return p.say(data), true
	}
	return "", false
}

// part words what is filled in where it is the core's own.
func part(name, s string) string {
	switch name {
	case "why":
		return each(s, "; ", at)
	case "problem": // one sentence
		if body, ended := strings.CutSuffix(s, "."); ended && Known(body) {
			return Worded(body) + stop(Worded(body), body)
		}
		return Worded(s)
	case "kinds":
		return each(s, " or ", piece)
	case "classes":
		return each(s, ", ", counted)
	case "kind", "class", "example":
		return piece(s)
	}
	return s
}

func piece(s string) string {
	_, pieces := patterns()
	if out, ok := worded(pieces, s); ok {
		return out
	}
	return s
}

// counted words a class of characters with how many of it there are.
func counted(s string) string {
	class, times, ok := strings.Cut(s, " ×")
	if !ok {
		return piece(s)
	}
	return piece(class) + " ×" + times
}

// each words the parts of a list. Where one of them is not known, separators are left as they are.
func each(s, separator string, word func(string) string) string {
	all := strings.Split(s, separator)
	for i := range all {
		all[i] = word(all[i])
	}
	if separator == " or " && len(all) > 1 {
		separator = lang.X("common.or", " or ")
	}
	return strings.Join(all, separator)
}

// fill tells what stands between the fixed parts: the last piece takes as little as the end allows, the others as much
// as they can, since names come first and may hold anything.
func (p pattern) fill(s string) ([]string, bool) {
	rest, ok := strings.CutPrefix(s, p.fixed[0])
	if !ok {
		return nil, false
	}
	if len(p.names) == 0 {
		return nil, rest == ""
	}
	if rest, ok = strings.CutSuffix(rest, p.fixed[len(p.fixed)-1]); !ok {
		return nil, false
	}
	filled := make([]string, 0, len(p.names))
	for _, fixed := range p.fixed[1 : len(p.fixed)-1] {
		at := strings.LastIndex(rest, fixed)
		if at < 0 {
			return nil, false
		}
		filled = append(filled, rest[:at])
		rest = rest[at+len(fixed):]
	}
	return append(filled, rest), true
}
