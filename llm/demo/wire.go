package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"steward/llm/tokens"
)

// request is the part of a chat completions request the demo model reads.
type request struct {
	Model               string    `json:"model"`
	Messages            []message `json:"messages"`
	Tools               []tool    `json:"tools"`
	ToolChoice          any       `json:"tool_choice"`
	Stream              bool      `json:"stream"`
	MaxTokens           int       `json:"max_tokens"`
	MaxCompletionTokens int       `json:"max_completion_tokens"`
}

type message struct {
	Role       string  `json:"role"`
	Content    content `json:"content"`
	ToolCallID string  `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// content is a text, or the text parts of a list.
type content string

// UnmarshalJSON accepts a string, null, or a list of parts.
func (c *content) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*c = content(text)
		return nil
	}
	var parts []struct{ Text string }
	if err := json.Unmarshal(b, &parts); err != nil {
		return fmt.Errorf("content is neither a text nor a list of parts: %w", err)
	}
	var all []string
	for _, p := range parts {
		if p.Text != "" {
			all = append(all, p.Text)
		}
	}
	*c = content(strings.Join(all, "\n"))
	return nil
}

type tool struct {
	Function struct {
		Name       string `json:"name"`
		Parameters struct {
			Properties map[string]property `json:"properties"`
			Required   []string            `json:"required"`
		} `json:"parameters"`
	} `json:"function"`
}

type property struct {
	Type any   `json:"type"`
	Enum []any `json:"enum"`
}

// reply is what the model answers: text, or a call.
type reply struct {
	text   string
	tool   string // name as offered
	args   string // JSON
	finish string
}

func say(format string, a ...any) reply {
	return reply{text: fmt.Sprintf(format, a...), finish: "stop"}
}

// limit cuts the text at about n tokens.
func (r *reply) limit(n int) {
	if n <= 0 || tokens.Rough(r.text) <= n {
		return
	}
	var b strings.Builder
	for _, c := range r.text {
		if b.WriteRune(c); tokens.Rough(b.String()) >= n {
			break
		}
	}
	r.text, r.finish = b.String(), "length"
}

func (r reply) usage(input int) map[string]int {
	output := tokens.Rough(r.text + r.args)
	return map[string]int{"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output}
}

func (r reply) calls(indexed bool) []any {
	call := map[string]any{"id": "call_1", "type": "function", "function": map[string]any{"name": r.tool, "arguments": r.args}}
	if indexed {
		call["index"] = 0
	}
	return []any{call}
}

// object is the answer to a request that asked for no stream.
func (r reply) object(input int) any {
	m := map[string]any{"role": "assistant", "content": r.text}
	if r.tool != "" {
		m["tool_calls"] = r.calls(false)
	}
	return map[string]any{
		"id": "chatcmpl-demo", "object": "chat.completion", "created": 0, "model": modelName,
		"choices": []any{map[string]any{"index": 0, "message": m, "finish_reason": r.finish}},
		"usage":   r.usage(input),
	}
}

// stream writes the answer as server-sent events, a few words at a time, and the
// arguments of a call in two pieces.
func (r reply) stream(w http.ResponseWriter, input int) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	flusher, _ := w.(http.Flusher)
	event := func(choices []any, usage any) {
		chunk := map[string]any{"id": "chatcmpl-demo", "object": "chat.completion.chunk", "created": 0, "model": modelName, "choices": choices}
		if usage != nil {
			chunk["usage"] = usage
		}
		var b bytes.Buffer
		b.WriteString("data: ")
		send(&b, chunk)
		b.WriteByte('\n')
		_, _ = w.Write(b.Bytes()) // a client that is gone cannot be told
		if flusher != nil {
			flusher.Flush()
		}
	}
	delta := func(d map[string]any) {
		event([]any{map[string]any{"index": 0, "delta": d, "finish_reason": nil}}, nil)
	}
	delta(map[string]any{"role": "assistant", "content": ""})
	for _, piece := range pieces(r.text) {
		delta(map[string]any{"content": piece})
	}
	if r.tool != "" {
		half := len(r.args) / 2
		for half > 0 && r.args[half]&0xC0 == 0x80 {
			half--
		}
		first := r
		first.args = r.args[:half]
		delta(map[string]any{"tool_calls": first.calls(true)})
		delta(map[string]any{"tool_calls": []any{map[string]any{"index": 0, "function": map[string]any{"arguments": r.args[half:]}}}})
	}
	event([]any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": r.finish}}, nil)
	event([]any{}, r.usage(input))
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// pieces cuts a text where a model might: after words, and every few characters
// where there are none.
func pieces(text string) []string {
	var out []string
	var b strings.Builder
	for n, c := range []rune(text) {
		b.WriteRune(c)
		if c == ' ' || c == '\n' || c >= 0x2E80 && n%4 == 3 {
			out = append(out, b.String())
			b.Reset()
		}
	}
	if b.Len() > 0 {
		out = append(out, b.String())
	}
	return out
}
