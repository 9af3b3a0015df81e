package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"steward/app/event"
)

// What went wrong while the folder was opened is told to whoever listens first, and so is that it is over.
func TestTroubleBeforeAnybodyListens(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// A folder stands where some space is to be reserved.
	if err := os.MkdirAll(filepath.Join(dir, "steward.ballast", "in-the-way"), 0o700); err != nil {
		t.Fatal(err)
	}
	a, err := Open(context.Background(), Options{Data: dir, Policy: Policy{Calls: "deny", Elicit: "decline", Sampling: "deny"}})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var heard []string
	cancel := a.Listen(func(e event.Event) {
		mu.Lock()
		defer mu.Unlock()
		if n, ok := e.(event.Notice); ok {
			heard = append(heard, n.Kind+": "+n.Message)
		}
	})
	a.warn("journal")(errors.New("the disk is full"))
	a.warn("journal")(nil)
	if err := a.Close(context.Background()); err != nil {
		t.Error(err)
	}
	cancel()
	all := strings.Join(heard, "\n")
	for _, want := range []string{"storage: reserving some space", "journal: the disk is full", "journal: Everything"} {
		if strings.Count(all, want) != 1 {
			t.Errorf("%q was not told once:\n%s", want, all)
		}
	}
}
