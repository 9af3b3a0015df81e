package llm

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"steward/testdata/schemarules"
)

func TestNormaliseSchema(t *testing.T) {
	t.Parallel()
	const anything = `{"anyOf":[{"type":"string"},{"type":"number"},{"type":"boolean"},{"type":"object","properties":{}},{"type":"array","items":{"type":"string"}}]}`
	const empty = `{"type":"object","properties":{}}`
	cases := map[string]struct {
		d        Dialect
		in, want string
	}{
		"bare object":       {DialectFull, `{"type":"object"}`, empty},
		"empty":             {DialectFull, `{}`, empty},
		"null":              {DialectFull, `null`, empty},
		"missing":           {DialectFull, ``, empty},
		"true":              {DialectFull, `true`, empty},
		"broken":            {DialectFull, `{"type":`, empty},
		"properties null":   {DialectFull, `{"type":"object","properties":null}`, empty},
		"properties a list": {DialectFull, `{"type":"object","properties":[]}`, empty},
		"required null":     {DialectFull, `{"type":"object","required":null}`, empty},
		"required true":     {DialectFull, `{"type":"object","properties":{"a":{"type":"string","required":true}}}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`},
		"type missing":      {DialectFull, `{"properties":{"a":{}}}`, `{"type":"object","properties":{"a":{}}}`},
		"bare array":        {DialectFull, `{"type":"object","properties":{"args":{"type":"array"}}}`, `{"type":"object","properties":{"args":{"type":"array","items":{}}}}`},
		"items null":        {DialectFull, `{"type":"object","properties":{"args":{"type":"array","items":null}}}`, `{"type":"object","properties":{"args":{"type":"array","items":{}}}}`},
		"items true":        {DialectFull, `{"type":"object","properties":{"args":{"type":["array","null"],"items":true}}}`, `{"type":"object","properties":{"args":{"type":["array","null"],"items":{}}}}`},
		"tuple":             {DialectFull, `{"type":"object","properties":{"p":{"type":"array","items":[{"type":"number"},{"type":"string"}]}}}`, `{"type":"object","properties":{"p":{"type":"array","prefixItems":[{"type":"number"},{"type":"string"}],"items":{}}}}`},
		"property null":     {DialectFull, `{"type":"object","properties":{"a":null,"b":true}}`, `{"type":"object","properties":{"a":{},"b":{}}}`},
		"nested objects":    {DialectFull, `{"type":"object","properties":{"a":{"anyOf":[{"type":"object"},{"type":"null"}]}}}`, `{"type":"object","properties":{"a":{"anyOf":[{"type":"object","properties":{}},{"type":"null"}]}}}`},
		"order and numbers": {DialectFull, `{"type":"object","title":"T","properties":{"z":{"type":"integer","minimum":1.0,"default":null},"a":{"enum":[null,1e2,"x"]}},"required":["z","a","z"],"additionalProperties":false}`, `{"type":"object","title":"T","properties":{"z":{"type":"integer","minimum":1.0,"default":null},"a":{"enum":[null,1e2,"x"]}},"required":["z","a"],"additionalProperties":false}`},
		"property names":    {DialectFull, `{"type":"object","properties":{"$ref":{"type":"string"},"$defs":{"type":"object"},"properties":{"type":"array"},"type":{"type":"string"}}}`, `{"type":"object","properties":{"$ref":{"type":"string"},"$defs":{"type":"object","properties":{}},"properties":{"type":"array","items":{}},"type":{"type":"string"}}}`},
		"references":        {DialectFull, `{"type":"object","$defs":{"K":{"type":"string","enum":["a","b"]}},"properties":{"k":{"$ref":"#/$defs/K","default":"a"},"h":{"type":"object"},"l":{"type":"array","items":{"$ref":"#/properties/h"}}}}`, `{"type":"object","properties":{"k":{"type":"string","enum":["a","b"],"default":"a"},"h":{"type":"object","properties":{}},"l":{"type":"array","items":{"type":"object","properties":{}}}}}`},
		"sibling wins":      {DialectFull, `{"type":"object","definitions":{"K":{"type":"string","description":"old"}},"properties":{"k":{"description":"new","$ref":"#/definitions/K"}}}`, `{"type":"object","properties":{"k":{"type":"string","description":"new"}}}`},
		"chain and escapes": {DialectFull, `{"type":"object","$defs":{"a/b":{"$ref":"#/$defs/c~0d"},"c~d":{"type":"number"}},"properties":{"x":{"$ref":"#/$defs/a~1b"},"y":{"$ref":"#/%24defs/c~0d"}}}`, `{"type":"object","properties":{"x":{"type":"number"},"y":{"type":"number"}}}`},
		"anchor":            {DialectFull, `{"type":"object","$defs":{"A":{"$anchor":"a","type":"number"}},"properties":{"x":{"$ref":"#a"}}}`, `{"type":"object","properties":{"x":{"type":"number"}}}`},
		"no target":         {DialectFull, `{"type":"object","properties":{"x":{"$ref":"#/nope","description":"d"},"y":{"$ref":"https://example.com/s"},"z":{"$ref":7}}}`, `{"type":"object","properties":{"x":{"description":"d"},"y":{},"z":{}}}`},
		"circle":            {DialectFull, `{"type":"object","$defs":{"N":{"type":"object","properties":{"next":{"$ref":"#/$defs/N"}}}},"properties":{"n":{"$ref":"#/$defs/N"}}}`, `{"type":"object","properties":{"n":{"type":"object","properties":{"next":{"type":"object","properties":{}}}}}}`},
		"circle of itself":  {DialectFull, `{"type":"object","properties":{"n":{"$ref":"#"},"m":{"$ref":"#/properties/m"}}}`, `{"type":"object","properties":{"n":{"type":"object","properties":{}},"m":{}}}`},
		"two in a circle":   {DialectFull, `{"type":"object","$defs":{"A":{"$ref":"#/$defs/B"},"B":{"$ref":"#/$defs/A"}},"properties":{"n":{"$ref":"#/$defs/A"}}}`, `{"type":"object","properties":{"n":{}}}`},
		"root not object":   {DialectFull, `{"type":"string"}`, `{"type":"object","properties":{}}`},

		"openai root": {DialectOpenAI, `{"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"required":["a"]},{"properties":{"b":{"type":"number"}}}],"not":{}}`, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"number"}}}`},

		"gemini nullable":   {DialectGemini, `{"type":"object","properties":{"a":{"type":["string","null"]}}}`, `{"type":"object","properties":{"a":{"type":"string","nullable":true}}}`},
		"gemini lists":      {DialectGemini, `{"type":"object","properties":{"a":{"type":["array","null"],"items":{"type":"array","items":{}}}}}`, `{"type":"object","properties":{"a":{"type":"array","items":{"type":"array","items":` + anything + `},"nullable":true}}}`},
		"gemini types":      {DialectGemini, `{"type":"object","properties":{"a":{"type":["string","array"],"description":"d"}}}`, `{"type":"object","properties":{"a":{"anyOf":[{"type":"string","description":"d"},{"type":"array","items":` + anything + `,"description":"d"}]}}}`},
		"gemini anyOf null": {DialectGemini, `{"type":"object","properties":{"a":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null}}}`, `{"type":"object","properties":{"a":{"default":null,"nullable":true,"type":"integer"}}}`},
		"gemini words":      {DialectGemini, `{"$schema":"x","type":"object","properties":{"a":{"type":"string","format":"uri","const":"x"},"n":{"type":"integer","enum":[1,2],"exclusiveMinimum":0}},"required":["a","gone"],"additionalProperties":false}`, `{"type":"object","properties":{"a":{"type":"string","enum":["x"],"description":"format: uri."},"n":{"type":"integer","description":"One of: 1, 2. exclusiveMinimum: 0."}},"required":["a"]}`},
		"gemini oneOf":      {DialectGemini, `{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"number"}]},"b":{"allOf":[{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]},{"properties":{"y":{"type":"null"}}}]}}}`, `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"number"}]},"b":{"type":"object","properties":{"x":{"type":"string"},"y":{"type":"string","nullable":true}},"required":["x"]}}}`},
		"closed tuple":      {DialectFull, `{"type":"object","properties":{"p":{"type":"array","items":[{"type":"number"},{"type":"string"}],"additionalItems":false}}}`, `{"type":"object","properties":{"p":{"type":"array","prefixItems":[{"type":"number"},{"type":"string"}],"maxItems":2,"items":{"anyOf":[{"type":"number"},{"type":"string"}]}}}}`},
		"prefix alone":      {DialectFull, `{"type":"object","properties":{"p":{"type":"array","prefixItems":[{"type":"number"}],"items":false}}}`, `{"type":"object","properties":{"p":{"type":"array","prefixItems":[{"type":"number"}],"maxItems":1,"items":{"type":"number"}}}}`},
		"items false":       {DialectFull, `{"type":"object","properties":{"p":{"type":"array","items":false}}}`, `{"type":"object","properties":{"p":{"type":"array","items":{},"maxItems":0}}}`},
		"draft 4 limits":    {DialectFull, `{"type":"object","id":"x","properties":{"n":{"type":"integer","minimum":0,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false}}}`, `{"type":"object","properties":{"n":{"type":"integer","exclusiveMinimum":0,"maximum":9}}}`},
		"dependencies":      {DialectFull, `{"type":"object","properties":{"a":{},"b":{}},"dependencies":{"a":["b"],"b":{"required":["a"]}}}`, `{"type":"object","properties":{"a":{},"b":{}},"dependentRequired":{"a":["b"]},"dependentSchemas":{"b":{"required":["a"]}}}`},
		"OpenAPI null":      {DialectFull, `{"type":"object","properties":{"a":{"type":"string","nullable":true,"enum":["x"]},"b":{"nullable":true,"anyOf":[{"type":"string"}]}}}`, `{"type":"object","properties":{"a":{"type":["string","null"],"enum":["x",null]},"b":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`},
		"other type names":  {DialectFull, `{"type":"OBJECT","properties":{"a":{"type":"str"},"b":{"type":"INTEGER"},"c":{"type":"any","description":"d"},"d":{"type":["string","string"]},"e":{"type":"dict"},"f":{"type":"list"},"g":{"type":7}}}`, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"},"c":{"description":"d"},"d":{"type":"string"},"e":{"type":"object","properties":{}},"f":{"type":"array","items":{}},"g":{}}}`},
		"words of no form":  {DialectFull, `{"type":"object","properties":{"a":{"type":"string","description":null,"title":7,"pattern":"(","minLength":-1,"maxLength":"9","enum":"x","format":{}},"n":{"type":"number","minimum":"0","multipleOf":0,"default":1}}}`, `{"type":"object","properties":{"a":{"type":"string"},"n":{"type":"number","default":1}}}`},
		"looking ahead":     {DialectFull, `{"type":"object","properties":{"a":{"type":"string","pattern":"^(?!x)\\w+$"}}}`, `{"type":"object","properties":{"a":{"type":"string","pattern":"^(?!x)\\w+$"}}}`},
		"forbidden":         {DialectFull, `{"type":"object","properties":{"a":false,"b":{"anyOf":[false,{"type":"string"}]}}}`, `{"type":"object","properties":{"b":{"anyOf":[{"type":"string"}]}}}`},
		"beside a $ref":     {DialectFull, `{"type":"object","$defs":{"K":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}},"properties":{"k":{"properties":{"b":{"type":"number"}},"required":["b"],"$ref":"#/$defs/K"}}}`, `{"type":"object","properties":{"k":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"number"}},"required":["a","b"]}}}`},
		"by $id":            {DialectFull, `{"$id":"https://example.com/root","type":"object","$defs":{"A":{"$id":"/a","type":"number"},"B":{"$id":"urn:b","$defs":{"C":{"type":"string"}}}},"properties":{"x":{"$ref":"https://example.com/a"},"y":{"$ref":"/a"},"z":{"$ref":"urn:b#/$defs/C"}}}`, `{"type":"object","properties":{"x":{"type":"number"},"y":{"type":"number"},"z":{"type":"string"}}}`},
		"dynamic":           {DialectFull, `{"type":"object","$defs":{"A":{"$dynamicAnchor":"node","type":"number"}},"properties":{"x":{"$dynamicRef":"#node"},"y":{"$recursiveRef":"#"}}}`, `{"type":"object","properties":{"x":{"type":"number"},"y":{"type":"object","properties":{}}}}`},
		"root reference":    {DialectFull, `{"$ref":"#/definitions/In","definitions":{"In":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`},
		"data is no schema": {DialectFull, `{"type":"object","properties":{"a":{"default":{"$ref":"#/x","type":"y"},"examples":[{"type":["a"]}],"const":{"items":null}}}}`, `{"type":"object","properties":{"a":{"default":{"$ref":"#/x","type":"y"},"examples":[{"type":["a"]}],"const":{"items":null}}}}`},

		"one of two kinds": {DialectAnthropic, `{"type":"object","oneOf":[{"properties":{"kind":{"const":"a"},"x":{"type":"number"}},"required":["kind","x"]},{"properties":{"kind":{"const":"b"},"y":{"type":"number"}},"required":["kind","y"]}]}`, `{"type":"object","properties":{"kind":{"enum":["a","b"]},"x":{"type":"number"},"y":{"type":"number"}},"required":["kind"]}`},
		"names of keys":    {DialectAnthropic, `{"type":"object","properties":{"filter[a]":{"type":"string"},"b":{"type":"string"}},"required":["filter[a]","b"]}`, `{"type":"object","properties":{"b":{"type":"string"}},"description":"Takes also \"filter[a]\".","required":["b"]}`},

		"moonshot types":   {DialectMoonshot, `{"type":"object","title":"T","properties":{"a":{"type":["string","null"],"description":"d","default":null},"b":{"enum":[1,"x"]},"c":{"type":"integer","minimum":1},"e":{"const":"k"}}}`, `{"type":"object","properties":{"a":{"description":"d","default":null,"anyOf":[{"type":"string"},{"type":"null"}]},"b":{"anyOf":[{"type":"integer","enum":[1]},{"type":"string","enum":["x"]}]},"c":{"type":"integer","description":"minimum: 1."},"e":{"enum":["k"],"type":"string"}}}`},
		"moonshot beside":  {DialectMoonshot, `{"type":"object","properties":{"a":{"type":"object","properties":{"x":{"type":"string"}},"anyOf":[{"properties":{"y":{"type":"number"}}},{"type":"string"}]}}}`, `{"type":"object","properties":{"a":{"type":"object","properties":{"y":{"type":"number"},"x":{"type":"string"}}}}}`},
		"grammar patterns": {DialectGrammar, `{"type":"object","properties":{"a":{"type":"string","pattern":"^dag"},"b":{"type":"string","pattern":"^[a-z]+$","maxLength":5000},"c":{"description":"anything"},"d":{"type":["string","null"]}}}`, `{"type":"object","properties":{"a":{"type":"string","description":"pattern: ^dag."},"b":{"type":"string","pattern":"^[a-z]+$","description":"maxLength: 5000."},"c":{"description":"anything","anyOf":[{"type":"string"},{"type":"number"},{"type":"boolean"},{"type":"object","properties":{}},{"type":"array","items":{"type":"string"}}]},"d":{"type":["string","null"]}}}`},
		"plain ways":       {DialectPlain, `{"type":"object","properties":{"a":{"anyOf":[{"type":"integer"},{"type":"null"}]},"b":{"oneOf":[{"const":"x"},{"const":"y"}]},"c":{"anyOf":[{"type":"object","properties":{"p":{"type":"string"}},"required":["p"]},{"type":"object","properties":{"q":{"type":"string"}}}]},"d":{"type":["string","number"]}}}`, `{"type":"object","properties":{"a":{"type":"integer"},"b":{"enum":["x","y"],"type":"string"},"c":{"type":"object","properties":{"p":{"type":"string"},"q":{"type":"string"}}},"d":{"type":"string","description":"Or: {\"type\":\"number\"}."}}}`},
		"needs one of":     {DialectGemini, `{"type":"object","properties":{"o":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}}}`, `{"type":"object","properties":{"o":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"description":"Needs a, or b."}}}`},
	}
	for name, c := range cases {
		got := string(normaliseSchema(json.RawMessage(c.in), c.d))
		if got != c.want {
			t.Errorf("%s\n got %s\nwant %s", name, got, c.want)
		}
		if !json.Valid([]byte(got)) {
			t.Errorf("%s: not JSON: %s", name, got)
		}
	}
}

func TestSchemaBombs(t *testing.T) {
	t.Parallel()
	var defs []string
	for i := range 30 {
		next := string(rune('a' + i + 1))
		defs = append(defs, `"`+string(rune('a'+i))+`":{"type":"object","properties":{"x":{"$ref":"#/$defs/`+next+`"},"y":{"$ref":"#/$defs/`+next+`"}}}`)
	}
	doubling := `{"type":"object","$defs":{` + strings.Join(defs, ",") + `},"properties":{"r":{"$ref":"#/$defs/a"}}}`
	deep := strings.Repeat(`{"type":"object","properties":{"p":`, 120) + `{}` + strings.Repeat(`}}`, 120)
	ways := `{"type":"string"}`
	for range 40 {
		ways = `{"type":"object","properties":{"p":` + ways + `},"anyOf":[{"properties":{"q":{"type":"string"}}},{"properties":{"r":{"type":"number"}}}]}`
	}
	var many, values strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&many, `"p%d":{"type":"string","description":"a property that is described at some length, as they are"},`, i)
		fmt.Fprintf(&values, `"v%d",`, i)
	}
	wide := `{"type":"object","properties":{` + many.String() + `"e":{"enum":[` + values.String() + `"last"]}}}`
	few := `{"type":"object","properties":{"any":{},"one":{"anyOf":[{"type":"string"},{"type":"number"}],"description":"` + strings.Repeat("long ", 110000) + `"},"list":{"type":"array","description":"` + strings.Repeat("long ", 20000) + `"}}}`
	for name, in := range map[string]string{"ways": ways, "wide": wide, "few": few, "doubling": doubling, "deep": deep, "too deep": strings.Repeat(`{"a":`, 9999) + "1" + strings.Repeat("}", 9999)} {
		for _, d := range dialects {
			out := normaliseSchema(json.RawMessage(in), d)
			if !json.Valid(out) || len(out) > maxSchema {
				t.Errorf("%s for %q: %d bytes", name, d, len(out))
			}
			if found := schemarules.Check(string(d), out); len(found) > 0 {
				t.Errorf("%s for %q: %s", name, d, found[0])
			}
		}
	}
}
