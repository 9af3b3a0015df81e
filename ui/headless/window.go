package headless

import (
	"io"
	"strings"

	"steward/app"
)

// Window says whether a command line asks for the window: it has no command word, only flags, or none. The options are
// what the window opens the program with. The error is a usage error, for which the exit status is 2.
func Window(args []string, hooks app.Hooks) (o app.Options, asked bool, err error) {
	for _, a := range args {
		if a == "-h" || a == "-help" || a == "--help" || a == "-version" || a == "--version" {
			return o, false, nil
		}
	}
	var c command
	set := c.flagSet(spec{common: true})
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		return o, false, nil
	}
	if err := set.Parse(args); err != nil || set.NArg() > 0 {
		return o, false, nil // Run says what is wrong, or finds the command
	}
	c.name = "window"
	if err := c.check(set); err != nil {
		return o, true, err
	}
	if c.events || c.json {
		return o, true, usagef("--events and --json are for commands; the window prints nothing")
	}
	if len(c.attach) > 0 {
		return o, true, usagef("--attach needs a prompt: steward ask --attach FILE PROMPT")
	}
	return app.Options{
		Data: c.data, ServersFile: c.serversFile, Endpoint: app.Endpoint{BaseURL: c.baseURL, Model: c.model, KeyEnv: c.keyEnv},
		Policy: app.Policy{Calls: c.consent, Elicit: c.elicit, Sampling: c.sampling},
		Roots:  c.roots, ToolTimeout: c.toolTimeout, MaxRounds: c.maxRounds, Conversation: c.conversation, Hooks: hooks,
	}, true, nil
}

// Complain says an error as the commands say theirs, and returns the exit status.
func Complain(w io.Writer, err error) int {
	return (&run{Streams: Streams{Err: w}}).fail(err)
}
