package llm

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// notes begin the type of a tool call handed to go-openai, which has no other place for what its types do not know:
// letters for what is odd about the piece, and behind a space the vendor's members of it as a JSON object. An endpoint's
// own type is never handed on.
const (
	notes       = "piece:"
	noteBadText = 'b' // the bytes of the arguments are not text; decoding would mend them without a word
	noteObject  = 'o' // the arguments are an object without members, which may only keep the place of what comes
)

// write appends the event's line.
func (c *chunkReader) write(out []byte) []byte {
	start := len(out)
	out = append(out, `data: {`...)
	empty := len(out)
	if c.x.model == "" && len(c.model) > 2 && len(c.model) < maxWord && c.model[0] == '"' {
		c.x.model = unquote(c.model)
	}
	if usage := present(c.usage) && c.usage[0] == '{'; usage {
		out = c.writeUsage(out)
	}
	calls := c.said.calls
	text := joinHalves(&c.heldText, c.said.text.raw)
	reasoning := joinHalves(&c.heldReasoning, c.reasoning())
	if text != nil || reasoning != nil || len(calls) > 0 || c.finish != nil {
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
		if len(calls) > 0 {
			out = append(separate(out, begin), `"tool_calls":[`...)
			for i := range calls {
				if i > 0 {
					out = append(out, ',')
				}
				out = c.writeCall(out, &calls[i])
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

// reasoning is the event's reasoning, once where it stands under several names.
func (c *chunkReader) reasoning() []byte {
	s := &c.said
	for _, r := range [...]struct {
		raw []byte
		key string
	}{{s.reasoning.raw, "reasoning_content"}, {s.thought.raw, "reasoning"}, {s.thinking.raw, "thinking"}, {s.typed.raw, ""}, {s.details, "reasoning_details"}} {
		if r.raw != nil {
			if c.x.reasoningKey == "" {
				c.x.reasoningKey = r.key
			}
			return r.raw
		}
	}
	return nil
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
	args, said := c.arguments(p)
	if extra := vendorMembers(p); extra != nil || said != "" {
		out = append(separate(out, begin), `"type":`...)
		out = appendQuoted(out, notes+said+" "+string(extra))
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

// arguments is the piece of the arguments as a JSON string, and what is odd about it.
func (c *chunkReader) arguments(p *callPart) (args []byte, said string) {
	args = p.arguments
	if len(args) > 0 && args[0] != '"' {
		switch {
		case string(args) == "null":
			return nil, ""
		case args[0] == '{' && args[skipSpace(args, 1)] == '}':
			return nil, string(noteObject)
		}
		args = appendQuoted(nil, string(args))
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
		said = string(noteBadText)
	}
	return args, said
}

// vendorMembers is an object of the members of a call that are the vendor's, nil if there are none.
func vendorMembers(p *callPart) []byte {
	if len(p.extra) == 0 && len(p.function) == 0 {
		return nil
	}
	var all, function extras
	for _, m := range p.extra {
		all.add(m.key, m.value)
	}
	for _, m := range p.function {
		function.add(m.key, m.value)
	}
	if f := function.object(); f != nil {
		all.add([]byte(`"function"`), f)
	}
	return all.object()
}

// readNotes takes apart what writeCall noted.
func readNotes(kind string, d *callDelta) {
	said, ok := strings.CutPrefix(kind, notes)
	if !ok {
		return
	}
	letters, extra, _ := strings.Cut(said, " ")
	d.badText = strings.IndexByte(letters, noteBadText) >= 0
	d.object = strings.IndexByte(letters, noteObject) >= 0
	d.extra = extra
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
