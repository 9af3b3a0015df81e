package llm

import (
	"encoding/json"
	"strings"
	"testing"

	"steward/testdata/schemarules"
)

// hardSchemas are schemas of all drafts as servers write them, and as nobody should.
var hardSchemas = []string{
	``, `null`, `true`, `[]`, `{}`, `{"type":"object"}`, `{"type":"array"}`, `{"type":["object","null"]}`, `{"type":"string","enum":["a"]}`, `{"type":"object","properties":null,"required":null}`,
	`{"type":"object","properties":{"args":{"type":"array"}}}`,
	`{"type":"object","$defs":{"K":{"type":"string","enum":["a","b"]}},"properties":{"k":{"$ref":"#/$defs/K","default":"a"},"h":{"type":"object"},"l":{"type":"array","items":{"$ref":"#/properties/h"}}}}`,
	`{"type":"object","$defs":{"N":{"type":"object","properties":{"next":{"$ref":"#/$defs/N"},"other":{"anyOf":[{"$ref":"#/$defs/N"},{"type":"null"}]}}}},"properties":{"n":{"$ref":"#/$defs/N"}}}`,
	`{"$ref":"#/$defs/A","$defs":{"A":{"allOf":[{"$ref":"#/$defs/B"},{"properties":{"x":{"type":"string"}}}]},"B":{"oneOf":[{"$ref":"#/$defs/A"},{"properties":{"y":{"type":"null"}}}]}}}`,
	`{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"type":["array","null"],"items":{"type":"array","items":{}}},"c":{"type":["string","integer","object"],"minimum":3,"enum":["x",3,null]}}}`,
	`{"type":"object","properties":{"properties":{"type":"object","properties":{"type":{"type":"string"}}},"type":{"type":"array"},"required":{"type":"boolean"},"$ref":{"type":"string"},"enum":{"enum":[1,"a",null,true,{"b":1},[2],""]}},"required":["type","$ref","gone"]}`,
	`{"type":"object","properties":{"a":{"const":null},"b":{"const":{"x":1}},"c":{"enum":[1.5,2]},"d":{"enum":["",""]},"e":{"enum":[true,false]},"f":{"type":"integer","enum":["1"]}}}`,
	`{"type":"object","oneOf":[{"properties":{"k":{"const":"a"}},"required":["k"]},{"properties":{"k":{"const":"b"},"v":{"type":"number"}},"required":["k","v"]}],"not":{"required":["z"]}}`,
	`{"type":"object","properties":{"o":{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}],"oneOf":[{"type":"object"},{"type":"string"}]}}}`,
	`{"type":"object","properties":{"t":{"type":"array","items":[{"type":"number"},{"type":"string"}],"additionalItems":{"type":"null"}},"u":{"prefixItems":[{},true,false],"items":false},"v":{"items":[]}}}`,
	`{"type":"object","properties":{"n":{"minimum":0,"exclusiveMinimum":true},"p":{"pattern":"^(?!a)\\w+"},"q":{"pattern":"(("},"r":{"type":"string","maxLength":99999,"format":"uri","default":null}}}`,
	`{"type":"object","if":{"properties":{"a":{"const":1}}},"then":{"properties":{"b":{"type":"string"}},"required":["b"]},"else":false,"dependencies":{"a":["b"],"c":{"properties":{"d":{}}}},"patternProperties":{"^x":{"type":"string"}},"additionalProperties":{"type":["string","null"]}}`,
	`{"type":"object","properties":{"a":{"anyOf":[{"anyOf":[{"type":"string"},{"type":"null"}]},{"allOf":[{"type":"object"},{"type":"object","properties":{"x":true}}]},true,false]}}}`,
	`{"type":"object","properties":{"a[b]":{"type":"string"},"` + strings.Repeat("x", 70) + `":{},"名":{"type":"string","nullable":true}},"required":["a[b]","名"]}`,
	`{"type":"object","properties":{"a":{"type":"object","anyOf":[{"type":"string"}],"properties":{"b":{"oneOf":[]}}},"c":{"anyOf":[{"type":"null"}]},"d":{"allOf":[{}]},"e":{"not":true},"f":{"contains":true,"type":"array"}}}`,
	`{"type":"object","properties":{"a":{"type":"OBJECT","properties":{"b":{"type":"any"},"c":{"type":["str","int"]}}},"g":{"$dynamicRef":"#x"},"h":{"$recursiveRef":"#"},"i":{"$ref":"https://example.com/x#/y"},"j":{"$ref":"#/properties/a/properties/b"}}}`,
}

// checkRewritten fails where what is made of a schema is not what the dialect's endpoints take.
func checkRewritten(t *testing.T, schema string) {
	t.Helper()
	for _, d := range dialects {
		out := normaliseSchema(json.RawMessage(schema), d)
		if found := schemarules.Check(string(d), out); len(found) > 0 {
			t.Errorf("%q: %s\nof %s\nis %s", d, strings.Join(found, "; "), schema, out)
		}
		if len(out) > maxSchema {
			t.Errorf("%q: %d bytes", d, len(out))
		}
		if again := normaliseSchema(json.RawMessage(schema), d); string(again) != string(out) {
			t.Errorf("%q: the second time it is\n%s\nnot\n%s", d, again, out)
		}
		if twice := schemarules.Check(string(d), normaliseSchema(out, d)); len(twice) > 0 {
			t.Errorf("%q: rewritten twice: %s\nof %s", d, strings.Join(twice, "; "), out)
		}
	}
}

func TestHardSchemas(t *testing.T) {
	t.Parallel()
	for _, s := range hardSchemas {
		checkRewritten(t, s)
	}
}

// FuzzRewrite checks that whatever a server gives as a schema, each dialect's endpoints take
// what is made of it, that it is the same each time, and not too large.
func FuzzRewrite(f *testing.F) {
	for _, s := range hardSchemas {
		f.Add([]byte(s))
	}
	f.Add([]byte("a schema is grown from these bytes"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 64<<10 {
			return
		}
		checkRewritten(t, string(data))
		if !json.Valid(data) {
			g := grower{data: data}
			checkRewritten(t, `{"$defs":{"a":`+g.schema(0)+`,"b":`+g.schema(0)+`},`+strings.TrimPrefix(g.schema(0), "{"))
		}
	})
}

// grower makes a schema out of any bytes, which choose its words.
type grower struct{ data []byte }

func (g *grower) next(n int) int {
	if len(g.data) == 0 {
		return 0
	}
	b := g.data[0]
	g.data = g.data[1:]
	return int(b) % n
}

func (g *grower) value() string {
	return []string{`"x"`, `""`, `1`, `1.5`, `-0`, `null`, `true`, `{"a":1}`, `[1]`, `"y"`}[g.next(10)]
}

func (g *grower) schemas(level int) string {
	list := g.schema(level)
	for range g.next(3) {
		list += "," + g.schema(level)
	}
	return "[" + list + "]"
}

func (g *grower) named(level int) string {
	return `{"a":` + g.schema(level) + `,"b[c]":` + g.schema(level) + `,"type":` + g.schema(level) + `}`
}

func (g *grower) schema(level int) string {
	if level > 4 || len(g.data) == 0 {
		return []string{`{}`, `true`, `false`, `{"type":"string"}`, `{"$ref":"#/$defs/a"}`, `null`}[g.next(6)]
	}
	var out []string
	for range 1 + g.next(4) {
		word := []string{"type", "type", "enum", "const", "anyOf", "oneOf", "allOf", "properties", "required", "items", "prefixItems", "not", "additionalProperties", "$ref",
			"minimum", "exclusiveMinimum", "maxLength", "pattern", "format", "default", "description", "nullable", "if", "then", "dependencies", "minItems"}[g.next(26)]
		var v string
		switch word {
		case "type":
			v = []string{`"object"`, `"array"`, `"string"`, `"integer"`, `"null"`, `["string","null"]`, `["object","array","null"]`, `["integer","number"]`, `"any"`, `7`}[g.next(10)]
		case "enum":
			v = "[" + g.value() + "," + g.value() + "]"
		case "anyOf", "oneOf", "allOf", "prefixItems":
			v = g.schemas(level + 1)
		case "properties", "dependencies":
			v = g.named(level + 1)
		case "required":
			v = []string{`["a"]`, `["b[c]","gone"]`, `true`, `[]`, `["a","a"]`}[g.next(5)]
		case "items":
			v = []string{g.schema(level + 1), g.schemas(level + 1)}[g.next(2)]
		case "not", "additionalProperties", "if", "then":
			v = g.schema(level + 1)
		case "$ref":
			v = []string{`"#/$defs/a"`, `"#/$defs/b"`, `"#"`, `"#/properties/a"`, `"https://x/y"`}[g.next(5)]
		case "pattern":
			v = []string{`"^a$"`, `"a"`, `"^\\d+$"`, `"("`}[g.next(4)]
		case "format":
			v = []string{`"uri"`, `"date-time"`, `"int64"`}[g.next(3)]
		default:
			v = g.value()
		}
		if entry := `"` + word + `":`; !strings.Contains(strings.Join(out, ","), entry) || word == "$ref" {
			out = append(out, entry+v)
		}
	}
	return "{" + strings.Join(out, ",") + "}"
}
