//go:build unix

package process

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "host-that-is-killed" {
		hostThatIsKilled(os.Args[2], strings.Join(os.Args[3:], " "))
		return
	}
	goleak.VerifyTestMain(m)
}

func shell(t *testing.T, script string) *Process {
	t.Helper()
	p, err := Start(context.Background(), Spec{Path: "/bin/sh", Args: []string{"-c", script}, Env: Environment(nil, ""), Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(50 * time.Millisecond); err != nil {
			t.Error(err)
		}
	})
	return p
}

// readPID reads a file that holds a process id once it is complete.
func readPID(t *testing.T, file string) int {
	t.Helper()
	for range 500 {
		if b, err := os.ReadFile(file); err == nil && strings.HasSuffix(string(b), "\n") {
			pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s was never written", file)
	return 0
}

func lives(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	return !strings.HasPrefix(string(b[strings.LastIndexByte(string(b), ')')+1:]), " Z")
}

func mustDie(t *testing.T, pid int) {
	t.Helper()
	for range 300 {
		if !lives(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	t.Fatalf("process %d lives on", pid)
}

func TestStopEndsEverything(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"ends by itself":             `cat >/dev/null; exit 7`,
		"ignores end of input":       `sleep 100`,
		"ignores everything":         `trap '' TERM; while :; do sleep 100; done`,
		"launcher":                   `sh -c 'trap "" TERM; echo $$ >"$F"; while :; do sleep 100; done' & wait`,
		"launcher that ends first":   `sh -c 'trap "" TERM; echo $$ >"$F"; while :; do sleep 100; done' & cat >/dev/null`,
		"child in a session apart":   `setsid sh -c 'trap "" TERM; echo $$ >"$F"; while :; do sleep 100; done' & cat >/dev/null`,
		"child that holds its pipes": `sh -c 'echo $$ >"$F"; exec sleep 100' & while [ ! -s "$F" ]; do sleep 0.01; done; exit 0`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pid")
			p, err := Start(context.Background(), Spec{
				Path: "/bin/sh", Args: []string{"-c", script}, Env: Environment(map[string]string{"F": file}, ""), Dir: t.TempDir(),
			})
			if err != nil {
				t.Fatal(err)
			}
			child := 0
			if strings.Contains(script, "$F") {
				child = readPID(t, file)
			}
			if err := p.Stop(100 * time.Millisecond); err != nil {
				t.Fatal(err)
			}
			<-p.Done()
			mustDie(t, p.PID())
			if child != 0 {
				mustDie(t, child)
			}
			if name == "ends by itself" && p.ExitCode() != 7 {
				t.Errorf("exit code %d (%s)", p.ExitCode(), p.Ending())
			}
			if name == "ignores everything" && (p.ExitCode() != -1 || p.Ending() != "signal: killed") {
				t.Errorf("exit code %d (%s)", p.ExitCode(), p.Ending())
			}
		})
	}
}

func TestCrashEndsWhatIsLeft(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pid")
	p := shell(t, `sh -c 'trap "" TERM; echo $$ >"`+file+`"; while :; do sleep 100; done' & while [ ! -s "`+file+`" ]; do sleep 0.01; done; kill -KILL $$`)
	child := readPID(t, file)
	<-p.Done()
	mustDie(t, child)
}

func TestStderrIsAlwaysDrained(t *testing.T) {
	t.Parallel()
	p := shell(t, `head -c 5000000 /dev/zero | tr '\0' x >&2; echo done; read -r line`)
	b := make([]byte, 5)
	if _, err := io.ReadFull(p.Stdout(), b); err != nil || string(b) != "done\n" {
		t.Fatalf("%q %v", b, err)
	}
	for range 100 {
		if len(p.Stderr()) == stderrKept {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n := len(p.Stderr()); n != stderrKept {
		t.Errorf("%d bytes are kept", n)
	}
}

func TestBlockedWriteEndsWithStop(t *testing.T) {
	t.Parallel()
	p := shell(t, `sleep 100`)
	written := make(chan error, 1)
	go func() {
		_, err := p.Stdin().Write(make([]byte, 1<<20))
		written <- err
	}()
	select {
	case err := <-written:
		t.Fatalf("the write ended early: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	if err := p.Stop(50 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if err := <-written; err == nil {
		t.Fatal("the write succeeded")
	}
}

func TestOnlyThreeFileDescriptors(t *testing.T) {
	t.Parallel()
	f, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := shell(t, `for i in 3 4 5 6 7 8 9; do if (eval "true <&$i") 2>/dev/null; then echo open $i; fi; done; env; pwd; echo end`)
	out, err := io.ReadAll(p.Stdout())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(out), "open ") {
		t.Errorf("%s", out)
	}
}

// hostThatIsKilled plays our program: it starts a launcher with a stubborn
// child, after the commands of before, says so, and waits to be killed.
func hostThatIsKilled(file, before string) {
	script := before + `sh -c 'trap "" TERM; echo $$ >"` + file + `"; while :; do sleep 100; done' & wait`
	_, err := Start(context.Background(), Spec{Path: "/bin/sh", Args: []string{"-c", script}, Env: Environment(nil, ""), Dir: "/"})
	if err != nil {
		os.Exit(9)
	}
	time.Sleep(time.Minute)
}

func TestServersEndWithAKilledHost(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "pid")
	host, err := Start(context.Background(), Spec{Path: self, Args: []string{"host-that-is-killed", file}, Env: Environment(nil, ""), Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	child := readPID(t, file)
	time.Sleep(50 * time.Millisecond)
	if err := syscall.Kill(host.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	mustDie(t, child)
	if err := host.Stop(time.Second); err != nil {
		t.Error(err)
	}
}

// foreign is the beginning of a program for a processor that nobody has at home.
const foreign = "\x7fELF\x02\x02\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x16\x00\x00\x00\x01" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x40\x00\x38\x00\x00\x00\x40\x00\x00\x00\x00"

func TestStartErrorsSayWhy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for name, c := range map[string]struct {
		spec Spec
		says string
	}{
		"relative program":    {Spec{Path: "sh", Dir: dir}, "full path"},
		"relative folder":     {Spec{Path: "/bin/sh", Dir: "x"}, "not a full path"},
		"missing folder":      {Spec{Path: "/bin/sh", Dir: filepath.Join(dir, "gone")}, "working folder"},
		"missing program":     {Spec{Path: filepath.Join(dir, "gone"), Dir: dir}, "gone cannot be started: the file is not there any more"},
		"no first line":       {Spec{Path: write("a", "echo hi\n", 0o755), Dir: dir}, "neither a program for this system nor a script"},
		"missing interpreter": {Spec{Path: write("b", "#! /no/such/node -x\n", 0o755), Dir: dir}, `the interpreter "/no/such/node" that its first line names`},
		"line ends":           {Spec{Path: write("c", "#!/bin/sh\r\nexit\r\n", 0o755), Dir: dir}, "line ends of Windows"},
		"an empty file":       {Spec{Path: write("d", "", 0o755), Dir: dir}, "the file is empty"},
		"another processor":   {Spec{Path: write("e", foreign, 0o755), Dir: dir}, "another kind of processor (S390)"},
		"too much":            {Spec{Path: "/bin/sh", Args: []string{strings.Repeat("x", 1<<22)}, Dir: dir}, "too large"},
		"nul in argument":     {Spec{Path: "/bin/sh", Args: []string{"a\x00b"}, Dir: dir}, "NUL"},
		"nameless variable":   {Spec{Path: "/bin/sh", Env: []string{"=x"}, Dir: dir}, "no usable name"},
	} {
		_, err := Start(context.Background(), c.spec)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if start := new(StartError); errors.As(err, &start) && (start.Hint() == "" || errors.Unwrap(start) == nil) {
			t.Errorf("%s: nothing says what to do, or why: %#v", name, start)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Start(ctx, Spec{Path: "/bin/sh", Dir: dir}); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	log := newTail(10)
	for _, s := range []string{"aaaa\n", "bbbb\n", "cc"} {
		if _, err := log.Write([]byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	if got := log.String(); got != "aa\nbbbb\ncc" {
		t.Errorf("%q", got)
	}
	for n, want := range map[int]string{1: "cc", 2: "bbbb\ncc", 9: "aa\nbbbb\ncc"} {
		if got := log.Lines(n, 100); got != want {
			t.Errorf("%d lines: %q, want %q", n, got, want)
		}
	}
	if got := log.Lines(9, 4); got != "b\ncc" {
		t.Errorf("%q", got)
	}
	for range 100 {
		if _, err := log.Write([]byte("0123456")); err != nil {
			t.Fatal(err)
		}
	}
	if got := log.String(); got != "4560123456" {
		t.Errorf("%q", got)
	}
}
