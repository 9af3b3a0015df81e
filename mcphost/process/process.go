// Package process starts and ends the programs of MCP servers. No other package
// of Steward starts a process for a server.
//
// A server is often a launcher (npx, uvx, a shell script) with the real program
// below it, so a Process stands for a whole group: the program and everything it
// started. On Unix that is a process group, on Windows a job object. Ending the
// Process ends the group; when the program itself ends, what it left behind is
// ended too, on Linux also what has left the group (see MarkerName). If our own program is killed, Linux and Windows end the server with it,
// and on every Unix a guard ends the group.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Spec says what to run.
type Spec struct {
	// Path is the absolute path of the program (see Look).
	Path string
	// Args are its arguments, without the program's own name.
	Args []string
	// Env is the whole environment, "NAME=value" (see Environment). On Linux
	// MarkerName is added.
	Env []string
	// Dir is the working directory, absolute.
	Dir string
	// OnFlood, where not nil, is called once, on a goroutine of the Process, when the program
	// goes on writing more than FloodRate to standard error: how much, in bytes a second. It
	// must not block.
	OnFlood func(bytesPerSecond int64)
}

// leftoverGrace is how long processes that outlive the program may take to end
// after they were asked to, before they are killed.
const leftoverGrace = 500 * time.Millisecond

// execTime is how long a process that is just becoming another program may have no
// environment to be known by, and mostRounds how often such are looked for.
const (
	execTime   = 50 * time.Millisecond
	mostRounds = 3
)

// killWait is how long a killed group may take to disappear.
const killWait = 2 * time.Second

// Process is a running, or ended, program with all the processes it started. All
// methods may be called from any goroutine.
type Process struct {
	cmd    *exec.Cmd
	group  group
	stdin  *os.File
	stdout *os.File
	stderr *os.File
	log    *tail

	written atomic.Int64 // bytes of standard error
	onFlood func(int64)

	done    chan struct{} // the program itself has ended, state is set
	gone    chan struct{} // nothing of the group is left, or it cannot be ended
	drained chan struct{} // standard error was read to its end
	state   *os.ProcessState
	failure error // set before gone is closed

	stopping  chan struct{}
	stopOnce  sync.Once
	closeOnce sync.Once
	closeErr  error
	grace     time.Duration // set before stopping is closed
}

// Start runs the program. The context bounds the start alone; the process lives
// until it ends by itself or Stop is called, and Stop must be called in any case:
// it frees the pipes.
func Start(ctx context.Context, s Spec) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("the program %s was not started: %w", s.Path, err)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	p := &Process{
		done: make(chan struct{}), gone: make(chan struct{}), drained: make(chan struct{}),
		stopping: make(chan struct{}), log: newTail(stderrKept), onFlood: s.OnFlood,
	}
	theirs, err := p.pipes()
	if err != nil {
		return nil, fmt.Errorf("no pipes for the program %s: %w", s.Path, err)
	}
	p.group.mark(&s)
	p.cmd = command(s)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirs[0], theirs[1], theirs[2]
	started := make(chan error, 1)
	go p.run(started)
	err = <-started
	for _, f := range theirs {
		f.Close()
	}
	if err != nil {
		p.stdin.Close()
		p.stdout.Close()
		p.stderr.Close()
		return nil, startError(s, err)
	}
	go p.drain()
	return p, nil
}

func (s Spec) check() error {
	if !filepath.IsAbs(s.Path) {
		return fmt.Errorf("the program %q is not given with its full path", s.Path)
	}
	if !filepath.IsAbs(s.Dir) {
		return fmt.Errorf("the working folder %q of the program %s is not a full path", s.Dir, s.Path)
	}
	for _, a := range s.Args {
		if strings.ContainsRune(a, 0) {
			return fmt.Errorf("an argument of the program %s holds a NUL character", s.Path)
		}
	}
	for _, e := range s.Env {
		if i := strings.IndexByte(e, '='); i <= 0 || strings.ContainsRune(e, 0) {
			name, _, _ := strings.Cut(e, "=")
			return fmt.Errorf("the environment variable %q of the program %s has no usable name, or holds a NUL character", name, s.Path)
		}
	}
	return nil
}

// pipes makes the three pipes, keeps our ends and returns the program's ends. All
// are marked close-on-exec, so the program gets file descriptors 0, 1 and 2 alone.
func (p *Process) pipes() (theirs [3]*os.File, err error) {
	var open []*os.File
	defer func() {
		if err != nil {
			for _, f := range open {
				f.Close()
			}
		}
	}()
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
			open = append(open, r, w)
		}
		return r, w
	}
	theirs[0], p.stdin = pipe()
	p.stdout, theirs[1] = pipe()
	p.stderr, theirs[2] = pipe()
	return theirs, err
}

// run starts the program, waits for it, and then ends what it left behind. It
// stays on one thread: on Linux the parent-death signal is bound to the thread that
// started the program, not to our whole process.
func (p *Process) run(started chan<- error) {
	unlock := lockThread()
	defer unlock()
	if err := p.cmd.Start(); err != nil {
		started <- err
		return
	}
	p.group.adopt(p.cmd.Process)
	started <- nil
	p.group.protect()
	reaped := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.end(reaped)
	}()
	// With files of our own, Wait does not wait for pipes. Its error repeats what
	// the state says.
	_ = p.cmd.Wait()
	p.state = p.cmd.ProcessState
	close(p.done)
	close(reaped)
	<-ended
	p.group.release()
	select {
	case <-p.drained:
	case <-time.After(100 * time.Millisecond):
		p.stderr.Close() // held open by something outside the group
	}
	close(p.gone)
}

// end ends the group: step by step when Stop asks for it, and what is left over as
// soon as the program itself has ended.
func (p *Process) end(reaped <-chan struct{}) {
	select {
	case <-reaped:
		p.leftovers(leftoverGrace)
		return
	case <-p.stopping:
	}
	p.group.survey()
	_ = p.closeStdin()
	if waitFor(reaped, p.grace) {
		p.leftovers(p.grace)
		return
	}
	p.group.terminate()
	if waitFor(reaped, p.grace) {
		p.leftovers(0)
		return
	}
	p.group.kill()
	if !waitFor(reaped, killWait) {
		p.failure = fmt.Errorf("the program %s (process %d) could not be ended; end it by hand", p.cmd.Path, p.cmd.Process.Pid)
		return
	}
	p.leftovers(0)
}

// leftovers ends what is left of the group after the program itself has ended, and what has
// left the group. That may start others while it is being ended, so it is looked for again.
func (p *Process) leftovers(grace time.Duration) {
	loose := p.group.surveyMarked()
	if loose {
		grace = max(grace, leftoverGrace)
	}
	p.endGroup(grace)
	for again := 0; loose && again < mostRounds; again++ {
		time.Sleep(execTime)
		if loose = p.group.surveyMarked(); loose {
			p.endGroup(0)
		}
	}
}

// endGroup asks the group to end, waits grace, and kills it.
func (p *Process) endGroup(grace time.Duration) {
	if p.group.emptyWithin(0) {
		return
	}
	p.group.terminate()
	if p.group.emptyWithin(grace) {
		return
	}
	p.group.kill()
	if !p.group.emptyWithin(killWait) {
		p.failure = fmt.Errorf("processes started by %s could not be ended; end them by hand", p.cmd.Path)
	}
}

func waitFor(c <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c:
		return true
	case <-t.C:
		return false
	}
}

func (p *Process) closeStdin() error {
	p.closeOnce.Do(func() { p.closeErr = p.stdin.Close() })
	return p.closeErr
}

// Stdin is the program's standard input. A write blocks while the program does not
// read; closing it, or Stop, ends a blocked write. Closing it tells a server to end
// (MCP specification, stdio transport, shutdown).
func (p *Process) Stdin() io.WriteCloser { return stdin{p} }

type stdin struct{ p *Process }

func (s stdin) Write(b []byte) (int, error) { return s.p.stdin.Write(b) }
func (s stdin) Close() error                { return s.p.closeStdin() }

// Stdout is the program's standard output. Closing it ends a blocked read; Stop
// closes it.
func (p *Process) Stdout() io.ReadCloser { return p.stdout }

// Stop ends the program and everything it started: it closes standard input and
// waits grace, asks the group to end and waits grace, then kills the group. It
// returns when all is gone: soon after 2×grace, or with an error 7 s after that if
// something cannot be killed. It may be called several times; the first call's
// grace counts.
func (p *Process) Stop(grace time.Duration) error {
	p.stopOnce.Do(func() {
		p.grace = grace
		close(p.stopping)
	})
	// The second limit is for a program whose state the system never reports.
	limit := 2*grace + 3*killWait + 2*leftoverGrace
	stopped := waitFor(p.gone, limit)
	_ = p.closeStdin()
	if err := p.stdout.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("the output of the program %s could not be closed: %w", p.cmd.Path, err)
	}
	if !stopped {
		return fmt.Errorf("the program %s (process %d) did not end; end it by hand", p.cmd.Path, p.cmd.Process.Pid)
	}
	return p.failure
}

// Done is closed when the program itself has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// ExitCode returns the exit status; -1 while it runs, or when a signal ended it.
func (p *Process) ExitCode() int {
	select {
	case <-p.done:
		return p.state.ExitCode()
	default:
		return -1
	}
}

// Ending says in words how the program ended: "exit status 3", "signal: killed";
// "" while it runs.
func (p *Process) Ending() string {
	select {
	case <-p.done:
		return p.state.String()
	default:
		return ""
	}
}

// Stderr returns what is kept of standard error: the last 256 KiB at most, as
// written, also a line that has no end yet.
func (p *Process) Stderr() string { return p.log.String() }

// Tail returns the last n lines of standard error, at most 4 KiB of them.
func (p *Process) Tail(n int) string { return p.log.Lines(n, 4<<10) }

// Drained is closed when standard error was read to its end.
func (p *Process) Drained() <-chan struct{} { return p.drained }
