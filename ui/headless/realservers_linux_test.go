package headless

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"steward/testdata/scriptedmodel"
)

// Real servers from npm, on the Node.js that testdata/npm locks. `make servers` installs them.

// npmFile is a path below testdata/npm/node_modules.
func npmFile(t testing.TB, path string) string {
	t.Helper()
	full, err := filepath.Abs(filepath.Join("../../testdata/npm/node_modules", path))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(full); err != nil {
		if os.Getenv("CI") == "" {
			t.Skip("the real servers are not installed; make servers installs them")
		}
		t.Fatalf("the real servers are not installed; make servers installs them: %v", err)
	}
	return full
}

func nodeProgram(t testing.TB) string {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	return npmFile(t, "node-linux-"+arch+"/bin/node")
}

func everythingScript(t testing.TB) string {
	return npmFile(t, "@modelcontextprotocol/server-everything/dist/index.js")
}

// everythingHTTP starts server-everything on a loopback port of its own and returns its address.
func everythingHTTP(t *testing.T) string {
	t.Helper()
	preload, err := filepath.Abs("../../testdata/npm/loopback.mjs")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(nodeProgram(t), "--import", preload, everythingScript(t), "streamableHttp")
	cmd.Env = append(os.Environ(), "PORT=0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // its status is the kill's
	})
	port := make(chan string, 1)
	go func() {
		defer close(port)
		for s := bufio.NewScanner(stderr); s.Scan(); {
			if p, found := strings.CutPrefix(s.Text(), "LISTENING "); found {
				port <- p
			}
		}
	}()
	select {
	case p, ok := <-port:
		if ok {
			return "http://127.0.0.1:" + p + "/mcp"
		}
	case <-time.After(30 * time.Second):
	}
	t.Fatal("server-everything did not start listening")
	return ""
}

// realCall is one tool of a real server, called once.
type realCall struct {
	tool, arguments string
	code            int
	says            string   // in the result line
	flags           []string // more of them
}

// everythingCalls names every tool that server-everything offers this host.
var everythingCalls = []realCall{
	{tool: "echo", arguments: `{"message":"你好 <b>&"}`, says: `Echo: 你好 <b>&`},
	{tool: "get-annotated-message", arguments: `{"messageType":"error","includeImage":true}`, says: `"type":"image"`},
	{tool: "get-env", says: `\"PATH\"`},
	{tool: "get-resource-links", arguments: `{"count":2}`, says: `demo://resource/dynamic/text/2`},
	{tool: "get-resource-reference", arguments: `{"resourceType":"Text","resourceId":1}`, says: `demo://resource/dynamic/text/1`},
	{tool: "get-structured-content", arguments: `{"location":"Chicago"}`, says: `"structured":{"temperature":`},
	{tool: "get-sum", arguments: `{"a":2,"b":3.5}`, says: `5.5`},
	{tool: "get-tiny-image", says: `image/png`},
	{tool: "gzip-file-as-resource", arguments: `{"name":"a.gz","data":"data:text/plain,hello","outputType":"resource"}`, says: `application/gzip`},
	{tool: "toggle-simulated-logging", says: `Started simulated`},
	{tool: "toggle-subscriber-updates", says: `Started simulated`},
	{tool: "trigger-long-running-operation", arguments: `{"duration":1,"steps":4}`, says: `Steps: 4`},
	{tool: "get-roots-list", says: `shared-folder`},
	{tool: "trigger-elicitation-request", says: `declined`},
	{tool: "trigger-url-elicitation", arguments: `{"url":"https://example.com/x","message":"m"}`, says: `declined`},
	{tool: "trigger-sampling-request", arguments: `{"prompt":"hello","maxTokens":50}`, says: `Forty-two.`},
	// It is called as a task of MCP 2025-11-25, the second time with a question in between.
	{tool: "simulate-research-query", arguments: `{"topic":"x"}`, says: `# Research Report: x\n`},
	{tool: "simulate-research-query", arguments: `{"topic":"python","ambiguous":true}`, says: `# Research Report: python (User `},
}

// everything checks every tool of one server-everything, and that the list above misses none.
func everything(t *testing.T, entry map[string]any) {
	entry["sampling"] = true
	servers := serversFile(t, map[string]any{"everything": entry})
	root := filepath.Join(t.TempDir(), "shared-folder")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	offered := offeredTools(t, servers, "--root", root)
	for _, c := range everythingCalls {
		delete(offered, c.tool)
		t.Run(c.tool, func(t *testing.T) {
			t.Parallel()
			m := scriptedmodel.Start(t, scriptedmodel.Say("Forty-two."))
			c.flags = append(c.flags, "--base-url", m.URL(), "--model", "fake", "--root", root)
			real := c.run(t, "everything", servers)
			switch c.tool {
			case "trigger-long-running-operation":
				if n := len(only(real, "progress")); n < 3 {
					t.Errorf("%d progress events of an operation with 4 steps:\n%s", n, texts(real))
				}
			case "trigger-elicitation-request":
				if e := one(t, real, "elicitation"); e.str("mode") != "form" || e.str("action") != "decline" {
					t.Errorf("elicitation: %s", e.text)
				}
			case "simulate-research-query":
				if said := texts(only(real, "progress")); !strings.Contains(said, "Gathering sources...") {
					t.Errorf("what the server says of its task is not told: %s", said)
				}
				if asked := len(only(real, "elicitation")); (asked == 1) != strings.Contains(c.arguments, "ambiguous") {
					t.Errorf("%d questions", asked)
				}
			case "trigger-url-elicitation":
				if e := one(t, real, "elicitation"); e.str("mode") != "url" || e.str("action") != "decline" {
					t.Errorf("elicitation: %s", e.text)
				}
			case "trigger-sampling-request":
				if s := one(t, real, "sampling"); s.str("action") != "sent" || len(m.Requests()) != 1 {
					t.Errorf("sampling: %s; %d requests to the model", s.text, len(m.Requests()))
				}
			case "get-env":
				if text := one(t, real, "result").text; strings.Contains(text, canary) {
					t.Errorf("the host's environment reached the server: %s", text)
				}
			}
		})
	}
	for tool := range offered {
		t.Errorf("the tool %s is offered, and no test calls it", tool)
	}
}

const canary = "sentinel-3141592653"

// run calls the tool through `steward call` and checks how it ended and what stands in the journal.
func (c realCall) run(t *testing.T, server, servers string) []line {
	t.Helper()
	data := t.TempDir()
	args := append([]string{"call", server, c.tool, "--data", data, "--servers", servers, "--events",
		"--consent", "allow", "--elicit", "defaults", "--sampling", "allow"}, c.flags...)
	if c.arguments != "" {
		args = append(args, c.arguments)
	}
	cmd := prepared(t, args...)
	cmd.Env = append(cmd.Env, "OPENAI_API_KEY="+canary)
	got := lines(t, finish(t, cmd).mustExit(t, c.code).out)
	res := one(t, got, "result")
	if !strings.Contains(res.text, c.says) {
		t.Errorf("the result does not say %q: %s", c.says, res.text)
	}
	for _, l := range only(got, "notice") {
		if l.str("kind") == "server_unreviewed" {
			t.Errorf("a server given for this run is called unreviewed: %s", l.text)
		}
	}
	outcome := "ok"
	if c.code == exitToolError {
		outcome = "tool_error"
	}
	var records []map[string]any
	out := steward(t, "journal", "list", "--json", "--kind", "call", "--data", data).mustExit(t, 0).out
	if err := json.Unmarshal([]byte(out), &records); err != nil || len(records) != 1 || records[0]["outcome"] != outcome || records[0]["tool"] != c.tool {
		t.Errorf("the journal does not hold the one call with outcome %s: %v\n%s", outcome, err, out)
	}
	steward(t, "journal", "verify", "--data", data).mustExit(t, 0)
	return got
}

// offeredTools is the set of tools that `steward tools` names.
func offeredTools(t *testing.T, servers string, flags ...string) map[string]bool {
	t.Helper()
	out := steward(t, append([]string{"tools", "--data", t.TempDir(), "--servers", servers, "--sampling", "allow"}, flags...)...).mustExit(t, 0).out
	var tools []struct{ Tool string }
	if err := json.Unmarshal([]byte(out), &tools); err != nil {
		t.Fatalf("tools: %v\n%s", err, out)
	}
	set := map[string]bool{}
	for _, tool := range tools {
		set[tool.Tool] = true
	}
	return set
}

func TestEveryToolOfServerEverythingOverStdio(t *testing.T) {
	t.Parallel()
	everything(t, map[string]any{"command": nodeProgram(t), "args": []string{everythingScript(t), "stdio"}})
}

func TestEveryToolOfServerEverythingOverHTTP(t *testing.T) {
	t.Parallel()
	everything(t, map[string]any{"url": everythingHTTP(t)})
}

// server-filesystem takes its folders from its arguments, and from roots where it is given any.
func TestEveryToolOfServerFilesystem(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	quoted := fmt.Sprintf
	notes, pixel := write("笔记.txt", "第一行\nsecond line\n"), write("pixel.png", "\x89PNG\r\n\x1a\n")
	moving, editing := write("old.txt", "to move"), write("edit.txt", "one two")
	servers := serversFile(t, map[string]any{"fs": map[string]any{
		"command": nodeProgram(t), "args": []string{npmFile(t, "@modelcontextprotocol/server-filesystem/dist/index.js"), folder},
	}})
	calls := []realCall{
		{tool: "read_file", arguments: quoted(`{"path":%q}`, notes), says: "第一行"},
		{tool: "read_text_file", arguments: quoted(`{"path":%q,"head":1}`, notes), says: "第一行"},
		{tool: "read_media_file", arguments: quoted(`{"path":%q}`, pixel), says: `image/png`},
		{tool: "read_multiple_files", arguments: quoted(`{"paths":[%q,%q]}`, notes, moving), says: "second line"},
		{tool: "write_file", arguments: quoted(`{"path":%q,"content":"新的"}`, filepath.Join(folder, "new.txt")), says: "Successfully"},
		{tool: "edit_file", arguments: quoted(`{"path":%q,"edits":[{"oldText":"two","newText":"three"}]}`, editing), says: "three"},
		{tool: "create_directory", arguments: quoted(`{"path":%q}`, filepath.Join(folder, "made")), says: "Successfully"},
		{tool: "list_directory", arguments: quoted(`{"path":%q}`, folder), says: "笔记.txt"},
		{tool: "list_directory_with_sizes", arguments: quoted(`{"path":%q}`, folder), says: "Total"},
		{tool: "directory_tree", arguments: quoted(`{"path":%q}`, folder), says: "笔记.txt"},
		{tool: "move_file", arguments: quoted(`{"source":%q,"destination":%q}`, moving, filepath.Join(folder, "moved.txt")), says: "Successfully"},
		{tool: "search_files", arguments: quoted(`{"path":%q,"pattern":"*.png"}`, folder), says: "pixel.png"},
		{tool: "get_file_info", arguments: quoted(`{"path":%q}`, notes), says: "size"},
		{tool: "list_allowed_directories", says: folder},
	}
	offered := offeredTools(t, servers)
	for _, c := range calls {
		delete(offered, c.tool)
		t.Run(c.tool, func(t *testing.T) { c.run(t, "fs", servers) })
	}
	for tool := range offered {
		t.Errorf("the tool %s is offered, and no test calls it", tool)
	}
	t.Run("what they left behind", func(t *testing.T) {
		for name, want := range map[string]string{"new.txt": "新的", "edit.txt": "one three", "moved.txt": "to move"} {
			if got, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(got) != want {
				t.Errorf("%s holds %q, want %q (%v)", name, got, want, err)
			}
		}
	})
	t.Run("a folder shared as a root", func(t *testing.T) {
		shared := t.TempDir()
		if err := os.WriteFile(filepath.Join(shared, "in-root.txt"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		c := realCall{tool: "list_directory", arguments: quoted(`{"path":%q}`, shared), says: "in-root.txt", flags: []string{"--root", shared}}
		c.run(t, "fs", servers)
	})
}

// A whole turn with a real server: the model asks, the call is allowed, the model answers from the result.
func TestATurnWithServerEverything(t *testing.T) {
	t.Parallel()
	for name, entry := range map[string]map[string]any{
		"stdio": {"command": nodeProgram(t), "args": []string{everythingScript(t), "stdio"}},
		"http":  {"url": everythingHTTP(t)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, flags := model(t, scriptedmodel.CallTool("get-sum", `{"a":20,"b":22}`), scriptedmodel.Say("It is 42."))
			servers := serversFile(t, map[string]any{"everything": entry})
			r := steward(t, with(flags, "ask", "What is 20 and 22?", "--data", t.TempDir(), "--servers", servers, "--consent", "allow")...).mustExit(t, 0)
			if strings.TrimSpace(r.out) != "It is 42." {
				t.Errorf("the answer on stdout is %q", r.out)
			}
			if requests := m.Requests(); len(requests) != 2 || !strings.Contains(string(requests[1].Body), "The sum of 20 and 22 is 42.") {
				t.Errorf("the result did not reach the model in a second request (%d requests)", len(requests))
			}
		})
	}
}
