package chat

import (
	"strings"
	"testing"

	"steward/llm"
	"steward/mcphost"
)

// A server's name for a tool that endpoints do not take goes to the model as another, and comes back as it was.
func TestNamesOfAServersOwnTools(t *testing.T) {
	t.Parallel()
	tools := []mcphost.SamplingTool{{Name: "plain-name_1"}, {Name: "天气"}, {Name: strings.Repeat("n", 100)}}
	var calls []llm.ToolCall
	for i, tool := range tools {
		alias := toolAlias(tool.Name)
		if !llm.ValidName(alias) || (i == 0) != (alias == tool.Name) {
			t.Errorf("%q goes out as %q", tool.Name, alias)
		}
		calls = append(calls, llm.ToolCall{ID: "c", Name: alias, Arguments: `{}`})
	}
	got, err := sampledCalls(calls, tools)
	if err != nil || len(got) != 3 || got[1].Name != "天气" || got[2].Name != tools[2].Name {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := sampledCalls([]llm.ToolCall{{Name: "plain-name_1", Problem: "its arguments are no JSON"}}, tools); err == nil {
		t.Error("a call that cannot be read was handed on")
	}
}
