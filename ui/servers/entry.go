package servers

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/app/clean"
	"steward/ui/form"
	"steward/ui/sentence"
	"steward/ui/text"
	"steward/ui/theme"
)

// Transports as an entry names them.
const (
	stdio = "stdio"
	http  = "http"
	sse   = "sse"
)

// entryLines write an entry out, one part a line, so that two entries are the same where their lines are. It is not
// for the eye.
func entryLines(e app.ServerEntry) []string {
	data, err := json.Marshal(e)
	if err != nil {
		return []string{err.Error()}
	}
	return []string{string(data)}
}

// entryCard shows how a server would be started: each argument on a line of its own, for a blank inside one must not
// look like two, the environment, the folder, and, in more, what is
// odd about it.
func (k *kit) entryCard(p *page, e app.ServerEntry, more ...string) fyne.CanvasObject {
	var out []fyne.CanvasObject
	part := func(title string, lines ...string) {
		if len(lines) == 0 {
			return
		}
		for i := range lines {
			lines[i] = clean.Reveal(lines[i])
		}
		out = append(out, column(0, caption(title, theme.Dim, text.Wrap), k.listing(p, "", strings.Join(lines, "\n"))))
	}
	if e.Command != "" {
		part(lang.X("servers.argv", "Started as (one argument a line)"), append([]string{e.Command}, e.Args...)...)
	}
	if e.URL != "" {
		part(lang.X("servers.address", "Address"), e.URL)
	}
	part(lang.X("servers.environment", "Environment"), pairs(e.Env, "=")...)
	part(lang.X("servers.headers", "Headers"), pairs(e.Headers, ": ")...)
	part(lang.X("servers.signs_in_as", "Signs in as"), nonEmpty(e.OAuth.ClientID, e.OAuth.ClientSecret, e.OAuth.MetadataURL)...)
	part(lang.X("servers.signs_in_for", "Rights it asks for in place of the server's"), slices.Clone(e.OAuth.Scopes)...)
	part(lang.X("servers.proxy", "Reached through the proxy"), nonEmpty(e.Proxy)...)
	part(lang.X("servers.ca_file", "Certificates trusted besides the system's"), nonEmpty(e.CAFile)...)
	part(lang.X("servers.folder", "Working folder"), nonEmpty(e.Cwd)...)
	part(lang.X("servers.roots", "Folders shared with it"), slices.Clone(e.Roots)...)
	if e.Sampling {
		out = append(out, caption(lang.X("servers.may_sample", "It may ask for answers of your model; you review each that you have not trusted it with."), theme.Waiting, text.Wrap))
	}
	for _, problem := range more {
		out = append(out, caption("⚠ "+sentence.Worded(problem), theme.Waiting, text.Wrap))
	}
	return card(out...)
}

// inFile is an entry as it is read by a person who does not change it: what stands in the list itself, hidden, does not
// look like a secret that is stored.
func inFile(e app.ServerEntry, names []string) app.ServerEntry {
	if len(names) == 0 {
		return e
	}
	pairs := make([]string, 0, 2*len(names))
	for _, name := range names {
		pairs = append(pairs, "${secret:"+name+"}", "•••• ("+lang.X("servers.in_file", "stands in the file")+")")
	}
	put := strings.NewReplacer(pairs...).Replace
	e.Args, e.Env, e.Headers = slices.Clone(e.Args), maps.Clone(e.Env), maps.Clone(e.Headers)
	for i, v := range e.Args {
		e.Args[i] = put(v)
	}
	for _, m := range []map[string]string{e.Env, e.Headers} {
		for k, v := range m {
			m[k] = put(v)
		}
	}
	e.URL, e.OAuth.ClientSecret = put(e.URL), put(e.OAuth.ClientSecret)
	return e
}

func pairs(m map[string]string, between string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, name+between+m[name])
	}
	return out
}

// entryFields are the questions about a server of a transport, with an entry's answers filled in.
func entryFields(transport string, e app.ServerEntry) []form.Field {
	lines := func(name, title, help string, values []string) form.Field {
		return form.Field{Name: name, Title: title, Description: help, Kind: form.Text, Default: quote(strings.Join(values, "\n"))}
	}
	fields := []form.Field{{Name: "name", Title: lang.X("servers.field_name", "Name"), Kind: form.String, Required: true, Default: quote(e.Name), Description: lang.X("servers.field_name_help", "Models see it before the names of its tools.")}}
	if transport == stdio {
		args := lines("args", lang.X("servers.field_args", "Arguments, one a line"), lang.X("servers.field_args_help", "Each line is one argument as it stands, with its blanks. No quotes, no shell."), e.Args)
		if slices.ContainsFunc(e.Args, func(a string) bool { return a == "" || strings.Contains(a, "\n") }) {
			args.Kind, args.Title = form.JSON, lang.X("servers.field_args_json", "Arguments, as a JSON array of strings")
			if data, err := encode(e.Args); err == nil {
				args.Default = json.RawMessage(data)
			}
		}
		fields = append(fields, form.Field{Name: "command", Title: lang.X("servers.field_command", "Program"), Kind: form.String, Required: true, Default: quote(e.Command), Placeholder: "npx"},
			args, lines("env", lang.X("servers.field_env", "Environment, NAME=value, one a line"), lang.X("servers.field_secret_help", "Values that look like keys or passwords go to the keyring; ${secret:NAME} stands in their place."), pairs(e.Env, "=")),
			form.Field{Name: "cwd", Title: lang.X("servers.folder", "Working folder"), Kind: form.String, Default: quote(e.Cwd)})
	} else {
		fields = append(fields, form.Field{Name: "url", Title: lang.X("servers.address", "Address"), Kind: form.String, Required: true, Default: quote(e.URL), Placeholder: "https://"},
			lines("headers", lang.X("servers.field_headers", "Headers, Name: value, one a line"), lang.X("servers.field_secret_help", "Values that look like keys or passwords go to the keyring; ${secret:NAME} stands in their place."), pairs(e.Headers, ": ")),
			form.Field{Name: "client", Title: lang.X("servers.field_client", "Client id for signing in"), Kind: form.String, Default: quote(e.OAuth.ClientID), Description: lang.X("servers.field_client_help", "Only where somebody registered Steward by hand at the authorization server.")},
			form.Field{Name: "secret", Title: lang.X("servers.field_client_secret", "Client secret for signing in"), Kind: form.Secret, Own: true, Default: quote(e.OAuth.ClientSecret), Description: lang.X("servers.field_client_secret_help", "It goes to the keyring; ${secret:NAME} stands in its place.")},
			form.Field{Name: "sse", Title: lang.X("servers.field_sse", "It speaks the old HTTP+SSE transport"), Kind: form.Boolean, Default: boolean(e.Transport == sse)},
			form.Field{Name: "plain", Title: lang.X("servers.field_plain", "Accept http without encryption"), Kind: form.Boolean, Default: boolean(e.AllowHTTP)})
	}
	return append(fields, lines("roots", lang.X("servers.field_roots", "Folders shared with it, one a line"), "", e.Roots),
		form.Field{Name: "sampling", Title: lang.X("servers.field_sampling", "It may ask for answers of my model"), Kind: form.Boolean, Default: boolean(e.Sampling), Description: lang.X("servers.field_sampling_help", "You see and may change each request and each answer.")})
}

func quote(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	data, err := encode(s)
	if err != nil {
		return nil
	}
	return json.RawMessage(data)
}

func boolean(b bool) json.RawMessage {
	if b {
		return json.RawMessage("true")
	}
	return json.RawMessage("false")
}

// entryFrom is the entry that the answers describe. What the form does not ask for stays as it is in before.
func entryFrom(transport string, before app.ServerEntry, values map[string]json.RawMessage) app.ServerEntry {
	e := before
	str := func(name string) (s string) {
		if json.Unmarshal(values[name], &s) != nil {
			return ""
		}
		return s
	}
	yes := func(name string) bool { return bytes.Equal(values[name], []byte("true")) }
	e.Name, e.Transport = strings.TrimSpace(str("name")), transport
	e.Command, e.Args, e.Env, e.Cwd, e.URL, e.Headers = "", nil, nil, "", "", nil
	if transport == stdio {
		e.Command, e.Cwd = strings.TrimSpace(str("command")), strings.TrimSpace(str("cwd"))
		if json.Unmarshal(values["args"], &e.Args) != nil {
			e.Args = linesOf(str("args"))
		}
		e.Env = mapOf(str("env"), "=")
		e.AllowHTTP, e.Proxy, e.CAFile, e.OAuth = false, "", "", app.OAuth{}
	} else {
		e.OAuth.ClientID, e.OAuth.ClientSecret = strings.TrimSpace(str("client")), str("secret")
		e.URL, e.Headers, e.AllowHTTP = strings.TrimSpace(str("url")), mapOf(str("headers"), ":"), yes("plain")
		e.Transport = http
		if yes("sse") {
			e.Transport = sse
		}
	}
	e.Roots, e.Sampling = linesOf(str("roots")), yes("sampling")
	return e
}

// linesOf are the lines that hold something. Blanks are part of a line.
func linesOf(s string) []string {
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		if line = strings.TrimSuffix(line, "\r"); strings.TrimSpace(line) != "" {
			out = append(out, line)
		}
	}
	return out
}

func mapOf(s, between string) map[string]string {
	out := map[string]string{}
	for _, line := range linesOf(s) {
		name, value, _ := strings.Cut(line, between)
		if between == ":" {
			value = strings.TrimSpace(value)
		}
		out[strings.TrimSpace(name)] = value
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// badLine is the first line without a separator or a name, or "".
func badLine(s, between string) string {
	for _, line := range linesOf(s) {
		if name, _, ok := strings.Cut(line, between); !ok || strings.TrimSpace(name) == "" {
			return line
		}
	}
	return ""
}
