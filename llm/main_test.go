package llm

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	sm "steward/testdata/scriptedmodel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// outcome is everything a Stream did.
type outcome struct {
	answer   Answer
	err      *Error
	text     string // of TextDelta events
	thought  string // of ReasoningDelta events
	retries  []Retrying
	warnings []Warning
	usage    *Usage
}

func (o outcome) warned(kind string) bool {
	for _, w := range o.warnings {
		if w.Kind == kind {
			return true
		}
	}
	return false
}

func newClient(t *testing.T, url string, change func(*Endpoint, *Options)) *Client {
	t.Helper()
	e, o := Endpoint{BaseURL: url, Model: "fake"}, Options{}
	if change != nil {
		change(&e, &o)
	}
	c, err := New(e, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	c.pause = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	return c
}

func run(ctx context.Context, t *testing.T, c *Client, r Request) outcome {
	t.Helper()
	var o outcome
	answer, err := c.Stream(ctx, r, func(e Event) {
		switch e := e.(type) {
		case TextDelta:
			o.text += e.Text
		case ReasoningDelta:
			o.thought += e.Text
		case Retrying:
			o.retries = append(o.retries, e)
		case Warning:
			o.warnings = append(o.warnings, e)
		case UsageEvent:
			u := Usage(e)
			o.usage = &u
		}
	})
	o.answer = answer
	if err != nil && !errors.As(err, &o.err) {
		t.Fatalf("the error is a %T: %v", err, err)
	}
	if (o.err != nil) != (answer.State == StateFailed || answer.State == StateInterrupted) {
		t.Fatalf("state %q with error %v", answer.State, err)
	}
	if o.text != answer.Text || o.thought != answer.Reasoning {
		t.Fatalf("events gave text %q, reasoning %q; the answer has %q, %q", o.text, o.thought, answer.Text, answer.Reasoning)
	}
	if answer.State != StateFinished && len(answer.Calls) > 0 {
		t.Fatalf("a %s answer has calls", answer.State)
	}
	if o.err != nil && strings.Contains(o.err.Message, "invalid character") {
		t.Fatalf("a parser's complaint reached the person: %s", o.err.Message)
	}
	return o
}

// ask sends "hi" to an endpoint that answers with the steps.
func ask(t *testing.T, r Request, steps ...sm.Step) (outcome, *sm.Server) {
	t.Helper()
	s := sm.Start(t, steps...)
	if r.Messages == nil {
		r.Messages = []Message{{Role: RoleUser, Text: "hi"}}
	}
	return run(t.Context(), t, newClient(t, s.URL(), nil), r), s
}
