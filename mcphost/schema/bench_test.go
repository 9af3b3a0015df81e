package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// sample is JSON as a tool definition has it: nested, indented, with some escapes and
// Chinese text.
func sample() []byte {
	var parts []string
	for i := range 200 {
		parts = append(parts, fmt.Sprintf("    \"field_%d\": {\n      \"type\": \"string\",\n      \"title\": \"Field \\u00e9 %d\",\n      \"description\": \"说明：第 %d 项, with \\\"quotes\\\" and plain words\",\n      \"minLength\": %d,\n      \"enum\": [\"a\", \"b\", 1.50, true, null]\n    }", i, i, i, i))
	}
	return []byte("{\n  \"type\": \"object\",\n  \"properties\": {\n" + strings.Join(parts, ",\n") + "\n  },\n  \"additionalProperties\": false\n}")
}

// BenchmarkCompact compares strict reading with encoding/json's Compact, which checks
// neither UTF-8 nor surrogates.
func BenchmarkCompact(b *testing.B) {
	raw := sample()
	b.Run("baseline=encoding-json", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		for b.Loop() {
			var out bytes.Buffer
			if err := json.Compact(&out, raw); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("strict", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		for b.Loop() {
			if _, err := Compact(raw); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkCanonical compares with what encoding/json needs to sort names, by decoding
// and encoding again (which loses repeated names and number text).
func BenchmarkCanonical(b *testing.B) {
	raw := sample()
	b.Run("baseline=encoding-json", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		for b.Loop() {
			var v any
			d := json.NewDecoder(bytes.NewReader(raw))
			d.UseNumber()
			if err := d.Decode(&v); err != nil {
				b.Fatal(err)
			}
			if _, err := json.Marshal(v); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("canonical", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		for b.Loop() {
			if _, err := Canonical(raw); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkValidate checks one ordinary set of arguments; the baseline only reads it.
func BenchmarkValidate(b *testing.B) {
	s, err := Compile(json.RawMessage(`{"type":"object","properties":{"city":{"type":"string","minLength":1},"days":{"type":"integer","minimum":1},"tags":{"type":"array","items":{"enum":["a","b","c"]}}},"required":["city"]}`))
	if err != nil {
		b.Fatal(err)
	}
	instance := []byte(`{"city":"北京","days":3,"tags":["a","c"]}`)
	b.Run("baseline=encoding-json", func(b *testing.B) {
		for b.Loop() {
			var v any
			if err := json.Unmarshal(instance, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("validate", func(b *testing.B) {
		for b.Loop() {
			if vs := s.Validate(instance); vs != nil {
				b.Fatal(vs)
			}
		}
	})
	b.Run("compile", func(b *testing.B) {
		raw := json.RawMessage(sample())
		for b.Loop() {
			if _, err := Compile(raw); err != nil {
				b.Fatal(err)
			}
		}
	})
}
