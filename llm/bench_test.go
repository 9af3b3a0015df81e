package llm

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"

	"steward/testdata/costs"
)

const (
	benchEvents = 100_000
	mostTime    = 2.5     // times what go-openai alone takes
	mostAllocs  = 2.0     // times as many allocations
	mostHeap    = 2 << 20 // bytes, between a tenth and nine tenths of the answer
)

// repeated is an answer of many events, without a network and without the memory to hold it: head, block again and
// again, and tail.
type repeated struct {
	head, block, tail string
	each              func(left int) // called after each block
}

func (r repeated) blocks() int { return benchEvents / strings.Count(r.block, "\n\n") }

// RoundTrip implements http.RoundTripper.
func (r repeated) RoundTrip(*http.Request) (*http.Response, error) {
	body := io.MultiReader(strings.NewReader(r.head), &again{repeated: r, left: r.blocks()}, strings.NewReader(r.tail))
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(body),
	}, nil
}

// again reads a block several times.
type again struct {
	repeated
	at, left int
}

func (a *again) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) && a.left > 0 {
		k := copy(p[n:], a.block[a.at:])
		n += k
		if a.at += k; a.at == len(a.block) {
			a.at, a.left = 0, a.left-1
			if a.each != nil {
				a.each(a.left)
			}
		}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// recordedEvent is an event of a recorded answer.
func recordedEvent(b *testing.B, name, holding string) string {
	b.Helper()
	_, body := recording(b, name)
	for _, e := range strings.SplitAfter(body, "\n\n") {
		if strings.Contains(e, holding) {
			return e
		}
	}
	b.Fatalf("%s holds no event with %s", name, holding)
	return ""
}

// BenchmarkStream reads answers of 100,000 events, as recorded, with this package and with go-openai alone, by turns.
// What is allowed is a multiple of what go-openai alone takes, in time and in allocations; and the memory held does not
// grow with the events, but for the answer itself.
func BenchmarkStream(b *testing.B) {
	end := "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	text := recordedEvent(b, "llama-server-text.http", `"content":" `)
	call := `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"read_file","arguments":"{\"path\":\""}}]}}]}` + "\n\n"
	callEnd := `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"}"}}]}}]}` + "\n\n"
	for name, answer := range map[string]repeated{
		"text":        {block: text, tail: end},
		"text-ollama": {block: recordedEvent(b, "ollama-text.http", `"content":" `), tail: end},
		"reasoning":   {block: strings.Replace(text, `"content"`, `"reasoning_content"`, 1), tail: end},
		"arguments":   {head: call, block: recordedEvent(b, "llama-server-tools.http", `"arguments":"path"`), tail: callEnd + end},
		"keep-alives": {block: ": keep-alive\n\ndata: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"choices\":[]}\n\n", tail: text + end},
	} {
		b.Run(name, func(b *testing.B) { compareStreams(b, answer) })
	}
}

// used is what one reading took.
type used struct {
	time   time.Duration
	allocs uint64
}

func compareStreams(b *testing.B, answer repeated) {
	var ours, theirs []used
	for b.Loop() {
		for range 3 {
			theirs = append(theirs, measure(b, func() { readBare(b, answer) }))
			ours = append(ours, measure(b, func() { readOurs(b, answer) }))
		}
	}
	least := func(list []used) (u used) { // what else the computer does can only add
		u = list[0]
		for _, o := range list {
			u.time, u.allocs = min(u.time, o.time), min(u.allocs, o.allocs)
		}
		return u
	}
	mine, base := least(ours), least(theirs)
	slow, many := float64(mine.time)/float64(base.time), float64(mine.allocs)/float64(base.allocs)
	grown := heapGrowth(b, answer)
	b.ReportMetric(0, "ns/op") // of several readings, which says nothing
	b.ReportMetric(float64(base.time.Milliseconds()), "bare-ms")
	b.ReportMetric(float64(mine.time.Milliseconds()), "steward-ms")
	b.ReportMetric(slow, "time-ratio")
	b.ReportMetric(many, "allocs-ratio")
	b.ReportMetric(float64(grown)/(1<<20), "grown-MB")
	if slow > mostTime {
		costs.TooHigh(b, "%d events take %v with go-openai alone and %v here: %.1f times as long, of which %.1f are allowed", benchEvents, base.time, mine.time, slow, mostTime)
	}
	if many > mostAllocs {
		b.Errorf("%d events take %d allocations with go-openai alone and %d here: %.1f times as many, of which %.1f are allowed", benchEvents, base.allocs, mine.allocs, many, mostAllocs)
	}
	if grown > mostHeap {
		b.Errorf("between the events %d and %d the memory held grew by %d bytes", benchEvents/10, benchEvents*9/10, grown)
	}
}

func measure(b *testing.B, read func()) used {
	b.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	read()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	return used{time: took, allocs: after.Mallocs - before.Mallocs}
}

// readOurs reads an answer with this package.
func readOurs(b *testing.B, answer http.RoundTripper) {
	b.Helper()
	c, err := New(Endpoint{BaseURL: "http://localhost", Model: "m"}, Options{Transport: answer})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	r := Request{Messages: []Message{{Role: RoleUser, Text: "hi"}}, Tools: []Tool{{Name: "read_file"}}}
	a, err := c.Stream(context.Background(), r, func(Event) {})
	if err != nil || a.State != StateFinished || len(a.Text)+len(a.Reasoning) == 0 && (len(a.Calls) != 1 || a.Calls[0].Problem != "") {
		b.Fatalf("%s, %d calls, error %v", a.State, len(a.Calls), err)
	}
}

// readBare reads the same with go-openai alone.
func readBare(b *testing.B, answer http.RoundTripper) {
	b.Helper()
	config := openai.DefaultConfig("")
	config.BaseURL = "http://localhost/v1"
	config.EmptyMessagesLimit = benchEvents * 2
	config.HTTPClient = &http.Client{Transport: answer}
	stream, err := openai.NewClientWithConfig(config).CreateChatCompletionStream(context.Background(), openai.ChatCompletionRequest{Model: "m"})
	if err != nil {
		b.Fatal(err)
	}
	defer stream.Close()
	for n := 0; ; n++ {
		_, err := stream.Recv()
		if errors.Is(err, io.EOF) && n > 0 {
			return
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// heapGrowth is how much more memory is held when nine tenths of an answer have come than when one tenth has. The answer
// itself, which is less than half a megabyte, is part of it; what has come is more than ten.
func heapGrowth(b *testing.B, answer repeated) int64 {
	b.Helper()
	var held []int64
	answer.each = func(left int) {
		if left == answer.blocks()*9/10 || left == answer.blocks()/10 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			held = append(held, int64(m.HeapAlloc))
		}
	}
	readOurs(b, answer)
	if len(held) != 2 {
		b.Fatalf("the memory was measured %d times", len(held))
	}
	return held[1] - held[0]
}
