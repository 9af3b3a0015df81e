package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"steward/app/clean"
	"steward/app/consent"
	"steward/app/journal"
	"steward/llm"
)

// What a request to a model was made for.
const (
	ForTurn       = "turn"
	ForTitle      = "title"
	ForCompaction = "compaction"
	ForSampling   = "sampling"
	ForTest       = "test"
)

// AttemptRequest is the word of an attempt that says: a request went to the endpoint. Its
// detail says where to, and how it was answered.
const AttemptRequest = "request"

// maxNoted is how many bytes of the prompt and of the answer the record of a request
// keeps of each.
const maxNoted = 16 << 10

// Recorder makes requests to models and records each. The zero value of all but Journal
// will do.
type Recorder struct {
	Journal *journal.Journal
	Redact  func(string) string // takes secrets out of what failed
	Now     func() time.Time
	// Pieces takes out of an answer what is secret and comes in pieces; nil leaves it.
	Pieces func([]byte) []byte
}

// Asking says what is recorded of a request beside itself.
type Asking struct {
	For          string // ForTurn, …
	Conversation string // "" for none; the exchange is then not kept
	Model        string
	Parent       int64 // the record that it belongs to; 0 for none
	// Prompt is what the person asked, PromptMessage its message, where the request is the first
	// after it.
	Prompt, PromptMessage string
	AnswerMessage         string // where the answer is stored
	Why                   string // why this model was asked, where somebody chose it; "" for nobody
	// Began, where not nil, is told the record's number before anything is sent.
	Began func(record int64)
	// Known takes the secrets out of what was asked and answered; nil knows none.
	Known func(string) string
}

// Asked is an answer with its record.
type Asked struct {
	llm.Answer
	Record  int64   // 0 where it could not be recorded
	Seconds float64 // from the request to the end of the answer
}

// Ask asks a model and records it: before anything is sent, each attempt, and how it
// ended, with what went over the wire. It is [llm.Client.Stream] otherwise. Where nothing can
// be recorded nothing is sent.
func (r Recorder) Ask(ctx context.Context, client *llm.Client, a Asking, req llm.Request, on func(llm.Event)) (Asked, error) {
	if r.Now == nil {
		r.Now = time.Now
	}
	log := context.WithoutCancel(ctx)
	summary, err := r.summary(client, a, req)
	if err != nil {
		return Asked{Answer: llm.Answer{State: llm.StateFailed}}, err
	}
	entry, err := r.Journal.Propose(log, journal.Proposal{
		Kind: journal.KindModel, Parent: a.Parent, Conversation: a.Conversation, Model: a.Model, Arguments: summary, Detail: a.detail(),
	})
	if err == nil {
		_, err = entry.Intent(log, []byte(summary))
	}
	if err != nil {
		return Asked{Answer: llm.Answer{State: llm.StateFailed}}, fmt.Errorf("the request to the model could not be recorded, so it was not sent: %w", err)
	}
	asked := Asked{Record: entry.Number()}
	if a.Began != nil {
		a.Began(asked.Record)
	}
	w := watched{entry: entry, pieces: r.Pieces}
	start := r.Now()
	answer, failed := client.Stream(llm.WithWire(ctx, w.exchange), req, func(e llm.Event) {
		w.event(e)
		on(e)
	})
	asked.Answer = answer
	o := r.outcome(ctx, answer, failed)
	o.Seconds = max(r.Now().Sub(start).Seconds(), 0)
	asked.Seconds = o.Seconds
	if o.Result, err = plainJSON(a.result(answer)); err == nil {
		err = entry.Exchanged(log, o, w.frames, len(answer.Calls) == 0)
	}
	if err != nil {
		failed = errors.Join(failed, fmt.Errorf("the request to the model could not be recorded: %w", err))
	}
	return asked, failed
}

// summary is what a list of records shows of the request.
func (r Recorder) summary(client *llm.Client, a Asking, req llm.Request) (string, error) {
	raw, err := plainJSON(struct {
		For       string `json:"purpose"`
		Endpoint  string `json:"endpoint"`
		Messages  int    `json:"messages"`
		Tools     int    `json:"tools"`
		MaxTokens int    `json:"max_tokens,omitempty"`
		Why       string `json:"why,omitempty"`
	}{a.For, client.Address(), len(req.Messages), len(req.Tools), req.MaxTokens, a.Why})
	return string(raw), err
}

// plainJSON escapes nothing but what JSON asks for.
func plainJSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("a request to the model cannot be recorded: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

func (a Asking) detail() any {
	if a.PromptMessage == "" {
		return nil
	}
	return map[string]any{"prompt": a.noted(a.Prompt), "prompt_message": a.PromptMessage}
}

// result is what is recorded of the answer; counts that the endpoint did not report are
// left out.
func (a Asking) result(answer llm.Answer) any {
	out := struct {
		Model     string `json:"model,omitempty"`
		Finish    string `json:"finish,omitempty"`
		Calls     int    `json:"calls"`
		Input     int    `json:"input_tokens,omitempty"`
		Cached    int    `json:"cached_tokens,omitempty"`
		Output    int    `json:"output_tokens,omitempty"`
		Reasoning int    `json:"reasoning_tokens,omitempty"`
		Answer    string `json:"answer,omitempty"`
		Message   string `json:"answer_message,omitempty"`
	}{
		Model: answer.Model, Finish: answer.Finish, Calls: len(answer.Calls),
		Input: answer.Usage.Input, Cached: answer.Usage.Cached, Output: answer.Usage.Output, Reasoning: answer.Usage.Reasoning,
	}
	if answer.Text != "" {
		out.Answer, out.Message = a.noted(answer.Text), a.AnswerMessage
	}
	return out
}

// noted is a text as the record of a request keeps it: to be read and found there. The
// whole stands in the conversation.
func (a Asking) noted(text string) string {
	if a.Known != nil {
		text = a.Known(text) // before it is cut, which could hide half of a secret from it
	}
	if len(text) > maxNoted {
		text = strings.ToValidUTF8(text[:maxNoted], "") + " […]"
	}
	return clean.Clean(text)
}

func (r Recorder) outcome(ctx context.Context, a llm.Answer, failed error) journal.Outcome {
	o := journal.Outcome{Outcome: journal.OK, Effect: journal.EffectDone}
	switch {
	case a.State == llm.StateStopped || ctx.Err() != nil:
		o.Outcome, o.Effect, o.Reason = journal.Cancelled, journal.EffectUnknown, "stopped by the person"
		switch cause := context.Cause(ctx); {
		case errors.Is(cause, context.DeadlineExceeded):
			o.Outcome, o.Reason = journal.Timeout, "no answer in time"
		case errors.Is(cause, consent.ErrClosed):
			o.Reason = "Steward was closed"
		case errors.Is(cause, consent.ErrAbandoned):
			o.Reason = "the person went on with another message"
		}
	case a.State == llm.StateInterrupted:
		o.Outcome, o.Effect = journal.Unknown, journal.EffectUnknown
	case failed != nil:
		o.Outcome, o.Effect = journal.ProtocolError, journal.EffectUnknown
	}
	if failed != nil && o.Reason == "" {
		reason := failed.Error()
		if r.Redact != nil {
			reason = r.Redact(reason)
		}
		o.Reason = clean.Line(reason, 500)
	}
	return o
}

// watched is a request while it goes on; it belongs to the goroutine of the request.
type watched struct {
	entry  *journal.Entry
	frames []journal.Frame
	pieces func([]byte) []byte
}

// event records what made a further attempt.
func (w *watched) event(e llm.Event) {
	switch e := e.(type) {
	case llm.Retrying:
		w.entry.Attempted("retry", map[string]any{"attempt": e.Attempt, "after_seconds": e.After.Seconds(), "reason": e.Reason})
	case llm.Warning:
		if e.Kind == "adapted" {
			w.entry.Attempted("adapted", map[string]any{"reason": e.Message})
		}
	}
}

// exchange records an attempt and keeps what went over the wire.
func (w *watched) exchange(x llm.Wire) {
	detail := map[string]any{"address": x.URL, "headers": x.Header, "request_bytes": len(x.Request)}
	if x.Status != 0 {
		detail["status"], detail["answer_headers"], detail["answer_type"], detail["answer_bytes"] = x.Status, x.AnswerHeader, x.ContentType, x.Length
		detail["seconds_to_answer"] = float64(x.Came.Sub(x.Sent).Milliseconds()) / 1000
	}
	w.entry.Attempted(AttemptRequest, detail)
	w.frames = append(w.frames, journal.Frame{Time: x.Sent, Direction: "out", Bytes: x.Request, Length: int64(len(x.Request))})
	if x.Status != 0 {
		if w.pieces != nil {
			x.Answer, x.Tail = w.pieces(x.Answer), w.pieces(x.Tail)
		}
		w.frames = append(w.frames, journal.Frame{Time: x.Came, Direction: "in", Bytes: x.Answer, Tail: x.Tail, Length: x.Length})
	}
}

// requestSummary is what [Recorder.Ask] writes as a record's arguments.
type requestSummary struct {
	Purpose  string `json:"purpose"`
	Endpoint string `json:"endpoint"`
	Why      string `json:"why"`
}

// ReadRequest says what a record of a request to a model was made for, where it went, and why;
// all empty where the record does not say.
func ReadRequest(arguments string) (purpose, endpoint, why string) {
	var s requestSummary
	if json.Unmarshal([]byte(arguments), &s) != nil {
		return "", "", ""
	}
	return s.Purpose, s.Endpoint, s.Why
}

func (e *Engine) recorder() Recorder {
	return Recorder{Journal: e.o.Journal, Redact: e.o.Redact, Now: e.o.Now, Pieces: e.o.Known.Pieces}
}

// asking is what is recorded of a request of the turn whose answer is stored as message.
func (t *turn) asking(message string, v *viewer) Asking {
	a := Asking{For: ForTurn, Conversation: t.conv.ID, Model: t.model, AnswerMessage: message, Known: t.e.o.Known.Known, Began: v.began}
	if n := len(t.messages); t.rounds == 1 && n > 0 { // later requests of a turn carry results
		a.Prompt, a.PromptMessage = t.in.Text, t.messages[n-1].ID
	}
	return a
}

// sentenceOf is sentence, empty for nil.
func (t *turn) sentenceOf(err error) string {
	if err == nil {
		return ""
	}
	return t.sentence(err)
}
