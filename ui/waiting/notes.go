package waiting

import (
	"strings"

	"fyne.io/fyne/v2/lang"
)

// notes are the sentences with which the core presents an item, and their words in the window. A star stands for what
// is filled in; the fillings are safe to show as they come.
var notes = []struct {
	sentence string
	words    func(filled []string) string
}{
	{"The server calls it “*”.", func(f []string) string {
		return lang.X("waiting.claim_title", "The server calls it “{{.title}}”.", map[string]any{"title": f[0]})
	}},
	{"The server claims that it changes nothing; nobody has checked that.", func([]string) string {
		return lang.X("waiting.claim_reads", "The server claims that it changes nothing; nobody has checked that.")
	}},
	{"The server claims that it changes something; nobody has checked that.", func([]string) string {
		return lang.X("waiting.claim_changes", "The server claims that it changes something; nobody has checked that.")
	}},
	{"The server claims that it may delete or overwrite; nobody has checked that.", func([]string) string {
		return lang.X("waiting.claim_destroys", "The server claims that it may delete or overwrite; nobody has checked that.")
	}},
	{"The server claims that it only adds and never deletes or overwrites; nobody has checked that.", func([]string) string {
		return lang.X("waiting.claim_adds", "The server claims that it only adds and never deletes or overwrites; nobody has checked that.")
	}},
	{"The server claims that it has no further effect when repeated; nobody has checked that.", func([]string) string {
		return lang.X("waiting.claim_repeats", "The server claims that it has no further effect when repeated; nobody has checked that.")
	}},
	{"The server claims that it reaches systems outside of it, such as the internet; nobody has checked that.", func([]string) string {
		return lang.X("waiting.claim_open", "The server claims that it reaches systems outside of it, such as the internet; nobody has checked that.")
	}},
	{"The server claims that it reaches nothing outside of it; nobody has checked that.", func([]string) string {
		return lang.X("waiting.claim_closed", "The server claims that it reaches nothing outside of it; nobody has checked that.")
	}},
	{"This tool has not been used before.", func([]string) string {
		return lang.X("waiting.warn_first", "This tool has not been used before.")
	}},
	{"Whether this tool was used before cannot be told: *", func(f []string) string {
		return lang.X("waiting.warn_first_unknown", "Whether this tool was used before cannot be told: {{.detail}}", map[string]any{"detail": f[0]})
	}},
	{"Proposed after the model had read output of *.", func(f []string) string {
		return lang.X("waiting.warn_after", "Proposed after the model had read output of {{.source}}.", map[string]any{"source": f[0]})
	}},
	{"“*” is a path outside the shared folders.", func(f []string) string {
		return lang.X("waiting.warn_outside", "“{{.name}}” is a path outside the shared folders.", map[string]any{"name": f[0]})
	}},
	{"“*” occurs more than once; the server decides which one counts.", func(f []string) string {
		return lang.X("waiting.warn_duplicate", "“{{.name}}” occurs more than once; the server decides which one counts.", map[string]any{"name": f[0]})
	}},
	{"Inside “*” a name occurs more than once; the server decides which one counts.", func(f []string) string {
		return lang.X("waiting.warn_duplicate_inside", "Inside “{{.name}}” a name occurs more than once; the server decides which one counts.", map[string]any{"name": f[0]})
	}},
	{"“*” looks like a key or password.", func(f []string) string {
		return lang.X("waiting.warn_secret", "“{{.name}}” looks like a key or password.", map[string]any{"name": f[0]})
	}},
	{"“*” holds characters that are easily overlooked: *.", func(f []string) string {
		return lang.X("waiting.warn_hidden", "“{{.name}}” holds characters that are easily overlooked: {{.classes}}.", map[string]any{"name": f[0], "classes": f[1]})
	}},
	{"“*” is long: * characters.", func(f []string) string {
		return lang.X("waiting.warn_long", "“{{.name}}” is long: {{.count}} characters.", map[string]any{"name": f[0], "count": f[1]})
	}},
	{"The server’s name holds characters that are easily overlooked: *.", func(f []string) string {
		return lang.X("waiting.warn_server_hidden", "The server’s name holds characters that are easily overlooked: {{.classes}}.", map[string]any{"classes": f[0]})
	}},
	{"The tool’s name holds characters that are easily overlooked: *.", func(f []string) string {
		return lang.X("waiting.warn_tool_hidden", "The tool’s name holds characters that are easily overlooked: {{.classes}}.", map[string]any{"classes": f[0]})
	}},
	{"The server’s name mixes Latin letters with letters of another alphabet that look the same.", func([]string) string {
		return lang.X("waiting.warn_server_mixed", "The server’s name mixes Latin letters with letters of another alphabet that look the same.")
	}},
	{"The tool’s name mixes Latin letters with letters of another alphabet that look the same.", func([]string) string {
		return lang.X("waiting.warn_tool_mixed", "The tool’s name mixes Latin letters with letters of another alphabet that look the same.")
	}},
	{"It cannot be told which call this belongs to.", func([]string) string {
		return lang.X("waiting.warn_whose", "It cannot be told which call this belongs to.")
	}},
	{"The message holds characters that are easily overlooked: *.", func(f []string) string {
		return lang.X("waiting.warn_message_hidden", "The message holds characters that are easily overlooked: {{.classes}}.", map[string]any{"classes": f[0]})
	}},
	{"The message was too long and is shown in part.", func([]string) string {
		return lang.X("waiting.warn_message_cut", "The message was too long and is shown in part.")
	}},
	{"“*” looks like a question for a secret. Servers must not ask for passwords or keys in this way.", func(f []string) string {
		return lang.X("waiting.warn_form_secret", "“{{.name}}” looks like a question for a secret. Servers must not ask for passwords or keys in this way.", map[string]any{"name": f[0]})
	}},
	{"The server sets the temperature to *.", func(f []string) string {
		return lang.X("waiting.warn_temperature", "The server sets the temperature to {{.value}}.", map[string]any{"value": f[0]})
	}},
	{"The server lets the answer end before “*”.", func(f []string) string {
		return lang.X("waiting.warn_stop", "The server lets the answer end before “{{.text}}”.", map[string]any{"text": f[0]})
	}},
	{"The server wanted an answer of up to * tokens; * is the limit here.", func(f []string) string {
		return lang.X("waiting.warn_tokens", "The server wanted an answer of up to {{.wanted}} tokens; {{.limit}} is the limit here.", map[string]any{"wanted": f[0], "limit": f[1]})
	}},
	{"The host is a number instead of a name.", func([]string) string {
		return lang.X("waiting.warn_host_number", "The host is a number instead of a name.")
	}},
}

// worded gives a sentence of the core in the person's language; one that is not known stays as it is.
func worded(sentence string) string {
	for _, n := range notes {
		if filled, ok := fill(n.sentence, sentence); ok {
			return n.words(filled)
		}
	}
	return sentence
}

// fill tells what stands for the stars of a pattern: the last one takes as little as the end allows, the others as
// much as they can, since names come first and may hold anything.
func fill(pattern, sentence string) ([]string, bool) {
	parts := strings.Split(pattern, "*")
	rest, ok := strings.CutPrefix(sentence, parts[0])
	if !ok {
		return nil, false
	}
	if len(parts) == 1 {
		return nil, rest == ""
	}
	last := parts[len(parts)-1]
	if rest, ok = strings.CutSuffix(rest, last); !ok {
		return nil, false
	}
	filled := make([]string, 0, len(parts)-1)
	for _, p := range parts[1 : len(parts)-1] {
		at := strings.LastIndex(rest, p)
		if at < 0 {
			return nil, false
		}
		filled = append(filled, rest[:at])
		rest = rest[at+len(p):]
	}
	return append(filled, rest), true
}
