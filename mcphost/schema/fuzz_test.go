package schema

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// FuzzSchema compiles anything as a schema and checks anything against it. It ends, in bounded time; it gives the same
// each time; and a value that a schema is made to accept, or to refuse, is accepted and refused beside whatever else
// the schema says.
func FuzzSchema(f *testing.F) {
	for _, s := range [][2]string{
		{`{"type":"object","properties":{"a":{"type":"integer","minimum":0}},"required":["a"]}`, `{"a":-1}`},
		{`{"$ref":"#/$defs/n","$defs":{"n":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/n"}]}}}`, `null`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"const":1}],"additionalItems":false}`, `[1,2]`},
		{`{"pattern":"^(a+)+$","maxLength":3,"format":"email"}`, `"aaaa!"`}, {`{"enum":[1.0,"1",null,{"a":[]}]}`, `1`}, {`true`, `{}`}, {`{"not":{}}`, `1e400`},
		{`{"$ref":"https://example.com/x"}`, `1`}, {`{"multipleOf":0.1,"uniqueItems":true,"unevaluatedProperties":false}`, `0.3`}, {`{"$dynamicRef":"#x","$dynamicAnchor":"x"}`, `[]`},
	} {
		f.Add([]byte(s[0]), []byte(s[1]))
	}
	f.Fuzz(func(t *testing.T, raw, instance []byte) {
		if len(raw) > 1<<14 || len(instance) > 1<<14 {
			return
		}
		start := time.Now()
		s, err := Compile(raw)
		if err != nil {
			if s != nil || err.Error() == "" {
				t.Fatalf("%v with the error %q", s, err)
			}
			return
		}
		first, second := s.Validate(instance), s.Validate(instance)
		if !reflect.DeepEqual(first, second) {
			t.Fatalf("first %v, then %v", first, second)
		}
		if !json.Valid(instance) && first == nil {
			t.Fatalf("%q is no JSON, and fits", instance)
		}
		// Beside the schema, wherever it stands, the rest of the document holds.
		outer, err := Compile(json.RawMessage(`{"properties":{"good":{"const":1},"other":{"anyOf":[true,` + string(raw) + `]}}}`))
		if err == nil {
			if v := outer.Validate([]byte(`{"good":1}`)); v != nil {
				t.Fatalf("a value that fits is refused: %v", v)
			}
			if v := outer.Validate([]byte(`{"good":2}`)); v == nil {
				t.Fatal("a value that does not fit is accepted")
			}
		}
		if d := time.Since(start); d > 20*time.Second {
			t.Fatalf("it took %v", d)
		}
	})
}
