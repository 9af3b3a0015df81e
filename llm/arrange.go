package llm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// What stands for something that a conversation lacks and that endpoints demand.
const (
	noOutput    = "(no output)" // some endpoints refuse an empty content, some an absent one
	pictureBack = "(a picture; it follows)"
	pictureHere = "(a picture)"
	noResult    = "(no result was recorded for this call; it may or may not have run)"
	noBeginning = "[What came before is not part of this request.]"
	goOn        = "Go on."
	// Where no message of the person may stand straight behind a tool's.
	thenPictures = "(The pictures of these results follow.)"
	turnEnded    = "(No answer was given to these results.)"
)

// wireMessage is a message as it goes out.
type wireMessage struct {
	role      string
	content   []section  // in order; texts that follow each other are one
	calls     []ToolCall // of an assistant, with their ids on the wire
	callID    string     // of a tool's: the id on the wire of what it answers
	tool      string     // of a tool's: the name it was called by
	reasoning *string    // nil is not sent
	extra     json.RawMessage
}

// section is a text, or a picture where image is not nil.
type section struct {
	text  string
	image *Image
}

// arranger puts messages into an order that the endpoint takes.
type arranger struct {
	profile Profile
	ids     callIDs
	out     []wireMessage
}

// arrange gives the messages of a request to an endpoint with this profile. It is a pure
// function, and whatever the list holds the result keeps the rules of the API reference
// (https://platform.openai.com/docs/api-reference/chat/create) and the stricter ones of
// other providers: system messages are one, first; then the person speaks; each call of an
// answer is followed by exactly one tool message, in the order of the calls; the ids of
// calls are unique in the whole request; no content is empty; and the last word is not the
// model's. What that cannot be said of is left out (a result of no call, an empty answer)
// or said in words (a call without its result).
func arrange(list []Message, p Profile) []wireMessage {
	a := arranger{profile: p, ids: callIDs{short: p.IDs == IDsShort, used: map[string]bool{}, tries: map[string]int{}}}
	system, asked := systemOf(list)
	for i := 0; i < len(list); {
		end := i + 1
		switch list[i].Role {
		case RoleSystem, RoleTool: // taken already; answers to nothing
		case RoleAssistant:
			for end < len(list) && list[end].Role == RoleTool {
				end++
			}
			a.assistant(list[i], list[i+1:end], i > asked)
		default:
			text, images := p.sift(list[i].Text, list[i].Images)
			a.user(sections(text, images), turnEnded)
		}
		i = end
	}
	if len(a.out) == 0 || a.out[0].role != RoleUser {
		a.out = append([]wireMessage{{role: RoleUser, content: []section{{text: noBeginning}}}}, a.out...)
	}
	if a.out[len(a.out)-1].role == RoleAssistant {
		a.user([]section{{text: goOn}}, turnEnded)
	}
	switch {
	case system == "":
	case p.SystemRole == SystemUser:
		first := &a.out[0]
		first.content = append([]section{{text: system}}, first.content...)
	default:
		a.out = append([]wireMessage{{role: cmp.Or(p.SystemRole, RoleSystem), content: []section{{text: system}}}}, a.out...)
	}
	return a.out
}

// systemOf joins the texts of the system messages, since many endpoints take one alone, and
// finds the person's last message, -1 for none.
func systemOf(list []Message) (system string, asked int) {
	var texts []string
	asked = -1
	for i, m := range list {
		switch m.Role {
		case RoleSystem:
			if !isBlank(m.Text) {
				texts = append(texts, m.Text)
			}
		case RoleAssistant, RoleTool:
		default:
			if !isBlank(m.Text) || len(m.Images) > 0 {
				asked = i
			}
		}
	}
	return strings.Join(texts, "\n\n"), asked
}

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }

func sections(text string, images []Image) []section {
	var out []section
	if !isBlank(text) {
		out = append(out, section{text: text})
	}
	for i := range images {
		out = append(out, section{image: &images[i]})
	}
	return out
}

// user adds a message of the person's side. between is what the model said where it cannot
// stand straight behind a tool's.
func (a *arranger) user(content []section, between string) {
	if len(content) == 0 {
		return
	}
	p := a.profile
	if last := a.last(); last != nil {
		switch {
		case last.role == RoleTool && (p.NoUserAfter || p.Alternating):
			a.say(wireMessage{content: []section{{text: between}}}, p.ReasoningBack == BackAlways)
		case last.role == RoleUser && p.Alternating:
			last.content = append(last.content, content...)
			return
		}
	}
	a.out = append(a.out, wireMessage{role: RoleUser, content: content})
}

func (a *arranger) last() *wireMessage {
	if len(a.out) == 0 {
		return nil
	}
	return &a.out[len(a.out)-1]
}

// say adds a message of the model; with back it carries its reasoning, even an empty one.
func (a *arranger) say(m wireMessage, back bool) {
	m.role = RoleAssistant
	switch {
	case !back:
		m.reasoning = nil
	case m.reasoning == nil:
		m.reasoning = new(string)
	}
	last := a.last()
	if last == nil || !a.profile.Alternating || last.role != RoleAssistant || len(last.calls) > 0 {
		a.out = append(a.out, m)
		return
	}
	last.content, last.calls = append(last.content, m.content...), m.calls
	if m.reasoning != nil {
		last.reasoning = m.reasoning
	}
	if m.extra != nil {
		last.extra = m.extra
	}
}

// assistant adds an answer of the model and the results of its calls. One with neither text
// nor calls is left out: there is no form of it that every endpoint takes. current says that
// the person has said nothing since.
func (a *arranger) assistant(m Message, answers []Message, current bool) {
	p := a.profile
	var calls []ToolCall
	for _, c := range m.Calls {
		if c.Name != "" {
			calls = append(calls, c)
		}
	}
	if len(calls) == 0 && isBlank(m.Text) {
		return
	}
	results := pair(calls, answers)
	for i := range calls {
		calls[i].ID, calls[i].Name, calls[i].Extra = a.ids.next(calls[i].ID), wireName(calls[i].Name), p.vendorsOfCall(calls[i].Extra)
	}
	back := p.ReasoningBack == BackAlways || p.ReasoningBack == BackCalls && len(calls) > 0 && current
	said := wireMessage{content: sections(m.Text, nil), reasoning: &m.Reasoning, extra: p.vendors(m.Extra)}
	each := len(calls)
	if p.SingleCalls {
		each = 1
	}
	var pictures []section
	for rest := calls; ; {
		n := min(each, len(rest))
		said.calls = rest[:n]
		a.say(said, back)
		for i, c := range rest[:n] {
			pictures = append(pictures, a.result(c, results[len(calls)-len(rest)+i])...)
		}
		if rest = rest[n:]; len(rest) == 0 {
			break
		}
		said = wireMessage{}
	}
	a.user(pictures, thenPictures)
}

// pair finds the answer of each call, by the ids that the messages have: an endpoint may use
// one for several, whose answers are then taken in order.
func pair(calls []ToolCall, answers []Message) []Message {
	byID := map[string][]int{}
	for i, m := range answers {
		byID[m.CallID] = append(byID[m.CallID], i)
	}
	out := make([]Message, len(calls))
	for i, c := range calls {
		out[i].Text = noResult
		if at := byID[c.ID]; len(at) > 0 {
			out[i], byID[c.ID] = answers[at[0]], at[1:]
		}
	}
	return out
}

// result adds the tool message of a call, and returns pictures that are to follow the last
// of them.
func (a *arranger) result(c ToolCall, m Message) []section {
	text, images := a.profile.sift(m.Text, m.Images)
	out := wireMessage{role: RoleTool, callID: c.ID, tool: c.Name}
	if isBlank(text) {
		switch {
		case len(images) == 0:
			text = noOutput
		case a.profile.ToolImages:
			text = pictureHere
		default:
			text = pictureBack
		}
	}
	if a.profile.ToolImages {
		out.content = sections(text, images)
		images = nil
	} else {
		out.content = sections(text, nil)
	}
	a.out = append(a.out, out)
	if len(images) == 0 {
		return nil
	}
	return sections(fmt.Sprintf("Picture from the result of the tool %s:", cmp.Or(m.Tool, c.Name)), images)
}

// vendors picks the members of a message or a call that go back to this endpoint, nil for
// none. A switch to another endpoint so never sends it what it does not know.
func (p Profile) vendors(extra json.RawMessage) json.RawMessage {
	if len(p.VendorFields) == 0 || len(extra) == 0 || !json.Valid(extra) {
		return nil
	}
	var out []byte
	for _, name := range p.VendorFields {
		if value := member(extra, name); len(value) > 0 {
			out = addMember(out, name, value)
		}
	}
	return closed(out)
}

// vendorsOfCall picks the same of a call, and of its function.
func (p Profile) vendorsOfCall(extra json.RawMessage) json.RawMessage {
	out := []byte(p.vendors(extra))
	if out != nil {
		out = out[:len(out)-1]
	}
	if len(extra) > 0 && json.Valid(extra) {
		if function := p.vendors(member(extra, "function")); function != nil {
			out = addMember(out, "function", function)
		}
	}
	return closed(out)
}

// addMember adds a member to an object that is not closed yet; nil has none.
func addMember(out []byte, name string, value []byte) []byte {
	if out == nil {
		out = append(out, '{')
	} else {
		out = append(out, ',')
	}
	return append(append(appendQuoted(out, name), ':'), value...)
}

func closed(out []byte) json.RawMessage {
	if out == nil {
		return nil
	}
	return append(out, '}')
}
