package process

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// shellTimeout is how long the login shell may take to tell its PATH.
const shellTimeout = 3 * time.Second

// shellOutput is how much of the login shell's output is read, in bytes.
const shellOutput = 1 << 20

// Paths knows where programs are. A desktop program started from a menu gets a bare
// PATH without the folders that the person's shell sets up (nvm, homebrew, uv), so
// Paths asks that shell once. Methods may be called from any goroutine; Close ends the
// asking.
type Paths struct {
	life  context.Context
	end   context.CancelFunc
	plain func() string // without the shell's
	once  sync.Once
	work  sync.WaitGroup
	done  chan struct{}
	path  string
}

// NewPaths makes a Paths; nothing runs before it is asked.
func NewPaths() *Paths {
	life, end := context.WithCancel(context.Background())
	return &Paths{
		life: life, end: end, done: make(chan struct{}),
		plain: sync.OnceValue(func() string { return joinPaths(os.Getenv("PATH"), "") }),
	}
}

// Path returns the login shell's PATH, our own and the existing ones of the usual
// folders of package managers, in this order, without duplicates and without relative
// folders. The shell is not asked where our own PATH already comes from one, or on
// Windows.
func (p *Paths) Path(ctx context.Context) string {
	if !asksShell() {
		return p.plain()
	}
	return p.Ask(ctx)
}

// Ask is [Paths.Path] that asks the shell in any case, for what is not found otherwise:
// a desktop session may come from a shell that had not read all its files; our own PATH
// then comes first. The shell is asked once; its start files may print what they like. If it hangs (3 s) or is missing,
// only its folders are. If ctx ends first, the answer is without them, and a later call
// gets them.
func (p *Paths) Ask(ctx context.Context) string {
	if runtime.GOOS == "windows" || p.life.Err() != nil {
		return p.plain()
	}
	p.once.Do(func() {
		p.work.Go(func() {
			defer close(p.done)
			own, shell := os.Getenv("PATH"), shellPath(p.life)
			if asksShell() {
				own, shell = shell, own // the person's choice among several versions of a program
			}
			p.path = joinPaths(own, shell)
		})
	})
	select {
	case <-p.done:
		return p.path
	case <-ctx.Done():
		return p.plain()
	}
}

// Close ends the shell where it is still being asked, and waits for that.
func (p *Paths) Close() {
	p.end()
	p.once.Do(func() { // nobody asks it any more
		p.path = p.plain()
		close(p.done)
	})
	p.work.Wait()
}

// asksShell reports whether our PATH lacks what a login shell sets. SHLVL is set by
// shells and by nothing else, so a program started from a terminal has it.
func asksShell() bool {
	if runtime.GOOS == "windows" {
		return false
	}
	_, fromShell := os.LookupEnv("SHLVL")
	return !fromShell
}

func joinPaths(lists ...string) string {
	var out []string
	add := func(dir string) {
		if filepath.IsAbs(dir) && !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	for _, list := range lists {
		for _, dir := range filepath.SplitList(list) {
			add(dir)
		}
	}
	for _, dir := range usualFolders() {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			add(dir)
		}
	}
	return strings.Join(out, string(os.PathListSeparator))
}

// usualFolders are where package managers put programs, whether they exist or not.
func usualFolders() []string {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	in := func(parts ...string) string { return filepath.Join(append([]string{home}, parts...)...) }
	if runtime.GOOS == "windows" {
		return []string{in("AppData", "Roaming", "npm"), in(".local", "bin"), in(".cargo", "bin"), in("scoop", "shims"), in(".bun", "bin"), in(".deno", "bin")}
	}
	out := []string{
		in(".local", "bin"), in("bin"), in(".cargo", "bin"), in(".bun", "bin"), in(".deno", "bin"), in(".volta", "bin"),
		in(".asdf", "shims"), in(".local", "share", "mise", "shims"), in(".pyenv", "shims"), in("go", "bin"),
		in(".npm-global", "bin"), in(".local", "share", "pnpm"), in("Library", "pnpm"), in(".nix-profile", "bin"),
		"/opt/homebrew/bin", "/opt/homebrew/sbin", "/home/linuxbrew/.linuxbrew/bin", "/usr/local/bin", "/opt/local/bin",
		"/snap/bin", "/usr/bin", "/bin",
	}
	return append(out, nodeVersions(home)...)
}

// nodeVersions are the folders of Node versions kept by nvm and fnm, newest first.
func nodeVersions(home string) []string {
	var out []string
	for _, pattern := range []string{
		filepath.Join(home, ".nvm", "versions", "node", "v*", "bin"),
		filepath.Join(home, ".local", "share", "fnm", "node-versions", "v*", "installation", "bin"),
	} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			continue
		}
		slices.SortFunc(found, func(a, b string) int { return slices.Compare(version(b), version(a)) })
		out = append(out, found...)
	}
	return out
}

func version(path string) []int {
	var out []int
	for _, field := range strings.FieldsFunc(path, func(r rune) bool { return r < '0' || r > '9' }) {
		if n, err := strconv.Atoi(field); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// shellPath asks the login shell; "" if it gives no answer.
func shellPath(ctx context.Context) string {
	shell := loginShell()
	if shell == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, shellTimeout)
	defer cancel()
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel()
	// An interactive shell reads the file where most installers add their folder.
	full := make(chan string, 1)
	work.Go(func() { full <- askShell(ctx, shell, "-l", "-i", "-c") })
	select {
	case path := <-full:
		if path != "" {
			return path
		}
		full <- ""
	case <-time.After(shellTimeout / 3):
	}
	// That file may hang, or hand over to another shell; the files of a login alone still
	// say something. Some shells (tcsh) bear no flag beside -c.
	simple := make(chan string, 1)
	work.Go(func() {
		path := askShell(ctx, shell, "-l", "-c")
		if path == "" {
			path = askShell(ctx, shell, "-c")
		}
		simple <- path
	})
	if path := <-full; path != "" {
		return path
	}
	return <-simple
}

// askShell runs the shell once; "" if it gives no answer until the context ends.
func askShell(ctx context.Context, shell string, flags ...string) string {
	mark := "path-" + rand.Text()
	home, err := os.UserHomeDir()
	if err != nil {
		home = "/"
	}
	script := "printf '%s' '" + mark + "'; printf '%s' \"$PATH\"; printf '%s' '" + mark + "'"
	p, err := Start(ctx, Spec{Path: shell, Args: append(flags, script), Env: Environment(nil, ""), Dir: home})
	if err != nil {
		return ""
	}
	_ = p.Stdin().Close()
	answer := make(chan string, 1)
	go func() { answer <- between(p, mark) }()
	path := ""
	select {
	case path = <-answer:
	case <-ctx.Done():
	}
	// A shell that cannot be ended is of no use to the person here.
	_ = p.Stop(100 * time.Millisecond)
	return path
}

// between reads the program's output up to the second mark, and returns what stands
// between the two.
func between(p *Process, mark string) string {
	var seen []byte
	r := bufio.NewReader(p.Stdout())
	for len(seen) < shellOutput {
		b, err := r.ReadByte()
		if err != nil {
			return ""
		}
		seen = append(seen, b)
		if b != mark[len(mark)-1] || !bytes.HasSuffix(seen, []byte(mark)) {
			continue
		}
		if first := bytes.Index(seen, []byte(mark)); first+len(mark) < len(seen) {
			return string(seen[first+len(mark) : len(seen)-len(mark)])
		}
	}
	return ""
}

// loginShell returns the person's shell: SHELL, else what the account says, else the
// system's usual one.
func loginShell() string {
	if s := os.Getenv("SHELL"); filepath.IsAbs(s) {
		return s
	}
	if data, err := os.ReadFile("/etc/passwd"); err == nil {
		uid := strconv.Itoa(os.Getuid())
		for line := range strings.Lines(string(data)) {
			f := strings.Split(strings.TrimSpace(line), ":")
			if len(f) == 7 && f[2] == uid && filepath.IsAbs(f[6]) {
				return f[6]
			}
		}
	}
	for _, s := range []string{"/bin/zsh", "/bin/bash", "/bin/sh"} {
		if _, err := os.Stat(s); err == nil {
			return s
		}
	}
	return ""
}
