// Package schemarules checks tool schemas as strictly as the providers' documents say that
// they do. It is for tests, and shares no code with what writes the schemas. Each rule names
// where it comes from.
package schemarules

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

// Dialects are the rule sets that Check knows.
var Dialects = []string{"", "openai", "anthropic", "gemini", "moonshot", "ollama", "grammar", "plain"}

// Check gives what a dialect's endpoint would refuse a tool's parameters for, each with the
// path to it; nothing where it would take them.
func Check(dialect string, schema []byte) []string {
	d := json.NewDecoder(bytes.NewReader(schema))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return []string{"no JSON: " + err.Error()}
	}
	root, ok := v.(map[string]any)
	if !ok {
		return []string{"the parameters are no object"}
	}
	c := checker{dialect: dialect}
	// "schema must be a JSON Schema of 'type: "object"'" (OpenAI, Anthropic, DeepSeek); and
	// "object schema missing properties" (OpenAI).
	if root["type"] != "object" {
		c.say("#", "type is %v, not object", root["type"])
	}
	if dialect != "" {
		// "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level" (OpenAI);
		// "input_schema does not support oneOf, allOf, or anyOf at the top level" (Anthropic).
		for _, word := range []string{"oneOf", "anyOf", "allOf", "enum", "not", "const", "if"} {
			if root[word] != nil {
				c.say("#", "%s at the top level", word)
			}
		}
	}
	c.schema("#", root)
	return c.found
}

type checker struct {
	dialect string
	found   []string
}

func (c *checker) say(path, format string, args ...any) {
	c.found = append(c.found, path+": "+fmt.Sprintf(format, args...))
}

var types = []string{"string", "number", "integer", "boolean", "object", "array", "null"}

// words are the keywords that a dialect knows; nil is all.
var words = map[string][]string{
	// https://ai.google.dev/api/caching#Schema
	"gemini": {"type", "format", "title", "description", "nullable", "enum", "maxItems", "minItems", "properties", "required", "minProperties", "maxProperties",
		"minLength", "maxLength", "pattern", "example", "anyOf", "propertyOrdering", "default", "items", "minimum", "maximum"},
	// https://github.com/MoonshotAI/walle/blob/main/docs/mfjs-spec.md: metadata, format, ranges and tuples are not supported.
	"moonshot": {"type", "description", "default", "anyOf", "properties", "additionalProperties", "items", "enum", "required"},
	"plain":    {"type", "description", "properties", "required", "items", "enum"},
}

func (c *checker) schema(path string, s map[string]any) {
	c.wellFormed(path, s)
	if known := words[c.dialect]; known != nil {
		for _, word := range slices.Sorted(maps.Keys(s)) {
			if !slices.Contains(known, word) {
				c.say(path, "%s is not known", word)
			}
		}
	}
	switch c.dialect {
	case "gemini":
		c.gemini(path, s)
	case "moonshot":
		c.moonshot(path, s)
	case "grammar":
		c.grammar(path, s)
	case "ollama":
		c.ollama(path, s)
	case "plain":
		if _, ok := s["type"].(string); !ok {
			c.say(path, "no single type")
		}
	}
	c.inside(path, s)
}

// inside checks the schemas in a schema.
func (c *checker) inside(path string, s map[string]any) {
	for _, word := range slices.Sorted(maps.Keys(s)) {
		at := path + "/" + word
		switch word {
		case "properties", "patternProperties", "dependentSchemas":
			m, ok := s[word].(map[string]any)
			if !ok {
				c.say(at, "is no object")
			}
			for _, name := range slices.Sorted(maps.Keys(m)) {
				// "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'" (Anthropic)
				if c.dialect == "anthropic" && word == "properties" && !regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`).MatchString(name) {
					c.say(at, "the name %q is not taken", name)
				}
				c.sub(at+"/"+name, m[name], false)
			}
		case "anyOf", "oneOf", "allOf", "prefixItems":
			list, ok := s[word].([]any)
			if !ok || len(list) == 0 {
				c.say(at, "is no list, or an empty one") // "[] is too short"
			}
			for i, v := range list {
				c.sub(fmt.Sprintf("%s/%d", at, i), v, false)
			}
		case "items", "contains":
			c.sub(at, s[word], false)
		case "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "not", "if", "then", "else", "propertyNames":
			c.sub(at, s[word], true)
		}
	}
}

func (c *checker) sub(path string, v any, orBool bool) {
	switch v := v.(type) {
	case map[string]any:
		c.schema(path, v)
	case bool:
		if !orBool {
			c.say(path, "%v is not of type object", v)
		}
	default:
		c.say(path, "%v is not of type object", v) // "None is not of type 'object', 'boolean'"
	}
}

// wellFormed are the rules of JSON Schema 2020-12's own meta-schema, with which OpenAI,
// Anthropic and others check, and the two that all of them add: objects have properties,
// arrays have items.
func (c *checker) wellFormed(path string, s map[string]any) {
	for _, word := range []string{"$ref", "$dynamicRef", "$recursiveRef", "$defs", "definitions", "$id", "$anchor", "$schema"} {
		if s[word] != nil {
			c.say(path, "%s is left", word) // of what refers to something, nothing may be left
		}
	}
	names := typesOf(s)
	if t, given := s["type"]; given && (len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(types, n) }) || len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names)) {
		c.say(path, "type is %v", t)
	}
	if slices.Contains(names, "object") && s["properties"] == nil {
		c.say(path, "object schema missing properties")
	}
	if slices.Contains(names, "array") && s["items"] == nil {
		c.say(path, "array schema missing items")
	}
	for _, word := range []string{"description", "title", "format", "pattern"} {
		if v, given := s[word]; given {
			if _, ok := v.(string); !ok {
				c.say(path, "%s is no text", word)
			}
		}
	}
	if v, given := s["enum"]; given {
		if list, ok := v.([]any); !ok || len(list) == 0 {
			c.say(path, "enum is no list, or an empty one")
		}
	}
	if v, given := s["required"]; given {
		c.names(path+"/required", v)
	}
	for _, word := range []string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"} {
		v, given := s[word]
		if !given {
			continue
		}
		n, ok := v.(json.Number)
		f, err := n.Float64()
		switch {
		case !ok || err != nil:
			c.say(path, "%s is no number", word)
		case strings.HasSuffix(word, "Length") || strings.HasSuffix(word, "Items") || strings.HasSuffix(word, "Properties"):
			if f < 0 || f != math.Trunc(f) {
				c.say(path, "%s is %v", word, n)
			}
		case word == "multipleOf" && f <= 0:
			c.say(path, "multipleOf is %v", n)
		}
	}
	if _, given := s["nullable"]; given && c.dialect != "gemini" {
		c.say(path, "nullable is OpenAPI's")
	}
}

func (c *checker) names(path string, v any) {
	list, ok := v.([]any)
	seen := map[any]bool{}
	for _, n := range list {
		if _, text := n.(string); !text || seen[n] {
			ok = false
		}
		seen[n] = true
	}
	if !ok {
		c.say(path, "is no list of names") // "True is not of type 'array'", "has non-unique elements"
	}
}

func typesOf(s map[string]any) []string {
	switch t := s["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var out []string
		for _, v := range t {
			name, _ := v.(string)
			out = append(out, name)
		}
		return out
	}
	return nil
}

// gemini: a type is one name ("Proto field is not repeating"), and required; enum is of texts
// that are not empty ("enum[0]: cannot be empty"); "required[0]: property is not defined";
// "schema specified other fields alongside any_of" (Vertex AI).
func (c *checker) gemini(path string, s map[string]any) {
	t, one := s["type"].(string)
	switch {
	case s["anyOf"] != nil && len(s) > 1:
		c.say(path, "other fields alongside any_of: %v", slices.Sorted(maps.Keys(s)))
	case s["anyOf"] == nil && !one:
		c.say(path, "no single type")
	case t == "null":
		c.say(path, "null is no type here")
	}
	if list, ok := s["enum"].([]any); ok {
		for _, v := range list {
			if text, ok := v.(string); !ok || text == "" {
				c.say(path, "enum holds %v", v)
			}
		}
		if t != "string" {
			c.say(path, "enum of a %s", t)
		}
	}
	if f, ok := s["format"].(string); ok && !slices.Contains(map[string][]string{
		"string": {"enum", "date-time"}, "integer": {"int32", "int64"}, "number": {"float", "double"},
	}[t], f) {
		c.say(path, "only 'enum' and 'date-time' are supported for STRING type, not format %s of a %s", f, t)
	}
	properties, _ := s["properties"].(map[string]any)
	if list, ok := s["required"].([]any); ok {
		for _, n := range list {
			if name, _ := n.(string); properties[name] == nil {
				c.say(path, "required[%v]: property is not defined", n)
			}
		}
	}
}

// moonshot: type is one name, and in the alternatives rather than beside them ("type should be
// defined in anyOf items instead of the parent schema"); enum is of texts or of numbers alone.
func (c *checker) moonshot(path string, s map[string]any) {
	_, one := s["type"].(string)
	switch {
	case s["anyOf"] != nil && s["type"] != nil:
		c.say(path, "type should be defined in anyOf items instead of the parent schema")
	case s["anyOf"] == nil && !one:
		c.say(path, "no single type")
	}
	kinds := map[string]bool{}
	list, _ := s["enum"].([]any)
	for _, v := range list {
		kinds[fmt.Sprintf("%T", v)] = true
		switch v.(type) {
		case string, json.Number:
		default:
			c.say(path, "enum holds %v", v)
		}
	}
	if len(kinds) > 1 {
		c.say(path, "enum of several types")
	}
}

// grammar: what json-schema-to-grammar.cpp of llama.cpp throws on.
func (c *checker) grammar(path string, s map[string]any) {
	if s["type"] == nil && s["anyOf"] == nil && s["oneOf"] == nil && s["enum"] == nil && s["const"] == nil && s["allOf"] == nil {
		c.say(path, "Unrecognized schema")
	}
	if p, ok := s["pattern"].(string); ok && (!strings.HasPrefix(p, "^") || !strings.HasSuffix(p, "$")) {
		c.say(path, "Pattern must start with '^' and end with '$': %s", p)
	} else if ok && (regexp.MustCompile(`\\[a-zA-Z0-9]`).MatchString(p) || strings.Contains(strings.ReplaceAll(p, "(?:", ""), "(?")) {
		c.say(path, "a pattern that it cannot read: %s", p)
	}
	for _, word := range []string{"minLength", "maxLength", "minItems", "maxItems"} {
		n, _ := s[word].(json.Number)
		if f, err := n.Float64(); err == nil && f > 2000 {
			c.say(path, "number of repetitions exceeds sane defaults: %s %v", word, n)
		}
	}
}

// ollama: the fields of ToolFunction and ToolProperty in api/types.go; what they do not hold
// does not reach the model.
func (c *checker) ollama(path string, s map[string]any) {
	for _, word := range []string{"oneOf", "allOf", "const", "prefixItems"} {
		if s[word] != nil {
			c.say(path, "%s does not reach the model", word)
		}
	}
}
