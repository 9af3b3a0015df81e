package chat

import (
	"steward/llm"
	"steward/llm/tokens"
)

// Weight is about how many tokens the parts of a request take: an estimate, before any factor
// of the model.
type Weight struct {
	System   int // the system prompt, with the servers' instructions
	Tools    int // the definitions of the tools that are offered
	Messages int // what was said, called and answered
	Images   int // pictures among the messages; their cost is guessed, and is part of Messages
}

// Sum is what the whole request takes.
func (w Weight) Sum() int { return w.System + w.Tools + w.Messages }

// Weigh estimates what a request takes. It counts with the vocabulary, see [tokens.Count].
func Weigh(r llm.Request) Weight { return weigh(r, tokens.Count) }

func weigh(r llm.Request, count func(string) int) (w Weight) {
	for _, m := range r.Messages {
		n := weighMessage(m, count)
		if m.Role == llm.RoleSystem {
			w.System += n
		} else {
			w.Messages += n
			w.Images += len(m.Images)
		}
	}
	for _, t := range r.Tools {
		w.Tools += tokens.PerTool + count(t.Name) + count(t.Description) + count(string(t.Schema))
	}
	return w
}

// WeighMessage estimates what one message of a request takes.
func WeighMessage(m llm.Message) int { return weighMessage(m, tokens.Count) }

func weighMessage(m llm.Message, count func(string) int) int {
	n := tokens.PerMessage + count(m.Text) + len(m.Images)*tokens.PerImage
	for _, c := range m.Calls {
		n += tokens.PerCall + count(c.Name) + count(c.Arguments)
	}
	return n
}
