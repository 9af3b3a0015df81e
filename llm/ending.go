package llm

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// ending is what a finish reason means.
type ending int

const (
	endedWell  ending = iota // also a reason nobody knows
	endedCut                 // at a limit of length
	endedBy                  // by a filter
	endedEarly               // the server gave up
	endedWrong               // the answer is no answer
)

// endingOf knows the words of OpenAI's API and those that other APIs' words were handed on as.
func endingOf(reason string) ending {
	reason = strings.ReplaceAll(strings.ToLower(reason), "-", "_")
	switch reason {
	case "length", "max_tokens", "max_length", "max_output_tokens", "max_new_tokens", "token_limit", "model_length", "model_context_window_exceeded", "truncated":
		return endedCut
	case "content_filter", "content_filtered", "safety", "image_safety", "recitation", "blocklist", "prohibited_content", "spii", "sensitive", "guardrail_intervened":
		return endedBy
	case "abort", "aborted", "cancelled", "canceled", "interrupted", "timeout", "network_error", "insufficient_system_resource":
		return endedEarly
	case "error", "failed", "failure", "server_error", "internal_error":
		return endedWrong
	}
	if strings.Contains(reason, "malformed_function_call") {
		return endedWrong
	}
	return endedWell
}

// wrongEnding says what a finish reason of endedWrong means.
func wrongEnding(reason string) string {
	if strings.Contains(strings.ToLower(reason), "malformed_function_call") {
		return "the model's tool call could not be read there (" + firstLines(reason) + ")"
	}
	return "the answer ended with the reason “" + firstLines(reason) + "”, and nothing was said about it"
}

// conclude decides how the answer ended. cause is why its own context ended, err what go-openai said last.
func (a *attempt) conclude(stopped bool, cause error, x *exchange, err error) *Error {
	c := a.client
	if x.model != "" {
		a.answer.Model = x.model
	}
	if stopped {
		a.answer.State = StateStopped
		return nil
	}
	if x.err != nil {
		return c.redact(x, x.err)
	}
	var own *Error
	if errors.As(err, &own) {
		return c.redact(x, own)
	}
	ended := endingOf(a.answer.Finish)
	if ended != endedEarly && (a.answer.Finish != "" || x.done && (x.sawChoice || a.consumed)) {
		a.finish(ended)
		return nil
	}
	problem := c.missing(a, ended, cause, x, err)
	if a.begun(x, cause) || ended == endedEarly {
		a.answer.State = StateInterrupted
		problem.Retryable = false
	}
	return c.redact(x, problem)
}

// begun tells whether anything of an answer has come. Half an event is the beginning of one, unless it was given up here.
func (a *attempt) begun(x *exchange, cause error) bool {
	return a.consumed || x.sawChoice || x.cut && cause == nil
}

// missing is the error of an answer that is not complete.
func (c *Client) missing(a *attempt, ended ending, cause error, x *exchange, err error) *Error {
	switch {
	case ended == endedEarly:
		return &Error{Kind: KindServer, Message: fmt.Sprintf("%s gave the answer up before it was complete (%s). What came is kept; try again.", x.where(), firstLines(a.answer.Finish))}
	case errors.Is(cause, errSilent):
		return &Error{Kind: KindNetwork, Message: fmt.Sprintf("%s sent nothing for %s, so the answer was given up. Try again.", x.where(), span(c.options.Idle))}
	case errors.Is(cause, errNoStart):
		return &Error{Kind: KindNetwork, Message: fmt.Sprintf("%s did not begin its answer within %s. Try again, or use a faster model.", x.where(), span(c.options.FirstToken))}
	case a.begun(x, cause):
		return brokenOff(x, a.consumed)
	case x.src == nil && err != nil:
		return networkError(x.where(), err)
	case x.readErr != nil:
		e := networkError(x.where(), x.readErr)
		e.Retryable = e.Retryable && len(x.head) == 0 // what has begun is not asked for twice by itself
		return e
	case err != nil && !errors.Is(err, io.EOF):
		return networkError(x.where(), err)
	}
	return noAnswer(x)
}

// brokenOff is the error of an answer that had begun.
func brokenOff(x *exchange, kept bool) *Error {
	e := &Error{Kind: KindNetwork, cause: x.readErr}
	said := sentence(plainText([]byte(x.noise)))
	if said != "" {
		e.Body = keep([]byte(x.noise))
	}
	switch {
	case said == "" && kept:
		e.Message = fmt.Sprintf("The connection to %s ended before the answer was complete. What came is kept; try again.", x.where())
	case said == "":
		e.Message = fmt.Sprintf("The connection to %s ended before the answer was complete. Try again.", x.where())
	case kept:
		e.Message = fmt.Sprintf("The connection to %s ended before the answer was complete; the last that came was: %s What came is kept; try again.", x.where(), said)
	default:
		e.Message = fmt.Sprintf("The connection to %s ended before the answer was complete; the last that came was: %s Try again.", x.where(), said)
	}
	return e
}

// noAnswer says what came instead of an answer.
func noAnswer(x *exchange) *Error {
	e := &Error{Kind: KindProtocol, Status: 200, Body: keep(x.head)}
	head := strings.TrimSpace(string(x.head))
	instead := "%s answered 200 OK, but instead of an answer it sent: %s Check the base URL (most end in /v1) and the model's name."
	switch {
	case x.packing != "" && !utf8.Valid(x.head):
		e.Message = fmt.Sprintf("%s answered 200 OK, but packed in a way that was not asked for and cannot be read here (%s). Have the gateway in front of it send answers as they are.", x.where(), firstLines(x.packing))
	case x.noise != "":
		e.Message = fmt.Sprintf(instead, x.where(), sentence(plainText([]byte(x.noise))))
	case x.events > 0:
		e.Message = fmt.Sprintf("%s answered 200 OK, but with events that hold no answer. Check the base URL (most end in /v1) and the model's name.", x.where())
	case x.done:
		e.Message = fmt.Sprintf("%s answered 200 OK, but the answer ended before it began. Try again, or use another model.", x.where())
	case head == "":
		e.Message = fmt.Sprintf("%s answered 200 OK with an empty body. Check the base URL (most end in /v1) and the model's name.", x.where())
	case head[0] == ':':
		e.Message = fmt.Sprintf("%s answered 200 OK, but after signs of life the connection ended without an answer. Try again.", x.where())
	case !utf8.Valid(x.head):
		e.Message = fmt.Sprintf("%s answered 200 OK, but instead of an answer it sent data that is no text. Check the base URL (most end in /v1) and the model's name.", x.where())
	default:
		e.Message = fmt.Sprintf(instead, x.where(), sentence(readFailure(200, x.head).message))
	}
	return e
}

// finish checks the calls of a complete answer and says what is odd about it.
func (a *attempt) finish(ended ending) {
	a.answer.State = StateFinished
	a.answer.Calls = a.calls.finish(ended == endedCut || ended == endedBy)
	warn := func(kind, message string) { a.on(Warning{kind, message}) }
	if a.calls.dropped > 0 {
		warn("call_dropped", fmt.Sprintf("%d tool calls of the answer were dropped: they had no name, or there were more than %d.", a.calls.dropped, maxCalls))
	}
	if a.request.ToolChoice == "none" && len(a.answer.Calls) > 0 {
		warn("call_dropped", fmt.Sprintf("The model made %d tool calls where none were allowed; they were dropped.", len(a.answer.Calls)))
		a.answer.Calls = nil
	}
	if a.extraDropped || a.calls.tooMuch {
		warn("extra_dropped", fmt.Sprintf("What the provider added to the answer beside text and tool calls is longer than %d MB; it was dropped.", maxExtra>>20))
	}
	if len(a.calls.twice) > 0 && len(a.answer.Calls) > 0 {
		warn("repeated_name", fmt.Sprintf("A name stands in one object twice, and servers differ in which value they take: %s.", strings.Join(a.calls.twice, "; ")))
	}
	if a.replaced && len(a.answer.Calls) > 0 {
		warn("replacement_character", "The model server put replacement characters (U+FFFD) into the arguments of a tool call: part of a text, perhaps of a file name, was lost.")
	}
	switch ended {
	case endedCut:
		warn("cut", "The answer reached its length limit and is cut.")
	case endedBy:
		warn("content_filter", "The provider's content filter ended the answer.")
	}
	if len(a.answer.Calls) == 0 && strings.TrimSpace(a.answer.Text) == "" {
		warn("empty_answer", "The model's answer is empty.")
	}
	if a.usage != nil {
		a.on(UsageEvent(*a.usage))
	}
}
