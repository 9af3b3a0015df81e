package consent

import (
	"cmp"
	"fmt"
	"strings"

	"steward/app/clean"
	"steward/mcphost"
)

// hash covers all that is shown: what would be sent where and, in the second step, the
// answer.
func (s *sampling) hash(answer *mcphost.SamplingAnswer) string {
	parts := append([]string{"sampling", s.o.server, s.target.Endpoint, s.target.Model, s.req.System, fmt.Sprint(s.req.MaxTokens)}, s.settings()...)
	for _, m := range s.req.Messages {
		parts = append(parts, m.Role)
		parts = append(parts, hashed(m.Content)...)
	}
	for _, t := range s.req.Tools {
		parts = append(parts, "tool", t.Name, t.Title, t.Description, string(t.InputSchema))
	}
	if answer != nil {
		parts = append(parts, "answer", answer.Text)
		for _, c := range answer.Calls {
			parts = append(parts, "call", c.ID, c.Name, string(c.Input))
		}
	}
	return hashOf(parts...)
}

// settings words what the server sets beside the messages.
func (s *sampling) settings() []string {
	var out []string
	if t := s.req.Temperature; t != nil {
		out = append(out, fmt.Sprintf("The server sets the temperature to %v.", *t))
	}
	for _, stop := range s.req.Stop {
		out = append(out, fmt.Sprintf("The server lets the answer end before “%s”.", clean.Reveal(stop)))
	}
	switch s.req.ToolChoice {
	case mcphost.ToolsRequired:
		out = append(out, "The server makes the model use one of its tools.")
	case mcphost.ToolsNone:
		out = append(out, "The server does not let the model use its tools this time.")
	}
	return out
}

func (s *sampling) present(answer *mcphost.SamplingAnswer) (*Sampling, Presentation) {
	raw := &Sampling{System: s.req.System, MaxTokens: s.req.MaxTokens, Wanted: s.wanted, Target: s.target, Hints: s.req.Hints, Limits: s.limits}
	p := Presentation{
		Title: fmt.Sprintf("%s asks for the model", clean.Reveal(s.o.server)), Server: clean.Reveal(s.o.server), Tool: clean.Reveal(s.o.tool),
		System: revealLines(s.req.System), Model: clean.Line(s.target.Model, 200), Warnings: s.settings(),
	}
	p.Prefers = Preferred(s.req.Priorities)
	for _, h := range s.req.Hints {
		p.Hints = append(p.Hints, clean.Line(h, 100))
	}
	for _, m := range s.req.Messages {
		raw.Messages = append(raw.Messages, sampleMessage(m, func(t string) string { return t }))
		p.Messages = append(p.Messages, sampleMessage(m, revealLines))
	}
	p.Tools = presentTools(s.req.Tools)
	switch s.req.Context {
	case "", "none":
	case "thisServer":
		p.Warnings = append(p.Warnings, "The server wanted what else it knows of this conversation to be added. It is not: nothing but what stands here goes to the model.")
	default:
		p.Warnings = append(p.Warnings, "The server wanted what your servers have said in this conversation to be added. It is not: nothing but what stands here goes to the model.")
	}
	if s.wanted > s.limits.MaxTokens {
		p.Warnings = append(p.Warnings, fmt.Sprintf("The server wanted an answer of up to %d tokens; %d is the limit here.", s.wanted, s.limits.MaxTokens))
	}
	if s.o.call == "" {
		p.Warnings = append(p.Warnings, "It cannot be told which call this belongs to.")
	}
	if answer != nil {
		raw.Answer, raw.Model = answer.Text, answer.Model
		p.Answer, p.Model = revealLines(answer.Text), clean.Line(answer.Model, 200)
		p.Calls = presentCalls(answer.Calls)
		p.Title = fmt.Sprintf("The model’s answer would go to %s", clean.Reveal(s.o.server))
	}
	return raw, p
}

// NoteBreak stands between the things that a note on a message names.
const NoteBreak = "; "

func sampleMessage(m mcphost.SamplingMessage, show func(string) string) SamplingMessage {
	out := SamplingMessage{Role: m.Role}
	var others []string
	for _, c := range m.Content {
		switch {
		case c.Type == "text":
			out.Text += show(c.Text)
		case aboutTool(c):
			out.Tools = append(out.Tools, show(toolWords(c)))
			others = append(others, blockWords(c))
		default:
			others = append(others, fmt.Sprintf("%s (%s, %d bytes)", clean.Line(c.Type, 30), cmp.Or(clean.Line(c.MIMEType, 60), "of no stated type"), len(c.Data)))
		}
	}
	out.Note = strings.Join(others, NoteBreak)
	return out
}
