package llm

import (
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
)

// What stands under a keyword of JSON Schema.
const (
	holdsNothing = iota + 1 // it is not sent, or written elsewhere
	holdsValue              // any value
	holdsValues             // a list of values
	holdsSchema             // a schema, true or false
	holdsSchemas            // a list of schemas
	holdsNamed              // schemas by name
	holdsNames              // lists of names by name
	holdsText
	holdsPattern
	holdsCount  // a whole number from 0
	holdsNumber // a number
	holdsLimit  // a number, or what draft 4 writes
	holdsYesNo
	holdsType
	holdsRequired
	holdsItems
)

// keywords of JSON Schema 2020-12 (its vocabularies core, applicator, unevaluated,
// validation, meta-data, format and content), and of drafts 4 to 2019-09 and OpenAPI 3.0
// where they differ. Other words are kept as they are.
var keywords = map[string]int{
	"$schema": holdsNothing, "$id": holdsNothing, "$comment": holdsNothing, "$anchor": holdsNothing, "$dynamicAnchor": holdsNothing,
	"$dynamicRef": holdsNothing, "$recursiveRef": holdsNothing, "$recursiveAnchor": holdsNothing, "$vocabulary": holdsNothing,
	"$defs": holdsNothing, "definitions": holdsNothing, "$ref": holdsNothing, "dependencies": holdsNothing,
	"additionalItems": holdsNothing, "prefixItems": holdsNothing,
	"default": holdsValue, "const": holdsValue, "example": holdsValue,
	"enum": holdsValues, "examples": holdsValues,
	"additionalProperties": holdsSchema, "unevaluatedProperties": holdsSchema, "unevaluatedItems": holdsSchema, "not": holdsSchema,
	"if": holdsSchema, "then": holdsSchema, "else": holdsSchema, "contains": holdsSchema, "propertyNames": holdsSchema, "contentSchema": holdsSchema,
	"anyOf": holdsSchemas, "oneOf": holdsSchemas, "allOf": holdsSchemas,
	"properties": holdsNamed, "patternProperties": holdsNamed, "dependentSchemas": holdsNamed,
	"dependentRequired": holdsNames,
	"title":             holdsText, "description": holdsText, "format": holdsText, "contentEncoding": holdsText, "contentMediaType": holdsText,
	"pattern":   holdsPattern,
	"minLength": holdsCount, "maxLength": holdsCount, "minItems": holdsCount, "maxItems": holdsCount,
	"minProperties": holdsCount, "maxProperties": holdsCount, "minContains": holdsCount, "maxContains": holdsCount,
	"minimum": holdsNumber, "maximum": holdsNumber, "multipleOf": holdsNumber,
	"exclusiveMinimum": holdsLimit, "exclusiveMaximum": holdsLimit,
	"uniqueItems": holdsYesNo, "nullable": holdsYesNo, "deprecated": holdsYesNo, "readOnly": holdsYesNo, "writeOnly": holdsYesNo,
	"type": holdsType, "required": holdsRequired, "items": holdsItems,
}

// keyword returns the normal form of one keyword's value, nil to leave it out.
func (z *normaliser) keyword(n *node, name string, v *node, level int) *node {
	switch keywords[name] {
	case holdsNothing:
		return nil
	case holdsValue:
		return v
	case holdsSchema:
		return z.oneSchema(name, v, level)
	case holdsSchemas:
		return z.alternatives(name, v, level)
	case holdsNamed:
		return z.named(name, v, level)
	case holdsItems:
		if v.array || v.is("false") {
			return nil // see tuple
		}
		return z.schema(v, level+1)
	}
	if out, known := plainKeyword(name, v); known {
		return out
	}
	switch {
	case v.null(), name == "id" && v.str() != "":
		return nil
	}
	return v
}

func (z *normaliser) oneSchema(name string, v *node, level int) *node {
	switch {
	case v.object:
		return z.schema(v, level+1)
	case v.is("true") && (name == "additionalProperties" || name == "unevaluatedProperties" || name == "unevaluatedItems"), v.is("false") && name != "contentSchema":
		return v
	}
	return nil
}

func (z *normaliser) alternatives(name string, v *node, level int) *node {
	if !v.array || len(v.items) == 0 {
		return nil
	}
	out := z.list(v, level)
	if name == "allOf" {
		out.items = slices.DeleteFunc(out.items, func(i *node) bool { return len(i.members) == 0 })
	}
	if len(out.items) == 0 {
		return nil
	}
	return out
}

func (z *normaliser) named(name string, v *node, level int) *node {
	if !v.object {
		return nil // an object gets its properties in complete
	}
	out := object()
	for _, m := range v.members {
		if m.value.is("false") && name == "properties" {
			continue // it must not be given
		}
		out.members = append(out.members, nodeMember{m.name, z.schema(m.value, level+1)})
	}
	return out
}

// plainKeyword is the normal form of a value that holds no schema, nil where it is none.
func plainKeyword(name string, v *node) (out *node, known bool) {
	keep := func(ok bool) (*node, bool) {
		if !ok {
			return nil, true
		}
		return v, true
	}
	switch keywords[name] {
	case holdsValues:
		if values := distinct(v.items); v.array && len(values) > 0 {
			return list(values...), true
		}
		return nil, true
	case holdsText:
		return keep(v.str() != "")
	case holdsPattern:
		return keep(v.str() != "" && wholePattern(v.str()))
	case holdsCount:
		n, ok := numeric(v)
		return keep(ok && n >= 0 && n == float64(int64(n)))
	case holdsNumber:
		n, ok := numeric(v)
		return keep(ok && (name != "multipleOf" || n > 0))
	case holdsLimit:
		_, ok := numeric(v)
		return keep(ok || v.is("true") || v.is("false"))
	case holdsYesNo:
		return keep(v.is("true") || v.is("false"))
	case holdsNames:
		return namesByName(v), true
	case holdsRequired:
		if names := uniqueTexts(v.strings()); len(names) > 0 {
			return stringNodes(names), true
		}
		return nil, true
	case holdsType:
		return typeNode(v), true
	}
	return nil, false
}

func namesByName(v *node) *node {
	out := object()
	for _, m := range v.members {
		if m.value.array {
			out.set(m.name, stringNodes(uniqueTexts(m.value.strings())))
		}
	}
	if len(out.members) == 0 {
		return nil
	}
	return out
}

func uniqueTexts(in []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range in {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

func numeric(v *node) (float64, bool) {
	if v == nil || v.object || v.array || len(v.raw) == 0 || v.raw[0] == '"' {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(v.raw), 64)
	return n, err == nil
}

// text is what a node that is no object or list looks like, nil of none.
func (n *node) text() []byte {
	if n == nil {
		return nil
	}
	return n.raw
}

// otherTypes are names that programs write for JSON Schema's seven types.
var otherTypes = map[string]string{
	"str": "string", "text": "string", "date": "string", "datetime": "string", "uuid": "string",
	"int": "integer", "int32": "integer", "int64": "integer", "long": "integer",
	"float": "number", "double": "number", "decimal": "number", "bool": "boolean",
	"dict": "object", "map": "object", "list": "array", "tuple": "array", "set": "array", "none": "null", "nil": "null",
}

var sevenTypes = []string{"string", "number", "integer", "boolean", "object", "array", "null"}

// typeNode is a type as JSON Schema knows it: one name, or a list of several.
func typeNode(v *node) *node {
	names := v.strings()
	if s := v.str(); s != "" {
		names = []string{s}
	}
	var out []string
	for _, n := range names {
		n = strings.ToLower(n)
		if other, ok := otherTypes[n]; ok {
			n = other
		}
		if !slices.Contains(sevenTypes, n) {
			return nil // "any", or a word of another language: whatever it allows is allowed
		}
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	switch len(out) {
	case 0:
		return nil
	case 1:
		return stringNode(out[0])
	}
	return stringNodes(out)
}

// wholePattern refuses patterns that no dialect of regular expressions can read. What Go's
// own does not know, such as looking ahead, others do.
func wholePattern(pattern string) bool {
	_, err := syntax.Parse(pattern, syntax.Perl)
	e, ok := err.(*syntax.Error)
	if !ok {
		return true
	}
	switch e.Code {
	case syntax.ErrMissingParen, syntax.ErrMissingBracket, syntax.ErrUnexpectedParen, syntax.ErrTrailingBackslash, syntax.ErrMissingRepeatArgument:
		return false
	}
	return true
}

// eachSchema calls f with every schema that stands directly in one.
func eachSchema(n *node, f func(*node)) {
	for _, m := range n.members {
		switch keywords[m.name] {
		case holdsSchema, holdsItems:
			if m.value.object {
				f(m.value)
			}
		case holdsSchemas:
			for _, v := range m.value.items {
				f(v)
			}
		case holdsNamed:
			for _, v := range m.value.members {
				f(v.value)
			}
		}
		if m.name == "prefixItems" {
			for _, v := range m.value.items {
				f(v)
			}
		}
	}
}
