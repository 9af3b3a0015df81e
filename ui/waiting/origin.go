package waiting

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"steward/app"
	"steward/app/consent"
	"steward/ui/text"
	"steward/ui/theme"
)

// maxMessages is how far back in the chat outputs are looked for.
const maxMessages = 60

// Where the arguments of a call hold text that another server has given in the same chat, that text is marked with its
// origin: a tool's output steers the model, and this is what would be carried on. It finds copies, not retellings.
const (
	leastCopied = 14        // characters that must agree
	leastHan    = 5         // of them, where all are Han: these say as much
	maxSource   = 256 << 10 // bytes of each output that are compared
	maxCompared = 64 << 10  // bytes of each argument that are
)

// source is a text in the chat that came from elsewhere: a server, or an attachment by its name.
type source struct{ server, text string }

// span is a part of a text, in bytes, that came from a server.
type span struct {
	from, to int
	server   string
}

// copied finds the parts of a text that stand in one of the sources; the spans are in order and do not overlap. Its
// time is linear in the lengths of all.
func copied(s string, sources []source) []span {
	if len(s) > maxCompared {
		s = s[:maxCompared]
	}
	var out []span
	taken := make([]bool, len(s)+1)
	for _, from := range sources {
		for _, sp := range agree(s, from) {
			if !taken[sp.from] && !taken[max(sp.to-1, 0)] {
				out = append(out, sp)
				for i := sp.from; i < sp.to; i++ {
					taken[i] = true
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b span) int { return a.from - b.from })
	return out
}

func agree(s string, from source) []span {
	text := from.text
	if len(text) > maxSource {
		text = text[:maxSource]
	}
	grams := make(map[string]struct{})
	starts := offsets(text)
	for i := range starts {
		for _, n := range []int{leastHan, leastCopied} {
			if i+n < len(starts) {
				if g := text[starts[i]:starts[i+n]]; n == leastCopied || han(g) {
					grams[g] = struct{}{}
				}
			}
		}
	}
	var out []span
	at := offsets(s)
	for i := 0; i+1 < len(at); i++ {
		for _, n := range []int{leastCopied, leastHan} {
			if i+n >= len(at) {
				continue
			}
			g := s[at[i]:at[i+n]]
			if _, found := grams[g]; !found || n == leastHan && !han(g) || blank(g) {
				continue
			}
			if k := len(out) - 1; k >= 0 && out[k].to >= at[i] {
				out[k].to = max(out[k].to, at[i+n])
			} else {
				out = append(out, span{at[i], at[i+n], from.server})
			}
			break
		}
	}
	return out
}

// offsets are where the characters of a text begin, and its end.
func offsets(s string) []int {
	out := make([]int, 0, len(s)+1)
	for i := 0; i < len(s); {
		out = append(out, i)
		_, n := utf8.DecodeRuneInString(s[i:])
		i += n
	}
	return append(out, len(s))
}

func han(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.Is(unicode.Han, r) })
}

// blank tells of a piece that says nothing: fewer than half of it are letters or digits.
func blank(s string) bool {
	letters := 0
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			letters++
		}
	}
	return 2*letters < utf8.RuneCountInString(s)
}

// outputs are what came into a chat from elsewhere than the server that a call is for: other servers' results, and what
// the person attached.
func outputs(item consent.Item, messages []app.ChatMessage) []source {
	var out []source
	for _, m := range messages {
		for _, a := range m.Attachments {
			from := a.Name
			if a.Server != "" {
				from = a.Server
			}
			if a.Server != item.Server && a.Text != "" && from != "" {
				out = append(out, source{from, a.Text})
			}
		}
		for _, c := range m.Calls {
			if c.Server != item.Server && c.Server != "" && c.Text != "" {
				out = append(out, source{c.Server, c.Text})
			}
		}
	}
	return out
}

// copies are the parts of a call's arguments, as they are shown, that stand in a source, by row.
func copies(item consent.Item, sources []source) map[int][]span {
	out := map[int][]span{}
	for i, r := range item.Presentation.Rows {
		if found := copied(r.Text, sources); len(found) > 0 {
			out[i] = found
		}
	}
	return out
}

// origins are the servers that spans name, each once, sorted.
func origins(found map[int][]span) []string {
	var out []string
	for _, spans := range found {
		for _, s := range spans {
			if !slices.Contains(out, s.server) {
				out = append(out, s.server)
			}
		}
	}
	slices.Sort(out)
	return out
}

// spanned splits a revealed argument into runs in which the copied parts stand out. A folded text ends before some.
func spanned(s string, spans []span) []text.Run {
	base := text.Run{Mono: true}
	from := base
	from.Color, from.Ground = theme.Waiting, theme.WaitingTint
	var out []text.Run
	at := 0
	for _, sp := range spans {
		if sp.from < at || sp.to > len(s) {
			continue
		}
		out = append(out, marked(s[at:sp.from], base)...)
		out = append(out, marked(s[sp.from:sp.to], from)...)
		at = sp.to
	}
	return append(out, marked(s[at:], base)...)
}
