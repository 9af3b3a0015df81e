//go:build unix

package process

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestLook(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"good": 0o755, "plain": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	relative, err := filepath.Rel(wd, dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Look("good", relative); err == nil {
		t.Errorf("a relative folder was used: %s", got)
	}
	path := "::relative:/nowhere:" + dir
	for command, want := range map[string]string{"good": filepath.Join(dir, "good"), filepath.Join(dir, "good"): filepath.Join(dir, "good")} {
		if got, err := Look(command, path); err != nil || got != want {
			t.Errorf("%s: %q, %v", command, got, err)
		}
	}
	for command, says := range map[string]string{
		"absent":                        "not found in PATH (" + path + ")",
		"plain":                         "not marked executable",
		"folder":                        "is a folder",
		"./good":                        "relative path",
		"sub/good":                      "relative path",
		"":                              "no command",
		filepath.Join(dir, "plain"):     "not marked executable",
		filepath.Join(dir, "gone"):      "does not exist",
		filepath.Join(dir, "good", "x"): "does not exist",
	} {
		_, err := Look(command, path)
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), command) || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", command, err)
		}
	}
}

func TestEnvironmentIsAnAllowList(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "canary")
	t.Setenv("SSH_AUTH_SOCK", "canary")
	t.Setenv("HTTPS_PROXY", "http://proxy:1")
	t.Setenv("LANG", "() { canary; }")
	t.Setenv("HOME", "/home/x")
	env := Environment(map[string]string{"TOKEN": "t", "HOME": "/other", "EMPTY": ""}, "/a:/b")
	for _, want := range []string{"PATH=/a:/b", "TOKEN=t", "HOME=/other", "EMPTY=", "HTTPS_PROXY=http://proxy:1"} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing in %q", want, env)
		}
	}
	if strings.Contains(strings.Join(env, "\n"), "canary") {
		t.Errorf("%q", env)
	}
	if !slices.IsSorted(env) {
		t.Errorf("not sorted: %q", env)
	}
	if env := Environment(nil, ""); !slices.Contains(env, "PATH="+os.Getenv("PATH")) {
		t.Errorf("our own PATH is missing in %q", env)
	}
}

func TestPathAsksTheLoginShell(t *testing.T) {
	home := t.TempDir()
	node := filepath.Join(home, ".nvm", "versions", "node", "v22.1.0", "bin")
	old := filepath.Join(home, ".nvm", "versions", "node", "v9.0.0", "bin")
	for _, dir := range []string{node, old, filepath.Join(home, ".local", "bin")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("PATH", "/usr/bin:/bin:.:/usr/bin")
	t.Setenv("SHLVL", "")
	os.Unsetenv("SHLVL")
	for name, c := range map[string]struct {
		shell string
		found bool
	}{
		"noisy":   {"#!/bin/sh\necho 'Welcome! path-none'\nPATH=/from/shell:$PATH\nexport PATH\nshift; shift; exec /bin/sh \"$@\"\n", true},
		"hanging": {"#!/bin/sh\nsleep 30\n", false},
		"handing over when it is asked by a person": {"#!/bin/sh\ncase \" $* \" in *' -i '*) exec cat;; esac\nPATH=/from/shell:$PATH\nexport PATH\nshift; exec /bin/sh \"$@\"\n", true},
		"hanging when it is asked by a person":      {"#!/bin/sh\ncase \" $* \" in *' -i '*) sleep 30;; esac\nPATH=/from/shell:$PATH\nexport PATH\nshift; exec /bin/sh \"$@\"\n", true},
		"bearing no flag beside -c":                 {"#!/bin/sh\n[ \"$1\" = -c ] || exit 1\nPATH=/from/shell:$PATH\nexport PATH\nexec /bin/sh \"$@\"\n", true},
		"other":                                     {"#!/bin/sh\nexec cat\n", false},
		"failing":                                   {"#!/bin/sh\nexit 1\n", false},
		"missing":                                   {"", false},
	} {
		shell := filepath.Join(t.TempDir(), "shell")
		if c.shell != "" {
			if err := os.WriteFile(shell, []byte(c.shell), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("SHELL", shell)
		p := NewPaths()
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		got := p.Path(ctx)
		cancel()
		if strings.Contains(got, "/from/shell") != c.found {
			t.Errorf("%s: %q", name, got)
		}
		list := filepath.SplitList(got)
		if c.found {
			if list[0] != "/from/shell" {
				t.Errorf("%s: what a terminal finds first does not come first: %q", name, list)
			}
			list = list[1:]
		}
		if list[0] != "/usr/bin" || list[1] != "/bin" || slices.Contains(list, ".") {
			t.Errorf("%s: %q", name, list)
		}
		if i, j := slices.Index(list, node), slices.Index(list, old); i < 0 || j < i {
			t.Errorf("%s: the newest Node does not come first: %q", name, list)
		}
		if again := p.Path(context.Background()); again != got {
			t.Errorf("%s: a second answer differs: %q", name, again)
		}
	}
	// A program started from a shell has its PATH already.
	t.Setenv("SHLVL", "1")
	t.Setenv("SHELL", "/no/such/shell")
	if got := NewPaths().Path(context.Background()); !strings.HasPrefix(got, "/usr/bin:/bin") {
		t.Errorf("%q", got)
	}
}

// A program is found with what it needs to run, and what it needs is named where it is
// missing.
func TestFind(t *testing.T) {
	home, odd := t.TempDir(), t.TempDir()
	for file, text := range map[string]string{
		filepath.Join(odd, "runner"):    "#!/usr/bin/env -S beside --flag\n",
		filepath.Join(odd, "beside"):    "#!/bin/sh\n",
		filepath.Join(odd, "shell-run"): "#!/usr/bin/env by-shell\n",
		filepath.Join(odd, "lost"):      "#!/usr/bin/env no-such-engine\n",
		filepath.Join(home, "by-shell"): "#!/bin/sh\n",
		filepath.Join(home, "shell"):    "#!/bin/sh\nPATH=" + home + ":$PATH\nexport PATH\nshift; shift; exec /bin/sh \"$@\"\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("PATH", "/usr/bin:/bin")
	t.Setenv("SHELL", filepath.Join(home, "shell"))
	t.Setenv("SHLVL", "1") // as in a session of a desktop that a shell has begun
	p := NewPaths()
	defer p.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, path, err := p.Find(ctx, filepath.Join(odd, "beside"), ""); err != nil || !strings.HasPrefix(path, "/usr/bin") {
		t.Errorf("a full path runs on %q, %v", path, err)
	}
	for command, want := range map[string]string{filepath.Join(odd, "runner"): odd, filepath.Join(odd, "shell-run"): home, "by-shell": home, "sh": "/bin"} {
		file, path, err := p.Find(ctx, command, "")
		if err != nil || !slices.Contains(filepath.SplitList(path), want) || !filepath.IsAbs(file) {
			t.Errorf("%s: %q on %q, %v", command, file, path, err)
		}
	}
	var missing *NotFoundError
	if _, _, err := p.Find(ctx, filepath.Join(odd, "lost"), ""); !errors.As(err, &missing) || missing.Command != "no-such-engine" || !strings.Contains(err.Error(), "first line") {
		t.Errorf("%v", err)
	}
	for command, want := range map[string]string{"npx-of-nowhere": "Install the program", "/no/such/npx": "Node.js", "./x": "full path", "npx -y some-server": `give "npx" alone`, `"npx -y x"`: `give "npx" alone`, `"npx"`: "Install"} {
		if _, _, err := p.Find(ctx, command, ""); !errors.As(err, &missing) || !strings.Contains(missing.Hint(), want) {
			t.Errorf("%s: %v", command, missing)
		}
	}
}

// A PATH that is set for a program is searched first, and is all that the program gets
// where that is enough.
func TestFindOnItsOwnPath(t *testing.T) {
	own, other := t.TempDir(), t.TempDir()
	for _, file := range []string{filepath.Join(own, "mine"), filepath.Join(own, "both"), filepath.Join(other, "both"), filepath.Join(other, "theirs")} {
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", other)
	t.Setenv("SHLVL", "1")
	p := NewPaths()
	defer p.Close()
	for _, tt := range []struct{ command, file, first string }{
		{"mine", filepath.Join(own, "mine"), own},
		{"both", filepath.Join(own, "both"), own},
		{"theirs", filepath.Join(other, "theirs"), own + string(os.PathListSeparator) + other},
	} {
		file, path, err := p.Find(t.Context(), tt.command, own)
		if err != nil || file != tt.file || !strings.HasPrefix(path, tt.first) || tt.first == own && path != own {
			t.Errorf("%s: %q on %q, %v", tt.command, file, path, err)
		}
		if env := Environment(map[string]string{"PATH": own}, path); !slices.Contains(env, "PATH="+path) {
			t.Errorf("%s gets %q", tt.command, env)
		}
	}
	if got := OwnPath(map[string]string{"PATH": own, "A": "b"}) + OwnPath(nil); got != own {
		t.Errorf("its own is %q", got)
	}
}

// The shell is not waited for once nobody wants its answer.
func TestPathsClose(t *testing.T) {
	shell := filepath.Join(t.TempDir(), "shell")
	started := shell + ".started"
	if err := os.WriteFile(shell, []byte("#!/bin/sh\necho > "+started+"\nsleep 300\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SHELL", shell)
	p := NewPaths()
	asked := make(chan string)
	go func() { asked <- p.Ask(context.Background()) }()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, err := os.Stat(started); err == nil {
			break
		}
	}
	begun := time.Now()
	p.Close()
	if <-asked == "" || time.Since(begun) > shellTimeout-time.Second {
		t.Errorf("it took %s", time.Since(begun))
	}
	if p.Ask(context.Background()) == "" {
		t.Error("a closed one knows no folders at all")
	}
}

func TestBatchCommandLine(t *testing.T) {
	t.Parallel()
	got := batchCommandLine(`C:\Program Files\nodejs\npx.cmd`, []string{"-y", `C:\My Data & Co\100%`, `say "hi"`, `end\`, "", "a\nb"})
	want := `cmd.exe /e:ON /v:OFF /d /s /c ""C:\Program Files\nodejs\npx.cmd" "-y" "C:\My Data & Co\100%%cd:~,%" "say ""hi""" "end\\" "" "a b""`
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestIsBatch(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"/n/npx.cmd": true, "/n/RUN.BAT": true, "/n/a.bat. ": true, "/n/a.cmd .": true,
		"/n/npx.exe": false, "/n/cmd": false, "/n/a.bat.exe": false, "": false,
	} {
		if isBatch(path) != want {
			t.Errorf("isBatch(%q) is not %v", path, want)
		}
	}
}
