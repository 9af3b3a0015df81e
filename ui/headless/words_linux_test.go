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
		"shared folder":  {[]string{"tools", "--root", none}, 1, "the folder " + none + " does not exist"},
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
