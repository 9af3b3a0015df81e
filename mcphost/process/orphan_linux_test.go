package process

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Even without the guard the program itself ends with us: the kernel ends it.
func TestServersEndWithAKilledHostWithoutItsGuard(t *testing.T) {
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
	launcher, guard := 0, 0
	for range 200 {
		for _, s := range processes() {
			if s.parent != host.PID() {
				continue
			}
			line, err := os.ReadFile("/proc/" + strconv.Itoa(s.pid) + "/cmdline")
			switch {
			case err != nil:
			case strings.Contains(string(line), "\x00guard\x00"):
				guard = s.pid
			default:
				launcher = s.pid
			}
		}
		if guard != 0 && launcher != 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if guard == 0 || launcher == 0 {
		t.Fatalf("launcher %d, guard %d", launcher, guard)
	}
	for _, pid := range []int{guard, host.PID()} {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	mustDie(t, launcher)
	// What the launcher started is the guard's business; here it is the test's.
	if err := syscall.Kill(child, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	if err := host.Stop(time.Second); err != nil {
		t.Error(err)
	}
}
