package llm

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"
)

// canned answers every request with one recorded stream, without a network.
type canned struct{ body string }

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(strings.NewReader(c.body)),
	}, nil
}

// recordedStream is a long recorded answer: text and a tool call, 500 chunks.
func recordedStream(b *testing.B) canned {
	_, text := recording(b, "llama-server-text.http")
	_, call := recording(b, "llama-server-tools.http")
	chunks := strings.SplitAfter(text, "\n\n")
	return canned{strings.Repeat(strings.Join(chunks[:len(chunks)-4], ""), 25) + call}
}

// BenchmarkStream is the whole client. Its baseline is BenchmarkGoOpenAI.
func BenchmarkStream(b *testing.B) {
	c, err := New(Endpoint{BaseURL: "http://localhost", Model: "m"}, Options{Transport: recordedStream(b)})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	r := Request{Messages: []Message{{Role: RoleUser, Text: "hi"}}, Tools: []Tool{{Name: "read_file"}}}
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		a, err := c.Stream(context.Background(), r, func(Event) { n++ })
		if err != nil || len(a.Calls) != 1 || a.Calls[0].Problem != "" || n < 100 {
			b.Fatalf("%+v, %d events, error %v", a, n, err)
		}
	}
}

// BenchmarkGoOpenAI reads the same bytes with go-openai alone.
func BenchmarkGoOpenAI(b *testing.B) {
	config := openai.DefaultConfig("")
	config.BaseURL = "http://localhost/v1"
	config.HTTPClient = &http.Client{Transport: recordedStream(b)}
	c := openai.NewClientWithConfig(config)
	b.ReportAllocs()
	for b.Loop() {
		stream, err := c.CreateChatCompletionStream(context.Background(), openai.ChatCompletionRequest{Model: "m"})
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for {
			chunk, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			n += len(chunk.Choices)
		}
		if err := stream.Close(); err != nil || n < 100 {
			b.Fatalf("%d choices, error %v", n, err)
		}
	}
}
