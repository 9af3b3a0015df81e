package app

import (
	"context"
	"strings"
	"testing"

	"steward/testdata/scriptedmodel"
)

// In the middle of a conversation with calls another endpoint, or another model, goes on: each gets ids, reasoning and
// contents as it takes them, at the first try, and nothing of another vendor's; after a restart, too.
func TestEndpointsAreSwitchedInTheMiddle(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	round := func(id, number string) []scriptedmodel.Step {
		call := scriptedmodel.Chunk(`{"reasoning_content":"thought ` + number + `","tool_calls":[{"index":0,"id":"` + id + `","type":"function","function":{"name":"s__echo","arguments":"{\"text\":\"` + number + `\"}"},"extra_content":{"google":{"thought_signature":"SIG-` + number + `"}}}]}`)
		return []scriptedmodel.Step{scriptedmodel.Reply(call, scriptedmodel.Finish("tool_calls"), scriptedmodel.Done()), say("answer " + number)}
	}
	// each holds requests to the rules of its provider, and refuses what is another one's
	start := func(profile, id, number string, more ...scriptedmodel.Step) *scriptedmodel.Server {
		return scriptedmodel.StartScript(t, scriptedmodel.Script{Strict: true, Rules: profile, Steps: append(round(id, number), more...)})
	}
	gemini := start("gemini", "function-call-0123456789", "1", round("function-call-0123456789", "4")...)
	mistral, deepseek := start("mistral", "abcdefghi", "2"), start("deepseek", "call_00_x", "3")
	r := newRig(t, map[string]any{"s": self(t, "scripted", "--only", "echo")})
	r.stored()
	check(t, r.app.SetPermission(ctx, "s", "echo", PermissionAllow))
	save := func(m *scriptedmodel.Server, profile string) string {
		return must(t, func() (string, error) {
			return r.app.SaveEndpoint(ctx, ModelEndpoint{Name: profile, BaseURL: m.URL(), Model: "m-" + profile, Profile: profile}, "")
		})
	}
	first := save(gemini, "gemini")
	second, third := save(mistral, "mistral"), save(deepseek, "deepseek")
	id := ""
	say := func(text string) {
		t.Helper()
		turn := r.send(Draft{Conversation: id, Text: text})
		result, err := turn.Wait(ctx)
		if id = turn.Conversation(); err != nil || result.State != "finished" {
			t.Fatalf("%+v %v", result, err)
		}
	}
	say("one")
	check(t, r.app.SetConversationSettings(ctx, id, ConversationSettings{Endpoint: second}))
	say("two")
	check(t, r.app.SetConversationSettings(ctx, id, ConversationSettings{Endpoint: third}))
	say("three")
	r.reopen()
	check(t, r.app.SetConversationSettings(ctx, id, ConversationSettings{Endpoint: first, Model: "another-model"}))
	say("four")
	for _, m := range []*scriptedmodel.Server{mistral, deepseek} {
		for _, q := range m.Requests() {
			if strings.Contains(string(q.Body), "SIG-1") {
				t.Errorf("another vendor's signature was sent: %s", q.Body)
			}
		}
	}
	for name, m := range map[string]*scriptedmodel.Server{"gemini": gemini, "mistral": mistral, "deepseek": deepseek} {
		if p := m.Problems(); len(p) > 0 {
			t.Errorf("%s: %v", name, p)
		}
	}
	for name, want := range map[string]int{"gemini": 4, "mistral": 2, "deepseek": 2} {
		if got := len(map[string]*scriptedmodel.Server{"gemini": gemini, "mistral": mistral, "deepseek": deepseek}[name].Requests()); got != want {
			t.Errorf("%s was asked %d times, want %d: a first try was refused", name, got, want)
		}
	}
	if body := string(gemini.Requests()[1].Body); !strings.Contains(body, "SIG-1") {
		t.Errorf("its own signature did not come back to it: %s", body)
	}
	last := gemini.Requests()[3]
	for _, want := range []string{`"another-model"`, "answer 1", "answer 2", "answer 3", `{\"text\":\"2\"}`} {
		if !strings.Contains(string(last.Body), want) {
			t.Errorf("%s is missing in %s", want, last.Body)
		}
	}
}
