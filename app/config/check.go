package config

import (
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/http/httpguts"

	"steward/app/clean"
	"steward/app/secrets"
)

const maxName = 100 // characters of a server's name

// byForm takes what looks like a secret out of what a message repeats.
var byForm secrets.Redactor

// check looks at the entry as a whole, once its fields are read.
func (e *entry) check(line int) {
	e.checkName(line)
	e.checkTransport(line)
	e.checkEnv()
	e.checkHeaders()
	e.checkOAuth()
	e.checkNetwork()
	if e.s.URL != "" {
		e.checkURL()
	}
	if e.s.Command != "" {
		e.checkCommand()
	}
	e.checkInlineSecrets()
	e.checkPlaceholders()
}

func (e *entry) at(field string) int { return e.given[field] }

// checkName refuses names that a person could not tell apart or type.
func (e *entry) checkName(line int) {
	name := e.s.Name
	switch {
	case strings.TrimSpace(name) == "":
		e.breaks(line, "the name is empty", "Give the server a name.")
	case utf8.RuneCountInString(name) > maxName:
		e.s.Name = shorten(name) // the problem itself shall not carry a page of text
		e.breaks(line, fmt.Sprintf("the name has %d characters", utf8.RuneCountInString(name)), fmt.Sprintf("Use at most %d.", maxName))
	case strings.TrimSpace(name) != name:
		e.breaks(line, "the name begins or ends with a space", "Remove the space.")
	case strings.IndexFunc(name, unicode.IsControl) >= 0 || len(clean.Inspect(name)) > 0:
		e.breaks(line, fmt.Sprintf("the name holds invisible or control characters: %s", clean.Reveal(name)), "Type the name anew.")
	}
}

func (e *entry) checkTransport(line int) {
	if l, ok := e.given["type"]; ok {
		line = l
	}
	hasCommand, hasURL := e.s.Command != "", e.s.URL != ""
	switch {
	case hasCommand && hasURL:
		e.breaks(line, `both "command" and "url" are given`, "A server is either a local program or an address; keep one.")
		return
	case !hasCommand && !hasURL:
		if e.given["command"] == 0 && e.given["url"] == 0 {
			e.breaks(line, `neither "command" nor "url" is given`, `Write {"command": "…"} for a local program or {"url": "https://…"}.`)
		} else if !e.broken {
			e.breaks(line, `"command" or "url" is empty`, "Write the program or the address.")
		}
		return
	}
	want := strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "").Replace(e.s.Transport))
	switch want {
	case "":
		e.s.Transport = Stdio
		if hasURL {
			e.s.Transport = HTTP
		}
	case "stdio":
		e.s.Transport = Stdio
	case "http", "streamablehttp":
		e.s.Transport = HTTP
	case "sse":
		e.s.Transport = SSE
	default:
		e.breaks(line, fmt.Sprintf("the transport %q is not known", shorten(e.s.Transport)), `Use "stdio", "http" or "sse", or leave it out.`)
		return
	}
	if (e.s.Transport == Stdio) != hasCommand {
		e.breaks(line, fmt.Sprintf("the transport %q does not fit what is given", e.s.Transport), `"stdio" goes with "command", "http" and "sse" go with "url".`)
	}
}

// checkCommand finds a whole command line put where only the program belongs.
func (e *entry) checkCommand() {
	c := e.s.Command
	first, _, spaced := strings.Cut(strings.TrimSpace(c), " ")
	if spaced && (!strings.ContainsAny(first, `/\`) || strings.Contains(c, " -")) {
		e.warns(e.at("command"), fmt.Sprintf("%q holds spaces; it is taken as the name of one program, never as a command line", shorten(byForm.Redact(c))),
			fmt.Sprintf(`If it is one, write "command": %q and put the rest into "args".`, shorten(first)))
	}
}

// Variables that make a program load other code than the one that is named.
var loaders = []string{
	"LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH",
	"NODE_OPTIONS", "NODE_PATH", "PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME", "PERL5OPT", "PERL5LIB", "RUBYOPT", "RUBYLIB",
	"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "BASH_ENV", "ENV", "GIT_SSH_COMMAND", "PATH",
}

func (e *entry) checkEnv() {
	var loads []string
	for _, name := range slices.Sorted(maps.Keys(e.s.Env)) {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.IndexFunc(name, unicode.IsControl) >= 0 {
			e.breaks(e.at("env"), fmt.Sprintf("%q cannot be the name of an environment variable", shorten(name)), "Use letters, digits and _.")
		}
		if slices.Contains(loaders, strings.ToUpper(name)) {
			loads = append(loads, name)
		}
	}
	if len(loads) > 0 {
		e.warns(e.at("env"), strings.Join(loads, ", ")+" can make the program run other code than the one named here", "Keep it only if you know why it is there.")
	}
}

func (e *entry) checkHeaders() {
	for _, name := range slices.Sorted(maps.Keys(e.s.Headers)) {
		if !httpguts.ValidHeaderFieldName(name) {
			e.breaks(e.at("headers"), fmt.Sprintf("%q cannot be the name of a header", shorten(name)), `Use letters, digits and -, as in "Authorization".`)
		}
		if strings.IndexFunc(e.s.Headers[name], func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) >= 0 {
			e.breaks(e.at("headers"), fmt.Sprintf("the value of header %q holds a line break or control character", shorten(name)), "Remove it.")
		}
	}
	if len(e.s.Headers) > 0 && e.s.Command != "" {
		e.warns(e.at("headers"), `"headers" is ignored for a local program`, `Use "env".`)
	}
}

func (e *entry) checkURL() {
	line := e.at("url")
	if strings.TrimSpace(e.s.URL) != e.s.URL || strings.IndexFunc(e.s.URL, unicode.IsControl) >= 0 {
		e.breaks(line, "the address holds spaces or control characters at its ends or inside", "Copy it anew.")
		return
	}
	u, err := url.Parse(e.s.URL)
	switch {
	case err != nil:
		e.breaks(line, fmt.Sprintf("%q is no address", shorten(byForm.Redact(e.s.URL))), `Write it as "https://host/path".`)
	case u.Scheme != "http" && u.Scheme != "https":
		e.breaks(line, fmt.Sprintf("the address begins with %q", shorten(u.Scheme)), "It must begin with https:// (or http:// on this computer).")
	case u.Hostname() == "":
		e.breaks(line, "the address names no host", `Write it as "https://host/path".`)
	case u.User != nil:
		e.breaks(line, "the address holds a user name or password", `Put them into "headers" as "Authorization", with ${secret:NAME}.`)
	case u.Scheme == "http" && !loopback(u.Hostname()) && !e.s.AllowHTTP:
		e.breaks(line, fmt.Sprintf("the address sends everything to %s in clear text", shorten(u.Hostname())), `Use https, or add "allowHttp": true if you accept that.`)
	}
}

func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.IsLoopback()
}

// checkInlineSecrets finds keys that stand in the file itself. The message
// never repeats them.
func (e *entry) checkInlineSecrets() {
	flag := func(field, where, label string) {
		name := e.s.Name + "." + label // as MoveSecrets would name it
		n := len(e.r.problems)
		defer func() {
			for i := range e.r.problems[n:] {
				e.r.problems[n+i].Secret = true
			}
		}()
		e.warns(e.at(field), where+" holds what looks like a secret, readable for everyone who gets this file",
			fmt.Sprintf("Write ${secret:%s} here and store the value with: steward servers review %s --secret %s. The one in the file should be replaced at its issuer.", name, word(e.s.Name), word(name)))
	}
	for _, name := range slices.Sorted(maps.Keys(e.s.Env)) {
		if secretlike(name, e.s.Env[name]) {
			flag("env", "env."+shorten(name), shorten(name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.s.Headers)) {
		if secretlike(name, e.s.Headers[name]) {
			flag("headers", "header "+shorten(name), shorten(name))
		}
	}
	for i, arg := range e.s.Args {
		name, value, assigned := strings.Cut(arg, "=")
		if !assigned {
			name, value = "", arg
			if i > 0 && strings.HasPrefix(e.s.Args[i-1], "-") {
				name = e.s.Args[i-1]
			}
		}
		if secretlike(name, value) {
			flag("args", fmt.Sprintf("args[%d]", i), argumentLabel(name))
		}
	}
	if s := e.s.OAuth.ClientSecret; s != "" && !strings.HasPrefix(s, "${") {
		flag("oauth", "oauth.clientSecret", "clientSecret")
	}
	if u, err := url.Parse(e.s.URL); err == nil {
		for name, values := range u.Query() {
			if slices.ContainsFunc(values, func(v string) bool { return secretlike(name, v) }) {
				flag("url", "the address", shorten(name))
			}
		}
	}
}

// word is one argument of a command that a person types.
func word(s string) string {
	if strings.ContainsAny(s, " \t\"'\\$`&|;<>()*?!#~") || s == "" {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

// secretlike judges by the form of the value, else by the name it stands under.
func secretlike(name, value string) bool {
	if secrets.LooksSecret(value) {
		return true
	}
	if strings.Contains(value, "$") || strings.HasPrefix(value, "~") || strings.ContainsAny(value, `/\`) && !strings.Contains(value, "=") {
		return false // a reference, or a path to the secret
	}
	_, rest, scheme := strings.Cut(value, " ")
	if scheme {
		value = rest
	}
	return len(value) >= 6 && secrets.SecretName(name)
}

// checkPlaceholders finds ${…} where nothing will be put in its place.
func (e *entry) checkPlaceholders() {
	warn := func(field, text string) {
		for _, ref := range references(text) {
			switch {
			case strings.HasPrefix(ref, "secret:"):
			case strings.HasPrefix(ref, "input:"):
				e.warns(e.at(field), fmt.Sprintf("${%s} is a question another program asks, and stays as it is here", shorten(ref)), "Write ${secret:NAME} instead.")
			case field != "env" && field != "cwd" && field != "roots" && field != "caFile":
				e.warns(e.at(field), fmt.Sprintf("${%s} stays as it is in %q; variables are filled in only in env, cwd, caFile and roots", shorten(ref), field), "Write the value, or ${secret:NAME}.")
			}
		}
	}
	warn("command", e.s.Command)
	warn("url", e.s.URL)
	warn("cwd", e.s.Cwd)
	warn("oauth", e.s.OAuth.ClientID)
	warn("oauth", e.s.OAuth.ClientSecret)
	warn("proxy", e.s.Proxy)
	warn("caFile", e.s.CAFile)
	for _, a := range e.s.Args {
		warn("args", a)
	}
	for _, name := range slices.Sorted(maps.Keys(e.s.Env)) {
		warn("env", e.s.Env[name])
	}
	for _, name := range slices.Sorted(maps.Keys(e.s.Headers)) {
		warn("headers", e.s.Headers[name])
	}
}

// references lists what stands in ${…}.
func references(text string) []string {
	var all []string
	for {
		_, after, ok := strings.Cut(text, "${")
		if !ok {
			return all
		}
		ref, rest, closed := strings.Cut(after, "}")
		if !closed {
			return all
		}
		all, text = append(all, ref), rest
	}
}
