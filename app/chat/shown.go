package chat

import (
	"cmp"
	"time"

	"steward/app/consent"
	"steward/storage"
)

// Called is one call of a stored answer, with what was stored of its own answer.
type Called struct {
	ID        string
	Name      string // as the model was offered it
	Server    string // empty where it named no tool that could be called
	Tool      string
	Arguments string // the exact JSON; empty where what the model wrote is none
	Problem   string // why it could not be proposed, or empty
	Raw       string // what the model wrote, where it could not be used

	Answered bool // all below is empty before
	Text     string
	Record   int64
	Outcome  string
	Effect   string
	Reason   string
	Edited   string // the arguments that the person put in place
	Images   []consent.Image
}

// Calls gives the calls of an assistant's message, each with its answer among the rows
// that stand behind it.
func Calls(m storage.Message, behind []storage.Message) []Called {
	calls := readCalls(m)
	b := builder{in: Input{Messages: append([]storage.Message{m}, behind...)}}
	answers := b.answers(0, calls)
	out := make([]Called, len(calls))
	for i, c := range calls {
		out[i] = Called{ID: c.ID, Name: c.Name, Server: c.Server, Tool: c.Tool, Arguments: c.Arguments, Problem: c.Problem, Raw: c.Raw}
		if answers[i] == nil {
			continue
		}
		meta := readMeta(*answers[i])
		o := &out[i]
		o.Answered, o.Text, o.Record, o.Outcome, o.Effect, o.Reason, o.Edited = true, answers[i].Text, meta.Record, meta.Outcome, meta.Effect, meta.Reason, meta.Edited
		for _, img := range meta.Images {
			o.Images = append(o.Images, consent.Image{MIMEType: img.MIMEType, Data: img.Data})
		}
	}
	return out
}

// ResultID is the id of the row that holds the answer to a call; edits is the call that it took the
// place of, or empty.
func ResultID(call, edits string) string { return "m_" + cmp.Or(edits, call) }

// Attachments gives what was sent along with a person's message.
func Attachments(m storage.Message) []Attachment { return readMeta(m).Attachments }

// Thought is how long the model reasoned for an answer; 0 where that is not known.
func Thought(m storage.Message) time.Duration {
	return time.Duration(readMeta(m).Thought * float64(time.Second))
}

// Request is the record of the request to the model that a message answers; 0 where that is not known.
func Request(m storage.Message) int64 {
	if m.Role != storage.RoleAssistant {
		return 0
	}
	return readMeta(m).Request
}

// AskedModel is the name by which the model was asked that gave an answer; endpoints report others.
func AskedModel(m storage.Message) string { return readMeta(m).Asked }

// Problem says why an answer broke off or failed; empty where it did not.
func Problem(m storage.Message) string { return readMeta(m).Error }
