package llm

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sashabaranov/go-openai"
)

// What one answer may hold, in bytes: text and reasoning together, and tool calls. What
// goes beyond is not handed out, and the answer is given up.
const (
	maxText      = 4 << 20
	maxCallBytes = 16 << 20
)

// Stream sends a request and reports what comes of it. on is called in order
// and from the calling goroutine, which Stream keeps until the end. It must not
// be nil.
//
// How the answer ended stands in Answer.State. The error is an *Error for
// StateFailed and StateInterrupted and nil for StateFinished and StateStopped;
// what had come by then is in the Answer in every case. Ending ctx stops the
// answer at once.
//
// A request that failed before anything of an answer came is sent again where
// that can help, at most a few times, each announced by Retrying.
func (c *Client) Stream(ctx context.Context, r Request, on func(Event)) (Answer, error) {
	if strings.TrimSpace(c.endpoint.Model) == "" {
		return Answer{State: StateFailed}, &Error{Kind: KindConfig, Message: "No model is chosen. Name one with --model."}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.closing, cancel)()
	failed := 0
	var l lessons
	defer c.forget(&l)
	for {
		p := c.Profile()
		a := &attempt{client: c, request: r, on: on, answer: Answer{Model: c.endpoint.Model}}
		problem := a.run(ctx, p)
		if a.consumed || a.answer.State == StateFinished {
			c.taken(&l)
		}
		if problem == nil {
			return a.answer, nil
		}
		if a.consumed {
			return a.answer, problem
		}
		if learnt := c.adapt(p, r, problem, &l); learnt != "" && c.differs(a.sent, r) {
			on(Warning{Kind: "adapted", Message: learnt})
			continue
		}
		if problem.Kind == KindManyTools && problem.Limit > 0 {
			var limit lessons // it says so itself
			c.learn("max_tools", strconv.Itoa(problem.Limit), &limit)
			c.taken(&limit)
		}
		failed++
		wait, again := backoff(problem, failed, c.random)
		if !again {
			return a.answer, problem
		}
		on(Retrying{After: wait, Attempt: failed + 1, Reason: cmp.Or(problem.reason, problem.Message)})
		if err := c.pause(ctx, wait); err != nil {
			a.answer.State = StateStopped
			return a.answer, nil
		}
	}
}

// differs tells whether a request would now be written in another way than it was sent.
func (c *Client) differs(sent []byte, r Request) bool {
	now, problem := body(c.endpoint.Model, r, c.Profile())
	return problem == nil && !bytes.Equal(sent, now)
}

// attempt is one try at an answer.
type attempt struct {
	client   *Client
	request  Request
	on       func(Event)
	answer   Answer
	sent     []byte // the body of the request
	consumed bool   // something of an answer has been handed out

	text, reasoning strings.Builder
	calls           *assembler
	split           thinkSplitter
	usage           *Usage
	replaced        bool // U+FFFD in arguments
	extraDropped    bool // the vendor's members of the message were too long
	full            bool // more text came than an answer may hold
}

// run sends the request and reads the answer.
func (a *attempt) run(ctx context.Context, p Profile) (problem *Error) {
	c := a.client
	a.answer.State = StateFailed
	raw, problem := body(c.endpoint.Model, a.request, p)
	if problem != nil {
		return problem
	}
	a.sent = raw
	x, problem := c.exchange("/chat/completions", raw, a.request.Tools)
	if problem != nil {
		return problem
	}
	x.wire = newWire(ctx, c.options.Now)
	defer x.wire.over()
	a.calls = newAssembler(a.request.Tools)
	a.split = thinkSplitter{text: a.addText, reasoning: a.addReasoning}
	defer func() {
		if v := recover(); v != nil {
			a.split.held = "" // handing it out may be what failed
			a.settle()
			a.answer.State = StateFailed
			problem = c.redact(x, inside(x.where(), v))
		}
	}()
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := newWatch(cancel, c.options.FirstToken, c.options.Idle)
	defer w.stop()
	x.alive, x.first = w.alive, w.started
	stream, err := c.openai.CreateChatCompletionStream(
		context.WithValue(inner, exchangeKey{}, x),
		openai.ChatCompletionRequest{Messages: []openai.ChatCompletionMessage{}}, // the door sends the real one
	)
	if err == nil {
		err = a.read(stream, w)
		x.drain(cancel)
		_ = stream.Close() // what was read is not changed by how the connection ends
	}
	a.settle()
	a.answer.Extra, a.extraDropped = x.extra.object(), x.extra.over
	if a.reasoning.Len() > 0 {
		a.answer.ReasoningKey = x.reasoningKey
	}
	return a.conclude(ctx.Err() != nil, context.Cause(inner), x, err)
}

// read hands out what go-openai decodes until the stream ends.
func (a *attempt) read(stream *openai.ChatCompletionStream, w *watch) error {
	for {
		chunk, err := stream.Recv()
		if err != nil {
			return err
		}
		if chunk.Usage != nil {
			a.setUsage(chunk.Usage)
		}
		for i := range chunk.Choices {
			a.choice(&chunk.Choices[i], w)
		}
		switch {
		case a.full:
			return &Error{Kind: KindProtocol, Message: fmt.Sprintf("The answer is longer than %d MB and was given up there.", maxText>>20)}
		case a.calls.size > maxCallBytes:
			return &Error{Kind: KindProtocol, Message: fmt.Sprintf("The tool calls of the answer are longer than %d MB together, so the answer was given up.", maxCallBytes>>20)}
		}
	}
}

func (a *attempt) choice(choice *openai.ChatCompletionStreamChoice, w *watch) {
	d := &choice.Delta
	if d.ReasoningContent != "" {
		a.addReasoning(d.ReasoningContent)
	}
	if d.Content != "" {
		a.split.add(d.Content)
	}
	for i := range d.ToolCalls {
		t := &d.ToolCalls[i]
		delta := callDelta{id: t.ID, name: t.Function.Name, arguments: t.Function.Arguments}
		readNotes(string(t.Type), &delta)
		if t.Index != nil {
			delta.index, delta.hasIndex = *t.Index, true
		}
		a.consumed = true
		a.replaced = a.replaced || !delta.badText && strings.Contains(delta.arguments, "\ufffd")
		a.calls.add(delta)
	}
	if choice.FinishReason != "" {
		if a.answer.Finish == "" || a.answer.Finish == "stop" {
			a.answer.Finish = string(choice.FinishReason)
		}
		w.finishing()
	}
}

// fit cuts what goes beyond the longest answer.
func (a *attempt) fit(s string) string {
	room := maxText - a.text.Len() - a.reasoning.Len()
	if len(s) <= room {
		return s
	}
	a.full = true
	for room > 0 && !utf8.RuneStart(s[room]) {
		room--
	}
	return s[:room]
}

func (a *attempt) addText(s string) {
	a.consumed = true
	if s = a.fit(s); s == "" {
		return
	}
	a.text.WriteString(s)
	a.on(TextDelta{s})
}

func (a *attempt) addReasoning(s string) {
	a.consumed = true
	if s = a.fit(s); s == "" {
		return
	}
	a.reasoning.WriteString(s)
	a.on(ReasoningDelta{s})
}

func (a *attempt) setUsage(u *openai.Usage) {
	n := Usage{Input: max(0, u.PromptTokens), Output: max(0, u.CompletionTokens), Total: max(0, u.TotalTokens)}
	n.Total = cmp.Or(n.Total, n.Input+n.Output)
	if u.PromptTokensDetails != nil {
		n.Cached = max(0, u.PromptTokensDetails.CachedTokens)
	}
	if u.CompletionTokensDetails != nil {
		n.Reasoning = max(0, u.CompletionTokensDetails.ReasoningTokens)
	}
	a.usage = &n
}

// settle puts what came into the answer.
func (a *attempt) settle() {
	a.split.end()
	a.answer.Text, a.answer.Reasoning = a.text.String(), a.reasoning.String()
	if a.usage != nil {
		a.answer.Usage = *a.usage
	}
}

func span(d time.Duration) string {
	if d < time.Minute {
		return d.Round(100 * time.Millisecond).String()
	}
	return fmt.Sprintf("%d min", int(d.Minutes()))
}
