package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func mustForm(t *testing.T, text string) Form {
	t.Helper()
	f, err := ParseForm(json.RawMessage(text))
	if err != nil {
		t.Fatalf("ParseForm(%s): %v", short(text, 300), err)
	}
	return f
}

// one wraps a property in a form and gives its field.
func one(t *testing.T, property string) (Form, *Field) {
	t.Helper()
	f := mustForm(t, `{"type":"object","properties":{"x":`+property+`}}`)
	if len(f.Fields) != 1 {
		t.Fatalf("%s gives %d fields", property, len(f.Fields))
	}
	return f, &f.Fields[0]
}

func optionsText(f *Field) string {
	var out []string
	for _, o := range f.Options {
		out = append(out, string(o.Value)+"="+o.Title)
	}
	return strings.Join(out, ",")
}

func TestFormKeepsOrderAndDefaults(t *testing.T) {
	t.Parallel()
	f := mustForm(t, `{"type":"object","title":"T","description":"D","properties":{
		"zeta":{"type":"string","title":"Z","description":"last letter"},
		"ok":{"type":"boolean","default":true},
		"age":{"type":"integer","minimum":0},
		"spam":{"type":"boolean"},
		"r":{"type":"number"}},"required":["ok","age"]}`)
	var names []string
	for _, field := range f.Fields {
		names = append(names, field.Name)
	}
	if strings.Join(names, " ") != "zeta ok age spam r" || f.Title != "T" || f.Description != "D" {
		t.Errorf("fields %q, title %q", names, f.Title)
	}
	values := f.Defaults()
	if len(values) != 1 || string(values["ok"]) != "true" {
		t.Fatalf("Defaults() = %s", values)
	}
	if got := messages(f.Check(values)); got != "/age is required but missing" {
		t.Errorf("Check: %s", got)
	}
	values["age"] = json.RawMessage("20")
	if got := f.Check(values); got != nil {
		t.Errorf("Check: %v", got)
	}
	if got := string(f.Encode(values)); got != `{"ok":true,"age":20}` {
		t.Errorf("Encode: %s", got)
	}
	values["r"], values["zeta"] = json.RawMessage(" 1.50 "), json.RawMessage(`"é"`)
	if got := string(f.Encode(values)); got != `{"zeta":"é","ok":true,"age":20,"r":1.50}` {
		t.Errorf("Encode: %s", got)
	}
	values["stranger"] = json.RawMessage("1")
	values["age"] = json.RawMessage(`"2o"`)
	if got := messages(f.Check(values)); got != `/age must be a whole number, not "2o"; /stranger is not a field of this form` {
		t.Errorf("Check: %s", got)
	}
}

func TestFormKinds(t *testing.T) {
	t.Parallel()
	cases := []struct {
		property string
		kind     Kind
		options  string
		nullable bool
	}{
		// The kinds of the protocol.
		{`{"type":"string","minLength":2,"maxLength":5}`, Text, "", false},
		{`{"type":"string","format":"email"}`, Text, "", false},
		{`{"type":"number","minimum":1,"maximum":2}`, Number, "", false},
		{`{"type":"integer"}`, Integer, "", false},
		{`{"type":"boolean","default":false}`, Boolean, "", false},
		{`{"type":"string","enum":["a","b"]}`, Choice, `"a"=a,"b"=b`, false},
		{`{"type":"string","enum":["a","b"],"enumNames":["Aah","Bee"]}`, Choice, `"a"=Aah,"b"=Bee`, false},
		{`{"type":"string","oneOf":[{"const":"a","title":"Aah"},{"const":"b","title":"Bee"}]}`, Choice, `"a"=Aah,"b"=Bee`, false},
		{`{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["a","b"]}}`, Choices, `"a"=a,"b"=b`, false},
		{`{"type":"array","items":{"anyOf":[{"const":"a","title":"Aah"},{"const":"b","title":"Bee"}]}}`, Choices, `"a"=Aah,"b"=Bee`, false},
		// What servers send besides.
		{`{"type":"array","items":{"oneOf":[{"const":"a","title":"Aah"}]}}`, Choices, `"a"=Aah`, false},
		{`{"type":["string","null"]}`, Text, "", true},
		{`{"anyOf":[{"type":"string"},{"type":"null"}],"default":null}`, Text, "", true},
		{`{"anyOf":[{"type":"integer","minimum":3},{"type":"null"}]}`, Integer, "", true},
		{`{"oneOf":[{"const":"a"},{"const":"b","title":"Bee"},{"const":null}]}`, Choice, `"a"=a,"b"=Bee`, true},
		{`{"enum":["a","b",null]}`, Choice, `"a"=a,"b"=b`, true},
		{`{"anyOf":[{"type":"string","enum":["a"]},{"type":"null"}]}`, Choice, `"a"=a`, true},
		{`{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"null"}]}`, List, "", true},
		{`{"enum":[1,2.50,"x",true]}`, Choice, `1=1,2.50=2.50,"x"=x,true=true`, false},
		{`{"type":"integer","enum":[1,2]}`, Choice, `1=1,2=2`, false},
		{`{"const":"only"}`, Choice, `"only"=only`, false},
		{`{"type":"string","format":"password"}`, Text, "", false},
		{`{"type":"string","format":"made-up"}`, Text, "", false},
		{`{"type":"array","items":{"type":"string"}}`, List, "", false},
		{`{"type":"array"}`, List, "", false},
		{`{"type":"array","items":{"type":"integer","maximum":5}}`, List, "", false},
		{`{"type":"string","nullable":true}`, Text, "", true},
		{`{}`, Text, "", false},
		{`true`, Text, "", false},
		{`{"minimum":3}`, Number, "", false},
		{`{"type":["integer","string"]}`, Text, "", false},
		{`{"anyOf":[{"type":"integer"},{"type":"string"}]}`, Text, "", false},
		{`{"type":"string","enum":["a","b"],"enumNames":["only one"]}`, Choice, `"a"=a,"b"=b`, false},
	}
	for _, c := range cases {
		_, f := one(t, c.property)
		if f.Kind != c.kind || optionsText(f) != c.options || f.Nullable != c.nullable {
			t.Errorf("%s: kind %s, options %s, nullable %v", c.property, f.Kind, optionsText(f), f.Nullable)
		}
		if f.Nullable && f.check(json.RawMessage("null")) != "" || !f.Nullable && f.check(json.RawMessage("null")) == "" {
			t.Errorf("%s: null is judged wrong", c.property)
		}
	}
}

// null as a default means "not answered", unless an answer is required.
func TestNullDefaults(t *testing.T) {
	t.Parallel()
	f := mustForm(t, `{"properties":{"a":{"type":["string","null"],"default":null},"b":{"type":["string","null"],"default":null}},"required":["b"]}`)
	if got := string(f.Encode(f.Defaults())); got != `{"b":null}` || f.Check(f.Defaults()) != nil || len(f.Notes) != 0 {
		t.Errorf("defaults %s, notes %q", got, f.Notes)
	}
}

func TestFormReferences(t *testing.T) {
	t.Parallel()
	f := mustForm(t, `{"type":"object","$defs":{"Color":{"type":"string","enum":["red","green"],"title":"Color"},"a/b":{"$ref":"#/$defs/Color"}},
		"properties":{"c":{"$ref":"#/$defs/Color","default":"red","title":"Your color"},"d":{"allOf":[{"$ref":"#/$defs/Color"}]},"e":{"$ref":"#/$defs/a~1b"},
		"m":{"type":"array","items":{"$ref":"#/$defs/Color"}},"n":{"anyOf":[{"$ref":"#/$defs/Color"},{"type":"null"}]}}}`)
	for i, want := range []struct {
		title string
		kind  Kind
	}{{"Your color", Choice}, {"Color", Choice}, {"Color", Choice}, {"m", Choices}, {"Color", Choice}} {
		if f.Fields[i].Title != want.title || f.Fields[i].Kind != want.kind || optionsText(&f.Fields[i]) != `"red"=red,"green"=green` {
			t.Errorf("field %d: %+v", i, f.Fields[i])
		}
	}
	if string(f.Fields[0].Default) != `"red"` || !f.Fields[4].Nullable {
		t.Errorf("default %s, nullable %v", f.Fields[0].Default, f.Fields[4].Nullable)
	}
	for _, ref := range []string{"http://127.0.0.1:9/x", "file:///etc/passwd", "//host/x", "other.json"} {
		_, err := ParseForm(json.RawMessage(fmt.Sprintf(`{"properties":{"x":{"$ref":%q}}}`, ref)))
		if !errors.Is(err, ErrRemote) || !strings.Contains(err.Error(), ref) {
			t.Errorf("%s: %v", ref, err)
		}
	}
	for _, loop := range []string{
		`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"properties":{"x":{"$ref":"#/$defs/a"}}}`,
		`{"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"}]}},"properties":{"x":{"$ref":"#/$defs/a"}}}`,
		`{"$defs":{"a":{"type":"array","items":{"$ref":"#/$defs/a"}}},"properties":{"x":{"$ref":"#/$defs/a"}}}`,
	} {
		if _, err := ParseForm(json.RawMessage(loop)); !errors.Is(err, ErrLimit) && !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v", loop, err)
		}
	}
}

func TestFormRefuses(t *testing.T) {
	t.Parallel()
	for _, property := range []string{
		`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"properties":{"a":{}}}`, `{"type":"object"}`,
		`{"type":"array","items":{"type":"object"}}`, `{"type":"array","items":{"type":"array","items":{"type":"string"}}}`,
		`{"anyOf":[{"type":"object"},{"type":"null"}]}`, `{"oneOf":[{"const":{"a":1}}]}`, `{"enum":[[1]]}`,
		`{"allOf":[{"type":"string"},{"minLength":1}]}`, `{"type":"array","items":{"type":"boolean"}}`,
	} {
		_, err := ParseForm(json.RawMessage(`{"type":"object","properties":{"good":{"type":"string"},"deep one":` + property + `}}`))
		if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), `"deep one"`) {
			t.Errorf("%s: %v, want ErrUnsupported naming the field", property, err)
		}
	}
	for _, text := range []string{``, `null`, `[]`, `7`, `{"type":"string"}`, `{"properties":7}`, `{"properties":{"x":7}}`, `{"properties":{"x":{"type":"strin"}}}`, `{"properties":{"x":{"type":7}}}`, `{"properties":`} {
		if _, err := ParseForm(json.RawMessage(text)); err == nil {
			t.Errorf("ParseForm(%q) accepted", text)
		}
	}
	if f := mustForm(t, `{"type":"object","properties":{}}`); len(f.Fields) != 0 || string(f.Encode(nil)) != "{}" {
		t.Errorf("an empty form: %+v", f)
	}
}

func TestFormNotes(t *testing.T) {
	t.Parallel()
	for property, want := range map[string]string{
		`{"type":"integer","default":"twenty"}`:                                                                  `The server's default for "x" is not used: it must be a whole number, not "twenty".`,
		`{"type":"integer","default":5,"maximum":3}`:                                                             `it must be 3 or less, not 5`,
		`{"type":"boolean","default":"true"}`:                                                                    `it must be true or false, not "true"`,
		`{"type":"string","default":5}`:                                                                          `it must be a text, not 5`,
		`{"type":"string","enum":["a"],"default":"b"}`:                                                           `it must be one of "a", not "b"`,
		`{"type":"array","items":{"enum":["a","b"]},"default":["a","c"]}`:                                        `it has a wrong entry 2: it must be one of "a", "b", not "c"`,
		`{"type":"string","format":"date","default":"2025-02-30"}`:                                               `it must be a date of the calendar`,
		`{"type":"string","pattern":"^([a-z]{1,30}x?){1,30}$","default":"` + strings.Repeat("x", 900_000) + `"}`: "too long to be checked",
		`{"type":"string","pattern":"(?=x)"}`:                                                                    `is not checked`,
	} {
		f, field := one(t, property)
		if len(f.Notes) != 1 || !strings.Contains(f.Notes[0], want) || field.Default != nil || len(f.Defaults()) != 0 {
			t.Errorf("%s: notes %q, default %s", short(property, 200), f.Notes, short(string(field.Default), 100))
		}
	}
	f := mustForm(t, `{"properties":{"a":{"type":"string","title":"Name"},"b":{"type":"string","title":" name "},"a":{"type":"integer"}},"required":["a","zz"]}`)
	if len(f.Fields) != 2 || f.Fields[0].Kind != Integer || len(f.Notes) != 2 {
		t.Errorf("fields %+v notes %q", f.Fields, f.Notes)
	}
	f = mustForm(t, `{"properties":{"a":{"title":"Name"},"b":{"title":" name "}}}`)
	if len(f.Notes) != 1 || !strings.Contains(f.Notes[0], "same title") {
		t.Errorf("same titles: %q", f.Notes)
	}
}

func TestFieldParse(t *testing.T) {
	t.Parallel()
	const big = "123456789012345678901234567890"
	cases := []struct{ property, in, want, problem string }{
		{`{"type":"integer"}`, "20", "20", ""},
		{`{"type":"integer"}`, " +020 ", "20", ""},
		{`{"type":"integer"}`, "２０", "20", ""},
		{`{"type":"integer"}`, "-0", "-0", ""},
		{`{"type":"integer"}`, "5.0", "5", ""},
		{`{"type":"integer"}`, "1e3", "1000", ""},
		{`{"type":"integer"}`, big, big, ""},
		{`{"type":"integer"}`, "2o", "", `"2o" is not a whole number; write it in digits, for example 20.`},
		{`{"type":"integer"}`, "2.5", "", `"2.5" is not a whole number.`},
		{`{"type":"integer"}`, "", "", "Enter a whole number, for example 20."},
		{`{"type":"integer"}`, "1e999999999", "", "too large"},
		{`{"type":"integer"}`, "0x10", "", "is not a whole number"},
		{`{"type":"integer"}`, "1 000", "", "is not a whole number"},
		{`{"type":"integer","minimum":0,"maximum":120}`, "-1", "", "This must be 0 or more, not -1."},
		{`{"type":"integer","maximum":` + big + `}`, big + "1", "", "or less"},
		{`{"type":"number"}`, "2.50", "2.50", ""},
		{`{"type":"number"}`, ".5", "0.5", ""},
		{`{"type":"number"}`, "5.", "5", ""},
		{`{"type":"number"}`, "0.1234567890123456789012345", "0.1234567890123456789012345", ""},
		{`{"type":"number"}`, "1e999", "", "between -1.8e308 and 1.8e308"},
		{`{"type":"number"}`, "1e309", "", "between -1.8e308 and 1.8e308"},
		{`{"type":"number"}`, "NaN", "", "is not a number"},
		{`{"type":"number"}`, "Infinity", "", "is not a number"},
		{`{"type":"number"}`, "3,14", "", "with a point"},
		{`{"type":"number","exclusiveMinimum":0}`, "0", "", "more than 0"},
		{`{"type":"boolean"}`, "yes", "true", ""},
		{`{"type":"boolean"}`, "否", "false", ""},
		{`{"type":"boolean"}`, "maybe", "", `"maybe" is neither yes nor no.`},
		{`{"type":"string"}`, " a \"quoted\"\nline ", `" a \"quoted\"\nline "`, ""},
		{`{"type":"string"}`, "", `""`, ""},
		{`{"type":"string"}`, "a\xffb", "", "UTF-8"},
		{`{"type":"string","minLength":2}`, "京", "", "This must have at least 2 characters, has 1."},
		{`{"type":"string","maxLength":2}`, "北京", `"北京"`, ""},
		{`{"type":"string","maxLength":1}`, "北京", "", "at most 1 character"},
		{`{"type":"string","pattern":"^[a-z]+$"}`, "A", "", "pattern"},
		{`{"type":"string","format":"date"}`, "2025-03-17", `"2025-03-17"`, ""},
		{`{"type":"string","format":"date"}`, " 2025-03-17 ", `"2025-03-17"`, ""},
		{`{"type":"string","format":"date"}`, "31.02", "", "YYYY-MM-DD"},
		{`{"type":"string","format":"date"}`, "2025-02-31", "", "YYYY-MM-DD"},
		{`{"type":"string","format":"date"}`, "2025-3-7", "", "YYYY-MM-DD"},
		{`{"type":"string","format":"date-time"}`, "2025-03-17T09:30:00+08:00", `"2025-03-17T09:30:00+08:00"`, ""},
		{`{"type":"string","format":"date-time"}`, "2025-03-17 09:30", "", "zone"},
		{`{"type":"string","format":"date-time"}`, "2025-03-17T9:30:00Z", "", "zone"},
		{`{"type":"string","format":"email"}`, "a@example.com", `"a@example.com"`, ""},
		{`{"type":"string","format":"email"}`, "A <a@example.com>", "", "e-mail"},
		{`{"type":"string","format":"email"}`, "a@", "", "e-mail"},
		{`{"type":"string","format":"uri"}`, "https://example.com/x?y=1", `"https://example.com/x?y=1"`, ""},
		{`{"type":"string","format":"uri"}`, "example.com", "", "whole address"},
		{`{"type":"string","format":"uri"}`, "https://", "", "whole address"},
		{`{"type":"string","format":"made-up"}`, "anything", `"anything"`, ""},
		{`{"enum":["window","aisle"]}`, "aisle", `"aisle"`, ""},
		{`{"enum":["window","aisle"]}`, " Aisle", `"aisle"`, ""},
		{`{"enum":["window","aisle"]}`, "roof", "", `Choose one of "window", "aisle".`},
		{`{"enum":["a","A"]}`, "A", `"A"`, ""},
		{`{"oneOf":[{"const":"dbl","title":"Double room"},{"const":"sgl","title":"Single room"}]}`, "double room", `"dbl"`, ""},
		{`{"oneOf":[{"const":"a","title":"Same"},{"const":"b","title":"Same"}]}`, "Same", "", "means 2 of the choices"},
		{`{"enum":[1,2]}`, "2", "2", ""},
		{`{"type":"array","items":{"enum":["a","b","c"]},"minItems":1,"maxItems":2}`, "a, C", `["a","c"]`, ""},
		{`{"type":"array","items":{"enum":["a","b","c"]},"minItems":1,"maxItems":2}`, `["b"]`, `["b"]`, ""},
		{`{"type":"array","items":{"enum":["a","b","c"]},"minItems":1,"maxItems":2}`, "", "", "at least 1 entry"},
		{`{"type":"array","items":{"enum":["a","b","c"]},"minItems":1,"maxItems":2}`, "a,b,c", "", "at most 2 entries"},
		{`{"type":"array","items":{"enum":["a","b"]}}`, "a,a", "", "twice"},
		{`{"type":"array","items":{"type":"string"}}`, "滑雪，徒步、美食", `["滑雪","徒步","美食"]`, ""},
		{`{"type":"array","items":{"type":"integer","maximum":5}}`, "1, 9", "", "wrong entry 2: it must be 5 or less"},
		{`{"type":["integer","null"]}`, "", "null", ""},
		{`{"type":["string","null"]}`, "", `""`, ""},
	}
	for _, c := range cases {
		_, f := one(t, c.property)
		got, err := f.Parse(c.in)
		if c.problem == "" {
			if err != nil || string(got) != c.want {
				t.Errorf("%s Parse(%q) = %s, %v; want %s", c.property, c.in, got, err, c.want)
			}
			continue
		}
		var sentence AnswerError
		if !errors.As(err, &sentence) || !strings.Contains(err.Error(), c.problem) || got != nil {
			t.Errorf("%s Parse(%q) = %s, %v; want %q", c.property, c.in, got, err, c.problem)
		}
	}
}

func TestSecretFields(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"password", "api_key", "apiKey", "APIKey", "OPENAI_API_KEY", "API key", "accessToken", "token", "user-password", "mypassword", "CVV", "pin", "cardNumber",
		"Credit card", "secret", "clientSecret", "private key", "seed phrase", "one-time code", "OTP", "密码", "请输入密码", "银行卡号", "验证码", "pass\u200bword", "p\u0430ssword", "ｐａｓｓｗｏｒｄ", "Passwort", "mot de passe",
		"IBAN", "social security number", "connection string", "passw0rd",
	} {
		for _, shape := range []string{`{"properties":{%q:{"type":"string"}}}`, `{"properties":{"x":{"type":"string","title":%q}}}`, `{"properties":{"x":{"type":"string","description":%q}}}`} {
			quotedName, err := json.Marshal(name)
			if err != nil {
				t.Fatal(err)
			}
			text := strings.Replace(shape, "%q", string(quotedName), 1)
			if f := mustForm(t, text); !f.Fields[0].Secret {
				t.Errorf("%s is not seen as secret", text)
			}
		}
	}
	for _, property := range []string{`"x":{"type":"string","format":"password"}`, `"x":{"type":"string","writeOnly":true}`, `"pin":{"type":"integer"}`, `"card number":{"type":"integer"}`, `"keys":{"type":"array","description":"API keys, one each: api key"}`} {
		if f := mustForm(t, `{"properties":{`+property+`}}`); !f.Fields[0].Secret {
			t.Errorf("%s is not seen as secret", property)
		}
	}
	for _, property := range []string{
		`"name":{"type":"string"}`, `"keyboard":{"type":"string"}`, `"monkey":{"type":"string"}`, `"max_tokens":{"type":"integer"}`, `"token":{"type":"integer"}`, `"opinion":{"type":"string"}`,
		`"shipping":{"type":"string"}`, `"discard":{"type":"string"}`, `"postcard":{"type":"string"}`, `"seatPreference":{"type":"string"}`, `"city":{"type":"string","title":"城市"}`, `"keepPassword":{"type":"boolean"}`, `"compass":{"type":"string"}`,
	} {
		if f := mustForm(t, `{"properties":{`+property+`}}`); f.Fields[0].Secret {
			t.Errorf("%s is seen as secret", property)
		}
	}
}

func TestLargeForms(t *testing.T) {
	t.Parallel()
	fields := func(n int) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = fmt.Sprintf(`"f%d":{"$ref":"#/$defs/t","title":"F%d"}`, i, i)
		}
		return `{"$defs":{"t":{"type":"string"}},"properties":{` + strings.Join(parts, ",") + `}}`
	}
	values := func(n int) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = fmt.Sprintf(`"v%d"`, i)
		}
		return `{"properties":{"x":{"enum":[` + strings.Join(parts, ",") + `],"default":"v9"}}}`
	}
	start := time.Now()
	if f := mustForm(t, fields(MaxFields)); len(f.Fields) != MaxFields {
		t.Errorf("%d fields", len(f.Fields))
	}
	if f := mustForm(t, values(10_000)); len(f.Fields[0].Options) != 10_000 || string(f.Fields[0].Default) != `"v9"` {
		t.Error("ten thousand values are not read")
	}
	_, err := ParseForm(json.RawMessage(fields(MaxFields + 1)))
	if !errors.Is(err, ErrLimit) {
		t.Errorf("%d fields: %v", MaxFields+1, err)
	}
	if _, err = ParseForm(json.RawMessage(values(MaxChoices + 1))); !errors.Is(err, ErrLimit) {
		t.Errorf("%d values: %v", MaxChoices+1, err)
	}
	if _, err = ParseForm(json.RawMessage(`{"description":"` + strings.Repeat("x", 2<<20) + `"}`)); !errors.Is(err, ErrLimit) {
		t.Errorf("two megabytes: %v", err)
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("large forms took %v", d)
	}
}

func FuzzForm(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"type":"integer","minimum":0,"default":3},"b":{"enum":["x",null]},"c":{"type":"array","items":{"type":"string"}}},"required":["a"]}`), "2o")
	f.Add([]byte(`{"$defs":{"k":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/k"}]}},"properties":{"a":{"$ref":"#/$defs/k"}}}`), "1e999")
	f.Add([]byte(`{"properties":{"a":{"type":"string","format":"date-time","pattern":"x{3}"}}}`), "31.02")
	f.Fuzz(func(t *testing.T, raw []byte, text string) {
		form, err := ParseForm(raw)
		if err != nil {
			return
		}
		values := form.Defaults()
		for i := range form.Fields {
			field := &form.Fields[i]
			v, err := field.Parse(text)
			if err != nil {
				if strings.TrimSpace(err.Error()) == "" {
					t.Fatalf("an empty sentence for %q", text)
				}
				continue
			}
			values[field.Name] = v
		}
		for _, v := range form.Check(values) {
			if v.Message != "is required but missing" {
				t.Fatalf("Parse and defaults of %q give %s", raw, v)
			}
		}
		encoded := form.Encode(values)
		o, err := ParseObject(encoded)
		if err != nil || len(o) != len(values) {
			t.Fatalf("Encode gives %q of %d values: %v", encoded, len(values), err)
		}
	})
}

func TestMultiples(t *testing.T) {
	t.Parallel()
	form, err := ParseForm([]byte(`{"type":"object","properties":{"five":{"type":"integer","multipleOf":5,"default":7},"cent":{"type":"number","multipleOf":0.01,"default":0.07},` +
		`"big":{"type":"integer","multipleOf":3,"default":9007199254740993},"none":{"type":"integer","multipleOf":0,"default":1},"list":{"type":"array","items":{"type":"number","multipleOf":0.5}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(form.Encode(form.Defaults())); got != `{"cent":0.07,"big":9007199254740993,"none":1}` || len(form.Notes) != 1 {
		t.Errorf("defaults %s, notes %q", got, form.Notes)
	}
	for i, tt := range []struct {
		text string
		ok   bool
	}{{"10", true}, {"0.075", false}, {"9007199254740994", false}, {"7", true}, {"1.5, 2.25", false}} {
		if _, err := form.Fields[i].Parse(tt.text); (err == nil) != tt.ok {
			t.Errorf("%s for %s: %v", tt.text, form.Fields[i].Name, err)
		}
	}
}
