package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"steward/llm"
	"steward/storage"
	"steward/testdata/chatrules"
)

func init() {
	if err := flag.Set("rapid.checks", "800"); err != nil {
		panic(err)
	}
}

// wire takes requests in the place of an endpoint, which is not needed to see them.
type wire struct{ body []byte }

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	var err error
	if w.body, err = io.ReadAll(r.Body); err != nil {
		return nil, err
	}
	answer := `data: {"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
}

// onWire is a request's body as a client with the profile sends it.
func onWire(t interface{ Fatal(...any) }, profile string, r llm.Request) []byte {
	w := &wire{}
	c, err := llm.New(llm.Endpoint{BaseURL: "http://127.0.0.1:1/v1", Model: "m", Profile: profile}, llm.Options{Transport: w})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Stream(context.Background(), r, func(llm.Event) {}); err != nil {
		t.Fatal(err)
	}
	return w.body
}

func pick[T any](t *rapid.T, name string, list ...T) T { return rapid.SampledFrom(list).Draw(t, name) }

var png = []byte("\x89PNG\r\n\x1a\nrest")

// anyCalls are the calls of a row as versions before, other programs or a fault may have left them.
func anyCalls(t *rapid.T, n *int) json.RawMessage {
	var parts []string
	for range rapid.IntRange(0, 4).Draw(t, "calls") {
		*n++
		own := storedCall{
			ID: pick(t, "own", fmt.Sprintf("k_%d", *n), fmt.Sprintf("k_%d", *n), "SAME", ""), Wire: pick(t, "wire", "", "SAME", fmt.Sprintf("call_%d", *n), strings.Repeat("w", 80), "a b"),
			Name: pick(t, "name", "s__t", "s__t", "a b.c", "", "查询"), Arguments: pick(t, "arguments", "{}", "", `{"a":1}`, `[1]`, `{"cut`),
			Extra: pick(t, "extra", nil, raw(`{"extra_content":{"google":{"thought_signature":"AA=="}}}`)),
		}
		text, err := encode(own)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, pick(t, "form", string(text), string(text), string(text), `{"id":"c1","type":"function","function":{"name":"s__t","arguments":"{}"}}`,
			`{"id":"c1","name":"s__t","arguments":{"a":1}}`, `null`, `7`, `{"id":5}`, `{}`))
	}
	list := "[" + strings.Join(parts, ",") + "]"
	return raw(pick(t, "list", list, list, list, list, list[:len(list)-1], `{"broken`, `"x"`, ""))
}

// anyHistory is the branch of a conversation that is shown, of rows such as crashes, stops, refusals, edits, copies
// and other programs leave them.
func anyHistory(t *rapid.T) []storage.Message {
	var rows []storage.Message
	n := 0
	for i := range rapid.IntRange(0, 14).Draw(t, "rows") {
		m := storage.Message{
			ID: fmt.Sprintf("m_%d", i), Seq: int64(i + 1), State: pick(t, "state", storage.StateComplete, storage.StateComplete, storage.StateStreaming, storage.StateInterrupted, storage.StateStopped, storage.StateFailed),
			Role: pick(t, "role", storage.RoleUser, storage.RoleAssistant, storage.RoleAssistant, storage.RoleTool, storage.RoleTool, storage.RoleTool, "odd"),
			Text: pick(t, "text", "", " ", "text", "bad\xff\u202e", `{"img":"data:image\/png;base64,`+strings.Repeat(`QU\/K`, 100)+`"}`),
		}
		var meta storedMeta
		switch m.Role {
		case storage.RoleAssistant:
			m.Calls, m.Reasoning = anyCalls(t, &n), pick(t, "reasoning", "", "THOUGHT")
			meta.Extra = pick(t, "extra", nil, raw(`{"reasoning_details":[{"type":"reasoning.text","text":"THOUGHT"}]}`))
		case storage.RoleTool:
			m.CallID = pick(t, "answers", fmt.Sprintf("k_%d", rapid.IntRange(0, n+1).Draw(t, "call")), "SAME", fmt.Sprintf("call_%d", n), "c1", "")
			meta.Edited = pick(t, "edited", "", `{"a":2}`)
			meta.Images = pick(t, "images", nil, []storedImage{{"image/png", png}}, []storedImage{{"image/tiff", []byte("II")}, {"image/jpeg", nil}})
		default:
			meta.Attachments = pick(t, "attached", nil, []Attachment{{Kind: KindImage, Name: "p", MIMEType: "image/png", Data: png}}, []Attachment{{Kind: KindFile, Name: "f"}})
		}
		if m.Role != storage.RoleTool {
			m.Parent = pick(t, "parent", "", "", "", Root, fmt.Sprintf("m_%d", rapid.IntRange(0, i).Draw(t, "at")))
		}
		text, err := encode(meta)
		if err != nil {
			t.Fatal(err)
		}
		m.Meta = pick(t, "meta", text, text, text, raw(`{"images":7`), nil)
		rows = append(rows, m)
	}
	if rapid.Bool().Draw(t, "whole") {
		return rows
	}
	tree := NewTree(rows)
	path := tree.Path(tree.Leaf(fmt.Sprintf("m_%d", rapid.IntRange(0, 14).Draw(t, "leaf"))))
	if rapid.Bool().Draw(t, "copied") {
		return Copy(path, "c_2")
	}
	return path
}

var encoded = []byte(`KQU\\/K`) // of the text above, on the wire

// ownData tells whether the person or the model wrote encoded bytes, which are left as they are.
func ownData(rows []storage.Message) bool {
	return slices.ContainsFunc(rows, func(m storage.Message) bool { return m.Role != storage.RoleTool && strings.Contains(m.Text, "base64") })
}

func TestForAnyHistoryTheRequestIsValidForEachProvider(t *testing.T) {
	t.Parallel()
	profiles := llm.Profiles()
	rapid.Check(t, func(t *rapid.T) {
		in := Input{System: pick(t, "system", "sys", "", " "), Messages: anyHistory(t), Budget: pick(t, "budget", roomy, tight)}
		if rapid.Bool().Draw(t, "tools") {
			in.Tools = []llm.Tool{{Name: "s__t"}}
		}
		before := fmt.Sprintf("%+v", in.Messages)
		r := Build(in)
		if fmt.Sprintf("%+v", in.Messages) != before {
			t.Fatalf("building a request changed the rows from %s", before)
		}
		p := rapid.SampledFrom(profiles).Draw(t, "profile").Name
		body := onWire(t, p, r)
		if again := onWire(t, p, Build(in)); !bytes.Equal(body, again) {
			t.Fatalf("built twice, a request differs:\n%s\n%s", body, again)
		}
		if wrong := chatrules.Check(body, chatrules.For(p)); wrong != nil {
			t.Fatalf("%s: %q\n%s", p, wrong, body)
		}
		if bytes.Contains(body, encoded) && !ownData(in.Messages) {
			t.Fatalf("encoded bytes of a result went out as text\n%s", body)
		}
		if bytes.Contains(body, []byte("THOUGHT")) && chatrules.For(p).Reasoning == "" && p != "openrouter" {
			t.Fatalf("%s: reasoning went out\n%s", p, body)
		}
	})
}

// Each answer that was stored for a call of the branch goes out behind that call, in whatever order a crash or a stop had
// them stored.
func TestNoStoredResultIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var rows, results []storage.Message
		want := 0
		for round := range rapid.IntRange(1, 5).Draw(t, "rounds") {
			var calls []storedCall
			for k := range rapid.IntRange(1, 3).Draw(t, "calls") {
				id := fmt.Sprintf("k_%d_%d", round, k)
				calls = append(calls, storedCall{ID: id, Wire: "SAME", Name: "s__t", Arguments: "{}"})
				result := storage.Message{Role: storage.RoleTool, CallID: id, Text: "result of " + id}
				switch pick(t, "stored", "lost", "first", "last") {
				case "first":
					results, want = append([]storage.Message{result}, results...), want+1
				case "last":
					results, want = append(results, result), want+1
				}
			}
			text, err := encode(calls)
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, userRow("go"), storage.Message{Role: storage.RoleAssistant, Calls: text})
			if rapid.Bool().Draw(t, "now") {
				rows, results = append(rows, results...), nil
			}
		}
		rows = append(rows, results...)
		found := 0
		r := Build(Input{Messages: rows, Budget: roomy})
		for _, m := range r.Messages {
			if strings.HasPrefix(m.Text, "result of ") {
				found++
			}
		}
		if found != want {
			t.Fatalf("%d results go out, %d were stored: %+v", found, want, r.Messages)
		}
	})
}

// Building a request and writing it takes time in proportion to the messages; the figure is printed. It fails where twice
// the messages take more than three times as long, each measured several times and the fastest counted.
func BenchmarkRequest(b *testing.B) {
	fastest := func(n int) time.Duration {
		rows := make([]storage.Message, 0, n)
		for i := 0; len(rows) < n; i++ {
			own := call(fmt.Sprintf("k_%d", i), "SAME", fmt.Sprintf(`{"n":%d}`, i))
			rows = append(rows, userRow("What of number "+fmt.Sprint(i)+"? "+strings.Repeat("word ", 20)),
				callsRow(b, "", own), toolRow(own.ID, strings.Repeat("a line of a result\n", 30)), callsRow(b, strings.Repeat("an answer ", 30)))
		}
		best := time.Duration(1 << 62)
		for range 5 {
			start := time.Now()
			body := onWire(b, "openai", Build(Input{System: "sys", Messages: rows, Budget: roomy}))
			if best = min(best, time.Since(start)); len(body) < 100*n {
				b.Fatalf("%d bytes for %d messages", len(body), n)
			}
		}
		return best
	}
	var half, whole time.Duration
	for b.Loop() {
		half, whole = fastest(2500), fastest(5000)
	}
	b.ReportMetric(float64(whole.Microseconds())/1000, "ms/5000-messages")
	b.ReportMetric(float64(half.Microseconds())/1000, "ms/2500-messages")
	b.ReportMetric(float64(whole)/float64(half), "times-for-twice")
	if whole > 3*half {
		b.Fatalf("building a request takes %v for 5,000 messages and %v for 2,500: more than in proportion", whole, half)
	}
}
