package headless

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"steward/app/clean"
	"steward/app/event"
)

// contentLines renders a result's blocks in the protocol's own form.
func contentLines(blocks []event.Content) []json.RawMessage {
	out := make([]json.RawMessage, 0, len(blocks))
	for _, c := range blocks {
		var b bytes.Buffer
		if err := writeJSON(&b, contentLine(c)); err != nil {
			continue // strings and bytes always encode
		}
		out = append(out, bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	}
	return out
}

func contentLine(c event.Content) any {
	switch c.Type {
	case "image", "audio":
		if c.Data == nil {
			break
		}
		return struct {
			Type     string `json:"type"`
			Data     []byte `json:"data"`
			MIMEType string `json:"mimeType"`
		}{c.Type, c.Data, c.MIMEType}
	case "resource":
		return struct {
			Type     string      `json:"type"`
			Resource resourceDoc `json:"resource"`
		}{c.Type, resourceDoc{c.URI, c.MIMEType, c.Text, c.Data}}
	case "resource_link":
		return struct {
			Type     string `json:"type"`
			URI      string `json:"uri"`
			Name     string `json:"name"`
			MIMEType string `json:"mimeType,omitempty"`
			Text     string `json:"text,omitempty"`
		}{c.Type, c.URI, c.Name, c.MIMEType, c.Text}
	}
	return struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{c.Type, c.Text}
}

type resourceDoc struct {
	URI      string `json:"uri"`
	MIMEType string `json:"mimeType,omitempty"`
	Text     string `json:"text,omitempty"`
	Blob     []byte `json:"blob,omitempty"`
}

// resultText is a result as a person reads it on stdout. Where no block has
// text, the structured result stands for it.
func resultText(blocks []event.Content, structured json.RawMessage) string {
	var b bytes.Buffer
	for _, c := range blocks {
		line := clean.Clean(c.Text)
		switch {
		case c.Type == "resource_link":
			line = fmt.Sprintf("[link %s %s]", clean.Line(c.Name, 200), clean.Reveal(c.URI))
		case c.Data != nil:
			line = bytesLine(c)
		case c.Type == "resource" && c.URI != "" && line == "" && len(structured) == 0: // that there is nothing in it is worth knowing too
			line = fmt.Sprintf("[resource %s]", clean.Reveal(c.URI))
		case line == "":
			continue
		}
		b.WriteString(line)
		if line[len(line)-1] != '\n' {
			b.WriteByte('\n')
		}
	}
	if b.Len() == 0 && len(structured) > 0 {
		return clean.Clean(string(structured)) + "\n"
	}
	return b.String()
}

// bytesLine stands for what is no text; what is not given is left out.
func bytesLine(c event.Content) string {
	parts := []string{clean.Line(c.Type, 40)}
	for _, s := range []string{clean.Reveal(c.URI), clean.Line(c.MIMEType, 100)} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return fmt.Sprintf("[%s, %d bytes]", strings.Join(parts, " "), len(c.Data))
}
