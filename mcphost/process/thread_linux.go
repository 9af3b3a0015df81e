package process

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

// attributes make the program lead a group of its own and die with the thread that
// started it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

func lockThread() (unlock func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

// groupLives reports whether the group holds a process that is more than a zombie
// waiting for its parent: a container without an init process may never collect
// those.
func groupLives(id int) bool {
	if errors.Is(syscall.Kill(-id, 0), syscall.ESRCH) {
		return false
	}
	for _, s := range processes() {
		if s.group == id && s.state != 'Z' && s.state != 'X' {
			return true
		}
	}
	return false
}

// stat is what /proc/PID/stat says about a process.
type stat struct {
	pid, parent, group int
	state              byte
	start              string // in clock ticks since boot; with pid it names one process for good
}

// stray is a process below a server's program that left its group.
type stray struct {
	pid   int
	start string
}

func (s stray) lives() bool {
	now, ok := readStat(s.pid)
	return ok && now.start == s.start && now.state != 'Z' && now.state != 'X'
}

func (s stray) signal(sig syscall.Signal) {
	if s.lives() {
		_ = syscall.Kill(s.pid, sig) // gone in between: fine
	}
}

// strays finds the descendants of the leader that are in other groups.
func strays(leader int) []stray {
	all := processes()
	below := map[int]bool{leader: true}
	for grown := true; grown; {
		grown = false
		for _, s := range all {
			if below[s.parent] && !below[s.pid] {
				below[s.pid] = true
				grown = true
			}
		}
	}
	var out []stray
	for _, s := range all {
		if below[s.pid] && s.pid != leader && s.group != leader {
			out = append(out, stray{s.pid, s.start})
		}
	}
	return out
}

func processes() []stat {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	var out []stat
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil {
			if s, ok := readStat(pid); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

// readStat reads one process; see proc_pid_stat(5). The name, in parentheses, may
// hold anything, so fields are counted after the last one.
func readStat(pid int) (stat, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, false
	}
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 20 {
		return stat{}, false
	}
	parent, err1 := strconv.Atoi(string(f[1]))
	group, err2 := strconv.Atoi(string(f[2]))
	if err1 != nil || err2 != nil {
		return stat{}, false
	}
	return stat{pid: pid, parent: parent, group: group, state: f[0][0], start: string(f[19])}, true
}
