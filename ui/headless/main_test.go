package headless

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// binaries are built once and driven as a person or a script would.
var binaries struct{ steward, minimal, scripted string }

func TestMain(m *testing.M) {
	// Most of these tests wait: for a program to end, for a person to type. More of them
	// at once than there are processors take a fraction of the time.
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f != nil && f.Value.String() == f.DefValue {
		if err := f.Value.Set("8"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	dir, err := os.MkdirTemp("", "steward-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// Most tests wait for a process or for a question to settle, so more of them run at
	// once than there are processors.
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	code := 1
	if err := buildAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else if code = m.Run(); code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

func buildAll(dir string) error {
	for _, b := range []struct {
		to  *string
		pkg string
	}{
		{&binaries.steward, "steward"},
		{&binaries.minimal, "steward/testdata/minimalserver"},
		{&binaries.scripted, "steward/testdata/scriptedserver/cmd"},
	} {
		*b.to = filepath.Join(dir, strings.ReplaceAll(b.pkg, "/", "-"))
		if out, err := exec.Command("go", "build", "-o", *b.to, b.pkg).CombinedOutput(); err != nil {
			return fmt.Errorf("building %s: %w\n%s", b.pkg, err, out)
		}
	}
	return nil
}

// result is what a command left behind.
type result struct {
	code        int
	out, errOut string
}

// environment is a person's with nothing of ours in it: a home of its own, no keyring,
// the plainest locale.
func environment(t testing.TB, extra ...string) []string {
	t.Helper()
	return append([]string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "LANG=C", "TMPDIR=" + t.TempDir()}, extra...)
}

// prepared is a command that has not been started.
func prepared(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, binaries.steward, args...)
	cmd.Env = environment(t)
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// steward runs one command to its end.
func steward(t testing.TB, args ...string) result {
	t.Helper()
	return finish(t, prepared(t, args...))
}

func finish(t testing.TB, cmd *exec.Cmd) result {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("running %v: %v", cmd.Args, err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

func (r result) mustExit(t testing.TB, code int) result {
	t.Helper()
	if r.code != code {
		t.Fatalf("exit status %d, want %d\nstdout: %s\nstderr: %s", r.code, code, r.out, r.errOut)
	}
	return r
}

func (r result) mustSay(t testing.TB, parts ...string) result {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(r.errOut, p) {
			t.Errorf("stderr does not say %q:\n%s", p, r.errOut)
		}
	}
	return r
}

// line is one JSON object of an output, with the order of its keys.
type line struct {
	keys  []string
	value map[string]any
	text  string
}

func (l line) str(key string) string { s, _ := l.value[key].(string); return s }

func lines(t testing.TB, out string) []line {
	t.Helper()
	var all []line
	for _, text := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		all = append(all, object(t, text))
	}
	return all
}

func object(t testing.TB, text string) line {
	t.Helper()
	l := line{text: text}
	if err := json.Unmarshal([]byte(text), &l.value); err != nil {
		t.Fatalf("this line is not a JSON object: %v\n%s", err, text)
	}
	l.keys = keys(t, text)
	return l
}

// keys reads the names of an object's own members in order.
func keys(t testing.TB, text string) []string {
	t.Helper()
	n, err := ordered(json.NewDecoder(strings.NewReader(text)))
	if err != nil || n.list {
		t.Fatalf("no JSON object: %v: %s", err, text)
	}
	return n.names
}

// only returns the lines of one event.
func only(all []line, event string) []line {
	var out []line
	for _, l := range all {
		if l.str("event") == event {
			out = append(out, l)
		}
	}
	return out
}

// one returns the single line of an event.
func one(t testing.TB, all []line, event string) line {
	t.Helper()
	found := only(all, event)
	if len(found) != 1 {
		t.Fatalf("%d %q events, want 1:\n%s", len(found), event, texts(all))
	}
	return found[0]
}

func texts(all []line) string {
	var b strings.Builder
	for _, l := range all {
		b.WriteString(l.text + "\n")
	}
	return b.String()
}

// serversFile writes a file in mcpServers form.
func serversFile(t testing.TB, servers map[string]any) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "servers.json")
	writeServers(t, path, servers)
	return path
}

func writeServers(t testing.TB, path string, servers map[string]any) {
	t.Helper()
	data, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// minimal is the entry of the minimal server under the name the examples use.
func minimal() map[string]any {
	return map[string]any{"weekly-report": map[string]any{"command": binaries.minimal}}
}
