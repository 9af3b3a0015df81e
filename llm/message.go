package llm

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// message writes one message.
func (w *writer) message(m wireMessage) {
	w.raw(`{"role":"` + m.role + `"`)
	if m.role == RoleTool {
		w.raw(`,"tool_call_id":`)
		w.text(m.callID)
		if w.profile.NamedTools {
			w.raw(`,"name":`)
			w.text(m.tool)
		}
	}
	switch {
	case len(m.content) > 0 || w.profile.EmptyContent == EmptyText:
		w.raw(`,"content":`)
		w.content(m.content)
	case w.profile.EmptyContent == EmptyNull:
		w.raw(`,"content":null`)
	}
	if m.reasoning != nil {
		w.raw(`,"`)
		if w.profile.ReasoningField == ReasoningPlain {
			w.raw(`reasoning":`)
		} else {
			w.raw(`reasoning_content":`)
		}
		w.text(*m.reasoning)
	}
	if len(m.calls) > 0 {
		w.raw(`,"tool_calls":[`)
		for i, c := range m.calls {
			w.comma(i)
			w.call(c)
		}
		w.raw(`]`)
	}
	w.members(m.extra, "")
	w.raw(`}`)
}

// content writes texts as a string, and a list only where there are pictures: not every
// endpoint takes lists.
func (w *writer) content(list []section) {
	var texts []string
	pictures := false
	for _, s := range list {
		if s.image != nil {
			pictures = true
			break
		}
		texts = append(texts, s.text)
	}
	if !pictures {
		w.text(strings.Join(texts, "\n\n"))
		return
	}
	w.raw(`[`)
	for i, s := range list {
		w.comma(i)
		if s.image == nil {
			w.raw(`{"type":"text","text":`)
			w.text(s.text)
			w.raw(`}`)
			continue
		}
		w.raw(`{"type":"image_url","image_url":{"url":"data:` + s.image.MIMEType + `;base64,`)
		w.b = base64.StdEncoding.AppendEncode(w.b, s.image.Data)
		w.raw(`"}}`)
	}
	w.raw(`]`)
}

func (w *writer) call(c ToolCall) {
	args, _, problem := completeObject(c.Arguments, false)
	if problem != "" {
		args = "{}" // the tool message says what was wrong
	}
	w.raw(`{"id":`)
	w.text(c.ID)
	w.raw(`,"type":"function","function":{"name":`)
	w.text(c.Name)
	w.raw(`,"arguments":`)
	w.text(args)
	w.members(member(c.Extra, "function"), "")
	w.raw(`}`)
	w.members(c.Extra, "function")
	w.raw(`}`)
}

// members writes the members of an object behind others, but for one.
func (w *writer) members(object json.RawMessage, but string) {
	if len(object) == 0 {
		return
	}
	// It was put together here, from valid JSON.
	_, _ = eachMember(object, 0, 0, func(key []byte, i, depth int) (int, error) {
		end, err := skipValue(object, i, depth)
		if err == nil && !keyIs(key, but) {
			w.raw(`,`)
			w.b = append(append(append(w.b, key...), ':'), object[i:end]...)
		}
		return end, err
	})
}

// wireName is a name the model used, in a form endpoints take: it may have
// named a tool that never was.
func wireName(name string) string {
	if safe(name) && len(name) <= maxName {
		return name
	}
	name = sanitise(name)
	return name[:min(len(name), maxName)]
}

// callIDs gives the ids of a request's calls. The same calls in the same order have the
// same ids, so that an endpoint which keeps the beginning of a conversation knows it again.
type callIDs struct {
	short bool
	used  map[string]bool
	tries map[string]int // by the id that was asked for
}

// next is an id the endpoint takes that no earlier call of the request has: the one given
// where that can be.
func (c *callIDs) next(id string) string {
	wire := id
	for !c.fits(wire) || c.used[wire] {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", id, c.tries[id]))
		c.tries[id]++
		if c.short {
			wire = fmt.Sprintf("%x", sum[:5])[:9]
		} else {
			wire = fmt.Sprintf("call_%x", sum[:12])
		}
	}
	c.used[wire] = true
	return wire
}

// fits tells whether an id is one that strict endpoints take: 1 to 40 letters, digits, _
// and -, or the 9 letters and digits of Mistral's API.
func (c *callIDs) fits(id string) bool {
	if len(id) == 0 || len(id) > 40 || c.short && len(id) != 9 {
		return false
	}
	for i := range len(id) {
		switch b := id[i]; {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9':
		case b == '_' || b == '-':
			if c.short {
				return false
			}
		default:
			return false
		}
	}
	return true
}
