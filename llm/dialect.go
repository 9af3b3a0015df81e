package llm

import (
	"slices"
	"strings"
)

// liftRoot removes what some endpoints refuse at the top of a tool's schema.
// The properties of alternatives become optional properties.
func liftRoot(n *node) {
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		list := n.get(name)
		if list == nil {
			continue
		}
		n.remove(name)
		for _, branch := range list.items {
			mergeProperties(n, branch)
			if name == "allOf" {
				mergeRequired(n, branch)
			}
		}
	}
	n.remove("enum", "not", "if", "then", "else", "const")
}

func mergeProperties(n, from *node) {
	add := from.get("properties")
	if add == nil {
		return
	}
	p := object()
	if have := n.get("properties"); have != nil {
		p.members = slices.Clone(have.members)
	}
	for _, m := range add.members {
		if p.get(m.name) == nil {
			p.set(m.name, m.value)
		}
	}
	n.set("properties", p)
}

func mergeRequired(n, from *node) {
	add := from.get("required")
	if add == nil {
		return
	}
	all := &node{array: true}
	if have := n.get("required"); have != nil {
		all.items = slices.Clone(have.items)
	}
	for _, r := range add.items {
		if !slices.ContainsFunc(all.items, func(o *node) bool { return o.str() == r.str() }) {
			all.items = append(all.items, r)
		}
	}
	n.set("required", all)
}

// geminiWords are the keywords of Gemini's Schema
// (https://ai.google.dev/api/caching#Schema).
var geminiWords = map[string]bool{
	"type": true, "format": true, "title": true, "description": true, "nullable": true, "enum": true,
	"maxItems": true, "minItems": true, "properties": true, "required": true, "minProperties": true,
	"maxProperties": true, "minLength": true, "maxLength": true, "pattern": true, "example": true,
	"anyOf": true, "default": true, "items": true, "minimum": true, "maximum": true,
}

var geminiFormats = map[string]bool{
	"enum": true, "date-time": true, "int32": true, "int64": true, "float": true, "double": true,
}

// gemini rewrites a normalised schema, in place, into Gemini's subset.
func gemini(n *node, level int) {
	if n == nil || !n.object || level > maxLevel {
		return
	}
	if one := n.get("oneOf"); one != nil {
		if n.get("anyOf") == nil {
			n.set("anyOf", one)
		}
		n.remove("oneOf")
	}
	if all := n.get("allOf"); all != nil {
		n.remove("allOf")
		for _, branch := range all.items {
			for _, m := range branch.members {
				if n.get(m.name) == nil {
					n.set(m.name, m.value)
				}
			}
			mergeProperties(n, branch)
			mergeRequired(n, branch)
		}
	}
	if c := n.get("const"); c != nil && n.get("enum") == nil {
		n.set("enum", &node{array: true, items: []*node{c}})
	}
	if p := n.get("prefixItems"); p != nil && n.get("items") == nil {
		n.set("items", object(nodeMember{"anyOf", p}))
	}
	geminiNull(n)
	geminiTypes(n)
	geminiEnum(n)
	if f := n.get("format"); f != nil && !geminiFormats[f.str()] {
		n.remove("format")
	}
	n.members = slices.DeleteFunc(n.members, func(m nodeMember) bool { return !geminiWords[m.name] })
	p := n.get("properties")
	if p != nil {
		for _, m := range p.members {
			gemini(m.value, level+1)
		}
	}
	if r := n.get("required"); r != nil {
		r.items = slices.DeleteFunc(slices.Clone(r.items), func(i *node) bool { return p == nil || p.get(i.str()) == nil })
		if len(r.items) == 0 {
			n.remove("required")
		}
	}
	gemini(n.get("items"), level+1)
	if a := n.get("anyOf"); a != nil {
		for _, branch := range a.items {
			gemini(branch, level+1)
		}
	}
}

// geminiNull turns an alternative "null" into nullable.
func geminiNull(n *node) {
	any := n.get("anyOf")
	if any == nil {
		return
	}
	var rest []*node
	for _, b := range any.items {
		if b.get("type").str() != "null" {
			rest = append(rest, b)
		}
	}
	if len(rest) == len(any.items) {
		return
	}
	n.set("nullable", &node{raw: []byte("true")})
	n.remove("anyOf")
	switch len(rest) {
	case 0:
		n.set("type", stringNode("string"))
	case 1:
		for _, m := range rest[0].members {
			if n.get(m.name) == nil {
				n.set(m.name, m.value)
			}
		}
	default:
		n.set("anyOf", &node{array: true, items: rest})
	}
}

// geminiTypes turns a list of types into one type, nullable, or alternatives.
func geminiTypes(n *node) {
	types := n.get("type")
	if types.str() == "null" {
		n.set("type", stringNode("string"))
		n.set("nullable", &node{raw: []byte("true")})
		return
	}
	if types == nil || !types.array {
		return
	}
	var rest []string
	for _, t := range types.items {
		if t.str() == "null" {
			n.set("nullable", &node{raw: []byte("true")})
		} else if t.str() != "" && !slices.Contains(rest, t.str()) {
			rest = append(rest, t.str())
		}
	}
	switch len(rest) {
	case 0:
		n.set("type", stringNode("string"))
		return
	case 1:
		n.set("type", stringNode(rest[0]))
		return
	}
	branches := &node{array: true}
	for _, t := range rest {
		b := object(nodeMember{"type", stringNode(t)})
		for _, word := range wordsOf[t] {
			if v := n.get(word); v != nil {
				b.set(word, v)
			}
		}
		branches.items = append(branches.items, b)
	}
	n.remove("type")
	for _, words := range wordsOf {
		n.remove(words...)
	}
	n.set("anyOf", branches)
}

// wordsOf are the keywords that belong to one type.
var wordsOf = map[string][]string{
	"object":  {"properties", "required", "minProperties", "maxProperties"},
	"array":   {"items", "minItems", "maxItems"},
	"string":  {"enum", "pattern", "minLength", "maxLength", "format"},
	"number":  {"minimum", "maximum"},
	"integer": {"minimum", "maximum"},
}

// geminiEnum keeps enum for strings only; other values are told in words.
func geminiEnum(n *node) {
	e := n.get("enum")
	if e == nil {
		return
	}
	var words []string
	keep := &node{array: true}
	for _, v := range e.items {
		if v.null() {
			n.set("nullable", &node{raw: []byte("true")})
			continue
		}
		words = append(words, string(v.write(nil)))
		if v.str() != "" {
			keep.items = append(keep.items, v)
		}
	}
	t := n.get("type").str()
	if len(keep.items) == len(words) && len(words) > 0 && (t == "string" || t == "") {
		n.set("type", stringNode("string"))
		n.set("enum", keep)
		return
	}
	n.remove("enum")
	if len(words) > 0 {
		d := strings.TrimSpace(n.get("description").str() + " One of: " + strings.Join(words, ", ") + ".")
		n.set("description", stringNode(d))
	}
}
