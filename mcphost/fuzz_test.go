package mcphost

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"steward/mcphost/internal/wire"
)

// FuzzLists gives anything as an entry of each list, twice, before and behind a good one. The good one is always
// kept, as it is; what is kept has a name that can be shown and a schema that is an object; two readings give the
// same.
func FuzzLists(f *testing.F) {
	for _, s := range []string{
		`{"name":"a","inputSchema":{"type":"object","properties":{"x":{"type":"string","x-mcp-header":"X"}}}}`, `{"name":"good","inputSchema":{}}`,
		`{"name":"a","title":null,"description":5}`, `null`, `[]`, `"text"`, `{"name":"\u202ea\ud800"}`, `{"name":"a","name":"b"}`,
		`{"name":"a","annotations":{"readOnlyHint":true,"title":"t"},"_meta":{"ui":{"visibility":["app"]},"x":1}}`,
		`{"name":"p","arguments":[{"name":"x","required":1},{"name":"y"}]}`, `{"uri":"file:///a","name":"n","size":1e99}`, `{"uriTemplate":"x:{y}"}`,
		`{"name":"a","inputSchema":{"$ref":"#","$defs":{"a":{"$ref":"#/$defs/a"}}},"outputSchema":{"type":["object"]}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 1<<14 || !json.Valid(in) || !utf8.Valid(in) {
			return // the reader of messages lets nothing else through
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, in); err != nil {
			t.Fatal(err)
		}
		raw := json.RawMessage(compact.Bytes())
		for _, remote := range []bool{false, true} {
			tools := kept(t, raw, `{"name":"good","description":"d","inputSchema":{"type":"object"}}`, toolReader(remote), func(v Tool) string {
				if object(v.InputSchema) == nil || !strings.HasPrefix(v.Definition, "sha256:") {
					t.Fatalf("schema %s, definition %q", v.InputSchema, v.Definition)
				}
				return v.Name
			})
			for _, v := range tools {
				if why := badName(v.Name); why != "" {
					t.Fatalf("the tool %q was kept: %s", v.Name, why)
				}
			}
		}
		kept(t, raw, `{"name":"good","arguments":[{"name":"x"}]}`, readPrompt, func(v Prompt) string { return v.Name })
		kept(t, raw, `{"uri":"good","name":"n"}`, readResource, func(v Resource) string { return v.URI })
		kept(t, raw, `{"uriTemplate":"good","name":"n"}`, readTemplate, func(v Template) string { return v.URITemplate })
		// What the messages are read with gives the same as the standard library.
		var want map[string]json.RawMessage
		if json.Unmarshal(raw, &want) == nil && want != nil && !reflect.DeepEqual(wire.Fields(raw), want) {
			t.Fatalf("%s read as %s", raw, wire.Fields(raw))
		}
		blocks, _ := ReadContents(json.RawMessage(`[` + string(raw) + `,{"type":"text","text":"good"}]`))
		if len(blocks) != 2 || blocks[1].Text != "good" || blocks[1].Type != "text" {
			t.Fatalf("%+v", blocks)
		}
	})
}

// kept reads a list of the entry, a good one, and the entry again.
func kept[T any](t *testing.T, in json.RawMessage, good string, read func(json.RawMessage) entry[T], key func(T) string) []T {
	p := page{entries: []json.RawMessage{in, json.RawMessage(good), in}}
	values, problems := collect(p, "entry", read)
	again, _ := collect(p, "entry", read)
	if !reflect.DeepEqual(values, again) {
		t.Fatalf("two readings give %+v and %+v", values, again)
	}
	seen := map[string]bool{}
	for _, v := range values {
		if k := key(v); k == "" || seen[k] {
			t.Fatalf("the name %q was kept twice, or is empty", k)
		}
		seen[key(v)] = true
	}
	if !seen["good"] {
		t.Fatalf("the good entry was lost: %+v, %+v", values, problems)
	}
	if len(values)+len(problems) < len(p.entries) {
		t.Fatalf("of %d entries %d were kept, and only %d problems were told", len(p.entries), len(values), len(problems))
	}
	return values
}
