package send

import (
	"encoding/json"
	"fmt"
	"strings"

	"steward/mcphost"
	"steward/mcphost/internal/door"
	"steward/mcphost/internal/wire"
	"steward/mcphost/schema"
)

// readResult reads the answer to tools/call from the bytes the server sent.
// Nothing in them makes it fail, except that they are no object.
func readResult(out *Result, r door.Reply) {
	out.Raw = r.Result
	out.Effect = EffectDone
	m := wire.Fields(r.Result)
	if m == nil {
		out.Outcome = ProtocolError
		out.Reason = "The server answered, but not with a result: " + short(string(r.Result)) + "."
		return
	}
	if r.Task && absent(m["content"]) && absent(m["structuredContent"]) {
		out.Outcome = ProtocolError
		out.Reason = "The task was finished, and what the server gave as its result holds neither content nor structured content: " + short(string(r.Result)) + "."
		return
	}
	out.Outcome = OK
	out.Content, out.Notes = mcphost.ReadContents(m["content"])
	out.Structured = m["structuredContent"]
	if string(out.Structured) == "null" {
		out.Structured = nil
	}
	if r.Nulled {
		out.Notes = append(out.Notes, "Numbers that JSON cannot hold (NaN, Infinity) were read as null.")
	}
	if absent(m["content"]) && out.Structured == nil {
		out.readOther(r.Result, m)
	}
	if isError, note := readIsError(m["isError"]); isError || note != "" {
		out.IsError = isError
		if note != "" {
			out.Notes = append(out.Notes, note)
		}
		if isError {
			out.Outcome = ToolError
		}
	}
	if r.Failed && !out.IsError {
		out.IsError, out.Outcome = true, ToolError
		out.Notes = append(out.Notes, "The server says that the task failed; its result was taken as an error, though it is not marked as one.")
	}
	if !out.IsError {
		found := violations(r.OutputSchema, out.Structured)
		if out.Structured != nil {
			out.Unfit = found
		}
		out.Notes = append(out.Notes, found...)
	}
}

// readOther reads a result without content and structured content, as servers of versions before
// 2024-11-05 gave it (toolResult), and others by mistake: what it holds instead is handed on as it
// was written, for an empty success would hide it.
func (out *Result) readOther(raw json.RawMessage, m map[string]json.RawMessage) {
	for name := range m {
		switch name {
		case "content", "structuredContent", "isError", "_meta", "resultType":
		default:
			out.Content = []mcphost.Content{{Type: "text", Text: string(raw), Raw: raw}}
			out.Notes = append(out.Notes, "The result holds neither content nor structured content; it was kept as written.")
			return
		}
	}
	out.Notes = append(out.Notes, "The result holds neither content nor structured content.")
}

// readIsError reads isError; servers write it in odd ways, and an error must
// not be taken for a success.
func readIsError(raw json.RawMessage) (isError bool, note string) {
	switch s := strings.ToLower(strings.Trim(string(raw), `" `)); {
	case len(raw) == 0 || s == "null":
		return false, ""
	case string(raw) == "true":
		return true, ""
	case string(raw) == "false":
		return false, ""
	case s == "true" || s == "1" || s == "yes":
		return true, "isError was written as " + short(string(raw)) + "; it was taken as true."
	case s == "false" || s == "0" || s == "no" || s == "":
		return false, "isError was written as " + short(string(raw)) + "; it was taken as false."
	}
	return true, "isError was written as " + short(string(raw)) + "; it was taken as true."
}

// violations checks structured content against the tool's output schema (MCP
// 2025-11-25, server/tools, output schema). Large content is not checked.
func violations(outputSchema, structured json.RawMessage) []string {
	if outputSchema == nil {
		return nil
	}
	if structured == nil {
		return []string{"The tool promises structured content (outputSchema), and sent none."}
	}
	if len(structured) > 4<<20 {
		return []string{"The structured content is too large to be checked against the tool's outputSchema."}
	}
	s, err := schema.Compile(outputSchema)
	if err != nil {
		return []string{sentence("The tool's outputSchema cannot be used: " + err.Error())}
	}
	found := s.Validate(structured)
	var notes []string
	const most = 5
	for i, v := range found {
		if i == most {
			notes = append(notes, fmt.Sprintf("There are %d more places where it does not match.", len(found)-most))
			break
		}
		notes = append(notes, sentence("The structured content does not match the tool's outputSchema: "+v.String()))
	}
	return notes
}

// readError takes the server's JSON-RPC error, or an answer that was none.
func readError(out *Result, rpc *wire.Error) {
	out.Outcome, out.Effect = ProtocolError, EffectDone
	if rpc.Invalid {
		out.Reason = sentence(upper(rpc.Message))
	} else {
		out.Reason = sentence(fmt.Sprintf("The server answered with error %d: %s", rpc.Code, rpc.Message))
	}
	object := map[string]any{"code": rpc.Code, "message": rpc.Message}
	if rpc.Data != nil {
		object["data"] = rpc.Data
	}
	raw, err := json.Marshal(object)
	if err != nil {
		out.Notes = append(out.Notes, "The data of the server's error cannot be kept.")
		return
	}
	out.Raw = raw
}

func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

func short(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// sentence ends a text with a full stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}

// upper begins a text with a capital letter.
func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
