package trial

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// NPM is a path below testdata/npm/node_modules, where `make servers` installs real servers and the Node.js that
// runs them. Without them the test is skipped, except where CI is set.
func NPM(t testing.TB, path string) string {
	t.Helper()
	_, here, _, ok := runtime.Caller(0)
	if !ok {
		t.Fatal("where this file stands is not known")
	}
	full := filepath.Join(filepath.Dir(here), "../../../testdata/npm/node_modules", path)
	if _, err := os.Stat(full); err != nil {
		if os.Getenv("CI") == "" {
			t.Skip("the real servers are not installed; make servers installs them")
		}
		t.Fatalf("the real servers are not installed; make servers installs them: %v", err)
	}
	return full
}

// Node is the Node.js that testdata/npm locks.
func Node(t testing.TB) string {
	t.Helper()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	return NPM(t, "node-"+runtime.GOOS+"-"+arch+"/bin/node")
}

// Serve starts a real server that listens, on loopback and a port of its own, and returns its origin. The test ends it.
func Serve(t testing.TB, script string, args ...string) string {
	t.Helper()
	preload := filepath.Join(NPM(t, ".."), "loopback.mjs")
	cmd := exec.Command(Node(t), append([]string{"--import", preload, NPM(t, script)}, args...)...)
	cmd.Env = append(os.Environ(), "PORT=0")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	port := make(chan string, 1)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for s := bufio.NewScanner(stderr); s.Scan(); {
			if p, found := strings.CutPrefix(s.Text(), "LISTENING "); found {
				port <- p
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-drained
		_ = cmd.Wait() // its status is the kill's
	})
	select {
	case p := <-port:
		return "http://127.0.0.1:" + p
	case <-drained:
		t.Fatalf("%s ended", script)
	case <-time.After(60 * time.Second):
		t.Fatalf("%s did not start listening", script)
	}
	return ""
}
