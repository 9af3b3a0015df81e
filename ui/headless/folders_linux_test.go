package headless

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A folder that must not be shared ends the command with its reason; one in a server's entry
// is left out, and said by each command that starts the server.
func TestRefusedFoldersAreSaid(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	keys := filepath.Join(base, ".ssh")
	if err := os.Mkdir(keys, 0o700); err != nil {
		t.Fatal(err)
	}
	servers, data := serversFile(t, scripted()), filepath.Join(base, "data")
	for _, args := range [][]string{{"tools"}, {"call", "s", "echo"}, {"ask", "hello"}, {"doctor"}} {
		steward(t, append(args, "--root", keys, "--data", data, "--servers", servers)...).mustExit(t, 2).mustSay(t, "There are keys in "+keys)
	}
	entry := scripted()
	entry["s"].(map[string]any)["roots"] = []string{keys}
	servers = serversFile(t, entry)
	steward(t, "call", "s", "roots", "--consent", "allow", "--data", data, "--servers", servers).mustExit(t, 0).mustSay(t, "There are keys in "+keys)
	for _, args := range [][]string{{"servers", "review", "s"}, {"doctor", "s"}, {"tools"}} {
		if r := steward(t, append(args, "--data", data, "--servers", servers)...); !strings.Contains(r.out+r.errOut, "There are keys in "+keys) {
			t.Errorf("%v says %s%s", args, r.out, r.errOut)
		}
	}
}

// What doctor cuts short in its text stands whole in its JSON.
func TestDoctorListsAllProblemsAsJSON(t *testing.T) {
	t.Parallel()
	tools := make([]string, 9)
	for i := range tools {
		tools[i] = fmt.Sprintf(`{"name":"t%d","inputSchema":%d}`, i, i)
	}
	// The lists beside that of the tools are looked at too.
	prompts := []string{"--step", `initialize=@result {"protocolVersion":"2025-06-18","capabilities":{"tools":{},"prompts":{}}}`, "--step", `prompts/list=@result {"prompts":[{"name":7}]}`}
	list := `tools/list=@result {"tools":[{"name":"good","inputSchema":{"type":"object"}},` + strings.Join(tools, ",") + `]}`
	servers, data := serversFile(t, scripted(append(prompts, "--step", list)...)), t.TempDir()
	if text := steward(t, "doctor", "--data", data, "--servers", servers).out; !strings.Contains(text, "And 5 more; the command steward doctor s --json lists all.") {
		t.Errorf("text: %s", text)
	}
	var found []struct{ Problems []string }
	out := steward(t, "doctor", "--json", "--data", data, "--servers", servers).out
	if err := json.Unmarshal([]byte(out), &found); err != nil || len(found) != 1 || len(found[0].Problems) != 10 || !strings.Contains(found[0].Problems[8], "t8") || !strings.HasPrefix(found[0].Problems[9], "prompt number 1: ") {
		t.Errorf("%v: %s", err, out)
	}
	steward(t, "prompts", "--data", data, "--servers", servers).mustExit(t, 0).mustSay(t, "some was left out", "its name is of the wrong type")
	steward(t, "tools", "--data", data, "--servers", servers).mustExit(t, 0).mustSay(t, "some was left out", "And 8 more")
}
