package llm

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// rules are what a dialect lacks of JSON Schema 2020-12. The zero value lacks nothing.
type rules struct {
	words       []string            // keywords it knows; nil is all
	formats     map[string][]string // values of format it knows, by type; nil is all
	plainRoot   bool                // no anyOf, oneOf, allOf, enum, const, not, if at the top
	oneType     bool                // type is one name
	nullable    bool                // null is "nullable": true
	noConst     bool                // const is written as enum
	oneWay      bool                // oneOf is written as anyOf, allOf is merged, prefixItems are items
	enumTexts   bool                // values of enum are texts that are not empty
	enumAlike   bool                // values of enum are texts or numbers of one type
	allTyped    bool                // every schema has a type, or alternatives that have
	aloneAnyOf  bool                // beside anyOf stands nothing else
	apartAnyOf  bool                // beside anyOf stand words alone
	noAnyOf     bool
	grammar     bool           // patterns and lengths that llama.cpp can make a grammar of
	ownRequired bool           // names in required must be properties
	names       *regexp.Regexp // of properties; nil is any
}

// dialectRules is what each dialect lacks, from the documents named in table.
var dialectRules = map[Dialect]rules{
	DialectFull:   {},
	DialectOpenAI: {plainRoot: true},
	// "input_schema does not support oneOf, allOf, or anyOf at the top level"; "Property keys should match pattern …"
	DialectAnthropic: {plainRoot: true, names: regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)},
	// https://ai.google.dev/api/caching#Schema
	DialectGemini: {plainRoot: true, oneType: true, nullable: true, noConst: true, oneWay: true, enumTexts: true, allTyped: true, aloneAnyOf: true, ownRequired: true,
		formats: map[string][]string{"string": {"enum", "date-time"}, "integer": {"int32", "int64"}, "number": {"float", "double"}},
		words: []string{"type", "format", "title", "description", "nullable", "enum", "maxItems", "minItems", "properties", "required", "minProperties",
			"maxProperties", "minLength", "maxLength", "pattern", "example", "anyOf", "default", "items", "minimum", "maximum"}},
	// https://github.com/MoonshotAI/walle/blob/main/docs/mfjs-spec.md
	DialectMoonshot: {plainRoot: true, oneType: true, noConst: true, oneWay: true, enumAlike: true, allTyped: true, apartAnyOf: true,
		words: []string{"type", "description", "default", "enum", "anyOf", "properties", "additionalProperties", "items", "required"}},
	DialectOllama: {plainRoot: true, noConst: true, oneWay: true},
	// common/json-schema-to-grammar.cpp of llama.cpp
	DialectGrammar: {plainRoot: true, noConst: true, oneWay: true, allTyped: true, apartAnyOf: true, grammar: true,
		words: []string{"type", "format", "title", "description", "enum", "anyOf", "properties", "additionalProperties", "required", "items", "default", "examples",
			"minItems", "maxItems", "minLength", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}},
	DialectPlain: {plainRoot: true, oneType: true, noConst: true, oneWay: true, enumAlike: true, allTyped: true, noAnyOf: true, ownRequired: true,
		words: []string{"type", "description", "enum", "properties", "required", "items"}},
}

// rewriter rewrites a normalised schema, in place, into a dialect.
type rewriter struct {
	rules
	left int // nodes that may still be copied
}

// rewrite puts a normalised schema into a dialect, in place. What the dialect does not know
// a model can at least read where it is short: it goes into the description.
func rewrite(n *node, d Dialect) {
	w := rewriter{dialectRules[d], maxNodes}
	if w.plainRoot {
		liftRoot(n)
	}
	w.schema(n, 0)
	if n.get("properties") == nil {
		n.set("properties", object())
	}
}

func (w *rewriter) schema(n *node, level int) {
	if n == nil || !n.object || level > 2*maxLevel {
		return
	}
	w.forms(n)
	for range maxLevel { // each brings out what stood in the alternative that is left
		if !w.noAnyOf || n.get("anyOf") == nil {
			break
		}
		w.collapse(n)
		w.forms(n)
	}
	w.own(n, level)
	for range maxLevel { // the one alternative that fits may have some in turn
		if !w.pushDown(n) {
			break
		}
		w.forms(n)
		w.own(n, level)
	}
	if n.get("anyOf") == nil {
		complete(n)
	}
	w.properties(n)
	eachSchema(n, func(s *node) { w.schema(s, level+1) })
}

// own gives a schema the type that it lacks, and takes out its own words that the dialect
// does not know.
func (w *rewriter) own(n *node, level int) {
	if w.allTyped {
		w.giveType(n, level)
	}
	w.limits(n)
	w.drop(n)
}

// forms writes alternatives, types and fixed values in the forms of the dialect.
func (w *rewriter) forms(n *node) {
	if w.oneWay {
		w.oneWays(n)
	}
	w.requiredAlone(n)
	if c := n.get("const"); c != nil && w.noConst {
		n.set("enum", list(c))
		n.remove("const")
	}
	if w.oneType || w.nullable {
		w.types(n)
	}
	if w.nullable {
		nullBranch(n)
	}
	w.enum(n)
}

// oneWays writes oneOf as anyOf, merges allOf, and makes one schema of a tuple's.
func (w *rewriter) oneWays(n *node) {
	for all := n.get("allOf"); all != nil; all = n.get("allOf") {
		n.remove("allOf")
		for _, branch := range all.items {
			w.merge(n, branch)
		}
	}
	if one := n.get("oneOf"); one != nil {
		if n.get("anyOf") == nil {
			n.set("anyOf", one)
		}
		n.remove("oneOf")
	}
	if prefix := n.get("prefixItems"); prefix != nil {
		n.remove("prefixItems")
		if rest := n.get("items"); rest == nil || len(rest.members) == 0 {
			n.set("items", anyOf(distinct(prefix.items)))
		} else if !same(rest, anyOf(distinct(prefix.items))) {
			n.set("items", anyOf(distinct(append(slices.Clone(prefix.items), rest))))
		}
	}
}

// requiredAlone takes out alternatives that only say which properties must be given, where
// they would have to be written out with all properties each.
func (w *rewriter) requiredAlone(n *node) {
	a := n.get("anyOf")
	if a == nil || !w.aloneAnyOf && !w.apartAnyOf && !w.noAnyOf || n.get("properties") == nil {
		return
	}
	var ways []string
	for _, branch := range a.items {
		names := branch.get("required").strings()
		if names == nil || slices.ContainsFunc(branch.members, func(m nodeMember) bool { return m.name != "required" && m.name != "type" }) {
			return
		}
		ways = append(ways, strings.Join(names, " and "))
	}
	n.remove("anyOf")
	tell(n, "Needs "+strings.Join(ways, ", or "))
}

// types makes one type of a list of types, nullable, or alternatives.
func (w *rewriter) types(n *node) {
	types := n.get("type")
	null := object(nodeMember{"type", stringNode("null")})
	if types.str() == "null" && w.nullable {
		n.set("type", stringNode("string"))
		n.set("nullable", rawNode("true"))
		return
	}
	if types == nil || !types.array {
		return
	}
	rest := slices.DeleteFunc(types.strings(), func(t string) bool { return t == "null" })
	isNull := len(rest) < len(types.items)
	if isNull && w.nullable {
		n.set("nullable", rawNode("true"))
		isNull = false
	}
	if len(rest) == 1 && (!isNull || w.noAnyOf) {
		n.set("type", stringNode(rest[0]))
		return
	}
	n.remove("type")
	if n.get("anyOf") != nil {
		return // the alternatives say it
	}
	branches := list()
	for _, t := range rest {
		branches.items = append(branches.items, ofType(n, t))
	}
	if isNull {
		branches.items = append(branches.items, null)
	}
	for _, words := range wordsOf {
		n.remove(words...)
	}
	n.remove("enum")
	n.set("anyOf", branches)
}

// ofType is the part of a schema that is about values of a type.
func ofType(n *node, t string) *node {
	out := object(nodeMember{"type", stringNode(t)})
	for _, word := range wordsOf[t] {
		if v := n.get(word); v != nil {
			out.set(word, v)
		}
	}
	var values []*node
	for _, v := range n.get("enum").values() {
		if typeOf(v) == t || t == "number" && typeOf(v) == "integer" {
			values = append(values, v)
		}
	}
	if len(values) > 0 {
		out.set("enum", list(values...))
	}
	return out
}

func (n *node) values() []*node {
	if n == nil {
		return nil
	}
	return n.items
}

// typeOf is the type of a value.
func typeOf(v *node) string {
	switch {
	case v.object:
		return "object"
	case v.array:
		return "array"
	case v.is("true"), v.is("false"):
		return "boolean"
	case v.null():
		return "null"
	case len(v.raw) > 0 && v.raw[0] == '"':
		return "string"
	}
	if n, ok := numeric(v); ok && n == float64(int64(n)) {
		return "integer"
	}
	return "number"
}

// wordsOf are the keywords that belong to one type, beside enum.
var wordsOf = map[string][]string{
	"object": {"properties", "required", "additionalProperties", "minProperties", "maxProperties", "patternProperties", "propertyNames",
		"unevaluatedProperties", "dependentRequired", "dependentSchemas"},
	"array":   {"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains", "unevaluatedItems"},
	"string":  {"pattern", "minLength", "maxLength", "format", "contentEncoding", "contentMediaType", "contentSchema"},
	"number":  {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"},
	"integer": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"},
}

// nullBranch turns an alternative "null" into nullable.
func nullBranch(n *node) {
	a := n.get("anyOf")
	rest := slices.DeleteFunc(slices.Clone(a.values()), func(b *node) bool { return b.get("type").str() == "null" })
	if len(rest) == len(a.values()) {
		return
	}
	n.set("nullable", rawNode("true"))
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
		n.set("anyOf", list(rest...))
	}
}

// enum keeps the values that the dialect takes in an enum; others are told in words, or
// become alternatives.
func (w *rewriter) enum(n *node) {
	e := n.get("enum")
	if e == nil || !w.enumTexts && !w.enumAlike {
		return
	}
	values := slices.DeleteFunc(slices.Clone(e.items), (*node).null)
	if isNull := len(values) < len(e.items); isNull && w.nullable {
		n.set("nullable", rawNode("true"))
	} else if isNull && !w.noAnyOf {
		w.splitEnum(n, e.items)
		return
	}
	kinds := kindsOf(values)
	empty := slices.ContainsFunc(values, func(v *node) bool { return v.is(`""`) })
	t := n.get("type").str()
	switch {
	case len(values) == 0:
		if n.remove("enum"); t == "" && n.get("anyOf") == nil {
			n.set("type", stringNode("string")) // nullable, or what is left of it
		}
	case len(kinds) == 1 && kinds["string"] && (t == "string" || t == "") && !(empty && w.enumTexts):
		n.set("type", stringNode("string"))
		n.set("enum", list(values...))
	case w.enumAlike && len(kinds) == 1 && (kinds["integer"] && t != "string" || kinds["number"] && t != "string" && t != "integer"):
		n.set("type", stringNode(cmp.Or(t, oneKind(kinds))))
		n.set("enum", list(values...))
	case w.enumAlike && !w.noAnyOf && len(kinds) > 1 && t == "":
		w.splitEnum(n, e.items)
	default:
		if n.remove("enum"); t == "" && len(kinds) == 1 {
			n.set("type", stringNode(oneKind(kinds)))
		}
		tell(n, "One of: "+written(values))
	}
}

// kindsOf are the types of values; whole numbers among others are numbers.
func kindsOf(values []*node) map[string]bool {
	kinds := map[string]bool{}
	for _, v := range values {
		kinds[typeOf(v)] = true
	}
	if kinds["number"] {
		delete(kinds, "integer")
	}
	return kinds
}

func oneKind(kinds map[string]bool) string {
	for k := range kinds {
		return k
	}
	return ""
}

// splitEnum makes an alternative for the values of each type.
func (w *rewriter) splitEnum(n *node, values []*node) {
	var order []string
	byType := map[string]*node{}
	kinds := kindsOf(values)
	for _, v := range values {
		t := typeOf(v)
		if t == "integer" && kinds["number"] {
			t = "number"
		}
		if byType[t] == nil {
			byType[t] = object(nodeMember{"type", stringNode(t)})
			order = append(order, t)
		}
		if t != "null" {
			b := byType[t]
			b.set("enum", list(append(slices.Clone(b.get("enum").values()), v)...))
		}
	}
	n.remove("enum", "type")
	a := list()
	for _, t := range order {
		a.items = append(a.items, byType[t])
	}
	n.set("anyOf", a)
}

func written(values []*node) string {
	var out []string
	for _, v := range values {
		out = append(out, string(v.write(nil)))
	}
	return strings.Join(out, ", ")
}

// tell adds a sentence to a schema's description.
func tell(n *node, what string) {
	if len(what) > 400 {
		what = strings.ToValidUTF8(what[:400], "") + "…"
	}
	d := strings.TrimSpace(n.get("description").str())
	if strings.Contains(d, what) {
		return
	}
	if d != "" {
		d = sentence(d) + " "
	}
	n.set("description", stringNode(d+what+"."))
}
