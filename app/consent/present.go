package consent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"steward/app/clean"
	"steward/app/secrets"
	"steward/mcphost"
	"steward/mcphost/schema"
)

// A value longer than this is long: whoever folds it must have it opened before
// Allow can be chosen.
const (
	longCharacters = 1200
	longLines      = 20
)

// presentCall words a call for the person, from the call itself and the
// reviewed definition alone; nothing the model wrote beside it comes in.
func presentCall(c Call, t mcphost.Tool, warnings []string) Presentation {
	p := Presentation{
		Title:       fmt.Sprintf("%s on %s", clean.Reveal(c.Tool()), clean.Reveal(c.Server())),
		Server:      clean.Reveal(c.Server()),
		Tool:        clean.Reveal(c.Tool()),
		Description: clean.Clean(t.Description),
		Claims:      claims(t),
		JSON:        clean.Reveal(c.Arguments()),
	}
	if c.spec.Of > 1 {
		p.Position = fmt.Sprintf("%d of %d", c.spec.Position, c.spec.Of)
	}
	p.Rows = rows([]byte(c.Arguments()))
	p.Warnings = append(p.Warnings, warnings...)
	p.Warnings = append(p.Warnings, nameWarnings("server", c.Server())...)
	p.Warnings = append(p.Warnings, nameWarnings("tool", c.Tool())...)
	for _, r := range p.Rows {
		p.Warnings = append(p.Warnings, rowWarnings(r)...)
	}
	return p
}

// withoutKnown replaces the secrets that Steward knows in what a person is shown of a
// call, and says so: they would be sent all the same.
func withoutKnown(p Presentation, known *secrets.Redactor) Presentation {
	json := known.Known(p.JSON)
	for i := range p.Rows {
		if text := known.Known(p.Rows[i].Text); text != p.Rows[i].Text {
			p.Rows[i].Text = text
			p.Rows[i].Hidden = append(p.Rows[i].Hidden, "a secret that Steward knows")
		}
		p.Rows[i].Name = known.Known(p.Rows[i].Name)
	}
	for i, w := range p.Warnings { // they name arguments
		p.Warnings[i] = known.Known(w)
	}
	if json != p.JSON {
		p.Warnings = append(p.Warnings, "These arguments hold a secret that Steward knows. It is not shown here, but it would be sent as the model wrote it.")
	}
	p.JSON = json
	return p
}

// claims words what the server says of its tool as what it is: a claim.
func claims(t mcphost.Tool) []string {
	var out []string
	if title := clean.Line(t.Title, 120); title != "" && title != t.Name {
		out = append(out, fmt.Sprintf("The server calls it “%s”.", title))
	}
	say := func(hint *bool, yes, no string) {
		switch {
		case hint == nil:
		case *hint && yes != "":
			out = append(out, "The server claims that it "+yes+"; nobody has checked that.")
		case !*hint && no != "":
			out = append(out, "The server claims that it "+no+"; nobody has checked that.")
		}
	}
	say(t.ReadOnlyHint, "changes nothing", "changes something")
	if t.ReadOnlyHint == nil || !*t.ReadOnlyHint {
		say(t.DestructiveHint, "may delete or overwrite", "only adds and never deletes or overwrites")
		say(t.IdempotentHint, "has no further effect when repeated", "")
	}
	say(t.OpenWorldHint, "reaches systems outside of it, such as the internet", "reaches nothing outside of it")
	if t.App {
		out = append(out, "It has an app page of its own, which Steward does not draw; the text of its result is shown.")
	}
	if t.AppOnly {
		out = append(out, "Its server means it for that page alone: no model is offered it, and none can call it.")
	}
	return out
}

// rows shows every member of one JSON object in order, duplicates too.
func rows(object []byte) []Row {
	members, err := schema.ParseObject(object)
	if err != nil {
		return []Row{row("", object)} // never reached with a Call's arguments; shown whole rather than not at all
	}
	seen := map[string]int{}
	for _, m := range members {
		seen[m.Name]++
	}
	out := make([]Row, 0, len(members))
	for _, m := range members {
		r := row(m.Name, m.Value)
		r.Duplicate = seen[m.Name] > 1
		out = append(out, r)
	}
	return out
}

func row(name string, value json.RawMessage) Row {
	r := Row{Name: clean.Reveal(name), Kind: kindOf(value)}
	shown := string(value)
	if r.Kind == "string" {
		if s, ok := plainString(value); ok {
			shown = s
		}
	}
	r.Text = clean.Reveal(shown)
	r.Length = utf8.RuneCountInString(shown)
	r.Long = r.Length > longCharacters || strings.Count(shown, "\n") > longLines
	r.Hidden = findings(name, shown)
	if r.Kind == "object" || r.Kind == "array" {
		r.Hidden = findings(name, shown, innerStrings(value))
		r.inner = repeatsName(value)
	}
	r.lost = bytes.Contains(value, []byte("\uFFFD")) || bytes.Contains(bytes.ToLower(value), []byte(`\ufffd`))
	if secrets.LooksSecret(shown) {
		r.Hidden = append(r.Hidden, secretFinding)
	}
	return r
}

// plainString decodes a JSON string, unless decoding would lose something (a
// lone surrogate, RFC 8259 section 8.2): then the JSON text itself is shown.
func plainString(value json.RawMessage) (string, bool) {
	var s string
	if json.Unmarshal(value, &s) != nil {
		return "", false
	}
	if strings.ContainsRune(s, utf8.RuneError) && !strings.Contains(string(value), "\uFFFD") {
		return "", false
	}
	return s, true
}

func kindOf(value []byte) string {
	if len(value) == 0 {
		return "null"
	}
	switch value[0] {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// innerStrings collects the decoded strings of a nested value, so that a hidden
// character written as an escape is found as well.
func innerStrings(value json.RawMessage) string {
	var v any
	if json.Unmarshal(value, &v) != nil {
		return ""
	}
	var b strings.Builder
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			b.WriteString(v)
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for k, e := range v {
				b.WriteString(k)
				walk(e)
			}
		}
	}
	walk(v)
	return b.String()
}

func findings(texts ...string) []string {
	count := map[string]int{}
	var order []string
	for _, t := range texts {
		for _, f := range clean.Inspect(t) {
			if count[f.Class] == 0 {
				order = append(order, f.Class)
			}
			count[f.Class] += f.Count
		}
	}
	var out []string
	for _, class := range order {
		out = append(out, fmt.Sprintf("%s ×%d", class, count[class]))
	}
	return out
}

const secretFinding = "looks like a secret"

func rowWarnings(r Row) []string {
	var out []string
	if r.Duplicate {
		out = append(out, fmt.Sprintf("“%s” occurs more than once; the server decides which one counts.", r.Name))
	}
	if r.inner {
		out = append(out, fmt.Sprintf("Inside “%s” a name occurs more than once; the server decides which one counts.", r.Name))
	}
	for _, h := range r.Hidden {
		if h == secretFinding {
			out = append(out, fmt.Sprintf("“%s” looks like a key or password.", r.Name))
			continue
		}
		out = append(out, fmt.Sprintf("“%s” holds characters that are easily overlooked: %s.", r.Name, h))
	}
	if r.lost {
		out = append(out, fmt.Sprintf("“%s” holds replacement characters (U+FFFD): part of it was lost before it came here, perhaps of a file's name.", r.Name))
	}
	if r.Long {
		out = append(out, fmt.Sprintf("“%s” is long: %d characters.", r.Name, r.Length))
	}
	return out
}

// nameWarnings tells of a name that could be taken for another one.
func nameWarnings(what, name string) []string {
	var out []string
	if f := findings(name); len(f) > 0 {
		out = append(out, fmt.Sprintf("The %s’s name holds characters that are easily overlooked: %s.", what, strings.Join(f, ", ")))
	}
	if mixedScripts(name) {
		out = append(out, fmt.Sprintf("The %s’s name mixes Latin letters with letters of another alphabet that look the same.", what))
	}
	return out
}

var (
	latin    = regexp.MustCompile(`\p{Latin}`)
	lookLike = regexp.MustCompile(`[\p{Cyrillic}\p{Greek}\p{Armenian}\p{Cherokee}]`)
)

func mixedScripts(s string) bool { return latin.MatchString(s) && lookLike.MatchString(s) }
