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
	f.Fuzz(func(t *testing.T, schema []byte) {
		if len(schema) < 64<<10 {
			checkRewritten(t, string(schema))
		}
	})
}
