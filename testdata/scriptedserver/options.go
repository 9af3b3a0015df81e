// Package scriptedserver is an MCP server that behaves, and misbehaves, as it is told.
// Tests start it as a program (testdata/scriptedserver/cmd, or Main from a test binary
// that runs itself again) or hold a Server and hand it messages from a transport of
// their own.
//
// # Flags
//
//	--name NAME        serverInfo.name (default "scripted")
//	--protocol V       a version initialize accepts (repeatable; default 2024-11-05 to 2025-11-25)
//	--answer V         the version initialize answers, whatever was asked for
//	--discover MODE    server/discover: error (default, -32601), ignore, exit, answer (the
//	                   server then speaks 2026-07-28), empty ({}), null-id
//	--banner LINE      a line on stdout before anything is read (repeatable)
//	--page-size N      tools a page (default: all)
//	--pages MODE       the cursors of tools/list: "" (right), repeat, alternate, endless, hang (page 2 is
//	                   never answered), empty ("" is the cursor of page 2), number, huge (1 MB)
//	--tools N          N more tools, named tool-0001 …
//	--only NAME        offer only this tool (repeatable)
//	--description TEXT the description of every tool
//	--reads NAME       this tool claims to read only (readOnlyHint) (repeatable)
//	--step WHAT=STEP   what to do instead of the usual for a method (tools/list=…) or a
//	                   tool (tool:NAME=…, which also offers it) (repeatable, in order)
//	--start STEP       a step before anything is read (repeatable)
//	--ignore-end       stay alive when stdin ends, and on SIGTERM
//	--tasks FORM       works on the tools task… as tasks: core (2025-11-25) or extension (2026-07-28)
//	--task-ms N        how long a task works (default 100)    --task-poll N   the interval it names (default 20)
//	--task-support S   of core: required (default) or optional
//	--task-file FILE   keeps the tasks, which else end with the program
//	--record FILE      append each line received to FILE
//	--http ADDR        speak Streamable HTTP there instead (127.0.0.1:0 takes any port; the address is printed)
//	--fault NAME       over HTTP, what goes wrong; see webFaults (repeatable)
//	--script FILE      a JSON object with the same names: {"step":["tool:x=@text hi"],"page-size":2}
//
// # Steps
//
// A step that does not begin with @ is a line for stdout. In every step ${id} stands for
// the request's id, ${token} for its progress token (both as JSON), ${arguments} for its
// arguments, ${answer} for the last answer to @ask, ${n} for how many such requests came
// so far, this one included, ${together} for how many tool calls this program worked on at the
// same time at most.
//
//	@sleep 20ms            @raw TEXT (no line end)     @stderr TEXT
//	@exit 3                @kill (SIGKILL to itself)   @flood 5000000 (bytes of stderr, no line end)
//	@close-stdout          @stop-reading               @repeat 3 STEP
//	@wait METHOD           until a message with this method comes (counted from the last @mark, else the start of the steps)
//	@mark                  see @wait
//	@gather N              until ${together} is N, or 20 s have passed
//	@ask METHOD PARAMS     a request to the host; waits for its answer
//	@ask-only METHOD PARAMS the same without waiting
//	@cancel                cancels the last request made with @ask-only
//	@notify METHOD PARAMS  a notification
//	@progress N D          N progress notifications, one each D
//	@add NAME  @remove NAME  @describe NAME TEXT   change the tools (no notification)
//	@text TEXT             answer a tool call with a text    @result JSON   answer with a result
//	@error CODE TEXT       answer with an error              @big N         answer with N bytes of text
//	@usual                 do what would be done without steps
package scriptedserver

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"sort"
	"strings"
)

// Options are the flags.
type Options struct {
	Name, Answer, Discover, Pages, Record, Description string
	HTTP, Tasks, TaskSupport, TaskFile                 string
	Protocol, Banner, Only, Start, Fault, Reads        []string
	PageSize, Tools, TaskMS, TaskPoll                  int
	IgnoreEnd                                          bool
	Steps                                              map[string][]string
}

type list []string

func (l *list) String() string     { return strings.Join(*l, " ") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

// Parse reads the flags.
func Parse(args []string) (Options, error) {
	var o Options
	var steps list
	var script string
	fs := flag.NewFlagSet("scriptedserver", flag.ContinueOnError)
	fs.StringVar(&o.Name, "name", "scripted", "")
	fs.StringVar(&o.Answer, "answer", "", "")
	fs.StringVar(&o.Discover, "discover", "error", "")
	fs.StringVar(&o.Pages, "pages", "", "")
	fs.StringVar(&o.Record, "record", "", "")
	fs.StringVar(&o.Description, "description", "", "")
	fs.StringVar(&o.HTTP, "http", "", "")
	fs.Var((*list)(&o.Fault), "fault", "")
	fs.StringVar(&script, "script", "", "")
	fs.IntVar(&o.PageSize, "page-size", 0, "")
	fs.StringVar(&o.Tasks, "tasks", "", "")
	fs.StringVar(&o.TaskSupport, "task-support", "required", "")
	fs.StringVar(&o.TaskFile, "task-file", "", "")
	fs.IntVar(&o.TaskMS, "task-ms", 100, "")
	fs.IntVar(&o.TaskPoll, "task-poll", 20, "")
	fs.IntVar(&o.Tools, "tools", 0, "")
	fs.BoolVar(&o.IgnoreEnd, "ignore-end", false, "")
	fs.Var((*list)(&o.Protocol), "protocol", "")
	fs.Var((*list)(&o.Banner), "banner", "")
	fs.Var((*list)(&o.Only), "only", "")
	fs.Var((*list)(&o.Start), "start", "")
	fs.Var((*list)(&o.Reads), "reads", "")
	fs.Var(&steps, "step", "")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if script != "" {
		if err := readScript(fs, script); err != nil {
			return o, err
		}
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if len(o.Protocol) == 0 {
		o.Protocol = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}
	}
	o.Steps = map[string][]string{}
	for _, s := range steps {
		what, step, ok := strings.Cut(s, "=")
		if !ok {
			return o, fmt.Errorf("--step wants WHAT=STEP, not %q", s)
		}
		o.Steps[what] = append(o.Steps[what], step)
	}
	return o, nil
}

// readScript sets flags from a file, in the order of their names.
func readScript(fs *flag.FlagSet, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var values map[string]any
	if err := json.Unmarshal(data, &values); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	sort.Strings(names)
	var errs []error
	for _, name := range names {
		items, ok := values[name].([]any)
		if !ok {
			items = []any{values[name]}
		}
		for _, v := range items {
			errs = append(errs, fs.Set(name, fmt.Sprint(v)))
		}
	}
	return errors.Join(errs...)
}
