package consent

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"steward/app/clean"
	"steward/app/event"
	"steward/mcphost"
)

// MaxImage is the largest picture that is handed on to a model, in bytes; what is larger is
// made smaller.
const MaxImage = 5 << 20

// Image is a picture from a result that a model may see.
type Image struct {
	MIMEType string
	Data     []byte
}

// content is a server's result in the forms that a screen and a model get. Both
// are made from the same cleaned text; the original stays in the journal.
type content struct {
	blocks     []event.Content
	structured json.RawMessage
	text       string // for the model
	images     []Image
}

func (g *Gate) cleanText(s string) string { return clean.Clean(g.o.Redact(s)) }

// readContent cleans a result.
func (g *Gate) readContent(blocks []mcphost.Content, structured json.RawMessage) content {
	var c content
	var parts []string
	hasText := false
	for _, b := range blocks {
		shown := event.Content{
			Type: clean.Line(b.Type, 60), Text: g.cleanText(b.Text), MIMEType: strings.ToLower(clean.Line(b.MIMEType, 100)),
			URI: clean.Reveal(g.o.Redact(b.URI)), Name: clean.Line(g.o.Redact(b.Name), 300), Data: b.Data,
		}
		c.blocks = append(c.blocks, shown)
		if img, ok := imageOf(shown); ok {
			c.images = append(c.images, img)
		}
		if part := c.forModel(shown); part != "" {
			parts = append(parts, part)
		}
		hasText = hasText || written(shown) && strings.TrimSpace(shown.Text) != ""
	}
	c.structured = g.cleanJSON(structured, true)
	if !hasText && len(c.structured) > 0 {
		parts = append(parts, c.withoutBlobs(string(c.structured)))
	}
	c.text = strings.Join(parts, "\n")
	if strings.TrimSpace(c.text) == "" {
		c.text = "(no output)"
	}
	return c
}

// written tells whether the text of a block is the server's own; with a picture
// or a sound it is a note of ours that says what was wrong with it.
func written(c event.Content) bool { return c.Type != "image" && c.Type != "audio" }

// forModel words one block for the model. Bytes never go out as text; pictures that stand in
// a text as data addresses become pictures of the result.
func (c *content) forModel(b event.Content) string {
	text := c.withoutBlobs(b.Text)
	switch b.Type {
	case "text":
		return text
	case "image", "audio":
		if len(b.Data) == 0 {
			return cmp.Or(text, fmt.Sprintf("[%s that could not be read]", b.Type))
		}
		return bracketed(b.Type, b.MIMEType, len(b.Data))
	case "resource":
		if len(b.Data) > 0 {
			return bracketed(strings.TrimSpace("resource "+b.URI), b.MIMEType, len(b.Data))
		}
		return strings.TrimSpace(fmt.Sprintf("[%s]\n%s", strings.TrimSpace("resource "+b.URI), text))
	case "resource_link":
		return strings.TrimSpace(fmt.Sprintf("[link to resource %s] %s", b.URI, b.Name))
	}
	return strings.TrimSpace(fmt.Sprintf("[%s] %s", b.Type, text))
}

// bracketed stands for bytes; a type that is not given is left out.
func bracketed(what, mimeType string, size int) string {
	if mimeType != "" {
		what += ", " + mimeType
	}
	return fmt.Sprintf("[%s, %d bytes]", what, size)
}

// imageOf decides by the bytes, not by what the server calls them.
func imageOf(c event.Content) (Image, bool) {
	if c.Type != "image" && c.Type != "resource" {
		return Image{}, false
	}
	return Picture(c.Data)
}

// maxEmbedded is how many pictures are taken from the texts of one result.
const maxEmbedded = 8

// longRun is from how many characters on a run of base64 counts as encoded bytes.
const longRun = 1024

// withoutBlobs replaces encoded bytes (data addresses, long runs of base64) by a
// short mark: as text they cost a whole context and say nothing. Pictures among them
// are kept as such.
func (c *content) withoutBlobs(s string) string {
	s = clean.Embedded(s, func(media, encoded string) string {
		c.embedded(media, encoded)
		return fmt.Sprintf("[%s, %d characters of encoded data left out]", strings.TrimSuffix("data:"+clean.Line(media, 60), ":"), len(encoded))
	})
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); {
		end := i
		for end < len(s) && base64Byte(s[end]) {
			end++
		}
		for pad := 0; pad < 2 && end < len(s) && end > i && s[end] == '='; pad++ {
			end++
		}
		if end-i >= longRun && isBase64(s[i:end]) {
			b.WriteString(s[done:i])
			fmt.Fprintf(&b, "[%d characters of encoded data left out]", end-i)
			done = end
		}
		i = max(end, i+1)
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// embedded keeps a picture that stood in a text.
func (c *content) embedded(media, encoded string) {
	if media != "" && !strings.HasPrefix(media, "image/") || len(c.images) >= maxEmbedded {
		return
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return // the mark in the text says that there was something
	}
	if img, ok := Picture(data); ok {
		c.images = append(c.images, img)
	}
}

func base64Byte(c byte) bool {
	return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '/'
}

// isBase64 tells encoded bytes from a long word: all kinds of characters occur,
// and it decodes (RFC 4648).
func isBase64(s string) bool {
	if !strings.ContainsAny(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") || !strings.ContainsAny(s, "abcdefghijklmnopqrstuvwxyz") || !strings.ContainsAny(s, "0123456789") {
		return false
	}
	_, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	return err == nil
}

// CleanSchema cleans every text inside a tool's schema, written plainly or with
// escapes. Names of members stay as they are, because a call must use them
// exactly; so do numbers and order. It returns nil for null and for what is no
// JSON. It may be called from any goroutine.
func (g *Gate) CleanSchema(raw json.RawMessage) json.RawMessage { return g.cleanJSON(raw, false) }

// cleanJSON cleans the texts of a JSON value and, with names, the names of its
// members too.
func (g *Gate) cleanJSON(raw json.RawMessage, names bool) json.RawMessage {
	if len(raw) == 0 || string(raw) == "null" || !json.Valid(raw) {
		return nil
	}
	var b bytes.Buffer
	for i := 0; i < len(raw); {
		if raw[i] != '"' {
			b.WriteByte(raw[i])
			i++
			continue
		}
		end := i + 1
		for raw[end] != '"' {
			if raw[end] == '\\' {
				end++
			}
			end++
		}
		end++
		token := raw[i:end]
		if names || !isName(raw[end:]) {
			token = g.cleanToken(token)
		}
		b.Write(token)
		i = end
	}
	return b.Bytes()
}

// isName tells whether a string token is the name of a member.
func isName(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}

// cleanToken cleans one string of JSON; what needs no cleaning stays as written.
func (g *Gate) cleanToken(token []byte) []byte {
	var s string
	if json.Unmarshal(token, &s) != nil {
		return []byte(`""`) // never: the whole was valid
	}
	cleaned := g.cleanText(s)
	if cleaned == s && utf8.Valid(token) {
		return token
	}
	out, err := encode(cleaned)
	if err != nil {
		return []byte(`""`)
	}
	return []byte(out)
}
