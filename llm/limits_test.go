package llm

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestBlanksWithoutEndAreNotHeldBackForEver(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]string{"at the start": "", "in reasoning": "<think>a", "behind it": "<think>a</think>"} {
		var text, thought strings.Builder
		s := thinkSplitter{text: func(p string) { text.WriteString(p) }, reasoning: func(p string) { thought.WriteString(p) }}
		s.add(start)
		for range 3 * maxBlank {
			s.add("\n")
			if len(s.held) > maxBlank+1 {
				t.Fatalf("%s: %d bytes are held back", name, len(s.held))
			}
		}
		s.add("end")
		s.end()
		if !strings.HasSuffix(thought.String()+text.String(), "end") || strings.Contains(text.String(), "think>") {
			t.Errorf("%s: %d bytes of text, %d of reasoning", name, text.Len(), thought.Len())
		}
	}
}

func TestToolCallsWithoutEndAreGivenUp(t *testing.T) {
	t.Parallel()
	read, write := io.Pipe()
	defer read.Close()
	c := newClient(t, "http://127.0.0.1:1/v1", func(_ *Endpoint, o *Options) {
		o.Transport = roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: read, Header: http.Header{}}, nil
		})
	})
	go func() { // ends when read is closed
		args := strings.Repeat(" ", 14<<20)
		for i := 0; ; i++ {
			if _, err := fmt.Fprintf(write, `data: {"choices":[{"delta":{"tool_calls":[{"index":%d,"id":"c%d","function":{"name":"x","arguments":"%s"}}]}}]}`+"\n\n", i, i, args); err != nil {
				return
			}
		}
	}()
	o := run(t.Context(), t, c, Request{Messages: []Message{{Role: RoleUser, Text: "hi"}}})
	if o.err == nil || o.err.Kind != KindProtocol || !strings.Contains(o.err.Message, "longer than") {
		t.Fatalf("%+v", o.err)
	}
}

func TestTwoRequestsLearnFromTheSameRefusal(t *testing.T) {
	t.Parallel()
	c := newClient(t, "http://127.0.0.1:1/v1", nil)
	used, refused := c.profile, &Error{Kind: KindBadRequest, Status: 400, Body: "unknown field stream_options"}
	for n := range 2 {
		if c.adapt(used, Request{}, refused, &lessons{}) == "" {
			t.Errorf("request %d is not sent again", n+1)
		}
	}
	if c.adapt(c.profile, Request{}, refused, &lessons{}) != "" {
		t.Error("a request that was adapted is sent again")
	}
}

func TestMessagesAreShortAndHoldNoKeyOfAnAddress(t *testing.T) {
	t.Parallel()
	f := readFailure(500, []byte(`{"error":"\u001b[2J`+strings.Repeat("x", 5000)+`"}`))
	if utf8.RuneCountInString(f.message) > maxMessage+1 || strings.Contains(f.message, "\x1b") {
		t.Errorf("%d bytes: %.20q", len(f.message), f.message)
	}
	for _, base := range []string{"https://?key=SENTINEL", "https://u:p@host?key=SENTINEL", "https://host/%zz?key=SENTINEL", "ftp://host?key=SENTINEL"} {
		if _, err := New(Endpoint{BaseURL: base}, Options{}); err == nil || strings.Contains(err.Error(), "SENTINEL") {
			t.Errorf("%s: %v", base, err)
		}
	}
	resp := &http.Response{Header: http.Header{"Location": {"https://sso.example/in?token=SENTINEL"}}, Request: &http.Request{}}
	if got := redirectTarget(resp); got != "https://sso.example/in" {
		t.Errorf("redirect: %s", got)
	}
}

func TestATextWithoutEndIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, delta := range map[string]string{"content": `"content":"%s"`, "reasoning": `"reasoning_content":"%s"`} {
		for _, size := range []int{5000, 3 * maxText} { // many pieces, and one that is too long by itself
			read, write := io.Pipe()
			c := newClient(t, "http://127.0.0.1:1/v1", func(_ *Endpoint, o *Options) {
				o.Transport = roundTrip(func(*http.Request) (*http.Response, error) {
					return &http.Response{StatusCode: http.StatusOK, Body: read, Header: http.Header{}}, nil
				})
			})
			go func() { // ends when read is closed
				piece := fmt.Sprintf(`data: {"choices":[{"delta":{`+delta+`}}]}`+"\n\n", strings.Repeat("\u4f60\u597d", size/6))
				for {
					if _, err := io.WriteString(write, piece); err != nil {
						return
					}
				}
			}()
			o := run(t.Context(), t, c, Request{Messages: []Message{{Role: RoleUser, Text: "hi"}}})
			read.Close()
			if o.err == nil || o.err.Kind != KindProtocol || !strings.Contains(o.err.Message, "longer than 4 MB") {
				t.Fatalf("%s: %+v", name, o.err)
			}
			if n := len(o.answer.Text) + len(o.answer.Reasoning); n > maxText || n < maxText-5000 || !utf8.ValidString(o.answer.Text+o.answer.Reasoning) {
				t.Errorf("%s: %d bytes kept", name, n)
			}
		}
	}
}
