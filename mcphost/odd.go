package mcphost

import (
	"encoding/json"
	"fmt"
	"strings"

	"steward/mcphost/schema"
)

// leaveOut takes the optional members of an entry that are not of the type the
// protocol gives them out of m, and says which: the entry is offered without
// them, as if the server had not sent them. wants is as in wrongType. What
// remains of the entry's definition is covered by its hash as received.
func leaveOut(m map[string]json.RawMessage, wants string) (note string) {
	var notes []string
	for want := range strings.FieldsSeq(wants) {
		if why := wrongType(m, want); why != "" {
			name, _, _ := strings.Cut(want, ":")
			delete(m, name)
			notes = append(notes, why+" and was left out")
		}
	}
	return strings.Join(notes, "; ")
}

// also joins what is odd about one entry.
func also(notes ...string) string {
	var out []string
	for _, n := range notes {
		if n != "" {
			out = append(out, n)
		}
	}
	return strings.Join(out, "; ")
}

// hints are the members of a tool's annotations that have a meaning here.
const hints = "title:s readOnlyHint:b destructiveHint:b idempotentHint:b openWorldHint:b"

// readableAnnotations returns annotations without the hints that cannot be
// read, the others in their order: a hint of the wrong type is none, and must
// not be shown or handed on as if it were one.
func readableAnnotations(raw json.RawMessage) (kept json.RawMessage, note string) {
	m, ok := fields(raw)
	if !ok {
		return nil, "its annotations cannot be read and were left out"
	}
	note = leaveOut(m, hints)
	if note == "" {
		return raw, ""
	}
	all, err := schema.ParseObject(raw)
	if err != nil {
		return nil, "its annotations cannot be read and were left out"
	}
	out := []byte{'{'}
	for _, member := range all {
		if _, ok := m[member.Name]; !ok {
			continue
		}
		name, err := json.Marshal(member.Name)
		if err != nil {
			continue // a string always marshals
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, name...), ':'), member.Value...)
	}
	return append(out, '}'), fmt.Sprintf("in its annotations %s", note)
}
