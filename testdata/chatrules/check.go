package chatrules

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

type object = map[string]json.RawMessage

// Check gives everything that is wrong with a request's body, nothing where it is valid. It
// may be called from any goroutine.
func Check(body []byte, r Rules) []string {
	c := check{rules: r, ids: map[string]bool{}}
	if !utf8.Valid(body) {
		c.wrong("the body is not UTF-8")
	}
	if err := strictJSON(body); err != nil {
		return append(c.found, "the body is not JSON: "+err.Error())
	}
	var top object
	if json.Unmarshal(body, &top) != nil {
		return append(c.found, "the body is not a JSON object")
	}
	c.top(top)
	return c.found
}

type check struct {
	rules Rules
	found []string
	ids   map[string]bool // of calls, in the whole request
	at    string          // what is looked at
}

func (c *check) wrong(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if c.at != "" {
		text = c.at + ": " + text
	}
	c.found = append(c.found, text)
}

// members that a request may have, by the reference.
var topMembers = strings.Fields("model messages tools tool_choice parallel_tool_calls stream stream_options max_tokens max_completion_tokens " +
	"temperature top_p n stop presence_penalty frequency_penalty logit_bias logprobs top_logprobs user safety_identifier prompt_cache_key " +
	"seed response_format reasoning_effort verbosity modalities audio prediction service_tier store metadata web_search_options")

func (c *check) top(top object) {
	c.known(top, topMembers)
	for _, name := range c.rules.Refused {
		if _, ok := top[name]; ok {
			c.wrong("%s is not taken", name)
		}
	}
	if s, ok := text(top["model"]); !ok || s == "" {
		c.wrong("model is no name")
	}
	c.parameters(top)
	c.tools(top)
	var list []object
	if json.Unmarshal(top["messages"], &list) != nil || len(list) == 0 {
		c.wrong("messages is empty or no list of objects")
		return
	}
	c.messages(list)
}

func (c *check) known(o object, names []string) {
	for name := range o {
		if !slices.Contains(names, name) {
			c.wrong("unrecognized member %q", name)
		}
	}
}

func (c *check) parameters(top object) {
	stream, isBool := flag(top["stream"])
	if _, ok := top["stream"]; ok && !isBool {
		c.wrong("stream is no boolean")
	}
	if raw, ok := top["stream_options"]; ok {
		var o object
		if json.Unmarshal(raw, &o) != nil || !stream {
			c.wrong("stream_options is no object, or there is no stream")
		}
		c.known(o, []string{"include_usage", "include_obfuscation"})
	}
	_, old := top["max_tokens"]
	_, now := top["max_completion_tokens"]
	if old && now {
		c.wrong("max_tokens and max_completion_tokens are set both")
	}
	c.number(top, "max_tokens", 1, math.MaxInt32, true)
	c.number(top, "max_completion_tokens", 1, math.MaxInt32, true)
	c.number(top, "temperature", 0, 2, false)
	c.number(top, "top_p", 0, 1, false)
	if raw, ok := top["stop"]; ok {
		var list []string
		if s, one := text(raw); one {
			list = []string{s}
		} else if json.Unmarshal(raw, &list) != nil {
			c.wrong("stop is neither text nor a list of texts")
		}
		if len(list) < 1 || len(list) > 4 || slices.Contains(list, "") {
			c.wrong("stop has %d texts, or an empty one; 1 to 4 are taken", len(list))
		}
	}
	if raw, ok := top["reasoning_effort"]; ok {
		if s, _ := text(raw); !slices.Contains([]string{"none", "minimal", "low", "medium", "high", "xhigh"}, s) {
			c.wrong("reasoning_effort is %s", raw)
		}
	}
}

func (c *check) number(o object, name string, least, most float64, whole bool) {
	raw, ok := o[name]
	if !ok {
		return
	}
	var n float64
	if json.Unmarshal(raw, &n) != nil || n < least || n > most || whole && n != math.Trunc(n) {
		c.wrong("%s is %s", name, raw)
	}
}

var (
	toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	hosted   = regexp.MustCompile(`^https://[^\s/]+/`)
	embedded = regexp.MustCompile(`^data:image/(?:png|jpeg|gif|webp);base64,([A-Za-z0-9+/]+={0,2})$`)
)

func (c *check) tools(top object) {
	raw, given := top["tools"]
	if !given {
		for _, name := range []string{"tool_choice", "parallel_tool_calls"} {
			if _, ok := top[name]; ok {
				c.wrong("%s is only allowed when tools are specified", name)
			}
		}
		return
	}
	var list []object
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		c.wrong("tools is an empty list or none")
	}
	if most := c.rules.MaxTools; most > 0 && len(list) > most {
		c.wrong("there are %d tools, at most %d are taken", len(list), most)
	}
	seen := map[string]bool{}
	for i, t := range list {
		c.at = fmt.Sprintf("tools[%d]", i)
		c.tool(t, seen)
	}
	c.at = ""
	if raw, ok := top["tool_choice"]; ok {
		s, isText := text(raw)
		var o object
		if isText && !slices.Contains([]string{"none", "auto", "required", "any"}, s) || !isText && json.Unmarshal(raw, &o) != nil {
			c.wrong("tool_choice is %s", raw)
		}
	}
}

func (c *check) tool(t object, seen map[string]bool) {
	c.known(t, []string{"type", "function"})
	if s, _ := text(t["type"]); s != "function" {
		c.wrong("type is %s", t["type"])
	}
	var f object
	if json.Unmarshal(t["function"], &f) != nil {
		c.wrong("function is no object")
		return
	}
	c.known(f, []string{"name", "description", "parameters", "strict"})
	name, _ := text(f["name"])
	if !toolName.MatchString(name) || seen[name] {
		c.wrong("the name %q does not match %s, or is used twice", name, toolName)
	}
	seen[name] = true
	if raw, ok := f["description"]; ok {
		if s, ok := text(raw); !ok || c.rules.MaxDescription > 0 && utf8.RuneCountInString(s) > c.rules.MaxDescription {
			c.wrong("description is no text or too long")
		}
	}
	var p object
	if json.Unmarshal(f["parameters"], &p) != nil || string(p["type"]) != `"object"` || len(p["properties"]) == 0 || p["properties"][0] != '{' {
		c.wrong("parameters: object schema missing properties")
	}
}

func text(raw json.RawMessage) (string, bool) {
	var s *string
	if json.Unmarshal(raw, &s) != nil || s == nil {
		return "", false
	}
	return *s, true
}

func flag(raw json.RawMessage) (value, ok bool) {
	var b *bool
	if json.Unmarshal(raw, &b) != nil || b == nil {
		return false, false
	}
	return *b, true
}

// strictJSON refuses what encoding/json lets pass: a member twice in one object, and
// anything behind the value (RFC 8259; RFC 7493 section 2.3).
func strictJSON(body []byte) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := value(d); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("something stands behind the value")
	}
	return nil
}

func value(d *json.Decoder) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	switch t {
	case json.Delim('{'):
		seen := map[string]bool{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return err
			}
			name, _ := key.(string) // the decoder gives nothing else here
			if seen[name] {
				return fmt.Errorf("the member %q stands twice in one object", name)
			}
			seen[name] = true
			if err := value(d); err != nil {
				return err
			}
		}
	case json.Delim('['):
		for d.More() {
			if err := value(d); err != nil {
				return err
			}
		}
	default:
		return nil
	}
	_, err = d.Token()
	return err
}
