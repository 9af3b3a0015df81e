package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/sashabaranov/go-openai"
)

func testExchange() *exchange {
	return &exchange{url: &url.URL{Scheme: "http", Host: "h"}, now: time.Now, alive: func() {}, first: func() {}}
}

// reframe runs a body through the reframer and returns its lines.
func reframe(body io.Reader) ([]string, *exchange, error) {
	x := testExchange()
	out, err := io.ReadAll(newReframer(io.NopCloser(body), x))
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(out) == 0 {
		lines = nil
	}
	return lines, x, err
}

// FuzzSSE checks that whatever a body holds, what go-openai is given are events
// it can decode, the same however the body is cut into pieces.
func FuzzSSE(f *testing.F) {
	for _, name := range []string{"llama-server-text", "llama-server-tools", "ollama-markup"} {
		_, body := recording(f, name+".http")
		f.Add([]byte(body[:2000]))
	}
	for _, s := range []string{
		"", "data: [DONE]", ": c\r\n\r\ndata:{\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\r\rdata: [DONE]\n\n",
		"\xef\xbb\xbfdata: {\"choices\":\ndata: []}\n\n", `{"error":"x"}`, "<html>", "event: error\ndata: x\n\n",
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":null,\"function\":{\"name\":\"a\",\"arguments\":{\"x\":[1]}}}]}}],\"usage\":{\"prompt_tokens\":\"3\"}}\n\n",
		"data: {\"choices\":[{\"delta\":{\"content\":\"\\ud83d\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"\\ude00\"}}]}\n\n",
		"data: [{\"choices\":[{\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}}]}]\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		lines, x, err := reframe(bytes.NewReader(body))
		if err != nil {
			t.Fatalf("the reader failed: %v", err)
		}
		for i, line := range lines {
			data, ok := strings.CutPrefix(line, "data: ")
			if !ok {
				t.Fatalf("line %q is no event", line)
			}
			if data == "[DONE]" {
				if i != len(lines)-1 || !x.done {
					t.Fatal("there is something behind [DONE]")
				}
				continue
			}
			var chunk openai.ChatCompletionStreamResponse
			if err := json.Unmarshal([]byte(data), &chunk); err != nil {
				t.Fatalf("go-openai cannot decode %q: %v", data, err)
			}
		}
		pieces, y, err := reframe(iotest.OneByteReader(bytes.NewReader(body)))
		if err != nil || strings.Join(lines, "\n") != strings.Join(pieces, "\n") || x.done != y.done || (x.err == nil) != (y.err == nil) {
			t.Fatalf("cut into bytes it reads\n%q (%v)\nwhole it reads\n%q (%v)", pieces, y.err, lines, x.err)
		}
	})
}

// FuzzAssemble checks that what may run is always one strict JSON object, made
// of the model's bytes alone.
func FuzzAssemble(f *testing.F) {
	for _, s := range []string{"", "{}", `{"a":1}`, `{"a":1}{"b":2}`, `{"a":"\ud83d"}`, `{"a":1,"a":2}`, "null", "[1]", "{\"a\":\"\xff\"}", `{"a":1e400}`, ` { "a" : [ 1.50 ] } `} {
		f.Add(s, uint8(0), false)
		f.Add(s, uint8(3), true)
	}
	f.Fuzz(func(t *testing.T, raw string, shape uint8, cut bool) {
		a := newAssembler([]Tool{{Name: "t"}, {Name: "u"}})
		half := len(raw) / 2
		d := func(s string) callDelta {
			c := callDelta{arguments: s}
			if shape&1 == 0 {
				c.hasIndex = true
			}
			if shape&2 == 0 {
				c.id = "i"
			}
			if shape&4 == 0 {
				c.name = "t"
			}
			return c
		}
		first := d(raw[:half])
		first.name = "t"
		a.add(first)
		a.add(d(raw[half:]))
		if shape&8 != 0 {
			a.add(callDelta{hasIndex: true, index: 1, id: "i", name: "u", arguments: "{}"})
		}
		ids := map[string]bool{}
		for _, c := range a.finish(cut) {
			if c.ID == "" || ids[c.ID] {
				t.Fatalf("id %q is empty or repeated", c.ID)
			}
			ids[c.ID] = true
			if (c.Arguments == "") != (c.Problem != "") {
				t.Fatalf("neither usable nor explained: %+v", c)
			}
			if c.Problem != "" {
				continue
			}
			var object map[string]json.RawMessage
			if err := json.Unmarshal([]byte(c.Arguments), &object); err != nil || object == nil || !utf8.ValidString(c.Arguments) {
				t.Fatalf("%q may run, but is no JSON object: %v", c.Arguments, err)
			}
			if again, _, problem := completeObject(c.Arguments, false); problem != "" || again != c.Arguments {
				t.Fatalf("%q becomes %q (%s)", c.Arguments, again, problem)
			}
			if trimmed := strings.TrimSpace(c.Raw); trimmed != "" && trimmed != "null" {
				var b bytes.Buffer
				if err := json.Compact(&b, []byte(c.Raw)); err != nil || b.String() != c.Arguments {
					t.Fatalf("%q became %q", c.Raw, c.Arguments)
				}
			}
		}
	})
}

// FuzzJSON holds the strict reader against encoding/json.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+3,true,false,null,"\u00e9\n"]}`, `{"a":}`, `[1,]`, `01`, `"\x"`, "\"\t\"", `-`, `1.`, `{"a":1}x`, `nul`, `"\u12`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, err := whole(b)
		if errors.Is(err, errJSONDepth) {
			return
		}
		if (err == nil) != json.Valid(b) {
			t.Fatalf("%q: strict reader says %v, encoding/json says %v", b, err, json.Valid(b))
		}
	})
}
