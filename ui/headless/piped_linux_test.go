package headless

import (
	"strings"
	"testing"

	"steward/testdata/scriptedmodel"
)

// A script that says that it is to be asked answers on its stdin, at once and line by
// line; where the answers end, nothing more is allowed.
func TestAnswersFromAPipe(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answers string
		code    int
		outcome string
	}{
		"yes":                  {"y\n", 0, "ok"},
		"without a line break": {"y", 0, "ok"},
		"no":                   {"n\n", 5, "denied"},
		"edited":               {"e\n{\"date\":\"2025-03-10\"}\nyes\n", 0, "ok"},
		"nothing":              {"", 5, "denied"},
		"nonsense":             {"maybe\n", 5, "denied"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			cmd := prepared(t, "call", "weekly-report", "get_weekly_report", weekly, "--consent", "ask", "--data", data, "--servers", serversFile(t, minimal()))
			cmd.Stdin = strings.NewReader(tc.answers)
			finish(t, cmd).mustExit(t, tc.code)
			if rec := lastCall(t, data); rec.str("outcome") != tc.outcome || rec.str("by") != "person" {
				t.Errorf("record: %s", rec.text)
			}
		})
	}
}

// Two questions of one turn take two lines.
func TestTwoAnswersFromAPipe(t *testing.T) {
	t.Parallel()
	_, flags := model(t, batch([3]string{"1", "echo", `{"n":1}`}, [3]string{"2", "echo", `{"n":2}`}), scriptedmodel.Say("Read."))
	cmd := prepared(t, with(flags, "ask", "go", "--consent", "ask", "--events", "--data", t.TempDir(), "--servers", serversFile(t, scripted()))...)
	cmd.Stdin = strings.NewReader("y\nn\n")
	var got []string
	for _, r := range only(lines(t, finish(t, cmd).mustExit(t, 0).out), "result") {
		got = append(got, r.str("outcome"))
	}
	if strings.Join(got, " ") != "ok denied" && strings.Join(got, " ") != "denied ok" {
		t.Errorf("outcomes: %v", got)
	}
}

// What cannot run is refused with its own reason, told once.
func TestWhyACallWasNotSent(t *testing.T) {
	t.Parallel()
	r := steward(t, "call", "weekly-report", "get_weekly_report", `{"date":5}`, "--consent", "allow", "--data", t.TempDir(), "--servers", serversFile(t, minimal())).mustExit(t, 1)
	r.mustSay(t, "not sent: the arguments do not fit")
	if strings.Contains(r.errOut, "no longer current") || strings.Count(r.errOut, "do not fit") != 1 {
		t.Errorf("stderr: %s", r.errOut)
	}
}
