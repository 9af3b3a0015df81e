package send_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
	"steward/mcphost/send"
)

// wantsPages is an error -32042 with these elicitations.
func wantsPages(elicitations string) string {
	return `{"jsonrpc":"2.0","id":${id},"error":{"code":-32042,"message":"pay first","data":{"elicitations":[` + elicitations + `]}}}`
}

const payPage = `{"mode":"url","elicitationId":"p1","url":"https://example.com/pay","message":"Pay"}`

// TestURLElicitation checks error -32042: the page is offered, and the call is made again when the server says it is
// finished, which ends the question whether it is.
func TestURLElicitation(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	action, causes := "accept", []error(nil)
	h, _ := trial.Host(t, mcphost.Options{Asker: asker{
		elicit: func(ctx context.Context, e mcphost.Elicitation) (mcphost.ElicitAnswer, error) {
			if e.Mode == mcphost.ModeDone {
				<-ctx.Done()
				mu.Lock()
				defer mu.Unlock()
				causes = append(causes, context.Cause(ctx))
				return mcphost.ElicitAnswer{Action: "cancel"}, nil
			}
			if e.Mode != "url" || e.URL != "https://example.com/pay" || len(e.Calls) != 1 {
				t.Errorf("%+v", e)
			}
			return mcphost.ElicitAnswer{Action: action}, nil
		},
	}})
	c := trial.Connect(t, h, trial.Scripted("s", "--step", "tool:pay="+wantsPages(payPage),
		"--step", `tool:pay=@notify notifications/elicitation/complete {"elicitationId":"nobody"}`,
		"--step", "tool:pay=@sleep 100ms", "--step", `tool:pay=@notify notifications/elicitation/complete {"elicitationId":"p1"}`))
	rounds := 0
	k := call(t, c, "pay", `{}`)
	k.Attempt = func(context.Context, string, any) error {
		if rounds++; rounds == 3 {
			return errors.New("enough")
		}
		return nil
	}
	if r := do(t, k); rounds != 3 || r.Outcome != send.Unknown {
		t.Errorf("%d rounds: %+v", rounds, r)
	}
	mu.Lock()
	for _, cause := range causes {
		if !errors.Is(cause, mcphost.ErrFinished) {
			t.Errorf("a question ended with %v", cause)
		}
	}
	action = "decline"
	mu.Unlock()
	if r := do(t, call(t, c, "pay", `{}`)); r.Outcome != send.ProtocolError || !strings.Contains(r.Reason, "pay first") {
		t.Errorf("declined: %+v", r)
	}
}

// TestPagesTheServerDoesNotReportOn checks that pages without an id, or of which no word comes, wait for the person, each
// for itself, and that giving one up leaves the server's error.
func TestPagesTheServerDoesNotReportOn(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	answer := "accept"
	h, _ := trial.Host(t, mcphost.Options{Asker: asker{
		elicit: func(_ context.Context, e mcphost.Elicitation) (mcphost.ElicitAnswer, error) {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, e.Mode+" "+e.Message)
			if e.Mode == mcphost.ModeDone {
				return mcphost.ElicitAnswer{Action: answer}, nil
			}
			return mcphost.ElicitAnswer{Action: "accept"}, nil
		},
	}})
	two := wantsPages(`{"mode":"url","url":"https://example.com/a","message":"A"},` + `{"mode":"url","elicitationId":"same","url":"https://example.com/b","message":"B"},{"mode":"url","elicitationId":"same","url":"https://example.com/c","message":"C"}`)
	c := trial.Connect(t, h, trial.Scripted("s", "--step", "tool:pay="+two, "--step", "prompts/get="+two))
	k := call(t, c, "pay", `{}`)
	rounds := 0
	k.Attempt = func(context.Context, string, any) error {
		rounds++
		mu.Lock()
		defer mu.Unlock()
		answer = "cancel" // the next time it is given up
		return nil
	}
	if r := do(t, k); rounds != 1 || r.Outcome != send.ProtocolError || !strings.Contains(r.Reason, "pay first") {
		t.Errorf("%d rounds: %+v", rounds, r)
	}
	want := []string{"url A", "url B", "url C", "done A", "done B", "done C", "url A", "url B", "url C", "done A"}
	if mu.Lock(); !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
	asked, answer = nil, "cancel"
	mu.Unlock()
	if _, err := c.GetPrompt(t.Context(), "greet", nil); err == nil || !strings.Contains(err.Error(), "pay first") {
		t.Errorf("the prompt: %v", err)
	}
	if len(asked) != 4 {
		t.Errorf("for a prompt %q was asked", asked)
	}
}
