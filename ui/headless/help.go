package headless

import (
	"fmt"
	"slices"
	"strings"
)

// flagHelp describes one flag, or a group of them, for the commands that heed it.
type flagHelp struct {
	flag, text string
	of         []string // nil: all commands that take flags
}

func flagHelps() []flagHelp {
	starts := []string{"ask", "call", "tools", "prompts", "resources", "servers", "doctor"}
	turn, journal := []string{"ask", "call"}, []string{"journal"}
	return []flagHelp{
		{"--data DIR", "data folder (default: the system's place for application data)", nil},
		{"--servers FILE", "servers in mcpServers form instead of the folder's; counted as reviewed", starts},
		{"--base-url URL", "model endpoint (OpenAI-compatible)", turn},
		{"--model NAME", "model", turn},
		{"--api-key-env VAR", "name of the environment variable that holds the key", turn},
		{"--conversation ID", "continue a conversation (ask); choose one (journal)", []string{"ask", "journal"}},
		{"--consent ask|allow|deny", "who answers approvals (default: ask on a terminal, else deny)", turn},
		{"--elicit ask|defaults|decline|cancel", "who answers a server's questions (default: ask on a terminal, else decline)", turn},
		{"--sampling ask|allow|deny", "who answers a server's requests to the model (default: ask on a terminal, else deny)", turn},
		{"--root DIR", "share a folder with the servers (repeatable)", starts},
		{"--attach FILE", "attach a file to the prompt (repeatable)", []string{"ask"}},
		{"--without NAME", "offer the model no tool of this server, or not the tool SERVER/TOOL (repeatable)", []string{"ask", "tools"}},
		{"--tool-timeout D", "limit of a tool call without progress, such as 90s; a number alone is seconds (default 60s)", turn},
		{"--max-rounds N", "model requests before a turn asks whether it may go on, or stops where nobody can be asked (default 25)", []string{"ask"}},
		{"--events", "JSON lines on stdout instead of text", turn},
		{"--json", "JSON instead of text (servers list, journal, doctor)", []string{"servers", "journal", "doctor"}},
		{"--secret NAME", "servers review|trust: store the secret that the entry names as ${secret:NAME} first; asked for, or read from stdin", []string{"servers"}},
		{"--revoke-grants", "servers trust: take back every standing yes to this server's tools; starts and trusts nothing", []string{"servers"}},
		{"--secrets-file", "keep secrets in an encrypted file in the data folder instead of the keyring; its passphrase is asked for", nil},
		{"--passphrase-env VAR", "the same, with the passphrase from this environment variable", nil},
		{"--kind K, --server S, --tool T, --outcome O", "only such records (list, export)", journal},
		{"--since T, --until T", "a date, a time, or a span such as 2h", journal},
		{"--search WORDS", "records that hold these words", journal},
		{"--limit N, --after N", "at most N records (50; an export is whole); only records older than N", journal},
		{"--format jsonl|csv|html", "of an export (default jsonl)", journal},
		{"--output FILE", "export into a new file (default: stdout)", journal},
		{"--export FILE", "verify: check a jsonl export by itself, without a data folder", journal},
		{"--acknowledge", "verify: go on with a journal that does not hold; what was found is recorded", journal},
		{"--http ADDR", "listen on this loopback address or port instead of stdio", []string{"demo-server"}},
	}
}

const flagColumn = 28

func (h flagHelp) write(b *strings.Builder) {
	if len(h.flag) >= flagColumn {
		fmt.Fprintf(b, "  %s\n  %*s%s\n", h.flag, flagColumn, "", h.text)
		return
	}
	fmt.Fprintf(b, "  %-*s%s\n", flagColumn, h.flag, h.text)
}

// helpText is the whole usage page.
func helpText() string {
	var b strings.Builder
	b.WriteString("Steward asks a model, shows what a tool call would send, and keeps a record.\n\nCommands:\n")
	fmt.Fprintf(&b, "  %-58s %s\n", "steward [flags]", "the window; without a display, one question in the terminal")
	for _, name := range commandOrder {
		s, _ := commandSpec(name)
		fmt.Fprintf(&b, "  %-58s %s\n", s.usage, s.summary)
	}
	b.WriteString("\nFlags, before or after the other words (steward help COMMAND says which a command heeds):\n")
	for _, h := range flagHelps() {
		h.write(&b)
	}
	return b.String()
}

// commandHelp is the part of the page that concerns one command.
func commandHelp(name string) (string, error) {
	s, ok := commandSpec(name)
	if !ok {
		return "", usagef("there is no command %q; the commands are %s", name, strings.Join(commandOrder, ", "))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s.\n", s.usage, s.summary)
	heading := "\nFlags:\n"
	for _, h := range flagHelps() {
		if h.of == nil && s.common && name != "version" || slices.Contains(h.of, name) {
			b.WriteString(heading)
			heading = ""
			h.write(&b)
		}
	}
	return b.String(), nil
}
