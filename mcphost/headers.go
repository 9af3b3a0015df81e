package mcphost

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"steward/mcphost/internal/remote"
)

// binding names an argument that is repeated in an HTTP header (MCP
// 2026-07-28, transports, custom headers from tool parameters).
type binding struct {
	path   []string
	header string
}

const annotation = "x-mcp-header"

// mirrored returns the arguments that a tool wants repeated in headers, or why
// the tool must not be offered.
func mirrored(inputSchema json.RawMessage) ([]binding, error) {
	if !strings.Contains(string(inputSchema), annotation) {
		return nil, nil
	}
	w := headerWalk{seen: map[string]bool{}}
	if err := w.schema(inputSchema, nil, true); err != nil {
		return nil, err
	}
	return w.found, nil
}

type headerWalk struct {
	found []binding
	seen  map[string]bool
}

// schema visits one schema; reachable says that it was reached from the root
// by properties alone.
func (w *headerWalk) schema(raw json.RawMessage, path []string, reachable bool) error {
	m, ok := fields(raw)
	if !ok {
		return nil
	}
	if value, ok := m[annotation]; ok {
		if err := w.annotated(m, value, path, reachable); err != nil {
			return err
		}
	}
	for name, value := range m {
		var err error
		switch name {
		case "properties":
			err = w.each(value, path, reachable)
		case "patternProperties", "$defs", "definitions", "dependentSchemas":
			err = w.each(value, path, false)
		case "const", "default", "enum", "examples", "example", annotation:
			// Values, not schemas.
		default:
			err = w.other(value, path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// each visits the schemas of an object of schemas.
func (w *headerWalk) each(raw json.RawMessage, path []string, reachable bool) error {
	m, _ := fields(raw)
	for name, value := range m {
		if err := w.schema(value, append(slices.Clone(path), name), reachable); err != nil {
			return err
		}
	}
	return nil
}

// other visits what may be a schema or an array of schemas.
func (w *headerWalk) other(raw json.RawMessage, path []string) error {
	if all, ok := array(raw); ok {
		for _, s := range all {
			if err := w.schema(s, path, false); err != nil {
				return err
			}
		}
		return nil
	}
	return w.schema(raw, path, false)
}

// annotated checks one annotation.
func (w *headerWalk) annotated(m map[string]json.RawMessage, value json.RawMessage, path []string, reachable bool) error {
	where := fmt.Sprintf("its argument %q", strings.Join(path, "."))
	if !reachable || len(path) == 0 {
		return fmt.Errorf("%s asks for an HTTP header in a place where that is not allowed", where)
	}
	if !primitive(m["type"]) {
		return fmt.Errorf("%s asks for an HTTP header, which only a string, an integer or a boolean may", where)
	}
	name := str(value)
	if !remote.Token(name) {
		return fmt.Errorf("%s asks for an HTTP header with the impossible name %s", where, short(string(value), 60))
	}
	if key := strings.ToLower(name); w.seen[key] {
		return fmt.Errorf("%s asks for the HTTP header %q, which another argument has", where, name)
	} else {
		w.seen[key] = true
	}
	w.found = append(w.found, binding{path: path, header: name})
	return nil
}

// safeInteger reads an integer, however it is written, that every program reads as the same one; others
// are in no header (MCP 2026-07-28, transports, value encoding).
func safeInteger(value json.RawMessage) (int64, bool) {
	const most = 1<<53 - 1
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		f, ok := number(value)
		if !ok || math.Abs(f) > most || f != math.Trunc(f) {
			return 0, false
		}
		n = int64(f)
	}
	return n, n >= -most && n <= most
}

// primitive reports whether a schema's type is one that may be repeated in a header, or one or null: null is
// then left out (MCP 2026-07-28, transports).
func primitive(kind json.RawMessage) bool {
	all, several := array(kind)
	if !several {
		all = []json.RawMessage{kind}
	}
	some := false
	for _, k := range all {
		switch str(k) {
		case "string", "integer", "boolean":
			some = true
		case "null":
		default:
			return false
		}
	}
	return some
}

// toolHeaders returns the headers that a call of the named tool needs.
func (c *Connection) toolHeaders(name string, arguments json.RawMessage) map[string]string {
	c.mu.Lock()
	i, ok := c.lists.index[name]
	var inputSchema json.RawMessage
	if ok {
		inputSchema = c.lists.tools[i].InputSchema
	}
	c.mu.Unlock()
	bindings, err := mirrored(inputSchema)
	if err != nil || len(bindings) == 0 {
		return nil
	}
	out := map[string]string{}
	for _, b := range bindings {
		value := arguments
		for _, part := range b.path {
			m, _ := fields(value)
			value = m[part]
		}
		switch {
		case absent(value):
		case value[0] == '"':
			out["Mcp-Param-"+b.header] = str(value)
		case boolean(value) != nil:
			out["Mcp-Param-"+b.header] = string(value)
		default:
			if n, ok := safeInteger(value); ok {
				out["Mcp-Param-"+b.header] = strconv.FormatInt(n, 10)
			}
		}
	}
	return out
}
