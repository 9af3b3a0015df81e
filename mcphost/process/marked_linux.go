package process

import (
	"bytes"
	"crypto/rand"
	"io"
	"os"
	"strconv"
	"syscall"
)

// MarkerName is the variable by which a process that a server has cut loose (setsid, a double
// fork) is still known as started by it: each start has a value of its own that nobody can
// guess, and children inherit it.
const MarkerName = "STEWARD_SERVER_RUN"

// environRead is how much of a process's environment is looked at, in bytes.
const environRead = 1 << 20

// newMarker is a variable for one start.
func newMarker() string { return MarkerName + "=" + rand.Text() }

// markedProcesses are the processes of our own user whose environment holds the marker. It
// reads /proc once.
func markedProcesses(marker string) []stat {
	var out []stat
	for _, s := range processes() {
		if s.pid != os.Getpid() && s.state != 'Z' && s.state != 'X' && hasMarker(s.pid, marker) {
			out = append(out, s)
		}
	}
	return out
}

func hasMarker(pid int, marker string) bool {
	dir := "/proc/" + strconv.Itoa(pid)
	info, err := os.Stat(dir)
	if err != nil {
		return false // gone
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Geteuid() {
		return false
	}
	f, err := os.Open(dir + "/environ")
	if err != nil {
		return false // gone, or it has taken other rights: it could not be ended either
	}
	defer func() { _ = f.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(f, environRead))
	if err != nil {
		return false
	}
	return bytes.HasPrefix(data, []byte(marker+"\x00")) || bytes.Contains(data, []byte("\x00"+marker+"\x00"))
}

// surveyMarked notes the marked processes outside of the group, and says whether there is
// one that was not known.
func (g *group) surveyMarked() (found bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	known := map[stray]bool{}
	for _, s := range g.strays {
		known[s] = true
	}
	for _, s := range markedProcesses(g.marker) {
		if x := (stray{s.pid, s.start}); s.group != g.id && !known[x] {
			g.strays = append(g.strays, x)
			found = true
		}
	}
	return found
}
