package wire

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Stdio is an mcp.Transport over a child process, for one library session. The
// process has been started by the caller and belongs to the Stdio from then on. Its
// life does not depend on the context given to Connect.
type Stdio struct {
	o    StdioOptions
	jobs chan *job
	in   chan jsonrpc.Message

	connected atomic.Bool
	readEnded chan struct{}
	done      chan struct{} // err is set
	stopped   chan struct{} // the process is gone, stopErr is set
	once      sync.Once
	err       error
	stopErr   error
	work      sync.WaitGroup
}

// Program is a running program with its pipes; [process.Process] is one.
type Program interface {
	Stdin() io.WriteCloser
	Stdout() io.ReadCloser
	// Done is closed when it has ended, Drained when its last words have been read.
	Done() <-chan struct{}
	Drained() <-chan struct{}
	// ExitCode and Ending say how it ended, Tail what it wrote last on standard error.
	ExitCode() int
	Ending() string
	Tail(lines int) string
	Stop(grace time.Duration) error
}

// StdioOptions are given to NewStdio.
type StdioOptions struct {
	Process Program
	Tap     *Tap
	// Grace is how long the process may take to end after its input was closed, and
	// again after it was asked to terminate; 0 means 1 s.
	Grace time.Duration
	// WriteTimeout is how long the process may leave one message unread before it
	// counts as hung and is killed; 0 means 30 s.
	WriteTimeout time.Duration
}

// exitWait is how long a process that closed its output may take to end, and a
// process that ended to have its last output read.
const exitWait = 300 * time.Millisecond

// stderrLines is how many lines of standard error an ExitError holds.
const stderrLines = 20

// NewStdio starts reading from the process at once and attaches the Tap. Close must
// be called in any case.
func NewStdio(o StdioOptions) *Stdio {
	if o.Grace == 0 {
		o.Grace = time.Second
	}
	if o.WriteTimeout == 0 {
		o.WriteTimeout = 30 * time.Second
	}
	s := &Stdio{
		o: o, jobs: make(chan *job), in: make(chan jsonrpc.Message, 16),
		readEnded: make(chan struct{}), done: make(chan struct{}), stopped: make(chan struct{}),
	}
	o.Tap.Attach(func(frame []byte) error { return s.send(context.Background(), &job{frame: frame, own: true}) })
	s.work.Go(s.read)
	s.work.Go(s.write)
	s.work.Go(s.watch)
	return s
}

// Connect implements mcp.Transport. It can be called once.
func (s *Stdio) Connect(context.Context) (mcp.Connection, error) {
	if !s.connected.CompareAndSwap(false, true) {
		return nil, errors.New("the connection to this process is in use")
	}
	return stdioConn{s}, nil
}

// read takes the process's output apart until it ends.
func (s *Stdio) read() {
	defer close(s.readEnded)
	// A server that closes its output is of no more use, even if it lives on.
	ending := "closed its standard output"
	if !s.consume() {
		ending = "sent something that Steward failed to read"
	} else if waitFor(s.o.Process.Done(), exitWait) {
		ending = ""
	}
	s.shutdown(s.exit(ending))
}

// consume takes the process's output to its end; false if it was given up because of a
// fault of our own.
func (s *Stdio) consume() (whole bool) {
	defer s.o.Tap.recovered("the rest of the server's output")
	f := framer{max: s.o.Tap.o.MaxFrame, emit: func(p piece) {
		for _, frame := range s.o.Tap.take(p) {
			s.deliver(frame)
		}
	}}
	out := s.o.Process.Stdout()
	buf := make([]byte, chunkSize)
	for {
		n, err := out.Read(buf)
		f.feed(buf[:n])
		if err != nil {
			break
		}
	}
	f.end()
	return true
}

// deliver hands one of the Tap's messages to the library.
func (s *Stdio) deliver(frame []byte) {
	m, err := decode(frame)
	if err != nil {
		s.o.Tap.reportNoise([]byte("the answer of the server could not be handed on: " + err.Error()))
		return
	}
	select {
	case s.in <- m:
	case <-s.done:
	}
}

// watch notices that the process has ended while something else, started by it, keeps
// its output open.
func (s *Stdio) watch() {
	select {
	case <-s.o.Process.Done():
	case <-s.done:
		return
	}
	if !waitFor(s.readEnded, exitWait) {
		s.shutdown(s.exit(""))
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

// exit describes how the process ended.
func (s *Stdio) exit(ending string) *ExitError {
	p := s.o.Process
	if ending == "" {
		waitFor(p.Drained(), exitWait) // its last words may still be on their way
		ending = p.Ending()
	}
	return &ExitError{Code: p.ExitCode(), Ending: ending, Stderr: strings.ToValidUTF8(p.Tail(stderrLines), "\uFFFD")}
}

// shutdown ends the connection, with the reason (nil: because we wanted to). It
// returns at once.
func (s *Stdio) shutdown(reason *ExitError) {
	s.once.Do(func() {
		if reason != nil {
			s.err = reason
		}
		close(s.done)
		go func() {
			defer close(s.stopped)
			// Beside each other: whoever waits is told at once, not when the process is
			// gone, and a slow handler does not keep the process alive.
			var told sync.WaitGroup
			told.Go(func() { s.o.Tap.Close(s.err) })
			s.stopErr = s.o.Process.Stop(s.o.Grace)
			told.Wait()
			s.work.Wait()
		}()
	})
}

// job is one message on its way to the process.
type job struct {
	frame []byte
	own   bool // the Tap's answer to the server; the Tap has seen it
	taken atomic.Bool
	ended chan error
}

// send queues a message and waits until it was handed over, or ctx ends. In the latter
// case a message that was not begun never leaves.
func (s *Stdio) send(ctx context.Context, j *job) error {
	j.ended = make(chan error, 1)
	select {
	case s.jobs <- j:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.done:
		return s.ended()
	}
	select {
	case err := <-j.ended:
		return err
	case <-ctx.Done():
		j.taken.CompareAndSwap(false, true)
		return ctx.Err()
	case <-s.done:
		return s.ended()
	}
}

func (s *Stdio) ended() error {
	if s.err != nil {
		return s.err
	}
	return mcp.ErrConnectionClosed
}

// write is the only goroutine that writes to the process, so a process that does not
// read holds up nobody else.
func (s *Stdio) write() {
	in := s.o.Process.Stdin()
	hung := time.AfterFunc(time.Hour, func() { s.shutdown(s.exit("stopped reading its standard input")) })
	hung.Stop()
	for {
		var j *job
		select {
		case j = <-s.jobs:
		case <-s.done:
			return
		}
		if !j.taken.CompareAndSwap(false, true) {
			continue
		}
		out := &Outgoing{Frame: j.frame}
		if !j.own {
			var err error
			if out, err = s.o.Tap.Out(j.frame); err != nil {
				j.ended <- err
				continue
			}
		}
		hung.Reset(s.o.WriteTimeout)
		_, err := in.Write(append(out.Frame, '\n'))
		hung.Stop()
		if err != nil {
			s.writeFailed()
			j.ended <- s.ended()
			return
		}
		out.Sent()
		j.ended <- nil
	}
}

// writeFailed waits for the reason why the input is closed: usually the process has
// ended, and the reader finds out how. A process may also close its input alone.
func (s *Stdio) writeFailed() {
	if !waitFor(s.done, 2*exitWait) {
		s.shutdown(s.exit("closed its standard input"))
	}
}

// Close ends the process and everything around it. It waits until all is gone, about
// 2×Grace at most (see process.Process.Stop), and never for calls; handlers of the
// server's requests are cancelled and get a second. It may be called several times,
// from any goroutine but a handler's.
func (s *Stdio) Close() error {
	select {
	case <-s.done:
	default:
		s.o.Tap.Settle()
	}
	s.shutdown(nil)
	<-s.stopped
	return s.stopErr
}

// Done is closed when the connection has ended, for whatever reason.
func (s *Stdio) Done() <-chan struct{} { return s.done }

// Err returns why the connection ended: an *ExitError, or nil while it lives or after
// Close.
func (s *Stdio) Err() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}

// stdioConn is what the library reads from and writes to.
type stdioConn struct{ s *Stdio }

// Read returns the answers of the server in order, then the reason of the end.
func (c stdioConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.s.in:
		return m, nil
	default:
	}
	select {
	case m := <-c.s.in:
		return m, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.s.done:
	}
	select {
	case m := <-c.s.in:
		return m, nil
	default:
	}
	if c.s.err != nil {
		return nil, c.s.err
	}
	return nil, io.EOF
}

// Write sends one message; see Stdio.send.
func (c stdioConn) Write(ctx context.Context, m jsonrpc.Message) error {
	frame, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return rejected(err)
	}
	return c.s.send(ctx, &job{frame: frame})
}

func (c stdioConn) Close() error      { return c.s.Close() }
func (c stdioConn) SessionID() string { return "" }

// ExitError says that a server's program ended, or gave up one of its pipes, by itself.
type ExitError struct {
	// Code is the exit status; -1 if a signal ended it, or it lived on.
	Code int
	// Ending says how it ended: "exit status 3", "signal: killed", "closed its standard
	// output", "stopped reading its standard input".
	Ending string
	// Stderr is the last 20 lines of standard error, valid UTF-8, not cleaned for display.
	Stderr string
}

func (e *ExitError) Error() string {
	s := "the server's program ended (" + e.Ending + ")"
	if e.Stderr != "" {
		s += "; its last words: " + e.Stderr
	}
	return s
}
