package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const written = `// my servers
{
  // of another program
  "theme": "dark",
  "mcpServers": {
    "files": { // the first
      "command": "npx", // installed by hand
      "args": ["-y", "files"],
      /* keep this */ "future": {"a": [1, 2]},
      "enabled": false
    },
    // reaches the office
    "web": {"url": "https://host/mcp", "type": "streamable-http"}, // on one line
  },
  "more": [1,
    2]
}
`

func put(t *testing.T, data, old string, s Server) string {
	t.Helper()
	out, err := PutServer([]byte(data), old, s)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// Nothing that is not to be changed changes, to the byte.
func TestWritingKeepsWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	servers, _, err := ParseServers("", []byte(written))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range servers {
		if got := put(t, written, s.Name, s); got != written {
			t.Errorf("writing %s as it is changed the file:\n%s", s.Name, got)
		}
	}
	files := servers[0]
	files.Args, files.Disabled, files.Env = []string{"-y", "files", "/home/me"}, false, map[string]string{"B": "2", "A": "${secret:A}"}
	got := put(t, written, "files", files)
	want := strings.NewReplacer(`["-y", "files"]`, `["-y", "files", "/home/me"]`, `{"a": [1, 2]},
      "enabled": false
    }`, `{"a": [1, 2]},
      "env": {
        "A": "${secret:A}",
        "B": "2"
      }
    }`).Replace(written)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	web := servers[1]
	web.Name, web.Transport, web.Sampling, web.ToolTimeout = "office", SSE, true, 90*time.Second
	got = put(t, written, "web", web)
	for _, part := range []string{"// reaches the office\n    \"office\": {\"url\": \"https://host/mcp\", \"type\": \"sse\",", `"sampling": true`, `"timeout": "1m30s"`, "// on one line\n"} {
		if !strings.Contains(got, part) {
			t.Errorf("%q is not in\n%s", part, got)
		}
	}
	local := servers[1]
	local.URL, local.Command, local.Transport = "", "srv", Stdio
	if got = put(t, written, "web", local); strings.Contains(got, "https://") || strings.Contains(got, "streamable") || !strings.Contains(got, `"command": "srv"`) {
		t.Errorf("an address became a program:\n%s", got)
	}
}

func TestAddingAndRemoving(t *testing.T) {
	t.Parallel()
	added := Server{Name: "new \"one\"", Command: "srv", Args: []string{"a b"}, Disabled: true, Roots: []string{"~/x"}}
	got := put(t, written, "", added)
	if !strings.Contains(got, "// on one line\n    \"new \\\"one\\\"\": {\n      \"command\": \"srv\",") || !strings.Contains(got, `"disabled": true`) {
		t.Errorf("added:\n%s", got)
	}
	back, err := RemoveServer([]byte(got), added.Name)
	if err != nil || string(back) != written {
		t.Errorf("removed again it is\n%s\n%v", back, err)
	}
	less, err := RemoveServer([]byte(written), "files")
	if err != nil || strings.Contains(string(less), "npx") || !strings.Contains(string(less), "// reaches the office\n    \"web\"") {
		t.Errorf("%v\n%s", err, less)
	}
	less, err = RemoveServer([]byte(written), "web")
	if err != nil || strings.Contains(string(less), "reaches the office") || !strings.Contains(string(less), `"more": [1,`) {
		t.Errorf("%v\n%s", err, less)
	}
	for _, file := range []string{emptyFile, "{}", `{"mcpServers":{}}`, `{"servers":{"x":{"command":"y"}}}`, "{\n\t\"mcpServers\": {\n\t\t\"x\": {\"command\": \"y\"} // last\n\t}\n}", `{"mcpServers":{/* nothing */}}`} {
		got := put(t, file, "", Server{Name: "n", URL: "https://h/m"})
		servers, problems, err := ParseServers("", []byte(got))
		if s, ok := Find(servers, "n"); err != nil || !ok || s.Transport != HTTP || len(problems) != 0 {
			t.Errorf("%s became\n%s\n%v %v", file, got, problems, err)
		}
		if strings.Contains(file, "// last") != strings.Contains(got, "\"y\"}, // last\n\t\t\"n\": {") {
			t.Errorf("the comment left its line:\n%s", got)
		}
	}
}

func TestWhatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		old  string
		s    Server
		want error
		part string
	}{
		{"", Server{Name: "web", Command: "x"}, ErrTaken, ""},
		{"files", Server{Name: "web", Command: "x"}, ErrTaken, ""},
		{"none", Server{Name: "none", Command: "x"}, ErrAbsent, ""},
		{"", Server{Name: "n"}, nil, "neither"},
		{"", Server{Name: "", Command: "x"}, nil, "name is empty"},
		{"", Server{Name: "n", Command: "x", URL: "https://h/"}, nil, "both"},
		{"", Server{Name: "n", URL: "http://far.example/"}, nil, "clear text"},
		{"", Server{Name: "n", Command: "x", ToolTimeout: time.Hour * 1000}, nil, "times"},
	} {
		_, err := PutServer([]byte(written), tc.old, tc.s)
		if err == nil || tc.want != nil && !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.part) || strings.Contains(err.Error(), "line ") {
			t.Errorf("%+v: %v", tc.s, err)
		}
	}
	if _, err := RemoveServer([]byte(written), "none"); !errors.Is(err, ErrAbsent) {
		t.Error(err)
	}
	if usable, problems := CheckServer(Server{Name: "n", Command: "x", Env: map[string]string{"API_TOKEN": "ghp_0123456789abcdefghijABCDEFGHIJ012345"}}); !usable || len(problems) != 1 || strings.HasPrefix(problems[0].Message, "line") {
		t.Errorf("%v %v", usable, problems)
	}
	if usable, problems := CheckServer(Server{Name: "n"}); usable || len(problems) != 1 {
		t.Errorf("%v %v", usable, problems)
	}
}

func TestTheFileIsReplacedAsAWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "servers.json")
	add := func(data []byte) ([]byte, error) { return PutServer(data, "", Server{Name: "n", Command: "x"}) }
	if err := EditFile(path, add); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	link := filepath.Join(dir, "link.json")
	if err := errors.Join(os.Chmod(path, 0o640), os.Symlink(path, link)); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := EditFile(link, add); !errors.Is(err, ErrTaken) {
		t.Errorf("a name was given twice: %v", err)
	}
	err = EditFile(link, func(data []byte) ([]byte, error) {
		if err := os.WriteFile(path, append(data, '\n'), 0o640); err != nil {
			return nil, err
		}
		return RemoveServer(data, "n")
	})
	if err == nil || !strings.Contains(err.Error(), "another program") {
		t.Errorf("another's change was written over: %v", err)
	}
	if err := EditFile(link, func(data []byte) ([]byte, error) { return RemoveServer(data, "n") }); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	info, statErr := os.Stat(path)
	if err != nil || statErr != nil || string(after) == string(before) || info.Mode().Perm() != 0o640 {
		t.Errorf("%s %v %v", after, info, err)
	}
	if fi, err := os.Lstat(link); err != nil || fi.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link became a file")
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".servers-*")); err != nil || len(left) != 0 {
		t.Error("left behind:", left, err)
	}
}
