package headless

import (
	"testing"

	"steward/testdata/scriptedmodel"
)

// What an entry of servers.json says holds for a turn as it does for a call by hand, and
// the flag wins over both.
func TestAnEntrysTimeoutHoldsInATurn(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		timeout string
		flags   []string
		outcome string
	}{
		{"the entry's own", "200ms", nil, "timeout"},
		{"the flag wins", "200ms", []string{"--tool-timeout", "30s"}, "ok"},
		{"the flag alone", "", []string{"--tool-timeout", "200ms"}, "timeout"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			servers := scripted("--step", "tool:nap=@sleep 1500ms", "--step", "tool:nap=@text done")
			if tc.timeout != "" {
				servers["s"].(map[string]any)["timeout"] = tc.timeout
			}
			_, flags := model(t, scriptedmodel.CallTool("nap", "{}"), scriptedmodel.Say("Done."))
			args := append([]string{"ask", "go", "--consent", "allow", "--events", "--data", t.TempDir(), "--servers", serversFile(t, servers)}, tc.flags...)
			res := one(t, lines(t, steward(t, with(flags, args...)...).mustExit(t, 0).out), "result")
			if res.str("outcome") != tc.outcome {
				t.Errorf("result: %s", res.text)
			}
		})
	}
}
