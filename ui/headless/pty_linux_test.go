package headless

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openPTY makes a pseudo-terminal: what is written to master is typed on slave.
func openPTY(t testing.TB) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// dialogue is a command with a person at its terminal.
type dialogue struct {
	t      testing.TB
	cmd    *exec.Cmd
	master *os.File
	out    *bytes.Buffer // stdout, which is no terminal

	mu   sync.Mutex
	seen bytes.Buffer
	news chan struct{}
	done chan struct{}
}

// talk starts a command whose stdin and stderr are a terminal of its own; its size, in
// columns and rows, is not known unless given.
func talk(t testing.TB, cmd *exec.Cmd, size ...uint16) *dialogue {
	t.Helper()
	master, slave := openPTY(t)
	if len(size) == 2 {
		if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: size[0], Row: size[1]}); err != nil {
			t.Fatal(err)
		}
	}
	d := &dialogue{t: t, cmd: cmd, master: master, out: &bytes.Buffer{}, news: make(chan struct{}, 1), done: make(chan struct{})}
	if cmd.Stdin == nil {
		cmd.Stdin = slave
	}
	cmd.Stderr = slave
	if cmd.Stdout == nil {
		cmd.Stdout = d.out
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	go func() {
		defer close(d.done)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			d.mu.Lock()
			d.seen.Write(buf[:n])
			d.mu.Unlock()
			select {
			case d.news <- struct{}{}:
			default:
			}
			if err != nil {
				return // the other side is gone
			}
		}
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		master.Close()
		<-d.done
	})
	return d
}

// waitFor returns everything on the screen once it shows text, and forgets it.
func (d *dialogue) waitFor(text string) string {
	d.t.Helper()
	limit := time.After(20 * time.Second)
	for {
		d.mu.Lock()
		s := d.seen.String()
		if i := strings.Index(s, text); i >= 0 {
			d.seen.Next(i + len(text))
			d.mu.Unlock()
			return s[:i+len(text)]
		}
		d.mu.Unlock()
		select {
		case <-d.news:
		case <-limit:
			d.t.Fatalf("the terminal never showed %q; it shows:\n%s", text, s)
		}
	}
}

func (d *dialogue) typed(s string) {
	d.t.Helper()
	if _, err := d.master.WriteString(s); err != nil {
		d.t.Fatal(err)
	}
}

// answer types a line after the question has settled.
func (d *dialogue) answer(s string) {
	d.t.Helper()
	time.Sleep(settle + 300*time.Millisecond)
	d.typed(s + "\n")
}

// end waits for the command and returns the rest of the screen.
func (d *dialogue) end(code int) string {
	d.t.Helper()
	err := d.cmd.Wait()
	d.master.Close()
	<-d.done
	if got := d.cmd.ProcessState.ExitCode(); got != code {
		d.t.Fatalf("exit status %d (%v), want %d\nscreen: %s\nstdout: %s", got, err, code, d.seen.String(), d.out)
	}
	return d.seen.String()
}
