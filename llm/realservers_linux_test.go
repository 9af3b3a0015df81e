package llm

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"steward/testdata/schemarules"
)

// serverTool is a tool as a server lists it.
type serverTool struct {
	Name        string          `json:"name"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// listTools starts a real server from npm and asks it for its tools, without any client of ours.
func listTools(t *testing.T, env []string, script string, args ...string) []serverTool {
	t.Helper()
	modules, err := filepath.Abs("../testdata/npm/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	node := filepath.Join(modules, "node-linux-"+map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH], "bin/node")
	if _, err := os.Stat(node); err != nil {
		if os.Getenv("CI") == "" {
			t.Skip("the real servers are not installed; make servers installs them")
		}
		t.Fatalf("the real servers are not installed; make servers installs them: %v", err)
	}
	cmd := exec.Command(node, append([]string{filepath.Join(modules, script)}, args...)...)
	cmd.Env, cmd.Dir = append(os.Environ(), env...), t.TempDir()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := time.AfterFunc(3*time.Minute, func() { _ = cmd.Process.Kill() })
	defer func() {
		stop.Stop()
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // its status is the kill's
	}()
	lines := bufio.NewReader(out)
	answer := func(id int) json.RawMessage {
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				t.Fatalf("%s ended before it answered: %v", script, err)
			}
			var m struct {
				ID     int
				Result json.RawMessage
			}
			if json.Unmarshal(line, &m) == nil && m.ID == id && m.Result != nil {
				return m.Result
			}
		}
	}
	say := func(line string) {
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{},"sampling":{},"elicitation":{}},"clientInfo":{"name":"test","version":"1"}}}`)
	answer(1)
	say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	say(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	var list struct{ Tools []serverTool }
	if err := json.Unmarshal(answer(2), &list); err != nil {
		t.Fatal(err)
	}
	return list.Tools
}

// The schemas of all real servers, for each profile: its strict checker takes them, and what
// the profile allows is all there.
func TestSchemasOfRealServers(t *testing.T) {
	t.Parallel()
	total := 0
	dir := t.TempDir()
	for _, s := range []struct {
		script string
		args   []string
		least  int
	}{
		{"@modelcontextprotocol/server-everything/dist/index.js", nil, 10},
		{"@modelcontextprotocol/server-filesystem/dist/index.js", []string{dir}, 10},
		{"@modelcontextprotocol/server-memory/dist/index.js", nil, 8},
		{"@modelcontextprotocol/server-sequential-thinking/dist/index.js", nil, 1},
		{"@modelcontextprotocol/server-pdf/dist/index.js", []string{"--stdio"}, 2},
		{"@cyanheads/git-mcp-server/dist/index.js", nil, 25},
	} {
		env := []string{"HOME=" + dir, "MCP_LOG_LEVEL=error", "MCP_TRANSPORT_TYPE=stdio", "LOGS_DIR=" + filepath.Join(dir, "logs"), "MEMORY_FILE_PATH=" + filepath.Join(dir, "memory.json")}
		tools := listTools(t, env, s.script, s.args...)
		if len(tools) < s.least {
			t.Errorf("%s has %d tools", s.script, len(tools))
		}
		for _, tool := range tools {
			checkTool(t, tool)
			total++
		}
	}
	t.Logf("%d tools for %d profiles", total, len(table))
}

func checkTool(t *testing.T, tool serverTool) {
	t.Helper()
	var before map[string]any
	if err := json.Unmarshal(tool.InputSchema, &before); err != nil {
		t.Fatal(err)
	}
	done := map[Dialect]bool{}
	for _, e := range table {
		p := e.habits
		if done[p.Dialect] {
			continue // what another profile with the same dialect is sent is the same
		}
		done[p.Dialect] = true
		out := normaliseSchema(tool.InputSchema, p.Dialect)
		for _, found := range schemarules.Check(string(p.Dialect), out) {
			t.Errorf("%s for %s: %s\nwas %s\nis %s", tool.Name, p.Name, found, tool.InputSchema, out)
		}
		var after map[string]any
		if err := json.Unmarshal(out, &after); err != nil {
			t.Fatal(err)
		}
		l := loss{root: before, rules: dialectRules[p.Dialect]}
		l.compare("#", before, after)
		for _, lost := range l.found {
			t.Errorf("%s for %s lost %s\nwas %s\nis %s", tool.Name, p.Name, lost, tool.InputSchema, out)
		}
	}
}

// loss finds what a dialect knows and a rewritten schema no longer says.
type loss struct {
	root  map[string]any
	rules rules
	depth int
	found []string
}

func (l *loss) say(path, format string, args ...any) {
	l.found = append(l.found, path+": "+fmt.Sprintf(format, args...))
}

// target follows a reference into the schema, as far as the real servers use them.
func (l *loss) target(s map[string]any) map[string]any {
	ref, _ := s["$ref"].(string)
	if ref == "" {
		return s
	}
	at := any(l.root)
	for _, step := range strings.Split(strings.TrimPrefix(ref, "#"), "/") {
		if m, ok := at.(map[string]any); ok && step != "" {
			at = m[step]
		}
	}
	m, _ := at.(map[string]any)
	return m
}

func (l *loss) compare(path string, before, after map[string]any) {
	if l.depth++; l.depth > 40 {
		return // a circle, which was cut
	}
	defer func() { l.depth-- }()
	before = l.target(before)
	for word, v := range before {
		known := l.rules.words == nil || slices.Contains(l.rules.words, word)
		switch word {
		case "$schema", "$id", "$defs", "definitions", "$ref", "type", "anyOf", "oneOf", "allOf", "const", "prefixItems":
			l.alternatives(path, word, v, after)
		case "properties":
			for name, p := range v.(map[string]any) {
				sub, ok := under(after, "properties", name)
				if !ok {
					l.say(path, "the property %s", name)
				} else if p, ok := p.(map[string]any); ok {
					l.compare(path+"/"+name, p, sub)
				}
			}
		case "items":
			if sub, ok := under(after, "items", ""); !ok {
				l.say(path, "its items")
			} else if v, ok := v.(map[string]any); ok {
				l.compare(path+"/items", v, sub)
			}
		case "description":
			if !mentions(after, v.(string)) {
				l.say(path, "its description")
			}
		case "enum":
			for _, one := range v.([]any) {
				text, _ := json.Marshal(one)
				if !strings.Contains(asText(after), string(text)) && one != nil {
					l.say(path, "the value %s", text)
				}
			}
		case "required":
			for _, name := range v.([]any) {
				if !requires(after, name) {
					l.say(path, "that %v is required", name)
				}
			}
		default:
			if known && !holds(after, word, v) {
				l.say(path, "%s %v", word, v)
			} else if text, ok := v.(string); !known && ok && slices.Contains(toldWords, word) && !mentions(after, text) {
				l.say(path, "that %s is %s", word, text)
			}
		}
	}
}

// alternatives checks that each type and each fixed value can still be chosen.
func (l *loss) alternatives(path, word string, v any, after map[string]any) {
	text := asText(after)
	switch word {
	case "type":
		names, ok := v.([]any)
		if !ok {
			names = []any{v}
		}
		for _, n := range names {
			if n == "null" && (l.rules.nullable || l.rules.noAnyOf) {
				continue
			}
			if !strings.Contains(text, `"`+n.(string)+`"`) {
				l.say(path, "the type %v", n)
			}
		}
	case "const":
		if value, _ := json.Marshal(v); !strings.Contains(text, string(value)) {
			l.say(path, "the value %s", value)
		}
	case "anyOf", "oneOf", "allOf":
		for _, b := range v.([]any) {
			b, ok := b.(map[string]any)
			for name := range anyMap(b["properties"]) {
				if ok && !strings.Contains(text, `"`+name+`"`) {
					l.say(path, "the alternative's property %s", name)
				}
			}
		}
	}
}

func anyMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func asText(v any) string {
	raw, _ := json.Marshal(v)
	return string(raw)
}

func branches(s map[string]any) []map[string]any {
	out := []map[string]any{s}
	list, _ := s["anyOf"].([]any)
	for _, b := range list {
		out = append(out, branches(anyMap(b))...)
	}
	return out
}

// under is the schema under a word, or under a name of it, in a schema or its alternatives.
func under(s map[string]any, word, name string) (map[string]any, bool) {
	for _, b := range branches(s) {
		v, ok := b[word]
		if name != "" {
			v, ok = anyMap(b[word])[name]
		}
		if m, is := v.(map[string]any); ok && is {
			return m, true
		}
	}
	return nil, false
}

func holds(s map[string]any, word string, v any) bool {
	return slices.ContainsFunc(branches(s), func(b map[string]any) bool {
		got, ok := b[word]
		if ok && (reflect.DeepEqual(got, v) || got == true && len(anyMap(v)) == 0) {
			return true
		}
		text := fmt.Sprint(v)
		return mentions(b, word+": "+text)
	})
}

func mentions(s map[string]any, text string) bool {
	return slices.ContainsFunc(branches(s), func(b map[string]any) bool {
		d, _ := b["description"].(string)
		return strings.Contains(d, strings.TrimSpace(text))
	})
}

func requires(s map[string]any, name any) bool {
	return slices.ContainsFunc(branches(s), func(b map[string]any) bool {
		list, _ := b["required"].([]any)
		return slices.Contains(list, name)
	})
}
