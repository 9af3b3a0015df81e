package process

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// loose starts a process that leaves group and session and whose parent is gone, and waits
// until it has written its process id.
func loose(file, trap string) string {
	return `setsid -f sh -c '` + trap + ` echo $$ >"` + file + `"; while :; do sleep 1; done' </dev/null >/dev/null 2>&1; while [ ! -s "` + file + `" ]; do sleep 0.01; done; `
}

// However a program ends, what it has cut loose ends as well.
func TestWhatWasCutLooseIsEnded(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]string{
		"stopped":     `cat >/dev/null`,
		"stubborn":    `trap '' TERM; while :; do sleep 1; done`,
		"exits":       `exit 0`,
		"is killed":   `kill -KILL $$`,
		"never reads": `sleep 100`,
	} {
		for how, trap := range map[string]string{"": "", " and ignores TERM": `trap "" TERM;`, " and starts another when it is told": `trap "setsid -f sleep 100" TERM;`} {
			t.Run(name+how, func(t *testing.T) {
				t.Parallel()
				file := filepath.Join(t.TempDir(), "pid")
				p := shell(t, loose(file, trap)+end)
				pid := readPID(t, file)
				marker := p.group.marker
				if end == `exit 0` || strings.HasPrefix(end, "kill") {
					<-p.Done() // nobody asks it to end
				} else if err := p.Stop(50 * time.Millisecond); err != nil {
					t.Fatal(err)
				}
				mustDie(t, pid)
				if err := p.Stop(50 * time.Millisecond); err != nil {
					t.Fatal(err)
				}
				if left := markedProcesses(marker); len(left) != 0 {
					t.Errorf("left are %+v", left)
				}
			})
		}
	}
}

// Another server's processes, and those that only name the variable, are none of its.
func TestTheMarkerIsOfOneStart(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pid")
	other := shell(t, loose(file, "")+`cat >/dev/null`)
	pid := readPID(t, file)
	p := shell(t, `cat >/dev/null`)
	if p.group.marker == other.group.marker || !strings.HasPrefix(p.group.marker, MarkerName+"=") {
		t.Errorf("markers %q, %q", p.group.marker, other.group.marker)
	}
	if err := p.Stop(50 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if !lives(pid) || !hasMarker(pid, other.group.marker) || hasMarker(pid, other.group.marker[:len(other.group.marker)-1]) {
		t.Error("a process of another start was ended, or taken for its own")
	}
}

// The guard ends what was cut loose when our own program is killed.
func TestWhatWasCutLooseEndsWithAKilledHost(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "pid")
	host, err := Start(context.Background(), Spec{Path: self, Args: []string{"host-that-is-killed", file + ".child", loose(file, "")}, Env: Environment(nil, ""), Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	pid := readPID(t, file)
	readPID(t, file+".child")
	time.Sleep(50 * time.Millisecond) // for the guard, as above
	if err := syscall.Kill(host.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	mustDie(t, pid)
	if err := host.Stop(time.Second); err != nil {
		t.Error(err)
	}
}
