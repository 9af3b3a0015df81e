package chat

import (
	"context"
	"fmt"

	"steward/app/clean"
	"steward/app/consent"
	"steward/llm"
	"steward/mcphost"
)

// Sampler asks a model for a server; see consent.Options.Sample.
type Sampler = func(context.Context, string, consent.Target, mcphost.SamplingRequest) (mcphost.SamplingAnswer, error)

// NewSampler makes the function that asks the model for a server: the server's own
// messages alone, no history, no tools, nothing stored in a conversation. model finds
// exactly the target where it names one, else the conversation's model.
func NewSampler(model func(ctx context.Context, conversation string, t consent.Target) (*llm.Client, string, error)) Sampler {
	return func(ctx context.Context, conversation string, t consent.Target, r mcphost.SamplingRequest) (mcphost.SamplingAnswer, error) {
		client, name, err := model(ctx, conversation, t)
		if err != nil {
			return mcphost.SamplingAnswer{}, err
		}
		req := llm.Request{MaxTokens: r.MaxTokens, Temperature: r.Temperature, Stop: r.Stop}
		if r.System != "" {
			req.Messages = append(req.Messages, llm.Message{Role: llm.RoleSystem, Text: r.System})
		}
		for _, m := range r.Messages {
			req.Messages = append(req.Messages, sampleMessage(m))
		}
		answer, err := client.Stream(ctx, req, func(llm.Event) {})
		switch {
		case err != nil:
			return mcphost.SamplingAnswer{}, fmt.Errorf("the model did not answer: %w", err)
		case answer.State != llm.StateFinished:
			return mcphost.SamplingAnswer{}, fmt.Errorf("the model's answer broke off (%s)", answer.State)
		}
		if answer.Model != "" {
			name = answer.Model
		}
		return mcphost.SamplingAnswer{Model: name, Text: answer.Text, StopReason: stopReason(answer.Finish)}, nil
	}
}

func sampleMessage(m mcphost.SamplingMessage) llm.Message {
	out := llm.Message{Role: llm.RoleUser}
	if m.Role == "assistant" {
		out.Role = llm.RoleAssistant
	}
	for _, c := range m.Content {
		switch {
		case c.Type == "image" && len(c.Data) > 0 && out.Role == llm.RoleUser:
			out.Images = append(out.Images, llm.Image{MIMEType: c.MIMEType, Data: c.Data})
		case c.Type == "text":
			out.Text += c.Text
		default:
			out.Text += fmt.Sprintf("[%s, %s, left out]", clean.Line(c.Type, 30), clean.Line(c.MIMEType, 60))
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
