package schema

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxOddRefs bounds references to places that are no subschemas (such as
// "#/properties/a/x-types/b"): the library looks at the whole schema again for each.
const maxOddRefs = 50

// maxIDs bounds "$id" keywords: the library compares each with all others.
const maxIDs = 200

// walker goes once over a decoded schema before it is compiled: it counts what is
// bounded, collects references, and takes out what the library would refuse though
// nothing depends on it.
type walker struct {
	patterns *patterns
	dialect  *jsonschema.Draft

	warnings []string
	refs     []string
	roots    []string        // places that have them, or an anchor that is found while checking
	places   map[string]bool // JSON pointers of subschemas
	values   int
	ids      int
	inPlace  int // subschemas that apply others to the same value
}

// prepare checks and cleans doc in place. raw is the text it was read from.
func (w *walker) prepare(raw []byte, doc any) error {
	w.places = map[string]bool{}
	if err := w.count(doc, 1); err != nil {
		return err
	}
	w.duplicates(raw, "")
	if err := w.schema(doc, ""); err != nil {
		return err
	}
	odd := 0
	for _, ref := range w.refs {
		if strings.HasPrefix(ref, "#/") && !w.places[ref[1:]] {
			odd++
		}
	}
	if odd > maxOddRefs {
		return limitError(fmt.Sprintf("the schema has %d references to places that hold no schema; at most %d are followed", odd, maxOddRefs))
	}
	return nil
}

func (w *walker) warn(format string, args ...any) {
	if len(w.warnings) < 20 {
		w.warnings = append(w.warnings, fmt.Sprintf(format, args...))
	}
}

// count bounds depth, number of values and size of numbers of the whole document.
func (w *walker) count(v any, depth int) error {
	if depth > MaxSchemaDepth {
		return limitError(fmt.Sprintf("the schema is nested more than %d levels deep", MaxSchemaDepth))
	}
	w.values++
	if w.values > MaxSchemaValues {
		return limitError(fmt.Sprintf("the schema has more than %d values", MaxSchemaValues))
	}
	switch v := v.(type) {
	case map[string]any:
		for _, item := range v {
			if err := w.count(item, depth+1); err != nil {
				return err
			}
		}
	case []any:
		for _, item := range v {
			if err := w.count(item, depth+1); err != nil {
				return err
			}
		}
	case json.Number:
		if !manageable(string(v)) {
			return limitError(fmt.Sprintf("the schema has a number that is too large or too long to compare with (%s)", short(string(v), 20)))
		}
	}
	return nil
}

// duplicates warns of names that appear twice in one object. Syntax, depth and number
// of values were checked before.
func (w *walker) duplicates(raw []byte, path string) {
	switch firstByte(raw) {
	case '{':
		obj := uncheckedObject(raw)
		for _, name := range obj.Duplicates() {
			w.warn("at %s the name %s appears more than once; the last one counts", place(path), quoted(name))
		}
		for _, m := range obj {
			w.duplicates(m.Value, path+"/"+escapePointer(m.Name))
		}
	case '[':
		for i, item := range uncheckedArray(raw) {
			w.duplicates(item, path+"/"+strconv.Itoa(i))
		}
	}
}

// Keywords whose value is one subschema, a list of them, or a map of them.
var (
	single = []string{"not", "if", "then", "else", "items", "additionalItems", "additionalProperties", "contains",
		"propertyNames", "unevaluatedItems", "unevaluatedProperties", "contentSchema"}
	lists   = []string{"allOf", "anyOf", "oneOf", "prefixItems", "items"}
	tables  = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
	inPlace = []string{"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "dependencies"}
	sizes   = []string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"}
)

// schema visits the subschema v at path.
func (w *walker) schema(v any, path string) error {
	obj, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	w.places[path] = true
	if len(w.places) > MaxSubschemas {
		return limitError(fmt.Sprintf("the schema has more than %d subschemas", MaxSubschemas))
	}
	if err := w.keywords(obj, path); err != nil {
		return err
	}
	for _, k := range single {
		if err := w.schema(obj[k], path+"/"+k); err != nil {
			return err
		}
	}
	for _, k := range lists {
		items, _ := obj[k].([]any)
		for i, item := range items {
			if err := w.schema(item, path+"/"+k+"/"+strconv.Itoa(i)); err != nil {
				return err
			}
		}
	}
	for _, k := range tables {
		members, _ := obj[k].(map[string]any)
		for name, member := range members {
			if err := w.schema(member, path+"/"+k+"/"+escapePointer(name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// keywords looks at the keywords of one subschema that are no subschemas themselves.
func (w *walker) keywords(obj map[string]any, path string) error {
	for k, v := range obj {
		if v == nil && k != "const" && k != "default" {
			w.warn("at %s the keyword %s is null and left out", place(path), quoted(k))
			delete(obj, k)
		}
	}
	for _, k := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		if ref, ok := obj[k].(string); ok {
			w.refs = append(w.refs, ref)
			w.roots = append(w.roots, path)
		}
	}
	if _, ok := obj["$dynamicAnchor"].(string); ok {
		w.roots = append(w.roots, path)
	}
	for _, k := range inPlace {
		if _, ok := obj[k]; ok {
			w.inPlace++
			break
		}
	}
	for _, k := range []string{"$id", "id"} {
		if _, ok := obj[k].(string); ok {
			w.ids++
		}
	}
	if w.ids > maxIDs {
		return limitError(fmt.Sprintf("the schema has more than %d identifiers (\"$id\")", maxIDs))
	}
	for _, k := range sizes {
		// The library would wrap sizes beyond an int; nothing is ever that long.
		if n, ok := obj[k].(json.Number); ok && beyondInt(n) {
			obj[k] = json.Number("4611686018427387904")
		}
	}
	if p, ok := obj["pattern"].(string); ok && !w.patterns.usable(p) {
		delete(obj, "pattern")
	}
	w.patternProperties(obj)
	return nil
}

// patternProperties replaces patterns that cannot be compiled by one that allows any
// property: what cannot be judged must not be called wrong.
func (w *walker) patternProperties(obj map[string]any) {
	members, ok := obj["patternProperties"].(map[string]any)
	if !ok {
		return
	}
	open := false
	for p := range members {
		if !w.patterns.usable(p) {
			delete(members, p)
			open = true
		}
	}
	if open {
		if _, taken := members[""]; !taken {
			members[""] = true
		}
	}
}

// beyondInt says whether a size is a whole number of more than 18 digits.
func beyondInt(n json.Number) bool {
	r, ok := rational(string(n))
	return ok && r.IsInt() && r.Sign() > 0 && r.Num().BitLen() > 62
}
