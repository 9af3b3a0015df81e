package llm

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Dialect is the part of JSON Schema an endpoint understands.
type Dialect string

// The dialects. DialectFull is JSON Schema 2020-12 as it is.
const (
	DialectFull      Dialect = ""
	DialectOpenAI    Dialect = "openai"    // no anyOf, oneOf, allOf, enum or not at the top
	DialectAnthropic Dialect = "anthropic" // strictly 2020-12; no anyOf, oneOf or allOf at the top
	DialectGemini    Dialect = "gemini"    // the subset of OpenAPI 3.0 in Gemini's "Schema"
	DialectMoonshot  Dialect = "moonshot"  // types everywhere, and beside no anyOf
	DialectOllama    Dialect = "ollama"    // what its template types can read
	DialectGrammar   Dialect = "grammar"   // what llama.cpp can make a grammar of
	DialectPlain     Dialect = "plain"     // type, properties, required, items, enum and words alone
)

var dialects = []Dialect{DialectFull, DialectOpenAI, DialectAnthropic, DialectGemini, DialectMoonshot, DialectOllama, DialectGrammar, DialectPlain}

const (
	emptySchema = `{"type":"object","properties":{}}`
	// Bounds of one schema after its references are put in.
	maxNodes = 20000
	maxLevel = 48
)

// node is a JSON value whose objects keep their order.
type node struct {
	raw     []byte // of anything but an object or array
	object  bool
	array   bool
	members []nodeMember
	items   []*node
}

type nodeMember struct {
	name  string
	value *node
}

func parseNode(b []byte, i, depth int) (*node, int, error) {
	if i >= len(b) {
		return nil, i, errJSONEnd
	}
	n := &node{}
	var end int
	var err error
	switch b[i] {
	case '{':
		n.object = true
		end, err = eachMember(b, i, depth, func(key []byte, i, depth int) (int, error) {
			child, end, err := parseNode(b, i, depth)
			n.set(unquote(key), child)
			return end, err
		})
	case '[':
		n.array = true
		end, err = eachItem(b, i, depth, func(i, depth int) (int, error) {
			child, end, err := parseNode(b, i, depth)
			n.items = append(n.items, child)
			return end, err
		})
	default:
		if end, err = skipValue(b, i, depth); err == nil {
			n.raw = b[i:end]
		}
	}
	return n, end, err
}

func (n *node) get(name string) *node {
	for i := range n.members {
		if n.members[i].name == name {
			return n.members[i].value
		}
	}
	return nil
}

// set replaces or adds a member.
func (n *node) set(name string, v *node) {
	for i := range n.members {
		if n.members[i].name == name {
			n.members[i].value = v
			return
		}
	}
	n.members = append(n.members, nodeMember{name, v})
}

func (n *node) remove(names ...string) {
	n.members = slices.DeleteFunc(n.members, func(m nodeMember) bool { return slices.Contains(names, m.name) })
}

// str is the text of a string node, else "".
func (n *node) str() string {
	if n == nil || n.object || n.array {
		return ""
	}
	return unquote(n.raw)
}

func (n *node) null() bool { return n != nil && string(n.raw) == "null" }

func (n *node) write(b []byte) []byte {
	switch {
	case n.object:
		b = append(b, '{')
		for i, m := range n.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendQuoted(b, m.name), ':')
			b = m.value.write(b)
		}
		return append(b, '}')
	case n.array:
		b = append(b, '[')
		for i, v := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.write(b)
		}
		return append(b, ']')
	}
	return append(b, n.raw...)
}

func object(members ...nodeMember) *node { return &node{object: true, members: members} }
func stringNode(s string) *node          { return &node{raw: appendQuoted(nil, s)} }

// normaliseSchema puts a tool's input schema into a form that endpoints accept:
// an object with properties, arrays with items, nothing null where a schema must
// be, references into the schema itself put in place. The order of everything is
// kept, and the meaning where the dialect can express it; where it cannot, the
// schema allows more, and the tool's server has the last word.
func normaliseSchema(raw json.RawMessage, d Dialect) []byte {
	value, err := whole(raw)
	if err != nil || value[0] != '{' {
		return []byte(emptySchema)
	}
	root, _, err := parseNode(value, 0, 0)
	if err != nil {
		return []byte(emptySchema)
	}
	z := normaliser{root: root, left: maxNodes, refs: []string{"#"}}
	n := z.schema(root, 0)
	if d != DialectFull {
		liftRoot(n)
	}
	if n.get("type").str() != "object" {
		if n.get("type") == nil {
			n.members = slices.Insert(n.members, 0, nodeMember{"type", stringNode("object")})
		} else {
			n.set("type", stringNode("object"))
		}
	}
	if n.get("properties") == nil {
		n.set("properties", object())
	}
	if d == DialectGemini {
		gemini(n, 0)
	}
	return n.write(nil)
}

// normaliser walks one schema.
type normaliser struct {
	root *node
	refs []string // references being put in
	left int      // nodes that may still be made
}

// schema returns the normal form of one schema; the input is not changed.
func (z *normaliser) schema(n *node, level int) *node {
	z.left--
	if n == nil || !n.object || level > maxLevel {
		return object() // true, null and what is no schema allow anything
	}
	if n.get("$ref") != nil {
		return z.reference(n, level)
	}
	out := object()
	for _, m := range n.members {
		if v := z.keyword(m.name, m.value, level); v != nil {
			out.members = append(out.members, nodeMember{m.name, v})
		}
	}
	if typed(out, "object") && out.get("properties") == nil {
		out.set("properties", object())
	}
	if out.get("type") == nil && out.get("properties") != nil {
		out.members = slices.Insert(out.members, 0, nodeMember{"type", stringNode("object")})
	}
	if typed(out, "array") && out.get("items") == nil && out.get("prefixItems") == nil {
		out.set("items", object())
	}
	return out
}

// typed tells whether a schema's type is, or may be, t.
func typed(n *node, t string) bool {
	v := n.get("type")
	return v.str() == t || v != nil && slices.ContainsFunc(v.items, func(i *node) bool { return i.str() == t })
}

// keyword returns the normal form of one keyword's value, nil to leave it out.
func (z *normaliser) keyword(name string, v *node, level int) *node {
	switch name {
	case "$schema", "$id", "$comment", "$anchor", "$dynamicAnchor", "$dynamicRef", "$vocabulary", "$defs", "definitions":
		return nil
	case "default", "const", "example", "examples":
		return v
	case "properties", "patternProperties", "dependentSchemas":
		if !v.object {
			return nil // an object gets its properties below
		}
		out := object()
		for _, m := range v.members {
			out.members = append(out.members, nodeMember{m.name, z.schema(m.value, level+1)})
		}
		return out
	case "items":
		if v.array { // a tuple as drafts before 2020-12 write it
			return object(nodeMember{"anyOf", z.list(v, level)})
		}
		return z.schema(v, level+1)
	case "anyOf", "oneOf", "allOf", "prefixItems":
		if len(v.items) == 0 {
			return nil
		}
		return z.list(v, level)
	case "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "not", "if", "then", "else", "contains", "propertyNames":
		if v.object {
			return z.schema(v, level+1)
		}
		if s := string(v.raw); s == "true" || s == "false" {
			return v
		}
		return nil
	case "required":
		out := &node{array: true}
		for _, i := range v.items {
			if i.str() != "" && !slices.ContainsFunc(out.items, func(o *node) bool { return o.str() == i.str() }) {
				out.items = append(out.items, i)
			}
		}
		if len(out.items) == 0 {
			return nil
		}
		return out
	case "enum":
		if len(v.items) == 0 {
			return nil
		}
		return v
	case "type":
		if v.str() == "" && len(v.items) == 0 {
			return nil
		}
		return v
	}
	if v.null() {
		return nil
	}
	return v
}

func (z *normaliser) list(v *node, level int) *node {
	out := &node{array: true}
	for _, i := range v.items {
		out.items = append(out.items, z.schema(i, level+1))
	}
	return out
}

// reference puts the target of a $ref in its place; what stands beside the
// $ref is kept and goes first. A circle ends where it would begin again.
func (z *normaliser) reference(n *node, level int) *node {
	ref := n.get("$ref").str()
	target := z.resolve(ref)
	merged := object()
	switch {
	case target == nil:
	case slices.Contains(z.refs, ref) || z.left <= 0 || level > maxLevel-8:
		if t := target.get("type"); t != nil {
			merged.set("type", t)
		}
	default:
		merged.members = slices.Clone(target.members)
		z.refs = append(z.refs, ref)
		defer func() { z.refs = z.refs[:len(z.refs)-1] }()
	}
	for _, m := range n.members {
		if m.name != "$ref" {
			merged.set(m.name, m.value)
		}
	}
	return z.schema(merged, level+1)
}

// resolve finds the target of a reference into the schema itself (RFC 6901
// pointer or anchor). Nothing is ever fetched.
func (z *normaliser) resolve(ref string) *node {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	if p, err := url.PathUnescape(pointer); err == nil {
		pointer = p
	}
	if pointer == "" {
		return z.root
	}
	if pointer[0] != '/' {
		return anchor(z.root, pointer)
	}
	n := z.root
	for _, step := range strings.Split(pointer[1:], "/") {
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		if n.array {
			k, err := strconv.Atoi(step)
			if err != nil || k < 0 || k >= len(n.items) {
				return nil
			}
			n = n.items[k]
		} else if n = n.get(step); n == nil {
			return nil
		}
	}
	if !n.object {
		return nil
	}
	return n
}

func anchor(n *node, name string) *node {
	if n.get("$anchor").str() == name || n.get("$id").str() == "#"+name {
		return n
	}
	for _, m := range n.members {
		if found := anchor(m.value, name); found != nil {
			return found
		}
	}
	for _, i := range n.items {
		if found := anchor(i, name); found != nil {
			return found
		}
	}
	return nil
}
