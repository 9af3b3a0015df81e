package servers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"steward/app"
)

// The problems of a pasted text show its lines; what looks like a secret, and what the person chooses, is kept out of
// the file.
func TestAPastedTextAndItsSecrets(t *testing.T) {
	d := newDesk(t, "light", "en", map[string]any{}, false)
	m := d.place.newImporter()
	m.text.SetText("{\"mcpServers\": {\n  \"one\": {\"command\": \"a\" \"args\": []}\n}}")
	m.parse()
	d.until("the problem is told", func() bool { return m.problem != nil })
	if !says(m.page.body, `"one": {"command": "a" "args"`) {
		t.Error("the line of the problem is not shown")
	}
	const key = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	m.text.SetText("{\"mcpServers\": {\n  \"one\": {\"command\": \"a\", \"env\": {\"API_KEY\": \"" + key + "\", \"REGION\": \"north-7\"}},\n  \"two\": {\"command\": 5}\n}}")
	m.parse()
	d.until("it is read", func() bool { return m.read && m.problem == nil })
	if !says(m.page.body, "3 │") || !says(m.page.body, `"two": {"command": 5}`) {
		t.Error("the line of the entry that cannot be used is not shown")
	}
	if len(m.offered) != 1 || !says(m.page.body, "API_KEY=${secret:one.API_KEY}") || says(m.page.body.Objects[len(m.page.body.Objects)-2], key) {
		t.Fatalf("the secret is shown in %d entries", len(m.offered))
	}
	d.picture("import-secrets")
	m.offered[0].secret["REGION"] = true
	m.add()
	d.until("it is added", func() bool { return d.place.p.find("one") >= 0 && !m.busy })
	file, err := os.ReadFile(filepath.Join(d.app.DataDir(), "servers.json"))
	if err != nil || strings.Contains(string(file), key) || strings.Contains(string(file), "north-7") || !strings.Contains(string(file), "${secret:one.REGION}") {
		t.Errorf("the file is\n%s\n%v", file, err)
	}
	if d.place.over != nil || d.place.taking != nil || len(d.app.ServerFrames("one")) != 0 {
		t.Error("the page is still there, or the server was started")
	}
}

// The files of other programs are offered and read.
func TestFilesOfOtherPrograms(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	for path, content := range map[string]string{
		".config/Claude/claude_desktop_config.json": `{"mcpServers":{"claude":{"command":"a"}}}`,
		".config/Code/User/mcp.json":                `{"servers":{"code":{"type":"http","url":"https://h.example/m"}}}`,
		".config/Code/User/settings.json":           "{ // a comment\n\"mcp\":{\"servers\":{\"setting\":{\"command\":\"c\"}}},}",
	} {
		path = filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := newDesk(t, "light", "en", map[string]any{}, false)
	m := d.place.newImporter()
	d.until("the files are found", func() bool { return len(m.places) == 3 })
	for i, want := range []string{"claude", "code", "setting"} {
		p := m.places[i]
		m.load("", func() (app.Import, error) { return app.ReadImport(p.Path) })
		d.until(want+" is read", func() bool { return m.read && len(m.offered) == 1 && m.offered[0].entry.Name == want })
	}
}
