package app

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"steward/testdata/scriptedmodel"
)

// sentMessage is one message of a request, as far as providers are strict about it.
type sentMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	Reasoning  *string         `json:"reasoning_content"`
	ToolCallID string          `json:"tool_call_id"`
	Calls      []struct {
		ID string `json:"id"`
	} `json:"tool_calls"`
}

// refusing is a provider that refuses messages it does not take, and what another one's left in them.
func refusing(why func(m sentMessage, raw string) string) func(scriptedmodel.Request) (int, string) {
	return func(q scriptedmodel.Request) (int, string) {
		var body struct{ Messages []json.RawMessage }
		if err := json.Unmarshal(q.Body, &body); err != nil {
			return 400, err.Error()
		}
		for i, raw := range body.Messages {
			var m sentMessage
			if err := json.Unmarshal(raw, &m); err != nil {
				return 400, err.Error()
			}
			if w := why(m, string(raw)); w != "" {
				return 400, fmt.Sprintf(`{"error":{"message":"messages[%d]: %s"}}`, i, w)
			}
		}
		return 0, ""
	}
}

var nine = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)

// In the middle of a conversation with calls another endpoint, or another model, goes on: each gets ids, reasoning and
// contents as it takes them, at the first try, and nothing of another vendor's; after a restart, too.
func TestEndpointsAreSwitchedInTheMiddle(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	round := func(id, number string) []scriptedmodel.Step {
		call := scriptedmodel.Chunk(`{"reasoning_content":"thought ` + number + `","tool_calls":[{"index":0,"id":"` + id + `","type":"function","function":{"name":"s__echo","arguments":"{\"text\":\"` + number + `\"}"},"extra_content":{"google":{"thought_signature":"SIG-` + number + `"}}}]}`)
		return []scriptedmodel.Step{scriptedmodel.Reply(call, scriptedmodel.Finish("tool_calls"), scriptedmodel.Done()), say("answer " + number)}
	}
	foreign := func(raw string) string {
		if strings.Contains(raw, "SIG-") {
			return "extra_content: extra inputs are not permitted"
		}
		return ""
	}
	gemini := scriptedmodel.StartScript(t, scriptedmodel.Script{Strict: true, Steps: append(round("function-call-0123456789", "1"), round("function-call-0123456789", "4")...), Check: refusing(func(m sentMessage, _ string) string {
		if m.Reasoning != nil {
			return "Unknown name reasoning_content"
		}
		return ""
	})})
	mistral := scriptedmodel.StartScript(t, scriptedmodel.Script{Strict: true, Steps: round("abcdefghi", "2"), Check: refusing(func(m sentMessage, raw string) string {
		for _, c := range m.Calls {
			if !nine.MatchString(c.ID) {
				return "tool call id was " + c.ID + " but must be a-z, A-Z, 0-9, with a length of 9"
			}
		}
		if m.Reasoning != nil || m.Role == "tool" && !nine.MatchString(m.ToolCallID) {
			return "not taken"
		}
		return foreign(raw)
	})})
	deepseek := scriptedmodel.StartScript(t, scriptedmodel.Script{Strict: true, Steps: round("call_00_x", "3"), Check: refusing(func(m sentMessage, raw string) string {
		if m.Role == "assistant" && m.Reasoning == nil {
			return "The reasoning_content in the thinking mode must be passed back to the API"
		}
		return foreign(raw)
	})})
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
	id := r.say("", "one")
	check(t, r.app.SetConversationSettings(ctx, id, ConversationSettings{Endpoint: second}))
	r.say(id, "two")
	check(t, r.app.SetConversationSettings(ctx, id, ConversationSettings{Endpoint: third}))
	r.say(id, "three")
	r.reopen()
	check(t, r.app.SetConversationSettings(ctx, id, ConversationSettings{Endpoint: first, Model: "another-model"}))
	r.say(id, "four")
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
	last := gemini.Requests()[3]
	for _, want := range []string{`"another-model"`, "answer 1", "answer 2", "answer 3", `{\"text\":\"2\"}`} {
		if !strings.Contains(string(last.Body), want) {
			t.Errorf("%s is missing in %s", want, last.Body)
		}
	}
}
