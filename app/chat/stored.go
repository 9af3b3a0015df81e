// Package chat runs conversations: it stores what the person says, builds each
// request to the model from what is stored, streams the answer, takes the
// model's calls through the consent gate and goes on until the model, the person
// or a limit ends the turn.
package chat

import (
	"bytes"
	"encoding/json"
	"fmt"

	"steward/storage"
)

// storedCall is one tool call of an assistant message as it is kept. ID is our
// own and pairs it with its answer; Wire is the endpoint's, which may repeat.
type storedCall struct {
	ID        string `json:"id"`
	Wire      string `json:"wire,omitempty"`
	Name      string `json:"name"` // as the model was offered it
	Server    string `json:"server,omitempty"`
	Tool      string `json:"tool,omitempty"`
	Arguments string `json:"arguments"`
	Problem   string `json:"problem,omitempty"`
	Raw       string `json:"raw,omitempty"` // what the model wrote, where it could not be used
	// Extra is what the endpoint added to the call and may want back; see llm.ToolCall.
	Extra json.RawMessage `json:"extra,omitempty"`
}

// storedImage is a picture kept with a message.
type storedImage struct {
	MIMEType string `json:"mime"`
	Data     []byte `json:"data"`
}

// storedMeta is what a message carries beside its text.
type storedMeta struct {
	Attachments []Attachment  `json:"attachments,omitempty"` // user
	Images      []storedImage `json:"images,omitempty"`      // tool
	Server      string        `json:"server,omitempty"`      // tool
	Tool        string        `json:"tool,omitempty"`        // tool
	Record      int64         `json:"record,omitempty"`      // tool
	Outcome     string        `json:"outcome,omitempty"`     // tool
	Effect      string        `json:"effect,omitempty"`      // tool
	Reason      string        `json:"reason,omitempty"`      // tool
	Edited      string        `json:"edited,omitempty"`      // tool: the arguments the person put in place
	Note        string        `json:"note,omitempty"`        // tool: what the model is told beside the result
	Error       string        `json:"error,omitempty"`       // assistant
	Spent       *Spent        `json:"spent,omitempty"`       // assistant, note
	Noted       int           `json:"noted,omitempty"`       // note: how many messages it stands for
	TakenBack   bool          `json:"takenBack,omitempty"`   // note: it holds no more
	Request     int64         `json:"request,omitempty"`     // assistant: the record of what it answers
	Asked       string        `json:"asked,omitempty"`       // assistant: the model's name as it was asked by
	Thought     float64       `json:"thought,omitempty"`     // assistant: seconds that the reasoning took
	// Extra is of an assistant: what the endpoint added to the answer and may want back; see llm.Answer.
	Extra json.RawMessage `json:"extra,omitempty"`
}

// readCalls returns the calls of a stored message. What cannot be read counts as
// none, so that one bad row never makes a conversation unusable: of a list that is
// broken in one place, the other calls are read.
func readCalls(m storage.Message) []storedCall {
	if len(m.Calls) == 0 {
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(m.Calls, &list) != nil {
		return nil
	}
	calls := make([]storedCall, 0, len(list))
	for _, raw := range list {
		if c, ok := readCall(raw); ok {
			calls = append(calls, c)
		}
	}
	return calls
}

// readCall reads a call as it is kept here, or in the form of the chat completions format;
// false of what names no tool.
func readCall(raw json.RawMessage) (storedCall, bool) {
	var c storedCall
	if json.Unmarshal(raw, &c) == nil && c.Name != "" {
		return c, true
	}
	type function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	var foreign struct {
		ID       string `json:"id"`
		Function function
		function
	}
	if json.Unmarshal(raw, &foreign) != nil {
		return storedCall{}, false
	}
	f := foreign.Function
	if f.Name == "" {
		f = foreign.function
	}
	c = storedCall{ID: foreign.ID, Name: f.Name}
	var text string
	var compact bytes.Buffer
	switch {
	case json.Unmarshal(f.Arguments, &text) == nil:
		c.Arguments = text
	case json.Compact(&compact, f.Arguments) == nil:
		c.Arguments = compact.String()
	}
	return c, c.Name != ""
}

func readMeta(m storage.Message) storedMeta {
	var meta storedMeta
	if len(m.Meta) > 0 && json.Unmarshal(m.Meta, &meta) != nil {
		return storedMeta{}
	}
	return meta
}

func encode(v any) (json.RawMessage, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("a message could not be prepared for storing: %w", err)
	}
	return raw, nil
}
