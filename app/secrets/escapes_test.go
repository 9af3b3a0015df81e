package secrets

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A secret is found in JSON however its letters are written, also in JSON held in JSON; what holds none stays as it was.
func TestSecretsWrittenByNumber(t *testing.T) {
	t.Parallel()
	const secret = "canary-Value0123456789/+"
	var all, some strings.Builder
	for i, c := range secret {
		fmt.Fprintf(&all, `\u%04x`, c)
		if i%3 == 1 {
			fmt.Fprintf(&some, `\u%04X`, c)
		} else {
			some.WriteRune(c)
		}
	}
	var r Redactor
	r.Learn("key", secret)
	for name, inside := range map[string]string{"all": all.String(), "some": some.String(), "twice": strings.ReplaceAll(all.String(), `\`, `\\`)} {
		frame := `{"jsonrpc":"2.0","result":{"text":"a ` + inside + ` b","other":"\u0022\u00e9"}}`
		got := r.Redact(frame)
		if !strings.Contains(got, "a [secret:key] b") || !json.Valid([]byte(got)) || r.Redact(got) != got {
			t.Errorf("%s: %s", name, got)
		}
		if known := r.KnownJSON(frame); !strings.Contains(known, "[secret:key]") || !json.Valid([]byte(known)) {
			t.Errorf("%s: %s", name, known)
		}
	}
	for _, same := range []string{`{"a":"\u0041\u0042 \u00e9 \u0022 \u005c"}`, `\u00`, `\u00zz`, `\\u0041`} {
		if got := r.Redact(same); got != same {
			t.Errorf("%s became %s", same, got)
		}
	}
}
