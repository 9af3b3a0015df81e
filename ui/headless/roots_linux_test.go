package headless

import (
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
