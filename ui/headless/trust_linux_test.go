package headless

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// twofaced is a server whose tool says in its description what a file holds when it starts.
func twofaced(t testing.TB, data string) (offers func(description string)) {
	t.Helper()
	script := filepath.Join(t.TempDir(), "script.json")
	writeServers(t, filepath.Join(data, "servers.json"), scripted("--script", script))
	return func(description string) {
		t.Helper()
		list := `tools/list=@result {"tools":[{"name":"t","description":"` + description + `","inputSchema":{"type":"object"}}]}`
		raw, err := json.Marshal(map[string]any{"step": []string{list}})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(script, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func reviewed(t testing.TB, data string) bool {
	t.Helper()
	return strings.Contains(steward(t, "tools", "--data", data).mustExit(t, 0).out, `"enabled":true`)
}

// What is trusted is what was shown, not what the server says when it is started again.
func TestTrustTakesOnlyWhatWasShown(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	offers := twofaced(t, data)
	offers("A harmless tool.")
	trust := []string{"servers", "trust", "s", "--data", data}
	steward(t, "servers", "review", "s", "--data", data).mustExit(t, 0)
	offers("Another tool.")
	steward(t, trust...).mustExit(t, 1).mustSay(t, "something else now", "steward servers review s")
	if reviewed(t, data) {
		t.Fatal("a server was trusted that had changed since it was shown")
	}
	steward(t, "servers", "review", "s", "--data", data).mustExit(t, 0)
	steward(t, trust...).mustExit(t, 0)
	if !reviewed(t, data) {
		t.Fatal("what was shown and trusted is not used")
	}
	steward(t, trust...).mustExit(t, 0) // again changes nothing
}

// The first time, where nobody can be asked, trust writes out all that it covers.
func TestTrustInAScriptSaysWhatItCovers(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	twofaced(t, data)("Described so.")
	if out := steward(t, "servers", "trust", "s", "--data", data).mustExit(t, 0).out; !strings.Contains(out, "Described so.") {
		t.Errorf("trusted without saying what: %s", out)
	}
	if !reviewed(t, data) {
		t.Error("what was written out and trusted is not used")
	}
}

// At a terminal trust shows what there is and takes a whole yes.
func TestTrustAsksAtATerminal(t *testing.T) {
	t.Parallel()
	for answer, code := range map[string]int{"yes": 0, "y": 0, "no": 1, "n": 1} {
		data := t.TempDir()
		offers := twofaced(t, data)
		offers("Described so.")
		d := talk(t, prepared(t, "servers", "trust", "s", "--data", data))
		if screen := d.waitFor("Type yes or no"); !strings.Contains(screen, "Described so.") {
			t.Errorf("asked without showing: %s", screen)
		}
		d.answer(answer)
		d.end(code)
		if reviewed(t, data) != (code == 0) {
			t.Errorf("after %q: trusted %v", answer, code != 0)
		}
	}
}
