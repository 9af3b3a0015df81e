package llm

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	sm "steward/testdata/scriptedmodel"
)

func wires(t *testing.T, c *Client, r Request) (all []Wire, o outcome) {
	t.Helper()
	o = run(WithWire(t.Context(), func(w Wire) { all = append(all, w) }), t, c, r)
	return all, o
}

// What a Wire holds is what the endpoint got and gave, byte for byte, and never the key.
func TestTheWireIsWhatWent(t *testing.T) {
	t.Parallel()
	busy := sm.Step{Status: 429, Body: `{"error":{"message":"slow down"}}`, Header: map[string]string{"Retry-After": "1"}}
	m := sm.Start(t, busy, sm.Say("Hi \u4f60\u597d"))
	c := newClient(t, m.URL()+"?api-key=SENTINEL-1", func(e *Endpoint, _ *Options) { e.Key = func() string { return "SENTINEL-2" } })
	all, o := wires(t, c, Request{Messages: []Message{{Role: RoleUser, Text: "hello"}}})
	if o.err != nil || len(all) != 2 {
		t.Fatal(o.err, len(all))
	}
	got := m.Requests()
	for i, w := range all {
		if !bytes.Equal(w.Request, got[i].Body) || w.Sent.IsZero() || w.Came.Before(w.Sent) {
			t.Errorf("exchange %d is not what was sent: %s", i, w.Request)
		}
		if !slices.Contains(w.Header, "Content-Type") || slices.Contains(w.Header, "Authorization") || !slices.Contains(w.AnswerHeader, "Content-Type") {
			t.Error("names of headers:", w.Header, w.AnswerHeader)
		}
		if !strings.HasSuffix(w.URL, "/v1/chat/completions") {
			t.Error(w.URL)
		}
		for _, s := range append(append([]string{w.URL, string(w.Request), string(w.Answer), c.Where()}, w.Header...), w.AnswerHeader...) {
			if strings.Contains(s, "SENTINEL") {
				t.Error("it holds a key:", s)
			}
		}
	}
	if w := all[0]; w.Status != 429 || string(w.Answer) != busy.Body || w.Length != int64(len(busy.Body)) {
		t.Errorf("%d %q", w.Status, w.Answer)
	}
	w := all[1]
	if w.Status != 200 || !bytes.HasSuffix(bytes.TrimSpace(w.Answer), []byte("data: [DONE]")) || w.Length != int64(len(w.Answer)) || !strings.HasPrefix(w.ContentType, "text/event-stream") {
		t.Errorf("%d %q %d", w.Status, w.Answer, w.Length)
	}
	again, err := Reread(t.Context(), w.ContentType, bytes.NewReader(w.Answer))
	if err != nil || again.Text != "Hi \u4f60\u597d" || again.State != StateFinished {
		t.Error(again, err)
	}
}

// Of a long answer the beginning and the end are there, and nothing grows with it.
func TestTheWireOfALongAnswer(t *testing.T) {
	t.Parallel()
	var parts []sm.Part
	for range 40 {
		parts = append(parts, sm.Part{Text: ": " + strings.Repeat("x", 64<<10) + "\n\n"})
	}
	m := sm.Start(t, sm.Step{Header: map[string]string{"Content-Type": "text/event-stream"}, Parts: parts, Say: "the end"})
	all, o := wires(t, newClient(t, m.URL(), nil), Request{Messages: []Message{{Role: RoleUser, Text: "hello"}}})
	if o.err != nil || len(all) != 1 {
		t.Fatal(o.err, len(all))
	}
	w := all[0]
	if len(w.Answer) != wireHead || len(w.Tail) != wireTail || w.Length < 40*64<<10 || cap(w.Tail) > 4*wireTail {
		t.Error(len(w.Answer), len(w.Tail), cap(w.Tail), w.Length)
	}
	if !bytes.Contains(w.Tail, []byte("[DONE]")) || w.Answer[0] != ':' {
		t.Error("the ends are not there")
	}
}

// An endpoint that is not there has a wire without an answer; without a watcher there is none.
func TestTheWireOfNoAnswer(t *testing.T) {
	t.Parallel()
	c := newClient(t, "http://127.0.0.1:1/v1", nil)
	all, o := wires(t, c, Request{Messages: []Message{{Role: RoleUser, Text: "hello"}}})
	if o.err == nil || len(all) == 0 || all[0].Status != 0 || len(all[0].Request) == 0 {
		t.Error(o.err, all)
	}
	if newWire(context.Background(), nil) != nil {
		t.Error("somebody watches")
	}
}
