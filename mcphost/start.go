package mcphost

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"steward/mcphost/internal/oauth"
	"steward/mcphost/internal/patience"
	"steward/mcphost/internal/remote"
	"steward/mcphost/internal/session"
	"steward/mcphost/internal/wire"
	"steward/mcphost/process"
)

// stopGrace is how long a program may take to end after its input was closed,
// and again after it was asked to terminate.
const stopGrace = 500 * time.Millisecond

// start starts or reaches the server, shakes hands, and reads its tools, all
// within the configuration's limit. Its error is a *StartError.
func (c *Connection) start(ctx context.Context) (*live, error) {
	outer := ctx
	ctx, limit, cancel := c.startContext(ctx)
	ctx = patience.Notify(ctx, c.starting.paused)
	defer cancel()
	l, err := c.open(ctx)
	if err != nil {
		return nil, c.asStopped(outer, c.startError(err, limit()))
	}
	c.welcome(l)
	if err := c.readTools(ctx, l); err != nil && (unsigned(err) || l.ended() || ctx.Err() != nil && len(c.Tools()) == 0) {
		if cause := l.session.Err(); cause != nil {
			err = cause
		}
		_ = l.session.Close() // why it is closed is known
		c.keepStderr(l.stderr)
		return nil, c.asStopped(outer, c.startError(&stageError{StageList, listFailure(err, limit())}, limit()))
	}
	return l, nil
}

// asStopped words the error of a start that somebody has stopped: what it has come to then is
// no fault of the server. ctx is that of the start without its limit.
func (c *Connection) asStopped(ctx context.Context, e *StartError) *StartError {
	if errors.Is(ctx.Err(), context.Canceled) || c.life.Err() != nil {
		e.Message, e.Hint, e.Stderr, e.Stopped = "You stopped it.", "", "", true
	}
	return e
}

var errStartLimit = errors.New("the limit of a start has passed")

// stageError is an error with the stage at which it happened.
type stageError struct {
	stage string
	err   error
}

func (e *stageError) Error() string { return e.err.Error() }
func (e *stageError) Unwrap() error { return e.err }

// annotate adds to an error of the handshake what the server wrote instead.
func (c *Connection) annotate(l *live, link session.Link, err error) error {
	if cause := link.Err(); cause != nil && errors.As(cause, new(*wire.ExitError)) {
		err = cause
	}
	if n, first := l.tap.NoiseSeen(); n > 0 {
		err = &noisyError{err, c.redact(first)}
	}
	return &stageError{StageHandshake, err}
}

// link makes a fresh way to the server, with the tap that reads it; old is the
// transport of 2024-11-05.
func (c *Connection) link(ctx context.Context, old bool) (*live, session.Link, error) {
	l := &live{changed: make(chan struct{}, 1), reading: make(chan struct{}, 1), over: make(chan struct{}), roots: newRootsWait(), renewed: make(chan struct{}, 1), stderr: func() string { return "" }, written: func() int64 { return 0 }}
	l.tap = wire.NewTap(wire.Options{
		MaxFrame: c.cfg.maxFrame(), Now: c.now, Capabilities: session.Tasks(), Log: &c.wire,
		Handle: c.handleOn(l.roots), Notify: c.notified, Noise: c.noised, Late: c.late,
	})
	c.opens(l)
	if c.cfg.transport() != TransportStdio {
		link, err := c.remoteLink(l.tap, old)
		return l, link, err
	}
	p, err := c.program(ctx)
	if err != nil {
		return nil, nil, err
	}
	c.mu.Lock()
	l.stderr, l.written, c.flood = p.Stderr, p.StderrWritten, 0
	c.mu.Unlock()
	return l, wire.NewStdio(wire.StdioOptions{Process: p, Tap: l.tap, Grace: stopGrace}), nil
}

// program finds and starts the server's program.
func (c *Connection) program(ctx context.Context) (*process.Process, error) {
	if strings.TrimSpace(c.cfg.Command) == "" {
		return nil, &stageError{StageProgram, &advised{errors.New("its entry has neither a command nor a URL"), "Give the program as command, or the address as url."}}
	}
	command, path, err := c.host.paths.Find(ctx, expandHome(c.cfg.Command), process.OwnPath(c.cfg.Env))
	if err != nil {
		return nil, &stageError{StageProgram, err}
	}
	dir := expandHome(c.cfg.Cwd)
	if dir == "" {
		dir = c.host.opts.WorkDir
	}
	if dir == "" {
		dir = os.TempDir()
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, &stageError{StageProgram, err}
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, &stageError{StageProgram, &advised{fmt.Errorf("its working folder %s is missing or is no folder", dir), "Make that folder, or give another one as cwd."}}
	}
	env := process.Environment(c.cfg.Env, path)
	c.launches(command, dir, env)
	p, err := process.Start(ctx, process.Spec{Path: command, Args: c.cfg.Args, Env: env, Dir: dir, OnFlood: c.flooded})
	if err != nil {
		return nil, &stageError{StageStart, err}
	}
	return p, nil
}

// expandHome replaces a leading ~ by the home folder.
func expandHome(path string) string {
	if path != "~" && !strings.HasPrefix(path, "~/") {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	return filepath.Join(home, strings.TrimPrefix(path, "~"))
}

// remoteLink makes the way to a server over HTTP.
func (c *Connection) remoteLink(tap *wire.Tap, old bool) (session.Link, error) {
	link, err := remote.New(remote.Options{
		URL: c.cfg.URL, Headers: c.cfg.Headers, AllowHTTP: c.cfg.AllowHTTP,
		Network: remote.Network{Proxy: c.cfg.Proxy, CAFile: expandHome(c.cfg.CAFile)},
		SSE:     old, Tap: tap, MaxFrame: int64(c.cfg.maxFrame()),
		Warn:        func(text string) { c.note("warning", "", text) },
		Renewed:     func() { c.mark("tools"); c.mark("prompts"); c.mark("resources"); c.renew() },
		Missed:      func() { c.mark("tools"); c.mark("prompts"); c.mark("resources") },
		ToolHeaders: func(tool string, arguments []byte) map[string]string { return c.toolHeaders(tool, arguments) },
		Account:     c.account(),
	})
	if err != nil {
		return nil, &stageError{StageProgram, err}
	}
	return link, nil
}

// welcome takes over what the server said of itself.
func (c *Connection) welcome(l *live) {
	hello := l.session.Hello()
	info := ServerInfo{Name: hello.Name, Title: hello.Title, Version: hello.Version, Instructions: hello.Instructions}
	if info.Instructions != "" {
		info.InstructionsHash = hashText(info.Instructions)
	}
	c.mu.Lock()
	old := c.info
	c.info, c.protocol, c.caps = info, hello.Protocol, readCapabilities(hello.Capabilities)
	c.stderr = ""
	c.forgetLists("prompts", "resources", "templates")
	if hello.Modern && c.caps.logging {
		l.session.SetLogLevel(c.level())
	}
	c.mu.Unlock()
	if old.InstructionsHash != info.InstructionsHash && old != (ServerInfo{}) {
		c.events.put(ListChanged{Server: c.cfg.ID, Kind: "instructions"})
	}
}

// ended reports whether the session has ended.
func (l *live) ended() bool {
	select {
	case <-l.session.Done():
		return true
	default:
		return false
	}
}

// keepStderr keeps what a program that is gone wrote.
func (c *Connection) keepStderr(stderr func() string) {
	s := stderr()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stderr = s
}

// maxStartMessage is the length of the longest sentence about a start that failed, in
// bytes, of which a part may be the server's.
const maxStartMessage = 4 << 10

// startError makes the sentence and the hint for an error of a start.
func (c *Connection) startError(err error, limit time.Duration) *StartError {
	out := &StartError{Server: c.cfg.ID, Stage: StageHandshake, Err: err}
	var stage *stageError
	if errors.As(err, &stage) {
		out.Stage = stage.stage
	}
	out.Message = sentence(err.Error())
	var exit *wire.ExitError
	var version *session.VersionError
	var status *remote.Error
	var signIn *oauth.Error
	var rpc *wire.Error
	var noisy *noisyError
	var known interface{ Hint() string }
	noise := ""
	if errors.As(err, &noisy) {
		noise = noisy.first
	}
	switch {
	case errors.As(err, &exit):
		out.Exited, out.ExitCode, out.Stderr = true, exit.Code, c.redact(exit.Stderr)
		if out.Stage == StageHandshake {
			out.Stage = StageStart
		}
		out.Message, out.Hint = exitSentence(exit), c.exitHint(exit, noise)
	case out.Stage == StageList && !unsigned(err):
		out.Hint = "It has started, but does not list its tools: look at its log, or give it a longer start time."
		out.Stderr = c.redact(lastLines(c.rawStderr(), 20))
	case errors.Is(err, errStartLimit):
		if c.cfg.transport() != TransportStdio {
			out.Stage = StageStart // nothing has come from there
		}
		out.Message, out.Hint = c.silence(limit, noise)
		out.Stderr = c.redact(lastLines(c.rawStderr(), 20))
	case errors.As(err, &version):
		out.Hint = "Use a version of the server that speaks one of these, or a newer version of this program."
	case errors.As(err, &status):
		out.Message, out.Hint = sentence(status.Message), status.Hint
		if unsigned(err) || out.Stage == StageSignIn {
			out.Stage = StageSignIn
			out.Hint, out.KeyRefused = c.signInHint(status), c.cfg.authorizes()
		}
		if status.Unreached && out.Stage == StageHandshake {
			out.Stage = StageStart
		}
	case errors.As(err, &signIn):
		out.Message, out.Hint = sentence(strings.ToUpper(signIn.Message[:1])+signIn.Message[1:]), signIn.Hint
	case errors.As(err, &known):
		out.Hint = known.Hint()
	case out.Stage == StageHandshake && errors.As(err, &rpc):
		out.Message, out.Hint = refusal(rpc)
		out.Stderr = c.redact(lastLines(c.rawStderr(), 20))
	}
	if noise := c.noiseSentence(noise); noise != "" {
		out.Message += "\n" + noise
	}
	out.Message = short(c.redact(out.Message), maxStartMessage)
	return out
}

// commandLine is what a person would type, without the environment.
func (c *Connection) commandLine() string {
	return c.redact(strings.Join(append([]string{c.cfg.Command}, c.cfg.Args...), " "))
}

func (c *Connection) rawStderr() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stderr
}

// lastLines returns the last n lines of s.
func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// sentence ends a text with a full stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}
