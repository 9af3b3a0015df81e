package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// parse reads text that must be readable as a whole.
func parse(t *testing.T, text string) ([]Server, []Problem) {
	t.Helper()
	servers, problems, err := ParseServers("servers.json", []byte(text))
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return servers, problems
}

// one reads a single entry named s.
func one(t *testing.T, entry string) (Server, bool, []Problem) {
	t.Helper()
	servers, problems := parse(t, `{"mcpServers":{"s":`+entry+`}}`)
	s, ok := Find(servers, "s")
	return s, ok, problems
}

func TestServersAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	const text = `// my servers
{
  "mcpServers": {
    /* files */
    "files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/tmp/a b"], "env": {"TOKEN": "$MY_TOKEN", "P": "~/data", "EMPTY": ""},
      "cwd": "~/work", "roots": ["/srv"], "timeout": 90, "startTimeout": "5s", "maxMessage": "128 MiB", "sampling": true,},
    "remote": {"type": "streamable-http", "url": "https://host.example/mcp", "headers": {"Authorization": "Bearer ${secret:remote}"}, "disabled": true},
    "old": {"url": "http://127.0.0.1:8080/sse", "transport": "sse", "timeout": null},
    "天气 / wx 🌦": {"command": "wx", "type": "stdio", "description": "weather", "args": null},
  },
}
`
	want := []Server{
		{Name: "files", Command: "npx", Args: []string{"-y", "@modelcontextprotocol/server-filesystem", "/tmp/a b"}, Env: map[string]string{"TOKEN": "$MY_TOKEN", "P": "~/data", "EMPTY": ""},
			Cwd: "~/work", Roots: []string{"/srv"}, ToolTimeout: 90 * time.Second, StartTimeout: 5 * time.Second, MaxMessage: 128 << 20, Sampling: true, Transport: Stdio},
		{Name: "remote", URL: "https://host.example/mcp", Headers: map[string]string{"Authorization": "Bearer ${secret:remote}"}, Disabled: true, Transport: HTTP},
		{Name: "old", URL: "http://127.0.0.1:8080/sse", Transport: SSE},
		{Name: "天气 / wx 🌦", Command: "wx", Transport: Stdio},
	}
	utf16le := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		utf16le = append(utf16le, byte(u), byte(u>>8))
	}
	for name, data := range map[string][]byte{
		"plain": []byte(text), "BOM": []byte("\ufeff" + text), "CR LF": []byte(strings.ReplaceAll(text, "\n", "\r\n")), "UTF-16": utf16le,
		"VS Code":          []byte(strings.Replace(text, "mcpServers", "servers", 1)),
		"VS Code settings": []byte(`{"mcp":` + strings.Replace(text, "mcpServers", "servers", 1) + "}"),
	} {
		servers, problems, err := ParseServers("x/servers.json", data)
		if err != nil || len(problems) > 0 || !reflect.DeepEqual(servers, want) {
			t.Errorf("%s: error %v, problems %v\n got %+v\nwant %+v", name, err, problems, servers, want)
		}
	}
}

func TestFileThatCannotBeReadAsAWhole(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"missing comma":    {"{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"}\n    \"b\": {}\n  }\n}", "line 4, column 5"},
		"open string":      {"{\"mcpServers\": {\"a", "line 1"},
		"cut off":          {"{\"mcpServers\": {\n\"a\": {\"command\": \"x\"", "is the end of the file missing"},
		"no colon":         {`{"mcpServers" {}}`, "expected a colon"},
		"single quotes":    {`{'mcpServers': {}}`, "line 1, column 2"},
		"value":            {"{\"mcpServers\": }", "expected a value"},
		"columns of text":  {"{\"管家管家\": x}", "line 1, column 10"},
		"more after":       {`{"mcpServers": {}} x`, "expected the end of the file"},
		"a list":           {`[]`, "found a list"},
		"text":             {`"x"`, "found text"},
		"empty":            {"", "is empty"},
		"only a comment":   {"// nothing\n", "line 2"},
		"empty object":     {"{}", `expected "mcpServers"`},
		"bare servers":     {`{"files": {"command": "npx"}}`, "around it"},
		"one server":       {`{"command": "npx"}`, "without its name"},
		"another program":  {`{"context_servers": {}}`, "rename"},
		"servers as list":  {"{\n\"mcpServers\": []}", `line 2, column 15: "mcpServers" must be an object of servers, {"name": {…}}, but is a list`},
		"bytes":            {"{\"mcpServers\": {\n\"a\xff\": {}}}", "line 2, column 3: this byte (0xff) is not UTF-8"},
		"deep":             {strings.Repeat("[", 100000), "inside one another"},
		"deep after quote": {`{"a":"\"[",` + strings.Repeat(`"a":{`, 100), "inside one another"},
		"large":            {strings.Repeat(" ", maxFile+1), "larger than 4 MB"},
		"TOML":             {"[mcp_servers.x]\ncommand = \"npx\"\n", "line 1"},
	} {
		servers, problems, err := ParseServers("dir/servers.json", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "servers.json") || strings.Contains(err.Error(), "hujson") {
			t.Errorf("%s: error %v, want %q in it", name, err, c.want)
		}
		if servers != nil || problems != nil {
			t.Errorf("%s: still gives %v, %v", name, servers, problems)
		}
	}
}

// TestBracketsInTextAndComments are no nesting.
func TestBracketsInTextAndComments(t *testing.T) {
	t.Parallel()
	brackets := strings.Repeat("[{", 200)
	_, problems := parse(t, `{"mcpServers": {/* `+brackets+" */ // "+brackets+"\n"+`"a": {"command": "x", "args": ["`+brackets+`\"`+brackets+`"]}}}`)
	if len(problems) > 0 {
		t.Error(problems)
	}
}

func TestOneBadEntryLosesNoOther(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ entry, message, hint string }{
		"not an object":      {`"npx"`, "must be an object, but this is text", `{"command"`},
		"nothing":            {`{}`, `neither "command" nor "url"`, "url"},
		"both":               {`{"command":"x","url":"https://h/"}`, `both "command" and "url"`, "keep one"},
		"empty command":      {`{"command":""}`, "is empty", "program"},
		"command a number":   {`{"command":5}`, `"command" must be text, but is a number`, ""},
		"command a list":     {`{"command":["npx","x"]}`, "is a list", "args"},
		"args text":          {`{"command":"x","args":"-y a"}`, `"args" must be a list of texts, but is text`, "one element per argument"},
		"args number":        {`{"command":"x","args":["-p",8080]}`, `"args[1]" must be text, but is a number`, `"8080"`},
		"env list":           {`{"command":"x","env":["A=b"]}`, `"env" must be an object`, "NAME"},
		"env number":         {`{"command":"x","env":{"PORT":8080}}`, `"env.PORT" must be text`, `"8080"`},
		"env twice":          {`{"command":"x","env":{"A":"1","A":"2"}}`, `holds "A" twice`, "Keep one"},
		"env name":           {`{"command":"x","env":{"A=B":"1"}}`, "cannot be the name", ""},
		"env no name":        {`{"command":"x","env":{"":"1"}}`, "cannot be the name", ""},
		"NUL in env":         {`{"command":"x","env":{"A":"1\u00002"}}`, "NUL", "Remove"},
		"NUL in args":        {`{"command":"x","args":["1\u0000"]}`, "NUL", ""},
		"NUL in command":     {`{"command":"x\u0000"}`, "NUL", ""},
		"NUL in cwd":         {`{"command":"x","cwd":"/\u0000"}`, "NUL", ""},
		"disabled text":      {`{"command":"x","disabled":"yes"}`, `"disabled" must be true or false, but is text`, "without quotes"},
		"timeout text":       {`{"command":"x","timeout":"soon"}`, `"timeout" must be a time`, "90s"},
		"type unknown":       {`{"command":"x","type":"grpc"}`, `transport "grpc" is not known`, "stdio"},
		"type without fit":   {`{"command":"x","type":"http"}`, "does not fit", "url"},
		"type without fit 2": {`{"url":"https://h/","type":"stdio"}`, "does not fit", ""},
		"field twice":        {`{"command":"x","command":"y"}`, "second time (first on line 3)", "Keep one"},
		"ftp":                {`{"url":"ftp://h/"}`, `begins with "ftp"`, "https"},
		"no scheme":          {`{"url":"h.example/mcp"}`, "begins with", ""},
		"no host":            {`{"url":"https:///mcp"}`, "names no host", ""},
		"userinfo":           {`{"url":"https://me:hunter2@h.example/"}`, "user name or password", "Authorization"},
		"userinfo, port":     {`{"url":"https://me:hunter2@h.example:port/"}`, "is no address", "https"},
		"PIN in env":         {`{"command":"x","env":{"DB_PASSWORD":7742981}}`, `must be text`, "in quotes"},
		"PIN in args":        {`{"command":"x","args":["--token",7742981]}`, `must be text`, "in quotes"},
		"clear text":         {`{"url":"http://h.example/mcp"}`, "clear text", "allowHttp"},
		"url with break":     {`{"url":"https://h.example/\n"}`, "control characters", ""},
		"header break":       {`{"url":"https://h/","headers":{"X":"a\r\nB: c"}}`, "line break", ""},
		"header name":        {`{"url":"https://h/","headers":{"X Y":"a"}}`, "cannot be the name of a header", ""},
	} {
		servers, problems := parse(t, "{\"mcpServers\": {\n\"before\": {\"command\": \"a\"},\n\"bad\": "+c.entry+",\n\"after\": {\"url\": \"https://b.example/\"}}}")
		if len(servers) != 2 || servers[0].Name != "before" || servers[1].Name != "after" {
			t.Errorf("%s: usable are %+v", name, servers)
		}
		found := false
		for _, p := range problems {
			found = found || p.Server == "bad" && strings.HasPrefix(p.Message, "line 3: ") && strings.Contains(p.Message, c.message) && strings.Contains(p.Hint, c.hint)
			if strings.Contains(p.String(), "hunter2") || strings.Contains(p.String(), "7742981") || strings.ContainsAny(p.String(), "\x00\r\n") {
				t.Errorf("%s: the problem repeats what it must not: %q", name, p)
			}
		}
		if !found {
			t.Errorf("%s: problems %q, want %q with %q", name, problems, c.message, c.hint)
		}
	}
}

// TestManyFields reads a file with more problems than anybody would read.
func TestManyFields(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("{\"mcpServers\": {\n\"a\": {\"command\": \"x\"")
	for i := range 20_000 {
		fmt.Fprintf(&b, ",\n\"u%d\":1", i)
	}
	b.WriteString("},\n\"b\": {\"command\": \"y\"}}}")
	servers, problems := parse(t, b.String())
	if len(servers) != 2 || len(problems) != maxProblems+1 {
		t.Fatalf("%d servers, %d problems", len(servers), len(problems))
	}
	if p := problems[maxProblems-1]; !strings.HasPrefix(p.Message, fmt.Sprintf("line %d: ", 2+maxProblems)) {
		t.Errorf("the last problem is %q", p)
	}
	if p := problems[maxProblems]; !strings.Contains(p.Message, "more problems") {
		t.Errorf("nothing says that there is more: %q", p)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{
		"a": true, "my server": true, "a/b": true, "🌦": true, "天气": true, "": false, "  ": false, " a": false, "a ": false, `a\u0000`: false, `a\n`: false, `a\u200b`: false, `a\u202e`: false,
		strings.Repeat("x", 100): true, strings.Repeat("x", 1000): false,
	} {
		servers, problems := parse(t, `{"mcpServers":{"`+name+`":{"command":"x"},"other":{"command":"y"}}}`)
		if got := len(servers) == 2; got != ok || (len(problems) == 0) != ok {
			t.Errorf("name %.20q: usable %v, problems %q", name, got, problems)
		}
		for _, p := range problems {
			if len(p.String()) > 400 || strings.ContainsAny(p.String(), "\x00\n\u200b\u202e") {
				t.Errorf("name %.20q: problem %q", name, p)
			}
		}
	}
	servers, problems := parse(t, "{\"mcpServers\":{\"a\":{\"command\":\"x\"},\n\"a\":{\"command\":\"y\"}}, \"servers\":{\"a\":{\"command\":\"z\"}}}")
	if len(servers) != 1 || servers[0].Command != "x" || len(problems) != 2 || !strings.Contains(problems[0].Message, "line 2: the name stands on line 1 already") {
		t.Errorf("the same name: %+v %q", servers, problems)
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ entry, message, hint string }{
		"command line":     {`{"command":"node --eval x"}`, "never as a command line", `"node"`},
		"path and options": {`{"command":"/usr/bin/node --eval x"}`, "never as a command line", ""},
		"env loads code":   {`{"command":"x","env":{"LD_PRELOAD":"/x.so","node_options":"-r x","A":"b"}}`, "LD_PRELOAD, node_options can make", ""},
		"key in env":       {`{"command":"x","env":{"MY_API_KEY":"hunter2hunter2"}}`, "env.MY_API_KEY holds what looks like a secret", "${secret:s.MY_API_KEY} here and store the value with: steward servers review s --secret s.MY_API_KEY."},
		"key by form":      {`{"command":"x","env":{"A":"sk-hunter2hunter2hunter2"}}`, "env.A holds", ""},
		"key in header":    {`{"url":"https://h/","headers":{"Authorization":"Bearer hunter2hunter2"}}`, "header Authorization holds", "${secret:s.Authorization}"},
		"key in args":      {`{"command":"x","args":["--api-key=hunter2hunter2"]}`, "args[0] holds", ""},
		"key after option": {`{"command":"x","args":["--token","hunter2hunter2"]}`, "args[1] holds", ""},
		"key in address":   {`{"url":"https://h/?token=hunter2"}`, "the address holds", ""},
		"ignored yes":      {`{"command":"x","alwaysAllow":["a"]}`, "nothing runs here without your yes", ""},
		"env file":         {`{"command":"x","envFile":".env"}`, "not read", ""},
		"misspelt":         {`{"command":"x","arg":["a"]}`, `"arg" is not known`, `"args"`},
		"milliseconds":     {`{"command":"x","timeout":600000}`, "so the default is used", "seconds"},
		"long":             {`{"command":"x","timeout":60000}`, "because a number counts seconds", "60s"},
		"too short":        {`{"command":"x","timeout":-1}`, "so the default is used", ""},
		"VS Code input":    {`{"command":"x","env":{"A":"${input:key}"}}`, "another program asks", "${secret:NAME}"},
		"variable in args": {`{"command":"x","args":["${HOME}/x"]}`, "stays as it is", ""},
		"headers, no url":  {`{"command":"x","headers":{"A":"b"}}`, "ignored for a local program", "env"},
	} {
		_, usable, problems := one(t, c.entry)
		if !usable || len(problems) != 1 || !strings.Contains(problems[0].Message, c.message) || !strings.Contains(problems[0].Hint, c.hint) {
			t.Errorf("%s: usable %v, problems %q, want %q", name, usable, problems, c.message)
		}
		if strings.Contains(fmt.Sprint(problems), "hunter2") {
			t.Errorf("%s: the secret is repeated: %q", name, problems)
		}
	}
	for _, entry := range []string{`{"command":"C:\\Program Files\\nodejs\\node.exe"}`, `{"command":"/opt/my tools/run"}`, `{"command":"x","env":{"TOKEN":"${secret:x}","KEY_FILE":"/a/b","API_KEY":"$K","TOKEN_FILE":"~/t"}}`,
		`{"command":"x","_note":1,"description":"d"}`, `{"url":"http://localhost:1/"}`, `{"url":"http://h/","allowHttp":true}`, `{"url":"https://h/${secret:k}/mcp"}`} {
		if _, usable, problems := one(t, entry); !usable || len(problems) > 0 {
			t.Errorf("%s: usable %v, problems %q", entry, usable, problems)
		}
	}
}

func TestReadServersChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "servers.json")
	for _, text := range []string{`{"mcpServers": {`, `{"mcpServers": {"a": {"command": 5}}}`, ""} {
		if err := os.WriteFile(path, []byte(text), 0o400); err != nil {
			t.Fatal(err)
		}
		before, _ := os.Stat(path)
		_, _, _ = ReadServers(path) // the outcome is another test's
		after, err := os.Stat(path)
		data, _ := os.ReadFile(path)
		if err != nil || string(data) != text || !after.ModTime().Equal(before.ModTime()) || after.Mode() != before.Mode() {
			t.Errorf("reading %q changed the file", text)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := ReadServers(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file gives %v", err)
	}
	if _, _, err := ReadServers(dir); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Errorf("a folder gives %v", err)
	}
	if err := os.WriteFile(path, []byte(strings.Repeat(" ", maxFile)+"{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ReadServers(path); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a large file gives %v", err)
	}
}

func FuzzParseServers(f *testing.F) {
	f.Add([]byte(`{"mcpServers":{"a":{"command":"x","args":["b"],"env":{"A":"$B"},"timeout":5}}}`))
	f.Add([]byte(`{"servers":{"a":{"url":"https://h/","headers":{"A":"b"},"type":"sse"}},}//`))
	f.Fuzz(func(t *testing.T, data []byte) {
		servers, problems, err := ParseServers("f", data)
		if err != nil && (servers != nil || problems != nil) {
			t.Fatal("an error and a result")
		}
		for _, s := range servers {
			if s.Name == "" || (s.Command == "") == (s.URL == "") || s.Transport != Stdio && s.Transport != HTTP && s.Transport != SSE {
				t.Fatalf("%+v is usable", s)
			}
		}
	})
}
