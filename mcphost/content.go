package mcphost

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"steward/mcphost/internal/wire"
)

// maxContents bounds the blocks of one result.
const maxContents = 10_000

// ReadContents reads the content of a result: an array of blocks, or what some
// servers send instead. Nothing in it makes it fail; what is odd is said in
// notes, a sentence each.
func ReadContents(raw json.RawMessage) (blocks []Content, notes []string) {
	return readBlocks(raw, false)
}

// readBlocks is ReadContents. tools says that uses of tools and their results may
// stand among the blocks.
func readBlocks(raw json.RawMessage, tools bool) (blocks []Content, notes []string) {
	if absent(raw) {
		return nil, nil
	}
	all, ok := wire.Elements(raw)
	if !ok {
		c, _ := readBlock(raw, tools)
		return []Content{c}, []string{"The content is no list; it was read as one block."}
	}
	if n := len(all) - maxContents; n > 0 {
		notes = append(notes, fmt.Sprintf("Of %d blocks of content the last %d were left out.", len(all), n))
		all = all[:maxContents]
	}
	const most = 20
	for i, r := range all {
		c, note := readBlock(r, tools)
		blocks = append(blocks, c)
		if note != "" && len(notes) < most {
			notes = append(notes, fmt.Sprintf("Block %d: %s", i+1, note))
		}
	}
	return blocks, notes
}

// readBlock reads one block; tools as in readBlocks.
func readBlock(raw json.RawMessage, tools bool) (c Content, note string) {
	c, note = readContent(raw)
	if m, ok := fields(raw); ok && tools && (c.Type == "tool_use" || c.Type == "tool_result") {
		c.readToolBlock(m)
	}
	return c, note
}

// readContent reads one block and says what is odd about it.
func readContent(raw json.RawMessage) (c Content, note string) {
	if absent(raw) {
		return Content{Type: "text", Text: "[empty block]", Raw: raw}, "it is empty (null)."
	}
	if raw[0] == '"' {
		return Content{Type: "text", Text: wire.Text(raw), Raw: raw}, "it is plain text, not a block; it was taken as text."
	}
	m := wire.Fields(raw)
	if m == nil {
		return Content{Type: "text", Text: string(raw), Raw: raw}, "it is no block; it was taken as text."
	}
	c = Content{Type: wire.Text(m["type"]), MIMEType: wire.Text(m["mimeType"]), URI: wire.Text(m["uri"]), Name: wire.Text(m["name"]), Raw: raw}
	switch c.Type {
	case "text":
		if absent(m["text"]) {
			c.Text = string(raw) // the whole block, for there is nothing else of it
			return c, "its text is no text; it was kept as written."
		}
		if m["text"][0] != '"' {
			c.Text = string(m["text"])
			return c, "its text is no text; it was kept as written."
		}
		c.Text = wire.Text(m["text"])
		return c, ""
	case "image", "audio":
		data, err := decode(wire.Text(m["data"]))
		if err != nil || len(data) == 0 {
			c.Text = fmt.Sprintf("[%s that cannot be read: its data is not base64]", c.Type)
			return c, "its data is not base64."
		}
		c.Data = data
		return c, ""
	case "resource":
		inner := wire.Fields(m["resource"])
		if inner == nil {
			c.Text = "[resource without content]"
			return c, "it holds no resource."
		}
		return c, c.readResource(inner)
	case "resource_link":
		c.Text = wire.Text(m["description"])
		return c, ""
	case "tool_use", "tool_result":
		c.Text = string(raw)
		return c, ""
	}
	c.Text = string(raw)
	if c.Type == "" {
		if text := m["text"]; !absent(text) && text[0] == '"' {
			c.Type, c.Text = "text", wire.Text(text)
			return c, "its type is missing; it was taken as text."
		}
	}
	return c, fmt.Sprintf("its type %q is not known; it was kept as written.", short(c.Type, 60))
}

// readResource fills c from the contents of a resource.
func (c *Content) readResource(m map[string]json.RawMessage) (note string) {
	c.Type = "resource"
	c.URI, c.MIMEType = wire.Text(m["uri"]), wire.Text(m["mimeType"])
	switch {
	case !absent(m["text"]) && m["text"][0] == '"':
		c.Text = wire.Text(m["text"])
	case !absent(m["blob"]):
		data, err := decode(wire.Text(m["blob"]))
		if err != nil {
			c.Text = "[resource that cannot be read: its data is not base64]"
			return "its data is not base64."
		}
		c.Data = data
	case !absent(m["text"]):
		c.Text = string(m["text"])
		return "its text is no text; it was kept as written."
	default:
		return "the resource has neither text nor data."
	}
	return ""
}

// decode reads base64 as the protocol has it (RFC 4648, section 4), and as
// servers write it: without padding, with line breaks, in the URL alphabet, or
// as a data: URI.
func decode(s string) ([]byte, error) {
	if strings.HasPrefix(s, "data:") {
		_, after, ok := strings.Cut(s, ";base64,")
		if !ok {
			return nil, fmt.Errorf("a data: URI without base64")
		}
		s = after
	}
	if data, err := base64.StdEncoding.DecodeString(s); err == nil {
		return data, nil
	}
	s = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/", "\n", "", "\r", "", " ", "").Replace(s), "=")
	return base64.RawStdEncoding.DecodeString(s)
}
