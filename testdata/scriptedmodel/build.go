package scriptedmodel

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"steward/testdata/chatrules"
)

// Event is one server-sent event with the given data.
func Event(data string) Part { return Part{Text: "data: " + data + "\n\n"} }

// Chunk is a streamed chunk with the given delta (JSON) and no finish reason.
func Chunk(delta string) Part {
	return Event(`{"id":"c1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}`)
}

// Text is a chunk of answer text.
func Text(s string) Part { return Chunk(`{"content":` + quote(s) + `}`) }

// Reasoning is a chunk of reasoning text.
func Reasoning(s string) Part { return Chunk(`{"reasoning_content":` + quote(s) + `}`) }

// CallDelta is a chunk with one piece of a tool call. "-" leaves a key out; so
// does an index below 0.
func CallDelta(index int, id, name, arguments string) Part {
	var b strings.Builder
	b.WriteString(`{"tool_calls":[{`)
	if index >= 0 {
		fmt.Fprintf(&b, `"index":%d,`, index)
	}
	if id != "-" {
		fmt.Fprintf(&b, `"id":%s,`, quote(id))
	}
	b.WriteString(`"type":"function","function":{`)
	sep := ""
	if name != "-" {
		fmt.Fprintf(&b, `"name":%s`, quote(name))
		sep = ","
	}
	if arguments != "-" {
		fmt.Fprintf(&b, `%s"arguments":%s`, sep, quote(arguments))
	}
	b.WriteString(`}}]}`)
	return Chunk(b.String())
}

// Finish is the chunk with a finish reason.
func Finish(reason string) Part {
	return Event(`{"id":"c1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":` + quote(reason) + `}]}`)
}

// Usage is the chunk with token counts.
func Usage(input, output int) Part {
	return Event(fmt.Sprintf(`{"id":"c1","object":"chat.completion.chunk","model":"m","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`, input, output, input+output))
}

// Done is the end marker.
func Done() Part { return Event("[DONE]") }

// Raw is text sent as it is.
func Raw(s string) Part { return Part{Text: s} }

// Reply is a step of parts that ends cleanly after the last one.
func Reply(parts ...Part) Step { return Step{Parts: parts} }

// Say is a proper text answer.
func Say(text string) Step { return Step{Say: text} }

// CallTool is a proper answer with one call; see Call.
func CallTool(tool, arguments string) Step {
	return Step{Calls: []Call{{Tool: tool, Arguments: json.RawMessage(arguments)}}}
}

// Fail is an HTTP error with the given body.
func Fail(status int, body string) Step {
	return Step{Status: status, Body: body, Header: map[string]string{"Content-Type": "application/json"}}
}

// With returns the step with a header added.
func (s Step) With(key, value string) Step {
	h := map[string]string{key: value}
	for k, v := range s.Header {
		if _, ok := h[k]; !ok {
			h[k] = v
		}
	}
	s.Header = h
	return s
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always has a JSON form
	}
	return string(b)
}

// proper builds a whole answer, as a stream or, where the request did not ask
// for one, as one JSON object.
func proper(model string, step Step, body []byte) string {
	var req struct {
		Stream bool `json:"stream"`
	}
	_ = json.Unmarshal(body, &req) // not JSON: answered as not streamed
	calls := make([]string, 0, len(step.Calls))
	for i, c := range step.Calls {
		id := c.ID
		if id == "" {
			id = fmt.Sprintf("call_%d_%d", answered(body)+1, i)
		}
		args := string(c.Arguments)
		if args == "" {
			args = "{}"
		}
		args = strings.ReplaceAll(args, "{{n}}", fmt.Sprint(answered(body)+1))
		calls = append(calls, fmt.Sprintf(`{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`,
			i, quote(id), quote(Offered(body, c.Tool)), quote(args)))
	}
	reason := "stop"
	if len(calls) > 0 {
		reason = "tool_calls"
	}
	usage := fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, len(body)/4, len(step.Say)/4+1, len(body)/4+len(step.Say)/4+1)
	if !req.Stream {
		return fmt.Sprintf(`{"id":"c1","object":"chat.completion","model":%s,"choices":[{"index":0,"message":{"role":"assistant","content":%s,"tool_calls":[%s]},"finish_reason":%s}],"usage":%s}`,
			quote(model), quote(step.Say), strings.Join(calls, ","), quote(reason), usage)
	}
	head := fmt.Sprintf(`{"id":"c1","object":"chat.completion.chunk","model":%s,"choices":`, quote(model))
	var b strings.Builder
	event := func(rest string) { b.WriteString("data: " + head + rest + "}\n\n") }
	event(`[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]`)
	for _, word := range strings.SplitAfter(step.Say, " ") {
		if word != "" {
			event(`[{"index":0,"delta":{"content":` + quote(word) + `},"finish_reason":null}]`)
		}
	}
	for _, c := range calls {
		event(`[{"index":0,"delta":{"tool_calls":[` + c + `]},"finish_reason":null}]`)
	}
	event(`[{"index":0,"delta":{},"finish_reason":` + quote(reason) + `}]`)
	event(`[],"usage":` + usage)
	b.WriteString("data: [DONE]\n\n")
	return b.String()
}

type chatBody struct {
	Messages []struct {
		Role string `json:"role"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
}

// answered counts the tool messages after the last user message.
func answered(body []byte) int {
	var c chatBody
	if json.Unmarshal(body, &c) != nil {
		return 0
	}
	n := 0
	for _, m := range c.Messages {
		switch m.Role {
		case "tool":
			n++
		case "user":
			n = 0
		}
	}
	return n
}

var hashed = regexp.MustCompile(`__h[0-9a-f]+$`)

// Offered is the full name of the tool the request offers under tool: the same
// name, or one that ends in "__" + tool, with or without a hash behind it. If
// there is none it is tool itself.
func Offered(body []byte, tool string) string {
	var c chatBody
	if json.Unmarshal(body, &c) != nil {
		return tool
	}
	for _, t := range c.Tools {
		name := t.Function.Name
		if name == tool || strings.HasSuffix(name, "__"+tool) {
			return name
		}
	}
	for _, t := range c.Tools {
		if base := hashed.ReplaceAllString(t.Function.Name, ""); base != t.Function.Name && strings.HasSuffix(base, "__"+tool) {
			return t.Function.Name
		}
	}
	return tool
}

// Problem says why a strict provider would refuse the request, or "". It asks for no more than
// what all endpoints take; see [chatrules.All].
func Problem(body []byte) string { return problem(body, chatrules.All()) }

func problem(body []byte, r chatrules.Rules) string {
	return strings.Join(chatrules.Check(body, r), "; ")
}
