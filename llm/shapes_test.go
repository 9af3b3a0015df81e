package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"steward/testdata/replay"
)

// answered asks a client whose endpoint answers 200 with a body, and writes down all that happens, without what is made
// up by chance. Nothing is asked twice.
func answered(t testing.TB, body io.Reader) (string, Answer) {
	t.Helper()
	c, err := New(Endpoint{BaseURL: "http://localhost", Model: "asked"}, Options{
		Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(body)}, nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.pause = func(context.Context, time.Duration) error { return context.Canceled }
	c.random = func(int64) int64 { return 0 }
	var b, text, thought strings.Builder
	answer, err := c.Stream(context.Background(), Request{Messages: []Message{{Role: RoleUser, Text: "hi"}}, Tools: replayTools}, func(e Event) {
		switch e := e.(type) {
		case TextDelta:
			text.WriteString(e.Text)
		case ReasoningDelta:
			thought.WriteString(e.Text)
		default:
			fmt.Fprintf(&b, "%T %v\n", e, e)
		}
	})
	if err != nil && strings.Contains(err.Error(), "a fault in this program") {
		t.Fatalf("a panic: %v", err)
	}
	if text.String() != answer.Text || thought.String() != answer.Reasoning {
		t.Fatalf("events gave text %q, reasoning %q; the answer has %q, %q", &text, &thought, answer.Text, answer.Reasoning)
	}
	fmt.Fprintf(&b, "%s %q, %s, text %q, reasoning %q in %q, extra %s, usage %v, error %v\n",
		answer.State, answer.Finish, answer.Model, answer.Text, answer.Reasoning, answer.ReasoningKey, answer.Extra, answer.Usage, err)
	for _, call := range answer.Calls {
		fmt.Fprintf(&b, "%q %q %q %q %q %s\n", given(call.ID), call.Name, call.Arguments, call.Problem, call.Raw, call.Extra)
	}
	return b.String(), answer
}

// given is an id, "" if it was made up here.
func given(id string) string {
	if strings.HasPrefix(id, "call_") && len(id) == 29 {
		return ""
	}
	return id
}

// shape is how a server streams calls.
type shape struct {
	index string // "right", "missing", "null", "zero", "text", "from one", "grows"
	id    string // "first", "every", "last", "none", "same"
	name  string // "first", "every", "split", "last"
	mixed bool   // the pieces of different calls come by turns
	list  bool   // all that comes at one time stands in one event
}

// fair tells whether what such a server sends can be told apart.
func (s shape) fair() bool {
	told := s.index == "right" || s.index == "text" || s.index == "from one"
	switch {
	case s.id == "same" && !told && s.name != "first" && s.name != "every":
		return false
	case s.index == "grows":
		return s.id == "every" && !s.mixed && !s.list && s.name == "first"
	case s.mixed:
		return told || s.id == "every"
	case s.name == "last" || s.name == "split":
		return told || s.id == "every"
	case s.id == "last":
		return told
	}
	return true
}

func (s shape) String() string {
	return fmt.Sprintf("index %s, id %s, name %s, mixed %v, list %v", s.index, s.id, s.name, s.mixed, s.list)
}

// written is one call in pieces, as the server streams it.
func (s shape) written(r *rand.Rand, n int, id, name, args string) []string {
	runes := []rune(args)
	var pieces []string
	for len(runes) > 0 {
		k := 1 + r.IntN(len(runes))
		pieces = append(pieces, string(runes[:k]))
		runes = runes[k:]
	}
	names := make([]string, len(pieces)+1)
	switch s.name {
	case "first":
		names[0] = name
	case "every":
		for i := range names {
			names[i] = name
		}
	case "split":
		k := 1 + r.IntN(len(name)-1)
		names[0], names[1] = name[:k], name[k:]
	case "last":
		names[len(names)-1] = name
	}
	pieces = append([]string{""}, pieces...)
	var out []string
	for i := range pieces {
		m := map[string]any{"type": "function"}
		switch s.index {
		case "right":
			m["index"] = n
		case "null":
			m["index"] = nil
		case "zero":
			m["index"] = 0
		case "text":
			m["index"] = fmt.Sprint(n)
		case "from one":
			m["index"] = n + 1
		case "grows":
			m["index"] = 100*n + i
		}
		switch {
		case s.id == "same":
			m["id"] = "same"
		case s.id == "every" || s.id == "first" && i == 0 || s.id == "last" && i == len(pieces)-1:
			m["id"] = id
		}
		f := map[string]any{}
		if names[i] != "" {
			f["name"] = names[i]
		}
		if pieces[i] != "" || r.IntN(2) == 0 {
			f["arguments"] = pieces[i]
		}
		m["function"] = f
		b, err := json.Marshal(m)
		if err != nil {
			panic(err) // a map of texts and numbers can be written
		}
		out = append(out, string(b))
	}
	return out
}

type plainCall struct{ name, args string }

// differing is the calls, one of each tool.
func differing(calls []plainCall) []plainCall {
	var out []plainCall
	for _, c := range calls {
		if !slices.ContainsFunc(out, func(o plainCall) bool { return o.name == c.name }) {
			out = append(out, c)
		}
	}
	return out
}

// TestCallsInEveryShape streams the same calls in every shape servers are known to use, cut at random, and expects the
// same calls.
func TestCallsInEveryShape(t *testing.T) {
	t.Parallel()
	all := []plainCall{
		{"edit", `{"p":"a"}`}, {"edit_file", `{"path":"报告🌍.txt","text":"he said \"hi\"\n"}`}, {"weather", `{"city":"Oslo"}`},
		{"weather", `{"city":"Rome","n":[1,{"x":null}]}`}, {"time", `{}`}, {"write_file", `{"a":"\ud83c\udf0d}{"}`},
	}
	r := rand.New(rand.NewPCG(7, 7))
	shapes := 0
	for _, index := range []string{"right", "missing", "null", "zero", "text", "from one", "grows"} {
		for _, id := range []string{"first", "every", "last", "none", "same"} {
			for _, name := range []string{"first", "every", "split", "last"} {
				for k := range 4 {
					s := shape{index, id, name, k&1 != 0, k&2 != 0}
					if !s.fair() {
						continue
					}
					shapes++
					for range 6 {
						r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
						calls := all[:1+r.IntN(3)]
						if s.index != "right" && (s.id == "same" || s.id == "none") {
							calls = differing(calls) // the same tool twice might be its name once more
						}
						var rows [][]string
						var want, got []string
						for i, c := range calls {
							rows = append(rows, s.written(r, i, fmt.Sprintf("id%d", i), c.name, c.args))
							want = append(want, c.name+" "+c.args)
						}
						body := s.stream(r, rows)
						_, answer := answered(t, strings.NewReader(body))
						for _, c := range answer.Calls {
							got = append(got, c.Name+" "+c.Arguments+c.Problem)
						}
						slices.Sort(want) // in which order they begin to come is chance
						slices.Sort(got)
						if !slices.Equal(got, want) {
							t.Errorf("%v: got\n%q\nwant\n%q\n%s", s, got, want, body)
							break
						}
					}
				}
			}
		}
	}
	if shapes < 100 {
		t.Errorf("only %d shapes were tried", shapes)
	}
}

// stream is the body in which the pieces of calls come.
func (s shape) stream(r *rand.Rand, rows [][]string) string {
	var b strings.Builder
	event := func(pieces ...string) {
		fmt.Fprintf(&b, "data: {\"choices\":[{\"delta\":{\"tool_calls\":[%s]}}]}\n\n", strings.Join(pieces, ","))
	}
	for len(rows) > 0 {
		i := 0
		if s.mixed {
			i = r.IntN(len(rows))
		}
		n := 1
		if s.list {
			n = 1 + r.IntN(len(rows[i]))
		}
		event(rows[i][:n]...)
		if rows[i] = rows[i][n:]; len(rows[i]) == 0 {
			rows = append(rows[:i], rows[i+1:]...)
		}
	}
	b.WriteString("data: [DONE]\n\n")
	return b.String()
}

// FuzzAnswer gives a client whole bodies. Whatever stands in them, nothing panics, only complete calls can run, of the
// bytes that came, and it does not matter how the body is cut.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{
		"", ": c\n\n", "data: [DONE]\n", `{"error":"x"}`, "<html>", "\x1f\x8b\x08",
		`{"choices":[{"message":{"content":"<think>a</think>b","tool_calls":[{"id":"a","function":{"name":"edit","arguments":{"a":1}}}]}}]}`,
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"edit\",\"arguments\":\"{\"}}]}}]}\n\ndata: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"x\",\"function\":{\"name\":\"_file\",\"arguments\":\"}\"}}]},\"finish_reason\":\"length\"}]}\n\n",
		"data: {\"choices\":[{\"delta\":{\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"a\",\"index\":0}],\"x\":[1,{\"y\":\"\\ud83d\"}]}}]}{\"choices\":[]}\n{\n\"error\":{\n\"message\":\"m\"}}\n",
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\tb\"},\"logprobs\":NaN}]}\r\rdata: {\"choices\":[{\"delta\":{\"function_call\":{\"name\":\"time\",\"arguments\":\"{}\"}}}]}\r\n\r\n[DONE]",
		"event: error\ndata: boom\n\n", "data: {\"choices\":\ndata: [{\"delta\":{\"content\":\"<|channel|>analysis<|message|>x<|end|>\"}}]}\n\ndata: {\"base_resp\":{\"status_code\":1}}\n\n",
	} {
		f.Add([]byte(s), uint64(1))
	}
	for _, body := range replayBodies(f) {
		f.Add(body, uint64(2))
	}
	f.Fuzz(func(t *testing.T, body []byte, seed uint64) {
		whole, answer := answered(t, bytes.NewReader(body))
		for _, c := range answer.Calls {
			if answer.State != StateFinished {
				t.Fatalf("a %s answer has calls", answer.State)
			}
			if (c.Arguments == "") != (c.Problem != "") || c.ID == "" || c.Name == "" {
				t.Fatalf("neither usable nor explained: %+v", c)
			}
			if c.Problem != "" {
				continue
			}
			if again, _, problem := completeObject(c.Arguments, false); problem != "" || again != c.Arguments {
				t.Fatalf("%q may run, but %s", c.Arguments, problem)
			}
			if c.Extra != nil && !json.Valid(c.Extra) {
				t.Fatalf("%q is no JSON", c.Extra)
			}
			var b bytes.Buffer
			if raw := strings.TrimSpace(c.Raw); raw != "" && raw != "null" {
				if err := json.Compact(&b, []byte(raw)); err != nil || b.String() != c.Arguments {
					t.Fatalf("%q became %q", c.Raw, c.Arguments)
				}
			}
		}
		if answer.Extra != nil && !json.Valid(answer.Extra) {
			t.Fatalf("%q is no JSON", answer.Extra)
		}
		r := rand.New(rand.NewPCG(seed, 1))
		for _, cut := range []io.Reader{iotest.OneByteReader(bytes.NewReader(body)), pieces{bytes.NewReader(body), func() int { return 1 + r.IntN(64) }}} {
			if other, _ := answered(t, cut); other != whole {
				t.Fatalf("cut into pieces it is\n%swhole it is\n%s", other, whole)
			}
		}
	})
}

// replayBodies are the bodies of the replayed answers that are not long.
func replayBodies(f *testing.F) [][]byte {
	f.Helper()
	var out [][]byte
	err := filepath.WalkDir(replays, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".http" {
			return err
		}
		answers, err := replay.Read(path)
		for _, a := range answers {
			var body []byte
			for _, s := range a.Steps {
				body = append(body, s.Bytes...)
			}
			if len(body) < 8<<10 {
				out = append(out, body)
			}
		}
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	return out
}
