package mcphost

import "encoding/json"

// ServerInfo is what a server says about itself. It is text from outside, for
// display only: the server's identity is [ServerConfig.ID].
type ServerInfo struct {
	Name, Title, Version string
	Instructions         string
	InstructionsHash     string // "sha256:…"; "" if there are none
}

// Tool is one tool of a server. Name, Title, Description and the annotations
// are the server's words and are not to be trusted.
type Tool struct {
	Name, Title, Description string
	InputSchema              json.RawMessage // always a JSON object; as received, or {"type":"object"} where missing
	OutputSchema             json.RawMessage // nil if none
	Annotations              json.RawMessage // nil if none
	// Definition is "sha256:…" over the canonical form of the whole entry as
	// received, without _meta other than _meta.ui.
	Definition string
	Raw        json.RawMessage // the entry as received

	ReadOnlyHint, DestructiveHint, IdempotentHint, OpenWorldHint *bool // nil if not given

	AppOnly bool // _meta.ui.visibility leaves the model out (MCP Apps): never offer it to a model
	App     bool // it has an app page (MCP Apps), which is not drawn
	// TaskSupport is execution.taskSupport (MCP 2025-11-25): "required", "optional",
	// or "" where a call as a task is not allowed.
	TaskSupport string
}

// Prompt is one prompt template of a server.
type Prompt struct {
	Name, Title, Description string
	Arguments                []PromptArgument
	Definition               string
	Raw                      json.RawMessage
}

// PromptArgument is one argument of a prompt.
type PromptArgument struct {
	Name, Title, Description string
	Required                 bool
}

// Resource is one resource of a server.
type Resource struct {
	URI, Name, Title, Description, MIMEType string
	Size                                    int64 // bytes; -1 if not given
	Annotations                             json.RawMessage
	Raw                                     json.RawMessage
}

// Template is one resource template (RFC 6570) of a server.
type Template struct {
	URITemplate, Name, Title, Description, MIMEType string
	Annotations                                     json.RawMessage
	Raw                                             json.RawMessage
}

// Content is one block of a result. What is not understood is kept as text or
// as a placeholder, with Raw as received; nothing makes the whole result
// fail.
type Content struct {
	Type     string // "text", "image", "audio", "resource", "resource_link", or the server's word
	Text     string // text, a text resource, or a placeholder saying what could not be read
	MIMEType string
	URI      string // resource, resource_link
	Name     string // resource_link
	Data     []byte // decoded image, audio or blob; nil if it could not be decoded
	Raw      json.RawMessage

	// Of "tool_use" and "tool_result" in a request for a model's answer alone.
	ID         string          // of the use
	Input      json.RawMessage // of a use: one JSON object; Name is the tool's
	Inner      []Content       // of a result
	Structured json.RawMessage // of a result; nil if none
	IsError    bool            // of a result
}

// PromptMessage is one message of a prompt. Role is "user" or "assistant";
// any other role of the server's is treated as "user".
type PromptMessage struct {
	Role    string
	Content Content
}

// PromptResult is a prompt filled in by the server.
type PromptResult struct {
	Description string
	Messages    []PromptMessage
	Notes       []string // what was odd about it or left out, a sentence each
	Raw         json.RawMessage
}

// ResourceResult is the content of a resource.
type ResourceResult struct {
	URI      string // the one asked for
	Contents []Content
	Notes    []string // what was odd about it or left out, a sentence each
	Raw      json.RawMessage
}

// CompletionRef names what an argument belongs to: a prompt by Prompt, or a
// resource template by Template.
type CompletionRef struct{ Prompt, Template string }

// Completion is what a server suggests for an argument; at most 100 values.
type Completion struct {
	Values  []string
	Total   int // 0 if not given
	HasMore bool
}
