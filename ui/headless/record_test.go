package headless

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"steward/testdata/scriptedmodel"
)

const recordKeys = "record kind parent time conversation server tool arguments decision by outcome effect seconds model"

// array reads a JSON array of objects, one per element.
func array(t testing.TB, out string) []line {
	t.Helper()
	var raw []json.RawMessage
	if err := json.Unmarshal([]byte(out), &raw); err != nil {
		t.Fatalf("this is not a JSON array: %v\n%s", err, out)
	}
	var all []line
	for _, r := range raw {
		all = append(all, object(t, string(r)))
	}
	return all
}

// folder is a data folder in which one call was made and one was denied.
func folder(t testing.TB) string {
	t.Helper()
	data, servers := t.TempDir(), serversFile(t, minimal())
	steward(t, "call", "weekly-report", "get_weekly_report", weekly, "--data", data, "--servers", servers, "--consent", "allow").mustExit(t, 0)
	steward(t, "call", "weekly-report", "get_weekly_report", `{"date":"2025-03-24"}`, "--data", data, "--servers", servers, "--consent", "deny").mustExit(t, 5)
	return data
}

func TestTheRecordIsListedShownAndExported(t *testing.T) {
	t.Parallel()
	data := folder(t)
	calls := array(t, steward(t, "journal", "list", "--json", "--kind", "call", "--data", data).mustExit(t, 0).out)
	if len(calls) != 2 {
		t.Fatalf("%d calls, want 2", len(calls))
	}
	for _, c := range calls {
		if got := strings.Join(c.keys, " "); got != recordKeys {
			t.Errorf("keys %q, want %q", got, recordKeys)
		}
	}
	denied, done := calls[0], calls[1]
	if denied.str("decision") != "denied" || denied.str("outcome") != "denied" || denied.str("effect") != "none" {
		t.Errorf("newest: %s", denied.text)
	}
	if done.str("decision") != "allowed" || done.str("by") != "flag" || done.str("outcome") != "ok" || done.str("effect") != "done" || done.str("arguments") != weekly || done.value["parent"] != 0.0 {
		t.Errorf("oldest: %s", done.text)
	}
	for filter, want := range map[string]int{
		"--outcome denied": 1, "--server nobody": 0, "--tool get_weekly_report": 2, "--search 2025-03-24": 1, "--since 2000-01-01": 2, "--until 2000-01-01": 0, "--limit 1": 1,
	} {
		args := append([]string{"journal", "list", "--json", "--kind", "call", "--data", data}, strings.Fields(filter)...)
		if got := array(t, steward(t, args...).mustExit(t, 0).out); len(got) != want {
			t.Errorf("%s: %d records, want %d", filter, len(got), want)
		}
	}
	number := strings.TrimSuffix(strings.TrimSuffix(jsonText(done.value["record"]), ".0"), "\n")
	shown := object(t, steward(t, "journal", "show", number, "--json", "--data", data).mustExit(t, 0).out)
	for _, key := range []string{"record", "events", "result", "frames"} {
		if _, ok := shown.value[key]; !ok {
			t.Errorf("show has no %q: %v", key, shown.keys)
		}
	}
	if text := steward(t, "journal", "show", number, "--data", data).mustExit(t, 0).out; !strings.Contains(text, "outcome: ok") {
		t.Errorf("show in words: %s", text)
	}
	if text := steward(t, "journal", "list", "--data", data).mustExit(t, 0).out; !strings.Contains(text, "get_weekly_report") || strings.HasPrefix(text, "[") {
		t.Errorf("list in words: %s", text)
	}
	steward(t, "journal", "show", "999", "--data", data).mustExit(t, 1).mustSay(t, "999")
	for _, format := range []string{"jsonl", "csv", "html"} {
		out := steward(t, "journal", "export", "--format", format, "--data", data).mustExit(t, 0).out
		if !strings.Contains(out, "get_weekly_report") {
			t.Errorf("the %s export lacks the calls:\n%s", format, out)
		}
	}
	file := filepath.Join(t.TempDir(), "out.jsonl")
	steward(t, "journal", "export", "--output", file, "--data", data).mustExit(t, 0)
	info, err := os.Stat(file)
	if err != nil || info.Size() == 0 || info.Mode().Perm() != 0o600 {
		t.Errorf("the exported file: %v, %v", info, err)
	}
	steward(t, "journal", "export", "--output", file, "--data", data).mustExit(t, 1).mustSay(t, "exists already")
}

func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func TestVerifyHoldsAndFindsAChangedByte(t *testing.T) {
	t.Parallel()
	data := folder(t)
	r := steward(t, "journal", "verify", "--data", data).mustExit(t, 0)
	if !strings.Contains(r.errOut, "Notice") {
		t.Errorf("without a keyring only the side file is checked, and verify does not say so: %q", r.errOut)
	}
	db := filepath.Join(data, "steward.db")
	raw, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.ReplaceAll(string(raw), "2025-03-24", "2025-03-25")
	if changed == string(raw) {
		t.Fatal("the arguments do not stand in the file as text; change something else")
	}
	if err := os.WriteFile(db, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	bad := steward(t, "journal", "verify", "--data", data).mustExit(t, 1)
	if !strings.HasPrefix(bad.out, "record ") {
		t.Errorf("the first bad record is not on stdout: %q", bad.out)
	}
	if v := object(t, steward(t, "journal", "verify", "--json", "--data", data).mustExit(t, 1).out); v.value["ok"] != false || v.value["bad_record"] == 0.0 {
		t.Errorf("verify --json: %s", v.text)
	}
}

// Reading changes nothing, not even the time of a file.
func TestReadingLeavesTheFolderAlone(t *testing.T) {
	t.Parallel()
	data := folder(t)
	before := snapshot(t, data)
	for _, args := range [][]string{{"journal", "list"}, {"journal", "show", "1"}, {"journal", "verify"}, {"journal", "export"}, {"servers", "list"}} {
		steward(t, append(args, "--data", data)...).mustExit(t, 0)
	}
	if after := snapshot(t, data); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	empty := filepath.Join(t.TempDir(), "none")
	if r := steward(t, "journal", "list", "--json", "--data", empty).mustExit(t, 0); r.out != "[]\n" {
		t.Errorf("an empty folder lists %q", r.out)
	}
	steward(t, "servers", "list", "--data", empty).mustExit(t, 0)
	if _, err := os.Stat(empty); !os.IsNotExist(err) {
		t.Errorf("reading made the folder: %v", err)
	}
}

// The record of a request to the model holds what was asked and answered, can be found by
// both, and a person reads that first.
func TestARequestIsFoundByItsWords(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	_, flags := model(t, scriptedmodel.Say("Zebras have stripes."))
	servers := serversFile(t, minimal())
	steward(t, with(flags, "ask", "What about aardvarks?", "--data", data, "--servers", servers)...).mustExit(t, 0)
	for _, word := range []string{"aardvarks", "stripes"} {
		if got := array(t, steward(t, "journal", "list", "--json", "--search", word, "--data", data).mustExit(t, 0).out); len(got) != 1 || got[0].str("kind") != "model" {
			t.Fatalf("%s: %d records", word, len(got))
		}
	}
	rec := array(t, steward(t, "journal", "list", "--json", "--kind", "model", "--data", data).mustExit(t, 0).out)[0]
	number := strings.TrimSpace(jsonText(rec.value["record"]))
	head, _, _ := strings.Cut(steward(t, "journal", "show", number, "--data", data).mustExit(t, 0).out, "\nDetails\n")
	if !strings.Contains(head, "Asked:     What about aardvarks?\n") || !strings.Contains(head, "Answer:    Zebras have stripes.\n") {
		t.Errorf("show begins with\n%s", head)
	}
	if r := steward(t, "journal", "list", "--limit", "1", "--data", data).mustExit(t, 0).mustSay(t, "newest 1", "--after "+number); strings.Count(r.out, "\n") != 2 {
		t.Errorf("list: %s", r.out)
	}
	if r := steward(t, "journal", "list", "--data", data).mustExit(t, 0); strings.Contains(r.errOut, "there are more") {
		t.Errorf("a whole list is called cut: %s", r.errOut)
	}
}

// A call is shown with what was sent, who decided and what came back; the wire comes last.
func TestACallIsShownForAPerson(t *testing.T) {
	t.Parallel()
	data := folder(t)
	rec := array(t, steward(t, "journal", "list", "--json", "--outcome", "ok", "--kind", "call", "--data", data).mustExit(t, 0).out)[0]
	out := steward(t, "journal", "show", strings.TrimSpace(jsonText(rec.value["record"])), "--data", data).mustExit(t, 0).out
	last := -1
	for _, part := range []string{"call of get_weekly_report on weekly-report", "Sent:      " + weekly, "Decided:   allowed by flag", "Came back: ok, effect done", "Result:", "\nDetails\n", "\nOn the wire"} {
		at := strings.Index(out, part)
		if at <= last {
			t.Errorf("%q stands at %d, after %d, in\n%s", part, at, last, out)
		}
		last = at
	}
}
