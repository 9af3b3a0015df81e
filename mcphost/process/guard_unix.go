//go:build unix

package process

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// guard is a small shell that waits on a pipe from us. It is told when a group has
// ended; if the pipe closes without a word, our program was killed, and the guard
// kills the group, and what carries the group's marker. Nothing inside our own program
// could do that.
type guard struct {
	cmd  *exec.Cmd
	pipe *os.File
}

// guardScript is given the group and its marker, which is empty where there is no /proc.
const guardScript = `read -r word && exit
kill -s KILL -- "-$1"
[ -n "$2" ] || exit
for file in $(grep -lsF -- "$2" /proc/[0-9]*/environ); do
	pid=${file#/proc/}
	kill -s KILL "${pid%/environ}"
done`

// newGuard starts a guard for the group. Without a shell there is no guard (nil):
// the server still sees the end of its standard input.
func newGuard(id int, marker string) *guard {
	r, w, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer r.Close()
	cmd := exec.Command("/bin/sh", "-c", guardScript, "guard", strconv.Itoa(id), marker)
	cmd.Env = []string{}
	cmd.Dir = "/"
	cmd.Stdin = r
	// A group of its own keeps Ctrl+C in a terminal from ending it before its time.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		w.Close()
		return nil
	}
	return &guard{cmd: cmd, pipe: w}
}

// dismiss ends the guard without harm.
func (g *guard) dismiss() {
	if g == nil {
		return
	}
	// A guard that is gone already has nothing to be told.
	_, _ = g.pipe.Write([]byte("done\n"))
	_ = g.pipe.Close()
	_ = g.cmd.Wait()
}
