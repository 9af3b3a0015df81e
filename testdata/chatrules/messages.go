package chatrules

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// messages checks each message, and the order of all.
func (c *check) messages(list []object) {
	roles := make([]string, len(list))
	asked := -1 // the person's last message
	for i, m := range list {
		roles[i], _ = text(m["role"])
		if roles[i] == "user" && !follows(list, i) {
			asked = i
		}
	}
	open := []string{} // calls without an answer yet
	for i, m := range list {
		c.at = fmt.Sprintf("messages[%d]", i)
		if roles[i] == "tool" {
			open = c.toolMessage(m, open)
			continue
		}
		if len(open) > 0 {
			c.wrong("an assistant message with tool_calls must be followed by tool messages responding to each tool_call_id; not answered: %q", open)
			open = nil
		}
		switch roles[i] {
		case "system", "developer":
			c.system(m, roles[i], i)
		case "user":
			c.known(m, []string{"role", "content", "name"})
			c.content(m["content"], c.rules.Images != "none")
		case "assistant":
			open = c.assistant(m, i > asked)
		default:
			c.wrong("the role is %s", m["role"])
		}
	}
	c.at = ""
	if len(open) > 0 {
		c.wrong("the last calls have no answer: %q", open)
	}
	c.order(list, roles)
}

// follows tells whether a message of the person's side only carries the pictures of results.
func follows(list []object, i int) bool {
	role, _ := text(list[max(i-1, 0)]["role"])
	return i > 0 && role == "tool" && strings.Contains(string(list[i]["content"]), "Picture from the result of the tool")
}

func (c *check) system(m object, role string, i int) {
	c.known(m, []string{"role", "content", "name"})
	if role != c.rules.SystemRole {
		c.wrong("the role %s is not taken", role)
	}
	if i > 0 {
		c.wrong("a system message stands behind others")
	}
	c.content(m["content"], false)
}

func (c *check) toolMessage(m object, open []string) []string {
	names := []string{"role", "content", "tool_call_id"}
	if name, _ := text(m["name"]); c.rules.ToolNames {
		if names = append(names, "name"); !toolName.MatchString(name) {
			c.wrong("a tool message must have a name: name is required")
		}
	}
	c.known(m, names)
	c.content(m["content"], c.rules.Images == "tools")
	id, _ := text(m["tool_call_id"])
	switch at := slices.Index(open, id); {
	case at < 0:
		c.wrong("messages with role tool must be a response to a preceding message with tool_calls; tool_call_id %q is none of the open calls %q", id, open)
		return open
	case at > 0:
		c.wrong("tool_call_id %q is answered before %q", id, open[0])
		return slices.Delete(slices.Clone(open), at, at+1)
	}
	return open[1:]
}

func (c *check) assistant(m object, current bool) (open []string) {
	c.known(m, append([]string{"role", "content", "refusal", "name", "audio", "tool_calls", c.rules.ReasoningField}, c.rules.Vendor...))
	var calls []object
	raw, given := m["tool_calls"]
	if given && (json.Unmarshal(raw, &calls) != nil || len(calls) == 0) {
		c.wrong("tool_calls is an empty list or none")
	}
	if c.rules.SingleCalls && len(calls) > 1 {
		c.wrong("this model only supports single tool-calls at once")
	}
	c.assistantContent(m, given)
	_, reasoning := m[c.rules.ReasoningField]
	if _, isText := text(m[c.rules.ReasoningField]); reasoning && !isText {
		c.wrong("%s is no text", c.rules.ReasoningField)
	}
	switch {
	case reasoning && c.rules.Reasoning == "":
		c.wrong("%s is not taken", c.rules.ReasoningField)
	case !reasoning && (c.rules.Reasoning == "always" || c.rules.Reasoning == "calls" && given && current):
		c.wrong("%s must be passed back", c.rules.ReasoningField)
	}
	at := c.at
	for i, call := range calls {
		c.at = fmt.Sprintf("%s.tool_calls[%d]", at, i)
		open = append(open, c.call(call))
	}
	c.at = at
	return open
}

func (c *check) assistantContent(m object, calls bool) {
	raw, given := m["content"]
	s, isText := text(raw)
	empty := isText && strings.TrimSpace(s) == ""
	switch {
	case !calls && (!isText || empty):
		c.wrong("content must be text when there are no tool_calls")
	case !given && c.rules.NoAbsent:
		c.wrong("missing field content")
	case given && string(raw) == "null" && c.rules.NoNull:
		c.wrong("content is null")
	case given && string(raw) != "null" && !isText:
		c.wrong("content is no text")
	case empty && (c.rules.NoEmpty || s != ""):
		c.wrong("text content must be non-empty, and more than blanks")
	}
}

func (c *check) call(call object) (id string) {
	c.known(call, append([]string{"id", "type", "function"}, c.rules.Vendor...))
	id, _ = text(call["id"])
	switch {
	case !c.rules.IDs.MatchString(id):
		c.wrong("the id %q does not match %s", id, c.rules.IDs)
	case c.ids[id]:
		c.wrong("the id %q was used before", id)
	}
	c.ids[id] = true
	if s, _ := text(call["type"]); s != "function" {
		c.wrong("type is %s", call["type"])
	}
	var f object
	if json.Unmarshal(call["function"], &f) != nil {
		c.wrong("function is no object")
		return id
	}
	c.known(f, append([]string{"name", "arguments"}, c.rules.Vendor...))
	if name, _ := text(f["name"]); !toolName.MatchString(name) {
		c.wrong("the name %q does not match %s", name, toolName)
	}
	var args object
	if s, ok := text(f["arguments"]); !ok || json.Unmarshal([]byte(s), &args) != nil || args == nil {
		c.wrong("arguments are not a JSON object in a string: %s", f["arguments"])
	}
	return id
}

// content checks what may not be empty: text, or a list of parts.
func (c *check) content(raw json.RawMessage, pictures bool) {
	if s, ok := text(raw); ok {
		if strings.TrimSpace(s) == "" {
			c.wrong("content is empty")
		}
		return
	}
	var parts []object
	if json.Unmarshal(raw, &parts) != nil || len(parts) == 0 {
		c.wrong("content is absent, null, an empty list, or neither text nor a list of parts")
		return
	}
	for _, p := range parts {
		switch kind, _ := text(p["type"]); kind {
		case "text":
			c.known(p, []string{"type", "text"})
			if s, ok := text(p["text"]); !ok || strings.TrimSpace(s) == "" {
				c.wrong("a part holds no text")
			}
		case "image_url":
			c.known(p, []string{"type", "image_url"})
			c.picture(p["image_url"], pictures)
		default:
			c.wrong("a part has the type %s", p["type"])
		}
	}
}

func (c *check) picture(raw json.RawMessage, taken bool) {
	var o object
	if json.Unmarshal(raw, &o) != nil {
		c.wrong("image_url is no object")
		return
	}
	c.known(o, []string{"url", "detail"})
	url, _ := text(o["url"])
	data := embedded.FindStringSubmatch(url)
	switch {
	case !taken:
		c.wrong("pictures are not taken here")
	case data == nil && !hosted.MatchString(url):
		c.wrong("the address of a picture is neither https nor data: %.60q", url)
	case data != nil:
		if _, err := base64.StdEncoding.DecodeString(data[1]); err != nil {
			c.wrong("a picture is no base64: %v", err)
		}
	}
}

// order checks who speaks when.
func (c *check) order(list []object, roles []string) {
	last := "" // of the person and the model, calls and results not counted
	first := true
	for i, role := range roles {
		if role == "system" || role == "developer" {
			continue
		}
		c.at = fmt.Sprintf("messages[%d]", i)
		if first && role != "user" && c.rules.UserFirst {
			c.wrong("the first message must be the person's")
		}
		first = false
		if i > 0 && role == "user" && roles[i-1] == "tool" && c.rules.NoUserAfterTool {
			c.wrong("unexpected role user after role tool")
		}
		if _, calls := list[i]["tool_calls"]; role == "tool" || calls {
			if calls && last == "assistant" && c.rules.Alternating {
				c.wrong("the model speaks twice")
			}
			continue
		}
		if role == last && c.rules.Alternating {
			c.wrong("user and assistant roles should be alternating")
		}
		last = role
	}
	c.at = ""
	if roles[len(roles)-1] == "assistant" && c.rules.NotAssistantLast {
		c.wrong("the conversation must end with a message of the person or a tool")
	}
	if first && c.rules.UserFirst {
		c.wrong("there is no message of the person")
	}
}
