package mcphost

import (
	"encoding/json"
	"errors"
	"fmt"

	"steward/mcphost/internal/wire"
	"steward/mcphost/schema"
)

// maxSamplingTools bounds the tools that one request for a model's answer offers.
const maxSamplingTools = 128

// SamplingTool is a tool that a server offers to the model in a request for its
// answer. The model's calls of it go back to the server in the answer; nothing
// here runs them.
type SamplingTool struct {
	Name, Title, Description string
	InputSchema              json.RawMessage // as received
}

// SamplingCall is a call of a [SamplingTool] in a model's answer.
type SamplingCall struct {
	ID, Name string
	Input    json.RawMessage // one JSON object
}

// How the model may use the tools of a [SamplingRequest].
const (
	ToolsAuto     = "auto"
	ToolsRequired = "required"
	ToolsNone     = "none"
)

func badParams(format string, args ...any) error {
	return &wire.Error{Code: wire.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// readTools reads tools and toolChoice (MCP 2025-11-25, client/sampling, tools).
// A tool that cannot be offered ends the request: the model must not believe
// that it has others than the server meant.
func (r *SamplingRequest) readTools(m map[string]json.RawMessage) error {
	tools, ok := array(m["tools"])
	if !ok && !absent(m["tools"]) {
		return badParams("tools must be a list")
	}
	if len(tools) > maxSamplingTools {
		return badParams("%d tools are too many; at most %d are offered to a model", len(tools), maxSamplingTools)
	}
	seen := map[string]bool{}
	for i, raw := range tools {
		tm, _ := fields(raw)
		t := SamplingTool{Name: str(tm["name"]), Title: str(tm["title"]), Description: str(tm["description"])}
		if why := badName(t.Name); why != "" {
			return badParams("tool %d cannot be offered: %s", i+1, why)
		}
		if seen[t.Name] {
			return badParams("the tool %q stands in the list twice", t.Name)
		}
		seen[t.Name] = true
		if t.InputSchema = object(tm["inputSchema"]); t.InputSchema == nil {
			if !absent(tm["inputSchema"]) {
				return badParams("the inputSchema of the tool %q is no object", t.Name)
			}
			t.InputSchema = emptySchema
		}
		if _, err := schema.Compile(t.InputSchema); err != nil {
			return badParams("the inputSchema of the tool %q cannot be used: %v", t.Name, err)
		}
		r.Tools = append(r.Tools, t)
	}
	choice, ok := fields(m["toolChoice"])
	if !ok && !absent(m["toolChoice"]) {
		return badParams("toolChoice must be an object")
	}
	switch mode := str(choice["mode"]); {
	case absent(choice["mode"]) || mode == ToolsAuto:
	case mode == ToolsRequired && len(r.Tools) > 0, mode == ToolsNone:
		r.ToolChoice = mode
	case mode == ToolsRequired:
		return badParams("toolChoice requires a tool, but there is none")
	default:
		return badParams("the mode of toolChoice must be auto, required or none")
	}
	return nil
}

// balanced checks that the results of tools follow their uses (MCP 2025-11-25,
// client/sampling, tool use and result balance).
func balanced(messages []SamplingMessage) error {
	var open map[string]bool
	for i, m := range messages {
		results, others := 0, 0
		uses := map[string]bool{}
		for _, c := range m.Content {
			switch c.Type {
			case "tool_result":
				if m.Role != "user" {
					return badParams("message %d: a result of a tool must come from the user", i+1)
				}
				if !open[c.ID] {
					return badParams("message %d: the result %q answers no use of a tool in the message before", i+1, short(c.ID, 60))
				}
				delete(open, c.ID)
				results++
			case "tool_use":
				if m.Role != "assistant" {
					return badParams("message %d: a use of a tool must come from the assistant", i+1)
				}
				if c.ID == "" || uses[c.ID] || c.Name == "" || c.Input == nil {
					return badParams("message %d: a use of a tool needs an id of its own, a name and an input", i+1)
				}
				uses[c.ID] = true
				others++
			default:
				others++
			}
		}
		switch {
		case len(open) > 0:
			return badParams("message %d: tool result missing in request", i+1)
		case results > 0 && others > 0:
			return badParams("message %d: tool results mixed with other content", i+1)
		}
		open = uses
	}
	if len(open) > 0 {
		return badParams("tool result missing in request")
	}
	return nil
}

// readToolBlock reads a use of a tool or its result, in a request for a model's
// answer.
func (c *Content) readToolBlock(m map[string]json.RawMessage) {
	if c.Type == "tool_use" {
		c.ID, c.Input = str(m["id"]), object(m["input"])
		return
	}
	c.ID = str(m["toolUseId"])
	inner := m["content"]
	if object(inner) != nil {
		inner = json.RawMessage("[" + string(inner) + "]")
	}
	c.Inner, _ = readBlocks(inner, false)
	c.Structured = m["structuredContent"]
	if string(c.Structured) == "null" {
		c.Structured = nil
	}
	failed := boolean(m["isError"])
	c.IsError = failed != nil && *failed
}

// samplingResult writes a model's answer (MCP 2025-11-25, CreateMessageResult):
// one block by itself, as servers of every revision read it, several in a list.
func samplingResult(a SamplingAnswer) (json.RawMessage, error) {
	type text struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	type use struct {
		Type  string          `json:"type"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}
	var blocks []any
	if a.Text != "" || len(a.Calls) == 0 {
		blocks = append(blocks, text{"text", a.Text})
	}
	for _, call := range a.Calls {
		if object(call.Input) == nil || call.ID == "" || call.Name == "" {
			return nil, errors.New("a call in the model's answer lacks its id, its name or its input")
		}
		blocks = append(blocks, use{"tool_use", call.ID, call.Name, call.Input})
	}
	out := map[string]any{"role": "assistant", "model": a.Model, "stopReason": a.StopReason, "content": blocks}
	if len(a.Calls) == 0 {
		out["content"] = blocks[0]
	}
	return json.Marshal(out)
}
