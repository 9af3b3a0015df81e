package llm

import (
	"bytes"
	"slices"
)

// chunkReader checks one event strictly, in one pass, and writes of it what an
// answer needs, in the form go-openai decodes: names it knows, an index that is
// a number, arguments that are a string, one choice.
type chunkReader struct {
	b []byte
	x *exchange

	model, usage, fault, object, base []byte
	said                              said // by the delta of the choice
	whole                             said // by its message, which some servers send at the end although all of it has been said
	into                              *said
	finish                            []byte
	choiceIndex                       int
	choice                            bool // the event has a choice with index 0
	choices                           bool // it has a list of choices, perhaps an empty one

	placed int // how many calls the last list without indexes began

	// Said by deltas so far.
	gaveText, gaveReasoning, gaveCalls, gaveExtra bool

	// Halves of a character cut between two chunks.
	heldText, heldReasoning []byte
	heldArguments           map[int][]byte

	onTop, onChoice, onDelta, onCall, onFunction func([]byte, int, int) (int, error)
	onItem, onCallItem                           func(int, int) (int, error)
	call                                         *callPart
}

// maxWord bounds what an endpoint says in a word, such as a finish reason, in bytes; what is longer is none.
const maxWord = 256

// said is what one choice of an event says.
type said struct {
	text, reasoning, thinking, thought, typed part // reasoning under each of its names, and in a typed part of the content
	details                                   []byte
	calls                                     []callPart
	extra                                     []extraPart
}

// part is a text as it stands in the event: a JSON string, or several.
type part struct {
	raw  []byte
	more []byte // a JSON string made of several
}

type extraPart struct{ key, value []byte }

type callPart struct {
	index               int
	hasIndex            bool
	older               bool // in the API's older form, function_call
	id, name, arguments []byte
	extra, function     []extraPart // members of the call and of its function that are the vendor's
}

func (c *chunkReader) init() {
	c.onTop, c.onChoice, c.onDelta = c.topMember, c.choiceMember, c.deltaMember
	c.onCall, c.onFunction = c.callMember, c.functionMember
	c.onItem, c.onCallItem = c.choiceItem, c.callItem
}

// read checks the event that b begins with and appends its line to out, if it has anything. It returns where the event
// ends.
func (c *chunkReader) read(out, b []byte, x *exchange) ([]byte, int, error) {
	c.b, c.x = b, x
	c.model, c.usage, c.fault, c.object, c.base, c.finish = nil, nil, nil, nil, nil, nil
	c.said.reset()
	c.whole.reset()
	c.choice, c.choices = false, false
	end, err := eachMember(b, 0, 0, c.onTop)
	if err != nil {
		return out, end, err
	}
	x.sawChoice = x.sawChoice || c.choice
	c.settle()
	out = c.write(out)
	if event := b[:end]; present(c.fault) || string(c.object) == `"error"` {
		x.refuse(readFailure(200, faultBody(event, c.fault)), event)
	} else if number(member(c.base, "status_code")) != 0 || !c.choices && c.usage == nil && looksLikeError(event) {
		x.refuse(readFailure(200, event), event)
	} else if endingOf(unquote(c.finish)) == endedWrong {
		x.refuse(failure{status: 200, message: wrongEnding(unquote(c.finish))}, event)
	}
	return out, end, nil
}

func (s *said) reset() {
	*s = said{calls: s.calls[:0], extra: s.extra[:0]}
}

// settle brings what the choice says under one roof.
func (c *chunkReader) settle() {
	s, w := &c.said, &c.whole
	c.gaveText = c.gaveText || s.text.raw != nil
	c.gaveReasoning = c.gaveReasoning || s.hasReasoning()
	c.gaveCalls = c.gaveCalls || len(s.calls) > 0
	if !c.gaveText {
		s.text = w.text
	}
	if !c.gaveReasoning {
		s.reasoning, s.thinking, s.thought, s.typed, s.details = w.reasoning, w.thinking, w.thought, w.typed, w.details
	}
	if !c.gaveCalls {
		s.calls, w.calls = w.calls, s.calls
	}
	s.calls = c.newer(s.calls)
	c.place(s.calls)
	c.gaveExtra = c.gaveExtra || len(s.extra) > 0
	for _, m := range s.extra {
		c.x.extra.add(m.key, m.value)
	}
	for _, m := range w.extra {
		if !c.gaveExtra || !c.x.extra.has(string(m.key)) {
			c.x.extra.add(m.key, m.value)
		}
	}
}

func (s *said) hasReasoning() bool {
	return s.reasoning.raw != nil || s.thinking.raw != nil || s.thought.raw != nil || s.typed.raw != nil || s.details != nil
}

// newer leaves out calls in the older form where there are calls in the newer one: some servers send both.
func (c *chunkReader) newer(calls []callPart) []callPart {
	older := 0
	for i := range calls {
		if calls[i].older {
			older++
		}
	}
	c.x.newerCalls = c.x.newerCalls || older < len(calls)
	if older == 0 || !c.x.newerCalls {
		return calls
	}
	kept := calls[:0]
	for _, p := range calls {
		if !p.older {
			kept = append(kept, p)
		}
	}
	return kept
}

// place gives calls that stand in one list without indexes their places as such, if they are the beginnings of different
// calls. Pieces without names belong to the calls that such a list has begun.
func (c *chunkReader) place(calls []callPart) {
	if len(calls) < 2 {
		return
	}
	named := 0
	for i := range calls {
		if calls[i].hasIndex {
			return
		}
		if len(calls[i].name) > 2 {
			named++
		}
	}
	if named == 0 && len(calls) != c.placed || named != 0 && !c.differ(calls) {
		return
	}
	c.placed = len(calls)
	for i := range calls {
		calls[i].index, calls[i].hasIndex = i, true
	}
}

// differ tells whether all of these calls name a tool that is offered, and have ids that differ, or no ids and names
// that differ.
func (c *chunkReader) differ(calls []callPart) bool {
	seen := make(map[string]bool, len(calls))
	for i := range calls {
		name, id := unquote(calls[i].name), string(calls[i].id)
		if !slices.ContainsFunc(c.x.tools, func(t Tool) bool { return t.Name == name }) || known(id) != known(string(calls[0].id)) {
			return false
		}
		if !known(id) {
			id = name
		}
		if seen[id] {
			return false
		}
		seen[id] = true
	}
	return true
}

// faultBody is what says most about an error: the event, unless the error
// stands inside a choice.
func faultBody(event, fault []byte) []byte {
	if present(fault) && member(event, "error") == nil {
		return append(append([]byte(`{"error":`), fault...), '}')
	}
	return event
}

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
	if keyIs(key, "choices") {
		c.choices = true
		if i < len(b) && b[i] == '[' {
			return eachItem(b, i, depth, c.onItem)
		} else if i < len(b) && b[i] == '{' {
			return c.choiceItem(i, depth)
		}
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
	case keyIs(key, "base_resp"):
		c.base = value
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
	before, whole, finish := c.said, c.whole, c.finish
	c.choiceIndex = 0
	end, err := eachMember(c.b, i, depth, c.onChoice)
	if c.choiceIndex != 0 || c.choice {
		c.said, c.whole, c.finish = before, whole, finish
	} else {
		c.choice = true
	}
	return end, err
}

func (c *chunkReader) choiceMember(key []byte, i, depth int) (int, error) {
	b := c.b
	if i < len(b) && b[i] == '{' {
		if keyIs(key, "delta") {
			c.into = &c.said
			return eachMember(b, i, depth, c.onDelta)
		}
		if keyIs(key, "message") {
			c.into = &c.whole
			return eachMember(b, i, depth, c.onDelta)
		}
	}
	end, err := skipValue(b, i, depth)
	if err != nil {
		return end, err
	}
	switch value := b[i:end]; {
	case keyIs(key, "index"):
		c.choiceIndex = number(value)
	case keyIs(key, "finish_reason"):
		if value[0] == '"' && len(value) > 2 && len(value) < maxWord && string(value) != `"null"` {
			c.finish = value
		}
	case keyIs(key, "text"): // of the API's older completions
		if len(value) > 2 {
			c.said.text.add(value)
		}
	case keyIs(key, "error"):
		if present(value) {
			c.fault = value
		}
	}
	return end, nil
}

func (c *chunkReader) deltaMember(key []byte, i, depth int) (int, error) {
	b, s := c.b, c.into
	if i < len(b) && (b[i] == '[' || b[i] == '{') {
		switch {
		case keyIs(key, "tool_calls") && b[i] == '[':
			return eachItem(b, i, depth, c.onCallItem)
		case keyIs(key, "tool_calls"):
			return c.callItem(i, depth)
		case keyIs(key, "function_call") && b[i] == '{':
			// The API's older form: one call, without index and id.
			s.calls = append(s.calls, callPart{hasIndex: true, older: true})
			c.call = &s.calls[len(s.calls)-1]
			return eachMember(b, i, depth, c.onFunction)
		}
	}
	end, err := skipValue(b, i, depth)
	if err != nil || i >= end {
		return end, err
	}
	value := b[i:end]
	switch {
	case keyIs(key, "content"):
		c.content(value)
	case keyIs(key, "role"):
	case keyIs(key, "refusal"):
		s.text.add(value)
	case keyIs(key, "reasoning_content"):
		s.reasoning.add(value)
	case keyIs(key, "reasoning"):
		s.thought.addFrom(value, "content", "text", "summary")
	case keyIs(key, "thinking"), keyIs(key, "reasoning_text"):
		s.thinking.addFrom(value, "content", "text", "thinking")
	default:
		if keyIs(key, "reasoning_details") && value[0] == '[' {
			s.details = detailsText(value)
		}
		if vendors(key, value, messageMembers) {
			s.extra = append(s.extra, extraPart{key, value})
		}
	}
	return end, nil
}

// add appends a JSON string; other values, and an empty one, are not text.
func (p *part) add(value []byte) {
	switch {
	case len(value) < 3 || value[0] != '"':
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

// addFrom appends a JSON string, or the one that stands in an object under the first of the names.
func (p *part) addFrom(value []byte, names ...string) {
	if value[0] != '{' {
		p.add(value)
		return
	}
	for _, name := range names {
		if v := member(value, name); len(v) > 0 && v[0] == '"' {
			p.add(v)
			return
		}
	}
}

// content takes text, given as such or as typed parts.
func (c *chunkReader) content(value []byte) {
	switch value[0] {
	case '"':
		c.into.text.add(value)
	case '{', '[':
		c.parts(value)
	}
}

// parts takes content given as a list of typed parts, or as one.
func (c *chunkReader) parts(value []byte) {
	if value[0] == '{' {
		switch kind := unquote(member(value, "type")); kind {
		case "text", "output_text", "":
			if t := member(value, "text"); len(t) > 0 {
				c.into.text.add(t)
			}
		case "thinking", "reasoning":
			for _, name := range []string{"thinking", "text", "reasoning"} {
				if t := member(value, name); len(t) > 0 && t[0] == '"' {
					c.into.typed.add(t)
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
			c.into.text.add(value[i:end])
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
				c.into.typed.add(t)
			}
		}
		return end, err
	})
}

func (c *chunkReader) callItem(i, depth int) (int, error) {
	if i >= len(c.b) || c.b[i] != '{' {
		return skipValue(c.b, i, depth)
	}
	s := c.into
	s.calls = append(s.calls, callPart{})
	c.call = &s.calls[len(s.calls)-1]
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
		if text := bytes.Trim(value, `"`); len(text) > 0 && (text[0] == '-' || text[0] >= '0' && text[0] <= '9') {
			c.call.index, c.call.hasIndex = number(text), true
		}
	case keyIs(key, "id"):
		c.call.id = value
	case keyIs(key, "name"), keyIs(key, "arguments"):
		return c.functionMember(key, i, depth) // some leave "function" out
	default:
		if vendors(key, value, callMembers) {
			c.call.extra = append(c.call.extra, extraPart{key, value})
		}
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
	default:
		if vendors(key, value, functionMembers) {
			c.call.function = append(c.call.function, extraPart{key, value})
		}
	}
	return end, nil
}
