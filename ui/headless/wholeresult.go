package headless

import (
	"bytes"
	"encoding/json"
	"fmt"

	"steward/app/clean"
	"steward/app/journal"
)

// wholeRecord is a record with the result that it holds only the beginning of, as its conversation
// keeps it: as JSON the record's own members, and then result_text where there is such a result.
type wholeRecord struct {
	journal.Detail
	result string
}

// MarshalJSON writes it.
func (w wholeRecord) MarshalJSON() ([]byte, error) {
	record, err := w.Detail.MarshalJSON()
	if err != nil || w.result == "" {
		return record, err
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(w.result); err != nil {
		return nil, err
	}
	record = append(bytes.TrimSuffix(bytes.TrimSpace(record), []byte("}")), `,"result_text":`...)
	return append(append(record, bytes.TrimSpace(text.Bytes())...), '}'), nil
}

// wholeText is that result for a person to read.
func wholeText(result string) string {
	if result == "" {
		return ""
	}
	return fmt.Sprintf("\nThe whole result, as its chat keeps it (%d bytes)\n%s\n", len(result), clean.Clean(result))
}
