package chat

import (
	"fmt"

	"steward/app/clean"
	"steward/llm"
)

// Parameters are what goes with a request beside the messages.
type Parameters struct {
	System      string   // instructions of this conversation; "" is none
	Temperature *float64 // nil leaves it to the endpoint
	MaxTokens   int      // of one answer; 0 leaves it to the endpoint
	Effort      string   // how long the model is to reason; "" leaves it to the endpoint
	// NoImages and NoTools say that the model is known to take no pictures, or no tools:
	// they are then not sent.
	NoImages, NoTools bool
}

// set puts the parameters into a request, and tells once of what the model does not take.
func (t *turn) set(req *llm.Request, p Parameters) {
	req.Temperature, req.MaxTokens, req.ReasoningEffort, req.NoImages = p.Temperature, p.MaxTokens, p.Effort, p.NoImages
	model := clean.Line(t.model, 100)
	pictures := 0
	for _, m := range req.Messages {
		pictures += len(m.Images)
	}
	if p.NoImages && pictures > 0 {
		t.once("pictures", fmt.Sprintf("The model %s takes no pictures: %d in this chat are not sent, and a note stands in the place of each. Choose a model that sees pictures to have them looked at.", model, pictures))
	}
	if p.NoTools && len(req.Tools) > 0 {
		req.Tools = nil
		t.once("no_tools", fmt.Sprintf("The model %s takes no tools, so none are offered to it. Choose another model to have tools used.", model))
	}
}

// once tells something about the model of the conversation, the first time in this run.
func (t *turn) once(kind, message string) {
	key := t.conv.ID + "\x00" + t.model + "\x00" + kind
	t.e.mu.Lock()
	told := t.e.told[key]
	t.e.told[key] = true
	t.e.mu.Unlock()
	if !told {
		t.e.notice(t.conv.ID, kind, "", message)
	}
}
