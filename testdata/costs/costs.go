// Package costs says when a benchmark fails because something costs too much.
package costs

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// TooHigh fails a benchmark, unless so much else runs on the computer that what was measured is mostly waiting for a
// processor: each goroutine that is woken waits then, and ours has more of them than a library alone.
func TooHigh(b *testing.B, format string, args ...any) {
	b.Helper()
	const most = 3 // processes that want to run, for each processor
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		word, _, _ := strings.Cut(string(text), " ")
		if load, err := strconv.ParseFloat(word, 64); err == nil && load > most*float64(runtime.NumCPU()) {
			b.Logf("not judged, as the load of this computer is %v: "+format, append([]any{load}, args...)...)
			return
		}
	}
	b.Errorf(format, args...)
}
