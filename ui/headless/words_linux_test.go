package headless

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A fact is said once, in words for a person.
func TestErrorsAreSaidOnceAndInWords(t *testing.T) {
	t.Parallel()
	none := filepath.Join(t.TempDir(), "none")
	for name, tc := range map[string]struct {
		args []string
		code int
		once string
	}{
		"conversation":   {[]string{"ask", "hi", "--conversation", "nope"}, 1, "no conversation"},
		"arguments":      {[]string{"call", "s", "t", "{"}, 2, "not valid JSON"},
		"servers file":   {[]string{"tools", "--servers", none}, 1, "the servers file " + none + " does not exist"},
		"attachment":     {[]string{"ask", "hi", "--attach", none}, 1, "the attachment " + none + " does not exist"},
		"shared folder":  {[]string{"tools", "--root", none}, 2, "the folder " + none + " does not exist"},
		"unknown filter": {[]string{"journal", "list", "--outcome", "nonsense"}, 2, "--outcome is \"nonsense\", but must be one of ok, "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := steward(t, append(tc.args, "--data", t.TempDir())...).mustExit(t, tc.code)
			if strings.Count(r.errOut, tc.once) != 1 {
				t.Errorf("stderr does not say %q once: %s", tc.once, r.errOut)
			}
			for _, raw := range []string{"no such file", "file does not exist", "stat ", "open "} {
				if strings.Contains(r.errOut, raw) {
					t.Errorf("stderr holds the system's own words %q: %s", raw, r.errOut)
				}
			}
		})
	}
}

// A reader that has enough is no news to anybody.
func TestAClosedOutputEndsQuietly(t *testing.T) {
	t.Parallel()
	data := folder(t)
	for _, args := range [][]string{{"journal", "list"}, {"journal", "export"}, {"journal", "list", "--json"}, {"servers", "list"}, {"tools"}, {"help"}} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		cmd := prepared(t, append(args, "--data", data)...)
		if args[0] == "help" {
			cmd = prepared(t, args...)
		}
		var errOut strings.Builder
		cmd.Stdout, cmd.Stderr = w, &errOut
		cmd.Run() //nolint:errcheck // looked at below
		w.Close()
		if code := cmd.ProcessState.ExitCode(); code != 1 || strings.Contains(errOut.String(), "pipe") || strings.Contains(errOut.String(), "steward:") {
			t.Errorf("%v: status %d, stderr %s", args, code, &errOut)
		}
	}
}

// Times are milliseconds in the list, in a record and in an export, as in the events.
func TestSecondsAreMilliseconds(t *testing.T) {
	t.Parallel()
	data := folder(t)
	for _, rec := range array(t, steward(t, "journal", "list", "--json", "--data", data).mustExit(t, 0).out) {
		s, _ := rec.value["seconds"].(float64)
		if ms := s * 1000; math.Abs(ms-math.Round(ms)) > 1e-6 {
			t.Errorf("seconds: %s", rec.text)
		}
	}
}

// What is wrong with an entry is told by the commands that have to do with it, once.
func TestProblemsOfEntriesAreToldWhereTheyMatter(t *testing.T) {
	t.Parallel()
	servers := minimal()
	servers["odd"] = map[string]any{"command": binaries.minimal, "arg": []string{"x"}}
	servers["gone"] = map[string]any{"command": "no-such-program"}
	file := serversFile(t, servers)
	run := func(code int, args ...string) string {
		t.Helper()
		return steward(t, append(args, "--servers", file, "--data", t.TempDir())...).mustExit(t, code).errOut
	}
	if out := run(0, "call", "weekly-report", "get_weekly_report", weekly, "--consent", "allow"); strings.Contains(out, "arg") || strings.Contains(out, "no-such-program") {
		t.Errorf("a call hears of other servers: %s", out)
	}
	if out := run(0, "tools"); strings.Count(out, `is ignored. Did you mean "args"?`) != 1 {
		t.Errorf("tools: %s", out)
	}
	if out := run(0, "servers", "review", "odd"); strings.Count(out, `Did you mean "args"?`) != 1 {
		t.Errorf("review: %s", out)
	}
	for _, args := range [][]string{{"call", "gone", "x"}, {"servers", "review", "gone"}} {
		if out := run(1, args...); strings.Count(out, "was not found") != 1 || strings.Count(out, "nstall") != 1 {
			t.Errorf("%v: %s", args, out)
		}
	}
	r := steward(t, "doctor", "--servers", file, "--data", t.TempDir()).mustExit(t, 1)
	if strings.Contains(r.errOut, "no-such-program") || strings.Contains(r.errOut, "args") || strings.Count(r.out, `Did you mean "args"?`) != 1 || !strings.Contains(r.out, "It offers 1 tool.") {
		t.Errorf("doctor: %s\n%s", r.out, r.errOut)
	}
}

// A list that cannot be read has no heading, and a review shows what is to be read.
func TestListsSayNoMoreThanTheyMust(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	path := filepath.Join(data, "servers.json")
	if err := os.WriteFile(path, []byte(`{"mcpServers":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := steward(t, "servers", "list", "--data", data).mustExit(t, 1); r.out != "" {
		t.Errorf("stdout: %s", r.out)
	}
	script := filepath.Join(t.TempDir(), "script.json")
	list := func(description string) {
		t.Helper()
		step := `tools/list={"jsonrpc":"2.0","id":${id},"result":{"tools":[{"name":"old","inputSchema":{"type":"object"}},{"name":"new","description":"` + description + `","inputSchema":{"type":"object"}}]}}`
		text := jsonText(map[string]any{"step": []string{step}})
		if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list("first")
	writeServers(t, path, scripted("--script", script))
	steward(t, "servers", "trust", "s", "--data", data).mustExit(t, 0)
	whole := steward(t, "servers", "review", "s", "--data", data).mustExit(t, 0).out
	if !strings.Contains(whole, "tool old: unchanged\n    | {") {
		t.Errorf("a review of what is reviewed shows nothing to read: %s", whole)
	}
	list("second")
	part := steward(t, "servers", "review", "s", "--data", data).mustExit(t, 0).out
	if !strings.Contains(part, "Unchanged since the last review: configuration, instructions, tool old") || strings.Contains(part, "tool old: ") || !strings.Contains(part, "tool new: CHANGED") {
		t.Errorf("review: %s", part)
	}
}
