package sentence_test

import (
	"strings"
	"testing"

	"steward/ui/language"
	"steward/ui/sentence"
)

// The window names its own places where the core names flags, also behind what an endpoint said.
func TestTheWindowNamesNoFlags(t *testing.T) {
	for tongue, says := range map[string]string{"en": "under Settings, Models", "zh-Hans": "“设置”的“模型”"} {
		if err := language.Load(tongue); err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{
			"Check the API key (--api-key-env).",
			"localhost:1234 answered 401 Unauthorized: invalid. Check the API key (--api-key-env).",
			"No model is chosen. Name one with --model.",
		} {
			got := sentence.Worded(s)
			if strings.Contains(got, "--") || !strings.Contains(got, says) {
				t.Errorf("%s: %q is shown as %q", tongue, s, got)
			}
		}
		foreign := "the host said: Check the API key (--api-key-env). Or not"
		if got := sentence.Worded(foreign); got != foreign {
			t.Errorf("%s: what is no advice of the core's became %q", tongue, got)
		}
		if got := sentence.Worded("${secret:a} stands for a secret that is not stored; store it with: steward servers review SERVER --secret a"); strings.Contains(got, "--") || !strings.Contains(got, "${secret:a}") {
			t.Errorf("%s: %q", tongue, got)
		}
	}
}
