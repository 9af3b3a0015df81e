package llm

import (
	"regexp"
	"slices"
	"strings"
)

// liftRoot removes what some endpoints refuse at the top of a tool's schema. The properties
// of alternatives become optional properties; those that every alternative requires stay
// required.
func liftRoot(n *node) {
	w := rewriter{left: maxNodes}
	if all := n.get("allOf"); all != nil {
		n.remove("allOf")
		for _, branch := range all.items {
			liftRoot(branch)
			w.merge(n, branch)
		}
	}
	for _, name := range []string{"anyOf", "oneOf"} {
		ways := n.get(name)
		if ways == nil {
			continue
		}
		n.remove(name)
		var common []string
		for i, branch := range ways.items {
			liftRoot(branch)
			w.unite(n, branch)
			names := branch.get("required").strings()
			if i == 0 {
				common = names
			}
			common = slices.DeleteFunc(common, func(s string) bool { return !slices.Contains(names, s) })
		}
		if names := uniqueTexts(append(n.get("required").strings(), common...)); len(names) > 0 {
			n.set("required", stringNodes(names))
		}
	}
	for _, word := range []string{"then", "else"} {
		if branch := n.get(word); branch != nil && branch.object {
			w.unite(n, branch)
		}
	}
	n.remove("enum", "not", "if", "then", "else", "const")
}

// unite adds the properties of an alternative: a property of both may be as in either.
func (w *rewriter) unite(n, from *node) {
	for _, m := range from.get("properties").named() {
		p := n.get("properties")
		if p == nil {
			p = object()
			n.set("properties", p)
		}
		have := p.get(m.name)
		switch {
		case have == nil:
			p.members = append(p.members, m)
		case !same(have, m.value):
			p.set(m.name, either(have, m.value))
		}
	}
}

func (n *node) named() []nodeMember {
	if n == nil {
		return nil
	}
	return n.members
}

// either is a schema for what fits one of two.
func either(a, b *node) *node {
	if values := append(slices.Clone(fixed(a)), fixed(b)...); fixed(a) != nil && fixed(b) != nil {
		out := a.clone()
		out.remove("const")
		out.set("enum", list(distinct(values)...))
		return out
	}
	branches := []*node{a}
	if ways := a.get("anyOf"); ways != nil && len(a.members) == 1 {
		branches = ways.items
	}
	return object(nodeMember{"anyOf", list(distinct(append(slices.Clone(branches), b))...)})
}

// fixed are the values of an enum or a const.
func fixed(n *node) []*node {
	if c := n.get("const"); c != nil {
		return []*node{c}
	}
	return n.get("enum").values()
}

// merge puts a schema that holds as well into another; where both say something of the
// same thing and both cannot be said, the first stays.
func (w *rewriter) merge(n, from *node) {
	if w.left -= from.size(); w.left < 0 {
		return
	}
	from = from.clone()
	for _, m := range from.members {
		have := n.get(m.name)
		switch {
		case m.name == "required":
			n.set("required", stringNodes(uniqueTexts(append(have.strings(), m.value.strings()...))))
		case have == nil:
			n.set(m.name, m.value)
		case m.name == "properties":
			for _, p := range m.value.members {
				if own := have.get(p.name); own == nil {
					have.members = append(have.members, p)
				} else if !same(own, p.value) {
					w.merge(own, p.value)
				}
			}
		case m.name == "items" && have.object && m.value.object:
			w.merge(have, m.value)
		case m.name == "enum":
			both := slices.DeleteFunc(slices.Clone(have.items), func(v *node) bool {
				return !slices.ContainsFunc(m.value.items, func(o *node) bool { return same(v, o) })
			})
			if len(both) > 0 {
				n.set("enum", list(both...))
			}
		case m.name == "type":
			both := slices.DeleteFunc(typeNames(have), func(t string) bool { return !typed(from, t) })
			if t := typeNode(stringNodes(both)); t != nil {
				n.set("type", t)
			}
		case m.name == "allOf":
			n.set("allOf", list(append(slices.Clone(have.items), m.value.items...)...))
		case m.name == "description" && !strings.Contains(have.str(), m.value.str()):
			n.set("description", stringNode(sentence(have.str())+" "+m.value.str()))
		}
	}
}

func typeNames(v *node) []string {
	if s := v.str(); s != "" {
		return []string{s}
	}
	return v.strings()
}

// collapse makes one schema of alternatives: of objects, one with the properties of all;
// else the first, the others told in words.
func (w *rewriter) collapse(n *node) {
	a := n.get("anyOf")
	if a == nil {
		return
	}
	n.remove("anyOf")
	rest := slices.DeleteFunc(slices.Clone(a.items), func(b *node) bool { return b.get("type").str() == "null" })
	if len(rest) == 0 {
		return
	}
	first := rest[0].clone()
	var others []string
	for _, b := range rest[1:] {
		switch {
		case typed(first, "object") && typed(b, "object"):
			w.unite(first, b)
			first.remove("required")
		case fixed(first) != nil && fixed(b) != nil:
			first = either(first, b)
		default:
			others = append(others, string(b.write(nil)))
		}
	}
	w.merge(n, first)
	if len(others) > 0 {
		tell(n, "Or: "+strings.Join(others, ", "))
	}
}

// giveType gives a schema that says nothing of types the one its words belong to, else
// alternatives of all.
func (w *rewriter) giveType(n *node, level int) {
	if n.get("type") != nil || n.get("anyOf") != nil {
		return
	}
	for _, t := range []string{"object", "array", "string", "number"} {
		if slices.ContainsFunc(wordsOf[t], func(word string) bool { return n.get(word) != nil }) {
			n.members = slices.Insert(n.members, 0, nodeMember{"type", stringNode(t)})
			complete(n)
			return
		}
	}
	if values := fixed(n); len(values) > 0 {
		w.typeOfValues(n, values)
		return
	}
	if w.noAnyOf || level > maxLevel {
		n.set("type", stringNode("string"))
		return
	}
	one := func(t string) *node { return object(nodeMember{"type", stringNode(t)}) }
	text := one("string")
	object, many := one("object"), one("array")
	object.set("properties", &node{object: true})
	many.set("items", text.clone())
	n.set("anyOf", list(text, one("number"), one("boolean"), object, many))
}

func (w *rewriter) typeOfValues(n *node, values []*node) {
	if kinds := kindsOf(values); len(kinds) == 1 {
		n.members = slices.Insert(n.members, 0, nodeMember{"type", stringNode(oneKind(kinds))})
	} else if !w.noAnyOf && (w.oneType || w.apartAnyOf) {
		w.splitEnum(n, values)
	}
}

// besideAnyOf are the words that may stand beside anyOf where types may not.
var besideAnyOf = []string{"description", "default", "title", "examples", "example"}

// pushDown writes what stands beside alternatives into each of them. It says whether only one
// was left, whose words stand in the schema itself now.
func (w *rewriter) pushDown(n *node) bool {
	a := n.get("anyOf")
	if a == nil || !w.aloneAnyOf && !w.apartAnyOf {
		return false
	}
	common := object()
	for _, m := range n.members {
		if m.name != "anyOf" && (w.aloneAnyOf || !slices.Contains(besideAnyOf, m.name)) {
			common.members = append(common.members, m)
		}
	}
	if len(common.members) == 0 {
		return false
	}
	branches := list()
	for _, b := range a.items {
		b = b.clone()
		if t := common.get("type"); t != nil && b.get("type") != nil && !slices.ContainsFunc(typeNames(b.get("type")), func(s string) bool { return typed(common, s) }) {
			continue // nothing fits both
		}
		own := b.get("description").str()
		w.merge(b, common)
		if own != "" && common.get("description").str() != "" {
			b.set("description", stringNode(sentence(common.get("description").str())+" "+own))
		}
		if d := common.get("default"); d != nil && !typed(b, typeOf(d)) {
			b.remove("default")
		}
		complete(b)
		branches.items = append(branches.items, b)
	}
	for _, m := range common.members {
		n.remove(m.name)
	}
	switch len(branches.items) {
	case 0:
		n.remove("anyOf")
		n.members = append(n.members, common.members...)
	case 1:
		n.remove("anyOf")
		w.merge(n, branches.items[0])
		return true
	default:
		n.set("anyOf", branches)
	}
	return false
}

// longest is the most repetitions that llama.cpp makes a rule for.
const longest = 2000

var (
	grammarPattern  = regexp.MustCompile(`^\^(?:[^\\(]|\\[^a-zA-Z0-9]|\((?:[^?]|\?:))*\$$`)
	grammarRepeats  = regexp.MustCompile(`\{(?:\d+,)?(\d{4,})\}`)
	grammarNotGroup = regexp.MustCompile(`\(\?[^:]`)
)

// limits takes out, and tells, limits that the dialect cannot read.
func (w *rewriter) limits(n *node) {
	if f := n.get("format").str(); f != "" && w.formats != nil && !slices.Contains(w.formats[n.get("type").str()], f) {
		n.remove("format")
		tell(n, "format: "+f)
	}
	if !w.grammar {
		return
	}
	if p := n.get("pattern").str(); p != "" && (!grammarPattern.MatchString(p) || grammarRepeats.MatchString(p) || grammarNotGroup.MatchString(p)) {
		n.remove("pattern")
		tell(n, "pattern: "+p)
	}
	for _, word := range []string{"minLength", "maxLength", "minItems", "maxItems"} {
		if v, ok := numeric(n.get(word)); ok && v > longest {
			tell(n, word+": "+string(n.get(word).text()))
			n.remove(word)
		}
	}
}

// properties takes out names that the dialect does not take, and required names of none.
func (w *rewriter) properties(n *node) {
	p := n.get("properties")
	if w.names != nil && p != nil {
		var gone []string
		p.members = slices.DeleteFunc(slices.Clone(p.members), func(m nodeMember) bool {
			if w.names.MatchString(m.name) {
				return false
			}
			gone = append(gone, string(stringNode(m.name).raw))
			return true
		})
		if len(gone) > 0 {
			tell(n, "Takes also "+strings.Join(gone, ", "))
			w.onlyOwn(n, p)
		}
	}
	if w.ownRequired {
		w.onlyOwn(n, p)
	}
	if more := n.get("additionalProperties"); w.allTyped && more != nil && more.object && len(more.members) == 0 {
		n.set("additionalProperties", rawNode("true")) // the same, and no schema without a type
	}
}

// onlyOwn leaves in required only names of properties.
func (w *rewriter) onlyOwn(n, p *node) {
	r := n.get("required")
	if r == nil {
		return
	}
	own := map[string]bool{}
	for _, m := range p.named() {
		own[m.name] = true
	}
	names := slices.DeleteFunc(r.strings(), func(s string) bool { return !own[s] })
	if n.remove("required"); len(names) > 0 {
		n.set("required", stringNodes(names))
	}
}

// toldWords are short limits that a model can follow without the endpoint.
var toldWords = []string{"const", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
	"minItems", "maxItems", "format"}

// drop takes out the words that the dialect does not know, and tells short limits.
func (w *rewriter) drop(n *node) {
	if w.words == nil {
		return
	}
	var told []string
	n.members = slices.DeleteFunc(n.members, func(m nodeMember) bool {
		if slices.Contains(w.words, m.name) {
			return false
		}
		if slices.Contains(toldWords, m.name) && !m.value.object && !m.value.array && len(m.value.raw) <= 200 {
			told = append(told, m.name+": "+strings.Trim(string(m.value.raw), `"`))
		}
		return true
	})
	if len(told) > 0 {
		tell(n, strings.Join(told, ", "))
	}
}
