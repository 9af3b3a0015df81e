package headless

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"steward/app/journal"
)

// Exit statuses. Those of ask, call and journal verify are part of the contract with
// other programs.
const (
	exitOK        = 0
	exitFailed    = 1
	exitUsage     = 2
	exitStopped   = 3 // ask: stopped by the person, or the answer was interrupted
	exitToolError = 4 // call: the server answered with isError
	exitDenied    = 5 // call: denied, or nobody answered in time
)

// usageError says what is wrong with the command line. It always leads to exit status 2.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// command is one parsed command line.
type command struct {
	name string   // "ask", "journal", …
	sub  string   // "list", "review", … for servers and journal
	args []string // positional arguments after the command words
	flags
}

// flags holds every flag of every command; which of them a command accepts is
// decided by its entry in commands.
type flags struct {
	data, serversFile         string
	baseURL, model, keyEnv    string
	conversation              string
	consent, elicit, sampling string
	roots, attach, without    []string
	toolTimeout               time.Duration
	maxRounds                 int
	events, json              bool

	secretsFile   bool // the encrypted file keeps secrets; its passphrase is asked for
	passphraseEnv string

	secret       string // servers: store a secret of this name first
	revokeGrants bool   // servers trust: take back standing grants instead

	httpAddr string // demo-server

	kind, server, tool, outcome, search string // journal filters
	since, until                        string
	limit                               int
	limitGiven                          bool
	after                               int64
	format, output                      string
	acknowledge                         bool   // journal verify
	exported                            string // journal verify: a file to check instead
}

// spec says what a command accepts.
type spec struct {
	usage    string   // the line shown when it is used wrongly
	summary  string   // one line for the list of commands
	subs     []string // nil: no second word
	min, max int      // positional arguments
	journal  bool     // accepts the journal's filters
	common   bool     // accepts the flags every command shares
	demo     bool     // accepts --http
	review   bool     // accepts --secret and --revoke-grants
}

// commands in the order they are listed to a person.
var commandOrder = []string{"ask", "tools", "call", "prompts", "resources", "servers", "journal", "doctor", "demo-server", "version", "help"}

func commandSpec(name string) (spec, bool) {
	switch name {
	case "ask":
		return spec{usage: "steward ask [flags] PROMPT|-", summary: "one turn; the answer on stdout; - reads the prompt from stdin", min: 1, max: 1, common: true}, true
	case "tools":
		return spec{usage: "steward tools [flags]", summary: "what the model would see", common: true}, true
	case "call":
		return spec{usage: "steward call [flags] SERVER TOOL [JSON]", summary: "one tool call by hand, without a model; you are asked and it is recorded as in a turn", min: 2, max: 3, common: true}, true
	case "prompts":
		return spec{usage: "steward prompts [flags]", summary: "the prompts the servers offer", common: true}, true
	case "resources":
		return spec{usage: "steward resources [flags]", summary: "the resources the servers offer", common: true}, true
	case "servers":
		return spec{usage: "steward servers list|review SERVER|trust SERVER… [flags]", summary: "list servers, read their definitions, mark them as reviewed", subs: []string{"list", "review", "trust"}, max: 1, common: true, review: true}, true
	case "journal":
		return spec{usage: "steward journal list|show N|verify|export [flags]", summary: "what was asked, decided, sent and answered", subs: []string{"list", "show", "verify", "export"}, max: 1, common: true, journal: true}, true
	case "doctor":
		return spec{usage: "steward doctor [flags] [SERVER]", summary: "start, check and explain each server", max: 1, common: true}, true
	case "demo-server":
		return spec{usage: "steward demo-server [--http ADDR]", summary: "the demo MCP server, on stdio or on loopback HTTP", demo: true}, true
	case "version":
		return spec{usage: "steward version", summary: "the version of this program", common: true}, true
	case "help":
		return spec{usage: "steward help [COMMAND]", summary: "this page, or what one command takes", max: 1}, true
	}
	return spec{}, false
}

// parse reads the command line (without the program's name). Flags may stand before
// or after the positional arguments; "--" ends them. Every error it returns is a *usageError.
func parse(args []string) (command, error) {
	name, rest, err := commandWord(args)
	if err != nil {
		return command{}, err
	}
	s, ok := commandSpec(name)
	if !ok {
		return command{}, usagef("there is no command %q; the commands are %s", name, strings.Join(commandOrder, ", "))
	}
	c := command{name: name}
	set := c.flagSet(s)
	c.args, err = interleaved(set, rest)
	if errors.Is(err, flag.ErrHelp) {
		return command{name: "help", args: []string{name}}, nil
	}
	if err != nil {
		return command{}, usagef("%s; usage: %s", flagProblem(err, name), s.usage)
	}
	if s.subs != nil {
		if len(c.args) == 0 || !slices.Contains(s.subs, c.args[0]) {
			return command{}, usagef("%s needs one of %s; usage: %s", name, strings.Join(s.subs, ", "), s.usage)
		}
		c.sub, c.args = c.args[0], c.args[1:]
	}
	if err := c.checkCount(s); err != nil {
		return command{}, err
	}
	return c, c.check(set)
}

// commandWord finds the command. Flags shared by all commands may stand before it.
func commandWord(args []string) (string, []string, error) {
	if len(args) == 0 {
		return "", nil, usagef("no command given; the commands are %s", strings.Join(commandOrder, ", "))
	}
	switch args[0] {
	case "-h", "-help", "--help":
		return "help", nil, nil
	case "-version", "--version":
		return "version", nil, nil
	}
	if !strings.HasPrefix(args[0], "-") {
		return args[0], args[1:], nil
	}
	var before command
	set := before.flagSet(spec{common: true, journal: true, demo: true})
	if err := set.Parse(args); err != nil {
		return "", nil, usagef("%s", flagProblem(err, ""))
	}
	if set.NArg() == 0 {
		return "", nil, usagef("no command given; the commands are %s", strings.Join(commandOrder, ", "))
	}
	at := len(args) - set.NArg()
	return args[at], slices.Concat(args[:at], args[at+1:]), nil
}

// interleaved parses flags wherever they stand and returns the other words in order.
func interleaved(set *flag.FlagSet, args []string) ([]string, error) {
	var words []string
	for {
		if err := set.Parse(args); err != nil {
			return nil, err
		}
		rest := set.Args()
		if len(rest) == 0 {
			return words, nil
		}
		if used := len(args) - len(rest); used > 0 && args[used-1] == "--" {
			return append(words, rest...), nil
		}
		words = append(words, rest[0])
		args = rest[1:]
	}
}

type list struct{ to *[]string }

func (l list) String() string     { return "" }
func (l list) Set(v string) error { *l.to = append(*l.to, v); return nil }

func (c *command) flagSet(s spec) *flag.FlagSet {
	set := flag.NewFlagSet("steward", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Usage = func() {}
	if s.demo {
		set.StringVar(&c.httpAddr, "http", "", "")
	}
	if s.common {
		set.StringVar(&c.data, "data", "", "")
		set.StringVar(&c.serversFile, "servers", "", "")
		set.StringVar(&c.baseURL, "base-url", "", "")
		set.StringVar(&c.model, "model", "", "")
		set.StringVar(&c.keyEnv, "api-key-env", "", "")
		set.StringVar(&c.conversation, "conversation", "", "")
		set.StringVar(&c.consent, "consent", "", "")
		set.StringVar(&c.elicit, "elicit", "", "")
		set.StringVar(&c.sampling, "sampling", "", "")
		set.Var(list{&c.roots}, "root", "")
		set.Var(list{&c.attach}, "attach", "")
		set.Var(list{&c.without}, "without", "")
		set.Var(span{&c.toolTimeout}, "tool-timeout", "")
		set.IntVar(&c.maxRounds, "max-rounds", 0, "")
		set.BoolVar(&c.events, "events", false, "")
		set.BoolVar(&c.json, "json", false, "")
		set.BoolVar(&c.secretsFile, "secrets-file", false, "")
		set.StringVar(&c.passphraseEnv, "passphrase-env", "", "")
	}
	if s.review {
		set.StringVar(&c.secret, "secret", "", "")
		set.BoolVar(&c.revokeGrants, "revoke-grants", false, "")
	}
	if s.journal {
		set.StringVar(&c.kind, "kind", "", "")
		set.StringVar(&c.server, "server", "", "")
		set.StringVar(&c.tool, "tool", "", "")
		set.StringVar(&c.outcome, "outcome", "", "")
		set.StringVar(&c.search, "search", "", "")
		set.StringVar(&c.since, "since", "", "")
		set.StringVar(&c.until, "until", "", "")
		set.IntVar(&c.limit, "limit", 50, "")
		set.Int64Var(&c.after, "after", 0, "")
		set.StringVar(&c.format, "format", "jsonl", "")
		set.StringVar(&c.output, "output", "", "")
		set.BoolVar(&c.acknowledge, "acknowledge", false, "")
		set.StringVar(&c.exported, "export", "", "")
	}
	return set
}

// span is a time as people write it: a number with a unit, or seconds alone.
type span struct{ to *time.Duration }

func (v span) String() string { return "" }

func (v span) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err == nil {
		*v.to = d
		return nil
	}
	s, err := strconv.ParseFloat(text, 64)
	if err != nil || s != s || s < -maxSpan || s > maxSpan {
		return errors.New("a time is needed, such as 90s, 2m or 90 (seconds)")
	}
	*v.to = time.Duration(s * float64(time.Second))
	return nil
}

const maxSpan = 1e9 // seconds

// flagProblem says in our words what the flag package found. command is "" where it is not
// known yet.
func flagProblem(err error, command string) string {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: -"); ok {
		if command == "" {
			return "there is no flag --" + strings.TrimLeft(name, "-")
		}
		return fmt.Sprintf("%s has no flag --%s; steward help %s lists them", command, strings.TrimLeft(name, "-"), command)
	}
	if name, ok := strings.CutPrefix(text, "flag needs an argument: -"); ok {
		return "--" + strings.TrimLeft(name, "-") + " needs a value"
	}
	// invalid value "x" for flag -name: why; invalid boolean value "x" for -name: why
	before, why, ok := strings.Cut(text, ": ")
	value, name, also := strings.Cut(before, " for ")
	if !ok || !also || !strings.HasPrefix(before, "invalid ") {
		return text
	}
	name = "--" + strings.TrimLeft(strings.TrimPrefix(name, "flag "), "-")
	_, value, _ = strings.Cut(value, "value ")
	switch {
	case strings.HasPrefix(before, "invalid boolean"):
		return fmt.Sprintf("%s takes no value, but was given %s", name, value)
	case why == "parse error" || why == "value out of range":
		why = "a whole number is needed"
	}
	return fmt.Sprintf("%s is %s, but %s", name, value, why)
}

func (c *command) checkCount(s spec) error {
	least, most := s.min, s.max
	switch {
	case c.name == "servers" && c.sub == "list", c.name == "journal" && c.sub != "show":
		most = 0
	case c.name == "servers" && c.sub == "trust":
		least, most = 1, len(c.args)
	case c.name == "servers", c.name == "journal":
		least = 1
	}
	if len(c.args) < least {
		return usagef("%s; usage: %s", missing(c), s.usage)
	}
	if len(c.args) > most {
		hint := ""
		if c.name == "ask" {
			hint = " (put the prompt in quotes)"
		}
		return usagef("one word too many: %q%s; usage: %s", c.args[most], hint, s.usage)
	}
	return nil
}

func missing(c *command) string {
	switch {
	case c.name == "ask":
		return "the prompt is missing (- reads it from stdin)"
	case c.name == "call" && len(c.args) == 0:
		return "the server and the tool are missing"
	case c.name == "call":
		return "the tool is missing"
	case c.name == "servers":
		return "the server's name is missing"
	default:
		return "the record's number is missing"
	}
}

// check looks at values that the flag package cannot check by itself.
func (c *command) check(set *flag.FlagSet) error {
	choices := []struct {
		flag, value string
		allowed     []string
	}{
		{"consent", c.consent, []string{"ask", "allow", "deny"}},
		{"elicit", c.elicit, []string{"ask", "defaults", "decline", "cancel"}},
		{"sampling", c.sampling, []string{"ask", "allow", "deny"}},
		{"format", c.format, []string{"jsonl", "csv", "html"}},
		{"kind", c.kind, []string{"call", "elicitation", "sampling", "model", "resource", "prompt", "server", "definition", "grant", "settings"}},
		{"outcome", c.outcome, []string{journal.OK, journal.ToolError, journal.ProtocolError, journal.Denied, journal.Expired, journal.Withdrawn,
			journal.Cancelled, journal.Timeout, journal.Unknown, journal.Waiting, journal.Running}},
	}
	given := map[string]bool{}
	set.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if (c.name == "ask" || c.name == "call") && given["json"] {
		return usagef("%s has no --json; --events prints JSON lines", c.name)
	}
	if err := c.checkHeeded(given); err != nil {
		return err
	}
	c.limitGiven = given["limit"]
	for _, ch := range choices {
		if given[ch.flag] && !slices.Contains(ch.allowed, ch.value) {
			return usagef("--%s is %q, but must be one of %s", ch.flag, ch.value, strings.Join(ch.allowed, ", "))
		}
	}
	for _, must := range []struct{ flag, value string }{{"data", c.data}, {"servers", c.serversFile}, {"base-url", c.baseURL}, {"model", c.model}, {"api-key-env", c.keyEnv}, {"conversation", c.conversation}, {"passphrase-env", c.passphraseEnv}, {"export", c.exported}} {
		if given[must.flag] && strings.TrimSpace(must.value) == "" {
			return usagef("--%s is empty", must.flag)
		}
	}
	switch {
	case given["tool-timeout"] && c.toolTimeout <= 0:
		return usagef("--tool-timeout is %s, but must be longer than nothing, such as 90s", c.toolTimeout)
	case given["max-rounds"] && c.maxRounds <= 0:
		return usagef("--max-rounds is %d, but must be at least 1", c.maxRounds)
	case given["limit"] && c.limit <= 0:
		return usagef("--limit is %d, but must be at least 1", c.limit)
	case given["after"] && c.after < 0:
		return usagef("--after is %d, but must be the number of a record", c.after)
	case given["secret"] && (c.sub == "list" || c.secret == ""):
		return usagef("--secret needs the name of a secret, and servers review SERVER or servers trust SERVER")
	case c.revokeGrants && (c.sub != "trust" || given["secret"]):
		return usagef("--revoke-grants stands alone, with servers trust SERVER")
	case (c.acknowledge || given["export"]) && c.sub != "verify" || c.acknowledge && given["export"]:
		return usagef("--acknowledge and --export FILE belong to journal verify, one at a time")
	case c.secretsFile && given["passphrase-env"]:
		return usagef("give --secrets-file, which asks for the passphrase, or --passphrase-env VAR, not both")
	case given["base-url"] && !given["model"]:
		return usagef("--base-url needs --model, because one endpoint may serve many models")
	}
	return nil
}

// parseTime reads a point in time as people write it: RFC 3339, or a date, in local time.
func parseTime(flagName, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t.UTC(), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return time.Now().Add(-d).UTC(), nil
	}
	return time.Time{}, usagef("--%s is %q, but must be a date such as 2026-11-30, a time such as 2026-11-30T14:00:00Z, or a span such as 2h", flagName, s)
}
