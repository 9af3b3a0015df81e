package chat

import (
	"steward/llm"
	"steward/storage"
)

// Spent is what one request to a model took, as its endpoint reported it. It is kept with the
// answer. Figures are tokens; 0 where the endpoint did not say.
type Spent struct {
	Where     string  `json:"where"` // the endpoint: scheme, host and port
	Model     string  `json:"model"` // as it was asked for
	Input     int     `json:"input,omitempty"`
	Output    int     `json:"output,omitempty"`
	Cached    int     `json:"cached,omitempty"`    // part of Input that the endpoint had kept
	Reasoning int     `json:"reasoning,omitempty"` // part of Output
	Seconds   float64 `json:"seconds,omitempty"`   // from the request to the end of the answer
}

// Reported says whether the endpoint told what it took.
func (s Spent) Reported() bool { return s.Input > 0 || s.Output > 0 }

func spentOf(c *llm.Client, model string, u llm.Usage, seconds float64) *Spent {
	return &Spent{
		Where: c.Where(), Model: model, Input: u.Input, Output: u.Output, Cached: min(u.Cached, u.Input), Reasoning: min(u.Reasoning, u.Output),
		Seconds: seconds,
	}
}

// SpentOn gives what the request for a stored answer, or for the note of a compaction, took;
// false where nothing of it was kept.
func SpentOn(m storage.Message) (Spent, bool) {
	if s := readMeta(m).Spent; s != nil {
		return *s, true
	}
	return Spent{}, false
}

// report tells what an endpoint reported for a request.
func (e *Engine) report(c *llm.Client, model string, r llm.Request, u llm.Usage) {
	if e.o.Reported != nil && u.Input > 0 {
		e.o.Reported(c.Where(), model, r, u)
	}
}
