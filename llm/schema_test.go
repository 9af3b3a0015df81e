package llm

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestNormaliseSchema(t *testing.T) {
	t.Parallel()
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
		"required true":     {DialectFull, `{"type":"object","properties":{"a":{"type":"string","required":true}}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`},
		"type missing":      {DialectFull, `{"properties":{"a":{}}}`, `{"type":"object","properties":{"a":{}}}`},
		"bare array":        {DialectFull, `{"type":"object","properties":{"args":{"type":"array"}}}`, `{"type":"object","properties":{"args":{"type":"array","items":{}}}}`},
		"items null":        {DialectFull, `{"type":"object","properties":{"args":{"type":"array","items":null}}}`, `{"type":"object","properties":{"args":{"type":"array","items":{}}}}`},
		"items true":        {DialectFull, `{"type":"object","properties":{"args":{"type":["array","null"],"items":true}}}`, `{"type":"object","properties":{"args":{"type":["array","null"],"items":{}}}}`},
		"tuple":             {DialectFull, `{"type":"object","properties":{"p":{"type":"array","items":[{"type":"number"},{"type":"string"}]}}}`, `{"type":"object","properties":{"p":{"type":"array","items":{"anyOf":[{"type":"number"},{"type":"string"}]}}}}`},
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
		"gemini lists":      {DialectGemini, `{"type":"object","properties":{"a":{"type":["array","null"],"items":{"type":"array","items":{}}}}}`, `{"type":"object","properties":{"a":{"type":"array","items":{"type":"array","items":{}},"nullable":true}}}`},
		"gemini types":      {DialectGemini, `{"type":"object","properties":{"a":{"type":["string","array"],"description":"d"}}}`, `{"type":"object","properties":{"a":{"description":"d","anyOf":[{"type":"string"},{"type":"array","items":{}}]}}}`},
		"gemini anyOf null": {DialectGemini, `{"type":"object","properties":{"a":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null}}}`, `{"type":"object","properties":{"a":{"default":null,"nullable":true,"type":"integer"}}}`},
		"gemini words":      {DialectGemini, `{"$schema":"x","type":"object","properties":{"a":{"type":"string","format":"uri","const":"x"},"n":{"type":"integer","enum":[1,2],"exclusiveMinimum":0}},"required":["a","gone"],"additionalProperties":false}`, `{"type":"object","properties":{"a":{"type":"string","enum":["x"]},"n":{"type":"integer","description":"One of: 1, 2."}},"required":["a"]}`},
		"gemini oneOf":      {DialectGemini, `{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"number"}]},"b":{"allOf":[{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]},{"properties":{"y":{"type":"null"}}}]}}}`, `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"number"}]},"b":{"type":"object","properties":{"x":{"type":"string"},"y":{"type":"string","nullable":true}},"required":["x"]}}}`},
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
	for name, in := range map[string]string{"doubling": doubling, "deep": deep, "too deep": strings.Repeat(`{"a":`, 9999) + "1" + strings.Repeat("}", 9999)} {
		for _, d := range dialects {
			out := normaliseSchema(json.RawMessage(in), d)
			if !json.Valid(out) || len(out) > 4<<20 {
				t.Errorf("%s: %d bytes", name, len(out))
			}
		}
	}
}
