package headless

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"steward/app"
	"steward/app/clean"
)

// closing bounds how long leaving may take: servers are asked to end, then made to.
const closing = 10 * time.Second

// maxPrompt bounds a prompt read from stdin, in bytes.
const maxPrompt = 10 << 20

// Program is what main knows and this package must not: where the demo's two halves
// come from, and what this build is called.
type Program struct {
	Version string
	Hooks   app.Hooks
	// DemoServer serves MCP on two streams until the input ends.
	DemoServer func(ctx context.Context, in io.Reader, out io.Writer) error
	// DemoServerHTTP serves MCP over HTTP on a loopback address until ctx ends; announce is
	// called once with what a client needs.
	DemoServerHTTP func(ctx context.Context, addr string, announce func(url, token string)) error
}

// Streams are the process's own. Out carries answers and nothing else.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// run is one command being carried out.
type run struct {
	command
	Program
	Streams
	signals    *signals
	passphrase string    // of the encrypted secrets file, where it was chosen
	term       *terminal // of with, where a person can be asked to sign in
}

// Run carries out one command line (without the program's name) and returns the exit
// status. It listens for signals while it works; ctx ends it from outside.
func Run(ctx context.Context, args []string, s Streams, p Program) int {
	c, err := parse(args)
	r := &run{command: c, Program: p, Streams: s}
	if err != nil {
		return r.fail(err)
	}
	var stop func()
	ctx, r.signals, stop = listen(ctx)
	defer stop()
	code, err := exitOK, r.readPassphrase(ctx)
	if err == nil {
		code, err = r.dispatch(ctx)
	}
	if err != nil {
		if failed := r.fail(err); code == exitOK {
			code = failed
		}
	}
	return code
}

// outputGone says that whoever read our stdout has gone, as head does when it has enough:
// nothing is left to tell anybody.
func outputGone(err error) bool {
	var p *fs.PathError
	return errors.As(err, &p) && p.Path == os.Stdout.Name() && errors.Is(p.Err, syscall.EPIPE)
}

// fail says an error on stderr and returns the status for it.
func (r *run) fail(err error) int {
	if outputGone(err) {
		return exitFailed
	}
	fmt.Fprintln(r.Err, "steward: "+marked(sentence(err)))
	var usage *usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailed
}

// dispatch returns an error for what kept the command from being carried out, and a
// status of its own where the command has one.
func (r *run) dispatch(ctx context.Context) (int, error) {
	switch r.name {
	case "ask":
		return r.ask(ctx)
	case "call":
		return r.callTool(ctx)
	case "tools":
		return r.with(ctx, r.tools)
	case "prompts":
		return r.with(ctx, r.prompts)
	case "resources":
		return r.with(ctx, r.resources)
	case "servers":
		return r.servers(ctx)
	case "journal":
		return r.journal(ctx)
	case "doctor":
		return r.doctor(ctx)
	case "demo-server":
		return exitOK, r.demoServer(ctx)
	case "version":
		_, err := fmt.Fprintln(r.Out, "steward "+r.Version)
		return exitOK, err
	default:
		text, err := helpText(), error(nil)
		if len(r.args) > 0 {
			if text, err = commandHelp(r.args[0]); err != nil {
				return exitUsage, err
			}
		}
		_, err = io.WriteString(r.Out, text)
		return exitOK, err
	}
}

// options are what every command opens the program with. Nobody is asked anything
// unless a command says so.
func (r *run) options() app.Options {
	return app.Options{
		Data:         r.data,
		ServersFile:  r.serversFile,
		Endpoint:     app.Endpoint{BaseURL: r.baseURL, Model: r.model, KeyEnv: r.keyEnv},
		Policy:       app.Policy{Calls: "deny", Elicit: "decline", Sampling: "deny", SignIn: "deny", Rounds: "deny"},
		Roots:        r.roots,
		Without:      r.without,
		ToolTimeout:  r.toolTimeout,
		MaxRounds:    r.maxRounds,
		Conversation: r.conversation,
		Concerns:     r.concerns(),
		Passphrase:   app.NewSecret(r.passphrase),
		Hooks:        r.Hooks,
	}
}

// concerns are the servers that the command names; nil: it has to do with all.
func (r *run) concerns() []string {
	switch {
	case r.name == "doctor":
		return []string{} // shows by itself what is wrong with each
	case r.name == "servers" && len(r.args) > 0:
		return r.args
	case r.name == "call" && len(r.args) > 0:
		return r.args[:1]
	}
	return nil
}

// openStatus is the exit status where the program cannot be opened: a folder of --root that
// must not be shared, or a server of --without that is none, is a fault of the command line.
func openStatus(err error) int {
	if key := app.Explain(err).Key; key == "root_refused" || key == "left_out" {
		return exitUsage
	}
	return exitFailed
}

// with opens the program, lets work have it, and closes it again.
func (r *run) with(ctx context.Context, work func(context.Context, *app.App) error) (int, error) {
	o := r.options()
	if t := r.signInTerminal(); t != nil {
		o.Policy.SignIn, r.term = "ask", t
		defer t.close()
	}
	a, err := app.Open(ctx, o)
	if err != nil {
		return openStatus(err), err
	}
	out := &output{out: io.Discard, err: r.Err, quiet: true, names: r.concerns()}
	unsub := a.Listen(out.notices)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	leave := func() {}
	if r.term != nil {
		leave = newPerson(r.term, a.Bus(), a.Waiting(), stop).leave
	}
	err = work(ctx, a)
	leave()
	err = errors.Join(err, r.leave(a))
	unsub()
	out.flush()
	return exitOK, err
}

// signInTerminal is where a person can be asked to sign in to a server while a command
// looks at what the servers offer; nil where nobody can. Doctor only says how it stands.
func (r *run) signInTerminal() *terminal {
	if r.name == "doctor" {
		return nil
	}
	t, err := openTerminal(r.In, r.Err, asking{})
	if err != nil {
		return nil
	}
	return t
}

// ownTerminal is where the command itself asks; done gives it back. While it is held, nobody
// is asked to sign in on it.
func (r *run) ownTerminal() (t *terminal, done func(), err error) {
	if r.term != nil {
		return r.term, r.term.hold(), nil
	}
	t, err = openTerminal(r.In, r.Err, asking{})
	if err != nil {
		return nil, nil, err
	}
	return t, t.close, nil
}

// leave closes the program within a bound that no signal shortens.
func (r *run) leave(a *app.App) error {
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	return a.Close(ctx)
}

func (r *run) demoServer(ctx context.Context) error {
	if r.httpAddr == "" {
		return r.DemoServer(ctx, r.In, r.Out)
	}
	return r.DemoServerHTTP(ctx, r.httpAddr, func(url, token string) {
		fmt.Fprintf(r.Out, "%s\nAuthorization: Bearer %s\n", url, token)
	})
}

// prompt is the person's text: the argument, or all of stdin.
func (r *run) prompt() (string, error) {
	text := r.args[0]
	if text == "-" {
		data, err := io.ReadAll(io.LimitReader(r.In, maxPrompt+1))
		if err != nil {
			return "", fmt.Errorf("the prompt cannot be read from stdin: %w", err)
		}
		if len(data) > maxPrompt {
			return "", usagef("the prompt on stdin is longer than %d MB", maxPrompt>>20)
		}
		text = strings.TrimRight(string(data), "\r\n")
	}
	if strings.TrimSpace(text) == "" {
		return "", usagef("the prompt is empty")
	}
	return text, nil
}

// stdinTaken says whether stdin holds the prompt or the arguments, so that answers come
// from elsewhere.
func (r *run) stdinTaken() bool {
	return r.name == "ask" && r.args[0] == "-" || r.name == "call" && len(r.args) == 3 && r.args[2] == "-"
}

// policy says who answers: the flags, else the person at the terminal, else nobody. The
// terminal is nil where nobody is asked.
func (r *run) policy() (app.Policy, *terminal, error) {
	asked := r.consent == "ask" || r.elicit == "ask" || r.sampling == "ask"
	p := app.Policy{Calls: r.consent, Elicit: r.elicit, Sampling: r.sampling}
	needed := asked || p.Calls == "" || p.Elicit == "" || p.Sampling == ""
	t, err := openTerminal(r.In, r.Err, asking{explicit: asked, stdinTaken: r.stdinTaken()})
	if err != nil && needed && !errors.Is(err, errNoTerminal) {
		return p, nil, err
	}
	if err != nil {
		t = nil
	}
	if t == nil && asked {
		return p, nil, usagef("ask was given for --consent, --elicit or --sampling, but %s", errNoTerminal)
	}
	otherwise := func(s *string, nobody string) {
		switch {
		case *s != "":
		case t != nil:
			*s = "ask"
		default:
			*s = nobody
		}
	}
	otherwise(&p.Calls, "deny")
	otherwise(&p.Elicit, "decline")
	otherwise(&p.Sampling, "deny")
	p.SignIn, p.Rounds = "deny", "deny"
	if t != nil && !t.piped { // a line that was written for another question opens no page and lets nothing go on
		p.SignIn, p.Rounds = "ask", "ask"
	}
	return p, t, nil
}

// sentence is an error as a person reads it, without anything that could move a
// terminal's cursor.
func sentence(err error) string {
	return clean.Clean(english(app.Explain(err)))
}

// oneTerminal says whether both streams end on a screen.
func oneTerminal(out, err io.Writer) bool {
	_, a := terminalFile(out)
	_, b := terminalFile(err)
	return a && b
}
