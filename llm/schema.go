package llm

import (
	"encoding/json"
	"slices"
	"strconv"
)

// Dialect is the part of JSON Schema an endpoint understands.
type Dialect string

// The dialects. DialectFull is JSON Schema 2020-12 as it is.
const (
	DialectFull      Dialect = ""
	DialectOpenAI    Dialect = "openai"    // no anyOf, oneOf, allOf, enum or not at the top
	DialectAnthropic Dialect = "anthropic" // the same, and names of properties of plain characters
	DialectGemini    Dialect = "gemini"    // the subset of OpenAPI 3.0 in Gemini's "Schema"
	DialectMoonshot  Dialect = "moonshot"  // Moonshot Flavored JSON Schema
	DialectOllama    Dialect = "ollama"    // what its templates show the model
	DialectGrammar   Dialect = "grammar"   // what llama.cpp can make a grammar of
	DialectPlain     Dialect = "plain"     // type, properties, required, items, enum and words alone
)

var dialects = []Dialect{DialectFull, DialectOpenAI, DialectAnthropic, DialectGemini, DialectMoonshot, DialectOllama, DialectGrammar, DialectPlain}

const (
	emptySchema = `{"type":"object","properties":{}}`
	// Bounds of one schema after its references are put in.
	maxNodes  = 20000
	maxLevel  = 48
	maxSchema = 512 << 10 // bytes
)

// normaliseSchema puts a tool's input schema, of draft 4 to 2020-12, into a form that
// endpoints accept: an object with properties, arrays with items, nothing null where a
// schema must be, references into the schema itself put in place, the words of older
// drafts in those of 2020-12, and all of it in the dialect. The order of everything is
// kept, and the meaning where the dialect can express it; where it cannot, the schema
// allows more, says so in words, and the tool's server has the last word.
func normaliseSchema(raw json.RawMessage, d Dialect) []byte {
	value, err := whole(raw)
	if err != nil || value[0] != '{' {
		return []byte(emptySchema)
	}
	root, _, err := parseNode(value, 0, 0)
	if err != nil {
		return []byte(emptySchema)
	}
	n := normalised(root)
	rewrite(n, d)
	out := n.write(nil)
	if len(out) <= maxSchema {
		return out
	}
	for _, shorter := range []func(*node, int){withoutWords, topOnly} {
		shorter(n, 0)
		rewrite(n, d)
		if out = n.write(nil); len(out) <= maxSchema {
			return out
		}
	}
	return []byte(emptySchema)
}

// normalised is the schema with its references put in, in the words of 2020-12.
func normalised(root *node) *node {
	z := normaliser{root: root, left: maxNodes, refs: []*node{root}}
	n := z.schema(root, 0)
	n.remove("nullable")
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
	return n
}

// withoutWords takes out what a schema can be understood without.
func withoutWords(n *node, level int) {
	n.remove("description", "title", "default", "example", "examples")
	eachSchema(n, func(s *node) { withoutWords(s, level+1) })
}

// topOnly leaves only the names and types of the properties.
func topOnly(n *node, _ int) {
	p := object()
	for _, m := range n.get("properties").members {
		v := object()
		if t := m.value.get("type"); t != nil {
			v.set("type", t)
		}
		if typed(v, "array") {
			v.set("items", object())
		}
		if typed(v, "object") {
			v.set("properties", object())
		}
		p.members = append(p.members, nodeMember{m.name, v})
	}
	required := n.get("required")
	n.members = nil
	n.set("type", stringNode("object"))
	n.set("properties", p)
	if required != nil {
		n.set("required", required)
	}
}

// normaliser walks one schema.
type normaliser struct {
	root *node
	refs []*node // targets of references being put in
	left int     // nodes that may still be made
	ids  map[string]*node
}

// schema returns the normal form of one schema; the input is not changed.
func (z *normaliser) schema(n *node, level int) *node {
	z.left--
	if n == nil || !n.object || level > maxLevel || z.left < 0 {
		return object() // true, null and what is no schema allow anything
	}
	if ref, ok := refOf(n); ok {
		return z.reference(n, ref, level)
	}
	out := object()
	for _, m := range n.members {
		if v := z.keyword(n, m.name, m.value, level); v != nil {
			out.members = append(out.members, nodeMember{m.name, v})
		}
	}
	z.tuple(n, out, level)
	dependencies(n, out, func(s *node) *node { return z.schema(s, level+1) })
	requiredInside(n, out)
	exclusive(out)
	nullable(out)
	complete(out)
	return out
}

// complete adds what endpoints miss.
func complete(n *node) {
	if typed(n, "object") && n.get("properties") == nil {
		n.set("properties", object())
	}
	if n.get("type") == nil && n.get("properties") != nil {
		n.members = slices.Insert(n.members, 0, nodeMember{"type", stringNode("object")})
	}
	if typed(n, "array") && n.get("items") == nil {
		n.set("items", object())
	}
}

// typed tells whether a schema's type is, or may be, t.
func typed(n *node, t string) bool {
	v := n.get("type")
	return v.str() == t || v != nil && slices.ContainsFunc(v.items, func(i *node) bool { return i.str() == t })
}

func (z *normaliser) list(v *node, level int) *node {
	out := list()
	for _, i := range v.items {
		if !i.is("false") { // nothing is of that form
			out.items = append(out.items, z.schema(i, level+1))
		}
	}
	return out
}

// tuple writes lists of schemas for single items, which drafts before 2020-12 put into
// "items", as "prefixItems", with an "items" beside it: some endpoints miss that.
func (z *normaliser) tuple(n, out *node, level int) {
	first, rest := n.get("prefixItems"), n.get("items")
	if rest != nil && rest.array {
		first, rest = rest, n.get("additionalItems")
	}
	if first != nil && first.array {
		if end := slices.IndexFunc(first.items, func(i *node) bool { return i.is("false") }); end >= 0 {
			first, rest = list(first.items[:end]...), rawNode("false") // a list cannot be longer
		}
	}
	if first == nil || !first.array || len(first.items) == 0 {
		if rest.is("false") {
			out.set("items", object())
			out.set("maxItems", rawNode("0"))
		}
		return
	}
	prefix := z.list(first, level)
	out.set("prefixItems", prefix)
	count := len(prefix.items)
	if most := number(out.get("maxItems").text()); rest.is("false") || most > 0 && most <= count {
		if most == 0 || most > count {
			out.set("maxItems", rawNode(strconv.Itoa(count)))
		}
		out.set("items", anyOf(distinct(prefix.items)))
		return
	}
	out.set("items", z.schema(rest, level+1))
}

// anyOf is a schema of alternatives, or the one there is.
func anyOf(branches []*node) *node {
	if len(branches) == 1 {
		return branches[0].clone()
	}
	return object(nodeMember{"anyOf", list(branches...).clone()})
}

func distinct(nodes []*node) []*node {
	var out []*node
	seen := map[string]bool{}
	for _, n := range nodes {
		if text := string(n.write(nil)); !seen[text] {
			seen[text] = true
			out = append(out, n)
		}
	}
	return out
}

// dependencies writes the word of drafts 4 to 7 in the two of 2019-09.
func dependencies(n, out *node, schema func(*node) *node) {
	d := n.get("dependencies")
	if d == nil || !d.object {
		return
	}
	for _, m := range d.members {
		word, v := "dependentSchemas", m.value
		if v.array {
			word, v = "dependentRequired", stringNodes(v.strings())
		} else {
			v = schema(v)
		}
		if out.get(word) == nil {
			out.set(word, object())
		}
		if out.get(word).get(m.name) == nil {
			out.get(word).set(m.name, v)
		}
	}
}

// requiredInside moves "required": true, as draft 3 and some programs write it into a
// property, to the object.
func requiredInside(n, out *node) {
	p := n.get("properties")
	if p == nil || !p.object {
		return
	}
	names := out.get("required").strings()
	for _, m := range p.members {
		if m.value.object && m.value.get("required").is("true") {
			names = append(names, m.name)
		}
	}
	if names = uniqueTexts(names); len(names) > 0 {
		out.set("required", stringNodes(names))
	}
}

// exclusive writes draft 4's "exclusiveMinimum": true as the number it means.
func exclusive(n *node) {
	for word, limit := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		v := n.get(word)
		if v.is("true") && n.get(limit) != nil {
			n.set(word, n.get(limit))
			n.remove(limit)
		} else if v.is("true") || v.is("false") {
			n.remove(word)
		}
	}
}

// nullable writes OpenAPI's "nullable" as the type it means.
func nullable(n *node) {
	v := n.get("nullable")
	if n.remove("nullable"); !v.is("true") {
		return
	}
	null := object(nodeMember{"type", stringNode("null")})
	switch t := n.get("type"); {
	case t != nil && !typed(n, "null"):
		types := t.strings()
		if t.str() != "" {
			types = []string{t.str()}
		}
		n.set("type", stringNodes(append(types, "null")))
	case t == nil && n.get("anyOf") != nil:
		n.set("anyOf", list(append(slices.Clone(n.get("anyOf").items), null)...))
	case t == nil && n.get("oneOf") != nil:
		n.set("oneOf", list(append(slices.Clone(n.get("oneOf").items), null)...))
	}
	if e := n.get("enum"); e != nil && !slices.ContainsFunc(e.items, (*node).null) {
		n.set("enum", list(append(slices.Clone(e.items), rawNode("null"))...))
	}
}
