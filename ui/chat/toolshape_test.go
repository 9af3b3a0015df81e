package chat

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"steward/app"
	"steward/app/event"
)

// A large result is set out in the background, and the same is shown of it as of a small one.
func TestALargeResultIsSetOutInTheBackground(t *testing.T) {
	b := newBench(t, "light", "en")
	for _, n := range []int{3, 20_000} {
		structured := "[" + strings.Repeat(`{"a":1},`, n) + `2]`
		call := app.CallState{ID: "k_1", State: callDone, Outcome: "ok", Structured: []byte(structured), Content: []event.Content{
			{Type: "text", Text: structured}, {Type: "text", Text: "a word"}, {Type: "audio", MIMEType: "audio/wav", Data: []byte("x")},
		}}
		body := newToolBody(b.Place, func() {})
		body.load(call)
		if at := body.shape != nil; at != (n == 3) {
			t.Errorf("with %d entries it is set out at once: %v", n, at)
		}
		b.until("it is set out", func() bool { return body.shape != nil })
		if s := body.shape; len(s.parts) != 2 || s.parts[0].text != "a word" || s.parts[1].other.Type != "audio" || !strings.Contains(s.structured, "\n") {
			t.Errorf("of %d entries %d parts are shown", n, len(s.parts))
		}
	}
}

// Thousands of resources cost no more than a blink with every key.
func BenchmarkMentions(b *testing.B) {
	resources := make([]app.Resource, 5000)
	for i := range resources {
		resources[i] = app.Resource{URI: fmt.Sprintf("file:///some/where/document-%d.txt", i), Name: fmt.Sprintf("document-number-%d", i), Title: fmt.Sprintf("The document about thing %d", i), Server: "s"}
	}
	words := strings.Repeat("some words that are typed by a person ", 100)
	low := strings.ToLower(words)
	slow := func() (took time.Duration) { // the baseline: every name is looked for letter by letter
		start := time.Now()
		for _, r := range resources[:50] {
			named(words, low+" "+strings.ToLower(r.Title+" "+r.Name+" "+r.URI), r)
		}
		return time.Since(start) * 100
	}()
	for b.Loop() {
		mentions(words, resources, nil, nil)
	}
	b.ReportMetric(float64(slow.Milliseconds()), "ms-letter-by-letter")
}
