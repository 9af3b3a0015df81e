package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestWhatHolds(t *testing.T) {
	t.Parallel()
	for checks, want := range map[string]bool{
		`[]`:                     false,
		`[{"status":"INFO"}]`:    false,
		`[{"status":"SKIPPED"}]`: false,
		`[{"status":"SUCCESS"}]`: true,
		`[{"status":"SUCCESS"},{"status":"SKIPPED"},{"status":"INFO"}]`: true,
		`[{"status":"SUCCESS"},{"status":"WARNING"}]`:                   false,
		`[{"status":"FAILURE"},{"status":"SUCCESS"}]`:                   false,
	} {
		r, err := judge([]byte(checks))
		if err != nil || r.holds() != want {
			t.Errorf("%s holds: %v, %v", checks, r.holds(), err)
		}
	}
	if _, err := judge([]byte("{")); err == nil {
		t.Error("a broken checks.json was read")
	}
}

func TestScenarioThatLeftNothing(t *testing.T) {
	t.Parallel()
	results, requirements := t.TempDir(), t.TempDir()
	for name, checks := range map[string]string{
		"one-2026-11-30T21-07-33-737Z":      `[{"status":"SUCCESS"}]`,
		"auth/two-2026-11-30T21-07-33-737Z": `[]`,
		"extra-2026-11-30T21-07-33-737Z":    `[{"status":"SUCCESS"}]`,
	} {
		folder := filepath.Join(results, name)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "checks.json"), []byte(checks), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list := "# words\nserver:\n  - zero\n\nclient:\n  - one\n  # words\n  - auth/two\n  - three\nnot_scored:\n  - extra\n"
	if err := os.WriteFile(filepath.Join(requirements, "r.yaml"), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	rows, err := readResults(results)
	if err != nil {
		t.Fatal(err)
	}
	rows, err = suite{requirements: requirements}.require(set{name: "r", flags: []string{"--requirements"}}, rows)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, r.scenario+" "+r.standing()+" "+r.verdict())
	}
	want := []string{"auth/two required NOT OK", "one required ok", "three required NOT OK", "extra extra ok"}
	if !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "; "))
	}
	if held, required := count(rows); held != 1 || required != 3 {
		t.Errorf("%d/%d", held, required)
	}
}
