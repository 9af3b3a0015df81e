package wire

import (
	"bytes"
	"encoding/json"
)

// minimal returns what the protocol library gets in place of a result: valid, small,
// and with nothing in it but what the library itself acts on. The caller reads the
// real result from its Pending.
func minimal(method string, result []byte) []byte {
	switch method {
	case "initialize":
		return minimalInitialize(result)
	case "server/discover":
		return minimalDiscover(result)
	case "tools/list":
		return minimalTools(result)
	case "prompts/list":
		return minimalList("prompts", nil, result)
	case "resources/list":
		return minimalList("resources", nil, result)
	case "resources/templates/list":
		return minimalList("resourceTemplates", nil, result)
	case "tools/call":
		return []byte(`{"content":[]}`)
	case "prompts/get":
		return []byte(`{"messages":[]}`)
	case "resources/read":
		return []byte(`{"contents":[]}`)
	case "completion/complete":
		return []byte(`{"completion":{"values":[]}}`)
	}
	return []byte(`{}`)
}

// minimalList keeps the cursor, so that the library can be asked for the next page.
func minimalList(name string, items [][]byte, result []byte) []byte {
	out := append([]byte(`{"`), name...)
	out = append(out, `":[`...)
	out = append(out, bytes.Join(items, []byte{','})...)
	out = append(out, ']')
	if cursor := member(result, "nextCursor"); isString(cursor) {
		out = append(append(out, `,"nextCursor":`...), cursor...)
	}
	return append(out, '}')
}

// minimalTools keeps those tools whose schema names HTTP headers: over HTTP the
// library fills these from the arguments (MCP specification 2026-07-28, x-mcp-header).
func minimalTools(result []byte) []byte {
	var items [][]byte
	elements(member(result, "tools"), func(tool []byte) {
		name, schema := member(tool, "name"), member(tool, "inputSchema")
		if isString(name) && isObject(schema) && bytes.Contains(schema, []byte(`"x-mcp-header"`)) {
			items = append(items, setMembers(nil, []Member{{"name", name}, {"inputSchema", schema}}))
		}
	})
	return minimalList("tools", items, result)
}

func minimalInitialize(result []byte) []byte {
	set := []Member{
		{"protocolVersion", textOr(member(result, "protocolVersion"), `""`)},
		{"capabilities", minimalCapabilities(member(result, "capabilities"))},
		{"serverInfo", minimalInfo(member(result, "serverInfo"))},
	}
	return setMembers(nil, set)
}

func minimalDiscover(result []byte) []byte {
	var versions [][]byte
	elements(member(result, "supportedVersions"), func(v []byte) {
		if isString(v) {
			versions = append(versions, v)
		}
	})
	list := append([]byte{'['}, bytes.Join(versions, []byte{','})...)
	meta := `{}`
	if info := member(member(result, "_meta"), "io.modelcontextprotocol/serverInfo"); isObject(info) {
		meta = `{"io.modelcontextprotocol/serverInfo":` + string(minimalInfo(info)) + `}`
	}
	return setMembers(nil, []Member{
		{"_meta", json.RawMessage(meta)},
		{"supportedVersions", append(list, ']')},
		{"capabilities", minimalCapabilities(member(result, "capabilities"))},
	})
}

func textOr(v []byte, other string) json.RawMessage {
	if isString(v) {
		return v
	}
	return json.RawMessage(other)
}

func minimalInfo(info []byte) []byte {
	return setMembers(nil, []Member{{"name", textOr(member(info, "name"), `""`)}, {"version", textOr(member(info, "version"), `""`)}})
}

// minimalCapabilities keeps what the library knows. A capability that is not an object
// but neither null nor false ("tools": true) counts as declared.
func minimalCapabilities(capabilities []byte) []byte {
	var set []Member
	for _, name := range []string{"completions", "logging", "prompts", "resources", "tools"} {
		v := member(capabilities, name)
		if falsy(v) {
			continue
		}
		var flags []Member
		for _, flag := range []string{"listChanged", "subscribe"} {
			if string(member(v, flag)) == "true" {
				flags = append(flags, Member{flag, json.RawMessage(`true`)})
			}
		}
		set = append(set, Member{name, setMembers(nil, flags)})
	}
	return setMembers(nil, set)
}

// elements calls f for each element of an array that the scanner accepted.
func elements(b []byte, f func(v []byte)) {
	if len(b) == 0 || b[0] != '[' {
		return
	}
	for i := space(b, 1); i < len(b) && b[i] != ']'; i = space(b, i) {
		end := skip(b, i)
		if end == i {
			return
		}
		f(b[i:end:end])
		if i = space(b, end); i >= len(b) || b[i] != ',' {
			return
		}
		i = space(b, i+1)
	}
}
