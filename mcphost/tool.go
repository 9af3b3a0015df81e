package mcphost

import (
	"encoding/json"
	"fmt"
	"slices"

	"steward/mcphost/schema"
)

// entry is one element of a list that was read: a name that must be unique in
// its list, or the reason why it was dropped.
type entry[T any] struct {
	key     string // the name, or the URI
	value   T
	dropped string // a sentence
	note    string // kept, but corrected: a sentence
}

// emptySchema stands for a schema that a server left out.
var emptySchema = json.RawMessage(`{"type":"object"}`)

// toolReader reads entries of tools/list. remote adds the rules for servers
// over HTTP.
func toolReader(remote bool) func(json.RawMessage) entry[Tool] {
	return func(raw json.RawMessage) entry[Tool] {
		m, ok := fields(raw)
		if !ok {
			return entry[Tool]{dropped: "it is no object"}
		}
		e := entry[Tool]{key: str(m["name"])}
		if e.dropped = also(wrongType(m, "name:s")); e.dropped != "" {
			return e
		}
		if e.dropped = badName(e.key); e.dropped != "" {
			return e
		}
		odd := leaveOut(m, "title:s description:s outputSchema:o annotations:o icons:a _meta:o execution:o")
		t := Tool{
			Name: e.key, Title: str(m["title"]), Description: str(m["description"]),
			OutputSchema: object(m["outputSchema"]), Annotations: object(m["annotations"]), Raw: raw,
		}
		hint := annotate(&t)
		var note string
		e.dropped, note = t.readSchema(m["inputSchema"], remote)
		if e.dropped != "" {
			return e
		}
		e.note = also(odd, hint, note, oddIcons(m["icons"]))
		var err error
		if t.Definition, err = definition(raw); err != nil {
			e.dropped = "its definition cannot be read: " + err.Error()
			return e
		}
		t.App, t.AppOnly = hasApp(m["_meta"]), appOnly(m["_meta"])
		execution, _ := fields(m["execution"])
		if support := str(execution["taskSupport"]); support == "required" || support == "optional" {
			t.TaskSupport = support
		}
		e.value = t
		return e
	}
}

// annotate reads the hints and says which cannot be read.
func annotate(t *Tool) (note string) {
	if t.Annotations == nil {
		return ""
	}
	t.Annotations, note = readableAnnotations(t.Annotations)
	m, _ := fields(t.Annotations)
	if t.Title == "" {
		t.Title = str(m["title"])
	}
	t.ReadOnlyHint, t.DestructiveHint = boolean(m["readOnlyHint"]), boolean(m["destructiveHint"])
	t.IdempotentHint, t.OpenWorldHint = boolean(m["idempotentHint"]), boolean(m["openWorldHint"])
	return note
}

// readSchema checks the input schema. A missing one is taken for an empty one.
func (t *Tool) readSchema(raw json.RawMessage, remote bool) (dropped, note string) {
	if absent(raw) {
		t.InputSchema = emptySchema
		return "", "it has no inputSchema and is taken to need no arguments"
	}
	if object(raw) == nil {
		return "its inputSchema is no object", ""
	}
	if err := schema.Check(raw); err != nil {
		return "its inputSchema cannot be used: " + err.Error(), ""
	}
	if remote {
		if _, err := mirrored(raw); err != nil {
			return err.Error(), ""
		}
	}
	t.InputSchema = raw
	return "", ""
}

// appOnly reports whether _meta.ui.visibility leaves the model out (MCP Apps
// 2026-01-26, tool visibility).
func appOnly(meta json.RawMessage) bool {
	m, _ := fields(meta)
	ui, _ := fields(m["ui"])
	visible, ok := array(ui["visibility"])
	if !ok {
		return false
	}
	return !slices.ContainsFunc(visible, func(v json.RawMessage) bool { return str(v) == "model" })
}

// hasApp reports whether a tool names an app page: _meta.ui.resourceUri, or the flat
// _meta["ui/resourceUri"] of before (MCP Apps 2026-01-26).
func hasApp(meta json.RawMessage) bool {
	m, _ := fields(meta)
	ui, _ := fields(m["ui"])
	return str(ui["resourceUri"]) != "" || str(m["ui/resourceUri"]) != ""
}

// readPrompt reads an entry of prompts/list.
func readPrompt(raw json.RawMessage) entry[Prompt] {
	m, ok := fields(raw)
	if !ok {
		return entry[Prompt]{dropped: "it is no object"}
	}
	e := entry[Prompt]{key: str(m["name"])}
	if e.dropped = also(wrongType(m, "name:s arguments:a")); e.dropped != "" {
		return e
	}
	if e.dropped = badName(e.key); e.dropped != "" {
		return e
	}
	e.note = leaveOut(m, "title:s description:s icons:a _meta:o")
	p := Prompt{Name: e.key, Title: str(m["title"]), Description: str(m["description"]), Raw: raw}
	arguments, _ := array(m["arguments"])
	for i, a := range arguments {
		am, ok := fields(a)
		if !ok || str(am["name"]) == "" {
			e.dropped = fmt.Sprintf("its argument %d has no name", i+1)
			return e
		}
		name := str(am["name"])
		if slices.ContainsFunc(p.Arguments, func(b PromptArgument) bool { return b.Name == name }) {
			e.note = also(e.note, fmt.Sprintf("its argument %q stands there twice; the first was kept", short(name, 60)))
			continue
		}
		e.note = also(e.note, leaveOut(am, "title:s description:s"))
		required := boolean(am["required"])
		if required == nil && !absent(am["required"]) {
			e.note = also(e.note, fmt.Sprintf("whether its argument %q is required cannot be read; it is taken to be", short(name, 60)))
		}
		p.Arguments = append(p.Arguments, PromptArgument{
			Name: name, Title: str(am["title"]), Description: str(am["description"]),
			Required: required == nil && !absent(am["required"]) || required != nil && *required,
		})
	}
	var err error
	if p.Definition, err = definition(raw); err != nil {
		e.dropped = "its definition cannot be read: " + err.Error()
	}
	e.value = p
	return e
}

// maxURI is the length of the longest URI accepted, in bytes.
const maxURI = 8 << 10

// readResource reads an entry of resources/list.
func readResource(raw json.RawMessage) entry[Resource] {
	m, why, note := resourceFields(raw, "uri")
	e := entry[Resource]{key: str(m["uri"]), dropped: why, note: note}
	if why != "" {
		return e
	}
	r := Resource{
		URI: e.key, Name: str(m["name"]), Title: str(m["title"]), Description: str(m["description"]),
		MIMEType: str(m["mimeType"]), Size: -1, Annotations: object(m["annotations"]), Raw: raw,
	}
	if n, ok := number(m["size"]); ok && n >= 0 && n < 1<<53 {
		r.Size = int64(n)
	}
	e.value = r
	return e
}

// readTemplate reads an entry of resources/templates/list.
func readTemplate(raw json.RawMessage) entry[Template] {
	m, why, note := resourceFields(raw, "uriTemplate")
	e := entry[Template]{key: str(m["uriTemplate"]), dropped: why, note: note}
	if why != "" {
		return e
	}
	e.value = Template{
		URITemplate: e.key, Name: str(m["name"]), Title: str(m["title"]), Description: str(m["description"]),
		MIMEType: str(m["mimeType"]), Annotations: object(m["annotations"]), Raw: raw,
	}
	return e
}

// resourceFields reads what resources and templates have in common.
func resourceFields(raw json.RawMessage, uri string) (m map[string]json.RawMessage, dropped, note string) {
	m, ok := fields(raw)
	if !ok {
		return nil, "it is no object", ""
	}
	if why := wrongType(m, uri+":s"); why != "" {
		return m, why, ""
	}
	switch s := str(m[uri]); {
	case s == "":
		return m, "it has no " + uri, ""
	case len(s) > maxURI:
		return m, fmt.Sprintf("its %s is longer than %d bytes", uri, maxURI), ""
	}
	return m, "", leaveOut(m, "name:s title:s description:s mimeType:s annotations:o icons:a size:n _meta:o")
}
