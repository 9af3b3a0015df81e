package environment

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// span is a part of the process's addresses.
type span struct{ from, to uintptr }

// forMemory gives back the program's own code and constants, as far as they are in memory: most of it was needed once,
// to set up what the window is made of, and a command never needs it. What is needed comes back by itself from the
// system's cache of files (madvise(2), MADV_DONTNEED on a file). Where anything fails, nothing is lost but the gain.
func forMemory() {
	self, err := os.Executable()
	if err != nil {
		return
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer func() { _ = maps.Close() }() // it was only read
	for _, s := range unchanged(maps, self) {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, s.from, s.to-s.from, unix.MADV_DONTNEED)
	}
}

// unchanged reads from smaps (proc_pid_smaps(5)) which parts of a file are mapped, cannot be written, and hold nothing
// that differs from the file. The addresses that the loader has filled in are none of these: they would be lost. The
// parts of the program stand at the beginning, so the rest is not read.
func unchanged(smaps io.Reader, file string) (all []span) {
	var now *span
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		line := lines.Text()
		var s span
		var rights string
		if _, err := fmt.Sscanf(line, "%x-%x %s", &s.from, &s.to, &rights); err == nil {
			ours := strings.HasSuffix(line, " "+file)
			if !ours && len(all) > 0 {
				return all
			}
			now = nil
			if ours && len(rights) == 4 && rights[1] == '-' {
				now = &s
			}
			continue
		}
		if kept, ok := strings.CutPrefix(line, "Anonymous:"); ok && now != nil && strings.TrimSpace(kept) == "0 kB" {
			all = append(all, *now)
		}
	}
	return all
}
