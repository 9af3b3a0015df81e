package consent

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"steward/mcphost"
)

// configText says what would be started or reached, one thing a line; values of
// the environment and of headers stay out of it.
func configText(c mcphost.ServerConfig) string {
	var lines []string
	add := func(what string, values ...string) {
		for _, v := range values {
			if v != "" {
				lines = append(lines, what+": "+strings.ReplaceAll(v, "\n", `\n`))
			}
		}
	}
	if c.URL != "" {
		add("address", c.URL)
		add("header", slices.Sorted(maps.Keys(c.Headers))...)
		add("proxy", withoutUser(c.Proxy))
		add("trusts the certificates of", c.CAFile)
		add("signs in as", c.OAuth.ClientID, c.OAuth.MetadataURL)
		add("signs in for", strings.Join(c.OAuth.Scopes, " "))
		if c.OAuth.CallbackPort != 0 {
			add("browser comes back to port", strconv.Itoa(c.OAuth.CallbackPort))
		}
	} else {
		add("program", c.Command)
		for _, a := range c.Args {
			add("argument", cmp.Or(a, `""`))
		}
		add("environment", slices.Sorted(maps.Keys(c.Env))...)
		add("works in", c.Cwd)
	}
	add("shared folder", c.Roots...)
	return strings.Join(lines, "\n")
}
