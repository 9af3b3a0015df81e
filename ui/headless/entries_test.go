package headless

import (
	"os"
	"path/filepath"
	"strings"
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

// A server is told that it may ask for the model where its entry says so, or where somebody
// answers in this run. One that asks without is refused, and the refusal is recorded.
func TestWhichServersMayAskForTheModel(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		entry    any
		flags    []string
		declared bool
		action   string
	}{
		{"nothing said", nil, nil, false, "denied"},
		{"the entry says no", false, []string{"--sampling", "deny"}, false, "denied"},
		{"the entry says yes, nobody answers", true, nil, true, "denied"},
		{"the flag says yes", nil, []string{"--sampling", "allow"}, true, "sent"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			seen := filepath.Join(t.TempDir(), "seen")
			servers, data := scripted("--record", seen), t.TempDir()
			if tc.entry != nil {
				servers["s"].(map[string]any)["sampling"] = tc.entry
			}
			_, flags := model(t, scriptedmodel.Say("forty-two"))
			args := append([]string{"call", "s", "sample", "--consent", "allow", "--events", "--data", data, "--servers", serversFile(t, servers)}, tc.flags...)
			all := lines(t, steward(t, with(flags, args...)...).mustExit(t, 0).out)
			if s := one(t, all, "sampling"); s.str("action") != tc.action {
				t.Errorf("sampling: %s", s.text)
			}
			if got := array(t, steward(t, "journal", "list", "--json", "--kind", "sampling", "--data", data).mustExit(t, 0).out); len(got) != 1 {
				t.Errorf("%d records of sampling, want 1", len(got))
			}
			raw, err := os.ReadFile(seen)
			if err != nil {
				t.Fatal(err)
			}
			if declared := strings.Contains(string(raw), `"sampling":{`); declared != tc.declared {
				t.Errorf("declared: %v, want %v", declared, tc.declared)
			}
		})
	}
}
