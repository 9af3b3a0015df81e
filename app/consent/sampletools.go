package consent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"steward/app/clean"
	"steward/mcphost"
)

// This file is about the tools that a server offers to the model in a sampling request: its
// own, which it runs itself once it has the model's answer. Nothing here runs a tool.

// cleanBlocks cleans what the server wrote into the blocks of a message.
func (g *Gate) cleanBlocks(in []mcphost.Content) []mcphost.Content {
	out := slices.Clone(in)
	for i := range out {
		b := &out[i]
		b.Text = g.cleanText(b.Text)
		if !aboutTool(*b) {
			continue
		}
		b.Input, b.Structured = g.cleanJSON(b.Input, false), g.cleanJSON(b.Structured, true)
		b.Inner = g.cleanBlocks(b.Inner)
	}
	return out
}

// cleanTools cleans what the server says of its tools; their names stay exact.
func (g *Gate) cleanTools(in []mcphost.SamplingTool) []mcphost.SamplingTool {
	out := slices.Clone(in)
	for i := range out {
		t := &out[i]
		t.Title, t.Description, t.InputSchema = g.cleanText(t.Title), g.cleanText(t.Description), g.CleanSchema(t.InputSchema)
	}
	return out
}

// aboutTool tells uses of tools and their results from other blocks.
func aboutTool(c mcphost.Content) bool { return c.Type == "tool_use" || c.Type == "tool_result" }

// toolWords is all that a use of a tool or its result says to the model.
func toolWords(c mcphost.Content) string {
	if c.Type == "tool_use" {
		return c.Name + " " + string(c.Input)
	}
	return ResultText(c)
}

// ResultText is what the model reads of a result of a tool.
func ResultText(c mcphost.Content) string {
	var parts []string
	if c.IsError {
		parts = append(parts, "The tool reported an error:")
	}
	text := false
	for _, b := range c.Inner {
		if b.Type == "text" || b.Type == "resource" && len(b.Data) == 0 {
			parts, text = append(parts, b.Text), text || strings.TrimSpace(b.Text) != ""
			continue
		}
		parts = append(parts, bracketed(clean.Line(b.Type, 30), clean.Line(b.MIMEType, 60), len(b.Data)))
	}
	if !text && len(c.Structured) > 0 {
		parts = append(parts, string(c.Structured))
	}
	return strings.Join(parts, "\n")
}

// blockWords names a use of a tool or its result.
func blockWords(c mcphost.Content) string {
	if c.Type == "tool_use" {
		return "call of the tool " + clean.Reveal(c.Name)
	}
	if c.IsError {
		return "error of a tool"
	}
	return "result of a tool"
}

// hashed is all of a message's blocks that a person is shown.
func hashed(in []mcphost.Content) []string {
	var out []string
	for _, c := range in {
		out = append(out, c.Type, c.Text, c.MIMEType, string(c.Data))
		if aboutTool(c) {
			out = append(out, c.ID, c.Name, string(c.Input), string(c.Structured), fmt.Sprint(c.IsError, len(c.Inner)))
			out = append(out, hashed(c.Inner)...)
		}
	}
	return out
}

func presentTools(in []mcphost.SamplingTool) []SamplingTool {
	var out []SamplingTool
	for _, t := range in {
		about := t.Description
		if t.Title != "" && t.Title != t.Name {
			about = strings.TrimSpace(t.Title + "\n" + about)
		}
		out = append(out, SamplingTool{Name: clean.Reveal(t.Name), Description: about, Schema: clean.Reveal(string(t.InputSchema))})
	}
	return out
}

func presentCalls(in []mcphost.SamplingCall) []SamplingTool {
	var out []SamplingTool
	for _, c := range in {
		out = append(out, SamplingTool{Name: clean.Reveal(c.Name), Schema: clean.Reveal(string(c.Input))})
	}
	return out
}

// recordedBlock is a block of a message as it stands in the record.
type recordedBlock struct {
	Type       string          `json:"type"`
	Text       string          `json:"text,omitempty"`
	MIMEType   string          `json:"mimeType,omitempty"`
	Bytes      int             `json:"bytes,omitempty"`
	ID         string          `json:"id,omitempty"`
	Name       string          `json:"name,omitempty"`
	Input      json.RawMessage `json:"input,omitempty"`
	Content    []recordedBlock `json:"content,omitempty"`
	Structured json.RawMessage `json:"structuredContent,omitempty"`
	IsError    bool            `json:"isError,omitempty"`
}

func recordedBlocks(in []mcphost.Content) []recordedBlock {
	out := []recordedBlock{}
	for _, c := range in {
		b := recordedBlock{Type: c.Type, Text: c.Text, MIMEType: c.MIMEType, Bytes: len(c.Data)}
		if aboutTool(c) {
			b.Text = ""
			b.ID, b.Name, b.Input, b.Structured, b.IsError = c.ID, c.Name, c.Input, c.Structured, c.IsError
			b.Content = recordedBlocks(c.Inner)
		}
		out = append(out, b)
	}
	return out
}

type recordedTool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

func recordedTools(in []mcphost.SamplingTool) []recordedTool {
	var out []recordedTool
	for _, t := range in {
		out = append(out, recordedTool(t))
	}
	return out
}

type recordedCall struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

func recordedCalls(in []mcphost.SamplingCall) []recordedCall {
	var out []recordedCall
	for _, c := range in {
		out = append(out, recordedCall(c))
	}
	return out
}
