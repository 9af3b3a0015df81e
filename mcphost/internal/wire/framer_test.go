package wire

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// found runs a framer over the input in pieces of n bytes and lists what it found.
func found(input string, n, max int) []string {
	var out []string
	f := framer{max: max, emit: func(p piece) {
		switch p.kind {
		case whole:
			s := string(p.data)
			if p.behindText {
				s = "behind text: " + s
			}
			out = append(out, s)
		case noise:
			out = append(out, "noise: "+string(p.data))
		case tooLarge:
			out = append(out, "too large: "+p.id)
		case broken:
			out = append(out, "broken: "+p.id)
		}
	}}
	for b := []byte(input); len(b) > 0; b = b[min(n, len(b)):] {
		f.feed(b[:min(n, len(b))])
	}
	f.end()
	return out
}

const (
	one = `{"jsonrpc":"2.0","id":1,"result":{"a":[1,-2.5e+3,0,true,null,"x\"\\\u00e4"]}}`
	two = `{"jsonrpc":"2.0","id":2,"result":{}}`
)

func TestFramer(t *testing.T) {
	t.Parallel()
	pretty := "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 1,\n\n  \"result\": {\n    \"a\": []\n  }\n}"
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"one":                   {one + "\n", []string{one}},
		"no line end":           {one, []string{one}},
		"crlf and blank lines":  {"\r\n\n" + one + "\r\n \t\r\n" + two + "\r\n", []string{one, two}},
		"byte order mark":       {"\xef\xbb\xbf" + one + "\n", []string{one}},
		"colours":               {"\x1b[32m" + one + "\x1b[0m\n\x1b]0;title\x07" + two + "\n", []string{one, two}},
		"title, ended by ST":    {"\x1b]0;title\x1b\\" + one + "\n\x1b]0;title\x1b\\\n" + two, []string{one, two}},
		"two on a line":         {one + two + "\n" + one + " " + two, []string{one, two, one, two}},
		"over several lines":    {pretty + "\n" + pretty + "\r\n", []string{pretty, pretty}},
		"a batch":               {"[" + one + "," + two + "]\n", []string{one, two}},
		"a pretty batch":        {"[\n" + one + ",\n" + two + "\n]\n", []string{one, two}},
		"banner":                {"Server v1 running on stdio\n" + one + "\n", []string{"noise: Server v1 running on stdio", one}},
		"emoji":                 {"🖥️ mode: STDIO\n" + one, []string{"noise: 🖥️ mode: STDIO", one}},
		"not UTF-8":             {"\xff\xfe\xfa\n" + one, []string{"noise: \xff\xfe\xfa", one}},
		"values":                {"42\n[]\n\"x\"\nnull\n" + one, []string{"noise: 42", `noise: "x"`, "noise: null", one}},
		"log entry":             {`{"level":"info"}` + "\n" + one, []string{`{"level":"info"}`, one}},
		"object in code":        {"{ port: 3000 }\n" + one, []string{"noise: { port: 3000 }", one}},
		"object in code, lines": {"{\n  port: 3000\n}\n" + one, []string{"noise: {", "noise:   port: 3000", "noise: }", one}},
		"only a brace":          {"{\n" + one + "\n" + two + "\n", []string{"noise: {", one, two}},
		"only a bracket":        {"[\n" + one + "\n", []string{one}},
		"open key":              {"{\"a\":\n" + one + "\n" + two + "\n", []string{`noise: {"a":`, one, two}},
		"cut string":            {`{"msg":"abc` + "\n" + one, []string{`noise: {"msg":"abc`, one}},
		"behind text":           {"Loading... " + one + "\n" + two, []string{"behind text: " + one, "noise: Loading... ", two}},
		"before text":           {one + " done\n" + two, []string{one, "noise:  done", two}},
		"a header":              {"Content-Length: 12\r\n\r\n" + one, []string{"noise: Content-Length: 12\r", one}},
		"broken":                {`{"jsonrpc":"2.0","id":7,"result":{"a":1,}}` + "\n" + one, []string{"broken: 7", `noise: {"jsonrpc":"2.0","id":7,"result":{"a":1,}}`, one}},
		"cut short":             {`{"jsonrpc":"2.0","id":7,"result":{"a`, []string{"broken: 7", `noise: {"jsonrpc":"2.0","id":7,"result":{"a`}},
		"many braces":           {strings.Repeat("{", 50) + "\n" + one, []string{"noise: " + strings.Repeat("{", 50), one}},
		"behind many":           {strings.Repeat(`{"a":`, 20) + `{"b":1} x` + "\n" + one, []string{"noise: " + strings.Repeat(`{"a":`, 20) + `{"b":1} x`, one}},
		"bad numbers":           {"{\"a\":01}\n{\"a\":1.}\n{\"a\":-}\n{\"a\":1e}\n{\"a\":.5}\n", []string{`noise: {"a":01}`, `noise: {"a":1.}`, `noise: {"a":-}`, `noise: {"a":1e}`, `noise: {"a":.5}`}},
		"bad escapes":           {`{"a":"\x"}` + "\n" + `{"a":"\u12g4"}`, []string{`noise: {"a":"\x"}`, `noise: {"a":"\u12g4"}`}},
		"wrong brackets":        {`{"a":[}]` + "\n" + `{"a":1]` + "\n", []string{`noise: {"a":[}]`, `noise: {"a":1]`}},
		"nothing":               {" \r\n\x00\t", nil},
	} {
		for _, n := range []int{1, 2, 7, 1 << 20} {
			if got := found(c.in, n, 1<<20); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("%s, %d bytes a time:\n got %q\nwant %q", name, n, got, c.want)
			}
		}
	}
}

// A message is found as soon as it is there, not when the next one comes: the server may
// be waiting for an answer.
func TestFramerDoesNotWait(t *testing.T) {
	t.Parallel()
	for _, in := range []string{one, "{\"a\":\n" + one + "\n", "[\n" + one + "\n", "{\n" + one, "{\"x\":[\n" + one + "\n"} {
		var got string
		f := framer{max: 1 << 20, emit: func(p piece) {
			if p.kind == whole {
				got = string(p.data)
			}
		}}
		f.feed([]byte(in))
		if got != one {
			t.Errorf("%q: found %q", in, got)
		}
	}
}

func TestFramerLimits(t *testing.T) {
	t.Parallel()
	large := `{"jsonrpc":"2.0","id":5,"result":"` + strings.Repeat("x", 1000) + `"}`
	tail := `{"result":"` + strings.Repeat("x", 1000) + `","id":6,"jsonrpc":"2.0"}`
	last := `{"jsonrpc":"2.0","result":"` + strings.Repeat("x", 1000) + `","id":6}`
	nameless := `{"method":"` + strings.Repeat("x", 1000) + `"}`
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"id first":   {large + "\n" + one, []string{"too large: 5", one}},
		"id last":    {tail + "\n" + last + one, []string{"too large: 6", "too large: 6", one}},
		"no id":      {nameless + one, []string{"too large: ", one}},
		"never ends": {strings.TrimSuffix(large, "}"), []string{"too large: 5"}},
		"breaks off": {`{"id":5,"a":"` + strings.Repeat("x", 600) + "\n" + one, []string{"too large: 5", one}},
		"long noise": {strings.Repeat("n", 9000) + "\n" + one, []string{"noise: " + strings.Repeat("n", NoiseKept), one}},
	} {
		for _, n := range []int{1, 100, 1 << 20} {
			if got := found(c.in, n, 500); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("%s, %d bytes a time:\n got %.200q\nwant %.200q", name, n, got, c.want)
			}
		}
	}
}

func TestFramerKeepsLittle(t *testing.T) {
	t.Parallel()
	f := framer{max: 1 << 20, emit: func(piece) {}}
	f.feed([]byte(`{"a":"`))
	part := bytes.Repeat([]byte("x"), chunkSize)
	for range 1000 {
		f.feed(part)
		if got := cap(f.buf) + cap(f.text); got > 2<<20 {
			t.Fatalf("%d bytes are kept", got)
		}
	}
	f = framer{max: 1 << 20, emit: func(piece) {}}
	for range 1000 {
		f.feed(part)
		if got := cap(f.buf) + cap(f.text); got > 1<<20 {
			t.Fatalf("%d bytes of noise are kept", got)
		}
	}
}

func TestRepair(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"a":NaN,"b":-Infinity,"c":[Infinity]}`: `{"a":null,"b":null,"c":[null]}`,
		"{\"a\":\"x\ty\x1b[1m\\\"NaN\"}":         `{"a":"x\u0009y\u001b[1m\"NaN"}`,
	} {
		var s scanner
		if !s.check([]byte(in)) || !s.tolerated {
			t.Errorf("%q is not tolerated", in)
		}
		if got, _ := repair([]byte(in)); string(got) != want {
			t.Errorf("%q becomes %q", in, got)
		}
	}
	var s scanner
	if !s.check([]byte(one)) || s.tolerated {
		t.Error("a good message needs no repair")
	}
}

func TestIDKey(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`1`: "1", `"1"`: "1", `1.0`: "1", `1e0`: "1", `10e-1`: "1", `1.5`: "1.5", `-0`: "0",
		`9007199254740993`: "9007199254740993", `9007199254740993.0`: "9007199254740993",
		`1e999999999`: "1e999999999", `"abc"`: "abc", `"a"`: "a", `null`: "null",
	} {
		if got := idKey([]byte(in)); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
}

func TestMembers(t *testing.T) {
	t.Parallel()
	in := `{ "a" : {"x":"}"} , "b":[1,"]"],"c":"\"","d": -1.5e3 ,"ä\n":null}`
	var got []string
	members([]byte(in), func(name string, v []byte) bool {
		got = append(got, fmt.Sprintf("%s=%s", name, v))
		return true
	})
	want := []string{`a={"x":"}"}`, `b=[1,"]"]`, `c="\""`, `d=-1.5e3`, "ä\n=null"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%q", got)
	}
	if members([]byte(`[1]`), nil) {
		t.Error("an array is no object")
	}
	set := setMembers([]byte(in), []Member{{"b", []byte(`2`)}, {"new", []byte(`{}`)}})
	if string(set) != `{"a":{"x":"}"},"b":2,"c":"\"","d":-1.5e3,"ä\n":null,"new":{}}` {
		t.Errorf("%s", set)
	}
	var items []string
	elements([]byte(`[ 1, {"a":[2]} ,"x,]" ,[] ]`), func(v []byte) { items = append(items, string(v)) })
	if strings.Join(items, "|") != `1|{"a":[2]}|"x,]"|[]` {
		t.Errorf("%q", items)
	}
}
