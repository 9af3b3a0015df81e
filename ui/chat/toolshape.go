package chat

import (
	"strings"

	"steward/app"
	"steward/app/event"
	"steward/ui/code"
)

// atOnce is the size of a result, in bytes, up to which it is set out where it is shown; a larger one in the background.
const atOnce = 64 << 10

// shape is a result and its messages on the wire, set out to be read. Setting out 64 MB of JSON takes seconds, so it is
// done once, and away from Fyne's goroutine where it is large.
type shape struct {
	parts      []shapedPart
	structured string   // "" where there is none
	frames     []string // as the result's, in their order
}

// shapedPart is one part of a result: a text, or something else.
type shapedPart struct {
	lang, text string
	other      event.Content // where text is empty
}

func sizeOf(content []event.Content, structured []byte) int {
	n := len(structured)
	for _, c := range content {
		n += len(c.Text)
	}
	return n
}

// shapeOf sets a result out. It is pure and may be called from any goroutine.
func shapeOf(content []event.Content, structured []byte, frames []app.Frame) *shape {
	s := &shape{}
	if len(structured) > 0 && string(structured) != "null" {
		s.structured = code.Pretty(string(structured))
	}
	for _, c := range content {
		p := shapedPart{text: c.Text}
		if c.Text == "" {
			p.other = c
		} else if t := strings.TrimSpace(c.Text); strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") {
			p.lang, p.text = "json", code.Pretty(c.Text)
		}
		if c.Type == "text" && s.structured != "" && p.text == s.structured {
			continue // servers repeat structured content as text for hosts that know nothing else
		}
		s.parts = append(s.parts, p)
	}
	for _, f := range frames {
		s.frames = append(s.frames, revealJSON(string(f.Bytes)))
	}
	return s
}
