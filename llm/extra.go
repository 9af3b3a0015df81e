package llm

import (
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// maxExtra bounds what is taken of a vendor's members of one answer or call, in bytes as they come. What is longer is
// dropped as a whole: half a signature is worth nothing.
const maxExtra = 32 << 20

// extras puts together the members that a vendor adds to a message or a call and that come in pieces. The zero value is
// empty. Texts that are made to be read grow, objects are joined, lists are joined item by item, and of anything else
// the last counts.
type extras struct {
	root piece
	size int
	over bool
}

// piece is a JSON value that may grow.
type piece struct {
	kind    byte   // '{', '[', '"', 0 = none yet, else any other value
	raw     []byte // of a text: what stands between the quotes; of any other value: all of it
	members []extraMember
	items   []*piece
}

type extraMember struct {
	name  string // with its quotes
	value *piece
}

// add takes a member; key is a JSON string, value valid JSON. What is not text is left out.
func (e *extras) add(key, value []byte) {
	if e.size += len(key) + len(value); e.over || e.size > maxExtra {
		e.over, e.root = true, piece{}
		return
	}
	if utf8.Valid(key) && utf8.Valid(value) {
		e.root.kind = '{'
		e.root.set(string(key), value)
	}
}

// addObject takes all members of an object.
func (e *extras) addObject(object []byte) {
	_, _ = eachMember(object, 0, 0, func(key []byte, i, depth int) (int, error) { // it has been checked before
		end, err := skipValue(object, i, depth)
		if err == nil {
			e.add(key, object[i:end])
		}
		return end, err
	})
}

// has tells whether there is a member; name is with its quotes.
func (e *extras) has(name string) bool {
	return slices.ContainsFunc(e.root.members, func(m extraMember) bool { return m.name == name })
}

// object is all of it, nil if there is nothing.
func (e *extras) object() json.RawMessage {
	if len(e.root.members) == 0 {
		return nil
	}
	return e.root.append(nil)
}

// set puts a member into an object.
func (p *piece) set(name string, value []byte) {
	if name == `"thought"` && (value[0] == 't' || value[0] == 'f') {
		return // said of this piece of the message, it is not true of all of it
	}
	for i := range p.members {
		if p.members[i].name == name {
			p.members[i].value.merge(name, value)
			return
		}
	}
	v := &piece{}
	v.merge(name, value)
	p.members = append(p.members, extraMember{name, v})
}

// merge takes the next piece of a value that stands under name.
func (p *piece) merge(name string, value []byte) {
	kind := value[0]
	if p.kind != 0 && string(value) == "null" {
		return
	}
	if p.kind != kind {
		*p = piece{kind: kind}
	}
	switch kind {
	case '{':
		_, _ = eachMember(value, 0, 0, func(key []byte, i, depth int) (int, error) { // it has been checked before
			end, err := skipValue(value, i, depth)
			if err == nil {
				p.set(string(key), value[i:end])
			}
			return end, err
		})
	case '[':
		_, _ = eachItem(value, 0, 0, func(i, depth int) (int, error) { // the same
			end, err := skipValue(value, i, depth)
			if err == nil {
				p.item(name, value[i:end])
			}
			return end, err
		})
	case '"':
		inner := value[1 : len(value)-1]
		switch {
		case len(inner) == 0:
		case grows(name):
			p.raw = append(p.raw, inner...)
		default:
			p.raw = append(p.raw[:0], inner...)
		}
	default:
		p.raw = append(p.raw[:0], value...)
	}
}

// grows tells which texts come in pieces that follow each other.
func grows(name string) bool {
	switch name {
	case `"text"`, `"summary"`, `"thinking"`, `"reasoning"`, `"content"`:
		return true
	}
	return false
}

// item joins an item of a list to the one it continues, or appends it.
func (p *piece) item(name string, value []byte) {
	const far = 64 // how many items back a piece may belong to
	for i := len(p.items) - 1; i >= max(0, len(p.items)-far); i-- {
		if p.items[i].continuedBy(value, i == len(p.items)-1) {
			p.items[i].merge(name, value)
			return
		}
	}
	v := &piece{}
	v.merge(name, value)
	p.items = append(p.items, v)
}

// continuedBy tells whether value is a further piece of this item: same index, or, where there are none, the last item;
// of the same type; and nothing in it that can stand there only once.
func (p *piece) continuedBy(value []byte, last bool) bool {
	if p.kind != '{' || value[0] != '{' {
		return false
	}
	mine, its := p.text(`"index"`), string(member(value, "index"))
	if mine != its || mine == "" && (!last || !hasGrowing(value)) {
		return false
	}
	for _, name := range []string{"type", "id", "data", "signature"} {
		mine, its := p.text(`"`+name+`"`), string(member(value, name))
		if known(mine) && known(its) && mine != its {
			return false
		}
	}
	return true
}

func known(v string) bool { return v != "" && v != "null" && v != `""` }

// text is a member of an object as JSON, "" if there is none.
func (p *piece) text(name string) string {
	for _, m := range p.members {
		if m.name == name {
			return string(m.value.append(nil))
		}
	}
	return ""
}

// hasGrowing tells whether an object holds a text that comes in pieces.
func hasGrowing(object []byte) bool {
	for _, name := range []string{"text", "summary", "thinking", "reasoning", "content"} {
		if member(object, name) != nil {
			return true
		}
	}
	return false
}

// append writes the value.
func (p *piece) append(out []byte) []byte {
	switch p.kind {
	case '{':
		out = append(out, '{')
		for i, m := range p.members {
			if i > 0 {
				out = append(out, ',')
			}
			out = m.value.append(append(append(out, m.name...), ':'))
		}
		return append(out, '}')
	case '[':
		out = append(out, '[')
		for i, item := range p.items {
			if i > 0 {
				out = append(out, ',')
			}
			out = item.append(out)
		}
		return append(out, ']')
	case '"':
		return append(append(append(out, '"'), p.raw...), '"')
	}
	return append(out, p.raw...)
}

// Members of a message and of a call that belong to the chat completions format, or say the same as one that does.
var (
	messageMembers = []string{"role", "content", "refusal", "tool_calls", "function_call", "name", "audio", "annotations",
		"reasoning_content", "reasoning", "thinking", "reasoning_text"}
	callMembers     = []string{"index", "id", "type", "function", "name", "arguments"}
	functionMembers = []string{"name", "arguments", "description", "parameters"}
)

// vendors tells whether a member is not among those of the format and holds anything.
func vendors(key, value []byte, format []string) bool {
	switch string(value) {
	case "null", `""`, "[]", "{}":
		return false
	}
	return !slices.Contains(format, unquote(key))
}

// detailsText is the text in a list such as OpenRouter's reasoning_details, as a JSON string, for endpoints that tell
// their reasoning nowhere else; nil if there is none.
func detailsText(list []byte) []byte {
	var text part
	_, _ = eachItem(list, 0, 0, func(i, depth int) (int, error) { // it has been checked before
		end, err := skipValue(list, i, depth)
		if err == nil && list[i] == '{' {
			for _, name := range []string{"text", "summary"} {
				if t := member(list[i:end], name); len(t) > 0 {
					text.add(t)
				}
			}
		}
		return end, err
	})
	return text.raw
}
