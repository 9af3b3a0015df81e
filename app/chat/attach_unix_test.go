//go:build unix

package chat

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestANamedPipeIsRefusedInsteadOfWaitedFor(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	refused := make(chan error, 1)
	go func() {
		_, err := ReadFile(path)
		refused <- err
	}()
	select {
	case err := <-refused:
		if err == nil {
			t.Fatal("a pipe was attached")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("reading waits for a writer")
	}
}
