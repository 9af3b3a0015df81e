package headless

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A journal that does not hold stops everything until the person says to go on; then it
// goes on for good, and the whole check still names what is wrong.
func TestGoingOnWithAJournalThatDoesNotHold(t *testing.T) {
	t.Parallel()
	data := folder(t)
	db := filepath.Join(data, "steward.db")
	raw, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(db, []byte(strings.ReplaceAll(string(raw), "2025-03-24", "2025-03-25")), 0o600); err != nil {
		t.Fatal(err)
	}
	call := []string{"call", "weekly-report", "get_weekly_report", weekly, "--consent", "allow", "--data", data, "--servers", serversFile(t, minimal())}
	steward(t, call...).mustExit(t, 1).mustSay(t, "steward journal verify --acknowledge")
	bad := steward(t, "journal", "verify", "--data", data).mustExit(t, 1)
	if strings.Count(bad.out, "event ") != 1 {
		t.Errorf("the event is named twice: %s", bad.out)
	}
	if again := steward(t, "journal", "verify", "--acknowledge", "--data", data).mustExit(t, 0).mustSay(t, "Acknowledged"); again.out != bad.out {
		t.Errorf("the problem is not shown first: %q, want %q", again.out, bad.out)
	}
	for range 2 {
		steward(t, call...).mustExit(t, 0)
	}
	steward(t, "journal", "verify", "--data", data).mustExit(t, 1)
	if got := array(t, steward(t, "journal", "list", "--kind", "settings", "--json", "--data", data).mustExit(t, 0).out); len(got) != 1 {
		t.Errorf("%d records of it, want 1", len(got))
	}
}

// At a terminal the yes is asked for, and anything else changes nothing.
func TestAcknowledgingIsAskedAtATerminal(t *testing.T) {
	t.Parallel()
	data := folder(t)
	if err := os.WriteFile(filepath.Join(data, "steward.anchor"), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := talk(t, prepared(t, "journal", "verify", "--acknowledge", "--data", data))
	d.waitFor("Type yes to confirm")
	d.typed("no\n")
	d.end(1)
	d = talk(t, prepared(t, "journal", "verify", "--acknowledge", "--data", data))
	d.waitFor("Type yes to confirm")
	d.typed("yes\n")
	d.end(0)
	steward(t, "journal", "verify", "--data", data).mustExit(t, 0)
}

func TestAnExportIsChecked(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "journal.jsonl")
	steward(t, "journal", "export", "--output", file, "--data", folder(t)).mustExit(t, 0)
	if r := steward(t, "journal", "verify", "--export", file).mustExit(t, 0); !strings.Contains(r.out, "The export holds") {
		t.Errorf("stdout: %s", r.out)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(raw), "get_weekly_report", "get_weakly_report", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := steward(t, "journal", "verify", "--export", file).mustExit(t, 1); !strings.Contains(r.out, "line ") {
		t.Errorf("stdout: %s", r.out)
	}
	if v := object(t, steward(t, "journal", "verify", "--json", "--export", file).mustExit(t, 1).out); v.value["ok"] != false {
		t.Errorf("--json: %s", v.text)
	}
	steward(t, "journal", "verify", "--export", file+".none").mustExit(t, 1).mustSay(t, "the export "+file+".none does not exist")
}

// A standing yes is counted in the list and can be taken back, without its server.
func TestGrantsAreTakenBack(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	servers := filepath.Join(data, "servers.json")
	writeServers(t, servers, minimal())
	steward(t, "servers", "trust", "weekly-report", "--data", data).mustExit(t, 0)
	_, flags := model(t, oneCallThen("Read.")...)
	d := talk(t, prepared(t, with(flags, "ask", "go", "--data", data)...))
	d.waitFor(question)
	d.answer("a")
	d.waitFor("--revoke-grants")
	d.typed("yes\n")
	d.end(0)
	grants := func() any {
		t.Helper()
		return array(t, steward(t, "servers", "list", "--json", "--data", data).mustExit(t, 0).out)[0].value["grants"]
	}
	if grants() != 1.0 {
		t.Errorf("grants: %v, want 1", grants())
	}
	call := []string{"call", "weekly-report", "get_weekly_report", weekly, "--data", data}
	steward(t, call...).mustExit(t, 0)
	if r := steward(t, "servers", "trust", "weekly-report", "--revoke-grants", "--data", data).mustExit(t, 0); !strings.Contains(r.out, "1 standing grant taken back") {
		t.Errorf("stdout: %s", r.out)
	}
	if grants() != 0.0 {
		t.Errorf("grants: %v, want 0", grants())
	}
	steward(t, call...).mustExit(t, 5)
}

// Without a keyring a secret can be kept in the encrypted file, and its server gets it.
func TestASecretInTheEncryptedFile(t *testing.T) {
	t.Parallel()
	data, trace := t.TempDir(), filepath.Join(t.TempDir(), "trace")
	script := `printf %s "$KEY" > '` + trace + `'; exec '` + binaries.minimal + `'`
	writeServers(t, filepath.Join(data, "servers.json"), map[string]any{"s": map[string]any{"command": "sh", "args": []string{"-c", script}, "env": map[string]string{"KEY": "${secret:my-key}"}}})
	run := func(stdin string, args ...string) result {
		t.Helper()
		cmd := prepared(t, append(args, "--data", data)...)
		cmd.Env = append(environment(t), "PHRASE=correct horse battery", "WRONG=incorrect horse")
		cmd.Stdin = strings.NewReader(stdin)
		return finish(t, cmd)
	}
	run("", "servers", "review", "s").mustExit(t, 1).mustSay(t, "--secrets-file", "--passphrase-env")
	run("", "servers", "review", "s", "--secret", "other", "--passphrase-env", "PHRASE").mustExit(t, 1).mustSay(t, "does not name ${secret:other}")
	run("hunter2hunter2\n", "servers", "review", "s", "--secret", "my-key", "--passphrase-env", "PHRASE").mustExit(t, 0).mustSay(t, "my-key is stored")
	if got, err := os.ReadFile(trace); err != nil || string(got) != "hunter2hunter2" {
		t.Errorf("the server got %q, %v", got, err)
	}
	run("", "servers", "trust", "s", "--passphrase-env", "PHRASE").mustExit(t, 0)
	run("", "tools", "--passphrase-env", "WRONG").mustExit(t, 1).mustSay(t, "passphrase is wrong")
	run("", "tools", "--passphrase-env", "NONE").mustExit(t, 2).mustSay(t, "NONE")
	run("", "tools").mustExit(t, 0).mustSay(t, "--secrets-file")
	if out, err := exec.Command("grep", "-rl", "hunter2hunter2", data).CombinedOutput(); err == nil {
		t.Errorf("the value stands in %s", out)
	}
	cmd := prepared(t, "tools", "--secrets-file", "--data", data)
	d := talk(t, cmd)
	d.waitFor("Passphrase")
	d.typed("correct horse battery\n")
	if screen := d.end(0); strings.Contains(screen, "correct horse") || !strings.Contains(d.out.String(), "get_weekly_report") {
		t.Errorf("screen: %s, stdout: %s", screen, d.out)
	}
}
