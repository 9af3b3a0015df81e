package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCompactKeepsEverythingButSpace(t *testing.T) {
	t.Parallel()
	cases := []struct{ in, want string }{
		{" { \"b\" : 1 , \"a\" : 2 , \"b\" : 3 } \n", `{"b":1,"a":2,"b":3}`},
		{`[ 1.0 , 1e5, -0 , 1E+2, 12345678901234567890123 ]`, `[1.0,1e5,-0,1E+2,12345678901234567890123]`},
		{`"\u00e9 \/ é <&> \ud83d\ude00"`, `"\u00e9 \/ é <&> \ud83d\ude00"`},
		{"{}", "{}"}, {"[ ]", "[]"}, {"{ }", "{}"}, {"\t null\r\n", "null"}, {"true", "true"},
		{`{"a":{"b":[{"c":[]}]}}`, `{"a":{"b":[{"c":[]}]}}`},
		{`" a  b "`, `" a  b "`},
		{"\"\u2028\u202e\"", "\"\u2028\u202e\""},
		{`{"":""}`, `{"":""}`},
	}
	for _, c := range cases {
		got, err := Compact([]byte(c.in))
		if err != nil || string(got) != c.want {
			t.Errorf("Compact(%q) = %q, %v; want %q", c.in, got, err, c.want)
		}
	}
}

func TestCompactRefuses(t *testing.T) {
	t.Parallel()
	cases := []struct{ in, problem string }{
		{"", "the text ends where a value"},
		{"  ", "the text ends where a value"},
		{"{} {}", "more data follows"},
		{"1 2", "more data follows"},
		{"\ufeff{}", "byte order mark"},
		{`{"a":1,}`, "a name in quotes"},
		{`[1,]`, "a value"},
		{`[1 2]`, "a comma or the end of the array"},
		{`{"a" 1}`, "a colon"},
		{`{a:1}`, "a name in quotes"},
		{`{'a':1}`, "a name in quotes"},
		{`01`, "begin with a zero"},
		{`-`, "a digit"}, {`1.`, "a digit"}, {`.5`, "a value"}, {`1e`, "a digit"}, {`+1`, "a value"},
		{`NaN`, "a value"}, {`Infinity`, "a value"}, {`nul`, "a value"}, {`True`, "a value"},
		{`nullx`, "more data"},
		{"\"a\x01\"", "control character 0x01"},
		{"\"a\nb\"", "control character 0x0a"},
		{"\"\xff\"", "invalid UTF-8 byte 0xff"},
		{"\"\xed\xa0\x80\"", "invalid UTF-8 byte 0xed"},
		{"\"\xc0\x80\"", "invalid UTF-8 byte 0xc0"},
		{"{\"a\":1}\xff", "more data"},
		{"\xff", "invalid UTF-8"},
		{`"\ud800"`, "half of a surrogate pair"},
		{`"\udc00\ud800"`, "half of a surrogate pair"},
		{`"\ud800\u0041"`, "half of a surrogate pair"},
		{`"\ud800x"`, "half of a surrogate pair"},
		{`"\x41"`, "not an escape"}, {`"\u12g4"`, "four hexadecimal"}, {`"\u12"`, "four hexadecimal"},
		{`"abc`, "ends inside a string"}, {`"abc\`, "ends inside a string"}, {`{"a":`, "a value"}, {`[`, "a value"}, {`{`, "a name"},
		{"// x\n1", "a value"}, {`{"a":1]`, "a comma or the end of the object"},
	}
	for _, c := range cases {
		got, err := Compact([]byte(c.in))
		var se *SyntaxError
		if !errors.As(err, &se) || !strings.Contains(err.Error(), c.problem) {
			t.Errorf("Compact(%q) = %q, %v; want a SyntaxError with %q", c.in, got, err, c.problem)
		}
	}
}

func TestSyntaxErrorPlace(t *testing.T) {
	t.Parallel()
	_, err := Compact([]byte("{\n  \"城\": x\n}"))
	var se *SyntaxError
	if !errors.As(err, &se) || se.Line != 2 || se.Column != 8 {
		t.Fatalf("got %#v", err)
	}
}

func TestDepthLimit(t *testing.T) {
	t.Parallel()
	ok := strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth)
	if _, err := Compact([]byte(ok)); err != nil {
		t.Errorf("%d levels: %v", MaxDepth, err)
	}
	deep := strings.Repeat(`{"a":`, MaxDepth+1) + "1" + strings.Repeat("}", MaxDepth+1)
	if _, err := Compact([]byte(deep)); !errors.Is(err, ErrLimit) {
		t.Errorf("%d levels: %v, want ErrLimit", MaxDepth+1, err)
	}
	if _, err := Canonical([]byte(deep)); !errors.Is(err, ErrLimit) {
		t.Errorf("Canonical: %v, want ErrLimit", err)
	}
	if _, err := Compact([]byte(strings.Repeat("[", 5_000_000))); !errors.Is(err, ErrLimit) {
		t.Errorf("five million brackets: %v, want ErrLimit", err)
	}
}

func TestCanonical(t *testing.T) {
	t.Parallel()
	cases := []struct{ in, want string }{
		{`{"b":1,"a":[ {"d":1,"c":2} ]}`, `{"a":[{"c":2,"d":1}],"b":1}`},
		{`{"a":1,"a":2,"A":3}`, `{"A":3,"a":1,"a":2}`},
		{`{"\u0061":1,"a":0}`, `{"a":1,"a":0}`},
		{`{"é":1,"z":2,"\ud83d\ude00":3,"\uffee":4}`, "{\"z\":2,\"é\":1,\"\uffee\":4,\"😀\":3}"},
		{`[1.0,1,10e-1]`, `[1.0,1,10e-1]`},
		{`"\u0041\/\u000a\u0001\u007f\b\f\r\t\"\\"`, "\"A/\\n\\u0001\u007f\\b\\f\\r\\t\\\"\\\\\""},
		{`"\uD83D\uDE00"`, `"😀"`},
		{`"\uD83d"`, `"\ud83d"`},
		{`"\udE00\uD83D"`, `"\ude00\ud83d"`},
		{`{"\ud800":1,"a":2}`, `{"a":2,"\ud800":1}`},
		{`{}`, `{}`}, {`[]`, `[]`}, {` {"a" : { } , "b" : [ ] }`, `{"a":{},"b":[]}`},
	}
	for _, c := range cases {
		got, err := Canonical([]byte(c.in))
		if err != nil || string(got) != c.want {
			t.Errorf("Canonical(%q) = %q, %v; want %q", c.in, got, err, c.want)
			continue
		}
		again, err := Canonical(got)
		if err != nil || !bytes.Equal(again, got) {
			t.Errorf("Canonical is not stable: %q, then %q, %v", got, again, err)
		}
	}
}

// Values that differ must keep different canonical texts.
func TestCanonicalKeepsDifferences(t *testing.T) {
	t.Parallel()
	pairs := [][2]string{
		{`1`, `1.0`}, {`1e2`, `100`}, {`{"a":1}`, `{"a":1,"a":1}`}, {`{"a":1,"a":2}`, `{"a":2,"a":1}`},
		{`"\ud800"`, `"\ufffd"`}, {`"\ud800"`, `"\udbff"`}, {`[1,2]`, `[2,1]`}, {`"1"`, `1`}, {`"\u200b"`, `""`}, {`null`, `"null"`},
		{`"\\u0041"`, `"A"`}, {`-0`, `0`},
	}
	for _, p := range pairs {
		a, errA := Canonical([]byte(p[0]))
		b, errB := Canonical([]byte(p[1]))
		if errA != nil || errB != nil || bytes.Equal(a, b) {
			t.Errorf("%q and %q become %q and %q (%v, %v)", p[0], p[1], a, b, errA, errB)
		}
	}
}

// Sorting copies an object once per level; a text made to multiply that is refused.
func TestCanonicalBounded(t *testing.T) {
	t.Parallel()
	fat := `"` + strings.Repeat("x", 1<<20) + `"`
	text := strings.Repeat(`{"b":`, 300) + fat + strings.Repeat(`,"a":1}`, 300)
	if _, err := Canonical([]byte(text)); !errors.Is(err, ErrLimit) {
		t.Fatalf("got %v, want ErrLimit", err)
	}
}

func TestParseObject(t *testing.T) {
	t.Parallel()
	o, err := ParseObject([]byte(` { "z" : [1, "]}"] , "a\u0062" : {"x":"\"}"} , "z" : 1e5,"n":null } `))
	if err != nil {
		t.Fatal(err)
	}
	want := Object{{"z", json.RawMessage(`[1, "]}"]`)}, {"ab", json.RawMessage(`{"x":"\"}"}`)}, {"z", json.RawMessage(`1e5`)}, {"n", json.RawMessage(`null`)}}
	if len(o) != len(want) {
		t.Fatalf("got %d members: %q", len(o), o)
	}
	for i := range want {
		if o[i].Name != want[i].Name || string(o[i].Value) != string(want[i].Value) {
			t.Errorf("member %d is %q: %q", i, o[i].Name, o[i].Value)
		}
	}
	if d := o.Duplicates(); len(d) != 1 || d[0] != "z" {
		t.Errorf("Duplicates() = %q", d)
	}
	if v, ok := o.Get("z"); !ok || string(v) != "1e5" {
		t.Errorf("Get(z) = %q, %v", v, ok)
	}
	if _, ok := o.Get("q"); ok {
		t.Error("Get(q) found something")
	}
	for _, bad := range []string{`[]`, `1`, `{"a":1`, `null`, ``} {
		if _, err := ParseObject([]byte(bad)); err == nil {
			t.Errorf("ParseObject(%q) accepted", bad)
		}
	}
}

func FuzzCompact(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e-3,"x\u00e9\ud83d\ude00"],"a":null}`, "[\xff]", `"\ud800"`, ` {"b" : 1 , "a" : [ ] } `, `{"a":{"b":{}}}`, `1 1`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := Compact(raw)
		canonical, cerr := Canonical(raw)
		if err != nil {
			if cerr == nil && !bytes.Contains(raw, []byte(`\u`)) {
				t.Fatalf("Canonical accepts %q, Compact says %v", raw, err)
			}
			return
		}
		if cerr != nil {
			t.Fatalf("Compact accepts %q, Canonical says %v", raw, cerr)
		}
		if !json.Valid(raw) || !utf8.Valid(raw) {
			t.Fatalf("accepted %q, which is not JSON", raw)
		}
		var std bytes.Buffer
		if err := json.Compact(&std, raw); err != nil || !bytes.Equal(std.Bytes(), got) {
			t.Fatalf("Compact(%q) = %q; encoding/json: %q, %v", raw, got, std.Bytes(), err)
		}
		again, err := Canonical(canonical)
		if err != nil || !bytes.Equal(again, canonical) {
			t.Fatalf("Canonical(%q) = %q, then %q, %v", raw, canonical, again, err)
		}
		var a, b any
		if json.Unmarshal(raw, &a) == nil && json.Unmarshal(canonical, &b) == nil {
			x, _ := json.Marshal(a)
			y, _ := json.Marshal(b)
			if !bytes.Equal(x, y) {
				t.Fatalf("%q and its canonical text %q are different values", raw, canonical)
			}
		}
		if firstByte(raw) == '{' {
			if _, err := ParseObject(raw); err != nil {
				t.Fatalf("ParseObject(%q): %v", raw, err)
			}
		}
	})
}
