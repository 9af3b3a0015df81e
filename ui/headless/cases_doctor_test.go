//go:build linux

package headless

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each fault of a start is told as what it is, at the check it belongs to, with what to do.
func TestTheDoctorKnowsEachFaultOfAStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) map[string]any {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return map[string]any{"command": path}
	}
	sh := func(script string, more ...any) map[string]any {
		s := map[string]any{"command": "sh", "args": []string{"-c", script}}
		for i := 0; i+1 < len(more); i += 2 {
			s[more[i].(string)] = more[i+1]
		}
		return s
	}
	run := func(flags ...string) map[string]any { return scripted(flags...)["s"].(map[string]any) }
	bare := `initialize=@result {"protocolVersion":"2025-06-18","capabilities":{%},"serverInfo":{"name":"x","version":"1"}}`
	declares := func(what string) string { return strings.Replace(bare, "%", what, 1) }
	// flooding writes to standard error for ever beside the server; through runs it by a program of that name.
	flooding := func(s map[string]any) map[string]any {
		args := append([]string{"-c", `cat /dev/zero >&2 & exec "$@"`, "sh", s["command"].(string)}, s["args"].([]string)...)
		return map[string]any{"command": "/bin/sh", "args": args}
	}
	through := func(name string, s map[string]any) map[string]any {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\nexec \"$@\"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return map[string]any{"command": path, "args": append([]string{s["command"].(string)}, s["args"].([]string)...)}
	}
	cases := map[string]struct {
		server map[string]any
		check  string // that fails; "" for none
		says   string
		hint   string
	}{
		"not-found":        {map[string]any{"command": "no-such-runner"}, "program", "not found in PATH (/", "Install the program"},
		"node-not-found":   {map[string]any{"command": filepath.Join(dir, "none", "npx")}, "program", "does not exist", "Node.js"},
		"relative":         {map[string]any{"command": "./server"}, "program", "relative path", "full path"},
		"folder":           {map[string]any{"command": dir}, "program", "is a folder", "full path of the program inside it"},
		"no-folder":        {sh("exit 0", "cwd", "/no/such/folder"), "program", "/no/such/folder", "cwd"},
		"not-executable":   {file("plain", "#!/bin/sh\n", 0o600), "program", "not marked executable", "chmod +x"},
		"no-first-line":    {file("script", "echo hi\n", 0o700), "start", "neither a program", "first line"},
		"no-interpreter":   {file("odd", "#!/no/such/thing\n", 0o700), "start", "/no/such/thing", "interpreter"},
		"no-engine":        {file("engine", "#!/usr/bin/env no-such-engine\n", 0o700), "program", "no-such-engine", "Install"},
		"exit":             {sh("echo no such db: /x.db >&2; exit 3"), "start", "exit status 3.\nThe last that it wrote on standard error:\nno such db: /x.db\n", "in a terminal"},
		"exit-well":        {sh("exit 0"), "start", "exit status 0", "argument"},
		"not-found-inside": {sh("no-such-thing-inside"), "start", "exit status 127", "not found"},
		"help-on-stdout":   {sh("echo usage: server --stdio; exit 2"), "start", "belong, it wrote: usage: server --stdio", "argument"},
		"killed":           {sh("kill -9 $$"), "start", "signal: killed", "memory"},
		"silent":           {sh("cat > /dev/null", "startTimeout", "1s"), "protocol", "within 1s", "longer start time"},
		"noisy":            {sh("while echo it is me; do sleep 0.1; done", "startTimeout", "1s"), "protocol", "it wrote: it is me", "standard error"},
		"closed":           {run("--step", "initialize=@close-stdout", "--step", "initialize=@wait nothing"), "start", "it closed its standard output", "in a terminal"},
		"command-line":     {map[string]any{"command": "npx -y some-server"}, "program", "not found in PATH (/", `give "npx" alone as the command`},
		"sends-back":       {map[string]any{"command": "cat"}, "protocol", "sends back what it is sent", "shell"},
		"refused":          {run("--step", "initialize=@error -32000 no licence"), "protocol", "refused to begin: no licence (error -32000)", "key"},
		"version":          {run("--answer", "1999-01-01"), "protocol", "1999-01-01", "version"},
		"tools-unanswered": {having(run("--step", "tools/list=@wait nothing"), "startTimeout", "6s"), "tools", "did not answer tools/list within 6s", "start time"},
		"tools-failing":    {run("--step", "tools/list=@error -32603 database is locked"), "tools", "database is locked", "log"},
		"tools-unknown":    {run("--step", "tools/list=@error -32601 no"), "tools", "0 tools", "tools/list"},
		"list-too-large":   {having(run("--tools", "500", "--description", strings.Repeat("d", 4000)), "maxMessage", "1MiB"), "tools", "larger than 1 MiB", "maxMessage"},
		"undeclared":       {run("--step", declares("")), "tools", "asked all the same, it lists some (3", "capability"},
		"undeclared-none":  {run("--step", declares(""), "--step", "tools/list=@error -32601 no"), "tools", "neither tools nor prompts nor resources", "capability"},
		"prompts-alone":    {run("--step", declares(`"prompts":{}`), "--step", "tools/list=@error -32601 no"), "", "It has no tools; what it offers is: prompts.", ""},
		"floods":           {flooding(run()), "", "MB a second to standard error", "log less"},
		"unnamed":          {run("--step", `initialize=@result {"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}`), "", "does not say what it is called.", ""},
		"slow":             {run("--start", "@sleep 5500ms"), "", "slow to start", "what it waits for"},
		"slow-runner":      {through("uvx", run("--start", "@sleep 5500ms")), "", "slow to start", "npx"},
		"good":             {having(run(), "env", map[string]string{"API_TOKEN": "q8Zr2Lw7Xk71", "PLACE": "~/data"}), "", "API_TOKEN=••• PLACE=/", ""},
	}
	servers := map[string]any{}
	for name, tc := range cases {
		servers[name] = tc.server
	}
	r := steward(t, "doctor", "--json", "--servers", serversFile(t, servers), "--data", t.TempDir()).mustExit(t, 1)
	if strings.Contains(r.out, "q8Zr2Lw7Xk71") {
		t.Errorf("a secret is shown: %s", r.out)
	}
	var found []struct {
		Server string
		OK     bool
		Checks []struct {
			Check, Message, Hint string
			OK                   bool
		}
	}
	if err := json.Unmarshal([]byte(r.out), &found); err != nil || len(found) != len(cases) {
		t.Fatalf("%d servers of %d, %v", len(found), len(cases), err)
	}
	for _, d := range found {
		want := cases[d.Server]
		failed, said, hinted := "", false, false
		for _, c := range d.Checks {
			if !c.OK {
				failed = c.Check
			}
			said = said || strings.Contains(c.Message, want.says) && (c.OK == (want.check == ""))
			hinted = hinted || strings.Contains(c.Hint, want.hint) && (c.OK == (want.check == ""))
		}
		if failed != want.check || d.OK != (want.check == "") || !said || !hinted {
			t.Errorf("%s: %+v", d.Server, d)
		}
	}
}

// having is a server's entry with one more field.
func having(entry map[string]any, field string, value any) map[string]any {
	entry[field] = value
	return entry
}
