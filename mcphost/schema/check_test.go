package schema

import (
	"encoding/json"
	"fmt"
	"testing"
)

// Check says the same as Compile, the first time and when it remembers, also after it had too much to remember.
func TestCheckRemembers(t *testing.T) {
	t.Parallel()
	for range 3 {
		for _, raw := range []string{`{"type":"object"}`, `{"type":5}`, `{"$ref":"https://example.com/x"}`, `{`, `{"$schema":"urn:other"}`} {
			_, want := Compile(json.RawMessage(raw))
			if got := Check(json.RawMessage(raw)); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %v, want %v", raw, got, want)
			}
		}
		for i := range maxChecked {
			checked.Lock()
			checked.found[[32]byte{byte(i), byte(i >> 8), 1}] = nil
			checked.Unlock()
		}
	}
	checked.Lock()
	defer checked.Unlock()
	if n := len(checked.found); n > maxChecked+16 {
		t.Errorf("%d schemas are remembered", n)
	}
}
