package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func mustCompile(t *testing.T, text string) *Schema {
	t.Helper()
	s, err := Compile(json.RawMessage(text))
	if err != nil {
		t.Fatalf("Compile(%s): %v", short(text, 200), err)
	}
	return s
}

func messages(vs []Violation) string {
	out := make([]string, len(vs))
	for i, v := range vs {
		out[i] = v.String()
	}
	return strings.Join(out, "; ")
}

func TestValidateSentences(t *testing.T) {
	t.Parallel()
	flight := `{"type":"object","properties":{
		"passengers":{"type":"array","maxItems":2,"items":{"type":"object","properties":{"age":{"type":"integer","minimum":0},"name":{"type":"string","minLength":1}},"required":["age"],"additionalProperties":false}},
		"class":{"enum":["economy","business"]},
		"code":{"type":"string","pattern":"^[A-Z]{3}$"},
		"either":{"anyOf":[{"type":"string"},{"type":"null"}]},
		"a/b~c":{"type":"boolean"}},
		"required":["class"]}`
	s := mustCompile(t, flight)
	cases := []struct{ in, want string }{
		{`{"class":"economy"}`, ""},
		{`{"class":"economy","either":null,"passengers":[{"age":3}]}`, ""},
		{`{"class":"economy","passengers":[{"age":3.0}]}`, ""},
		{`{}`, "/class is required but missing"},
		{`{"class":"first"}`, `/class must be one of "economy", "business"`},
		{`{"class":"economy","passengers":[{"age":"2o"}]}`, "/passengers/0/age must be an integer, not a string"},
		{`{"class":"economy","passengers":[{"age":-1}]}`, "/passengers/0/age must be 0 or more, not -1"},
		{`{"class":"economy","passengers":[{"age":1.5}]}`, "/passengers/0/age must be an integer, not a number"},
		{`{"class":"economy","passengers":[{"age":1,"nam":"x"}]}`, "/passengers/0/nam is not allowed here: the schema has no such property"},
		{`{"class":"economy","passengers":[{}, {"name":""}]}`, "/passengers/0/age is required but missing; /passengers/1/age is required but missing; /passengers/1/name must have at least 1 character, has 0"},
		{`{"class":"economy","code":"abc"}`, `/code must match the pattern ^[A-Z]{3}$, not be "abc"`},
		{`{"class":"economy","either":1}`, "/either fits none of the alternatives: must be a string, not a number, or must be null, not a number"},
		{`{"class":"economy","a/b~c":1}`, "/a~1b~0c must be a boolean, not a number"},
		{`[]`, "the value must be an object, not an array"},
		{`{"class":`, "the value cannot be checked: not valid JSON at line 1, column 10: the text ends where a value should be"},
	}
	for _, c := range cases {
		if got := messages(s.Validate([]byte(c.in))); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

// Many generators write an older dialect without naming it. What is none of any stays
// refused, with the reason 2020-12 gives.
func TestADialectThatIsNotNamed(t *testing.T) {
	t.Parallel()
	for text, dialect := range map[string]string{
		`{"type":"object","properties":{"p":{"type":"array","items":[{"type":"string"},{"type":"integer"}]}}}`: "draft-07",
		`{"type":"object","properties":{"p":{"type":"integer","minimum":0,"exclusiveMinimum":true}}}`:          "draft-04",
		`{"type":"object","properties":{"p":{"type":"array","prefixItems":[{"type":"string"}]}}}`:              "2020-12",
	} {
		s := mustCompile(t, text)
		if s.Dialect() != dialect || (len(s.Warnings()) == 0) != (dialect == "2020-12") {
			t.Errorf("%s is read as %s, with the warnings %q", text, s.Dialect(), s.Warnings())
		}
		if s.Validate([]byte(`{"p":[1]}`)) == nil {
			t.Errorf("%s does not check in %s", text, dialect)
		}
	}
	for _, text := range []string{
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"p":{"items":[{"type":"string"}]}}}`,
		`{"type":"object","properties":{"p":{"type":"nonsense"}}}`,
	} {
		if _, err := Compile(json.RawMessage(text)); err == nil || !strings.Contains(err.Error(), "not a valid JSON Schema") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestNumbersAreExact(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, `{"type":"object","properties":{
		"id":{"type":"integer","maximum":12345678901234567890},
		"price":{"type":"number","multipleOf":0.01},
		"same":{"const":9007199254740993}}}`)
	for in, want := range map[string]string{
		`{"id":12345678901234567890}`: "",
		`{"id":12345678901234567891}`: "/id must be 12345678901234567890 or less, not 12345678901234567891",
		`{"price":19.99}`:             "",
		`{"price":19.999}`:            "/price must be a multiple of 0.01, which 19.999 is not",
		`{"same":9007199254740992}`:   "/same must be 9007199254740993",
		`{"same":9007199254740993}`:   "",
		`{"id":1e18}`:                 "",
	} {
		if got := messages(s.Validate([]byte(in))); got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
	for _, huge := range []string{`{"id":1e999999999}`, `{"id":1e-999999999}`, `{"id":1` + strings.Repeat("0", 2000) + `}`, `{"price":1e99999999999999999999}`} {
		if got := messages(s.Validate([]byte(huge))); !strings.Contains(got, "too large or too long to be checked") {
			t.Errorf("%s: got %q", short(huge, 40), got)
		}
	}
}

func TestDialects(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"https://json-schema.org/draft/2020-12/schema":  "2020-12",
		"https://json-schema.org/draft/2020-12/schema#": "2020-12",
		"https://json-schema.org/draft/2019-09/schema":  "2019-09",
		"http://json-schema.org/draft-07/schema#":       "draft-07",
		"https://json-schema.org/draft-07/schema#":      "draft-07",
		"http://json-schema.org/draft-07/schema":        "draft-07",
		"http://json-schema.org/draft-06/schema#":       "draft-06",
		"http://json-schema.org/draft-04/schema#":       "draft-04",
	} {
		s := mustCompile(t, fmt.Sprintf(`{"$schema":%q,"type":"object","properties":{"a":{"type":"string","maxLength":2},"b":{"$ref":"#/properties/a"}},"required":["a"]}`, uri))
		if s.Dialect() != want {
			t.Errorf("%s is read as %s", uri, s.Dialect())
		}
		if got := messages(s.Validate([]byte(`{"b":"abc"}`))); got != "/a is required but missing; /b must have at most 2 characters, has 3" {
			t.Errorf("%s: %s", uri, got)
		}
	}
	// The same words mean different things in different dialects.
	tuple := `{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"additionalItems":false}`
	if got := messages(mustCompile(t, tuple).Validate([]byte(`["a",1]`))); got != "the value has 1 items too many" {
		t.Errorf("draft-07 tuple: %q", got)
	}
	exclusive := `{"$schema":"http://json-schema.org/draft-04/schema#","maximum":3,"exclusiveMaximum":true}`
	if got := messages(mustCompile(t, exclusive).Validate([]byte(`3`))); got != "the value must be less than 3, not 3" {
		t.Errorf("draft-04 exclusiveMaximum: %q", got)
	}
	for _, uri := range []string{"http://json-schema.org/draft-03/schema#", "https://example.com/my-dialect", "", "draft-07", "file:///etc/passwd"} {
		_, err := Compile(json.RawMessage(fmt.Sprintf(`{"$schema":%q,"type":"object"}`, uri)))
		if !errors.Is(err, ErrDialect) || !strings.Contains(err.Error(), fmt.Sprintf("%q", uri)) {
			t.Errorf("%q: %v, want ErrDialect naming it", uri, err)
		}
	}
	if _, err := Compile(json.RawMessage(`{"$schema":7}`)); !errors.Is(err, ErrDialect) {
		t.Errorf("a number as dialect: %v", err)
	}
}

func TestNotSchemas(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`null`:                              "not null",
		`[]`:                                "not an array",
		`"object"`:                          "not a string",
		`7`:                                 "not a number",
		``:                                  "not valid JSON",
		`{"type":5}`:                        "/type",
		`{"type":"strin"}`:                  "/type",
		`{"properties":[]}`:                 "/properties must be an object, not an array",
		`{"required":"a"}`:                  "/required must be an array, not a string",
		`{"minLength":-1}`:                  "/minLength must be 0 or more, not -1",
		`{"properties":{"a":7}}`:            "/properties/a must be a boolean or an object, not a number",
		`{"$ref":"#/$defs/x"}`:              `refers to "#/$defs/x", which it does not contain`,
		`{"$ref":"#nowhere"}`:               `"#nowhere", which it does not contain`,
		`{"properties":{"a":{"enum":"x"}}}`: "/properties/a/enum must be an array, not a string",
	} {
		_, err := Compile(json.RawMessage(in))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Compile(%s) = %v; want %q", in, err, want)
		}
	}
}

// What careless servers send and nothing depends on.
func TestLenient(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, `{"type":"object","properties":null,"required":null,"additionalProperties":null}`)
	if len(s.Warnings()) != 3 || s.Validate([]byte(`{"a":1}`)) != nil {
		t.Errorf("null keywords: %q, %v", s.Warnings(), s.Validate([]byte(`{"a":1}`)))
	}
	s = mustCompile(t, `{"properties":{"a":{"const":null,"default":null}}}`)
	if len(s.Warnings()) != 0 || s.Validate([]byte(`{"a":1}`)) == nil {
		t.Errorf("const null: %q, %v", s.Warnings(), s.Validate([]byte(`{"a":1}`)))
	}
	s = mustCompile(t, `{"properties":{"a":{"type":"string","type":"number"}}}`)
	if len(s.Warnings()) != 1 || s.Validate([]byte(`{"a":"x"}`)) == nil {
		t.Errorf("twice type: %q", s.Warnings())
	}
	if s = mustCompile(t, `true`); s.Validate([]byte(`[1]`)) != nil {
		t.Error("true must allow everything")
	}
	if s = mustCompile(t, `false`); s.Validate([]byte(`1`)) == nil {
		t.Error("false must allow nothing")
	}
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, `{"type":"object","properties":{
		"look":{"type":"string","pattern":"^(?=.*[0-9]).{8,}$","minLength":3},
		"uni":{"type":"string","pattern":"^[\\u4e00-\\u9fff]+$"},
		"long":{"type":"string","pattern":"^.{1,4000}$"}},
		"patternProperties":{"^(?!x-)":{"type":"number"}},
		"additionalProperties":false}`)
	if len(s.Warnings()) != 3 {
		t.Errorf("warnings: %q", s.Warnings())
	}
	for in, want := range map[string]string{
		`{"look":"nodigits"}`:                 "",
		`{"look":"no"}`:                       "/look must have at least 3 characters, has 2",
		`{"uni":"北京"}`:                        "",
		`{"uni":"Beijing"}`:                   `/uni must match the pattern ^[\u4e00-\u9fff]+$, not be "Beijing"`,
		`{"other":"text, though not number"}`: "",
	} {
		if got := messages(s.Validate([]byte(in))); got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}

// No reference leaves the schema, whatever its scheme; the error names it.
func TestReferencesAreNeverFetched(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	canary := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		_, _ = w.Write([]byte(`{"type":"string"}`))
	}))
	defer canary.Close()
	host := canary.Listener.Addr().(*net.TCPAddr).String()
	for _, ref := range []string{
		canary.URL + "/canary", canary.URL + "/canary#/a", "//" + host + "/x", "file:///etc/passwd", "other.json", "../up.json#/$defs/a",
		"ftp://" + host + "/x", "https://json-schema.org/not-there", "data:application/json,{}", "urn:example:a",
	} {
		for _, shape := range []string{
			`{"type":"object","properties":{"p":{"$ref":%q}}}`,
			`{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"p":{"$ref":%q}}}`,
			`{"$dynamicRef":%q}`,
			`{"allOf":[{"not":{"$ref":%q}}]}`,
		} {
			text := fmt.Sprintf(shape, ref)
			_, err := Compile(json.RawMessage(text))
			if !errors.Is(err, ErrRemote) || !strings.Contains(err.Error(), ref) {
				t.Errorf("%s: %v; want ErrRemote naming the reference", text, err)
			}
		}
	}
	if hits.Load() != 0 {
		t.Errorf("%d requests reached the canary", hits.Load())
	}
	// Inside references work, with and without "$id", and so does the dialect itself.
	for _, text := range []string{
		`{"$id":"https://example.com/tool.json","$defs":{"k":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/k"}}}`,
		`{"$id":"https://example.com/tool.json","$defs":{"k":{"$id":"k.json","type":"string"}},"properties":{"a":{"$ref":"https://example.com/k.json"}}}`,
		`{"$defs":{"k":{"$anchor":"kk","type":"string"}},"properties":{"a":{"$ref":"#kk"}}}`,
		`{"properties":{"b":{"type":"string"},"a":{"$ref":"#/properties/b"}}}`,
	} {
		if got := messages(mustCompile(t, text).Validate([]byte(`{"a":1}`))); got != "/a must be a string, not a number" {
			t.Errorf("%s: %q", text, got)
		}
	}
}

func TestRecursiveSchema(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, `{"$ref":"#/$defs/N","$defs":{"N":{"type":"object","properties":{"next":{"$ref":"#/$defs/N"},"v":{"type":"integer"}}}}}`)
	if got := messages(s.Validate([]byte(`{"next":{"next":{"v":"x"}}}`))); got != "/next/next/v must be an integer, not a string" {
		t.Error(got)
	}
	s = mustCompile(t, `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`)
	if got := messages(s.Validate([]byte(`1`))); !strings.Contains(got, "refers to itself without end") {
		t.Errorf("endless reference: %q", got)
	}
}

// Schemas made to hurt are refused with a reason, or checked, in bounded time.
func TestSchemaBombs(t *testing.T) {
	t.Parallel()
	repeat := func(n int, f func(i int) string, sep string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = f(i)
		}
		return strings.Join(parts, sep)
	}
	constant := func(s string) func(int) string { return func(int) string { return s } }
	refused := map[string]string{
		"nested allOf":    strings.Repeat(`{"allOf":[`, 400) + `{}` + strings.Repeat(`]}`, 400),
		"very deep allOf": strings.Repeat(`{"allOf":[`, 10_000) + `{}` + strings.Repeat(`]}`, 10_000),
		"wide allOf":      `{"allOf":[` + repeat(10_000, constant(`{"type":"string"}`), ",") + `]}`,
		"long enum":       `{"enum":[` + repeat(100_000, func(i int) string { return fmt.Sprint(i) }, ",") + `]}`,
		"ten megabytes":   `{"description":"` + strings.Repeat("x", 10<<20) + `"}`,
		"huge number":     `{"maximum":1e999999999}`,
		"odd references": `{"x":{` + repeat(2000, func(i int) string { return fmt.Sprintf(`"a%d":{"x":{}}`, i) }, ",") + `},"allOf":[` +
			repeat(2000, func(i int) string { return fmt.Sprintf(`{"$ref":"#/x/a%d/x"}`, i) }, ",") + `]}`,
		"identifiers": `{"$defs":{` + repeat(1000, func(i int) string { return fmt.Sprintf(`"a%d":{"$id":"a%d.json"}`, i, i) }, ",") + `}}`,
	}
	for name, text := range refused {
		start := time.Now()
		_, err := Compile(json.RawMessage(text))
		if !errors.Is(err, ErrLimit) {
			t.Errorf("%s: %v, want ErrLimit", name, err)
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%s took %v", name, d)
		}
	}
	doubling := func(n int) string {
		return `{"$ref":"#/$defs/d0","$defs":{` + repeat(n, func(i int) string {
			return fmt.Sprintf(`"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i+1, i+1)
		}, ",") + fmt.Sprintf(`,"d%d":{"type":"string"}}}`, n)
	}
	chain := `{"$defs":{` + repeat(2000, func(i int) string {
		return fmt.Sprintf(`"d%d":{"$ref":"#/$defs/d%d"}`, i, i+1)
	}, ",") + `,"d2000":{"properties":{"n":{"$ref":"#/$defs/d0"}}}},"$ref":"#/$defs/d0"}`
	unchecked := map[string][2]string{
		"doubling, fits":    {doubling(60), `"x"`},
		"doubling, fails":   {doubling(60), `1`},
		"doubling in depth": {`{"$ref":"#/$defs/n","$defs":{"n":{"allOf":[{"properties":{"n":{"$ref":"#/$defs/n"}}},{"properties":{"n":{"$ref":"#/$defs/n"}}}]}}}`, strings.Repeat(`{"n":`, 100) + "1" + strings.Repeat("}", 100)},
		"doubling patterns": {`{"$ref":"#/$defs/n","$defs":{"n":{"patternProperties":{"^n":{"$ref":"#/$defs/n"},"n$":{"$ref":"#/$defs/n"}}}}}`, strings.Repeat(`{"n":`, 100) + "1" + strings.Repeat("}", 100)},
		"endless stack":     {chain, strings.Repeat(`{"n":`, 900) + "1" + strings.Repeat("}", 900)},
		// Under "not" the library wants to know yes or no, and leaves extensions out where it is no.
		"doubling in a not":      {`{"not":{"$ref":"#/$defs/a"},"$defs":{"a":{"items":{"$ref":"#/$defs/a"},"contains":{"$ref":"#/$defs/a"},"minItems":1}}}`, strings.Repeat("[", 60) + strings.Repeat("]", 60)},
		"doubling in an if":      {`{"if":{"$ref":"#/$defs/a"},"$defs":{"a":{"minProperties":1,"dependentSchemas":{"x":{"properties":{"x":{"$ref":"#/$defs/a"}}},"y":{"properties":{"x":{"$ref":"#/$defs/a"}}}}}}}`, strings.Repeat(`{"y":1,"x":`, 60) + "{}" + strings.Repeat("}", 60)},
		"doubling, dynamic":      {`{"$id":"https://r.example/","not":{"$ref":"l"},"$defs":{"a":{"$dynamicAnchor":"n","items":{"$ref":"l"},"contains":{"$ref":"l"},"minItems":1},"l":{"$id":"l","$dynamicRef":"#n","$defs":{"d":{"$dynamicAnchor":"n"}}}}}`, strings.Repeat("[", 60) + strings.Repeat("]", 60)},
		"doubling, draft-04":     {`{"$schema":"http://json-schema.org/draft-04/schema#","not":{"$ref":"#/definitions/a"},"definitions":{"a":{"minProperties":1,"dependencies":{"x":{"properties":{"x":{"$ref":"#/definitions/a"}}},"y":{"properties":{"x":{"$ref":"#/definitions/a"}}}}}}}`, strings.Repeat(`{"y":1,"x":`, 60) + "{}" + strings.Repeat("}", 60)},
		"long numbers":           {`{"items":{"enum":[` + repeat(400, constant("1e399"), ",") + `]}}`, `[` + repeat(90_000, constant("1e-399"), ",") + `]`},
		"long numbers, compared": {`{"uniqueItems":true}`, `[` + repeat(20, func(i int) string { return `[` + repeat(1000, constant("1e399"), ",") + fmt.Sprintf(",%d]", i) }, ",") + `]`},
		"slow pattern":           {`{"items":{"pattern":"(x+x+)+y"}}`, `[` + repeat(60, constant(`"`+strings.Repeat("x", 300_000)+`"`), ",") + `]`},
		"too many values":        {`{"items":{"type":"string"}}`, `[` + repeat(200_000, constant("1"), ",") + `]`},
	}
	for name, c := range unchecked {
		s := mustCompile(t, c[0])
		start := time.Now()
		got := messages(s.Validate([]byte(c[1])))
		if !strings.Contains(got, "too much work") && !strings.Contains(got, "too many long numbers") && !strings.Contains(got, "too deep") && !strings.Contains(got, "too many") {
			t.Errorf("%s: %q", name, short(got, 200))
		}
		if d := time.Since(start); d > 40*time.Second {
			t.Errorf("%s took %v", name, d)
		}
	}
	checked := map[string][2]string{
		"catastrophic elsewhere": {`{"pattern":"^(a+)+$"}`, `"` + strings.Repeat("a", 10_000) + `!"`},
		"huge minLength":         {`{"minLength":1e12}`, `"x"`},
		"absurd minLength":       {`{"minLength":18446744073709551617}`, `"x"`},
		"ten thousand values":    {`{"enum":[` + repeat(10_000, func(i int) string { return fmt.Sprint(i) }, ",") + `]}`, `-1`},
		"long enum, long list":   {`{"items":{"enum":[` + repeat(9000, func(i int) string { return fmt.Sprint(i) }, ",") + `]}}`, `[` + repeat(50_000, constant("17"), ",") + `,-1]`},
		"many subschemas":        {`{"properties":{` + repeat(4900, func(i int) string { return fmt.Sprintf(`"p%d":{"type":"string"}`, i) }, ",") + `}}`, `{"p4899":1}`},
	}
	for name, c := range checked {
		vs := mustCompile(t, c[0]).Validate([]byte(c[1]))
		if len(vs) != 1 || strings.Contains(vs[0].Message, "checked") {
			t.Errorf("%s: %v", name, vs)
		}
	}
	if vs := mustCompile(t, `{"maxLength":18446744073709551616}`).Validate([]byte(`"x"`)); vs != nil {
		t.Errorf("absurd maxLength: %v", vs)
	}
}

// Errors hold the names that are missing and the path to the value; neither may fill the
// memory. It does not run beside others, because it counts what is allocated.
func TestErrorsTakeLittleMemory(t *testing.T) {
	names := make([]string, 40_000)
	for i := range names {
		names[i] = fmt.Sprintf(`"n%d"`, i)
	}
	for name, c := range map[string][2]string{
		"many names":    {`{"items":{"required":[` + strings.Join(names, ",") + `]}}`, `[` + strings.Repeat("{},", 5000) + `{}]`},
		"far down":      {`{"$ref":"#/$defs/a","$defs":{"a":{"items":{"$ref":"#/$defs/a"},"maximum":0}}}`, strings.Repeat("[", 900) + strings.Repeat("1,", 90_000) + "1" + strings.Repeat("]", 900)},
		"many and deep": {`{"$ref":"#/$defs/a","$defs":{"a":{"items":{"$ref":"#/$defs/a"},"allOf":[` + strings.Repeat(`{"maximum":0},`, 90) + `{}]}}}`, strings.Repeat("[", 900) + strings.Repeat("1,", 900) + "1" + strings.Repeat("]", 900)},
	} {
		s := mustCompile(t, c[0])
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := messages(s.Validate([]byte(c[1])))
		runtime.ReadMemStats(&after)
		if !strings.Contains(got, "too much work") {
			t.Errorf("%s: %s", name, short(got, 200))
		}
		if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 400 {
			t.Errorf("%s took %d MiB", name, mib)
		}
	}
}

// const and enum compare as JSON Schema says: numbers by value, objects in any order.
func TestEqualValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		allowed string // of enum, and one by one of const
		fits    []string
		not     []string
	}{
		{`1`, []string{`1`, `1.0`, `10e-1`, `0.1e1`, `1.000`}, []string{`"1"`, `true`, `[1]`, `-1`, `10`, `1.0000000000000000000001`, `null`}},
		{`0`, []string{`0`, `-0`, `0.0`, `0e5`}, []string{`false`, `null`, `""`}},
		{`-12.50`, []string{`-12.5`, `-1250e-2`}, []string{`12.5`}},
		{`9007199254740993`, []string{`9007199254740993`, `9.007199254740993e15`}, []string{`9007199254740992`}},
		{`"a"`, []string{`"a"`, `"\u0061"`}, []string{`"A"`, `["a"]`, `"a "`, `{"a":"a"}`}},
		{`true`, []string{`true`}, []string{`"true"`, `1`, `false`}},
		{`null`, []string{`null`}, []string{`"null"`, `0`}},
		{`{"a":1,"b":[1,{"c":null}]}`, []string{`{"b":[1.0,{"c":null}],"a":1}`}, []string{`{"a":1}`, `{"a":1,"b":[{"c":null},1]}`, `{"a":1,"b":[1,{"c":null}],"d":0}`, `{"a":1,"b":[1,{"c":0}]}`}},
		{`[]`, []string{`[]`, `[ ]`}, []string{`{}`, `[[]]`, `""`}},
		{`["a,b"]`, []string{`["a,b"]`}, []string{`["a","b"]`, `["a",",b"]`}},
		{`[12]`, []string{`[12]`}, []string{`[1,2]`, `["12"]`}},
	} {
		for _, text := range []string{`{"const":` + c.allowed + `}`, `{"enum":["other",` + c.allowed + `,[7]]}`} {
			s := mustCompile(t, text)
			for _, v := range c.fits {
				if vs := s.Validate([]byte(v)); vs != nil {
					t.Errorf("%s does not allow %s: %v", text, v, vs)
				}
			}
			for _, v := range c.not {
				if vs := s.Validate([]byte(v)); len(vs) != 1 || !strings.HasPrefix(vs[0].Message, "must be ") {
					t.Errorf("%s and %s: %v", text, v, vs)
				}
			}
		}
	}
	if vs := mustCompile(t, `{"not":{"enum":[1,2]}}`).Validate([]byte("3")); vs != nil {
		t.Errorf("not enum: %v", vs)
	}
	if vs := mustCompile(t, `{"$schema":"http://json-schema.org/draft-07/schema#","format":"ipv4","enum":["x"]}`).Validate([]byte(`"y"`)); len(vs) != 1 || vs[0].Message != `must be "x"` {
		t.Errorf("format beside enum: %v", vs)
	}
	if vs := mustCompile(t, `{"$schema":"http://json-schema.org/draft-07/schema#","format":"ipv4","enum":["x"]}`).Validate([]byte(`"x"`)); len(vs) != 1 || !strings.Contains(vs[0].Message, "valid ipv4") {
		t.Errorf("format beside enum: %v", vs)
	}
}

func TestManyViolationsAreCut(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, `{"items":{"type":"string"}}`)
	vs := s.Validate([]byte("[" + strings.TrimSuffix(strings.Repeat("1,", 500), ",") + "]"))
	if len(vs) != maxViolations || vs[0].Path != "/0" || vs[10].Path != "/10" || !strings.Contains(vs[49].Message, "451 more ways") {
		t.Errorf("%d violations, last %v", len(vs), vs[len(vs)-1])
	}
}

func TestValidateFromManyGoroutines(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, `{"properties":{"a":{"type":"string","pattern":"^x"}}}`)
	done := make(chan string)
	for range 8 {
		go func() {
			got := ""
			for range 50 {
				got = messages(s.Validate([]byte(`{"a":"y"}`)))
			}
			done <- got
		}()
	}
	for range 8 {
		if got := <-done; got != `/a must match the pattern ^x, not be "y"` {
			t.Error(got)
		}
	}
}
