package llm

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// badTextType marks, in a tool call handed to go-openai, arguments whose bytes
// are not text: decoding would mend them without a word.
const badTextType = "function/bad-text"

// chunkReader checks one event strictly, in one pass, and writes of it what an
// answer needs, in the form go-openai decodes: names it knows, an index that is
// a number, arguments that are a string, one choice.
type chunkReader struct {
	b []byte
	x *exchange

	model, usage, fault, object []byte
	text, reasoning, thought    part
	finish                      []byte
	calls                       []callPart
	choiceIndex                 int
	choice                      bool // the event has a choice with index 0

	// Halves of a character cut between two chunks.
	heldText, heldReasoning []byte
	heldArguments           map[int][]byte

	onTop, onChoice, onDelta, onCall, onFunction func([]byte, int, int) (int, error)
	onItem, onCallItem                           func(int, int) (int, error)
	call                                         *callPart
}

// part is a text as it stands in the event: a JSON string, or several.
type part struct {
	raw  []byte
	more []byte // a JSON string made of several
}

type callPart struct {
	index               int
	hasIndex            bool
	id, name, arguments []byte
}

func (c *chunkReader) init() {
	c.onTop, c.onChoice, c.onDelta = c.topMember, c.choiceMember, c.deltaMember
	c.onCall, c.onFunction = c.callMember, c.functionMember
	c.onItem, c.onCallItem = c.choiceItem, c.callItem
}

// read checks the event b and appends its line to out, if it has anything.
func (c *chunkReader) read(out, b []byte, x *exchange) ([]byte, error) {
	c.b, c.x = b, x
	c.model, c.usage, c.fault, c.object, c.finish = nil, nil, nil, nil, nil
	c.text, c.reasoning, c.thought = part{}, part{}, part{}
	c.calls = c.calls[:0]
	c.choice = false
	end, err := eachMember(b, 0, 0, c.onTop)
	if err != nil {
		return out, err
	}
	if rest := skipSpace(b, end); rest != len(b) {
		return out, &syntaxError{rest, "there is text behind the value"}
	}
	x.sawChoice = x.sawChoice || c.choice
	out = c.write(out)
	if present(c.fault) || keyedError(c.object) || string(c.finish) == `"error"` {
		x.refuse(readFailure(200, faultBody(b, c.fault)), b)
	}
	return out, nil
}

// faultBody is what says most about an error: the event, unless the error
// stands inside a choice.
func faultBody(event, fault []byte) []byte {
	if present(fault) && member(event, "error") == nil {
		return append(append([]byte(`{"error":`), fault...), '}')
	}
	return event
}

func keyedError(object []byte) bool { return string(object) == `"error"` }

// present tells whether a value says anything: not null, false, "" or {}.
func present(v []byte) bool {
	switch string(v) {
	case "", "null", "false", `""`, "{}", "[]", "0":
		return false
	}
	return true
}

func (c *chunkReader) topMember(key []byte, i, depth int) (int, error) {
	b := c.b
	if i < len(b) && b[i] == '[' && keyIs(key, "choices") {
		return eachItem(b, i, depth, c.onItem)
	}
	end, err := skipValue(b, i, depth)
	if err != nil {
		return end, err
	}
	switch value := b[i:end]; {
	case keyIs(key, "model"):
		c.model = value
	case keyIs(key, "usage"):
		c.usage = value
	case keyIs(key, "error"):
		c.fault = value
	case keyIs(key, "object"), keyIs(key, "type"):
		if string(value) == `"error"` {
			c.object = value
		}
	}
	return end, nil
}

func (c *chunkReader) choiceItem(i, depth int) (int, error) {
	if i >= len(c.b) || c.b[i] != '{' {
		return skipValue(c.b, i, depth)
	}
	// The index may stand behind what it belongs to, so everything is put
	// back if it turns out to be another choice's.
	text, reasoning, thought, finish, calls := c.text, c.reasoning, c.thought, c.finish, len(c.calls)
	c.choiceIndex = 0
	end, err := eachMember(c.b, i, depth, c.onChoice)
	if c.choiceIndex != 0 || c.choice {
		c.text, c.reasoning, c.thought, c.finish, c.calls = text, reasoning, thought, finish, c.calls[:calls]
	} else {
		c.choice = true
	}
	return end, err
}

func (c *chunkReader) choiceMember(key []byte, i, depth int) (int, error) {
	b := c.b
	if i < len(b) && b[i] == '{' && (keyIs(key, "delta") || keyIs(key, "message")) {
		return eachMember(b, i, depth, c.onDelta)
	}
	end, err := skipValue(b, i, depth)
	if err != nil {
		return end, err
	}
	switch value := b[i:end]; {
	case keyIs(key, "index"):
		c.choiceIndex = number(value)
	case keyIs(key, "finish_reason"):
		if value[0] == '"' && len(value) > 2 {
			c.finish = value
		}
	case keyIs(key, "error"):
		if present(value) {
			c.fault = value
		}
	}
	return end, nil
}

func (c *chunkReader) deltaMember(key []byte, i, depth int) (int, error) {
	b := c.b
	if i < len(b) && (b[i] == '[' || b[i] == '{') {
		switch {
		case keyIs(key, "tool_calls") && b[i] == '[':
			return eachItem(b, i, depth, c.onCallItem)
		case keyIs(key, "tool_calls"):
			return c.callItem(i, depth)
		case keyIs(key, "function_call") && b[i] == '{':
			// The API's older form: one call, without index and id.
			c.calls = append(c.calls, callPart{hasIndex: true})
			c.call = &c.calls[len(c.calls)-1]
			return eachMember(b, i, depth, c.onFunction)
		}
	}
	end, err := skipValue(b, i, depth)
	if err != nil || i >= end {
		return end, err
	}
	value := b[i:end]
	switch {
	case len(value) < 3 || value[0] != '"' && value[0] != '[' && value[0] != '{':
	case keyIs(key, "content"):
		if value[0] == '"' {
			c.text.add(value)
		} else {
			c.parts(value)
		}
	case keyIs(key, "refusal"):
		c.text.add(value)
	case keyIs(key, "reasoning_content"):
		c.reasoning.add(value)
	case keyIs(key, "reasoning"):
		c.thought.add(value)
	}
	return end, nil
}

// add appends a JSON string; other values are not text.
func (p *part) add(value []byte) {
	switch {
	case value[0] != '"':
	case p.raw == nil:
		p.raw = value
	default:
		if p.more == nil {
			p.more = bytes.Clone(p.raw)
		}
		p.more = append(p.more[:len(p.more)-1], value[1:]...)
		p.raw = p.more
	}
}

// parts takes content given as a list of typed parts, or as one.
func (c *chunkReader) parts(value []byte) {
	if value[0] == '{' {
		switch kind := unquote(member(value, "type")); kind {
		case "text", "output_text", "":
			if t := member(value, "text"); len(t) > 0 {
				c.text.add(t)
			}
		case "thinking", "reasoning":
			for _, name := range []string{"thinking", "text", "reasoning"} {
				if t := member(value, name); len(t) > 0 && t[0] == '"' {
					c.thought.add(t)
				} else if len(t) > 0 && t[0] == '[' {
					c.thinking(t)
				}
			}
		}
		return
	}
	_, _ = eachItem(value, 0, 0, func(i, depth int) (int, error) {
		end, err := skipValue(value, i, depth)
		if err == nil && value[i] == '"' {
			c.text.add(value[i:end])
		} else if err == nil && value[i] == '{' {
			c.parts(value[i:end])
		}
		return end, err
	})
}

// thinking takes the text parts inside a thinking part.
func (c *chunkReader) thinking(list []byte) {
	_, _ = eachItem(list, 0, 0, func(i, depth int) (int, error) {
		end, err := skipValue(list, i, depth)
		if err == nil && list[i] == '{' {
			if t := member(list[i:end], "text"); len(t) > 0 {
				c.thought.add(t)
			}
		}
		return end, err
	})
}

func (c *chunkReader) callItem(i, depth int) (int, error) {
	if i >= len(c.b) || c.b[i] != '{' {
		return skipValue(c.b, i, depth)
	}
	c.calls = append(c.calls, callPart{})
	c.call = &c.calls[len(c.calls)-1]
	return eachMember(c.b, i, depth, c.onCall)
}

func (c *chunkReader) callMember(key []byte, i, depth int) (int, error) {
	b := c.b
	if i < len(b) && b[i] == '{' && keyIs(key, "function") {
		return eachMember(b, i, depth, c.onFunction)
	}
	end, err := skipValue(b, i, depth)
	if err != nil {
		return end, err
	}
	switch value := b[i:end]; {
	case keyIs(key, "index"):
		if n, nerr := strconv.Atoi(string(bytes.Trim(value, `"`))); nerr == nil {
			c.call.index, c.call.hasIndex = n, true
		}
	case keyIs(key, "id"):
		c.call.id = value
	default:
		return c.functionMember(key, i, depth) // some leave "function" out
	}
	return end, nil
}

func (c *chunkReader) functionMember(key []byte, i, depth int) (int, error) {
	end, err := skipValue(c.b, i, depth)
	if err != nil {
		return end, err
	}
	switch value := c.b[i:end]; {
	case keyIs(key, "name"):
		if value[0] == '"' {
			c.call.name = value
		}
	case keyIs(key, "arguments"):
		c.call.arguments = value
	}
	return end, nil
}

// write appends the event's line.
func (c *chunkReader) write(out []byte) []byte {
	start := len(out)
	out = append(out, `data: {`...)
	empty := len(out)
	if c.x.model == "" && len(c.model) > 2 && c.model[0] == '"' {
		c.x.model = unquote(c.model)
	}
	if usage := present(c.usage) && c.usage[0] == '{'; usage {
		out = c.writeUsage(out)
	}
	reasoning := c.reasoning.raw
	if reasoning == nil {
		reasoning = c.thought.raw
	}
	text := joinHalves(&c.heldText, c.text.raw)
	reasoning = joinHalves(&c.heldReasoning, reasoning)
	if text != nil || reasoning != nil || len(c.calls) > 0 || c.finish != nil {
		if len(out) > empty {
			out = append(out, ',')
		}
		out = append(out, `"choices":[{"delta":{`...)
		begin := len(out)
		if text != nil {
			out = append(append(out, `"content":`...), text...)
		}
		if reasoning != nil {
			out = append(append(separate(out, begin), `"reasoning_content":`...), reasoning...)
		}
		if len(c.calls) > 0 {
			out = append(separate(out, begin), `"tool_calls":[`...)
			for i := range c.calls {
				if i > 0 {
					out = append(out, ',')
				}
				out = c.writeCall(out, &c.calls[i])
			}
			out = append(out, ']')
		}
		out = append(out, '}')
		if c.finish != nil {
			out = append(append(out, `,"finish_reason":`...), c.finish...)
		}
		out = append(out, `}]`...)
	}
	if len(out) == empty {
		return out[:start]
	}
	return append(out, '}', '\n')
}

func separate(out []byte, begin int) []byte {
	if len(out) > begin {
		return append(out, ',')
	}
	return out
}

func (c *chunkReader) writeCall(out []byte, p *callPart) []byte {
	out = append(out, '{')
	begin := len(out)
	if p.hasIndex {
		out = strconv.AppendInt(append(out, `"index":`...), int64(p.index), 10)
	}
	if len(p.id) > 0 && string(p.id) != "null" {
		out = append(separate(out, begin), `"id":`...)
		if p.id[0] == '"' {
			out = append(out, p.id...)
		} else {
			out = appendQuoted(out, string(p.id))
		}
	}
	args := p.arguments
	if len(args) > 0 && args[0] != '"' {
		if string(args) == "null" {
			args = nil
		} else {
			args = appendQuoted(nil, string(args))
		}
	}
	if len(args) > 0 && p.index >= 0 && p.index < maxCalls { // which bounds what is held
		if c.heldArguments == nil {
			c.heldArguments = map[int][]byte{}
		}
		held := c.heldArguments[p.index]
		args = joinHalves(&held, args)
		if held != nil || c.heldArguments[p.index] != nil {
			c.heldArguments[p.index] = held
		}
	}
	if len(p.arguments) > 0 && !utf8.Valid(p.arguments) || loneSurrogate(args) {
		out = append(separate(out, begin), `"type":"`+badTextType+`"`...)
	}
	out = append(separate(out, begin), `"function":{`...)
	inner := len(out)
	if len(p.name) > 0 {
		out = append(append(out, `"name":`...), p.name...)
	}
	if len(args) > 0 {
		out = append(append(separate(out, inner), `"arguments":`...), args...)
	}
	return append(out, '}', '}')
}

func (c *chunkReader) writeUsage(out []byte) []byte {
	field := func(names ...string) []byte {
		for _, n := range names {
			if v := member(c.usage, n); v != nil {
				return v
			}
		}
		return nil
	}
	out = strconv.AppendInt(append(out, `"usage":{"prompt_tokens":`...), int64(number(field("prompt_tokens", "input_tokens"))), 10)
	out = strconv.AppendInt(append(out, `,"completion_tokens":`...), int64(number(field("completion_tokens", "output_tokens"))), 10)
	out = strconv.AppendInt(append(out, `,"total_tokens":`...), int64(number(field("total_tokens"))), 10)
	out = strconv.AppendInt(append(out, `,"prompt_tokens_details":{"cached_tokens":`...), int64(number(member(field("prompt_tokens_details", "input_tokens_details"), "cached_tokens"))), 10)
	out = strconv.AppendInt(append(out, `},"completion_tokens_details":{"reasoning_tokens":`...), int64(number(member(field("completion_tokens_details", "output_tokens_details"), "reasoning_tokens"))), 10)
	return append(out, `}}`...)
}

// joinHalves puts the held half of a surrogate pair before the JSON string raw
// and holds back a half at its end: servers that cut a text between UTF-16 units
// send the two halves of an emoji in two chunks.
func joinHalves(held *[]byte, raw []byte) []byte {
	if len(raw) < 2 {
		return raw
	}
	if *held != nil {
		joined := append([]byte{'"'}, *held...)
		raw = append(joined, raw[1:]...)
		*held = nil
	}
	end := len(raw) - 1 // the closing quote
	if end < 7 || surrogate(raw[end-6:end]) != 'h' {
		return raw
	}
	slashes := 0
	for i := end - 7; i > 0 && raw[i] == '\\'; i-- {
		slashes++
	}
	if slashes%2 == 1 {
		return raw // an escaped backslash, not an escape
	}
	*held = bytes.Clone(raw[end-6 : end])
	return append(bytes.Clone(raw[:end-6]), '"')
}
