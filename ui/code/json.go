package code

import (
	"bytes"
	"encoding/json"

	"steward/ui/text"
)

// Pretty sets JSON out over several lines. Keys keep their order, numbers and strings their spelling, double keys stay.
// What is no JSON is given back as it is. It is pure and may be called from any goroutine.
func Pretty(raw string) string {
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(raw), "", "  "); err != nil {
		return raw
	}
	return out.String()
}

// NewJSON makes a view of JSON, set out and coloured, that folds when it is long.
func NewJSON(raw string, cfg Config) *text.View {
	v, _ := NewView("json", Pretty(raw), cfg)
	return v
}
