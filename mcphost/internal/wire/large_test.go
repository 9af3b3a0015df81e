package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

// A transport may cut a message that is too large anywhere.
func TestTooLargeIsCutAnywhere(t *testing.T) {
	t.Parallel()
	const message = `{ "a\"b" : [{"c":"\\d"},null], "jsonrpc":"2.0" ,"id": 7,"result":{"x":"y"}}`
	for n := range len(message) {
		var lost []string
		tap := NewTap(Options{Noise: func(n Noise) {
			if strings.Contains(n.Line, "failed") {
				lost = append(lost, n.Line)
			}
		}})
		p, err := tap.Expect(Expectation{Token: "t"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tap.Out([]byte(`{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{"progressToken":"t"}}}`)); err != nil {
			t.Fatal(err)
		}
		out := tap.TooLarge([]byte(message[:n]))
		if len(lost) > 0 {
			t.Errorf("cut after %s, it cannot be read: %s", message[:n], lost)
		}
		if len(out) != 1 || !json.Valid(out[0]) {
			t.Errorf("cut after %s, the library gets %s", message[:n], out)
		}
		if a, ok := p.Answer(); !ok || a.Err == nil {
			t.Errorf("cut after %s, the request that is open alone goes on waiting", message[:n])
		}
		p.Release()
		tap.Close(nil)
	}
}
