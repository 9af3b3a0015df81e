package placetest

import (
	"image/png"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
)

// Queue stands in for Fyne's goroutine: what is given to it runs when the test says so, on the test's goroutine. The zero
// value is ready.
type Queue struct {
	mu    sync.Mutex
	funcs []func()
}

// Do queues f. It may be called from any goroutine, as place.Deps asks.
func (q *Queue) Do(f func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.funcs = append(q.funcs, f)
}

// Empty says whether nothing waits to be run.
func (q *Queue) Empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.funcs) == 0
}

// Step runs what has been asked for so far.
func (q *Queue) Step() {
	q.mu.Lock()
	funcs := q.funcs
	q.funcs = nil
	q.mu.Unlock()
	for _, f := range funcs {
		f()
	}
}

// Run runs what is asked for until something holds, and reports whether it came to hold within limit.
func (q *Queue) Run(limit time.Duration, holds func() bool) bool {
	for end := time.Now().Add(limit); ; time.Sleep(2 * time.Millisecond) {
		q.Step()
		if holds() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// Picture writes what a window shows where STEWARD_PICTURES names a folder, for a person to look at.
func Picture(t testing.TB, w fyne.Window, name string) {
	t.Helper()
	dir := os.Getenv("STEWARD_PICTURES")
	if dir == "" {
		return
	}
	f, err := os.Create(filepath.Join(dir, name+".png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, w.Canvas().Capture()); err != nil {
		t.Fatal(err)
	}
}
