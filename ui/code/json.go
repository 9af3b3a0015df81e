package code

import (
	"bytes"
	"encoding/json"
)

// Pretty sets JSON out over several lines. Keys keep their order, numbers and strings their spelling, double keys stay.
// What is no JSON, or nested so deep that the indentation would outgrow it, is given back as it is. It is pure and may be called from any goroutine.
func Pretty(raw string) string {
	if indented(raw) > len(raw)*maxGrowth+1<<10 {
		return raw
	}
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(raw), "", "  "); err != nil {
		return raw
	}
	return out.String()
}

// maxGrowth is how many times its bytes JSON may take when it is set out. Deeper nesting than this allows is not made to
// be read: a few kilobytes of brackets would become hundreds of megabytes of spaces.
const maxGrowth = 16

// indented is how many bytes setting out will take, at most.
func indented(raw string) int {
	size, depth := len(raw), 0
	quoted := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted:
			if c == '\\' {
				i++
			}
			quoted = c != '"'
		case c == '"':
			quoted = true
		case c == '[' || c == '{':
			depth++
			size += 2*depth + 1
		case c == ']' || c == '}':
			depth = max(depth-1, 0)
			size += 2*depth + 1
		case c == ',':
			size += 2*depth + 1
		case c == ':':
			size++
		}
	}
	return size
}
