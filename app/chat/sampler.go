package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"steward/app/clean"
	"steward/app/consent"
	"steward/llm"
	"steward/mcphost"
)

// Sampler asks a model for a server; see consent.Options.Sample.
type Sampler = func(context.Context, string, consent.Target, int64, mcphost.SamplingRequest) (mcphost.SamplingAnswer, error)

// NewSampler makes the function that asks the model for a server: the server's own
// messages and tools alone, no history, nothing stored in a conversation. model finds
// exactly the target where it names one, else the conversation's model. A call in the
// answer of a tool that was not offered, or that cannot be read, fails the whole. The request is
// recorded by what recorder gives.
func NewSampler(recorder func() Recorder, model func(ctx context.Context, conversation string, t consent.Target) (*llm.Client, string, error)) Sampler {
	return func(ctx context.Context, conversation string, t consent.Target, record int64, r mcphost.SamplingRequest) (mcphost.SamplingAnswer, error) {
		client, name, err := model(ctx, conversation, t)
		if err != nil {
			return mcphost.SamplingAnswer{}, err
		}
		req := llm.Request{MaxTokens: r.MaxTokens, Temperature: r.Temperature, Stop: r.Stop, ToolChoice: r.ToolChoice}
		if r.System != "" {
			req.Messages = append(req.Messages, llm.Message{Role: llm.RoleSystem, Text: r.System})
		}
		for _, m := range r.Messages {
			req.Messages = append(req.Messages, sampleMessages(m)...)
		}
		for _, t := range r.Tools {
			req.Tools = append(req.Tools, llm.Tool{Name: toolAlias(t.Name), Description: t.Description, Schema: t.InputSchema, Origin: r.Server + "/" + t.Name})
		}
		answer, err := recorder().Ask(ctx, client, Asking{For: ForSampling, Conversation: conversation, Model: name, Parent: record, Why: t.Why()}, req, func(llm.Event) {})
		switch {
		case err != nil:
			return mcphost.SamplingAnswer{}, fmt.Errorf("the model did not answer: %w", err)
		case answer.State != llm.StateFinished:
			return mcphost.SamplingAnswer{}, fmt.Errorf("the model's answer broke off (%s)", answer.State)
		}
		if answer.Model != "" {
			name = answer.Model
		}
		out := mcphost.SamplingAnswer{Model: name, Text: answer.Text, StopReason: stopReason(answer.Finish)}
		if out.Calls, err = sampledCalls(answer.Calls, r.Tools); err != nil {
			return mcphost.SamplingAnswer{}, err
		}
		if len(out.Calls) > 0 {
			out.StopReason = "toolUse"
		}
		return out, nil
	}
}

// toolAlias is the name under which a server's own tool is offered in its request: its own
// where endpoints take it.
func toolAlias(name string) string {
	if llm.ValidName(name) {
		return name
	}
	return llm.Alias("tool", name)
}

// sampledCalls are the model's calls under the server's own names.
func sampledCalls(calls []llm.ToolCall, tools []mcphost.SamplingTool) ([]mcphost.SamplingCall, error) {
	var out []mcphost.SamplingCall
	for _, c := range calls {
		at := slices.IndexFunc(tools, func(t mcphost.SamplingTool) bool { return toolAlias(t.Name) == c.Name })
		switch {
		case at < 0:
			return nil, fmt.Errorf("the model called a tool %s that the server had not offered to it", clean.Reveal(c.Name))
		case c.Problem != "":
			return nil, fmt.Errorf("the model called the tool %s in a way that cannot be understood: %s", clean.Reveal(tools[at].Name), c.Problem)
		}
		out = append(out, mcphost.SamplingCall{ID: c.ID, Name: tools[at].Name, Input: json.RawMessage(c.Arguments)})
	}
	return out, nil
}

// sampleMessages is one message of the server's as the model gets it: each result of a tool
// is one of its own.
func sampleMessages(m mcphost.SamplingMessage) []llm.Message {
	main := llm.Message{Role: llm.RoleUser}
	if m.Role == "assistant" {
		main.Role = llm.RoleAssistant
	}
	var out []llm.Message
	rest := 0
	for _, c := range m.Content {
		if c.Type == "tool_result" && main.Role == llm.RoleUser {
			out = append(out, toolResult(c))
			continue
		}
		rest++
		switch {
		case c.Type == "tool_use" && main.Role == llm.RoleAssistant:
			main.Calls = append(main.Calls, llm.ToolCall{ID: c.ID, Name: toolAlias(c.Name), Arguments: string(c.Input)})
		case c.Type == "image" && len(c.Data) > 0 && main.Role == llm.RoleUser:
			main.Images = append(main.Images, llm.Image{MIMEType: c.MIMEType, Data: c.Data})
		case c.Type == "text":
			main.Text += c.Text
		default:
			main.Text += fmt.Sprintf("[%s, %s, left out]", clean.Line(c.Type, 30), clean.Line(c.MIMEType, 60))
		}
	}
	if rest > 0 || len(out) == 0 {
		out = append(out, main)
	}
	return out
}

func toolResult(c mcphost.Content) llm.Message {
	out := llm.Message{Role: llm.RoleTool, CallID: c.ID, Text: withoutData(consent.ResultText(c))}
	for _, b := range c.Inner {
		if b.Type == "image" && len(b.Data) > 0 {
			out.Images = append(out.Images, llm.Image{MIMEType: b.MIMEType, Data: b.Data})
		}
	}
	return out
}

// stopReason words the endpoint's reason as the protocol does.
func stopReason(finish string) string {
	switch finish {
	case "stop", "":
		return "endTurn"
	case "length":
		return "maxTokens"
	}
	return finish
}
