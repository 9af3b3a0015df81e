package headless

import (
	"slices"
	"strings"
)

// heeds says which commands do something with a flag that asks for something to be done:
// "command", or "command sub". Anywhere else it is refused, because whoever gives it
// believes that it was done. Flags that describe a run (the folder, the servers, the
// endpoint, who answers, limits) are not here: a script may give the same ones to every
// command.
var heeds = map[string][]string{
	"attach":       {"ask"},
	"without":      {"ask", "tools"},
	"conversation": {"ask", "call", "journal list", "journal export"},
	"events":       {"ask", "call"},
	"json":         {"servers list", "journal list", "journal show", "journal verify", "doctor", "tools", "prompts", "resources"},
	"kind":         {"journal list", "journal export"},
	"server":       {"journal list", "journal export"},
	"tool":         {"journal list", "journal export"},
	"outcome":      {"journal list", "journal export"},
	"search":       {"journal list", "journal export"},
	"since":        {"journal list", "journal export"},
	"until":        {"journal list", "journal export"},
	"limit":        {"journal list", "journal export"},
	"after":        {"journal list", "journal export"},
	"format":       {"journal export"},
	"output":       {"journal export"},
}

// checkHeeded refuses flags that the command would ignore.
func (c *command) checkHeeded(given map[string]bool) error {
	name := strings.TrimSpace(c.name + " " + c.sub)
	if c.name == "help" {
		return nil
	}
	for flag := range given {
		commands, listed := heeds[flag]
		if listed && !slices.Contains(commands, name) && !slices.Contains(commands, c.name) {
			return usagef("%s does nothing with --%s; that is for %s", name, flag, strings.Join(commands, ", "))
		}
	}
	return nil
}
