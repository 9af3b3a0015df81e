package app

import (
	"encoding/json"
	"fmt"
	"strings"

	"steward/app/chat"
	"steward/app/journal"
)

// ModelRecord is what the record of a request to a model says. What it does not say is
// empty; counts of tokens are 0 where the endpoint reported none. Prompt and Answer are safe to
// show, the other texts are not.
type ModelRecord struct {
	Purpose                          string // turn, title, compaction, sampling or test
	Endpoint                         string
	Why                              string // why this model was asked, where somebody had chosen it
	Prompt                           string // what the person asked, where it was the first request after that
	Answer                           string
	Model                            string // as the endpoint reports it
	Finish                           string
	Calls                            int
	Input, Cached, Output, Reasoning int
	AnswerMessage, PromptMessage     string
}

// ReadModelRecord reads it; of a record of another kind all is empty.
func ReadModelRecord(d journal.Detail) ModelRecord {
	var out ModelRecord
	if d.Kind != journal.KindModel {
		return out
	}
	out.Purpose, out.Endpoint, out.Why = chat.ReadRequest(d.Arguments)
	var first struct {
		Detail struct {
			Prompt, Answer string
			PromptMessage  string `json:"prompt_message"`
			AnswerMessage  string `json:"answer_message"`
			Input          int    `json:"input_tokens"`
			Output         int    `json:"output_tokens"`
			For            string `json:"for"`
		}
	}
	if len(d.Events) > 0 && json.Unmarshal(d.Events[0].Data, &first) == nil { // else the details show it as it is
		f := first.Detail
		out.Prompt, out.PromptMessage = f.Prompt, f.PromptMessage
		out.Answer, out.AnswerMessage, out.Input, out.Output = f.Answer, f.AnswerMessage, f.Input, f.Output // in one event, as records were first written
		if out.Purpose == "" {
			out.Purpose = f.For
		}
	}
	var result struct {
		Model, Finish, Answer string
		Calls                 int
		AnswerMessage         string `json:"answer_message"`
		Input                 int    `json:"input_tokens"`
		Cached                int    `json:"cached_tokens"`
		Output                int    `json:"output_tokens"`
		Reasoning             int    `json:"reasoning_tokens"`
	}
	if len(d.Result) > 0 && json.Unmarshal(d.Result, &result) == nil {
		out.Model, out.Finish, out.Calls, out.Answer, out.AnswerMessage = result.Model, result.Finish, result.Calls, result.Answer, result.AnswerMessage
		out.Input, out.Cached, out.Output, out.Reasoning = result.Input, result.Cached, result.Output, result.Reasoning
	}
	return out
}

// PurposeOf says what a record of a request to a model was made for; empty for any other record.
func PurposeOf(r journal.Record) string {
	if r.Kind != journal.KindModel {
		return ""
	}
	purpose, _, _ := chat.ReadRequest(r.Arguments)
	return purpose
}

// Tokens words the counts in English, "" where none was reported.
func (r ModelRecord) Tokens() string {
	var parts []string
	add := func(n int, word string, part int, of string) {
		switch {
		case n > 0 && part > 0:
			parts = append(parts, fmt.Sprintf("%d %s (%d %s)", n, word, part, of))
		case n > 0:
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}
	add(r.Input, "in", r.Cached, "of them cached")
	add(r.Output, "out", r.Reasoning, "of them reasoning")
	return strings.Join(parts, ", ")
}
