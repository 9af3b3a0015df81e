//go:build linux

package headless

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	. "steward/testdata/scriptedmodel"
)

// byHand makes one call by hand of the server "s" and says how long it took.
func byHand(t testing.TB, servers map[string]any, tool string, more ...string) (result, time.Duration) {
	t.Helper()
	start := time.Now()
	r := steward(t, append([]string{"call", "s", tool, "--consent", "allow", "--events", "--data", t.TempDir(), "--servers", serversFile(t, servers)}, more...)...)
	return r, time.Since(start)
}

func shell(script string, more map[string]any) map[string]any {
	s := map[string]any{"command": "sh", "args": []string{"-c", script}}
	for k, v := range more {
		s[k] = v
	}
	return map[string]any{"s": s}
}

// What a server writes beside its messages, how long its lines are and how it lists its
// tools breaks nothing.
func TestServersThatAreLivedWith(t *testing.T) {
	t.Parallel()
	run := binaries.scripted
	for name, tc := range map[string]struct {
		servers map[string]any
		tool    string
		more    []string
		says    string
	}{
		"banners, emoji, empty lines and bad UTF-8": {shell(`printf 'Server v1 running on stdio\n🖥️ mode: STDIO\n\n\377\376 bad\n{"a":\n[]\n7\n\357\273\277'; exec `+run, nil), "echo", nil, `"ok"`},
		"CRLF line ends":                    {shell(run+` | while IFS= read -r l; do printf '%s\r\n' "$l"; done`, nil), "echo", nil, `"ok"`},
		"5 MB of stderr without a line end": {scripted(), "flood", nil, `"ok"`},
		"a line between request and answer": {scripted(), "noisy", nil, `"ok"`},
		"a line of 70 kB":                   {scripted("--step", "tool:long=@big 70000"), "long", nil, strings.Repeat("b", 70000)},
		"a line of 5 MB":                    {scripted(), "big", nil, strings.Repeat("b", 5000000)},
		"450 tools of 4 kB":                 {scripted("--tools", "450", "--description", strings.Repeat("d", 4000)), "tool-0450", nil, `"ok"`},
		"pages of two":                      {scripted("--page-size", "2"), "twice", nil, `"ok"`},
		"a cursor that stays the same":      {scripted("--page-size", "8", "--pages", "repeat"), "echo", nil, `"ok"`},
		"two cursors in turn":               {scripted("--page-size", "8", "--pages", "alternate"), "echo", nil, `"ok"`},
		"ever new cursors":                  {scripted("--page-size", "8", "--pages", "endless"), "echo", nil, `"ok"`},
		"list_changed during the call":      {scripted(), "changes", nil, `"ok"`},
		"progress longer than the limit":    {scripted("--step", "tool:p=@progress 12 100ms", "--step", "tool:p=@text done"), "p", []string{"--tool-timeout", "700ms"}, `"ok"`},
		"odd progress": {scripted("--step", `tool:p=@notify notifications/progress {"progressToken":"${token}","progress":5}`, "--step", `tool:p=@notify notifications/progress {"progressToken":${token},"progress":2}`,
			"--step", `tool:p=@notify notifications/progress {"progressToken":"unknown","progress":"x","total":null}`, "--step", "tool:p=@text done", "--step", `tool:p=@notify notifications/progress {"progressToken":${token},"progress":9}`), "p", nil, `"ok"`},
		"two answers":                   {scripted(), "twice", nil, "once"},
		"an id sent back as text":       {scripted("--step", `tool:p={"jsonrpc":"2.0","id":"${id}","result":{"content":[{"type":"text","text":"done"}]}}`), "p", []string{"--tool-timeout", "2s"}, `"result"`},
		"content of an unknown kind":    {scripted(), "unknown-content", nil, "seen"},
		"a picture that is none":        {scripted(), "bad-base64", nil, `"ok"`},
		"null among the contents":       {scripted(), "null-item", nil, `"result"`},
		"ending the input is ignored":   {scripted("--ignore-end"), "echo", nil, `"ok"`},
		"server/discover is not known":  {scripted("--discover", "null-id"), "echo", nil, `"ok"`},
		"server/discover ends it":       {scripted("--discover", "exit"), "echo", nil, `"ok"`},
		"server/discover is answered":   {scripted("--discover", "answer"), "echo", nil, `"ok"`},
		"it speaks the oldest version":  {scripted("--protocol", "2024-11-05"), "echo", nil, `"protocol":"2024-11-05"`},
		"it answers with another one":   {scripted("--answer", "2025-03-26"), "echo", nil, `"protocol":"2025-03-26"`},
		"an empty elicitation by flags": {scripted("--step", `tool:p=@ask elicitation/create {"message":"?","requestedSchema":{"type":"object","properties":{}}}`, "--step", "tool:p=@text ${answer}"), "p", []string{"--elicit", "decline"}, `decline`},
		"a form that cannot be shown":   {scripted("--step", `tool:p=@ask elicitation/create {"message":"?","requestedSchema":{"type":"object","properties":{"o":{"type":"object","properties":{"a":{"type":"object"}}}}}}`, "--step", "tool:p=@text ${answer}"), "p", []string{"--elicit", "decline"}, `-32602`},
		"a request nobody knows":        {scripted("--step", `tool:p=@ask nobody/knows {}`, "--step", "tool:p=@text ${answer}"), "p", nil, `-32601`},
		"a ping during the call":        {scripted("--step", `tool:p=@ask ping`, "--step", "tool:p=@text pong ${answer}"), "p", nil, `pong {}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, took := byHand(t, tc.servers, tc.tool, tc.more...)
			r.mustExit(t, 0)
			if !strings.Contains(r.out, tc.says) || took > 20*time.Second {
				t.Errorf("after %s: %.2000s", took, r.out)
			}
		})
	}
}

// A server that does not work is said to, with its own words, and nobody waits for it.
func TestServersThatDoNotWork(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		servers map[string]any
		tool    string
		more    []string
		says    []string
		limit   time.Duration
	}{
		"it ends at once":              {shell(`echo "no such db: /x.db" >&2; exit 3`, nil), "echo", nil, []string{"no such db: /x.db", "3"}, 5 * time.Second},
		"it ends at once, saying much": {shell(`i=0; while [ $i -lt 3000 ]; do echo "line $i of stderr"; i=$((i+1)); done >&2; exit 1`, nil), "echo", nil, []string{"line 2999 of stderr"}, 5 * time.Second},
		"no such program":              {map[string]any{"s": map[string]any{"command": "no-such-program-at-all"}}, "echo", nil, []string{"no-such-program-at-all", "/usr/bin"}, 5 * time.Second},
		"no such folder":               {shell("exit 0", map[string]any{"cwd": "/no/such/folder"}), "echo", nil, []string{"/no/such/folder"}, 5 * time.Second},
		"it never answers":             {shell("cat > /dev/null; sleep 60", map[string]any{"startTimeout": "700ms"}), "echo", nil, []string{"s"}, 8 * time.Second},
		"it answers nonsense":          {shell(`while read -r l; do echo '{"jsonrpc":"2.0","id":1,"result":7}'; done`, map[string]any{"startTimeout": "2s"}), "echo", nil, []string{"s"}, 10 * time.Second},
		"a version nobody knows":       {scripted("--answer", "1999-01-01"), "echo", nil, []string{"1999-01-01"}, 8 * time.Second},
		"it ends in the call":          {scripted(), "die", nil, []string{"out of luck"}, 8 * time.Second},
		"it closes its output":         {scripted(), "mute", []string{"--tool-timeout", "20s"}, nil, 10 * time.Second},
		"it says nothing more":         {scripted(), "never", []string{"--tool-timeout", "500ms"}, []string{"call_timeout"}, 8 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, took := byHand(t, tc.servers, tc.tool, tc.more...)
			if r.code != 1 || took > tc.limit {
				t.Errorf("exit status %d after %s, want 1 within %s", r.code, took, tc.limit)
			}
			for _, want := range tc.says {
				if !strings.Contains(r.out+r.errOut, want) {
					t.Errorf("it is not told %q: %s%s", want, r.out, r.errOut)
				}
			}
		})
	}
}

// A server that stops reading holds up neither the call's limit nor the end.
func TestAServerThatStopsReading(t *testing.T) {
	t.Parallel()
	big := `{"text":"` + strings.Repeat("x", 1<<20) + `"}`
	m, flags := model(t, CallTool("deaf", "{}"), CallTool("echo", big), Say("Done."))
	start := time.Now()
	all := lines(t, steward(t, with(flags, "ask", "go", "--consent", "allow", "--tool-timeout", "700ms", "--events", "--data", t.TempDir(), "--servers", serversFile(t, scripted("--only", "echo", "--only", "deaf")))...).mustExit(t, 0).out)
	res := only(all, "result")
	if last := res[len(res)-1]; len(res) != 2 || last.str("outcome") != "timeout" || last.str("effect") != "unknown" || time.Since(start) > 15*time.Second {
		t.Errorf("after %s: %s", time.Since(start), last.text)
	}
	if p := m.Problems(); len(p) > 0 {
		t.Error(p)
	}
}

// No process of a server outlives the program, however it ends and however the server
// was started.
func TestNoProcessIsLeft(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		tool   string
		script string
		end    func(*testing.T, *dialogue)
	}{
		"finished":     {"echo", "exec " + binaries.scripted + " --ignore-end", func(_ *testing.T, d *dialogue) { d.end(0) }},
		"wrapped":      {"echo", binaries.scripted + " --ignore-end", func(_ *testing.T, d *dialogue) { d.end(0) }},
		"failed start": {"", "sleep 1; exit 3", func(_ *testing.T, d *dialogue) { d.end(0) }},
		"Ctrl+C":       {"never", binaries.scripted, func(_ *testing.T, d *dialogue) { d.typed("\x03"); d.end(3) }},
		"SIGTERM":      {"never", binaries.scripted, func(_ *testing.T, d *dialogue) { d.cmd.Process.Signal(syscall.SIGTERM); d.end(3) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pids := filepath.Join(t.TempDir(), "pids")
			script := fmt.Sprintf(`(trap "" TERM HUP INT; echo $$ > %[1]s.parent; sh -c 'echo $$ > %[1]s; exec sleep 300' <&- ) & %[2]s`, pids, tc.script)
			steps := []Step{Say("Done.")}
			if tc.tool != "" {
				steps = []Step{CallTool(tc.tool, "{}"), Say("Done.")}
			}
			_, flags := model(t, steps...)
			d := talk(t, prepared(t, with(flags, "ask", "go", "--consent", "allow", "--data", t.TempDir(), "--servers", serversFile(t, shell(script, nil)))...))
			if tc.tool == "never" {
				d.waitFor("allowed")
			}
			start := time.Now()
			tc.end(t, d)
			if took := time.Since(start); took > 15*time.Second {
				t.Errorf("it took %s to end", took)
			}
			if alive(t, pids) {
				t.Error("a process of the server is left")
			}
		})
	}
}

// A tool goes to the server it is of, whatever the servers and tools are called.
func TestTheRightServerRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	servers := map[string]any{}
	for _, s := range []struct{ name, tool string }{{"prod", "execute_sql"}, {"test", "execute_sql"}, {"a_b", "c"}, {"a", "b_c"}, {"a__b", "c"}, {"数据", "c"}, {"数據", "c"}} {
		servers[s.name] = map[string]any{"command": binaries.scripted, "args": []string{"--name", "filesystem", "--record", filepath.Join(dir, s.name), "--only", s.tool, "--step", "tool:" + s.tool + "=@text " + s.name}}
	}
	file, data := serversFile(t, servers), t.TempDir()
	for _, l := range array(t, steward(t, "tools", "--data", data, "--servers", file).mustExit(t, 0).out) {
		m, flags := model(t, Reply(CallDelta(0, "1", l.str("name"), "{}"), Finish("tool_calls"), Done()), Say("Done."))
		all := lines(t, steward(t, with(flags, "ask", "go", "--consent", "allow", "--events", "--data", data, "--servers", file)...).mustExit(t, 0).out)
		if c, r := one(t, all, "call"), one(t, all, "result"); c.str("server") != l.str("server") || !strings.Contains(r.text, `"text":"`+l.str("server")+`"`) {
			t.Errorf("%s: %s\n%s", l.text, c.text, r.text)
		}
		if p := m.Problems(); len(p) > 0 {
			t.Error(p)
		}
	}
}

// Stopping tells the server in neutral words, ends at once and is recorded as it is.
func TestStoppingTellsTheServer(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"never", "late", "elicit"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			d, p := atTerminal(t, strict(CallTool(tool, `{"mail":"boss"}`)), nil, "--consent", "allow")
			if tool == "elicit" {
				d.waitFor("How old?")
			} else {
				d.waitFor("allowed")
				time.Sleep(200 * time.Millisecond)
			}
			start := time.Now()
			d.typed("\x03")
			d.end(3)
			if took := time.Since(start); took > 8*time.Second {
				t.Errorf("it took %s to end", took)
			}
			raw, err := os.ReadFile(p.seen)
			if err != nil {
				t.Fatal(err)
			}
			i := bytes.Index(raw, []byte(`"method":"notifications/cancelled"`))
			if i < 0 {
				t.Fatalf("the server was not told: %s", raw)
			}
			if host, err := os.Hostname(); err != nil || bytes.Contains(raw, []byte(host)) || bytes.Contains(raw, []byte("HOME")) || bytes.Contains(raw, []byte("go\"")) {
				t.Errorf("the server learns more than it needs: %s", raw)
			}
			if tool == "elicit" && !bytes.Contains(raw, []byte(`"action":"cancel"`)) {
				t.Errorf("the question of the server was not answered: %s", raw)
			}
			if got := p.calls(t); len(got) != 1 || !strings.HasSuffix(got[0], "cancelled") {
				t.Errorf("the journal: %q", got)
			}
			p.goOn(t)
		})
	}
}

// A server asks the model only within limits, several times at once, and gets an error
// where it may not.
func TestServersThatAskTheModel(t *testing.T) {
	t.Parallel()
	const ask = `sampling/createMessage {"messages":[{"role":"user","content":{"type":"text","text":"sum"}}],"maxTokens":%s}`
	p := play(t, Script{Steps: []Step{CallTool("p", "{}"), Say("forty-two")}, Repeat: true}, []string{"--only", "p", "--step", "tool:p=@repeat 4 @ask-only " + fmt.Sprintf(ask, "50"),
		"--step", "tool:p=@ask " + fmt.Sprintf(ask, "10000000"), "--step", "tool:p=@sleep 500ms", "--step", "tool:p=@text ${answer}"}, "--sampling", "allow")
	p.mustExit(t, 0)
	if n := len(only(p.all, "sampling")); n != 5 {
		t.Errorf("%d sampling lines, want 5:\n%s", n, texts(p.all))
	}
	for _, r := range p.model.Requests() {
		if bytes.Contains(r.Body, []byte("10000000")) {
			t.Errorf("the limit of the server is passed on: %s", r.Body)
		}
	}
}

// What a server gets from its surroundings: its own variables, expanded, and a place to
// be, but nothing of the model's key.
func TestTheSurroundingsOfAServer(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "env")
	servers := serversFile(t, shell("env > "+out+"; pwd >> "+out+"; exec "+binaries.scripted, map[string]any{"env": map[string]string{"TOKEN": "$MY_TOKEN", "P": "~/data", "EMPTY": ""}}))
	_, flags := model(t, Say("Hi."))
	cmd := prepared(t, with(flags, "ask", "hi", "--api-key-env", "MODEL_KEY", "--data", t.TempDir(), "--servers", servers)...)
	cmd.Env = append(cmd.Env, "MODEL_KEY=SENTINEL-model-key", "MY_TOKEN=tok-12345678", "OTHER=SENTINEL-other")
	finish(t, cmd).mustExit(t, 0)
	raw, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(strings.TrimSpace(string(raw)), "\n")
	home := ""
	for _, e := range cmd.Env {
		if v, ok := strings.CutPrefix(e, "HOME="); ok {
			home = v
		}
	}
	for _, want := range []string{"TOKEN=tok-12345678", "P=" + home + "/data", "EMPTY=", "HOME=" + home} {
		if !slices.Contains(all, want) {
			t.Errorf("the server lacks %s: %q", want, all)
		}
	}
	if strings.Contains(string(raw), "SENTINEL") || all[len(all)-1] == "/" {
		t.Errorf("the server has what it should not: %q", all)
	}
}

// A program started from a menu finds what the login shell would find, however noisy or
// slow that shell's files are.
func TestProgramsThatOnlyTheLoginShellFinds(t *testing.T) {
	t.Parallel()
	for name, rc := range map[string]string{
		"in a version manager's folder": "",
		"in the shell's PATH":           "echo Welcome back; printf '\\033[2J'; export PATH=\"$HOME/odd place/bin:$PATH\"\n",
		"beside a shell that hangs":     "sleep 30\n",
		"beside a shell that fails":     "exec /no/such/shell\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			bin := filepath.Join(home, ".nvm", "versions", "node", "v22.1.0", "bin")
			if strings.Contains(name, "PATH") {
				bin = filepath.Join(home, "odd place", "bin")
			}
			if err := os.MkdirAll(bin, 0o700); err != nil {
				t.Fatal(err)
			}
			for file, text := range map[string]string{
				filepath.Join(bin, "steward-runner"): "#!/usr/bin/env steward-engine\n",
				filepath.Join(bin, "steward-engine"): "#!/bin/sh\nexec " + binaries.scripted + "\n",
			} {
				if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			for _, file := range []string{".bashrc", ".profile", ".bash_profile"} {
				if err := os.WriteFile(filepath.Join(home, file), []byte(rc), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := prepared(t, "call", "s", "echo", "--consent", "allow", "--data", filepath.Join(home, "data"), "--servers", serversFile(t, map[string]any{"s": map[string]any{"command": "steward-runner", "args": []string{"-y"}}}))
			cmd.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin", "SHELL=/bin/bash"}
			start := time.Now()
			finish(t, cmd).mustExit(t, 0)
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// One server that takes long to start holds up neither the others nor the answer.
func TestASlowServerHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	servers := map[string]any{"slow": shell("echo npm http fetch GET x >&2; sleep 75; exec "+binaries.scripted, nil)["s"]}
	for i := range 4 {
		servers[fmt.Sprint("s", i)] = map[string]any{"command": binaries.scripted, "args": []string{"--only", "echo"}}
	}
	m, flags := model(t, CallTool("echo", `{"text":"x"}`), Say("Done."))
	start := time.Now()
	all := lines(t, steward(t, with(flags, "ask", "go", "--consent", "allow", "--events", "--data", t.TempDir(), "--servers", serversFile(t, servers))...).mustExit(t, 0).out)
	first := m.Requests()[0].Time.Sub(start)
	if first > 20*time.Second || time.Since(start) > 30*time.Second || one(t, all, "result").str("outcome") != "ok" {
		t.Errorf("the first request after %s, the end after %s:\n%s", first, time.Since(start), texts(all))
	}
	if said := texts(all); !strings.Contains(said, "“npm http fetch GET x”") {
		t.Errorf("what it writes meanwhile is not told:\n%s", said)
	}
}
