package llm

import (
	"bytes"
	"encoding/json"
	"flag"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"steward/testdata/chatrules"
)

func init() {
	if err := flag.Set("rapid.checks", "1500"); err != nil {
		panic(err)
	}
}

// habits are traits beside those of a profile, and what the rules are with them.
var habits = []struct {
	key, value string
	rules      func(*chatrules.Rules)
}{
	{"empty_content", EmptyNull, func(r *chatrules.Rules) { r.NoNull, r.NoEmpty = false, true }},
	{"empty_content", EmptyAbsent, func(r *chatrules.Rules) { r.NoAbsent, r.NoEmpty = false, true }},
	{"call_ids", IDsShort, func(r *chatrules.Rules) { r.IDs = chatrules.For("mistral").IDs }},
	{"several_calls", No, func(r *chatrules.Rules) { r.SingleCalls = true }},
	{"alternating_roles", Yes, func(r *chatrules.Rules) { r.Alternating, r.NoUserAfterTool = true, true }},
	{"user_after_tool", No, func(r *chatrules.Rules) { r.NoUserAfterTool = true }},
	{"system_role", SystemDeveloper, func(r *chatrules.Rules) { r.SystemRole = "developer" }},
	{"system_role", SystemUser, func(r *chatrules.Rules) { r.SystemRole = "none" }},
	{"images", No, func(r *chatrules.Rules) { r.Images = "none" }},
	{"reasoning_back", BackAlways, func(r *chatrules.Rules) { r.Reasoning = "always" }},
	{"reasoning_back", BackCalls, func(r *chatrules.Rules) { r.Reasoning = "calls" }},
	{"reasoning_field", ReasoningPlain, func(r *chatrules.Rules) { r.ReasoningField = "reasoning" }},
	{"tool_message_names", Yes, func(r *chatrules.Rules) { r.ToolNames = true }},
}

var (
	texts   = []string{"", " \n", "text", "你好 \"x\"\x00\u2028", "bad\xff"}
	idents  = []string{"", "SAME", "a", "abcdefghi", "call_0fypS1hVXabc", strings.Repeat("x", 90), "ü b"}
	names   = []string{"", "s__t", "a b.c", "查询", strings.Repeat("n", 90)}
	inputs  = []string{"{}", "", `{"a":1}`, `{"a":1,"a":2}`, "[1]", `{"cut`, `null`, "{}{}"}
	foreign = []string{"", `{"extra_content":{"google":{"thought_signature":"AA=="}},"other":1,"function":{"extra_content":{"x":[1]},"y":2}}`, `{"reasoning_details":[{"type":"reasoning.text","text":"t"}]}`, `{broken`, `[]`, `"x"`}
)

func one[T any](t *rapid.T, name string, list []T) T { return rapid.SampledFrom(list).Draw(t, name) }

func anyImages(t *rapid.T) []Image {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Image {
		return Image{one(t, "mime", []string{"image/png", "image/JPEG; q=1", "image/svg+xml", "", "\x1b[1m"}), one(t, "data", [][]byte{nil, []byte("png")})}
	}), 0, 2).Draw(t, "images")
}

// anyMessage is a message such as no honest conversation has it.
func anyMessage(t *rapid.T) Message {
	m := Message{Role: one(t, "role", []string{RoleSystem, RoleUser, RoleAssistant, RoleAssistant, RoleTool, RoleTool, "odd"}), Text: one(t, "text", texts)}
	switch m.Role {
	case RoleAssistant:
		m.Reasoning, m.Extra = one(t, "reasoning", []string{"", "THOUGHT"}), json.RawMessage(one(t, "extra", foreign))
		m.Calls = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ToolCall {
			return ToolCall{ID: one(t, "id", idents), Name: one(t, "name", names), Arguments: one(t, "arguments", inputs), Extra: json.RawMessage(one(t, "extra", foreign))}
		}), 0, 4).Draw(t, "calls")
	case RoleTool:
		m.CallID, m.Tool, m.Images = one(t, "id", idents), one(t, "name", names), anyImages(t)
	default:
		m.Images = anyImages(t)
	}
	return m
}

func TestWhateverTheMessagesEachProvidersRulesAreKept(t *testing.T) {
	t.Parallel()
	all := Profiles()
	rapid.Check(t, func(t *rapid.T) {
		p := one(t, "profile", all)
		rules := chatrules.For(p.Name)
		for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(habits)-1), 0, 3, func(i int) string { return habits[i].key }).Draw(t, "habits") {
			h := habits[i]
			if h.key == "reasoning_field" && p.Trait("reasoning_back") == "never" {
				continue
			}
			if err := p.SetTrait(h.key, h.value); err != nil {
				t.Fatal(err)
			}
			h.rules(&rules)
		}
		half := one(t, "temperature", []float64{-1, 0.5, 7})
		r := Request{
			Messages: rapid.SliceOfN(rapid.Custom(anyMessage), 0, 12).Draw(t, "messages"), MaxTokens: one(t, "limit", []int{-1, 0, 5}), Temperature: &half,
			Stop: one(t, "stop", [][]string{nil, {""}, {"a", "", "b", "c", "d", "e"}}), ToolChoice: one(t, "choice", []string{"", "none", "auto", "required"}),
		}
		if rapid.Bool().Draw(t, "tools") {
			r.Tools = []Tool{{Name: "s__t", Description: strings.Repeat("d", 2000)}}
		}
		got, problem := body("m", r, p)
		if problem != nil {
			t.Fatal(problem)
		}
		if wrong := chatrules.Check(got, rules); wrong != nil {
			t.Fatalf("%s: %q\n%s", p.Name, wrong, got)
		}
		if rules.Reasoning == "" && bytes.Contains(got, []byte("THOUGHT")) {
			t.Fatalf("reasoning went out: %s", got)
		}
	})
}
