package headless

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"steward/testdata/scriptedmodel"
)

// traced is the minimal server, which notes in a file that somebody has started it.
func traced(t testing.TB, more ...string) (servers map[string]any, starts func() int) {
	t.Helper()
	trace := filepath.Join(t.TempDir(), "trace")
	script := "echo started >> '" + trace + "'; exec '" + binaries.minimal + "' \"$@\""
	servers = map[string]any{"s": map[string]any{"command": "sh", "args": append([]string{"-c", script, "sh"}, more...)}}
	return servers, func() int {
		data, err := os.ReadFile(trace)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return strings.Count(string(data), "started")
	}
}

// A program that nobody has reviewed is not run because somebody asked a model something,
// nor after its command line has changed; being asked to look at it is another matter.
func TestAnUnreviewedServerIsNotStarted(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	servers, starts := traced(t)
	writeServers(t, filepath.Join(data, "servers.json"), servers)
	_, flags := model(t, scriptedmodel.Say("Hello."), scriptedmodel.Say("Hello again."))
	idle := func(why string) {
		t.Helper()
		before := starts()
		all := lines(t, steward(t, with(flags, "ask", "hello", "--events", "--data", data)...).mustExit(t, 0).out)
		n := one(t, all, "notice")
		if n.str("kind") != "server_unreviewed" || n.str("server") != "s" || !strings.Contains(n.str("message"), why) || !strings.Contains(n.str("message"), "steward servers review s") {
			t.Errorf("notice: %s", n.text)
		}
		for _, command := range []string{"tools", "prompts", "resources"} {
			r := steward(t, command, "--data", data).mustExit(t, 0).mustSay(t, why, "steward servers review s")
			if r.out != "[]\n" {
				t.Errorf("%s: %s", command, r.out)
			}
		}
		steward(t, "call", "s", "get_weekly_report", weekly, "--consent", "allow", "--data", data).mustExit(t, 1).mustSay(t, why, "steward servers review s")
		if n := starts() - before; n != 0 {
			t.Errorf("it was started %d times", n)
		}
	}
	idle("nobody has reviewed it")
	for i, look := range [][]string{{"servers", "review", "s"}, {"doctor", "s"}, {"servers", "trust", "s"}} {
		steward(t, append(look, "--data", data)...)
		if starts() != i+1 {
			t.Errorf("%v did not start it", look)
		}
	}
	if r := steward(t, "tools", "--data", data).mustExit(t, 0); !strings.Contains(r.out, `"enabled":true`) || starts() != 4 {
		t.Errorf("reviewed, it is not used: %s", r.out)
	}
	script := servers["s"].(map[string]any)
	script["args"] = append(script["args"].([]string), "--changed")
	writeServers(t, filepath.Join(data, "servers.json"), servers)
	idle("its settings have changed")
}

// Servers of a file given for the run count as reviewed, and so does the built-in one.
func TestServersOfTheRunAreStarted(t *testing.T) {
	t.Parallel()
	servers, starts := traced(t)
	if r := steward(t, "tools", "--servers", serversFile(t, servers), "--data", t.TempDir()).mustExit(t, 0); starts() != 1 || !strings.Contains(r.out, "get_weekly_report") {
		t.Errorf("a server of --servers was not started: %s %s", r.out, r.errOut)
	}
	if r := steward(t, "tools", "--data", t.TempDir()).mustExit(t, 0); !strings.Contains(r.out, `"server":"demo"`) {
		t.Errorf("the demo server was not started: %s %s", r.out, r.errOut)
	}
}
